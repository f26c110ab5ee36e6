//! The README tells of every word that works without a model, and of no other.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

const TABLE: &str = "creature/src/mind/instinct/abilities.rs";

fn text(path: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().join(path)).unwrap()
}

/// What the table of instinct shows: the first text of each of its rows, and its orders.
fn shown() -> BTreeSet<String> {
    let table = text(TABLE);
    let (rows, orders) = table.split_once("pub const ORDERS").expect("the table is followed by the orders");
    let rows = rows.split_once("pub const ABILITIES").expect("the table has a name").1;
    let first = |row: &str| {
        row.trim_start().strip_prefix('"').and_then(|row| row.split('"').next()).map(str::to_owned)
    };
    let orders = orders.split_once("];").unwrap().0;
    let mut shown: BTreeSet<String> = rows.split("ability(").skip(1).filter_map(first).collect();
    shown.extend(orders.split('"').skip(1).step_by(2).map(str::to_owned));
    shown.remove("");
    shown
}

/// What stands in the first column of its table.
fn told() -> BTreeSet<String> {
    let readme = text("README.md");
    let section = readme.split_once("| without a model you may say |").expect("the README has the table").1;
    let rows = section.lines().skip(2).take_while(|line| line.starts_with('|'));
    let first = rows.filter_map(|row| row.split('|').nth(1).map(str::to_owned));
    first.flat_map(|cell| cell.split('`').skip(1).step_by(2).map(str::to_owned).collect::<Vec<_>>()).collect()
}

#[test]
fn the_words_that_work_without_a_model_stand_in_the_readme() {
    let (shown, told) = (shown(), told());
    assert!(shown.len() > 20, "{shown:?}");
    let missing: Vec<_> = shown.difference(&told).collect();
    let gone: Vec<_> = told.difference(&shown).collect();
    assert!(missing.is_empty(), "in {TABLE}, not in the README's table: {missing:?}");
    assert!(gone.is_empty(), "in the README's table, not in {TABLE}: {gone:?}");
}
