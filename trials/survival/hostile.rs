//! The hostile soak: guardian, broker and life killed at random, over a creature that plants, leases, locks and pipes.
//!
//! Two owners say words meanwhile. Each fault is written the moment it is seen, the figures after every look at the
//! whole house, so that a run that is ended early has told what it saw.

mod looks;
mod owners;
mod tally;

use crate::survival::oracle::Oracle;
use crate::survival::soak::Dice;
use crate::survival::trial::Trial;
use owners::Owners;
use serde_json::Value;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};
use tally::Tally;

pub use tally::section;

const PROGRAM: &str = include_str!("hostile/creature.c");

/// Hears each line of the inbox once: how many it has heard stands in memory, so that no kill makes it hear one again.
const LIFE: &str = "creature/hostile $FERAL_LIFE$$ & \
    hear() { total=$(wc -l < .self/inbox.jsonl); while [ \"$heard\" -lt \"${total:-0}\" ]; do heard=$((heard+1)); \
    word=$(sed -n \"${heard}s/.*word \\([0-9-]*\\) end.*/\\1/p\" .self/inbox.jsonl); \
    printf '{\"at\":\"2026-01-01T00:00:00.000Z\",\"life\":%s,\"kind\":\"heard\",\"data\":{\"word\":\"%s\"}}\\n' \"$FERAL_LIFE\" \"$word\" >> .self/memory.jsonl; done; }; \
    heard=$(grep -c '\"kind\":\"heard\"' .self/memory.jsonl); think here; while :; do beat; hear; sleep 0.1; done";

/// Kills between two looks at the whole house.
const KILLS: usize = 12;

pub struct Plan {
    pub how_long: Duration,
    pub seed: u64,
    /// Without walls, so that leases are really taken.
    pub open: bool,
    /// Figures go here after every look, and are added to where `resume` is set; faults go beside it.
    pub json: Option<PathBuf>,
    pub resume: bool,
}

pub fn hostile(trial: &mut Trial, plan: &Plan) -> Value {
    let mut tally = Tally::begin(plan);
    move_in(trial, plan.open);
    trial.begin();
    trial.inject(|_| {});
    let owners = Owners::begin(trial.house());
    let (begun, mut dice) = (Instant::now(), Dice(plan.seed));
    let mut kills = 0;
    while begun.elapsed() < plan.how_long {
        std::thread::sleep(Duration::from_millis(50 + dice.below(2_400) as u64));
        strike(trial, &mut dice, &mut tally);
        trial.judge(Oracle::sample);
        kills += 1;
        if kills % KILLS == 0 {
            looks::at_the_whole_house(trial, &owners, &mut tally);
            tally.save(begun.elapsed());
        }
    }
    let said = owners.end();
    looks::living(trial, &mut tally);
    looks::all_heard(trial, &said, &mut tally);
    // What is wrong at the end is a fault like any other: the figures must be told all the same.
    if let Err(panic) = catch_unwind(AssertUnwindSafe(|| trial.close())) {
        let text = panic.downcast_ref::<String>().cloned().unwrap_or_else(|| "the end panicked".into());
        tally.fault("the end", &text);
    }
    looks::words(trial, &said, &mut tally);
    tally.said = tally.said_before + said.len();
    tally.save(begun.elapsed())
}

fn move_in(trial: &mut Trial, open: bool) {
    trial.shell(LIFE);
    let house = trial.house();
    house.take_broker();
    let (source, program) = (house.folder.path().join("hostile.c"), house.path("creature/hostile"));
    fs::write(&source, PROGRAM).unwrap();
    let cc = std::env::var_os("CC").unwrap_or_else(|| "cc".into());
    let compile = |how: &[&str]| {
        Command::new(&cc).args(how).args(["-O1", "-o"]).arg(&program).arg(&source).status().unwrap().success()
    };
    assert!(compile(&["-static"]) || compile(&[]), "the compiler refuses the hostile program");
    house.write_life(LIFE);
    house.git(&["add", "creature"]);
    house.git(&["commit", "-q", "-m", "a hostile life", "--", "creature"]);
    // Every life is ended by the soak: that many ends would be a crash loop. What waits for a lease is not hung.
    for (name, value) in [
        ("loop_deaths", 1e6),
        ("lives_unblessed", 1e6),
        ("beat_s", 120.0),
        ("boot_s", 120.0),
        ("grace_s", 2.0),
    ] {
        trial.limit(name, value);
    }
    if open {
        trial.without_walls();
    }
}

/// Kills at random what is alive of the house, and starts the guardian again where it was killed or has ended.
fn strike(trial: &mut Trial, dice: &mut Dice, tally: &mut Tally) {
    if let Some(code) = trial.guardian_ended() {
        tally.fault("the guardian ended by itself", &format!("with status {code}\n{}", trial.log_end()));
        trial.start();
        return;
    }
    let broker = trial.house().broker_pid();
    let kill_broker = || {
        let pid = broker.map(|pid| pid.to_string());
        pid.map(|pid| Command::new("kill").args(["-KILL", &pid]).stderr(std::process::Stdio::null()).status())
    };
    let what = match dice.below(6) {
        0 | 1 => {
            trial.kill_creature();
            "life"
        }
        2 => {
            kill_broker();
            "broker"
        }
        3 => {
            trial.kill_creature();
            trial.kill_guardian();
            "life and guardian"
        }
        4 => {
            kill_broker();
            trial.kill_guardian();
            "broker and guardian"
        }
        _ => {
            trial.kill_guardian();
            "guardian"
        }
    };
    *tally.kills.entry(what.to_owned()).or_default() += 1;
}
