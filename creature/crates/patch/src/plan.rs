//! Plans: what edits and patches make of files, worked out in memory; parts that found no place are told beside.

use crate::boundary::{self, Allowed, Area};
use crate::change::{Change, MOST_BYTES};
use crate::text::diff::{self, FilePatch, Origin};
use crate::text::hunks::{self, Applied, Miss, Pass};
use crate::text::replace;
use crate::{At, Failed, Stage};
use ground::fault::Fault;
use ground::files;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Files that an edit may touch, and where they lie.
pub trait Places {
    /// Judges a path: as it is told, what it belongs to, and where its file lies.
    fn find(&self, path: &str) -> Result<(Allowed, PathBuf), Fault>;
}

/// Places where a self-edit's files are read: source from the draft where there is one, papers where they live.
#[derive(Clone, Copy, Debug)]
pub struct Roots<'a> {
    pub source: &'a Path,
    pub papers: &'a Path,
}

impl<'a> Roots<'a> {
    fn of(&self, area: Area) -> &'a Path {
        if area == Area::Source { self.source } else { self.papers }
    }
}

impl Places for Roots<'_> {
    fn find(&self, path: &str) -> Result<(Allowed, PathBuf), Fault> {
        let allowed = boundary::judge(path)?;
        let root = self.of(allowed.area);
        boundary::no_links(root, &allowed.path)?;
        let file = root.join(&allowed.path);
        Ok((allowed, file))
    }
}

/// Passage to replace in a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Edit {
    pub path: String,
    pub old: String,
    pub new: String,
}

/// An edit or a hunk that found no place, with what the file says there.
#[derive(Clone, Debug, PartialEq)]
pub struct Missed {
    pub why: String,
    pub around: String,
    /// The edit, kept in the draft so that only its `old` need be sent again; none for a hunk and for what has no draft.
    pub edit: Option<Edit>,
}

/// Plan of a self-edit: the changes, and for each file how its parts found their places.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    pub changes: Vec<Change>,
    pub report: Value,
    pub missed: Vec<Missed>,
}

impl Plan {
    pub fn touches(&self, area: Area) -> bool {
        self.changes.iter().any(|change| change.area == area)
    }

    pub fn files(&self) -> Vec<String> {
        self.changes.iter().map(|change| change.path.clone()).collect()
    }

    /// Says why not all of the plan could be done, and what became of the rest; none where nothing missed.
    pub fn refusal(&self) -> Option<Failed> {
        let said: Vec<&str> = self.missed.iter().map(|missed| missed.why.as_str()).collect();
        let kept = self.changes.iter().filter(|change| change.area == Area::Source).count();
        let mut hint = match kept {
            0 => "nothing was changed".to_owned(),
            files => format!("all else is in the draft ({files} files): send only what is named here again"),
        };
        if self.missed.iter().any(|missed| missed.edit.is_some()) {
            hint += ", with `old` as the file has it; `new` left out, or null, is the one you sent";
        }
        let arounds = self.missed.iter().map(|missed| missed.around.as_str()).filter(|text| !text.is_empty());
        let arounds: Vec<&str> = arounds.collect();
        if !arounds.is_empty() {
            hint += &format!("; the file really says:\n{}", arounds.join("\n…\n"));
        }
        (!said.is_empty()).then(|| Stage::Apply.failed(Fault::new(said.join("\n"), hint)))
    }
}

/// Works out what a patch makes of the files; writes nothing. All of it finds its place, or nothing is changed: its
/// parts were meant together. Refused where its form or a path will not do.
pub fn from_patch(places: &dyn Places, text: &str) -> Result<Plan, Failed> {
    let files = diff::parse(text).at(Stage::Apply)?;
    let (mut changes, mut report, mut missed) = (Vec::new(), Vec::new(), Vec::new());
    for file in &files {
        let origin = file.origin.as_ref();
        let from = origin.map(|origin| open(places, &origin.path, &mut changes)).transpose()?;
        let mut change = open(places, &file.path, &mut changes)?;
        let text = from.as_ref().map_or(Ok(change.after.as_deref()), |from| begun(from, &change, origin));
        let (applied, misses) = match text {
            Ok(text) => fitting(file, text),
            Err(why) => (None, vec![Miss { hunk: 1, number: 0, why, around: String::new() }]),
        };
        missed.extend(misses.into_iter().map(|miss| Missed {
            why: format!("hunk {} of {}{}: {}", miss.hunk, change.path, at_line(miss.number), miss.why),
            around: miss.around,
            edit: None,
        }));
        if let Some(applied) = applied {
            let hunks: Vec<Value> =
                applied.placed.iter().map(|at| json!({"line": at.line, "pass": at.pass.name()})).collect();
            report.push(json!({"path": change.path, "hunks": hunks}));
            let already = applied.placed.iter().all(|at| at.pass == Pass::AlreadyApplied);
            if !already && from.is_none() && applied.text == change.after {
                let what = format!("the patch changes nothing in {}", change.path);
                return Err(Stage::Apply.failed(Fault::new(what, "its removed and added lines are the same")));
            }
            change.after = applied.text;
        }
        changes.extend(from.map(|from| Change {
            after: from.after.clone().filter(|_| origin.is_some_and(|origin| origin.stays)),
            ..from
        }));
        changes.push(change);
    }
    if !missed.is_empty() {
        changes.clear();
    }
    finish(changes, json!(report), missed)
}

fn at_line(number: usize) -> String {
    if number == 0 { String::new() } else { format!(" (line {number} of the patch)") }
}

/// The text that a renamed or copied file begins with; that of the file itself where it was moved before.
fn begun<'a>(from: &'a Change, to: &'a Change, origin: Option<&Origin>) -> Result<Option<&'a str>, String> {
    let stays = origin.is_some_and(|origin| origin.stays);
    match (&from.after, &to.after) {
        (Some(text), None) => Ok(Some(text)),
        (None, Some(text)) if !stays => Ok(Some(text)),
        (Some(_), Some(_)) => Err(format!("{} is there already; delete it first", to.path)),
        (None, _) => Err(format!("there is no file {} whose text it could have", from.path)),
    }
}

/// Returns the file with the patch applied, or every hunk that does not find its place, by its number from 1.
fn fitting(file: &FilePatch, text: Option<&str>) -> (Option<Applied>, Vec<Miss>) {
    if let (true, true, Some(text)) = (file.origin.is_some(), file.hunks.is_empty(), text) {
        return (Some(Applied { text: Some(text.to_owned()), placed: Vec::new() }), Vec::new());
    }
    let mut file = file.clone();
    let mut numbers: Vec<usize> = (1..=file.hunks.len().max(1)).collect();
    let mut misses = Vec::new();
    loop {
        let miss = match hunks::apply(&file, text) {
            Ok(applied) => return (Some(applied).filter(|_| misses.is_empty()), misses),
            Err(miss) => miss,
        };
        let at = miss.hunk - 1;
        misses.push(Miss { hunk: numbers.get(at).copied().unwrap_or(miss.hunk), ..miss });
        if at >= file.hunks.len() || file.hunks.len() == 1 {
            return (None, misses);
        }
        file.hunks.remove(at);
        numbers.remove(at);
    }
}

/// Works out what the edits make of the files, one after the other; writes nothing.
pub fn from_edits(places: &dyn Places, edits: &[Edit]) -> Result<Plan, Failed> {
    let (mut changes, mut report, mut missed) = (Vec::new(), Vec::new(), Vec::new());
    for (at, edit) in edits.iter().enumerate() {
        let mut change = open(places, &edit.path, &mut changes)?;
        let replaced = match (&change.after, edit.old.is_empty()) {
            (None, false) => {
                Err(("there is no such file; to create it, leave `old` empty".to_owned(), String::new()))
            }
            (text, _) => replace::replace(text.as_deref().unwrap_or_default(), &edit.old, &edit.new),
        };
        match replaced {
            Ok(replaced) => {
                report.push(json!({"path": change.path, "line": replaced.line, "pass": replaced.pass}));
                change.after = Some(replaced.text);
            }
            Err((why, around)) => missed.push(Missed {
                why: format!("edit {} of {}: {why}", at + 1, change.path),
                around,
                edit: (change.area == Area::Source)
                    .then(|| Edit { path: change.path.clone(), ..edit.clone() }),
            }),
        }
        changes.push(change);
    }
    finish(changes, json!(report), missed)
}

/// The file as earlier parts of the same self-edit left it, or as it is on disk.
fn open(places: &dyn Places, path: &str, changes: &mut Vec<Change>) -> Result<Change, Failed> {
    let (Allowed { path, area }, file) = places.find(path).at(Stage::Boundary)?;
    if let Some(known) = changes.iter().position(|change| change.path == path) {
        return Ok(changes.swap_remove(known));
    }
    let refuse =
        |why: &str| Stage::Apply.failed(Fault::new(format!("{path} {why}"), "only text files can be edited"));
    let before = match files::head(&file, 0, MOST_BYTES as u64 + 1) {
        Ok((bytes, _)) => Some(bytes),
        Err(cause) if cause.kind() == std::io::ErrorKind::NotFound => None,
        Err(cause) => return Err(Stage::Apply.failed(Fault::caused(format!("read {path}"), &cause, ""))),
    };
    if before.as_ref().is_some_and(|bytes| bytes.len() > MOST_BYTES) {
        return Err(refuse("is over 1 MiB"));
    }
    let after = match before.clone().map(String::from_utf8) {
        Some(Ok(text)) => Some(text),
        Some(Err(_)) => return Err(refuse("is not UTF-8 text")),
        None => None,
    };
    Ok(Change { path, area, before, after })
}

/// Leaves out files that stay as they were, so that a plan without changes is one that was already done.
fn finish(mut changes: Vec<Change>, report: Value, missed: Vec<Missed>) -> Result<Plan, Failed> {
    changes.retain(|change| change.after.as_ref().map(String::as_bytes) != change.before.as_deref());
    let large =
        changes.iter().find(|change| change.after.as_ref().is_some_and(|text| text.len() > MOST_BYTES));
    if let Some(change) = large {
        let fault = Fault::new(format!("{} would be over 1 MiB", change.path), "split it");
        return Err(Stage::Apply.failed(fault));
    }
    changes.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(Plan { changes, report, missed })
}
