//! Every path that `docs/formats.md` names is tried in every shape, and nothing is tried that it does not name.

use crate::survival::rows::state::paths::PATHS;
use std::collections::BTreeSet;

/// The paths in the first column of the table of files.
fn named() -> BTreeSet<String> {
    let text = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/formats.md")).unwrap();
    let files = text.split("\n## Files\n").nth(1).unwrap().split("\n## ").next().unwrap();
    let rows = files.lines().filter(|line| line.starts_with("| `"));
    let cells = rows.map(|row| row.split('|').nth(1).unwrap());
    cells.flat_map(|cell| cell.split('`').skip(1).step_by(2).map(str::to_owned)).collect()
}

#[test]
fn every_path_of_the_formats_has_its_row_in_the_table() {
    let (named, tried) = (named(), PATHS.iter().map(|(name, _)| (*name).to_owned()).collect::<BTreeSet<_>>());
    assert!(named.len() > 60, "the table of files is read: {named:?}");
    let untried: Vec<_> = named.difference(&tried).collect();
    assert!(untried.is_empty(), "a row in trials/survival/rows/state/paths.rs is missing for {untried:?}");
    let unnamed: Vec<_> = tried.difference(&named).collect();
    assert!(unnamed.is_empty(), "docs/formats.md does not name {unnamed:?}");
}
