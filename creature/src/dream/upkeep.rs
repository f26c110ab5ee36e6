//! Upkeep: which papers of knowledge changed by another's hand, and which have grown too long.

use crate::paths::House;
use crate::store::Store;
use ground::papers;
use knowledge::{skills, stamp};
use memory::state;
use mind::context::Caps;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Characters past which each is to be condensed.
const FACTS: usize = 10_000;
const PULSE: usize = 5_000;
const SKILLS: usize = 20_000;

/// Papers that are watched.
const MOST_PAPERS: usize = 2_000;

/// Papers named at once.
const MOST_NAMED: usize = 50;

/// A stamp of every paper as it was when last looked at, by its path from the root.
#[derive(Serialize, Deserialize)]
struct Looked {
    stamps: BTreeMap<String, String>,
}

/// Papers of knowledge that changed since they were last looked at, by their path from the root.
pub fn changed(house: &House) -> Vec<String> {
    let now = stamps(house);
    let Some(Looked { stamps: before }) = state::read(&house.looked()) else {
        // At the first look there is nothing to compare with: nothing counts as changed.
        state::keep(&house.looked(), &Looked { stamps: now });
        return Vec::new();
    };
    now.into_iter()
        .filter(|(path, stamp)| before.get(path) != Some(stamp))
        .map(|(path, _)| path)
        .take(MOST_NAMED)
        .collect()
}

/// Notes that the creature itself read or wrote this paper: its present state is no change.
pub fn note_seen(house: &House, path: &str) {
    let watched = ["self/notes/", "self/skills/"].iter().any(|folder| path.starts_with(folder));
    if !watched && path != "self/facts.md" {
        return;
    }
    let mut known = state::read(&house.looked()).unwrap_or_else(|| Looked { stamps: stamps(house) });
    let before = match stamp(&house.root().join(path)) {
        Some(stamp) => known.stamps.insert(path.to_owned(), stamp),
        None => known.stamps.remove(path),
    };
    if before.as_ref() != known.stamps.get(path) {
        state::keep(&house.looked(), &known);
    }
}

/// Lists what must not grow too long: its name, its characters, and the characters past which to condense it.
pub(crate) fn lengths(store: &Store) -> [(&'static str, usize, usize); 6] {
    let (house, caps) = (&store.house, Caps::default());
    let chars = |path: &Path| papers::read(path).text.chars().count();
    let skills = skills::shelves(house.root()).own.iter().map(|skill| chars(&skill.file)).sum();
    [
        ("self/facts.md", chars(&house.facts()), FACTS),
        ("the pulse", store.agenda.pulse.chars(), PULSE),
        ("self/skills/", skills, SKILLS),
        // Of these a thought is shown no more.
        ("self/scratch.md", chars(&house.papers().join("scratch.md")), caps.scratch),
        ("self/HEARTBEAT.md", chars(&house.checklist()), caps.checklist),
        ("the list of goals", store.agenda.goals.lines().join("\n").chars().count(), caps.goals),
    ]
}

fn stamps(house: &House) -> BTreeMap<String, String> {
    let papers = [house.facts(), house.papers().join("notes")];
    let skills = skills::shelves(house.root()).own.into_iter().map(|skill| skill.file);
    let named = |path: PathBuf| {
        let name = path.strip_prefix(house.root()).ok()?.display().to_string();
        Some((name, stamp(&path)?))
    };
    papers
        .iter()
        .flat_map(|place| knowledge::papers(place))
        .chain(skills)
        .take(MOST_PAPERS)
        .filter_map(named)
        .collect()
}
