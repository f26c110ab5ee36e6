//! Pulse: standing concerns, each reviewed every so often for the thread that made it.

use crate::items::{self, Card, Item};
use crate::{Agenda, Refusal, When, spoken};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// Concerns that may be open: each costs a review an hour.
const MOST_OPEN: usize = 100;

/// Characters of one concern.
const MOST_CHARS: usize = 600;

/// Seconds between two reviews: unless said, and the bounds.
const EVERY_S: u64 = 3_600;
const BOUNDS_S: (u64, u64) = (300, 30 * 86_400);

/// All of them, oldest first.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Pulse {
    pub all: Vec<Concern>,
}

/// One standing concern.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Concern {
    pub id: String,
    pub text: String,
    /// Where what a review finds is told.
    pub thread: String,
    pub every_s: u64,
    pub next: Timestamp,
    pub last: Option<Timestamp>,
    pub finished: Option<Timestamp>,
    /// Why it was closed.
    pub why: String,
}

impl Item for Concern {
    fn card(&self) -> Card<'_> {
        Card { id: &self.id, about: &self.text, ended_at: self.finished }
    }
}

/// A change of them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "do")]
pub enum PulseChange {
    Add {
        text: String,
        every_s: Option<u64>,
    },
    Update {
        id: String,
        text: Option<String>,
        every_s: Option<u64>,
    },
    Close {
        id: String,
        why: String,
    },
    /// A review was begun; the next is counted from now.
    Reviewed {
        id: String,
    },
}

impl Pulse {
    /// Concerns that are not closed.
    pub fn open(&self) -> impl Iterator<Item = &Concern> {
        self.all.iter().filter(|concern| concern.finished.is_none())
    }

    /// Concerns whose review is due, the longest overdue first.
    pub fn due(&self, now: Timestamp) -> Vec<&Concern> {
        let mut due: Vec<&Concern> = self.open().filter(|concern| concern.next <= now).collect();
        due.sort_by_key(|concern| concern.next);
        due
    }

    /// Characters of all that is open.
    pub fn chars(&self) -> usize {
        self.open().map(|concern| concern.text.chars().count()).sum()
    }

    /// The next moment at which one comes due by itself.
    pub fn next_at(&self, _now: Timestamp) -> Option<Timestamp> {
        self.open().map(|concern| concern.next).min()
    }

    /// Forgets what was finished before this time; how many.
    pub fn purge(&mut self, before: Timestamp) -> usize {
        items::purge(&mut self.all, before)
    }

    fn find(&mut self, id: &str) -> Result<&mut Concern, Refusal> {
        items::open(&mut self.all, id)
            .map_err(|refused| Refusal::new(refused.error, "pulse.list names those that are open"))
    }
}

pub(crate) fn apply(agenda: &mut Agenda, change: &PulseChange, when: When) -> Result<Value, Refusal> {
    let now = when.now;
    match change {
        PulseChange::Add { text, every_s } => {
            let (text, every_s) = (checked(text)?, bounded(every_s.unwrap_or(EVERY_S))?);
            if agenda.pulse.open().count() >= MOST_OPEN {
                let hint = "close or merge some with pulse.close and pulse.update";
                return Err(Refusal::new(format!("keep more than {MOST_OPEN} concerns"), hint));
            }
            items::admit(&mut agenda.pulse.all, &text)?;
            let id = agenda.name("pulse");
            let next = spoken::later(now, every_s);
            let (name, thread) = (id.clone(), when.thread.to_owned());
            agenda.pulse.all.push(Concern { id, text, thread, every_s, next, ..Concern::default() });
            Ok(json!({"id": name, "next": next}))
        }
        PulseChange::Update { id, text, every_s } => {
            let text = text.as_deref().map(checked).transpose()?;
            let every_s = every_s.map(bounded).transpose()?;
            let concern = agenda.pulse.find(id)?;
            concern.text = text.unwrap_or_else(|| concern.text.clone());
            if let Some(every_s) = every_s {
                concern.every_s = every_s;
                concern.next = spoken::later(concern.last.unwrap_or(now), every_s).max(now);
            }
            Ok(json!({"id": id, "next": concern.next}))
        }
        PulseChange::Close { id, why } => {
            let concern = agenda.pulse.find(id)?;
            concern.finished = Some(now);
            concern.why = why.chars().take(MOST_CHARS).collect();
            Ok(json!({"id": id}))
        }
        PulseChange::Reviewed { id } => {
            let concern = agenda.pulse.find(id)?;
            concern.last = Some(now);
            concern.next = spoken::later(now, concern.every_s);
            Ok(json!({"id": id, "next": concern.next}))
        }
    }
}

fn checked(text: &str) -> Result<String, Refusal> {
    match text.trim() {
        "" => Err(Refusal::new(
            "keep an empty concern",
            "say what is to be looked after, and what would be news",
        )),
        text if text.chars().count() > MOST_CHARS => {
            let hint = "keep the rest in notes, and name them";
            Err(Refusal::new(format!("keep a concern of more than {MOST_CHARS} characters"), hint))
        }
        text => Ok(text.to_owned()),
    }
}

fn bounded(every_s: u64) -> Result<u64, Refusal> {
    match (BOUNDS_S.0..=BOUNDS_S.1).contains(&every_s) {
        true => Ok(every_s),
        false => {
            Err(Refusal::new(format!("review a concern every {every_s} s"), "300 s to 30 days are possible"))
        }
    }
}
