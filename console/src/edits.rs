//! Versions of its source that ever ran, each with what became of it, for page, `diff` and report; refused edits are no versions. Pure.

use house::bounds::{NAME_CHARS, brief};
use house::records::history::{Death, Event, Line, Said};
use serde_json::Value;

/// Versions that are held; of more the oldest go.
const MOST_EDITS: usize = 5_000;
/// The same by commit alone, of which a report needs the newest.
const MOST_BY_COMMIT: usize = 200;

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
    /// Its first and last life, and whether one ran a program built of it: papers alone build none.
    pub lives: Option<(u64, u64)>,
    pub is_built: bool,
    /// Whether a build of it failed, and how many lives of it died.
    pub is_unbuilt: bool,
    pub deaths: u64,
    /// Result of its tests, in the guardian's words too, and how long they took.
    pub tests: String,
    pub tests_told: String,
    pub tests_s: Option<f64>,
    /// When it had proved itself; empty where it has not.
    pub proved_at: String,
    pub fell: Option<Fell>,
}

/// How a version was put back: when, why by the guardian's word, to which commit, and what it told.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Fell {
    pub at: String,
    pub cause: String,
    pub to: String,
    pub told: String,
    /// Whether it lived again since.
    pub is_over: bool,
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
        match self.fallen() {
            Some(fell) if fell.cause == "owner" => Fate::RolledBack,
            Some(_) => Fate::Fell,
            None if self.tree == head_tree && self.proved_at.is_empty() => Fate::OnProbation,
            None if self.tree == head_tree => Fate::Runs,
            None if self.proved_at.is_empty() => Fate::NotProved,
            None => Fate::Proved,
        }
    }

    /// How it fell last, unless it was tried once more since.
    pub fn fallen(&self) -> Option<&Fell> {
        self.fell.as_ref().filter(|fell| !fell.is_over)
    }
}

/// The versions that the guardian's history tells of, the oldest first. `tree_of`: the tree of a commit's `creature/`,
/// by which commits of one version are known; a commit without one is a version by itself.
pub fn list(history: impl Iterator<Item = Value>, tree_of: impl Fn(&str) -> Option<String>) -> Vec<Edit> {
    let mut edits = Edits { all: Vec::new(), dropped: 0, most: MOST_EDITS, tree_of };
    history.for_each(|event| edits.take(&event));
    edits.all
}

/// Versions as events are taken in, the oldest first.
pub struct Edits<F> {
    pub all: Vec<Edit>,
    /// Number of the oldest that are not held any more.
    pub dropped: u64,
    most: usize,
    tree_of: F,
}

/// Versions by commit alone.
pub type ByCommit = Edits<fn(&str) -> Option<String>>;

impl Default for ByCommit {
    fn default() -> Self {
        Self { all: Vec::new(), dropped: 0, most: MOST_BY_COMMIT, tree_of: |_| None }
    }
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
    pub fn at(&mut self, commit: &str, at: &str) -> Option<&mut Edit> {
        if self.of(commit).is_none() && !commit.is_empty() {
            if self.all.len() >= self.most {
                self.dropped += self.all.drain(..self.most / 8).len() as u64;
            }
            let tree = (self.tree_of)(commit).unwrap_or_else(|| commit.to_owned());
            self.all.push(Edit { at: at.into(), commit: commit.into(), tree, ..Edit::default() });
        }
        self.of(commit)
    }

    /// Takes in a line of the guardian's history.
    #[allow(clippy::wildcard_enum_match_arm)]
    pub fn take(&mut self, event: &Value) {
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
                    edit.is_built |= !of.kept_binary();
                    edit.fell.iter_mut().for_each(|fell| fell.is_over = true);
                }
            }
            Event::Examined(of) => {
                if let Some(edit) = self.of(of.commit()) {
                    (edit.tests, edit.tests_s) = (of.outcome().to_owned(), of.seconds());
                    edit.tests_told = brief(Said(event).told(), NAME_CHARS);
                }
            }
            Event::Blessed(of) => {
                if let Some(edit) = self.at(of.commit(), at).filter(|edit| edit.proved_at.is_empty()) {
                    edit.proved_at = at.to_owned();
                }
            }
            Event::Fall(of) => {
                let [cause, to, told] =
                    [of.cause(), of.to_commit(), Said(event).plainly()].map(str::to_owned);
                let fell = Fell { at: at.into(), cause, to, told, is_over: false };
                if let Some(edit) = self.of(of.from_commit()) {
                    edit.fell = Some(fell);
                }
            }
            _ => {}
        }
    }
    /// Takes in a death, after the history.
    pub fn died(&mut self, death: Death) {
        if let Some(edit) = self.of(death.commit()) {
            edit.deaths += 1;
            edit.is_unbuilt |= death.ended() == "build_failed";
        }
    }
}
