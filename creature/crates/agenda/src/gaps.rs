//! Capability gaps: what the creature could not do, and how often it missed that.

use crate::items::{self, ItemKind, Items, LONGEST_TITLE};
use crate::{Agenda, Refusal, When};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// All gaps, the oldest first.
pub type Gaps = Items<Gap>;

/// Something the creature cannot do yet.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Gap {
    /// Times it was missed, the last time at `changed_at`.
    pub times: u32,
}

impl ItemKind for Gap {
    const NAME: &'static str = "gap";
    const FIELDS: &'static [(&'static str, &'static str)] = &[("about", "what"), ("outcome", "reason")];
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

pub(crate) fn apply(agenda: &mut Agenda, change: &GapChange, when: When) -> Result<Value, Refusal> {
    match change {
        GapChange::Note { what } => {
            let what = items::needed(what, "the gap", LONGEST_TITLE)?;
            let mut known = agenda.gaps.list.iter_mut().filter(|gap| gap.is_open());
            let gap = match known.find(|gap| gap.about.eq_ignore_ascii_case(&what)) {
                Some(gap) => gap,
                None => agenda.gaps.add(&mut agenda.next, what, Gap::default(), when)?,
            };
            gap.times = gap.times.saturating_add(1);
            gap.changed_at = when.now;
            Ok(json!({"id": gap.id, "times": gap.times}))
        }
        GapChange::Close { id, reason } => agenda.gaps.close(id, reason, when),
    }
}
