//! The rehearsal: a new binary lives one canned thought on a copy of the memory before the guardian is asked.
//!
//! Invariant: nothing of the real house is written; the copy lies in the workspace and is made afresh each time.

use super::diagnostics;
use crate::EditContext;
use ground::fault::Fault;
use ground::files;
use ground::paths::House;
use ground::process::{self, Job};
use memory::Record;
use serde_json::Value;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Characters told of what the new binary printed.
const MOST_SAID: usize = 4_000;

/// Memory copied, in bytes from its end; a thought sees far less.
const MOST_MEMORY: u64 = 8 * 1024 * 1024;

/// Snapshots copied, the newest.
const MOST_SNAPSHOTS: usize = 3;

/// How deep folders of papers are followed.
const DEEPEST: usize = 16;

/// Papers copied: files and bytes; enough for years of notes.
const MOST_PAPERS: usize = 2_000;
const MOST_PAPER_BYTES: u64 = 16 * 1024 * 1024;

/// Rehearses what was built.
pub(super) async fn rehearse(context: &EditContext) -> Result<(), Fault> {
    run(context, &prepare(context)?).await
}

/// Makes the house of a rehearsal; the old one is removed.
pub fn prepare(context: &EditContext) -> Result<House, Fault> {
    let copy = House::new(context.house.workspace().join("rehearsal"));
    copy_house(context, &copy).map_err(|cause| {
        let doing = format!("prepare the rehearsal in {}", copy.root().display());
        Fault::caused(doing, &cause, "is the disk full?")
    })?;
    Ok(copy)
}

fn copy_house(context: &EditContext, copy: &House) -> io::Result<()> {
    let house = &context.house;
    files::remove(copy.root())?;
    for folder in [copy.mind(), copy.snapshots(), copy.papers(), copy.workspace()] {
        fs::create_dir_all(folder)?;
    }
    fs::write(copy.memory(), end_of(&house.memory())?)?;
    let mut snapshots = files_in(&house.snapshots());
    snapshots.sort();
    for from in snapshots.iter().rev().take(MOST_SNAPSHOTS) {
        copy_into(from, &copy.snapshots())?;
    }
    for (from, to) in [(house.cursors(), copy.cursors()), (house.instinct(), copy.instinct())] {
        if from.is_file() {
            files::copy(&from, &to, MOST_MEMORY)?;
        }
    }
    fs::write(copy.purpose(), (context.read_paper)(&house.purpose()))?;
    let (mut files, mut bytes) = (MOST_PAPERS, MOST_PAPER_BYTES);
    copy_papers(&house.papers(), &copy.papers(), DEEPEST, &mut files, &mut bytes)
}

/// The last whole lines of a file, as many as are copied; nothing where there is no file.
fn end_of(path: &Path) -> io::Result<Vec<u8>> {
    let file = match files::open(path) {
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        file => file?,
    };
    let start = file.metadata()?.len().saturating_sub(MOST_MEMORY);
    let (mut bytes, _) = files::head(path, start, MOST_MEMORY)?;
    if start > 0 {
        let torn = bytes.iter().position(|byte| *byte == b'\n').map_or(bytes.len(), |at| at + 1);
        bytes.drain(..torn);
    }
    let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    bytes.truncate(whole);
    Ok(bytes)
}

/// Regular files of a folder; links are left out.
fn files_in(folder: &Path) -> Vec<PathBuf> {
    let files = files::entries(folder).filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file()));
    files.map(|entry| entry.path()).collect()
}

fn copy_into(from: &Path, folder: &Path) -> io::Result<()> {
    match from.file_name() {
        Some(name) => files::copy(from, &folder.join(name), MOST_PAPER_BYTES),
        None => Ok(()),
    }
}

fn copy_papers(from: &Path, to: &Path, deep: usize, files: &mut usize, bytes: &mut u64) -> io::Result<()> {
    for file in files_in(from) {
        let size = file.metadata()?.len();
        if *files == 0 || size > *bytes {
            continue;
        }
        (*files, *bytes) = (*files - 1, *bytes - size);
        copy_into(&file, to)?;
    }
    for entry in files::entries(from) {
        if *files > 0 && deep > 0 && entry.file_type()?.is_dir() {
            let below = to.join(entry.file_name());
            fs::create_dir_all(&below)?;
            copy_papers(&entry.path(), &below, deep - 1, files, bytes)?;
        }
    }
    Ok(())
}

/// Runs the built binary in the copy; it must exit 0 and leave a readable thought in the copy's memory.
async fn run(context: &EditContext, copy: &House) -> Result<(), Fault> {
    let before = fs::metadata(copy.memory()).map_or(0, |found| found.len());
    let job = Job::new(context.house.target().join("debug/creature"), copy.root(), context.limits.rehearsal)
        .args(["rehearse"])
        .env("FERAL_HOUSE", copy.root())
        .env("FERAL_LIFE", context.life.to_string())
        .env("FERAL_REHEARSAL", "1");
    let ended = process::run(job).await?;
    if !ended.ok() {
        let said =
            diagnostics::wrong(&ended.stdout.text(), &ended.stderr.text(), MOST_SAID, &|_| String::new());
        let hint = match ended.timed_out {
            true => "the new binary hangs: one canned thought takes a second",
            false => "the new binary dies in its first thought; these are its last words",
        };
        return Err(Fault::new(format!("the rehearsal failed: {}\n{said}", ended.how()), hint));
    }
    if thought_after(&copy.memory(), before, context.is_thought) {
        return Ok(());
    }
    let what = "the rehearsal failed: exit status 0, but no readable thought in its memory";
    Err(Fault::new(what, "the new binary must append a `thought` record, as the old one does"))
}

/// Whether a thought that reads as one stands in the memory after its first `before` bytes.
fn thought_after(memory: &Path, before: u64, is_thought: fn(Value) -> bool) -> bool {
    let (bytes, _) = files::head(memory, before, MOST_MEMORY).unwrap_or_default();
    let records =
        bytes.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice::<Record>(line).ok());
    let mut thoughts = records.filter(|record| record.kind == "thought");
    thoughts.any(|record| is_thought(record.data))
}
