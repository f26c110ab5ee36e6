//! A creature that edits itself into a crash loop: from its third death to a living one, by the kept binary.

use crate::bench::row::Row;
use crate::bench::stand_in::{self, ask, until_stamped};
use crate::bench::supervisors::Floor;
use crate::bench::{Plan, Table};

/// Rests after the first and the second death, in seconds; the third is followed by a fall, and no rest.
const RESTS_S: [f64; 2] = [0.1, 0.2];

pub fn measure(plan: &Plan) -> Table {
    let limits = format!(
        "probation_s = 0.1\nlook_s = 0.02\nrest_s = {}\nrest_longest_s = {}\ndisk_free_mib = 0\n",
        RESTS_S[0], RESTS_S[1]
    );
    let house = stand_in::house(&limits);
    let guardian = stand_in::start(&house);
    let good = house.git(&["rev-parse", "HEAD:creature"]);
    let mut floor = Floor::start(house.folder.path(), &house.path("creature/creature.sh"));
    let (mut third, mut first, mut bare) = (Vec::new(), Vec::new(), Vec::new());
    let rounds = plan.scaled(30, 5);
    for round in 0..rounds {
        plan.progress(round, rounds);
        house.until("a blessed life of the good tree", || {
            house.status()["blessed"] == true && house.git(&["rev-parse", "HEAD:creature"]) == good
        });
        let before = until_stamped(&house.root, 0, &["beats"]).bytes;
        ask(&house.root, "break");
        let dying = ["begins", "ends", "begins", "ends", "begins", "ends", "begins", "beats"];
        let list = until_stamped(&house.root, before, &dying).list;
        let (_, lives) = list[7];
        third.push(lives - list[5].1);
        first.push(lives - list[1].1 - RESTS_S.iter().sum::<f64>() * 1e3);
        let before = until_stamped(&floor.folder, 0, &["beats"]).bytes;
        ask(&floor.folder, "die");
        floor.again();
        let list = until_stamped(&floor.folder, before, &["ends", "begins", "beats"]).list;
        bare.push(list[2].1 - list[0].1);
    }
    let falls = house.told("fall");
    assert_eq!(falls.len(), rounds, "every round is one fall");
    assert!(falls.iter().all(|fall| fall["deaths"] == 3 && fall["cause"] == "tries_spent"), "{falls:?}");
    assert!(!house.creature_differs_from(&house.git(&["rev-parse", "HEAD"])));
    guardian.stop();
    let rows = vec![
        Row::new(
            "third death → living creature, small program",
            "ms",
            &third,
            "A self-edit makes the stand-in die at once; its tree falls after three deaths, `creature/` is put back \
             and committed, and the kept binary beats; no rest lies in between.",
        )
        .against("bare wait, fork, exec to its first beat", &bare)
        .aim("< 500 ms"),
        Row::new(
            "first death → living creature, small program, less its rests",
            "ms",
            &first,
            "The same from the first of the three deaths, less the chosen rests of 100 and 200 ms.",
        )
        .against("bare wait, fork, exec to its first beat", &bare),
    ];
    Table::new(rows).note(
        "A fall is more than a restart: what fell is kept under a ref and condemned, every file of `creature/` is \
         compared and put back byte for byte, a commit is made, and each step is synced before the next."
            .into(),
    )
}
