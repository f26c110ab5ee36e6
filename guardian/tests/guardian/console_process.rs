//! The console beside a guardian that runs from the house's own `target/`: brought up to date, then handed the words.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Output};
use trials::programs::{guardian, place};
use trials::{House, said};

/// Stands in for the console, and says which words it was handed.
const CONSOLE: &str = "#!/bin/sh\necho \"handed $*\"\n";

/// A house whose guardian lies in its own `target/debug`, and a cargo that says how it was called and does this.
fn house(builds: &str) -> House {
    let house = House::new("sleep 1000");
    fs::create_dir_all(house.path("target/debug")).unwrap();
    place(guardian(), &house.path("target/debug/guardian"));
    let cargo = format!("#!/bin/sh\necho \"$*\" >> called\n{builds}\n");
    for (name, script) in [("cargo", cargo.as_str()), ("console", CONSOLE)] {
        let path = house.folder.path().join(name);
        fs::write(&path, script).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    house
}

fn typed(house: &House, words: &[&str]) -> Output {
    let mut command = Command::new(house.path("target/debug/guardian"));
    command.args(words).current_dir(&house.root).env("CARGO", house.folder.path().join("cargo"));
    command.output().unwrap()
}

/// Found as a newcomer: cargo was asked for a profile `debug`, which it has not, so that the console was never built anew.
#[test]
fn the_console_is_brought_up_to_date_by_a_profile_that_cargo_has() {
    let house = house("cp ../console target/debug/console");
    let output = typed(&house, &["asks", "a b"]);
    assert!(output.status.success() && said(&output).contains("handed asks a b\n"), "{}", said(&output));
    assert!(
        said(&output).contains("building the console"),
        "a first time takes its while: {}",
        said(&output)
    );
    let called = fs::read_to_string(house.path("called")).unwrap();
    let target = house.path("target");
    let expected = format!("build --package console --profile dev --target-dir {}\n", target.display());
    assert_eq!(called, expected);
    assert!(!said(&typed(&house, &["asks"])).contains("building"), "then it is said no more");
}

#[test]
fn a_console_that_does_not_build_leaves_the_one_that_is_there_or_says_what_to_do() {
    let house = house("echo 'error: no such crate' >&2; exit 101");
    let output = typed(&house, &["asks"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(said(&output).contains("does not build; see .self/log/console-build.log"), "{}", said(&output));
    place(&house.folder.path().join("console"), &house.path("target/debug/console"));
    let output = typed(&house, &["asks"]);
    assert!(output.status.success(), "{}", said(&output));
    assert!(
        said(&output).contains("the one that is there is used") && said(&output).contains("handed asks\n"),
        "{}",
        said(&output)
    );
}

/// They must work whatever becomes of the console.
#[test]
fn those_that_stop_steer_and_tell_need_no_console() {
    let house = house("exit 101");
    assert_eq!(typed(&house, &["status"]).status.code(), Some(3));
    for order in ["stop", "pause", "resume", "rollback"] {
        let output = typed(&house, &[order]);
        assert!(said(&output).contains("no guardian is running here"), "{order}: {}", said(&output));
    }
    assert!(typed(&house, &["--version"]).status.success());
    assert!(!house.path("called").exists(), "and ask cargo nothing");
}
