//! Pulse: standing concerns, each reviewed every so often for the thread that made it.

use crate::items::{self, Item, ItemKind, Items};
use crate::sessions::Mode;
use crate::text;
use crate::{Agenda, Refusal, When};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::ops::RangeInclusive;

/// Concerns that may be open: each costs a review an hour.
const MOST_OPEN: usize = 100;

/// Characters of one concern.
const MOST_CHARS: usize = 600;

/// Characters kept of what a review said.
const MOST_SAID: usize = 600;

/// Seconds between two reviews: the default, and the bounds.
const EVERY_S: u64 = 3_600;
const BOUNDS_S: RangeInclusive<u64> = 300..=30 * 86_400;

/// The reason that all reviews of concerns of its own are counted under.
pub const PULSE: &str = "pulse";

/// All concerns, the oldest first.
pub type Pulse = Items<Concern>;

/// Standing concern, reviewed at intervals; the findings of a review are told on its thread.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Concern {
    pub every_s: u64,
    pub next: Timestamp,
    pub last: Option<Timestamp>,
    /// Words of its last review; the next review builds on them.
    pub said: String,
    /// Mode of a review: how much it may do.
    pub mode: Mode,
}

impl ItemKind for Concern {
    const NAME: &'static str = "pulse";
    const FIELDS: &'static [(&'static str, &'static str)] =
        &[("about", "text"), ("ended_at", "finished"), ("outcome", "why")];
    const LISTED_BY: &'static str = "pulse.list";

    fn due_at(concern: &Item<Concern>) -> Option<Timestamp> {
        Some(concern.next)
    }
}

/// A change of the concerns.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "do")]
pub enum PulseChange {
    Add {
        text: String,
        every_s: Option<u64>,
        #[serde(default)]
        mode: Option<Mode>,
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
    /// A review came to this.
    Found {
        id: String,
        said: String,
    },
}

impl Items<Concern> {
    /// Whether a concern was made for the owner.
    pub fn is_owners(&self, id: &str) -> bool {
        self.list.iter().any(|concern| concern.id == id && concern.owner)
    }

    /// Characters of all open concerns together.
    pub fn chars(&self) -> usize {
        self.open().map(|concern| concern.about.chars().count()).sum()
    }
}

pub(crate) fn apply(agenda: &mut Agenda, change: &PulseChange, when: When) -> Result<Value, Refusal> {
    let now = when.now;
    match change {
        PulseChange::Add { text, every_s, mode } => {
            let (text, every_s) = (checked(text)?, bounded(said(*every_s).unwrap_or(EVERY_S))?);
            if agenda.pulse.open().count() >= MOST_OPEN {
                let hint = "close or merge some with pulse.close and pulse.update";
                return Err(Refusal::new(format!("keep more than {MOST_OPEN} concerns"), hint));
            }
            let (next, mode) = (items::later(now, every_s), mode.unwrap_or_default());
            let of = Concern { every_s, next, mode, ..Concern::default() };
            let concern = agenda.pulse.add(&mut agenda.next, text, of, when)?;
            Ok(json!({"id": concern.id, "next": next}))
        }
        PulseChange::Update { id, text, every_s } => {
            let text = text.as_deref().map(checked).transpose()?;
            let every_s = said(*every_s).map(bounded).transpose()?;
            let concern = agenda.pulse.find(id)?;
            if let Some(text) = text {
                concern.about = text;
            }
            if let Some(every_s) = every_s {
                concern.every_s = every_s;
                concern.next = items::later(concern.last.unwrap_or(now), every_s).max(now);
            }
            Ok(json!({"id": id, "next": concern.next}))
        }
        PulseChange::Close { id, why } => agenda.pulse.close(id, why, when),
        PulseChange::Reviewed { id } => {
            let concern = agenda.pulse.find(id)?;
            concern.last = Some(now);
            concern.next = items::later(now, concern.every_s);
            Ok(json!({"id": id, "next": concern.next}))
        }
        PulseChange::Found { id, said } => {
            let concern = agenda.pulse.find(id)?;
            concern.said = text::clip(said, MOST_SAID);
            Ok(json!({"id": id}))
        }
    }
}

fn checked(text: &str) -> Result<String, Refusal> {
    let text = text.trim();
    if (1..=MOST_CHARS).contains(&text.chars().count()) {
        return Ok(text.to_owned());
    }
    let hint = format!("say in at most {MOST_CHARS} characters what to look after and what would be news");
    Err(Refusal::new("keep that concern", hint))
}

/// An interval of zero counts as left out.
fn said(every_s: Option<u64>) -> Option<u64> {
    every_s.filter(|every_s| *every_s > 0)
}

fn bounded(every_s: u64) -> Result<u64, Refusal> {
    if BOUNDS_S.contains(&every_s) {
        return Ok(every_s);
    }
    Err(Refusal::new(format!("review a concern every {every_s} s"), "300 s to 30 days are possible"))
}
