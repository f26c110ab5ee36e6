//! A window whose program is built anew under it: its commands go on, by the new program once that is there.

use crate::driven::Driven;
use std::fs;
use trials::programs::place_guardian;
use trials::{House, SOUND};

/// Found: after every update each command of the window failed, for Linux names the place of a program that was replaced
/// with ` (deleted)` behind it.
#[test]
fn commands_live_on_when_the_console_is_built_anew() {
    let house = House::new(SOUND);
    let guardian = place_guardian(&house.folder.path().join("bin"));
    let console = guardian.with_file_name("console");
    // Files of their own, as cargo makes them.
    for program in [&guardian, &console] {
        let copy = program.with_extension("copy");
        fs::copy(program, &copy).unwrap();
        fs::rename(&copy, program).unwrap();
    }
    let mut command = house.command(&["window"]);
    command.env("NO_COLOR", "1");
    let window = Driven::start(command, 100, 30);
    window.prompts();
    // As cargo does it: the old one goes, then the new one comes.
    let new = console.with_extension("new");
    fs::copy(&console, &new).unwrap();
    fs::remove_file(&console).unwrap();
    let own = fs::read_link(format!("/proc/{}/exe", window.pid())).unwrap();
    assert!(own.to_string_lossy().ends_with("console (deleted)"), "{}", own.display());
    window.line("/budget");
    window.shows("/budget is done");
    window.line("/status");
    window.shows("/status ended with status 3");
    fs::write(&console, "#!/bin/sh\necho by the new one\n").unwrap();
    fs::remove_file(&console).unwrap();
    fs::rename(&new, &console).unwrap();
    window.line("/goals");
    window.shows("/goals is done");
    assert!(!window.screen().contains("failed to run"), "{}", window.screen());
}
