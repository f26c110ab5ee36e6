//! What supervising costs while nothing happens, beside runit and s6; and whether it grows with thousands of restarts.

use crate::bench::row::Row;
use crate::bench::stand_in::{self, TIRELESS, ask};
use crate::bench::supervisors::{NAMES, Supervisor};
use crate::bench::{Plan, Table};
use std::fs;
use std::time::Duration;
use trials::Guardian;

/// What a minute is made of: rates are taken over each part.
const PART: Duration = Duration::from_secs(15);

const METHODS: [(&str, &str, &str); 4] = [
    (
        "resident, idle",
        "MiB",
        "VmRSS of the supervising processes, of the guardian its first and its steward, a service beating every 5 s below it.",
    ),
    (
        "proportional, idle",
        "MiB",
        "Pss, which shares library pages out among those who use them; runit and s6 link libc.",
    ),
    (
        "wakeups, idle",
        "a minute",
        "Voluntary and involuntary context switches; the guardian looks once a second.",
    ),
    ("processor time, idle", "ms a minute", "From schedstat, over parts of 15 s."),
];

pub fn measure(plan: &Plan) -> Table {
    let houses = [stand_in::house("probation_s = 1\n"), stand_in::house("probation_s = 1\n")];
    houses.iter().for_each(|house| house.write(".self/mind/quiet", ""));
    let guardians = [stand_in::start(&houses[0]), stand_in::start_as(&houses[1], &plan.release)];
    houses.iter().for_each(stand_in::until_blessed);
    let (beside, program) = (houses[0].folder.path(), houses[0].path("creature/creature.sh"));
    let others = [0, 1].map(|at| Supervisor::start(at, beside, &program, &["quiet"]));
    let pids: [Vec<i32>; 4] = [
        of(&guardians[0]),
        of(&guardians[1]),
        others[0].as_ref().map(Supervisor::pid).into_iter().collect(),
        others[1].as_ref().map(Supervisor::pid).into_iter().collect(),
    ];
    // What start-up, the first build and the blessing leave behind is no part of being idle.
    std::thread::sleep(Duration::from_secs(2));
    let part = if plan.quick { PART / 3 } else { PART };
    let look = || pids.each_ref().map(|pids| (!pids.is_empty()).then(|| Cost::of_all(pids)));
    let (mut samples, mut last) = ([(); 4].map(|()| Vec::new()), look());
    for round in 0..plan.scaled(4, 2) {
        plan.progress(round, plan.scaled(4, 2));
        std::thread::sleep(part);
        let now = look();
        for ((samples, now), last) in samples.iter_mut().zip(&now).zip(&last) {
            samples.extend(now.as_ref().zip(last.as_ref()).map(|(now, last)| now.since(last, part)));
        }
        last = now;
    }
    let first = guardians.each_ref().map(|guardian| Cost::of(guardian.pid()).resident_mib);
    guardians.into_iter().for_each(|guardian| assert_eq!(guardian.stop(), 0));
    let mut rows = Vec::new();
    for (at, (what, unit, method)) in METHODS.into_iter().enumerate() {
        let figures =
            |of: usize| samples[of].iter().map(|sample: &[f64; 4]| sample[at]).collect::<Vec<f64>>();
        let aim = ["< 6 MiB", "", "about 60", ""][at];
        let row = Row::new(what, unit, &figures(0), method).aim(aim);
        rows.push(row.against("the guardian built with --release", &figures(1)));
        rows.extend((0..2).map(|other| row.against(NAMES[other].0, &figures(2 + other))));
    }
    let method = "VmRSS of the guardian's first process alone; all of it is locked in memory.";
    let row = Row::new("resident, idle, its first process", "MiB", &first[..1], method).aim("≤ 5 MiB");
    rows.push(row.against("the guardian built with --release", &first[1..]));
    Table::new(rows).note(
        "Ours is the build of `cargo run -p guardian`. runit and s6 wake for the end of their service alone; the \
         guardian also looks at the heartbeat, once a second. Theirs is one supervisor of one service, without the \
         scanner above it."
            .into(),
    )
}

/// Resident memory after so many restarts, and what a life with its restart takes by then.
pub fn flat(plan: &Plan) -> Table {
    let marks = plan.scaled([100, 1_000, 5_000], [50, 100, 200]);
    let house = stand_in::house(TIRELESS);
    let guardian = stand_in::start(&house);
    stand_in::until_blessed(&house);
    let life = || house.status()["life"].as_u64().unwrap_or(0);
    let first = life();
    house.write(".self/mind/hurry", "");
    ask(&house.root, "die");
    let begun = stand_in::now();
    let (mut resident, mut took, mut before) = (Vec::new(), Vec::new(), (0, begun));
    for mark in marks {
        house.until_within(Duration::from_secs(300), &format!("{mark} restarts"), || {
            plan.progress((life() - first) as usize, marks[2] as usize);
            life() >= first + mark
        });
        let (lives, now) = (life() - first, stand_in::now());
        resident.push(Cost::of_all(&of(&guardian)).resident_mib);
        took.push((now - before.1) / (lives - before.0) as f64);
        before = (lives, now);
    }
    guardian.stop();
    let mut rows = Vec::new();
    for at in [1, 2] {
        let what = format!("resident after {} restarts", marks[at]);
        let row = Row::new(
            &what,
            "MiB",
            &resident[at..=at],
            "VmRSS when so many lives that ended at once are over.",
        );
        rows.push(row.against(&format!("after {}", marks[0]), &resident[..1]).aim("flat, < 6 MiB"));
    }
    let what = format!("a life and its restart, the last of {}", marks[2]);
    let row = Row::new(
        &what,
        "ms",
        &took[2..],
        "Time over lives, rest 0; the life beats, writes a thought and exits.",
    );
    rows.push(row.against(&format!("the first {}", marks[0]), &took[..1]));
    Table::new(rows)
}

/// The first process of a guardian, and its steward.
fn of(guardian: &Guardian) -> Vec<i32> {
    [guardian.pid()].into_iter().chain(guardian.steward()).collect()
}

/// What the kernel counts of a process.
pub struct Cost {
    resident_mib: f64,
    proportional_mib: f64,
    switches: f64,
    ran_ms: f64,
}

impl Cost {
    pub fn of(pid: i32) -> Self {
        let read = |name: &str| fs::read_to_string(format!("/proc/{pid}/{name}")).unwrap_or_default();
        let (status, rollup, schedule) = (read("status"), read("smaps_rollup"), read("schedstat"));
        let ran_ns: f64 = schedule.split_whitespace().next().and_then(|ns| ns.parse().ok()).unwrap_or(0.0);
        Self {
            resident_mib: field(&status, "VmRSS:") / 1_024.0,
            proportional_mib: field(&rollup, "Pss:") / 1_024.0,
            switches: field(&status, "voluntary_ctxt_switches:")
                + field(&status, "nonvoluntary_ctxt_switches:"),
            ran_ms: ran_ns / 1e6,
        }
    }

    /// The sum of several processes.
    pub fn of_all(pids: &[i32]) -> Self {
        let costs: Vec<Self> = pids.iter().map(|pid| Self::of(*pid)).collect();
        let sum = |of: fn(&Self) -> f64| costs.iter().map(of).sum();
        Self {
            resident_mib: sum(|cost| cost.resident_mib),
            proportional_mib: sum(|cost| cost.proportional_mib),
            switches: sum(|cost| cost.switches),
            ran_ms: sum(|cost| cost.ran_ms),
        }
    }

    /// Resident and proportional memory; switches and milliseconds a minute.
    pub fn since(&self, last: &Self, time: Duration) -> [f64; 4] {
        let a_minute = |now: f64, then: f64| (now - then) * 60.0 / time.as_secs_f64();
        let (switches, ran) = (a_minute(self.switches, last.switches), a_minute(self.ran_ms, last.ran_ms));
        [self.resident_mib, self.proportional_mib, switches, ran]
    }
}

fn field(text: &str, name: &str) -> f64 {
    let value =
        text.lines().find_map(|line| line.strip_prefix(name)?.split_whitespace().next()?.parse().ok());
    value.unwrap_or(0.0)
}
