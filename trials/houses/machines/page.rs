//! Runs every machine and writes the page of them.

use super::{Ends, Seen, all};
use std::fmt::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

const HEAD: &str = "# Machines\n\n\
    Each row is a house started for real in that condition: its own mounts, users, filters, settings or repository.\n\
    `scripts/trials machines` starts them all and writes this page; `console/tests/console/machines.rs` holds each of \
    them\nin `scripts/check`. A filter stands in for a kernel or container that refuses system calls.\n\n\
    | condition | what is seen | how it ends |\n|---|---|---|\n";

/// Starts them all, prints a line for each and writes the page. False where one does not end as it should.
pub fn write(page: &Path, only: Option<&str>) -> bool {
    let (mut text, mut all_well) = (HEAD.to_owned(), true);
    std::panic::set_hook(Box::new(|_| {}));
    for machine in all().filter(|machine| only.is_none_or(|only| machine.name.contains(only))) {
        let ran = catch_unwind(AssertUnwindSafe(|| machine.start()));
        let (seen, ends) = match ran {
            Ok(Seen::So(seen)) => (seen, told(machine.ends)),
            Ok(Seen::NotHere(why)) => (why, "not tried on this machine".to_owned()),
            Err(panic) => {
                all_well = false;
                let why = panic.downcast_ref::<String>().cloned();
                (why.unwrap_or_else(|| "it failed without a word".to_owned()), "FAILED".to_owned())
            }
        };
        println!(
            "{:<12} {}: {}",
            ends.split([' ', ',']).next().unwrap_or_default(),
            machine.name,
            cell(&seen)
        );
        let _ = writeln!(text, "| {} | {} | {} |", cell(machine.condition), cell(&seen), cell(&ends));
    }
    if only.is_none() {
        std::fs::write(page, text).unwrap();
    }
    all_well
}

fn told(ends: Ends) -> String {
    match ends {
        Ends::Works => "works".to_owned(),
        Ends::Lacks(walls) => format!("works without {walls}, told with its remedy"),
        Ends::Refuses => "refuses, with its remedy".to_owned(),
        Ends::Waits => "told with its remedy, and waits".to_owned(),
    }
}

/// A text as a cell: in one line, bounded, and the same on each run.
fn cell(text: &str) -> String {
    let temporary = std::env::temp_dir().display().to_string();
    let words = text.split_whitespace().map(|word| match word.find("/house-") {
        // Houses have random names.
        Some(at) => {
            let (before, rest) = word.split_at(at);
            let rest = rest.trim_start_matches('/').split_once('/').map_or("", |(_, rest)| rest);
            format!("{}…/{rest}", before.replace(&temporary, "").trim_end_matches("/tmp"))
        }
        None => word.to_owned(),
    });
    let line = words.collect::<Vec<_>>().join(" ").replace('|', "\\|");
    if line.chars().count() <= 600 { line } else { line.chars().take(600).collect::<String>() + " …" }
}
