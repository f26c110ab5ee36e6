//! The owner's open requests: which tools each asked for, kept over thoughts, waits and lives until it is done.
//!
//! Invariant: only the owner's words open a request; until it ends, the tools they asked for may be used.

use crate::items::{self, Item, ItemInfo, Items, LONGEST_REASON, LONGEST_TITLE, later};
use crate::{Agenda, Refusal, When};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// How long a request stands after the last word about it, in seconds.
const STANDS_S: u64 = 86_400;

/// Requests open at once; the oldest makes room.
const MOST_OPEN: usize = 16;

pub type Requests = Items<Request>;

/// Something the owner asked for, done with tools that only the owner may grant.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Request {
    pub id: String,
    /// The owner's words.
    pub text: String,
    pub thread: String,
    /// Names of the tools that may be used for it.
    pub tools: Vec<String>,
    /// One of the tools did its work: the next answer ends the request, unless it says that it does not.
    pub used: bool,
    /// When it was last spoken of.
    pub changed_at: Timestamp,
    pub ended_at: Option<Timestamp>,
    pub outcome: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "do")]
pub enum RequestChange {
    /// The owner's words were heard.
    Heard {
        text: String,
        tools: Vec<String>,
    },
    /// A tool did what it was asked for.
    Used {
        tool: String,
    },
    /// The owner was answered: ends the thread's requests if `done`; if left out, those of which a tool was used.
    Answered {
        done: Option<bool>,
    },
    Close {
        id: String,
        reason: String,
    },
}

impl Requests {
    /// Requests that have not ended and were spoken of within `STANDS_S`.
    pub fn standing(&self, now: Timestamp) -> impl Iterator<Item = &Request> {
        self.open().filter(move |one| now < later(one.changed_at, STANDS_S as i64))
    }

    /// Whether a standing request asks for this tool; with `thread`, only those of that thread count.
    pub fn asks_for(&self, tool: &str, thread: Option<&str>, now: Timestamp) -> bool {
        let mut all = self.standing(now).filter(|one| thread.is_none_or(|thread| one.thread == thread));
        all.any(|one| one.tools.iter().any(|known| known == tool))
    }
}

impl Item for Request {
    fn info(&self) -> ItemInfo<'_> {
        ItemInfo { id: &self.id, about: &self.text, ended_at: self.ended_at }
    }
}

impl Request {
    fn end(&mut self, outcome: &str, now: Timestamp) {
        self.ended_at = Some(now);
        self.changed_at = now;
        self.outcome = items::clip(outcome, LONGEST_REASON);
    }
}

pub(crate) fn apply(agenda: &mut Agenda, change: &RequestChange, when: When) -> Result<Value, Refusal> {
    let now = when.now;
    let list = &mut agenda.requests.list;
    match change {
        RequestChange::Heard { text, tools } => {
            if !when.owner {
                return Err(Refusal::new("open a request of the owner's", "ask with owner.message"));
            }
            let text = items::words(text, "the request", LONGEST_TITLE)?;
            items::admit(list, &text)?;
            if agenda.requests.open().count() >= MOST_OPEN
                && let Some(oldest) = agenda.requests.list.iter_mut().find(|one| one.ended_at.is_none())
            {
                oldest.end("too many were open", now);
            }
            let (id, thread, tools) = (agenda.name("request"), when.thread.to_owned(), tools.clone());
            let made = json!({"id": id, "tools": tools});
            agenda.requests.list.push(Request {
                id,
                text,
                thread,
                tools,
                changed_at: now,
                ..Request::default()
            });
            Ok(made)
        }
        RequestChange::Used { tool } => {
            let of_it = list.iter_mut().filter(|one| one.ended_at.is_none() && one.tools.contains(tool));
            of_it.for_each(|one| one.used = true);
            Ok(json!({"tool": tool}))
        }
        RequestChange::Answered { done } => {
            let of_it = list.iter_mut().filter(|one| one.ended_at.is_none() && one.thread == when.thread);
            for one in of_it {
                match done.unwrap_or(one.used) {
                    true => one.end("answered", now),
                    false => one.changed_at = now,
                }
            }
            Ok(json!({}))
        }
        RequestChange::Close { id, reason } => {
            items::find(list, id)?.end(reason, now);
            Ok(json!({"id": id}))
        }
    }
}
