//! Faults of the build: source, manifests, dependencies, build scripts, toolchain, locks, the target folder.
//!
//! What cargo does with a fault is cargo's own: a small crate shows it in seconds. Over the real creature run those
//! faults whose size matters.

mod registry;
mod scripts;
mod tools;
mod words;
mod workshop;

use super::joined;
use crate::survival::matrix::Row;
use crate::survival::trial::Trial;
use registry::Registry;
use serde_json::Value;
use workshop::{MANIFEST, depends_on};

const BUILD: &str = "build";

pub const ROWS: &[Row] = &joined::<{ FAULTS.len() + words::ROWS.len() }>(&[FAULTS, words::ROWS]);

const FAULTS: &[Row] = &[
    Row::new(BUILD, "syntax error", "a commit with a syntax error in the creature's loop", syntax)
        .real()
        .twice(),
    Row::new(BUILD, "type error", "a commit that returns a word where a number is wanted", |trial| {
        let main = format!("{}\nfn wrong() -> u32 {{ \"a word\" }}\n", workshop::MAIN);
        does_not_build(trial, &[("creature/src/main.rs", Some(&main))], "mismatched types");
    })
    .quick()
    .twice(),
    Row::new(BUILD, "broken manifest", "a commit whose creature/Cargo.toml is no TOML", |trial| {
        does_not_build(trial, &[("creature/Cargo.toml", Some("garbage [[["))], "Cargo.toml");
    })
    .twice(),
    Row::new(BUILD, "deleted manifest", "a commit without creature/Cargo.toml", |trial| {
        does_not_build(trial, &[("creature/Cargo.toml", None)], "Cargo.toml");
    })
    .twice(),
    Row::new(BUILD, "empty manifest", "a commit whose creature/Cargo.toml is empty", |trial| {
        does_not_build(trial, &[("creature/Cargo.toml", Some(""))], "Cargo.toml");
    })
    .twice(),
    Row::new(BUILD, "unknown dependency", "a dependency that its registry has never heard of", |trial| {
        let manifest = depends_on(&Registry::start().dependency("never-published"));
        workshop::open(trial);
        trial.without_walls();
        falls(trial, &[("creature/Cargo.toml", Some(&manifest))], "no matching package");
    })
    .twice(),
    Row::new(BUILD, "yanked dependency", "a dependency whose every version was yanked", |trial| {
        let manifest = depends_on(&Registry::start().dependency("yanked"));
        workshop::open(trial);
        trial.without_walls();
        falls(trial, &[("creature/Cargo.toml", Some(&manifest))], "yanked");
    })
    .twice(),
    Row::new(BUILD, "unreachable dependency", "a dependency in a registry whose port refuses", |trial| {
        let manifest = depends_on(&registry::refusing().dependency("out-of-reach"));
        workshop::open(trial);
        world_at_fault(trial, &[("creature/Cargo.toml", Some(&manifest))], "network", "out-of-reach");
    })
    .twice(),
    Row::new(BUILD, "unreachable repository", "a git dependency at an address whose port refuses", |trial| {
        let manifest = depends_on("far-away = { git = \"http://127.0.0.1:9/far-away.git\" }");
        workshop::open(trial);
        world_at_fault(trial, &[("creature/Cargo.toml", Some(&manifest))], "network", "far-away");
    })
    .twice(),
    Row::new(
        BUILD,
        "download that breaks off late",
        "a registry lost after pages of cargo's output, `thiserror` among it",
        late,
    )
    .twice(),
    Row::new(
        BUILD,
        "registry that never answers",
        "a dependency in a registry that accepts and stays mute",
        mute,
    )
    .twice(),
    Row::new(
        BUILD,
        "registry offline",
        "a machine set offline, and a dependency it has not in store",
        offline,
    )
    .twice(),
    Row::new(
        BUILD,
        "registry offline, nothing in store",
        "what is depended on gone from this machine, the registry refuses",
        tools::nothing_in_store,
    )
    .twice(),
    Row::new(
        BUILD,
        "offline at the first start",
        "no binary yet, and a first commit whose registry refuses",
        tools::first_start,
    )
    .twice(),
    Row::new(BUILD, "build script that hangs", "a build.rs that loops for ever", |trial| {
        never_ends(trial, &[("creature/build.rs", Some("fn main() { loop { std::thread::park(); } }\n"))]);
    })
    .twice(),
    Row::new(
        BUILD,
        "build script that hangs later",
        "a blessed commit's build.rs that hangs when it is next built, beside its kept binary",
        scripts::hangs_later,
    )
    .twice(),
    Row::new(BUILD, "build script that fails", "a build.rs that panics", |trial| {
        let script = "fn main() { panic!(\"sabotage\") }\n";
        does_not_build(trial, &[("creature/build.rs", Some(script))], "sabotage");
    })
    .twice(),
    Row::new(
        BUILD,
        "build script that writes into its source",
        "a build.rs that leaves a new file in creature/ each time",
        scripts::writes_home,
    )
    .twice(),
    Row::new(
        BUILD,
        "build script that writes elsewhere",
        "a build.rs that writes beside the owner's files",
        scripts::writes_elsewhere,
    )
    .twice(),
    Row::new(
        BUILD,
        "build script that leaves a process",
        "a build.rs whose child in a session of its own sleeps on",
        scripts::leaves_a_process,
    )
    .twice(),
    Row::new(BUILD, "proc macro that never ends", "a proc macro that loops while it is expanded", |trial| {
        never_ends(trial, scripts::MACRO);
    })
    .twice(),
    Row::new(
        BUILD,
        "stale lock file",
        "a dependency in Cargo.toml that was not committed to Cargo.lock",
        stale_lock,
    )
    .twice(),
    Row::new(
        BUILD,
        "settings for cargo in creature/",
        "a sound commit with a compiler in `.cargo/config.toml` and a toolchain in `rust-toolchain.toml`",
        tools::inert_settings,
    )
    .twice(),
    Row::new(BUILD, "no cargo", "cargo deleted, then a sound commit", |trial| {
        tools::missing(trial, workshop::take_cargo_away, "failed to start");
    })
    .quick()
    .twice(),
    Row::new(BUILD, "no rustc", "rustc gone from the path, then a sound commit", |trial| {
        tools::missing(trial, workshop::take_rustc_away, "could not execute process");
    })
    .twice(),
    Row::new(BUILD, "no linker", "no linker on the path, then a sound commit", |trial| {
        tools::missing(trial, workshop::take_linker_away, "linker `cc` not found");
    })
    .twice(),
    Row::new(
        BUILD,
        "toolchain not installed",
        "the owner's toolchain uninstalled, then a sound commit",
        tools::uninstalled,
    )
    .twice(),
    Row::new(
        BUILD,
        "cargo's lock held a while",
        "another cargo holds the target folder's locks for seconds",
        tools::lock_held,
    )
    .twice(),
    Row::new(
        BUILD,
        "cargo's lock held for ever",
        "another cargo holds the target folder's locks past every deadline",
        tools::lock_kept,
    )
    .twice(),
    Row::new(
        BUILD,
        "cargo killed",
        "SIGKILL to cargo itself, in the build of a self-edit",
        tools::cargo_killed,
    )
    .twice(),
    Row::new(
        BUILD,
        "target deleted while it builds",
        "target/creature deleted in the middle of a build",
        tools::target_deleted,
    )
    .twice(),
    Row::new(
        BUILD,
        "target deleted while it lives",
        "target/creature deleted under a living creature, which then dies",
        tools::target_gone,
    )
    .real(),
];

fn syntax(trial: &mut Trial) {
    trial.real();
    trial.begin();
    trial.expect_fall("does_not_build");
    trial.inject(|trial| {
        let source = trial.house().read("creature/src/life.rs");
        trial.commit_creature(&[("creature/src/life.rs", &format!("{source}\nfn {{"))]);
    });
    trial.recovers();
    until_blamed(trial, 1, "code", "this file contains an unclosed delimiter");
}

/// Commits these files to `creature/` as the fault, and ends the life, so that the next one is of them.
fn commit_fault(trial: &Trial, files: &[(&str, Option<&str>)]) {
    workshop::commit(trial.house(), files);
    trial.kill_creature();
}

/// A fault of the code: put back after one failed build, condemned, and never built again.
fn does_not_build(trial: &mut Trial, files: &[(&str, Option<&str>)], said: &str) {
    workshop::open(trial);
    falls(trial, files, said);
}

/// The same in a house that is open already.
fn falls(trial: &mut Trial, files: &[(&str, Option<&str>)], said: &str) {
    trial.begin();
    trial.expect_fall("does_not_build");
    trial.inject(|trial| commit_fault(trial, files));
    trial.recovers();
    until_blamed(trial, 1, "code", said);
    is_condemned(trial, true);
}

/// A build that does not end is ended, and is the code's fault.
fn never_ends(trial: &mut Trial, files: &[(&str, Option<&str>)]) {
    within_seconds(trial, 6.0);
    trial.expect_fall("does_not_build");
    trial.inject(|trial| commit_fault(trial, files));
    trial.recovers();
    until_blamed(trial, 1, "code", "overstayed");
    is_condemned(trial, true);
}

/// A fault of the world, in a house that is open: three tries, then what is already built, and no mark on the commit.
fn world_at_fault(trial: &mut Trial, files: &[(&str, Option<&str>)], blame: &str, said: &str) {
    trial.begin();
    trial.expect_fall("environment");
    trial.inject(|trial| commit_fault(trial, files));
    trial.recovers();
    until_blamed(trial, 3, blame, said);
    is_condemned(trial, false);
}

/// The first commit is built with all the time in the world; whatever is built later has so many seconds.
fn within_seconds(trial: &mut Trial, seconds: f64) {
    workshop::open(trial);
    trial.begin();
    assert_eq!(trial.stop(), 0);
    trial.limit("build_s", seconds);
    trial.begin();
}

/// So many builds failed since the fault (one less where the guardian was killed), each blamed so, each saying so.
fn until_blamed(trial: &mut Trial, number: usize, blame: &str, said: &str) {
    trial.until_deaths("build_failed", number);
    let failures = failures(trial);
    let wrong = failures.iter().find(|death| {
        death["blame"] != blame || ![&death["cause"], &death["log_tail"]].iter().any(|text| says(text, said))
    });
    assert!(wrong.is_none(), "not blamed on {blame} for `{said}`: {:#}", wrong.unwrap());
    assert!(failures.len() <= number, "{} builds where {number} tell as much", failures.len());
}

fn says(text: &Value, said: &str) -> bool {
    text.as_str().is_some_and(|text| text.contains(said))
}

/// Builds that failed since the fault.
fn failures(trial: &Trial) -> Vec<Value> {
    let deaths = trial.house().deaths().into_iter().skip(trial.oracle.deaths_before);
    deaths.filter(|death| death["ended"] == "build_failed").collect()
}

/// Whether what fell is kept as fallen, to be refused should it come back.
fn is_condemned(trial: &Trial, wanted: bool) {
    let fall = trial.house().told("fall").pop().expect("it fell");
    assert_eq!(fall["fallen_ref"].is_string(), wanted, "{fall:#}");
}

fn mute(trial: &mut Trial) {
    within_seconds(trial, 4.0);
    assert_eq!(trial.stop(), 0);
    trial.without_walls();
    trial.begin();
    trial.expect_fall("environment");
    trial.inject(|trial| {
        let manifest = depends_on(&Registry::mute().dependency("never-told"));
        commit_fault(trial, &[("creature/Cargo.toml", Some(&manifest))]);
    });
    trial.recovers();
    until_blamed(trial, 3, "network", "index");
    is_condemned(trial, false);
    trial.note(
        "the limit on builds is 4 s here; by default cargo itself gives up within minutes and is believed",
    );
}

/// In the words of cargo, by a stand-in: so much output takes a registry of hundreds of crates.
fn late(trial: &mut Trial) {
    trial.shell("think alive; live");
    trial.begin();
    trial.expect_fall("environment");
    trial.inject(|trial| {
        let script = "for n in $(seq 400); do echo \"  Downloaded thiserror v1.0.$n\" >&2; done\n\
            echo 'error: failed to download from `http://127.0.0.1:9/dl/late/1.0.0`' >&2\nexit 101\n";
        let silent = Some("exit 101\n");
        commit_fault(
            trial,
            &[
                ("creature/build.sh", Some(script)),
                ("creature/tree.sh", silent),
                ("creature/update.sh", silent),
            ],
        );
    });
    trial.recovers();
    until_blamed(trial, 3, "network", "error: failed to download");
    is_condemned(trial, false);
}

fn offline(trial: &mut Trial) {
    trial.env.push(("CARGO_NET_OFFLINE".into(), "true".into()));
    let manifest = depends_on("not-in-store = \"1\"");
    workshop::open(trial);
    world_at_fault(trial, &[("creature/Cargo.toml", Some(&manifest))], "network", "offline");
}

/// The commit that `last_good.txt` names.
fn good(trial: &Trial) -> String {
    trial.house().read(".self/last_good.txt").trim().to_owned()
}

fn stale_lock(trial: &mut Trial) {
    workshop::open(trial);
    trial.begin();
    trial.inject(|trial| {
        let manifest = depends_on("beside = { path = \"crates/beside\" }")
            .replace("[workspace]\n", "[workspace]\nmembers = [\"crates/*\"]\n");
        commit_fault(
            trial,
            &[
                ("creature/Cargo.toml", Some(&manifest)),
                (
                    "creature/crates/beside/Cargo.toml",
                    Some(&MANIFEST.replace("[workspace]\n", "").replace("creature", "beside")),
                ),
                ("creature/crates/beside/src/lib.rs", Some("")),
            ],
        );
    });
    trial.recovers();
    assert_eq!(trial.house().told("rescued").len(), 1, "what cargo wrote into the lock file is kept");
    trial.note("cargo completed the lock file, which kept nobody waiting");
}
