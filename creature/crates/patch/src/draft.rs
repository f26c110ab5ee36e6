//! The draft: a copy of the creature's source on which edits gather, until the proof before birth takes them over.
//!
//! Invariant: the draft is there whole or not at all, and so is each edit of it: an edit is noted before it is
//! begun, and after a death the next look finishes what was noted. Only the holder of its lock acts on it.

use crate::boundary::Area;
use crate::change::{self, Change};
use crate::minute;
use crate::plan::Edit;
use crate::source::{self, Hashes, hash, hashes};
use ground::fault::Fault;
use ground::files;
use ground::paths::House;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

const UNREADABLE: &str = "repo.drop puts the draft aside, where its files can be read; then edit anew";

/// Bytes of the draft's state, and of the edit noted last: a few files of a MiB at most.
const MOST_STATE: u64 = 64 << 20;

/// New texts by path; none deletes the file.
pub type Texts = BTreeMap<String, Option<String>>;

/// State of the draft beside its files.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct State {
    pub since: String,
    /// Time of its last edit.
    pub touched: String,
    /// Hash of each file of the tree that lives, as it was when it was copied, or last brought into the draft.
    pub base: Hashes,
    /// Paths whose text differs from `base`.
    pub files: Vec<String>,
    pub last: Option<Last>,
    /// Edits whose `old` found no place.
    pub missed: Vec<Edit>,
}

/// Outcome of its last check, test or proof.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Last {
    pub at: String,
    pub step: String,
    pub ok: bool,
    /// Place and cause of its failure, in a line.
    pub said: String,
}

/// An edit of the draft, noted before it is made.
#[derive(Serialize, Deserialize)]
struct Note {
    texts: Texts,
    state: State,
}

/// The draft of a house.
#[derive(Debug)]
pub struct Draft {
    root: PathBuf,
    pub state: State,
}

/// The lock of the draft, held until it is dropped.
pub struct DraftLock(File);

impl Drop for DraftLock {
    fn drop(&mut self) {
        // A file that is only closed stays locked while a process forked meanwhile still has it open.
        let _ = self.0.unlock();
    }
}

/// Locks the draft: only one at a time edits or proves it. The kernel frees the lock of a process that is killed.
pub fn hold(house: &House) -> Result<DraftLock, Fault> {
    let path = house.draft_lock();
    let open = || {
        fs::create_dir_all(house.workspace())?;
        files::open_with(File::options().create(true).append(true), &path)
    };
    let file =
        open().map_err(|cause| Fault::caused("open the lock of the draft", &cause, "is the disk full?"))?;
    match file.try_lock() {
        Ok(()) => Ok(DraftLock(file)),
        Err(_) => {
            let hint = "wait for what came of it, then edit again; repo.status tells how far it is";
            Err(Fault::new("an edit or a proof of the draft is under way", hint))
        }
    }
}

impl Draft {
    /// The draft, if there is one; an edit that was cut short is finished.
    pub fn open(house: &House) -> Result<Option<Self>, Fault> {
        let root = house.draft();
        if !root.is_dir() {
            return Ok(None);
        }
        let note = root.join("edit.json");
        if let Ok(bytes) = files::whole(&note, MOST_STATE) {
            // A note that cannot be parsed was cut short, and its edit never begun.
            if let Ok(Note { texts, state }) = serde_json::from_slice(&bytes) {
                write_texts(&root, &texts)?;
                write_json(&root, "draft.json", &state)?;
            }
            fs::remove_file(&note)
                .map_err(|cause| Fault::caused("finish an edit of the draft", &cause, ""))?;
        }
        let state = files::whole(&root.join("draft.json"), MOST_STATE).map_err(|cause| cause.to_string());
        let state = state.and_then(|bytes| serde_json::from_slice(&bytes).map_err(|cause| cause.to_string()));
        let state = state
            .map_err(|why| Fault::new(format!("the draft's state cannot be read: {why}"), UNREADABLE))?;
        Ok(Some(Self { root, state }))
    }

    /// The draft, unless all its changes are in the tree that lives: then it is put aside, and none is left.
    pub fn open_unless_live(house: &House) -> Result<Option<Self>, Fault> {
        let Some(draft) = Self::open(house)? else { return Ok(None) };
        let divergence = source::diverged(&draft.state.base, &draft.hashes(), &hashes(house.root()));
        if divergence.ours.is_empty() && divergence.both.is_empty() && !divergence.same.is_empty() {
            return Self::put_aside(house).map(|_| None);
        }
        Ok(Some(draft))
    }

    /// Begins a draft: the tree that lives is copied beside the draft's place and moved there whole.
    pub fn begin(house: &House, now: &str) -> Result<Self, Fault> {
        let (root, aside) = (house.draft(), house.workspace().join("draft.new"));
        let begin = || -> io::Result<State> {
            files::remove(&aside)?;
            let mut base = BTreeMap::new();
            for (path, from) in source::files(house.root()) {
                let to = aside.join(&path);
                fs::create_dir_all(to.parent().unwrap_or(&aside))?;
                source::copy(&from, &to)?;
                base.insert(path, hash(&source::read(&to)?));
            }
            fs::create_dir_all(aside.join("creature"))?;
            Ok(State { since: now.to_owned(), touched: now.to_owned(), base, ..State::default() })
        };
        let failed = |cause: &io::Error| Fault::caused("begin a draft", cause, "is the disk full?");
        let state = begin().map_err(|cause| failed(&cause))?;
        write_json(&aside, "draft.json", &state)?;
        fs::rename(&aside, &root).map_err(|cause| failed(&cause))?;
        Ok(Self { root, state })
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Writes these texts into the draft, all or none, and the state with them.
    pub fn write(&mut self, texts: Texts, now: &str) -> Result<(), Fault> {
        self.state.touched = now.to_owned();
        for (path, text) in &texts {
            let same = text.as_ref().map(|text| hash(text.as_bytes())).as_ref() == self.state.base.get(path);
            self.state.files.retain(|known| known != path);
            if !same {
                self.state.files.push(path.clone());
            }
        }
        self.state.files.sort();
        let note = Note { texts, state: self.state.clone() };
        write_json(&self.root, "edit.json", &note)?;
        write_texts(&self.root, &note.texts)?;
        write_json(&self.root, "draft.json", &note.state)?;
        fs::remove_file(self.root.join("edit.json")).map_err(|cause| {
            Fault::caused("finish an edit of the draft", &cause, "it is finished at the next look")
        })
    }

    /// Notes what came of a step; `failure` says where and why it failed, and is none where it passed.
    pub fn came_to(&mut self, step: &str, now: &str, failure: Option<String>) -> Result<(), Fault> {
        let (ok, said) = (failure.is_none(), failure.unwrap_or_default());
        self.state.last = Some(Last { at: now.to_owned(), step: step.to_owned(), ok, said });
        write_json(&self.root, "draft.json", &self.state)
    }

    /// Hash of every file of the draft.
    pub fn hashes(&self) -> Hashes {
        hashes(&self.root)
    }

    /// Returns its differences from the tree that lives, as changes of that tree.
    pub fn changes(&self, house: &House) -> Result<Vec<Change>, Fault> {
        let (ours, living) = (self.hashes(), hashes(house.root()));
        let paths = source::paths([&ours, &living]);
        let differ = paths.into_iter().filter(|path| ours.get(*path) != living.get(*path));
        let change = |path: &String| {
            let after = match ours.contains_key(path) {
                true => Some(source::text(&self.root, path)?),
                false => None,
            };
            let before = source::read(&house.root().join(path)).ok();
            Ok(Change { path: path.clone(), area: Area::Source, before, after })
        };
        differ.map(change).collect()
    }

    /// The draft in a line: since when, how many files, and what came of its last check, test or proof.
    pub fn line(&self) -> String {
        let State { since, touched, files, last, .. } = &self.state;
        let tried = match last {
            None => "not checked yet".to_owned(),
            Some(last) if *touched > last.at => format!("edited since its last {}", last.step),
            Some(Last { step, ok: true, .. }) => format!("{step} passes"),
            Some(Last { step, said, .. }) => format!("{step} fails, {said}"),
        };
        let of = if files.len() == 1 { "file" } else { "files" };
        format!("a draft since {}: {} {of}, {tried}", minute(since), files.len())
    }

    /// Puts the draft aside, in place of the one put aside before. False where there is none.
    pub fn put_aside(house: &House) -> Result<bool, Fault> {
        let (root, aside) = (house.draft(), house.draft_aside());
        let put = || -> io::Result<bool> {
            if !root.exists() {
                return Ok(false);
            }
            forget(house, &aside)?;
            fs::rename(&root, &aside)?;
            Ok(true)
        };
        put().map_err(|cause| Fault::caused("put the draft aside", &cause, "is the workspace writable?"))
    }

    /// Makes the draft that was put aside last the draft again.
    pub fn take_up(house: &House) -> Result<Self, Fault> {
        let none = || Fault::new("there is no draft that was put aside", "repo.edit begins a new one");
        fs::rename(house.draft_aside(), house.draft()).map_err(|_| none())?;
        Self::open(house)?.ok_or_else(none)
    }
}

/// Moves what was put aside before to where the next birth clears it away: there may be much of it.
fn forget(house: &House, aside: &Path) -> io::Result<()> {
    let name = format!("draft-{}", aside.symlink_metadata().map_or(0, |found| found.ino()));
    let moved =
        fs::create_dir_all(house.temporary()).and_then(|()| fs::rename(aside, house.temporary().join(name)));
    moved.or_else(|_| files::remove(aside))
}

fn write_texts(root: &Path, texts: &Texts) -> Result<(), Fault> {
    for (path, text) in texts {
        let hint = "is the disk full? the edit is finished at the next look";
        change::set(&root.join(path), text.as_ref().map(String::as_bytes), hint)?;
    }
    Ok(())
}

fn write_json(root: &Path, name: &str, what: &impl Serialize) -> Result<(), Fault> {
    let hint = "is the disk full? the draft is as it was";
    memory::state::write(&root.join(name), what)
        .map_err(|cause| Fault::caused("write down the draft's state", &cause, hint))
}
