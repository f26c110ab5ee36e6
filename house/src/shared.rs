//! The state that lives share, `.self/mind` and `.self/workspace`, moved aside whole; the owner's files are put back.
//!
//! Invariant: nothing is deleted. Memory and inbox are not touched; agenda, cursors, sub-sessions and conversations are
//! put back where they are regular files of a modest size that can be read as what they are.

use crate::openat::Folder;
use crate::{House, files, repair};
use anyhow::{Context, Result};
use serde_json::Value;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// Files of `.self/mind` that hold the owner's requests, reminders and words not yet answered.
const OWNERS: [&str; 3] = ["agenda.json", "cursors.json", "sessions.json"];
/// Largest of them that is put back, in bytes; the creature reads no more.
const MOST_BYTES: u64 = 16 << 20;
/// Largest conversation that is put back, in bytes, and how many.
const MOST_TALK_BYTES: u64 = 32 << 20;
const MOST_TALKS: usize = 24;
/// Entries of the folder of conversations that are looked at.
const MOST_ENTRIES: usize = 10_000;

/// Outcome of setting folders aside.
#[derive(Debug, Default)]
pub struct SetAside {
    /// Each folder, and where it is kept.
    pub moved: Vec<(&'static str, PathBuf)>,
    /// Names of the files that were put back.
    pub put_back: Vec<String>,
    /// Steps that failed, and why.
    pub failed: Vec<String>,
}

impl SetAside {
    /// A sentence for the owner.
    pub fn told(&self) -> String {
        let moved = self.moved.iter().map(|(name, to)| format!(".self/{name} is kept as {}", to.display()));
        let mut told: Vec<String> = moved.collect();
        if told.is_empty() {
            told.push("there was nothing to move out of its way".into());
        }
        if !self.put_back.is_empty() {
            told.push(format!("{} were put back", self.put_back.join(", ")));
        }
        told.extend(self.failed.iter().cloned());
        told.push("one more life is tried before anything falls".into());
        told.join("; ")
    }
}

/// Moves both folders to `kept/`, makes new ones, and puts the owner's files back.
pub fn set_aside(house: &House) -> SetAside {
    let mut done = SetAside::default();
    for (name, path) in [("mind", house.mind()), ("workspace", house.workspace())] {
        if std::fs::symlink_metadata(&path).is_err() {
            continue;
        }
        // Flags and modes of the creature's doing must not hold it.
        let _ = Folder::open(&house.state_folder()).map(|folder| folder.release(OsStr::new(name)));
        match repair::aside(house, &path) {
            Ok(to) => done.moved.push((name, to)),
            Err(error) => done.failed.push(format!("{} cannot be moved aside: {error}", path.display())),
        }
        let _ = std::fs::create_dir_all(&path);
    }
    let mind = done.moved.iter().find(|(name, _)| *name == "mind").map(|(_, to)| to.clone());
    if let Some(old) = mind.filter(|old| is_folder(old)) {
        put_back(house, &old, &mut done);
    }
    done
}

fn put_back(house: &House, old: &Path, done: &mut SetAside) {
    let mut copied = |name: String, most, reads: fn(&[u8]) -> bool| match copy(old, house, &name, most, reads)
    {
        Ok(true) => done.put_back.push(name),
        Ok(false) => {}
        Err(error) => done.failed.push(format!("{name} is not put back: {error:#}")),
    };
    for name in OWNERS {
        copied(name.into(), MOST_BYTES, |bytes| {
            serde_json::from_slice(bytes).is_ok_and(|value: Value| value.is_object())
        });
    }
    let talks = old.join("conversations");
    if !is_folder(&talks) {
        return;
    }
    let entries = std::fs::read_dir(&talks).into_iter().flatten().take(MOST_ENTRIES).flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    for name in names.filter(|name| name.ends_with(".jsonl") && !name.starts_with('.')).take(MOST_TALKS) {
        copied(format!("conversations/{name}"), MOST_TALK_BYTES, |bytes| {
            let mut lines = bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
            lines
                .next()
                .is_some_and(|head| serde_json::from_slice::<Value>(head).is_ok_and(|head| head.is_object()))
        });
    }
}

/// Puts a file back; false where there is none, an error where it cannot be read as what it is.
fn copy(old: &Path, house: &House, name: &str, most: u64, reads: fn(&[u8]) -> bool) -> Result<bool> {
    let Some(bytes) = files::read_most(&old.join(name), most)? else { return Ok(false) };
    anyhow::ensure!(reads(&bytes), "it cannot be read as what it is");
    let to = house.mind().join(name);
    to.parent().map_or(Ok(()), std::fs::create_dir_all).context("failed to make its folder")?;
    files::replace(&to, &bytes)?;
    Ok(true)
}

fn is_folder(path: &Path) -> bool {
    std::fs::symlink_metadata(path).is_ok_and(|meta| meta.is_dir())
}
