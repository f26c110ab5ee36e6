//! Change a life was born with, as a diff: the change it came of, or the one that was put back.

use crate::paths::House;
use git2::{DiffFormat, DiffOptions, Oid};
use ground::text::shorten;
use serde::Serialize;

/// Most characters of a patch, and most of its files, that are told.
const MOST_PATCH: usize = 12_000;
const MOST_FILES: usize = 50;

/// A change between two commits, within `creature` and `self`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Change {
    /// Purpose of the change, as its commit says.
    pub summary: String,
    pub files: Vec<String>,
    pub patch: String,
    pub figures: Figures,
}

/// Size of a change, whole.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Figures {
    pub files: usize,
    pub insertions: usize,
    pub deletions: usize,
}

/// Reads the change of a commit against another one, or against its parent; empty where git cannot say.
pub fn change(house: &House, from: Option<&str>, to: &str) -> Change {
    read(house, from, to).unwrap_or_else(|error| {
        tracing::debug!("failed to read the change {to}: {error}");
        Change::default()
    })
}

fn read(house: &House, from: Option<&str>, to: &str) -> Result<Change, git2::Error> {
    let repo = patch::repository::open(house)?;
    let to = repo.find_commit(Oid::from_str(to)?)?;
    let from = match from {
        Some(from) => repo.find_commit(Oid::from_str(from)?)?,
        None => to.parent(0)?,
    };
    let mut options = DiffOptions::new();
    options.pathspec("creature").pathspec("self");
    let diff = repo.diff_tree_to_tree(Some(&from.tree()?), Some(&to.tree()?), Some(&mut options))?;
    let path = |delta: git2::DiffDelta| delta.new_file().path().map(|path| path.display().to_string());
    let files = diff.deltas().filter_map(path).take(MOST_FILES).collect();
    let mut patch = String::new();
    let printed = diff.print(DiffFormat::Patch, |_, _, line| {
        if matches!(line.origin(), ' ' | '+' | '-') {
            patch.push(line.origin());
        }
        patch += &String::from_utf8_lossy(line.content());
        patch.len() <= 4 * MOST_PATCH
    });
    // Stopping the print at the bound is an error too; it counts only where nothing was printed.
    if patch.is_empty() {
        printed?;
    }
    let stats = diff.stats()?;
    let (insertions, deletions) = (stats.insertions(), stats.deletions());
    let figures = Figures { files: stats.files_changed(), insertions, deletions };
    let summary = to.message().unwrap_or_default().trim().to_owned();
    Ok(Change { summary, files, patch: shorten(&patch, MOST_PATCH), figures })
}
