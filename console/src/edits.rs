//! The versions of its source that ever ran, each with its fate: proved, fell, rolled back, never proved. Pure.

use house::records::history::{Event, Line, Said};
use serde_json::Value;

/// Versions that are held; of more the oldest go.
const MOST_EDITS: usize = 5_000;

/// A version of `creature/`, by the first commit that had it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Edit {
    pub at: String,
    pub commit: String,
    pub tree: String,
    /// Name of the committer: `self`, or another's.
    pub by: String,
    pub summary: String,
    pub files: u64,
    pub added: u64,
    pub removed: u64,
    /// Its first and last life.
    pub lives: Option<(u64, u64)>,
    /// Result of its tests, and how long they took.
    pub tests: String,
    pub tests_s: Option<f64>,
    /// When it had proved itself; empty where it has not.
    pub proved_at: String,
    pub fell: Option<Fell>,
}

/// How a version was put back: when, why by the guardian's word, and what it told.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Fell {
    pub at: String,
    pub cause: String,
    pub told: String,
}

/// Fate of a version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It is what runs now, and has proved itself.
    Runs,
    OnProbation,
    /// It proved itself and was followed by another.
    Proved,
    Fell,
    RolledBack,
    /// It was followed by another before it had proved itself, or never ran.
    NotProved,
}

impl Fate {
    pub fn told(self) -> &'static str {
        match self {
            Self::Runs => "runs now",
            Self::OnProbation => "on probation",
            Self::Proved => "proved itself",
            Self::Fell => "fell",
            Self::RolledBack => "rolled back by you",
            Self::NotProved => "never proved",
        }
    }

    /// The class of its colour.
    pub fn class(self) -> &'static str {
        match self {
            Self::Runs => "green",
            Self::OnProbation => "blue",
            Self::Fell | Self::RolledBack => "red",
            Self::Proved | Self::NotProved => "faint",
        }
    }
}

impl Edit {
    pub fn fate(&self, head_tree: &str) -> Fate {
        match &self.fell {
            Some(fell) if fell.cause == "owner" => Fate::RolledBack,
            Some(_) => Fate::Fell,
            None if self.tree == head_tree && self.proved_at.is_empty() => Fate::OnProbation,
            None if self.tree == head_tree => Fate::Runs,
            None if self.proved_at.is_empty() => Fate::NotProved,
            None => Fate::Proved,
        }
    }
}

/// The versions that the guardian's history tells of, the oldest first. `tree_of`: the tree of a commit's `creature/`,
/// by which commits of one version are known; a commit without one is a version by itself.
pub fn list(history: impl Iterator<Item = Value>, tree_of: impl Fn(&str) -> Option<String>) -> Vec<Edit> {
    let mut edits = Edits { all: Vec::new(), tree_of };
    history.for_each(|event| edits.take(&event));
    edits.all
}

struct Edits<F> {
    all: Vec<Edit>,
    tree_of: F,
}

impl<F: Fn(&str) -> Option<String>> Edits<F> {
    /// The version of a commit, where it is known.
    fn of(&mut self, commit: &str) -> Option<&mut Edit> {
        if commit.is_empty() {
            return None;
        }
        if let Some(at) = self.all.iter().rposition(|edit| edit.commit == commit) {
            return self.all.get_mut(at);
        }
        let tree = (self.tree_of)(commit)?;
        self.all.iter_mut().rev().find(|edit| edit.tree == tree)
    }

    /// The version of a commit, made where it is new.
    fn at(&mut self, commit: &str, at: &str) -> Option<&mut Edit> {
        if self.of(commit).is_none() && !commit.is_empty() {
            if self.all.len() >= MOST_EDITS {
                self.all.drain(..MOST_EDITS / 8);
            }
            let tree = (self.tree_of)(commit).unwrap_or_else(|| commit.to_owned());
            self.all.push(Edit { at: at.into(), commit: commit.into(), tree, ..Edit::default() });
        }
        self.of(commit)
    }

    #[allow(clippy::wildcard_enum_match_arm)]
    fn take(&mut self, event: &Value) {
        let at = Line(event).at();
        match Event::of(event) {
            // A commit of papers alone has the version that ran before.
            Event::Commit(of) if of.is_its_own() => {
                let is_new = self.of(of.commit()).is_none();
                if let Some(edit) = self.at(of.commit(), at).filter(|_| is_new) {
                    (edit.by, edit.summary) = ("self".into(), of.summary().to_owned());
                    (edit.files, edit.added, edit.removed) = (of.files(), of.added(), of.removed());
                }
            }
            Event::Life(of) => {
                let life = of.life();
                if let Some(edit) = self.at(of.commit(), at) {
                    edit.lives = Some((edit.lives.map_or(life, |(first, _)| first), life));
                    // One that fell and lives again is tried once more.
                    edit.fell = None;
                }
            }
            Event::Examined(of) => {
                if let Some(edit) = self.of(of.commit()) {
                    (edit.tests, edit.tests_s) = (of.outcome().to_owned(), of.seconds());
                }
            }
            Event::Blessed(of) => {
                if let Some(edit) = self.of(of.commit()).filter(|edit| edit.proved_at.is_empty()) {
                    edit.proved_at = at.to_owned();
                }
            }
            Event::Fall(of) => {
                let told = Said(event).plainly().to_owned();
                let fell = Fell { at: at.into(), cause: of.cause().into(), told };
                if let Some(edit) = self.of(of.from_commit()) {
                    edit.fell = Some(fell);
                }
            }
            _ => {}
        }
    }
}
