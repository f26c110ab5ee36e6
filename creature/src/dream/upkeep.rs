//! Upkeep: which papers of knowledge changed by another's hand, and which have grown too long.

use crate::paths::House;
use crate::senses::papers;
use crate::tools::Toolbox;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Characters from which on each asks to be condensed.
const FACTS: usize = 10_000;
const PULSE: usize = 5_000;
const SKILLS: usize = 20_000;

/// Papers that are watched.
const MOST_PAPERS: usize = 2_000;

/// Papers named at once.
const MOST_NAMED: usize = 50;

const MOST_BYTES: u64 = 1 << 20;

/// Every paper as it was when it was last looked at.
#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
struct Looked {
    stamps: Option<BTreeMap<String, String>>,
}

/// Papers of knowledge that changed since they were last looked at, by their path from the root.
pub fn changed(house: &House) -> Vec<String> {
    let now = stamps(house);
    let Some(before) = read(house).stamps else {
        // What was there before anybody looked is no change.
        keep(house, now);
        return Vec::new();
    };
    now.into_iter()
        .filter(|(path, stamp)| before.get(path) != Some(stamp))
        .map(|(path, _)| path)
        .take(MOST_NAMED)
        .collect()
}

/// This paper was read or written by the creature itself: as it is, it is known.
pub fn looked(house: &House, path: &str) {
    let watched = ["self/notes/", "self/skills/"].iter().any(|folder| path.starts_with(folder));
    if !watched && path != "self/facts.md" {
        return;
    }
    let mut known = read(house).stamps.unwrap_or_else(|| stamps(house));
    let stamp = stamp(&house.root().join(path));
    if known.get(path) == stamp.as_ref() {
        return;
    }
    match stamp {
        Some(stamp) => known.insert(path.to_owned(), stamp),
        None => known.remove(path),
    };
    keep(house, known);
}

/// What grew too long, as what it is and its characters.
pub(super) fn lengths(tools: &Toolbox) -> [(&'static str, usize, usize); 3] {
    let house = &tools.house;
    let chars = |path: &Path| papers::read(path).text.chars().count();
    let skills = listed(&house.skills()).iter().map(|path| chars(path)).sum();
    [
        ("self/facts.md", chars(&house.facts()), FACTS),
        ("the pulse", tools.desk.agenda.pulse.chars(), PULSE),
        ("self/skills/", skills, SKILLS),
    ]
}

fn read(house: &House) -> Looked {
    let bytes = papers::head(&house.looked(), 0, MOST_BYTES).map(|(bytes, _)| bytes).unwrap_or_default();
    serde_json::from_slice(&bytes).unwrap_or_default()
}

/// Failing to is survived: a paper is then shown as changed once more.
fn keep(house: &House, stamps: BTreeMap<String, String>) {
    let text = serde_json::to_vec(&Looked { stamps: Some(stamps) }).unwrap_or_default();
    if let Err(error) = memory::replace(&house.looked(), &text) {
        tracing::warn!("failed to {error}");
    }
}

fn stamps(house: &House) -> BTreeMap<String, String> {
    let mut papers = vec![house.facts()];
    papers.extend(listed(&house.papers().join("notes")));
    papers.extend(listed(&house.skills()));
    let named = |path: PathBuf| {
        let name = path.strip_prefix(house.root()).ok()?.display().to_string();
        Some((name, stamp(&path)?))
    };
    papers.into_iter().take(MOST_PAPERS).filter_map(named).collect()
}

fn stamp(path: &Path) -> Option<String> {
    let found = fs::symlink_metadata(path).ok().filter(fs::Metadata::is_file)?;
    Some(format!("{}-{}.{:09}", found.len(), found.mtime(), found.mtime_nsec()))
}

/// The papers of a folder, by name.
pub(crate) fn listed(folder: &Path) -> Vec<PathBuf> {
    let listing = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = listing.map(|entry| entry.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|end| end == "md"));
    paths.sort();
    paths
}
