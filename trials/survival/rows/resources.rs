//! Faults of resources: full disks, no descriptors, no processes, no memory, quotas overrun.

mod disk;

use super::joined;
use crate::survival::matrix::Row;
use crate::survival::trial::Trial;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::rc::Rc;
use std::time::Duration;
use trials::House;

const RESOURCES: &str = "resources";

pub const ROWS: &[Row] = &joined::<{ disk::ROWS.len() + HERE.len() }>(&[disk::ROWS, HERE]);

const HERE: &[Row] = &[
    Row::new(
        RESOURCES,
        "out of file descriptors",
        "the guardian may open nothing more while a self-edit is due",
        no_descriptors,
    )
    .twice(),
    Row::new(RESOURCES, "out of processes", "nothing may fork while a life is due", no_processes),
    Row::new(
        RESOURCES,
        "fork bomb",
        "a self-edit that forks without bound, in a group of 300 processes at most",
        fork_bomb,
    ),
    Row::new(
        RESOURCES,
        "memory limit hit",
        "a blessed creature meets the memory limit of its group, twice",
        no_memory,
    ),
    Row::new(
        RESOURCES,
        "an endless file left behind",
        "a life leaves a file of 3 GB in creature/ and in self/, and dies",
        endless,
    )
    .twice(),
    Row::new(
        RESOURCES,
        "target past its quota",
        "the build folder is over its quota when the next build is due",
        big_target,
    ),
    Row::new(
        RESOURCES,
        "a link in a target past its quota",
        "target/creature/debug is a link to the owner's folder",
        linked_target,
    ),
    Row::new(
        RESOURCES,
        "memory past its quota",
        "memory.jsonl is over its quota when a life ends",
        big_memory,
    )
    .twice(),
    Row::new(RESOURCES, "sixty deaths of logs", "sixty lives die, each with a log", many_logs),
    Row::new(
        RESOURCES,
        "history and deaths past their size",
        "both record files are over 16 MiB when a life ends",
        big_records,
    )
    .twice(),
];

/// A self-edit and its blessing while the guardian may open no more files than it has; then it may again.
fn no_descriptors(trial: &mut Trial) {
    trial.shell_becomes("think new; live");
    trial.begin();
    let open = |trial: &Trial, most: &str| {
        let pid = trial.guardian().acting().to_string();
        let set = Command::new("prlimit").args(["--pid", &pid, &format!("--nofile={most}:")]).status();
        if !set.is_ok_and(|status| status.success()) {
            trial.not_run("prlimit is not installed");
        }
    };
    let has = fs::read_dir(format!("/proc/{}/fd", trial.guardian().acting())).unwrap().count();
    trial.inject(|trial| open(trial, &has.to_string()));
    std::thread::sleep(Duration::from_secs(2));
    open(trial, "1024");
    trial.recovers();
    trial.until("the self-edit to have come through", |house| {
        house.read("creature/creature.sh").contains("think new")
    });
}

/// A control group of the kernel's for this row alone, removed with it.
struct Group {
    folder: PathBuf,
}

impl Group {
    fn new(trial: &mut Trial, controller: &str, settings: &[(&str, &str)]) -> Rc<Self> {
        let old = Path::new("/sys/fs/cgroup").join(controller);
        let name = format!("survival-{}-{}", std::process::id(), trial.variant.row.name.replace(' ', "-"));
        let folder = if old.is_dir() { old.join(name) } else { Path::new("/sys/fs/cgroup").join(name) };
        let made = fs::create_dir(&folder);
        let group = Rc::new(Self { folder });
        let set = settings.iter().any(|(name, value)| fs::write(group.folder.join(name), value).is_ok());
        if made.is_err() || !set {
            trial.not_run("no control group can be made here");
        }
        trial.keep(group.clone());
        group
    }

    fn set(&self, name: &str, value: &str) {
        fs::write(self.folder.join(name), value).unwrap();
    }

    fn holds(&self, pid: i32) {
        self.set("cgroup.procs", &pid.to_string());
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // Empty once its last process is reaped.
        for _ in 0..100 {
            if fs::remove_dir(&self.folder).is_ok() {
                return;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

fn no_processes(trial: &mut Trial) {
    trial.shell("think x; live");
    let group = Group::new(trial, "pids", &[("pids.max", "max")]);
    trial.begin();
    hold_guardian(trial, &group);
    trial.inject(|trial| {
        group.set("pids.max", "0");
        trial.kill_creature();
    });
    std::thread::sleep(Duration::from_secs(3));
    group.set("pids.max", "max");
    trial.recovers();
}

/// Puts the guardian into a group once its steward is there: without that the steward's lives would be outside.
fn hold_guardian(trial: &Trial, group: &Group) {
    let steward = trials::looked_for(|| trial.guardian().steward()).expect("a steward");
    [trial.guardian().pid(), steward].into_iter().for_each(|pid| group.holds(pid));
}

fn fork_bomb(trial: &mut Trial) {
    trial.shell_becomes("think x; blessed; bomb() { bomb & bomb & }; bomb; sleep 1; exit 1");
    let group = Group::new(trial, "pids", &[("pids.max", "300")]);
    trial.begin();
    trial.expect_fall("crash_loop");
    hold_guardian(trial, &group);
    let pid = trial.house().status()["creature_pid"].as_i64().unwrap();
    group.holds(pid as i32);
    trial.inject(|_| {});
    trial.recovers();
}

fn no_memory(trial: &mut Trial) {
    let leak = "[ $(cat .self/mind/leaks 2>/dev/null || echo 0) -ge 2 ] || { echo $(($(cat .self/mind/leaks 2>/dev/null || echo 0)+1)) > .self/mind/leaks; \
                leak=xxxxxxxx; while :; do leak=$leak$leak; beat; done; }";
    trial.shell_then(leak);
    let group = Group::new(trial, "memory", &[("memory.limit_in_bytes", "60M"), ("memory.max", "60M")]);
    trial.start();
    hold_guardian(trial, &group);
    trial.until("the first blessing", |house| house.status()["blessed"] == true);
    let pid = trial.house().status()["creature_pid"].as_i64().unwrap();
    group.holds(pid as i32);
    trial.inject(|_| {});
    trial.until("two deaths for want of memory", |house| {
        house.deaths().iter().filter(|death| death["blame"] == "memory").count() >= 2
    });
    trial.recovers();
}

fn endless(trial: &mut Trial) {
    trial.shell_becomes("think x; blessed; truncate -s 3G creature/endless self/endless PURPOSE.md; ask commit papers c; sleep 0.5; exit 1");
    trial.begin();
    trial.expect_fall("crash_loop");
    trial.inject(|trial| trial.oracle.owner_loses("PURPOSE.md"));
    trial.recovers();
    let peak = trial.guardian_peak_kib();
    assert!(peak < 64 << 10, "the guardian read it: {peak} KiB resident");
    let kept = Command::new("find")
        .args([".self/guardian/kept", "-name", "endless"])
        .current_dir(&trial.house().root)
        .output();
    assert!(String::from_utf8_lossy(&kept.unwrap().stdout).lines().count() >= 2, "both are kept aside");
}

fn big_target(trial: &mut Trial) {
    trial.shell_becomes("think new; live");
    trial.limit("target_mib", 3.0);
    trial.begin();
    trial.stop();
    let house = trial.house();
    house.write("target/creature/debug/deps/old.rlib", &"x".repeat(4 << 20));
    house.write("target/creature/debug/incremental/old.bin", &"x".repeat(1 << 20));
    house.write("target/debug/not-the-creatures", &"x".repeat(4 << 20));
    trial.begin();
    trial.inject(|_| {});
    trial.until("the folder to be cleared", |house| !house.told("target_cleared").is_empty());
    trial.recovers();
    trial.until("the new self", |house| {
        house.status()["life"].as_u64() >= Some(3) && house.status()["blessed"] == true
    });
    let house = trial.house();
    assert!(!house.path("target/creature/debug/deps/old.rlib").exists());
    assert!(house.path("target/debug/not-the-creatures").exists(), "only the creature's builds are cleared");
    let kept = fs::read_dir(house.path(".self/guardian/binaries")).unwrap().count();
    assert!(kept >= 4, "both blessed binaries and their hashes are kept");
}

fn linked_target(trial: &mut Trial) {
    trial.shell_becomes("think new; live");
    trial.limit("target_mib", 3.0);
    trial.begin();
    trial.stop();
    let house = trial.house();
    let (owners, debug) = (house.folder.path().join("owners"), house.path("target/creature/debug"));
    let treasure = owners.join("incremental/treasure");
    fs::create_dir_all(owners.join("incremental")).unwrap();
    fs::write(&treasure, "x".repeat(4 << 20)).unwrap();
    fs::remove_dir_all(&debug).unwrap();
    std::os::unix::fs::symlink(&owners, &debug).unwrap();
    house.write("target/creature/big", &"x".repeat(4 << 20));
    trial.begin();
    trial.inject(|_| {});
    trial.until("the folder to be cleared", |house| !house.told("target_cleared").is_empty());
    trial.recovers();
    assert!(treasure.exists(), "the quota reached through a link into the owner's folder");
}

fn big_memory(trial: &mut Trial) {
    trial.shell("think x; live");
    trial.limit("memory_mib", 1.0);
    let line =
        "{\"at\":\"2026-01-01T00:00:00.000Z\",\"life\":0,\"kind\":\"observation\",\"data\":{\"n\":NUMBER}}\n";
    let text: String = (0..20_000).map(|n| line.replace("NUMBER", &n.to_string())).collect();
    trial.house().write(".self/memory.jsonl", &text);
    trial.begin();
    trial.inject(|trial| trial.kill_creature());
    trial.recovers();
    let house = trial.house();
    let size = fs::metadata(house.path(".self/memory.jsonl")).unwrap().len();
    assert!(size < 1 << 20, "memory begins anew: {size} bytes");
}

fn many_logs(trial: &mut Trial) {
    trial.shell_then("[ $FERAL_LIFE -gt 60 ] || exit 1");
    trial.limit("loop_deaths", 1_000.0);
    trial.limit("lives_unblessed", 1_000.0);
    trial.limit("rest_longest_s", 0.05);
    trial.limit("probation_s", 0.1);
    trial.begin();
    trial.inject(|_| {});
    // A life that ended with a killed steward is no death.
    trial.until("sixty deaths", |house| house.deaths().len() >= 59);
    trial.recovers();
    let logs = fs::read_dir(trial.house().path(".self/log")).unwrap().flatten();
    let logs = logs.filter(|entry| entry.file_name().to_string_lossy().starts_with("life-")).count();
    assert!(logs <= 51, "{logs} life logs are kept");
}

fn big_records(trial: &mut Trial) {
    trial.shell("think x; live");
    trial.begin();
    let add = |house: &House, name: &str| {
        let line =
            "{\"at\":\"2026-01-01T00:00:00.000Z\",\"what\":\"life\",\"life\":0,\"ended\":\"crashed\"}\n";
        let mut file = File::options().append(true).create(true).open(house.path(name)).unwrap();
        file.write_all(line.repeat((17 << 20) / line.len()).as_bytes()).unwrap();
    };
    trial.inject(|trial| {
        add(trial.house(), ".self/history.jsonl");
        add(trial.house(), ".self/deaths.jsonl");
        trial.oracle.records_moved();
        trial.kill_creature();
    });
    trial.recovers();
    for name in [".self/history.jsonl", ".self/deaths.jsonl"] {
        let size = fs::metadata(trial.house().path(name)).unwrap().len();
        assert!(size < 1 << 20, "{name} begins anew: {size} bytes");
    }
    let kept = fs::read_dir(trial.house().path(".self/guardian/kept")).unwrap().count();
    assert!(kept >= 2, "the old ones are kept");
}
