//! The mutants `cargo-mutants` makes of a creature, as patches in the form a mind would send, and samples of them.

use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use trials::clone::{origin, run};

/// The mutants of a source are those of this version; another one makes others.
const VERSION: &str = "27.1.0";
/// What it leaves in a mutated line; a mind would not.
const MARK: &str = " /* ~ changed by cargo-mutants ~ */";

#[derive(Clone, Debug)]
pub struct Mutant {
    /// The name without line and column, and which of that name: the same after edits elsewhere in the file.
    pub id: String,
    /// What is changed, in words.
    pub name: String,
    pub file: String,
    pub line: u64,
    pub patch: String,
}

/// All mutants of the creature in this house, in the order of the source.
pub fn all(root: &Path) -> Vec<Mutant> {
    let tools = tools();
    let path = std::env::join_paths(
        std::iter::once(tools.join("bin")).chain(std::env::split_paths(&std::env::var_os("PATH").unwrap())),
    );
    let listed = Command::new(std::env::var("CARGO").unwrap())
        .args(["mutants", "--list", "--json", "--diff", "--workspace", "-d", "creature"])
        .current_dir(root)
        .env("PATH", path.unwrap())
        .output()
        .unwrap();
    assert!(listed.status.success(), "cargo mutants: {}", String::from_utf8_lossy(&listed.stderr));
    let list: Vec<Value> = serde_json::from_slice(&listed.stdout).unwrap();
    let mut seen = BTreeMap::new();
    list.iter().map(|entry| read(entry, &mut seen)).collect()
}

fn read(entry: &Value, seen: &mut BTreeMap<String, u32>) -> Mutant {
    let text = |key: &str| entry[key].as_str().unwrap_or_else(|| panic!("no {key} in {entry}")).to_owned();
    let file = format!("creature/{}", text("file"));
    // file:line:column: words
    let name = text("name").splitn(4, ':').nth(3).unwrap().trim().to_owned();
    let plain = format!("{file}: {name}");
    let nth = seen.entry(plain.clone()).and_modify(|nth| *nth += 1).or_insert(1);
    let id = if *nth == 1 { plain } else { format!("{plain} ({nth})") };
    Mutant {
        id,
        name,
        line: entry["span"]["start"]["line"].as_u64().unwrap(),
        patch: patch(&file, &text("diff")),
        file,
    }
}

/// The diff with the file's path from the root, and without the tool's mark.
fn patch(file: &str, diff: &str) -> String {
    let mut patch = format!("--- a/{file}\n+++ b/{file}\n");
    for line in diff.lines().skip(2) {
        match line.strip_prefix('+') {
            Some(_) => patch += line.replace(MARK, "").trim_end(),
            None => patch += line,
        }
        patch.push('\n');
    }
    patch
}

/// Where the tool is, installed for this repository alone if it is missing.
fn tools() -> PathBuf {
    let tools = origin().join("target/tools");
    if !tools.join("bin/cargo-mutants").exists() {
        let at = tools.to_str().unwrap();
        let args = ["install", "--locked", "--debug", "cargo-mutants", "--version", VERSION, "--root", at];
        run(&std::env::var("CARGO").unwrap(), &args, &origin());
    }
    tools
}

/// The first `most` of a shuffle that is the same for the same seed.
pub fn sample(mut all: Vec<Mutant>, most: usize, seed: u64) -> Vec<Mutant> {
    let mut state = seed;
    let mut random = || {
        // splitmix64
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    };
    for at in (1..all.len()).rev() {
        all.swap(at, (random() % (at as u64 + 1)) as usize);
    }
    all.truncate(most);
    all
}
