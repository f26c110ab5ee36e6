//! Morning reports as files: `.self/reports/<day>.md`, the newest of them.

use anyhow::{Context, Result};
use house::{House, files, printable};

/// Columns by which rows are chosen for a file, and how many files stay.
pub const COLUMNS: usize = 100;
const MOST_FILES: usize = 60;

/// A report's lines as text, made harmless.
pub fn text(lines: &[(Option<&'static str>, String)]) -> String {
    let line = |(name, text): &(Option<&str>, String)| match name {
        Some(name) => format!("{name:<10} {}", printable::flat(text)),
        None => printable::flat(text),
    };
    lines.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// Writes the report of a day, and removes the oldest beyond those that stay.
pub fn keep(house: &House, day: &str, text: &str) -> Result<()> {
    let folder = house.reports();
    std::fs::create_dir_all(&folder).with_context(|| format!("failed to create {}", folder.display()))?;
    files::replace(&house.report(day), format!("# Report of {day}\n\n```\n{text}\n```\n").as_bytes())?;
    let entries = std::fs::read_dir(&folder).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let mut reports: Vec<String> = names.filter(|name| is_report(name)).collect();
    reports.sort();
    let over = reports.len().saturating_sub(MOST_FILES);
    for name in reports.iter().take(over) {
        let _ = std::fs::remove_file(folder.join(name));
    }
    Ok(())
}

/// Whether a file is named as reports are: `2026-01-31.md`.
fn is_report(name: &str) -> bool {
    let day = name.strip_suffix(".md").filter(|day| day.len() == "2026-01-31".len());
    day.is_some_and(|day| day.parse::<jiff::civil::Date>().is_ok())
}
