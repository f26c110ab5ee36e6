//! Ceilings of folders: growth is a decision, made in the commit that needs it.

use crate::none;
use crate::sources::{is_lived_in, root, sources};
use std::collections::BTreeMap;
use std::fs;

/// A folder of source and the lines it may have, without the folders in it: a tenth above what was there when it was set.
const CEILINGS: &str = "guardian/tests/tidy/ceilings.txt";
/// Sets every ceiling anew. What it raises is to be answered for in the commit.
const SET: &str = "cargo test -p guardian --test tidy -- --ignored set_the_ceilings";

/// Lines of source by folder.
fn lines() -> BTreeMap<String, usize> {
    let mut lines = BTreeMap::new();
    for source in sources().iter().filter(|source| source.is_production() && source.path.contains("/src/")) {
        let folder = source.path.rsplit_once('/').map_or("", |(folder, _)| folder);
        *lines.entry(folder.to_owned()).or_default() += source.text.lines().count();
    }
    lines
}

fn ceilings() -> BTreeMap<String, usize> {
    let text = fs::read_to_string(root().join(CEILINGS)).unwrap();
    let rows = text.lines().map(|row| row.split_once(' ').expect("a folder and its lines"));
    rows.map(|(folder, lines)| (folder.to_owned(), lines.parse().unwrap())).collect()
}

#[test]
fn growth_is_a_decision() {
    let (mut lines, mut ceilings) = (lines(), ceilings());
    if is_lived_in() {
        let stable = |folder: &String, _: &mut usize| !folder.starts_with("creature/");
        lines.retain(stable);
        ceilings.retain(stable);
    }
    let mut bad = Vec::new();
    for (folder, lines) in &lines {
        match ceilings.get(folder) {
            None => bad.push(format!("{CEILINGS}:1: {folder} has no ceiling; set it: {SET}")),
            Some(ceiling) if lines > ceiling => bad.push(format!(
                "{folder} has {lines} lines, its ceiling is {ceiling}: cut as much, or raise it in {CEILINGS} and say why in the commit"
            )),
            Some(_) => {}
        }
    }
    let gone = ceilings.keys().filter(|folder| !lines.contains_key(*folder));
    bad.extend(gone.map(|folder| format!("{CEILINGS}:1: {folder} is no folder of source any more; {SET}")));
    none(bad);
}

/// Not a test: writes the ceilings, a tenth above what is there.
#[test]
#[ignore = "writes guardian/tests/tidy/ceilings.txt"]
fn set_the_ceilings() {
    let rows =
        lines().into_iter().map(|(folder, lines)| format!("{folder} {}\n", (lines * 11).div_ceil(100) * 10));
    fs::write(root().join(CEILINGS), rows.collect::<String>()).unwrap();
}
