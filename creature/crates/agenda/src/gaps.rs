//! Capability gaps: what the creature could not do, and how often it missed that.

use crate::items::{self, Item, ItemInfo, Items, LONGEST_REASON, LONGEST_TITLE};
use crate::{Agenda, Refusal, When};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// All gaps, the oldest first.
pub type Gaps = Items<Gap>;

/// Something the creature cannot do yet.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Gap {
    pub id: String,
    pub what: String,
    /// Times it was missed, the last time at `changed_at`.
    pub times: u32,
    pub changed_at: Timestamp,
    pub ended_at: Option<Timestamp>,
    /// Reason for closing it.
    pub reason: String,
}

/// A change of the gaps.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "do")]
pub enum GapChange {
    /// The creature missed it now, for the first time or again.
    Note {
        what: String,
    },
    Close {
        id: String,
        reason: String,
    },
}

impl Item for Gap {
    fn info(&self) -> ItemInfo<'_> {
        ItemInfo { id: &self.id, about: &self.what, ended_at: self.ended_at }
    }
}

pub(crate) fn apply(agenda: &mut Agenda, change: &GapChange, when: When) -> Result<Value, Refusal> {
    let list = &mut agenda.gaps.list;
    match change {
        GapChange::Note { what } => {
            let what = items::needed(what, "the gap", LONGEST_TITLE)?;
            let same = |gap: &&mut Gap| gap.ended_at.is_none() && gap.what.eq_ignore_ascii_case(&what);
            if let Some(gap) = list.iter_mut().find(same) {
                gap.times = gap.times.saturating_add(1);
                gap.changed_at = when.now;
                return Ok(json!({"id": gap.id, "times": gap.times}));
            }
            items::admit(list, &what)?;
            let id = agenda.name("gap");
            let made = json!({"id": id, "times": 1});
            agenda.gaps.list.push(Gap { id, what, times: 1, changed_at: when.now, ..Gap::default() });
            Ok(made)
        }
        GapChange::Close { id, reason } => {
            let gap = items::find(list, id)?;
            gap.ended_at = Some(when.now);
            gap.reason = items::clip(reason, LONGEST_REASON);
            Ok(json!({"id": id}))
        }
    }
}
