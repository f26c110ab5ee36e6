//! Build scripts and proc macros that do what they should not: they run with the owner's rights while it builds.

use super::{commit_fault, good, is_condemned, until_blamed, workshop};
use crate::survival::trial::Trial;
use trials::House;

/// A proc macro in a crate beside the creature's.
pub const MACRO: &[(&str, Option<&str>)] = &[
    (
        "creature/crates/endless/Cargo.toml",
        Some(
            "[package]\nname = \"endless\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[lib]\nproc-macro = true\n",
        ),
    ),
    (
        "creature/crates/endless/src/lib.rs",
        Some(
            "#[proc_macro]\npub fn endless(_: proc_macro::TokenStream) -> proc_macro::TokenStream {\n    loop { std::thread::park(); }\n}\n",
        ),
    ),
    (
        "creature/Cargo.toml",
        Some(
            "[workspace]\nmembers = [\"crates/*\"]\n\n[package]\nname = \"creature\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[dependencies]\nendless = { path = \"crates/endless\" }\n",
        ),
    ),
    ("creature/src/main.rs", Some("endless::endless!();\nfn main() {}\n")),
];

pub fn writes_home(trial: &mut Trial) {
    workshop::open(trial);
    trial.begin();
    trial.expect_fall("environment");
    trial.inject(|trial| {
        let script = "fn main() {\n    let name = format!(\"planted-{}\", std::process::id());\n    std::fs::write(name, \"x\").unwrap();\n    println!(\"cargo::rerun-if-changed=never\");\n}\n";
        commit_fault(trial, &[("creature/build.rs", Some(script))]);
    });
    trial.recovers();
    until_blamed(trial, 3, "owner", "planted-");
    is_condemned(trial, false);
    assert!(!trial.house().creature_differs_from(&good(trial)), "nothing planted is left in creature/");
}

pub fn writes_elsewhere(trial: &mut Trial) {
    workshop::open(trial);
    trial.without_walls();
    trial.begin();
    trial.inject(|trial| {
        let script = "fn main() {\n    for name in [\"planted\", \"guardian/planted\", \"self/planted\"] {\n        std::fs::write(format!(\"../{name}\"), \"x\").unwrap();\n    }\n}\n";
        commit_fault(trial, &[("creature/build.rs", Some(script))]);
    });
    let head = trial.house().git(&["rev-parse", "HEAD"]);
    trial.until("the commit to be blessed", |house| house.read(".self/last_good.txt").trim() == head);
    trial.recovers();
    assert_eq!(trial.house().git(&["rev-parse", "HEAD"]), head, "nothing planted was committed");
    assert!(trial.house().path("guardian/planted").exists(), "the script did write");
    trial.note("without walls, which would refuse its writes: it builds and is blessed, and none of them is committed");
}

pub fn leaves_a_process(trial: &mut Trial) {
    workshop::open(trial);
    trial.begin();
    trial.inject(|trial| {
        let script = "fn main() {\n    std::process::Command::new(\"setsid\").args([\"sleep\", \"1000\"])\n        .stdin(std::process::Stdio::null()).stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null())\n        .spawn().unwrap();\n}\n";
        commit_fault(trial, &[("creature/build.rs", Some(script))]);
    });
    let head = trial.house().git(&["rev-parse", "HEAD"]);
    trial.until("the commit to be blessed", |house| house.read(".self/last_good.txt").trim() == head);
    let sleeps = |pid: &i32| {
        std::fs::read(format!("/proc/{pid}/cmdline")).is_ok_and(|line| line.ends_with(b"\x001000\0"))
    };
    assert!(!trial.house().leftovers().iter().any(sleeps), "what the script left outlives its build");
    trial.recovers();
    trial.note("the process ends with its build");
}

/// The kept binary lives, and the build beside it does not hold cargo's lock for ever.
pub fn hangs_later(trial: &mut Trial) {
    workshop::open(trial);
    let script = "fn main() {\n    println!(\"cargo::rerun-if-changed=../hang\");\n    while std::fs::exists(\"../hang\").unwrap() { std::thread::park(); }\n}\n";
    workshop::commit(trial.house(), &[("creature/build.rs", Some(script))]);
    trial.begin();
    assert_eq!(trial.stop(), 0);
    trial.limit("build_s", 5.0);
    trial.inject(|trial| {
        trial.house().write("hang", "");
        trial.start();
    });
    trial.until("the build beside it to hang", |house| builds(house) > 0);
    trial.recovers();
    // Told first, then ended. One look at the processes alone may miss what is just being started.
    let log = trial.guardian().log.clone();
    let is_told = || std::fs::read_to_string(&log).unwrap().contains("overstayed its deadline");
    trial.until("the build to be ended and told of", |house| is_told() && builds(house) == 0);
    assert_eq!(trial.house().deaths().len(), trial.oracle.deaths_before, "nothing died of it");
}

/// Build scripts of this house that run.
fn builds(house: &House) -> usize {
    let runs = |pid: &i32| {
        std::fs::read(format!("/proc/{pid}/cmdline"))
            .is_ok_and(|line| String::from_utf8_lossy(&line).contains("build-script-build"))
    };
    house.leftovers().iter().filter(|pid| runs(pid)).count()
}
