//! The facts, `self/facts.md`: read whole, kept whole; and where knowledge is looked for.

use super::upkeep;
use crate::fault::Fault;
use crate::paths::House;
use ground::files;
use knowledge::{Kind, SearchPaths, skills};
use patch::boundary;
use std::error::Error;
use std::io;
use std::path::PathBuf;

/// Bytes of the facts; as much as any paper.
pub(crate) const MOST_FACTS: u64 = 256 * 1024;

/// The facts whole, empty without a file. A fault where they cannot be read whole, and so not be rewritten.
pub(crate) fn facts_text(house: &House) -> Result<String, Fault> {
    let whole = "make self/facts.md plain text of at most 256 KiB";
    let unread = |cause: &dyn Error| Fault::caused("read self/facts.md", cause, whole);
    match files::head(&house.facts(), 0, MOST_FACTS) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(String::new()),
        Err(error) => Err(unread(&error)),
        Ok((_, size)) if size > MOST_FACTS => {
            Err(Fault::new(format!("self/facts.md is too long: {size} bytes"), whole))
        }
        Ok((bytes, _)) => String::from_utf8(bytes).map_err(|cause| unread(&cause)),
    }
}

pub(crate) fn keep_facts(house: &House, text: &str) -> Result<(), Fault> {
    let path = "self/facts.md";
    boundary::no_links(house.root(), path)?;
    let hint = "is the disk full, or the file not writable?";
    memory::replace(&house.facts(), text.as_bytes())
        .map_err(|cause| Fault::caused("write self/facts.md", &cause, hint))?;
    upkeep::note_seen(house, path);
    Ok(())
}

/// Returns the paths the index over knowledge reads: papers with their kinds, and memory.
pub(crate) fn search_paths(house: &House) -> SearchPaths {
    let shelves = skills::shelves(house.root());
    let skills = shelves.owners.into_iter().chain(shelves.own);
    let mut papers: Vec<(Kind, PathBuf)> = skills.map(|skill| (Kind::Skill, skill.file)).collect();
    papers.extend([
        (Kind::Note, house.papers().join("notes")),
        (Kind::Note, house.papers().join("diary.md")),
        (Kind::Note, house.papers().join("scratch.md")),
        (Kind::Fact, house.facts()),
        (Kind::Snapshot, house.snapshots()),
    ]);
    SearchPaths { root: house.root().to_owned(), papers, memory: house.memory() }
}
