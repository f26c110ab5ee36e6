//! From the exit of a creature to the first instruction of the next: guardian, runit, s6 and the bare floor in turns.

use crate::bench::row::Row;
use crate::bench::stand_in::{self, TIRELESS, ask, until_stamped};
use crate::bench::supervisors::{Floor, NAMES, Supervisor};
use crate::bench::{Plan, Table};
use std::fs::{self, File};
use std::io::Write;
use std::path::Path;
use std::time::Duration;

/// runit and s6 wait a second before the next start of what lived less than one.
const OLD_ENOUGH: Duration = Duration::from_millis(1_100);

pub fn measure(plan: &Plan) -> Table {
    let house = stand_in::house(TIRELESS);
    let program = house.path("creature/creature.sh");
    let guardian = stand_in::start(&house);
    stand_in::until_blessed(&house);
    let beside = house.folder.path();
    let mut floor = Floor::start(beside, &program);
    let others = [0, 1].map(|at| Supervisor::start(at, beside, &program, &[]));
    let (mut ours, mut bare, mut synced) = (Vec::new(), Vec::new(), Vec::new());
    let (mut theirs, mut young) = ([Vec::new(), Vec::new()], [Vec::new(), Vec::new()]);
    let rounds = plan.scaled(30, 6);
    for round in 0..rounds {
        plan.progress(round, rounds);
        std::thread::sleep(OLD_ENOUGH);
        // Taken in turns, so that what else the machine does falls on all alike.
        ours.push(restart(&house.root, || {}));
        bare.push(restart(&floor.folder.clone(), || floor.again()));
        synced.push(replacement(beside));
        for (other, took) in others.iter().zip(&mut theirs) {
            took.extend(other.as_ref().map(|other| restart(&other.folder, || {})));
        }
        if round % 10 == 0 {
            for (other, took) in others.iter().zip(&mut young) {
                took.extend(other.as_ref().map(|other| restart(&other.folder, || {})));
            }
        }
    }
    let kept = house.told("life").iter().filter(|life| life["kept_binary"] == true).count();
    assert!(kept >= rounds, "only {kept} lives ran from the kept binary");
    guardian.stop();
    let row = Row::new(
        "exit → next exec",
        "ms",
        &ours,
        "A small static program stamps its last instruction and its first; it lived over a second, the guardian rests \
         0 s and has 0.8 MB of `creature/` to look through, s6 is told of readiness (`notification-fd`).",
    );
    let quick = "exit → next exec, lived under 1 s";
    let quick = Row::new(
        quick,
        "ms",
        &ours,
        "The same with a life that just began: runit then waits a second, s6 only if it was not told of readiness.",
    );
    let mut rows = vec![row.against("bare wait, fork, exec", &bare)];
    rows.extend((0..2).map(|at| row.against(NAMES[at].0, &theirs[at])));
    rows.push(row.against("one small file replaced and synced", &synced));
    rows.extend((0..2).map(|at| quick.against(NAMES[at].0, &young[at])));
    Table::new(rows).note(
        "Not near the floor: before the next life the guardian saves its state three times and buries the dead in \
         `deaths.jsonl`, each synced, so that a killed guardian goes on where it was: 3 ms; twice it compares every byte \
         of `creature/` with the commit, so that only a commit lives: 2 ms; it writes five small files that are not \
         synced, tokens, status and settings: 2 ms; and the launcher starts, makes the tree's namespaces, the view, the \
         rules of files and the filter of calls, and executes the program: 5 ms. runit and s6 do none of it. By default \
         it also rests 1 s after a death, doubling: a choice, and no part of these figures."
            .into(),
    )
}

/// Ends the creature that lives in `folder`; the time from its end to the beginning of the next, in milliseconds.
fn restart(folder: &Path, and_then: impl FnOnce()) -> f64 {
    let before = until_stamped(folder, 0, &["beats"]).bytes;
    ask(folder, "die");
    and_then();
    let after = until_stamped(folder, before, &["ends", "begins", "beats"]).list;
    after[1].1 - after[0].1
}

/// What one crash-safe replacement of a small file costs on this disk, in milliseconds.
fn replacement(folder: &Path) -> f64 {
    let (path, aside) = (folder.join("small.json"), folder.join("small.aside"));
    let begun = stand_in::now();
    let mut file = File::create(&aside).unwrap();
    file.write_all(&[b'x'; 2_000]).unwrap();
    file.sync_all().unwrap();
    fs::rename(&aside, &path).unwrap();
    File::open(folder).unwrap().sync_all().unwrap();
    stand_in::now() - begun
}
