//! An update under way: while its `creature/` is tried, a note says that this `creature/` is not yet the house's.
//!
//! Invariant: as long as the note is there, `creature/` goes back to HEAD before anything lives, whoever comes next.

use crate::{Repo, Version};
use anyhow::Result;
use git2::Oid;
use house::{House, files};
use std::fs;
use std::path::PathBuf;

fn note(house: &House) -> PathBuf {
    house.own().join("update.json")
}

/// Puts the `creature/` of a commit in place, to be tried; HEAD stays where it is.
pub fn begin(house: &House, repo: &Repo, to: Version) -> Result<()> {
    let note = serde_json::json!({"commit": to.commit.to_string()});
    files::replace(&self::note(house), note.to_string().as_bytes())?;
    repo.put_back(to.commit)
}

/// Makes `creature/` as in HEAD, if an update left it otherwise; true if it did. The caller holds the house's lock.
pub fn settle(house: &House) -> Result<bool> {
    let Some(bytes) = files::read_small(&note(house))? else { return Ok(false) };
    let repo = Repo::open(house)?;
    let tried = serde_json::from_slice::<serde_json::Value>(&bytes).unwrap_or_default();
    let tried = tried.get("commit").and_then(|commit| Oid::from_str(commit.as_str()?).ok());
    let is_as_tried = tried.and_then(|commit| repo.resolve(&commit.to_string()).ok());
    let is_as_tried = is_as_tried.map(|version| repo.is_at(version)).transpose()?.unwrap_or(false);
    if !is_as_tried {
        repo.rescue("an update was taken back")?;
    }
    repo.put_back(repo.head()?.commit)?;
    fs::remove_file(note(house))?;
    files::sync_folder(&note(house))?;
    Ok(true)
}
