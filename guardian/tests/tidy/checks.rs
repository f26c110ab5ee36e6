//! What `scripts/check` leaves out where nothing changed: each test stands in it, and none is blind to what it is built from.

use crate::none;
use crate::sources::{Source, dependencies, root, sources};
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::process::{Command, Stdio};

const CHECK: &str = "scripts/check";

fn check() -> String {
    std::fs::read_to_string(root().join(CHECK)).unwrap()
}

/// The stable workspace's manifests by the name of their package, with the folder of each.
fn packages(sources: &[Source]) -> BTreeMap<String, (&str, &Source)> {
    let stable = |path: &str| !path.starts_with("creature/") && !path.starts_with("hands/");
    let manifests =
        sources.iter().filter(|source| source.path.ends_with("/Cargo.toml") && stable(&source.path));
    let named = manifests.filter_map(|source| {
        let name = source.text.split("[package]\nname = \"").nth(1)?.split('"').next()?;
        Some((name.to_owned(), (source.path.trim_end_matches("/Cargo.toml"), source)))
    });
    named.collect()
}

#[test]
fn every_test_program_of_the_stable_workspace_stands_in_the_check() {
    let (check, sources) = (check(), sources());
    let mut named = BTreeSet::new();
    for (folder, manifest) in packages(&sources).into_values() {
        let said = manifest.text.split("[[test]]\n").skip(1).filter(|test| !test.contains("test = false"));
        named.extend(said.map(|test| test.split('"').nth(1).unwrap().to_owned()));
        let within =
            |source: &Source| Some(source.path.strip_prefix(folder)?.strip_prefix("/tests/")?.to_owned());
        let found = sources.iter().filter_map(within);
        named.extend(found.filter_map(|path| match path.split_once('/') {
            Some((name, "main.rs")) => Some(name.to_owned()),
            Some(_) => None,
            None => path.strip_suffix(".rs").map(str::to_owned),
        }));
    }
    assert!(named.len() > 12, "{named:?}");
    let words: BTreeSet<&str> = check.split_whitespace().collect();
    let missing = named
        .iter()
        .filter(|name| !words.contains(name.as_str()) || !check.contains(&format!("--test {name}")));
    none(missing.map(|name| format!("{CHECK}: no --test {name}: it would run nowhere")).collect());
}

/// The patterns of what the tests of a side do not see, by its name, with the script's own names of them spelt out.
fn unseen(check: &str) -> Vec<(String, String)> {
    let assigned = |name: &str| -> String {
        let begins = [format!("{name}='"), format!("{name}+='")];
        let rows = check.lines().filter_map(|row| begins.iter().find_map(|begin| row.strip_prefix(begin)));
        rows.map(|row| row.trim_end_matches('\'')).collect()
    };
    let begun = check.lines().filter_map(|row| row.split_once("tests \""));
    let sides = begun.filter(|(before, _)| before.is_empty() || before.starts_with("PART="));
    let sides = sides.filter_map(|(_, row)| {
        let mut quoted = row.split('"');
        Some((quoted.next()?.to_owned(), quoted.nth(1)?.to_owned()))
    });
    let spelt = |pattern: String| {
        ["apart", "rows"].iter().fold(pattern, |all, name| all.replace(&format!("${name}"), &assigned(name)))
    };
    sides
        .filter(|(_, pattern)| !pattern.starts_with('+'))
        .map(|(side, pattern)| (side, spelt(pattern)))
        .collect()
}

/// Those of these paths that a pattern takes, by the program that the check itself asks.
fn taken(pattern: &str, paths: &str) -> Vec<String> {
    let mut grep = Command::new("grep")
        .args(["-E", &format!("^({pattern})/")])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    grep.stdin.take().unwrap().write_all(paths.as_bytes()).unwrap();
    let output = grep.wait_with_output().unwrap();
    assert!(output.status.code().is_some_and(|code| code < 2), "{pattern} is no pattern");
    String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect()
}

#[test]
fn no_side_is_blind_to_what_its_tests_are_built_from() {
    let (check, sources) = (check(), sources());
    let packages = packages(&sources);
    let sides = unseen(&check);
    let mut bad = Vec::new();
    let mut held = 0;
    for (side, pattern) in &sides {
        // A side is named by a package; the rows of `trials` are started by what that builds.
        let package = side.split(' ').next().filter(|name| packages.contains_key(*name)).unwrap_or("trials");
        let (mut found, mut open) = (BTreeSet::new(), vec![package.to_owned()]);
        while let Some(name) = open.pop() {
            if let Some((_, manifest)) = packages.get(&name).filter(|_| found.insert(name.clone())) {
                open.extend(dependencies(manifest).into_iter().map(|(name, _)| name));
            }
        }
        held += found.len();
        let library = |folder: &str| {
            if folder == "trials" {
                "trials/houses/lib.rs".to_owned()
            } else {
                format!("{folder}/src/lib.rs")
            }
        };
        let paths: String = found.iter().map(|name| library(packages[name].0) + "\n").collect();
        bad.extend(
            taken(pattern, &paths)
                .into_iter()
                .map(|path| format!("{CHECK}: \"{side}\" is built from {path} and does not see it")),
        );
    }
    assert!(sides.len() > 6 && held > 40, "{sides:?}");
    none(bad);
}
