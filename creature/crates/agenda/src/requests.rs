//! The owner's requests: what each asked for, how far it is, what it waits for; kept over thoughts and lives until done.
//!
//! Invariant: only the owner's words open a request, and none is dropped for its age: it ends by an answer that does not
//! say `done: false`, or by the owner's word.

mod answered;
mod wait;

pub use wait::Wait;

use crate::items::{self, Item, ItemKind, Items, LONGEST_REASON, backoff_s, later};
use crate::text;
use crate::{Agenda, Refusal, When};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// Seconds for which a request allows the owner's tools after the last word about it.
const ALLOWS_S: u64 = 86_400;

/// Requests open at once; past this the oldest ends, and says so.
const MOST_OPEN: usize = 256;

/// Characters of the owner's words that are kept.
const LONGEST_WORDS: usize = 4_000;

/// Wakes in a row without progress after which the owner is told.
pub const MOST_IDLE: u32 = 3;

/// Seconds within which wakes without progress count as one.
const APART_S: i64 = 60;

pub type Requests = Items<Request>;

/// Something the owner asked for, in their words; `changed_at` is when it was last spoken of.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Request {
    /// The id of the words in memory: the same words, read again, open no second request.
    pub word: String,
    /// Names of the owner's tools that may be used for it.
    pub tools: Vec<String>,
    /// Whether one of the tools did its work: then the next answer ends the request, unless it says that it does not.
    pub used: bool,
    /// Words that told the owner that work on it goes on; none before.
    pub so_far: Option<String>,
    /// Next step, as the last thought about it said.
    pub next: String,
    /// Time a wake was last for it.
    pub worked_at: Option<Timestamp>,
    /// Time before which it is not worked on.
    pub not_before: Option<Timestamp>,
    pub wait: Option<Wait>,
    /// Thing it waited for, once that came.
    pub came: String,
    /// Wakes in a row that made no progress with it, `APART_S` apart at least, and when the last one was counted.
    pub idle: u32,
    pub idle_at: Option<Timestamp>,
}

impl ItemKind for Request {
    const NAME: &'static str = "request";
    const REPEATS: bool = true;
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "do")]
pub enum RequestChange {
    /// The owner's words were heard.
    Heard {
        text: String,
        tools: Vec<String>,
        #[serde(default)]
        word: String,
    },
    /// A tool did what it was asked for.
    Used {
        tool: String,
    },
    /// The owner was answered: ends the requests the answer is for, unless `done` is false; if left out, not those that
    /// wanted a tool of the owner's and did not use it. Without `id` the answer is for words not answered yet, else for
    /// requests worked on.
    Answered {
        done: Option<bool>,
        #[serde(default)]
        id: Option<String>,
        /// The words of the answer.
        #[serde(default)]
        said: String,
        /// Wait of the request from now on.
        #[serde(default)]
        wait: Option<Wait>,
    },
    /// A wake began that is for it.
    Taken {
        id: String,
    },
    /// A wake that began at `since` ended with requests of the thread open.
    Rested {
        since: Timestamp,
        next: String,
        /// End of the rest that the thought chose.
        until: Option<Timestamp>,
        /// Whether work was done in it.
        progress: bool,
    },
    /// The thing it waited for happened.
    Came {
        id: String,
        what: String,
    },
    /// The owner was told that it makes no progress.
    Stuck {
        id: String,
    },
    Close {
        id: String,
        reason: String,
    },
}

impl Requests {
    /// Requests that have not ended and were spoken of within `ALLOWS_S`: those allow the tools they ask for.
    pub fn standing(&self, now: Timestamp) -> impl Iterator<Item = &Item<Request>> {
        self.open().filter(move |one| now < later(one.changed_at, ALLOWS_S as i64))
    }

    /// Whether a standing request asks for this tool; with `thread`, only those of that thread count.
    pub fn asks_for(&self, tool: &str, thread: Option<&str>, now: Timestamp) -> bool {
        let mut all = self.standing(now).filter(|one| thread.is_none_or(|thread| one.thread == thread));
        all.any(|one| one.tools.iter().any(|known| known == tool))
    }

    /// Open requests on a thread that were not answered, or were worked on since a wake began, and do not wait.
    pub fn under_work<'a>(
        &'a self,
        thread: &'a str,
        since: Timestamp,
    ) -> impl Iterator<Item = &'a Item<Request>> + 'a {
        let is_worked = move |one: &&Item<Request>| {
            one.thread == thread && (one.is_fresh() || one.worked_at.is_some_and(|at| at >= since))
        };
        self.open().filter(is_worked).filter(|one| one.wait.is_none())
    }
}

impl Request {
    /// Whether the owner had no answer to it yet.
    pub fn is_fresh(&self) -> bool {
        self.so_far.is_none()
    }
}

impl Item<Request> {
    /// Returns the time from which it is worth a wake: at once, after the rest its last wake chose, or after its wait.
    pub fn ready_at(&self) -> Timestamp {
        let wait = self.wait.as_ref().map(|wait| wait.until);
        wait.or(self.not_before).unwrap_or(self.made_at)
    }

    /// Says why it ranks where it does, and what is next.
    pub(crate) fn why_and_next(&self) -> (String, String) {
        let why = match &self.so_far {
            None => "your owner asked for it, and has no answer yet".to_owned(),
            Some(_) => "your owner asked for it, and was not told that it is done".to_owned(),
        };
        let next = match (&self.wait, self.next.as_str()) {
            (Some(wait), _) => format!("waits for {}, until {:.0} at most", wait.what, wait.until),
            (None, "") => "finish it, then answer with `done` true".to_owned(),
            (None, next) => next.to_owned(),
        };
        (why, next)
    }

    /// The request in a line, for thoughts: the owner's words, what was done and what is next.
    pub fn line(&self, most: usize) -> String {
        let words = text::clip(&self.about, most);
        let mut line = format!("Open request {} of your owner's, \"{words}\"", self.id);
        if self.thread != "main" {
            line += &format!(", thread {}", text::clip(&self.thread, 40));
        }
        if let Some(said) = self.so_far.as_ref().filter(|said| !said.is_empty()) {
            line += &format!("; you said: {}", text::clip(said, 160));
        }
        if !self.came.is_empty() {
            line += &format!("; it waited, and this came: {}", self.came);
        }
        line += &format!("; next: {}.", text::clip(&self.why_and_next().1, 200));
        if !self.tools.is_empty() {
            line += &format!(" {} allowed for it.", self.tools.join(", "));
        }
        line
    }

    /// Notes that a wake ended with it open, and decides when it is worked on again.
    fn rested(&mut self, next: &str, until: Option<Timestamp>, progress: bool, now: Timestamp) {
        let waits = self.wait.as_ref().is_some_and(|wait| wait.costs_little(now));
        let counts = !waits && self.idle_at.is_none_or(|at| later(at, APART_S) <= now);
        if progress {
            (self.idle, self.idle_at) = (0, None);
        } else if counts {
            (self.idle, self.idle_at) = (self.idle.saturating_add(1), Some(now));
        }
        self.came.clear();
        if !next.is_empty() {
            self.next = text::clip(next, LONGEST_REASON);
        }
        let pause_s = match self.idle {
            0 | 1 => 0,
            times => backoff_s(times - 1),
        };
        // Its second wake within a minute without work would be paid for and not counted: it waits out that minute.
        let minute = self.idle_at.filter(|_| !(progress || counts || waits));
        let put_off = minute.map_or(now, |at| later(at, APART_S)).max(later(now, pause_s));
        self.not_before = Some(until.unwrap_or(now).max(put_off));
        self.worked_at.get_or_insert(now);
    }
}

pub(crate) fn apply(agenda: &mut Agenda, change: &RequestChange, when: When) -> Result<Value, Refusal> {
    let now = when.now;
    let requests = &mut agenda.requests;
    match change {
        RequestChange::Heard { text, tools, word } => heard(agenda, text, tools, word, when),
        RequestChange::Used { tool } => {
            let of_it = requests.list.iter_mut().filter(|one| one.is_open() && one.tools.contains(tool));
            of_it.for_each(|one| one.used = true);
            Ok(json!({"tool": tool}))
        }
        RequestChange::Answered { done, id, said, wait } => {
            answered::answered(requests, *done, id.as_deref(), said, wait.as_ref(), when)
        }
        RequestChange::Taken { id } => {
            let one = requests.find(id)?;
            (one.worked_at, one.not_before, one.wait) = (Some(now), None, None);
            Ok(json!({"id": id}))
        }
        RequestChange::Rested { since, next, until, progress } => {
            let worked = |one: &&mut Item<Request>| {
                one.is_open()
                    && one.thread == when.thread
                    && (one.is_fresh() || one.worked_at.is_some_and(|at| at >= *since))
            };
            let mut stuck = Vec::new();
            for one in requests.list.iter_mut().filter(worked) {
                one.rested(next, *until, *progress, now);
                if one.idle >= MOST_IDLE {
                    stuck.push(one.id.clone());
                }
            }
            Ok(json!({"stuck": stuck}))
        }
        RequestChange::Came { id, what } => {
            let one = requests.find(id)?;
            one.came = text::clip(what, LONGEST_REASON);
            (one.wait, one.not_before) = (None, None);
            Ok(json!({"id": id}))
        }
        RequestChange::Stuck { id } => {
            let one = requests.find(id)?;
            (one.idle, one.idle_at) = (0, None);
            one.wait = Some(Wait::of_owner("your owner's word: it does not come on", now));
            Ok(json!({"id": id}))
        }
        RequestChange::Close { id, reason } => {
            let one = requests.find(id)?;
            if !when.owner {
                let hint = "answer with owner.message, done true; only your owner's word drops it";
                return Err(Refusal::new(format!("{id} is your owner's"), hint));
            }
            one.wait = None;
            one.end(reason, now);
            Ok(json!({"id": id}))
        }
    }
}

fn heard(
    agenda: &mut Agenda,
    text: &str,
    tools: &[String],
    word: &str,
    when: When,
) -> Result<Value, Refusal> {
    let now = when.now;
    if !when.owner {
        return Err(Refusal::new("open a request of the owner's", "ask with owner.message"));
    }
    items::needed(text, "the request", LONGEST_WORDS)?;
    let list = &mut agenda.requests.list;
    if let Some(known) = list.iter().find(|one| !word.is_empty() && one.word == word) {
        return Ok(json!({"id": known.id, "tools": known.tools}));
    }
    // A word on its thread is what a request waits for that waits for the owner.
    for one in list.iter_mut().filter(|one| one.is_open() && one.thread == when.thread) {
        if one.wait.as_ref().is_some_and(|wait| wait.owner) {
            (one.wait, one.not_before) = (None, None);
            one.came = text::clip(&format!("your owner said: {text}"), LONGEST_REASON);
        }
    }
    if agenda.requests.open().count() >= MOST_OPEN
        && let Some(oldest) = agenda.requests.list.iter_mut().find(|one| one.is_open())
    {
        oldest.wait = None;
        oldest.end("too many were open", now);
    }
    let text = text.trim().chars().take(LONGEST_WORDS).collect();
    let of = Request { word: word.to_owned(), tools: tools.to_vec(), ..Request::default() };
    let one = agenda.requests.add(&mut agenda.asked, text, of, when)?;
    Ok(json!({"id": one.id, "tools": tools}))
}
