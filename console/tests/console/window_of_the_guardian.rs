//! The window that the guardian starts at its terminal: it may die at any moment, and any number may stand beside it.

use crate::driven::Driven;
use crate::jobs::{call, shop};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::json;
use std::os::unix::fs::PermissionsExt;
use trials::programs::place_guardian;
use trials::{House, looked_for};

/// Lives, thinks once, and dies whenever a file says so.
const MORTAL: &str = "think alive; while :; do beat; sleep 0.1; [ ! -e .self/workspace/die ] || { rm .self/workspace/die; exit 3; }; done";

fn at_terminal(house: &House, args: &[&str]) -> Driven {
    let mut command = house.command(args);
    command.env("NO_COLOR", "1");
    Driven::start(command, 100, 30)
}

/// The window's process, a child of the guardian's.
fn window_of(guardian: i32, but: Option<i32>) -> i32 {
    let found = looked_for(|| {
        let steward = trials::child_named(guardian, "steward")?;
        let children = std::fs::read_to_string(format!("/proc/{steward}/task/{steward}/children")).ok()?;
        let mut children = children.split(' ').filter_map(|pid| pid.parse::<i32>().ok());
        children.find(|pid| {
            let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            Some(*pid) != but && line.split(|byte| *byte == 0).any(|word| word == b"window")
        })
    });
    found.expect("the guardian starts a window")
}

#[test]
fn a_window_that_is_killed_leaves_a_terminal_that_works_and_comes_back() {
    let house = House::new(MORTAL);
    let mut guardian = at_terminal(&house, &[]);
    guardian.until("the first screen and the prompt", |screen| {
        screen.contains("walls") && screen.contains("\n>")
    });
    guardian.shows("blessed");
    assert!(!guardian.is_usable(), "the window reads each key");
    let window = window_of(guardian.pid(), None);
    kill(Pid::from_raw(window), Signal::SIGKILL).unwrap();
    let usable = looked_for(|| guardian.is_usable().then_some(()));
    assert!(usable.is_some(), "lines are edited and echoed again");
    std::fs::write(house.path(".self/workspace/die"), "").unwrap();
    guardian.shows("life 1 ended");
    let again = window_of(guardian.pid(), Some(window));
    guardian.prompts();
    std::fs::write(house.path(".self/workspace/die"), "").unwrap();
    guardian.shows("life 2 ended");
    assert_eq!(window_of(guardian.pid(), None), again, "told by the window, which lives");
    // Ctrl-C in it is the owner's word to the guardian.
    guardian.keys("\u{3}");
    assert_eq!(guardian.wait(), 0);
    assert!(guardian.is_usable());
    let screen = guardian.shows("left; nothing is running");
    assert!(!screen.lines().last().unwrap().starts_with('>'), "{screen}");
    assert!(house.leftovers().is_empty());
}

/// The pipe takes what it has room for: then the guardian prints again, and has waited for nobody.
#[test]
fn a_window_that_takes_no_rows_is_ended() {
    let long = "while :; do beat; sleep 0.1; [ ! -e .self/workspace/die ] || { printf '%03900d\n' 0 >&2; exit 3; }; done";
    let house = House::new(&format!("think alive; {long}"));
    let mut guardian = at_terminal(&house, &[]);
    guardian.prompts();
    let window = window_of(guardian.pid(), None);
    kill(Pid::from_raw(window), Signal::SIGSTOP).unwrap();
    house.write(".self/workspace/die", "");
    let gone = looked_for(|| (!std::path::Path::new(&format!("/proc/{window}")).exists()).then_some(()));
    assert!(gone.is_some(), "it is ended");
    std::fs::remove_file(house.path(".self/workspace/die")).unwrap();
    window_of(guardian.pid(), Some(window));
    kill(Pid::from_raw(guardian.pid()), Signal::SIGTERM).unwrap();
    assert_eq!(guardian.wait(), 0);
    assert!(guardian.is_usable());
}

#[test]
fn a_killed_guardian_takes_its_window_along() {
    let house = House::new(MORTAL);
    let guardian = at_terminal(&house, &[]);
    guardian.until("the prompt", |screen| screen.contains("\n>"));
    let window = window_of(guardian.pid(), None);
    kill(Pid::from_raw(guardian.pid()), Signal::SIGKILL).unwrap();
    let gone = looked_for(|| (!std::path::Path::new(&format!("/proc/{window}")).exists()).then_some(()));
    assert!(gone.is_some(), "the window ends");
    let usable = looked_for(|| guardian.is_usable().then_some(()));
    assert!(usable.is_some(), "and leaves the terminal as it was");
    for pid in house.leftovers() {
        let _ = kill(Pid::from_raw(pid), Signal::SIGKILL);
    }
}

/// Found a way to fail for good: the guardian would start it again and again.
#[test]
fn where_a_window_cannot_stand_lines_take_its_place() {
    let house = House::new(MORTAL);
    let guardian = place_guardian(&house.folder.path().join("bin"));
    let console = guardian.with_file_name("console");
    std::fs::rename(&console, console.with_file_name("real")).unwrap();
    let script = "#!/bin/sh\n[ \"$1\" != window ] || exit 1\nexec \"${0%/*}/real\" \"$@\"\n";
    std::fs::write(&console, script).unwrap();
    std::fs::set_permissions(&console, std::fs::Permissions::from_mode(0o755)).unwrap();
    let mut guardian = at_terminal(&house, &[]);
    guardian.shows("what happens is shown as lines");
    guardian.shows("thought   alive");
    assert!(guardian.is_usable());
    guardian.keys("\u{3}");
    assert_eq!(guardian.wait(), 0, "Ctrl-C is a signal again");
}

#[test]
fn whoever_wants_lines_gets_lines() {
    let house = House::new(MORTAL);
    let mut guardian = at_terminal(&house, &["--plain"]);
    guardian.shows("thought   alive");
    guardian.shows("blessed");
    assert!(guardian.is_usable() && !guardian.raw().windows(4).any(|bytes| bytes == b"\x1b[6n"));
    kill(Pid::from_raw(guardian.pid()), Signal::SIGTERM).unwrap();
    assert_eq!(guardian.wait(), 0);
}

#[test]
fn ten_windows_at_once_and_one_ask_approved_in_two_of_them_happens_once() {
    let (house, guardian, got) = shop();
    let windows: Vec<Driven> = (0..10).map(|_| at_terminal(&house, &["window"])).collect();
    windows.iter().for_each(|window| drop(window.shows("life 1 at")));
    let body = json!({"service": "shop", "method": "POST", "path": "/orders", "body": "two"});
    let asked = call(&house, &body);
    let id = asked["asked"].as_str().unwrap().to_owned();
    let two = [&windows[2], &windows[7]];
    for window in &windows {
        window.shows(&format!("ask {id} waits"));
    }
    for window in two {
        window.line(&format!("/yes {id}"));
        window.shows(&format!("exactly that is ask {id}"));
    }
    assert!(got.lock().unwrap().is_empty(), "nothing before a yes");
    two.iter().for_each(|window| window.line(&format!("/yes {id}")));
    for window in two {
        window.until("what came of it", |screen| {
            screen.contains("executed, status 201") || screen.contains("has been answered")
        });
    }
    windows.iter().for_each(|window| {
        window.until("that it waits no more", |screen| !screen.contains(&format!("ask {id} waits")));
    });
    assert_eq!(got.lock().unwrap().len(), 1);
    guardian.stop();
    for window in &windows {
        window.shows("no guardian runs here");
    }
}
