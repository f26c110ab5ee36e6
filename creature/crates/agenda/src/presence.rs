//! Presence: where the creature is seen, when it was last seen there, and how often it means to be.

use crate::items::{self, later};
use crate::{Agenda, Refusal, When};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Places; past this the one left alone longest makes room.
pub const MOST: usize = 64;

/// Characters of a place's name and of the last words there.
const LONGEST_PLACE: usize = 60;
const LONGEST_LAST: usize = 200;

/// All places, by name.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Presence {
    pub places: BTreeMap<String, Place>,
}

/// Place the creature posts to.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Place {
    pub last_at: Timestamp,
    /// Words the creature posted there last.
    pub last: String,
    /// Days within which the creature means to be seen there again; none: it posts when there is something to say.
    pub every_days: Option<u32>,
}

/// A change of the places.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "do")]
pub enum PresenceChange {
    /// The creature posted there; `every_days` left out stays as it was, 0 makes it none.
    Note {
        place: String,
        #[serde(default)]
        last: String,
        every_days: Option<u32>,
    },
}

impl Place {
    /// Returns the time the creature means to be seen there again.
    pub fn due_at(&self) -> Option<Timestamp> {
        self.every_days.map(|days| later(self.last_at, i64::from(days) * 86_400))
    }
}

pub(crate) fn apply(agenda: &mut Agenda, change: &PresenceChange, when: When) -> Result<Value, Refusal> {
    let PresenceChange::Note { place: name, last, every_days } = change;
    let name = items::needed(name, "the place", LONGEST_PLACE)?.to_lowercase();
    let places = &mut agenda.presence.places;
    if places.len() >= MOST && !places.contains_key(&name) {
        let oldest = places.iter().min_by_key(|(_, place)| place.last_at).map(|(name, _)| name.clone());
        oldest.map(|name| places.remove(&name));
    }
    let place = places.entry(name.clone()).or_default();
    place.last_at = when.now;
    place.last = items::clip(last, LONGEST_LAST);
    if let Some(days) = every_days {
        place.every_days = (*days > 0).then_some(*days);
    }
    Ok(json!({"place": name, "next_at": place.due_at()}))
}
