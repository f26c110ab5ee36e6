//! Sums over the ledger's lines: spend, the owner's last word, stopped providers; pure.

use super::entry::{Entry, OWN};
use crate::ground::caps::{Cost, Money};
use crate::ground::rate::Bucket;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// Decisions of notes that have an effect when the ledger is read.
pub const ACCEPTED: &str = "accepted";
pub const INBOX: &str = "inbox";
pub const OWNER_SPOKE: &str = "owner_spoke";
pub const WARNED: &str = "warned";
pub const STOPPED: &str = "stopped";
pub const RESUMED: &str = "resumed";

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Sums {
    pub money: Money,
    /// Length of the inbox when it was last looked at.
    pub inbox_bytes: Option<u64>,
    /// Time the owner was last heard, RFC 3339.
    pub owner_spoke_at: Option<String>,
    pub warned_on: Option<crate::ground::caps::Day>,
    pub stopped: Option<Stopped>,
    /// The creature's own money after it last spent some.
    pub bucket: Option<Bucket>,
}

/// Provider that said that asking again will not help.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Stopped {
    pub provider: String,
    pub status: u16,
    pub hint: String,
    /// Fingerprint of the keys and settings it was said about; with others it no longer holds.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub fingerprint: String,
}

impl Sums {
    pub fn apply(&mut self, at: &str, entry: &Entry) {
        let cost = entry.cost_micro_usd.unwrap_or(0);
        if let (Some(level), Ok(at)) = (entry.own_left_micro_usd, at.parse::<Timestamp>()) {
            self.bucket = Some(Bucket { at_ms: at.as_millisecond(), level });
        }
        match (entry.event.as_str(), entry.class, entry.day) {
            ("reserve", Some(class), Some(day)) => {
                self.money.reserve(&entry.call, day, class, Cost::at_most(cost));
            }
            ("settle", _, _) => {
                self.money.settle(&entry.call, cost);
            }
            ("note", _, day) if entry.service == OWN => match entry.decision.as_str() {
                ACCEPTED => day.iter().for_each(|day| self.money.count(*day, cost)),
                INBOX => self.inbox_bytes = Some(entry.bytes_in),
                OWNER_SPOKE => {
                    self.inbox_bytes = Some(entry.bytes_in);
                    self.owner_spoke_at = Some(at.to_owned());
                }
                WARNED => self.warned_on = day,
                STOPPED => {
                    self.stopped = Some(Stopped {
                        provider: entry.path.clone(),
                        status: entry.status.unwrap_or(0),
                        hint: entry.note.clone(),
                        fingerprint: entry.call.clone(),
                    });
                }
                RESUMED if self.stopped.as_ref().is_some_and(|stopped| stopped.provider == entry.path) => {
                    self.stopped = None;
                }
                _ => {}
            },
            _ => {}
        }
    }
}
