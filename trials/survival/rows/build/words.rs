//! Builds that fail for one reason in the words of another, and a cargo that has other words, or none.

use super::workshop::{self, MANIFEST, depends_on};
use super::{
    BUILD, Registry, does_not_build, falls, is_condemned, tools, until_blamed, within_seconds, world_at_fault,
};
use crate::survival::matrix::Row;
use crate::survival::trial::Trial;

/// What the network, the disk and the tools are excused by.
const EXCUSES: &str = "error: Connection refused; failed to download; Could not resolve host; linker `cc` not found; \
    No space left on device (os error 28); offline mode (via `--offline`)";
const REFUSED: &str = "compile_error!(\"Connection refused\");\nfn main() {}\n";
const FULL: &str = "compile_error!(\"No space left on device (os error 28)\");\nfn main() {}\n";
/// Cargo then finds no compiler, but only for this crate.
const HIDDEN_COMPILER: &str = "fn main() { println!(\"cargo::rustc-env=PATH=/nonexistent\"); }\n";
const RUINS: &str = "fn main() {\n    let folder = std::env::temp_dir();\n    std::fs::remove_dir_all(&folder).unwrap();\n    \
    std::fs::write(&folder, \"x\").unwrap();\n    panic!(\"sabotage\");\n}\n";
const BROKEN_LOCK: &str = "<<<<<<< HEAD\nversion = 4\n=======\n";

pub const ROWS: &[Row] = &[
    Row::new(
        BUILD,
        "excuse in the source",
        "a type error in a line that says `Connection refused`",
        |trial| {
            let main = format!("{}\nfn wrong() -> u32 {{ \"Connection refused\" }}\n", workshop::MAIN);
            does_not_build(trial, &[("creature/src/main.rs", Some(&main))], "mismatched types");
        },
    )
    .quick(),
    Row::new(
        BUILD,
        "feigned network",
        "a source that is `compile_error!(\"Connection refused\")`",
        |trial| {
            does_not_build(trial, &[("creature/src/main.rs", Some(REFUSED))], "Connection refused");
        },
    )
    .quick()
    .twice(),
    Row::new(BUILD, "feigned full disk", "a source that says there is no space left", |trial| {
        does_not_build(trial, &[("creature/src/main.rs", Some(FULL))], "No space left");
    })
    .twice(),
    Row::new(BUILD, "feigned missing compiler", "a build.rs that hides the compiler from cargo", |trial| {
        does_not_build(trial, &[("creature/build.rs", Some(HIDDEN_COMPILER))], "(never executed)");
    })
    .twice(),
    Row::new(
        BUILD,
        "excuses of a build script",
        "a build.rs that fails with every excuse there is",
        |trial| {
            let script = format!("fn main() {{ panic!(\"{{}}\", {EXCUSES:?}) }}\n");
            does_not_build(trial, &[("creature/build.rs", Some(&script))], "failed to download");
        },
    )
    .twice(),
    Row::new(
        BUILD,
        "excuses of a proc macro",
        "a proc macro that panics with every excuse there is",
        excused_macro,
    )
    .twice(),
    Row::new(
        BUILD,
        "excuse in a name",
        "a dependency in a folder called `Connection refused`, not there",
        |trial| {
            let manifest = depends_on("beside = { path = \"Connection refused\" }");
            does_not_build(trial, &[("creature/Cargo.toml", Some(&manifest))], "Connection refused");
        },
    )
    .twice(),
    Row::new(BUILD, "broken lock file", "a Cargo.lock with the marks of a merge in it", |trial| {
        does_not_build(trial, &[("creature/Cargo.lock", Some(BROKEN_LOCK))], "Cargo.lock");
    })
    .twice(),
    Row::new(BUILD, "newer Rust wanted", "a manifest that asks for a Rust of the future", |trial| {
        let manifest = MANIFEST.replace("edition", "rust-version = \"1.999\"\nedition");
        does_not_build(trial, &[("creature/Cargo.toml", Some(&manifest))], "1.999");
    })
    .twice(),
    Row::new(
        BUILD,
        "ruined temporary folder",
        "a build.rs that puts a file in place of TMPDIR, and fails",
        |trial| {
            does_not_build(trial, &[("creature/build.rs", Some(RUINS))], "sabotage");
            tools::sound_commit(trial, "1");
            let head = trial.house().git(&["rev-parse", "HEAD"]);
            trial.until("the next commit to be blessed", |house| {
                house.read(".self/last_good.txt").trim() == head
            });
            trial.recovers();
        },
    )
    .twice(),
    Row::new(
        BUILD,
        "lock file that is never read",
        "a Cargo.lock that leads to a pipe nobody writes to",
        never_read,
    )
    .twice(),
    Row::new(
        BUILD,
        "registry that breaks off",
        "a registry that answers, but not for the one crate wanted",
        |trial| {
            let manifest = depends_on(&Registry::start().dependency("flaky"));
            workshop::open(trial);
            trial.without_walls();
            world_at_fault_here(trial, &manifest, "503");
        },
    )
    .twice(),
    Row::new(
        BUILD,
        "registry offline, no words",
        "as `registry offline`, with a cargo that says nothing",
        |trial| {
            trial.env.push(("CARGO_NET_OFFLINE".into(), "true".into()));
            workshop::open(trial);
            workshop::silence_cargo(trial.house());
            world_at_fault_here(trial, &depends_on("not-in-store = \"1\""), "without a word");
        },
    )
    .twice(),
    Row::new(
        BUILD,
        "unknown dependency, no words",
        "as `unknown dependency`, with a cargo that says nothing",
        |trial| {
            let manifest = depends_on(&Registry::start().dependency("never-published"));
            workshop::open(trial);
            workshop::silence_cargo(trial.house());
            trial.without_walls();
            falls(trial, &[("creature/Cargo.toml", Some(&manifest))], "without a word");
        },
    )
    .twice(),
    Row::new(BUILD, "no standard library", "the standard library gone, then a sound commit", |trial| {
        tools::missing(trial, workshop::take_library_away, "can't find crate for `std`");
    })
    .twice(),
    Row::new(
        BUILD,
        "dependency that no longer builds",
        "what is depended on does not compile on this machine any more, then a sound commit",
        tools::dependency_broken,
    )
    .twice(),
];

fn world_at_fault_here(trial: &mut Trial, manifest: &str, said: &str) {
    world_at_fault(trial, &[("creature/Cargo.toml", Some(manifest))], "network", said);
}

fn never_read(trial: &mut Trial) {
    within_seconds(trial, 6.0);
    trial.expect_fall("does_not_build");
    trial.inject(|trial| {
        let (house, lock) = (trial.house(), trial.house().path("creature/Cargo.lock"));
        let made = std::process::Command::new("mkfifo").arg(house.path(".self/workspace/pipe")).status();
        assert!(made.unwrap().success());
        std::fs::remove_file(&lock).unwrap();
        std::os::unix::fs::symlink("../.self/workspace/pipe", &lock).unwrap();
        house.git(&["add", "creature/Cargo.lock"]);
        house.git(&["commit", "-q", "-m", "a pipe", "--", "creature/Cargo.lock"]);
        trial.kill_creature();
    });
    trial.recovers();
    until_blamed(trial, 1, "code", "overstayed");
    is_condemned(trial, true);
}

/// It prints a message of cargo's own as well, of a crate from elsewhere.
fn excused_macro(trial: &mut Trial) {
    let forged = "{\"reason\":\"compiler-message\",\"package_id\":\"registry+x#y@1.0.0\",\"message\":{\"level\":\"error\",\"spans\":[]}}";
    let source = format!(
        "#[proc_macro]\npub fn endless(_: proc_macro::TokenStream) -> proc_macro::TokenStream {{\n    \
         println!(\"{{}}\", {forged:?});\n    eprintln!(\"{{}}\", {EXCUSES:?});\n    panic!(\"{{}}\", {EXCUSES:?})\n}}\n"
    );
    let files = super::scripts::MACRO
        .iter()
        .map(|(name, text)| (*name, if name.ends_with("lib.rs") { Some(source.as_str()) } else { *text }));
    does_not_build(trial, &files.collect::<Vec<_>>(), "proc macro panicked");
}
