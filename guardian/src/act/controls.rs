//! Control runs: cargo commands after a failed build whose outcome tells whose fault the failure is.
//!
//! Invariant: a control run starts after all processes of the failed build have ended, and runs no code of that
//! build.
//! Invariant: a run whose answer depends on files uses a folder that was empty before.

use crate::decide::blame::{self, Answer, Control};
use anyhow::{Context, Result};
use house::openat::Folder;
use house::{House, clock, files};
use serde::Deserialize;
use std::collections::BTreeSet;
use std::fs::File;
use std::path::{Path, PathBuf};

const MANIFEST: &str =
    "[workspace]\n\n[package]\nname = \"control\"\nversion = \"0.1.0\"\nedition = \"2024\"\n";
/// Largest lock file or `cargo metadata` output that is read, in bytes.
const MOST_BYTES: u64 = 4 << 20;
/// Most files and folders control runs leave, a registry index of hundreds of packages included.
const MOST_ENTRIES: usize = 10_000;
/// Bytes kept of the end of a control run's output.
const SAID_BYTES: u64 = 4_096;

/// The part of `cargo metadata` that is used.
#[derive(Deserialize)]
struct Manifests {
    packages: Vec<Package>,
}

#[derive(Deserialize)]
struct Package {
    dependencies: Vec<Dependency>,
}

#[derive(Deserialize)]
struct Dependency {
    source: Option<String>,
}

/// Makes an empty folder for the control runs of one build, with a trivial crate that certainly builds, and a Cargo
/// home with the owner's settings that has never reached a registry.
pub fn prepare(house: &House) -> Result<()> {
    clear(house);
    let make = || -> std::io::Result<()> {
        let folder = above(house)?.make(Path::new("control"))?;
        let write = |name: &str, bytes: &[u8]| {
            let name = Path::new(name);
            let folder = folder.make(name.parent().unwrap_or(Path::new("")))?;
            files::overwrite(&files::create(&folder.at(name.file_name().unwrap_or_default()))?, bytes)
        };
        folder.make(Path::new("tmp"))?;
        let settings = files::read_small(&house.cargo_home().join("config.toml")).ok().flatten();
        write("Cargo.toml", MANIFEST.as_bytes())?;
        write("src/main.rs", b"fn main() {}\n")?;
        write("cargo/config.toml", &settings.unwrap_or_default())
    };
    make().context("failed to make room for a control run")
}

/// Removes the folder of control runs. A folder with more in it than they leave would take long, and is moved aside.
pub fn clear(house: &House) {
    let _ = above(house).and_then(|folder| {
        if is_modest(folder.at("control")) {
            return folder.remove_all("control");
        }
        std::fs::rename(folder.at("control"), folder.at(clock::name()))
    });
}

/// Whether a folder holds no more than control runs leave. Nothing runs now that could change it meanwhile.
fn is_modest(folder: PathBuf) -> bool {
    let (mut folders, mut entries) = (vec![folder], 0);
    while let Some(folder) = folders.pop() {
        let Ok(found) = std::fs::read_dir(folder) else { return false };
        for entry in found.flatten() {
            entries += 1;
            if entries > MOST_ENTRIES {
                return false;
            }
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                folders.push(entry.path());
            }
        }
    }
    true
}

fn above(house: &House) -> std::io::Result<Folder> {
    Folder::open(&house.root().join("target"))?.make(Path::new("creature/tmp"))
}

/// Files for a run's standard output and standard error.
pub fn outputs(house: &House, control: Control) -> Result<(File, File)> {
    let create = |name: &str| {
        let path = house.control().join(name);
        files::create(&path).with_context(|| format!("failed to create {}", path.display()))
    };
    let told = if control == Control::Manifests { "manifests.json" } else { "told" };
    Ok((create(told)?, create("said")?))
}

pub fn args(control: Control) -> Vec<String> {
    let (words, of) = match control {
        Control::Tools => (
            "build --quiet --offline --target-dir target/creature/tmp/control/target",
            "target/creature/tmp/control",
        ),
        Control::Store => ("tree --quiet --offline --locked --edges normal,build", "creature"),
        Control::Manifests => ("metadata --quiet --offline --no-deps --format-version 1", "creature"),
        Control::Registries => ("update --workspace --dry-run", "creature"),
    };
    let manifest = format!("{of}/Cargo.toml");
    let words = words.split_whitespace().chain(["--manifest-path", &manifest]);
    words.map(str::to_owned).collect()
}

/// Environment beyond that of a build. Only `Store` uses the build's own Cargo home.
pub fn variables(house: &House, control: Control) -> Vec<(&'static str, String)> {
    let of = |name: &'static str, folder: &str| (name, house.control().join(folder).display().to_string());
    let mut variables = vec![of("HOME", "cargo"), of("TMPDIR", "tmp")];
    if control != Control::Store {
        variables.push(of("CARGO_HOME", "cargo"));
    }
    if control == Control::Registries {
        variables.push(("CARGO_NET_RETRY", "0".into()));
    }
    variables
}

/// The answer of a control run that has ended.
pub fn answer(house: &House, control: Control, succeeded: bool) -> Answer {
    let yes = |is: bool| if is { Answer::Yes } else { Answer::No };
    match control {
        Control::Tools | Control::Store => yes(succeeded),
        Control::Manifests => yes(succeeded && reads_lock(house)),
        Control::Registries if succeeded => Answer::Yes,
        Control::Registries if reached(house) && !blame::says_fetching(&said(house)) => Answer::No,
        Control::Registries => Answer::Silent,
    }
}

/// The end of the last run's error output, for people.
pub fn said(house: &House) -> String {
    files::tail(&house.control().join("said"), SAID_BYTES)
}

/// Whether the lock file parses as TOML; a missing one counts as readable.
fn reads_lock(house: &House) -> bool {
    let is_table =
        |text: Vec<u8>| String::from_utf8(text).is_ok_and(|text| text.parse::<toml::Table>().is_ok());
    let lock = files::read_most(&house.creature().join("Cargo.lock"), MOST_BYTES);
    lock.is_ok_and(|lock| lock.is_none_or(is_table))
}

/// Whether every registry named in the manifests answered: cargo then stores its `config.json`. Git dependencies
/// leave no such trace, so with one of them this is false.
fn reached(house: &House) -> bool {
    let told = files::read_most(&house.control().join("manifests.json"), MOST_BYTES).ok().flatten();
    let Ok(told) = serde_json::from_slice::<Manifests>(&told.unwrap_or_default()) else { return false };
    let dependencies = told.packages.into_iter().flat_map(|package| package.dependencies);
    let wanted: BTreeSet<String> = dependencies.filter_map(|dependency| dependency.source).collect();
    let answered = std::fs::read_dir(house.control().join("cargo/registry/index")).into_iter().flatten();
    let answered = answered.flatten().filter(|entry| entry.path().join("config.json").is_file());
    answered.count() >= wanted.len()
}
