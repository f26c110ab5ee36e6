//! State that instinct keeps from thought to thought: jobs under way, sources, links seen, unused notes, one trial.
//!
//! Invariant: bounded; whatever the file held, `State::read` gives a state that can be worked with.

use ground::text::keep_last;
use ground::{files, pages};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

/// Bytes; a larger file was not written by instinct, which then starts with a fresh state.
const LARGEST_FILE: u64 = 1 << 20;

/// New things kept for a digest.
const MOST_FOUND: usize = 60;

/// Wakes that evidence is taken from, and wakes for which an edit is measured.
pub const WINDOW: usize = 15;

/// Wake, as it ends.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Wake {
    pub life: u64,
    pub at_s: i64,
    /// No thought of the wake called a tool.
    pub idle: bool,
    /// Something was written down or said in the wake.
    pub eventful: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct State {
    /// Wakes in a row that found nothing to do.
    pub idle_wakes: u64,
    /// Hashes of news, and of words without a time, dealt with in this wake: later rounds may be shown them again.
    pub dealt_with: Vec<u64>,
    /// Hashes of words that were taken: each is shown again until its thread is answered, with words of others between.
    pub taken: Vec<u64>,
    /// Those of `taken` that a life before this one took.
    #[serde(skip)]
    pub before: Vec<u64>,
    /// The owner's words not answered yet: the loop forgets all of them with the first answer.
    pub unanswered: Vec<String>,
    /// Threads of those unanswered words that are not on `main`, by hash of the words.
    pub threads: BTreeMap<u64, String>,
    /// Question that the owner's next word may answer with a yes or a number.
    pub asked: Option<Asked>,
    /// Thing last made for the owner.
    pub last: Option<Made>,
    /// The languages whose owners were told that answers come in English, and what is yet to be told of that.
    pub languages: Vec<String>,
    pub notice: String,
    /// Time at which it first woke; none where that was before this was kept.
    pub born_at_s: Option<i64>,
    /// Calls made whose results are not read yet.
    pub jobs: Vec<Job>,
    /// Sources by link and checklist items by line: when they are looked at next, and how they go.
    pub sources: BTreeMap<String, Source>,
    /// Hashes of checklist lines that are done or given up, until the file shows it.
    pub handled: Vec<u64>,
    /// Hashes of links seen, oldest first.
    pub seen: Vec<u64>,
    /// Links found and not read yet.
    pub queue: Vec<Link>,
    /// Notes taken since the last post nobody asked for.
    pub fresh: Vec<Note>,
    /// Notes taken, over all lives.
    pub notes: u64,
    pub drafted_at_s: i64,
    pub digest: DigestState,
    pub offer: OfferState,
    pub change: ChangeState,
    /// Fields that a newer self keeps here; carried, so that a rollback does not lose them.
    #[serde(flatten)]
    pub newer: BTreeMap<String, Value>,
}

/// Sentences of which the owner may choose one.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Asked {
    pub at_s: i64,
    pub choices: Vec<String>,
}

/// Something made for the owner: a `reminder` by its id, a `todo` or `note` by its text, a source to `follow` by its link.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Made {
    pub kind: String,
    pub what: String,
    pub at_s: i64,
}

/// A call made, and whom its result is for.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Job {
    pub origin: Origin,
    pub tool: String,
    /// Hash of the arguments, to tell two calls of one tool apart.
    pub args: u64,
    /// Subject of the call, for the report on it: a link, a name.
    pub about: String,
    pub asked_at: String,
    /// The thread of talk it was asked on.
    #[serde(default)]
    pub thread: String,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub enum Origin {
    #[default]
    Owner,
    /// A line of the checklist, as it stands there.
    Item(String),
    /// A line of the stack, by its id.
    Line(String),
    /// A source, by its link.
    Source(String),
    /// A link from the queue.
    Link(Link),
    Draft,
    Change,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Source {
    pub next_s: i64,
    /// Failures in a row.
    pub fails: u32,
    /// Hash of the text of the page when it was last read.
    pub text: u64,
    /// Page as earlier looks have known it.
    pub page: pages::Known,
    /// Keys of the items of the feed that were seen.
    pub items: Vec<u32>,
    /// Calls of the look at a feed that is under way or was the last, and new items it found.
    pub calls: u32,
    pub new: u32,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Link {
    pub url: String,
    pub title: String,
    /// The feed's own words on it, should the page not be readable.
    pub summary: String,
    pub source: String,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Note {
    pub title: String,
    pub url: String,
    pub sentence: String,
}

/// New things found at the sources, until a digest has told them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct DigestState {
    /// Oldest first.
    pub found: Vec<Found>,
    /// Number of new things beyond those kept.
    pub dropped: u64,
    /// A digest was given in this house before.
    pub begun: bool,
    /// Date, by the owner's clock, on which a digest was last told unasked.
    pub told_day: String,
    /// The call that writes a digest's paper, and whether the digest is then told unasked.
    pub paper: Option<Job>,
    pub tells: bool,
    /// Time before which no digest is begun after a failure.
    pub next_s: i64,
}

/// New thing at a source.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Found {
    pub title: String,
    pub url: String,
    pub source: String,
    pub sentence: String,
    pub fate: Fate,
    pub at_s: i64,
    /// The paper under way tells of it.
    pub told: bool,
}

/// Fate of a new thing: how far it was read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Fate {
    Read,
    Unreadable,
    #[default]
    #[serde(other)]
    Listed,
}

/// Whether instinct greeted its owner and offered feeds, and what it is to follow.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct OfferState {
    pub greeted: bool,
    /// Time at which feeds were offered, until the owner has said yes or no.
    pub open_since_s: Option<i64>,
    /// Links that instinct promised to follow, until the checklist is seen to name them, each with its thread.
    pub promised: Vec<(String, String)>,
}

/// State of instinct's own edits.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ChangeState {
    /// Life of the last edit, and thoughts before it.
    pub last_life: Option<u64>,
    pub last_thought: Option<u64>,
    /// Edits that failed, fell, or did not do what they were for.
    pub refused: Vec<String>,
    /// Failed looks at sources since the last edit took effect.
    pub failed_looks: u32,
    /// Time of the first of the `failed_looks`.
    pub failing_since_s: i64,
    pub trial: Option<Trial>,
    /// The edit that takes back one that did not help.
    pub back: Option<Trial>,
    /// The last wakes, oldest first.
    pub wakes: Vec<Wake>,
}

/// An edit of its own under way: asked for, then born, then measured.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Trial {
    pub name: String,
    pub from: u64,
    pub to: u64,
    pub why: String,
    /// The life that asked for it.
    pub life: u64,
    /// Seconds from wake to wake, or from failure to failure, before.
    pub before_s: i64,
    /// True when those seconds were to become more.
    pub more: bool,
    /// The edit takes another back: it is not measured.
    pub back: bool,
    /// Set in the first thought of the life that was born with it.
    pub born_at_s: Option<i64>,
    /// Wakes since that.
    pub wakes: u64,
}

impl State {
    /// The state in `path`; a fresh one where it is missing or cannot be read.
    pub fn read(path: &Path) -> State {
        let (bytes, size) = files::head(path, 0, LARGEST_FILE).unwrap_or_default();
        // serde would read a JSON list as the fields in order.
        let object = size <= LARGEST_FILE && bytes.first() == Some(&b'{');
        let Some(mut state) = serde_json::from_slice::<State>(&bytes).ok().filter(|_| object) else {
            // The file is kept aside, for the jobs and notes in it; the next thought writes a new one.
            let _ = memory::set_aside(path);
            return State::default();
        };
        state.bound();
        state
    }

    /// Forgets the oldest of everything there is too much of.
    pub fn bound(&mut self) {
        keep_last(&mut self.dealt_with, 64);
        keep_last(&mut self.taken, 256);
        keep_last(&mut self.unanswered, 50);
        let waits = |hash: &u64| self.unanswered.iter().any(|said| super::text::hash(said) == *hash);
        self.threads.retain(|hash, _| waits(hash));
        keep_last(&mut self.jobs, 16);
        keep_last(&mut self.handled, 256);
        keep_last(&mut self.seen, 1000);
        keep_last(&mut self.queue, 24);
        keep_last(&mut self.fresh, 12);
        keep_last(&mut self.change.refused, 16);
        keep_last(&mut self.change.wakes, WINDOW);
        keep_last(&mut self.offer.promised, 16);
        self.digest.dropped =
            self.digest.dropped.saturating_add(self.digest.found.len().saturating_sub(MOST_FOUND) as u64);
        keep_last(&mut self.digest.found, MOST_FOUND);
        while self.sources.len() > 128 {
            let Some(oldest) = self.sources.iter().min_by_key(|(_, source)| source.next_s) else {
                break;
            };
            let key = oldest.0.clone();
            self.sources.remove(&key);
        }
    }

    /// Returns the state of the source at this link, of the checklist's item or of what a line of the stack looks at.
    pub fn source(&mut self, key: &str) -> &mut Source {
        self.sources.entry(key.to_owned()).or_default()
    }

    /// Counts how often in a row this source failed.
    pub fn fails(&self, url: &str) -> u32 {
        self.sources.get(url).map_or(0, |source| source.fails)
    }

    /// Whether a source or item may be looked at now. A next time further off than it can have been set means that
    /// the clock was turned back.
    pub fn is_due(&self, key: &str, now_s: i64, longest_s: i64) -> bool {
        let next_s = self.sources.get(key).map_or(0, |source| source.next_s);
        next_s <= now_s || next_s.saturating_sub(now_s) > longest_s.max(86_400)
    }

    /// Notes that the news, or the word without a time, of this hash is dealt with in this wake; false if it already was.
    pub fn mark_dealt_with(&mut self, hash: u64) -> bool {
        is_noted(&mut self.dealt_with, hash)
    }

    /// Notes that the word of this hash is taken; false if it already was.
    pub fn mark_taken(&mut self, hash: u64) -> bool {
        is_noted(&mut self.taken, hash)
    }
}

/// Notes a hash; false if it already was noted.
fn is_noted(hashes: &mut Vec<u64>, hash: u64) -> bool {
    let is_new = !hashes.contains(&hash);
    hashes.extend(is_new.then_some(hash));
    is_new
}

impl Trial {
    /// The edit in words: what is compared, and what the summary begins with.
    pub fn edit(&self) -> String {
        format!("{} from {} to {}", self.name, self.from, self.to)
    }
}
