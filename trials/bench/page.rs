//! The page people read: facts of the machine, then a table per measure with its methods and what is to be said of it.

use crate::bench::Table;
use crate::bench::row::{Row, high, median};
use serde_json::Value;
use std::fmt::Write;

pub fn page(facts: &Value, tables: &[Table], quick: bool) -> String {
    let text = |name: &str| facts[name].to_string().trim_matches('"').to_owned();
    let versions: Vec<&str> =
        facts["versions"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    let page = format!(
        "# What survival costs\n\nWritten by `scripts/bench`; what it measures stands in `trials/bench/` and \
         `creature/benches/`.\n\n\
         - machine: {}, {} cores, {} GB of memory, Linux {}, {}; load {} before it began\n\
         - commit {}, measured {}{}\n- held against: {}\n\n\
         Ours and theirs are measured in one run and in turns, so that what else the machine does falls on all alike. \
         A cell has median and 90th percentile; the ratio is of medians; n counts our samples and theirs.\n",
        text("cpu"),
        text("cores"),
        text("memory_gb"),
        text("kernel"),
        text("file_system"),
        text("load_before"),
        text("commit"),
        text("date"),
        if quick { ", a quick run with few rounds" } else { "" },
        versions.join(", "),
    );
    page + &tables.iter().map(section).collect::<String>()
}

/// A page with these tables in place of what it said of them, each with what it was measured on; others stay.
pub fn renewed(page: &str, facts: &Value, tables: &[Table], order: &[&str]) -> String {
    let text = |name: &str| facts[name].to_string().trim_matches('"').to_owned();
    let alone = format!(
        "\nMeasured alone: commit {}, {}, load {} before it began.\n",
        text("commit"),
        text("date"),
        text("load_before")
    );
    let mut parts = page.split("\n## ");
    let head = parts.next().unwrap_or_default().to_owned();
    let mut sections: Vec<(String, String)> = parts
        .map(|part| {
            (part.lines().next().unwrap_or_default().to_owned(), format!("\n## {}\n", part.trim_end()))
        })
        .collect();
    for table in tables {
        sections.retain(|(title, _)| title != table.title);
        sections.push((table.title.to_owned(), section(table) + &alone));
    }
    sections.sort_by_key(|(title, _)| order.iter().position(|known| known == title));
    let sections: String = sections.into_iter().map(|(_, text)| text).collect();
    format!("{}\n{sections}", head.trim_end())
}

pub fn section(table: &Table) -> String {
    let mut page = format!("\n## {}\n\n", table.title);
    page += "| what | ours | aim | against | theirs | ratio | n |\n|---|---|---|---|---|---|---|\n";
    let mut before = "";
    for row in &table.rows {
        page += &line(row, row.what == before);
        before = &row.what;
    }
    page.push('\n');
    let mut told = Vec::new();
    for row in table.rows.iter().filter(|row| !row.method.is_empty()) {
        if !told.contains(&&row.method) {
            let same = table.rows.iter().filter(|other| other.method == row.method);
            let mut shared: Vec<&str> = same.map(|row| &*row.what).collect();
            shared.dedup();
            writeln!(page, "- *{}*: {}", shared.join("; "), row.method).unwrap();
            told.push(&row.method);
        }
    }
    let mut in_table = false;
    for note in &table.notes {
        let gap = if in_table && note.starts_with('|') { "" } else { "\n" };
        writeln!(page, "{gap}{note}").unwrap();
        in_table = note.starts_with('|');
    }
    page
}

/// A table's row; what the row above has said already is left out.
fn line(row: &Row, again: bool) -> String {
    let (what, ours, aim) = match again {
        true => ("", String::new(), ""),
        false => (&*row.what, cell(&row.ours, &row.unit), &*row.aim),
    };
    let theirs = match row.against.as_str() {
        "" => "–".to_owned(),
        _ if row.theirs.is_empty() => "not installed".to_owned(),
        _ => cell(&row.theirs, &row.unit),
    };
    let ratio = row.ratio().map_or("–".to_owned(), |ratio| format!("{}×", figure(ratio)));
    let n = match row.theirs.len() {
        0 => row.ours.len().to_string(),
        theirs => format!("{}, {theirs}", row.ours.len()),
    };
    format!("| {what} | {ours} | {aim} | {} | {theirs} | {ratio} | {n} |\n", row.against)
}

fn cell(samples: &[f64], unit: &str) -> String {
    match (median(samples), high(samples)) {
        (Some(median), Some(high)) if samples.len() > 1 => {
            format!("{} / {} {unit}", figure(median), figure(high))
        }
        (Some(median), _) => format!("{} {unit}", figure(median)),
        _ => "–".to_owned(),
    }
}

/// Three figures, or whole numbers where there are more.
fn figure(value: f64) -> String {
    match value.abs() {
        0.0 => "0".to_owned(),
        size if size < 0.1 => format!("{value:.3}"),
        size if size < 10.0 => format!("{value:.2}"),
        size if size < 100.0 => format!("{value:.1}"),
        _ => format!("{value:.0}"),
    }
}
