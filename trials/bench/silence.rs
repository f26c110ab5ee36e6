//! From the last beat of a creature that falls silent to its death, beyond the silence it is allowed.

use crate::bench::row::Row;
use crate::bench::stand_in::{self, TIRELESS, ask, stamps, until_stamped};
use crate::bench::supervisors::Floor;
use crate::bench::{Plan, Table};
use nix::unistd::Pid;
use processes::hunt;
use std::fs;
use std::time::Duration;
use trials::House;

/// Houses at a time: nearly all of a round is waiting.
const HOUSES: usize = 4;

pub fn measure(plan: &Plan) -> Table {
    let rounds = plan.scaled(6, 1);
    let by_default = excess(plan, rounds, 3_000.0, 1.0);
    let often = excess(plan, rounds, 1_000.0, 0.05);
    let house = stand_in::house(TIRELESS);
    let mut floor = Floor::start(house.folder.path(), &house.path("creature/creature.sh"));
    let bare: Vec<f64> = (0..by_default.len())
        .map(|_| {
            std::thread::sleep(Duration::from_millis(20));
            let took = floor.kill();
            floor.again();
            took
        })
        .collect();
    let method = "Last beat to the process's end, less `beat_s`; houses side by side, each silent at another moment \
        between two looks of its guardian; the creature dies of SIGTERM.";
    let row = |what: &str, ours: &[f64]| {
        let row = Row::new(what, "ms", ours, method);
        row.against("bare kill and wait", &bare)
    };
    let rows = vec![
        row("silence → killed, beyond `beat_s`, `look_s` 1 (default)", &by_default),
        row("silence → killed, beyond `beat_s`, `look_s` 0.05", &often),
    ];
    Table::new(rows).note(
        "runit and s6 do not notice silence. The guardian takes a beat for as old as the look that found it, so at \
         most one `look_s` comes on top, half of one in the middle: the price of one wakeup a second. Of the default \
         silence of 30 s that is 2 %."
            .into(),
    )
}

/// Milliseconds beyond `beat_ms` from the last beat to the end, over several houses.
fn excess(plan: &Plan, rounds: usize, beat_ms: f64, look_s: f64) -> Vec<f64> {
    let limits = format!("{TIRELESS}beat_s = {}\nlook_s = {look_s}\n", beat_ms / 1_000.0);
    let houses: Vec<_> = (0..HOUSES).map(|_| stand_in::house(&limits)).collect();
    let guardians: Vec<_> = houses.iter().map(stand_in::start).collect();
    let mut found = Vec::new();
    for round in 0..rounds {
        plan.progress(round, rounds);
        houses.iter().for_each(stand_in::until_blessed);
        let lived: Vec<_> = houses.iter().map(|house| house.status()["life"].as_u64()).collect();
        let hush = |(number, house): (usize, &House)| {
            // Spread over the time between two looks.
            let share = (number as f64 + round as f64 / rounds as f64) / HOUSES as f64;
            std::thread::sleep(Duration::from_secs_f64(look_s * (1.0 + share)));
            let (pid, before) = (stand_in_of(house), stamps(&house.root, 0).bytes);
            ask(&house.root, "hush");
            let hushed = until_stamped(&house.root, before, &["hushes"]).list[0].1;
            std::thread::sleep(Duration::from_secs_f64(beat_ms / 1_000.0 - 0.1));
            while lives(pid) {
                std::thread::sleep(Duration::from_micros(500));
            }
            stand_in::now() - hushed - beat_ms
        };
        std::thread::scope(|scope| {
            let waits = houses.iter().enumerate().map(|house| scope.spawn(move || hush(house)));
            let waits: Vec<_> = waits.collect();
            found.extend(waits.into_iter().map(|wait| wait.join().unwrap()));
        });
        for (house, before) in houses.iter().zip(&lived) {
            house.until("the next life", || house.status()["life"].as_u64() > *before);
        }
    }
    guardians.into_iter().for_each(|guardian| assert_eq!(guardian.stop(), 0));
    found
}

/// The stand-in as it is known out here: in a namespace of its own its beat names another pid.
fn stand_in_of(house: &House) -> i32 {
    let creature = Pid::from_raw(house.status()["creature_pid"].as_i64().unwrap() as i32);
    let below = hunt::all_of(creature).into_iter().find(|pid| *pid != creature);
    below.unwrap_or(creature).as_raw()
}

fn lives(pid: i32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with('Z'))
}
