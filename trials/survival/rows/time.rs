//! Faults of time: clocks that jump, hosts that sleep, builds and processors that are slow.

use crate::survival::matrix::Row;
use crate::survival::trial::Trial;
use std::fs;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

const TIME: &str = "time";
const DAY_S: i64 = 86_400;
const NIGHT_S: i64 = 8 * 3_600;

pub const ROWS: &[Row] = &[
    Row::new(
        TIME,
        "clock a day forward",
        "the wall clock jumps a day ahead under a living creature",
        |trial| {
            jumps(trial, "think more; live", 0, DAY_S);
        },
    )
    .quick()
    .twice(),
    Row::new(TIME, "clock a day back", "the wall clock jumps a day back under a living creature", |trial| {
        jumps(trial, "think more; live", 0, -DAY_S);
    })
    .twice(),
    Row::new(
        TIME,
        "clock back between deaths",
        "the wall clock jumps a day back, then the creature dies twice",
        back_and_dies,
    )
    .twice(),
    Row::new(
        TIME,
        "host suspended for eight hours",
        "eight hours pass at once for guardian and clock, the creature lives",
        |trial| {
            jumps(trial, "think more; live", NIGHT_S, NIGHT_S);
        },
    )
    .quick()
    .twice(),
    Row::new(TIME, "suspended in a build", "eight hours pass at once while cargo builds", |trial| {
        suspended_at(trial, "building");
    }),
    Row::new(TIME, "suspended at boot", "eight hours pass at once before the first beat", |trial| {
        suspended_at(trial, "booting");
    }),
    Row::new(TIME, "suspended in probation", "eight hours pass at once before the blessing", |trial| {
        suspended_at(trial, "probation");
    }),
    Row::new(
        TIME,
        "guardian held",
        "the guardian is stopped for longer than the silence that means hung",
        held,
    ),
    Row::new(
        TIME,
        "house held",
        "guardian and creature are both stopped for longer than the silence that means hung",
        all_held,
    ),
    Row::new(
        TIME,
        "a build as slow as its deadline allows",
        "a build that takes three quarters of its deadline",
        slow_build,
    )
    .twice(),
    Row::new(TIME, "a processor shared with a hog", "eight busy processes beside the house", hogged),
];

/// Puts the guardian on a clock that can be made to jump: seconds since boot, seconds of the wall clock.
fn on_jumping_clock(trial: &mut Trial) {
    let folder = trial.house().folder.path().to_path_buf();
    let library = folder.join("clock.so");
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/survival/clock.c");
    let built = Command::new("cc")
        .args(["-shared", "-fPIC", "-O1", "-o"])
        .arg(&library)
        .args([source, "-ldl"])
        .status();
    if !built.is_ok_and(|status| status.success()) {
        trial.not_run("no C compiler that makes shared libraries");
    }
    fs::write(folder.join("jumps"), "0 0").unwrap();
    trial.env.push(("LD_PRELOAD".into(), library.display().to_string()));
    trial.env.push(("CLOCK_JUMPS".into(), folder.join("jumps").display().to_string()));
}

fn jump(trial: &Trial, boot_s: i64, wall_s: i64) {
    let path = trial.house().folder.path().join("jumps");
    // In place and shorter than any buffer: a reader sees the old numbers or the new ones.
    fs::write(path.with_extension("new"), format!("{boot_s} {wall_s}")).unwrap();
    fs::rename(path.with_extension("new"), path).unwrap();
}

/// The same life goes on, whatever the clock does.
fn jumps(trial: &mut Trial, act: &str, boot_s: i64, wall_s: i64) {
    trial.shell_then(act);
    on_jumping_clock(trial);
    trial.begin();
    trial.inject(|trial| jump(trial, boot_s, wall_s));
    let mut beats = std::collections::HashSet::new();
    trial.until("it to beat on for a while", |house| {
        beats.insert(fs::metadata(house.path(".self/heartbeat")).unwrap().modified().unwrap());
        beats.len() > 20
    });
    trial.recovers();
    assert_eq!(trial.house().deaths().len(), 0, "nobody died of a clock");
    if !trial.variant.is_killed() {
        assert_eq!(trial.house().status()["life"], 1, "the same life went on");
    }
    // The next thing the guardian tells must be of the new time, or nothing jumped.
    trial.order(&["pause"]);
    let told = trial.house().status()["at"].as_str().unwrap().parse::<jiff::Timestamp>().unwrap();
    let off_s = told.as_second() - jiff::Timestamp::now().as_second() - wall_s;
    assert!(off_s.abs() < 600, "the guardian's clock did not jump: it tells {told}");
    trial.order(&["resume"]);
}

fn back_and_dies(trial: &mut Trial) {
    trial.shell_then("sleep 0.1; [ $(wc -l < .self/deaths.jsonl || echo 0) -ge 2 ] || exit 1");
    on_jumping_clock(trial);
    trial.house().write(".self/deaths.jsonl", "");
    trial.begin();
    trial.inject(|trial| jump(trial, 0, -DAY_S));
    trial.until("two deaths", |house| house.deaths().len() >= 2);
    trial.recovers();
}

/// A self-edit that waits in this phase until the night is over: no death may be blamed on it.
fn suspended_at(trial: &mut Trial, phase: &str) {
    let wait = "until [ -e .self/morning ]; do sleep 0.05; done";
    match phase {
        "building" => {
            trial.shell_becomes("think new; live");
            let script = format!("grep -q 'think first' creature/creature.sh || {wait}\n");
            trial.house().write("creature/build.sh", &script);
            trial.house().git(&["add", "creature/build.sh"]);
            trial.house().git(&["commit", "-q", "-m", "a slow build", "creature/build.sh"]);
        }
        "booting" => trial.shell_becomes(&format!("{wait}; think new; live")),
        _ => trial
            .shell_becomes(&format!("beat; (while :; do beat; sleep 0.1; done) & {wait}; think new; live")),
    }
    trial.limit("build_s", 30.0);
    trial.limit("boot_s", 30.0);
    trial.limit("beat_s", 30.0);
    on_jumping_clock(trial);
    trial.begin();
    trial.inject(|_| {});
    trial.until(phase, |house| house.status()["phase"] == phase);
    jump(trial, NIGHT_S, NIGHT_S);
    // Two looks of the guardian's at the new time, so that it has noticed.
    let log = trial.house().folder.path().join("guardian.log");
    std::thread::sleep(Duration::from_millis(300));
    assert!(log.exists());
    trial.house().write(".self/morning", "");
    let head = trial.house().git(&["rev-parse", "HEAD"]);
    trial.until("the new self to be blessed", |house| {
        house.status()["blessed"] == true && house.status()["commit"] == head.as_str()
    });
    trial.recovers();
    assert_eq!(trial.house().deaths().len(), 0, "nobody died of a night");
}

fn signal(pid: i64, signal: &str) {
    Command::new("kill").args([signal, &pid.to_string()]).status().unwrap();
}

fn held(trial: &mut Trial) {
    trial.shell("think x; live");
    trial.limit("beat_s", 2.0);
    trial.begin();
    trial.inject(|trial| {
        trial.guardian().signal("-STOP");
        std::thread::sleep(Duration::from_secs(5));
        trial.guardian().signal("-CONT");
    });
    std::thread::sleep(Duration::from_secs(1));
    trial.recovers();
    assert_eq!(trial.house().deaths().len(), 0, "a guardian that was held takes nobody for hung");
}

fn all_held(trial: &mut Trial) {
    trial.shell("think x; live");
    trial.limit("beat_s", 2.0);
    trial.begin();
    let mut pids: Vec<i64> = trial.house().leftovers().into_iter().map(i64::from).collect();
    pids.splice(0..0, [trial.guardian().pid(), trial.guardian().acting()].map(i64::from));
    trial.inject(|_| {
        pids.iter().for_each(|pid| signal(*pid, "-STOP"));
        std::thread::sleep(Duration::from_secs(5));
        pids.iter().for_each(|pid| signal(*pid, "-CONT"));
    });
    std::thread::sleep(Duration::from_secs(1));
    trial.recovers();
    assert_eq!(trial.house().deaths().len(), 0, "a house that was held has lost nobody");
}

fn slow_build(trial: &mut Trial) {
    trial.shell_becomes("think new; live");
    trial.house().write("creature/build.sh", "grep -q 'think first' creature/creature.sh || sleep 6\n");
    trial.house().git(&["add", "creature/build.sh"]);
    trial.house().git(&["commit", "-q", "-m", "a slow build", "creature/build.sh"]);
    trial.limit("build_s", 8.0);
    trial.begin();
    trial.inject(|_| {});
    trial.until("the new self to be blessed", |house| {
        house.status()["blessed"] == true
            && house.read("creature/creature.sh").contains("think new")
            && !house.read("creature/creature.sh").contains("think first")
    });
    trial.recovers();
    assert_eq!(trial.house().deaths().len(), 0, "slow is not dead");
}

/// Busy processes, ended with the row.
struct Hogs(Vec<Child>);

impl Drop for Hogs {
    fn drop(&mut self) {
        for hog in &mut self.0 {
            let _ = hog.kill();
            let _ = hog.wait();
        }
    }
}

fn hogged(trial: &mut Trial) {
    trial.shell_becomes("think new; live");
    trial.limit("beat_s", 6.0);
    trial.limit("boot_s", 6.0);
    trial.begin();
    let mut hogs = Hogs(Vec::new());
    trial.inject(|_| {
        let busy =
            || Command::new("sh").args(["-c", "while :; do :; done"]).stdin(Stdio::null()).spawn().unwrap();
        hogs.0.extend((0..8).map(|_| busy()));
    });
    trial.until("the new self to be blessed beside them", |house| {
        house.status()["blessed"] == true && house.status()["life"].as_u64() >= Some(2)
    });
    std::thread::sleep(Duration::from_secs(8));
    trial.recovers();
    assert_eq!(trial.house().deaths().len(), 0, "nobody died of a busy machine");
}
