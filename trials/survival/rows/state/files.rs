//! Every file and folder of `.self/` in every shape, under a shell creature that beats, thinks and asks.

use super::STATE;
use super::shapes::{ALL, INJECTED, Shape, take_away};
use crate::survival::matrix::Row;
use crate::survival::trial::Trial;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::Command;
use std::time::Duration;

/// A file of the house, and how its shapes are judged.
#[derive(Clone, Copy)]
pub struct File {
    pub name: &'static str,
    /// Whether what is not what it should be still holds something: garbage among records, not a beat.
    pub keeps_bytes: bool,
    /// What a later version, time or life would have written.
    pub future: &'static str,
}

pub const fn file(name: &'static str, keeps_bytes: bool, future: &'static str) -> File {
    File { name, keeps_bytes, future }
}

pub const RECORD: &str = "{\"at\":\"2999-01-01T00:00:00.000Z\",\"life\":999999999999,\"kind\":\"thought\",\"version\":9,\"what\":\"MARK\",\
                      \"ended\":\"MARK\",\"text\":\"MARK\",\"data\":{\"monologue\":\"MARK\",\"thought\":999999999999}}\n";
pub const DOCUMENT: &str = "{\"version\":9,\"at\":\"2999-01-01T00:00:00.000Z\",\"id\":\"999-9\",\"life\":999999999999,\"turns\":99999,\
                        \"thoughts\":99999,\"kind\":\"rebirth\",\"order\":\"rollback\",\"summary\":\"MARK\",\"blessed\":true}";

const FILES: [File; 16] = [
    file(".self/memory.jsonl", true, RECORD),
    file(".self/heartbeat", false, DOCUMENT),
    file(".self/mind/request.json", false, DOCUMENT),
    file(".self/mind/cursors.json", true, DOCUMENT),
    file(".self/mind/instinct.json", true, DOCUMENT),
    file(".self/inbox.jsonl", true, RECORD),
    file(".self/guardian.json", false, DOCUMENT),
    file(".self/last_good.txt", false, "MARK ffffffffffffffffffffffffffffffffffffffff\n"),
    file(".self/deaths.jsonl", true, RECORD),
    file(".self/history.jsonl", true, RECORD),
    file(".self/log/life-18446744073709551615.log", true, "MARK\n"),
    file(".self/log/build.log", false, "MARK\n"),
    file(".self/guardian/state.json", true, "{\"version\":2,\"checksum\":\"MARK\",\"body\":\"{}\"}"),
    file(".self/guardian/lock", false, "99999999 MARK"),
    file(".self/guardian/creature.lock", false, "MARK"),
    file(".self/guardian/order.json", true, DOCUMENT),
];

const NAMES: [&str; 16] = {
    let mut names = [""; 16];
    let mut at = 0;
    while at < names.len() {
        names[at] = FILES[at].name;
        at += 1;
    }
    names
};

const fn row(at: usize, run: fn(&mut Trial)) -> Row {
    Row::new(STATE, NAMES[at], INJECTED, run).twice()
}

pub const ROWS: &[Row] = &[
    row(0, shapes::<0>),
    row(1, shapes::<1>),
    row(2, shapes::<2>),
    row(3, shapes::<3>),
    row(4, shapes::<4>),
    row(5, shapes::<5>),
    row(6, shapes::<6>),
    row(7, shapes::<7>),
    row(8, shapes::<8>),
    row(9, shapes::<9>),
    row(10, shapes::<10>),
    row(11, shapes::<11>),
    row(12, shapes::<12>),
    row(13, shapes::<13>),
    row(14, shapes::<14>),
    row(15, shapes::<15>),
    Row::new(STATE, "all files pipes", "every file of .self is a pipe at once", |trial| {
        begin(trial);
        next_life(trial, |trial| FILES.iter().for_each(|file| put(trial, file, Shape::Pipe)));
        nobody_died_of_it(trial, "all files pipes");
        let wrong: String = FILES.iter().map(|file| Shape::Pipe.judge(trial.house(), file.name, false)).collect();
        assert!(wrong.is_empty(), "{wrong}");
    })
    .quick()
    .twice(),
    Row::new(STATE, "kept binary and its hash", INJECTED, kept_binary).twice(),
    Row::new(
        STATE,
        "folders of .self",
        "each folder of .self in turn: missing, a file, a pipe, a dangling link, one that nobody may enter, a link elsewhere",
        folders,
    )
    .twice(),
    Row::new(STATE, "whole .self gone", "all of .self is taken away, between two guardians and under a living one", all_gone),
    Row::new(
        STATE,
        "state lost, a log of the last life there can be",
        "state.json is missing, and lives are counted on from a log with the largest number there is",
        last_life,
    ),
    Row::new(
        STATE,
        "state lost, an old order lies there",
        "state.json is missing, and order.json still asks for a rollback that was done long ago",
        old_order,
    ),
];

/// Thinks on a line of its own, as every creature does.
const LIFE: &str = "echo >> .self/memory.jsonl; think first; live";

/// The fault, then a death for which nobody is to blame: another life must come, be trusted, and find its files.
/// Where the guardian is to be killed in the middle, it is the guardian that dies, each time.
pub fn next_life(trial: &mut Trial, fault: impl FnOnce(&mut Trial)) {
    let status = trial.house().status();
    let (before, creature) = (status["life"].clone(), status["creature_pid"].to_string());
    // Or it would write over what is put in place: the program, which what the guardian waits for has started.
    let creature_pid = Pid::from_raw(creature.parse().unwrap());
    trial.until("the creature to stand still", |_| stopped(creature_pid));
    // Held still too: seeing memory or the heartbeat gone it asks the life to end, which wakes it to save its state.
    trial.guardian().signal("-STOP");
    fault(trial);
    if trial.variant.is_killed() {
        trial.kill_guardian();
    } else {
        Command::new("kill").args(["-KILL", &creature]).status().unwrap();
        trial.guardian().signal("-CONT");
    }
    trial.recovers_as(&format!("a life after {before}"), move |status| {
        status["blessed"] == true && status["safe"] != true && status["life"] != before
    });
}

/// Stops a tree of processes; whether all of it stands still. If not it goes on, to be stopped elsewhere: a shell whose
/// child is stopped between vfork and exec waits for that child in a call that no signal ends.
fn stopped(root: Pid) -> bool {
    let tree = processes::hunt::all_of(root);
    let send = |signal| tree.iter().for_each(|pid| _ = kill(*pid, signal));
    send(Signal::SIGSTOP);
    let mut looks = 0..50;
    let is_still = looks.any(|_| {
        let all = tree.iter().all(|pid| stands_still(pid.as_raw()));
        if !all {
            std::thread::sleep(Duration::from_millis(2));
        }
        all
    });
    if !is_still {
        send(Signal::SIGCONT);
    }
    is_still
}

/// Whether every thread is stopped, and in the middle of no call any more; or gone.
fn stands_still(pid: i32) -> bool {
    fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten().all(|task| {
        let stat = fs::read_to_string(task.path().join("stat")).unwrap_or_default();
        stat.rsplit_once(") ").is_none_or(|(_, rest)| rest.starts_with(['T', 'Z', 'X']))
    })
}

/// Nobody died but by the test's hand, nothing was put back, and nobody was born in safe mode.
pub fn nobody_died_of_it(trial: &Trial, doing: &str) {
    let house = trial.house();
    for end in house.status()["ends"].as_array().into_iter().flatten() {
        assert!(end["cause"].to_string().contains("SIGKILL"), "{doing}: a life died of it: {end}");
    }
    assert!(house.told("life").iter().all(|life| life["safe"] != true), "{doing}: safe mode");
}

pub fn patient(trial: &mut Trial) {
    // Every life is ended by the test; that many ends would be a crash loop.
    trial.limit("loop_deaths", 1_000.0);
    trial.limit("lives_unblessed", 1_000.0);
}

fn begin(trial: &mut Trial) {
    trial.shell(LIFE);
    patient(trial);
    trial.begin();
    trial.inject(|_| {});
}

fn shapes<const AT: usize>(trial: &mut Trial) {
    begin(trial);
    go_through(trial, &FILES[AT], &ALL);
}

pub fn put(trial: &mut Trial, file: &File, shape: Shape) {
    if file.name.ends_with("memory.jsonl") && shape != Shape::Unreadable {
        trial.judge(|oracle, _| oracle.memory_taken_away());
    }
    shape.put(trial.house(), file.name, file.future);
}

fn go_through(trial: &mut Trial, file: &File, shapes: &[Shape]) {
    let mut kept = Vec::new();
    for shape in shapes {
        next_life(trial, |trial| put(trial, file, *shape));
        // A guardian that lives on writes its state anew, from what it knows.
        let is_rewritten = file.name.ends_with("state.json") && !trial.variant.is_killed();
        let wrong = shape.judge(trial.house(), file.name, file.keeps_bytes && !is_rewritten);
        assert!(wrong.is_empty(), "{wrong}");
        nobody_died_of_it(trial, &format!("{} {shape:?}", file.name));
        if shape.is_kept(trial.house()) {
            kept.push(format!("{shape:?}").to_lowercase());
        }
    }
    trial.note(format!("{} shapes, a trusted life after each; moved aside: {}", shapes.len(), named(&kept)));
}

fn named(kept: &[String]) -> String {
    if kept.is_empty() { "nothing".into() } else { kept.join(", ") }
}

/// Without its kept binary the house builds again.
fn kept_binary(trial: &mut Trial) {
    begin(trial);
    let tree = trial.house().git(&["rev-parse", "HEAD:creature"]);
    for ending in ["", ".sha256"] {
        let name: &'static str = format!(".self/guardian/binaries/{tree}{ending}").leak();
        go_through(trial, &file(name, false, "MARK"), &ALL);
        // Once more, so that the other one is tried alone.
        next_life(trial, |_| {});
    }
}

fn folders(trial: &mut Trial) {
    trial.shell(
        "mkdir -p .self/workspace .self/snapshots; think first; echo made > .self/workspace/made; live",
    );
    patient(trial);
    trial.begin();
    trial.inject(|_| {});
    for name in ["mind", "log", "workspace", "snapshots", "guardian/kept", "guardian/binaries"] {
        for shape in [Shape::Missing, Shape::Garbage, Shape::Pipe, Shape::Dangling, Shape::Looping] {
            let name = format!(".self/{name}");
            next_life(trial, |trial| shape.put(trial.house(), &name, ""));
            let doing = format!("{name} {shape:?}");
            assert!(trial.house().path(&name).is_dir(), "{doing}: it is not made anew");
            nobody_died_of_it(trial, &doing);
            let wrong =
                if shape == Shape::Garbage { shape.judge(trial.house(), &name, true) } else { String::new() };
            assert!(wrong.is_empty(), "{wrong}");
        }
        let path = trial.house().path(&format!(".self/{name}"));
        next_life(trial, |_| fs::set_permissions(&path, fs::Permissions::from_mode(0o000)).unwrap());
        assert_eq!(
            fs::metadata(&path).unwrap().permissions().mode() & 0o700,
            0o700,
            "{name} may be entered again"
        );
    }
    elsewhere(trial);
    trial.note("6 folders in 6 shapes each; one that the owner keeps elsewhere by a link is left there, and used where no walls stand");
}

/// The owner may keep the workspace on another disk.
fn elsewhere(trial: &mut Trial) {
    // Behind the walls what lies outside the house is closed to it, whatever leads there.
    assert_eq!(trial.stop(), 0);
    trial.without_walls();
    trial.begin();
    let house = trial.house();
    let (path, to) = (house.path(".self/workspace"), house.folder.path().join("elsewhere"));
    fs::create_dir_all(&to).unwrap();
    take_away(house, &path);
    symlink(&to, &path).unwrap();
    next_life(trial, |_| {});
    assert!(fs::symlink_metadata(&path).unwrap().is_symlink(), "the owner's link was moved");
    assert!(to.join("made").is_file(), "the creature makes things where the owner wants them");
}

fn all_gone(trial: &mut Trial) {
    trial.shell(LIFE);
    patient(trial);
    trial.begin();
    trial.inject(|trial| trial.judge(|oracle, _| oracle.memory_taken_away()));
    let status = trial.house().status();
    let (before, creature) = (status["life"].clone(), status["creature_pid"].to_string());
    take_away(trial.house(), &trial.house().path(".self"));
    Command::new("kill").args(["-KILL", &creature]).status().unwrap();
    trial.recovers_as("a life in a new .self", move |status| {
        status["blessed"] == true && status["life"] != before
    });
    assert_eq!(trial.stop(), 0);
    trial.judge(|oracle, _| oracle.memory_taken_away());
    take_away(trial.house(), &trial.house().path(".self"));
    trial.start();
    trial.recovers();
    trial.note("the ladder stands in git, the rest is made anew");
}

fn last_life(trial: &mut Trial) {
    trial.shell(LIFE);
    trial.begin();
    trial.inject(|_| {});
    assert_eq!(trial.stop(), 0);
    trial.house().write(&format!(".self/log/life-{}.log", u64::MAX), "the last of them all\n");
    fs::remove_file(trial.house().path(".self/guardian/state.json")).unwrap();
    trial.start();
    trial.recovers();
    // A steward that was killed in between had a life of its own.
    let life = trial.house().status()["life"].as_u64();
    assert!(life.is_some_and(|life| (2..9).contains(&life)), "lives are not counted on: {life:?}");
}

fn old_order(trial: &mut Trial) {
    trial.shell("think first; live");
    trial.begin();
    trial.house().write_life("think second; live");
    let second = trial.house().commit("a second version");
    trial.kill_creature();
    trial.until("the second to be blessed", |house| {
        house.status()["blessed"] == true && house.status()["commit"] == second.as_str()
    });
    trial.expect_fall("owner");
    trial.inject(|trial| trial.order(&["rollback"]));
    trial.until("the rollback", |house| house.told("fall").len() == 1);
    trial.recovers();
    assert_eq!(trial.stop(), 0);
    trial.house().write_life("think third; live");
    let third = trial.house().commit("a third version");
    fs::remove_file(trial.house().path(".self/guardian/state.json")).unwrap();
    assert!(trial.house().read(".self/guardian/order.json").contains("rollback"));
    trial.start();
    trial.recovers_as("the third version to be trusted", |status| {
        status["commit"] == third.as_str() && status["blessed"] == true
    });
    assert_eq!(trial.house().told("fall").len(), 1, "the old order was carried out once more");
}
