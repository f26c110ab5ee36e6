//! Lines of the guardian's history by kind, and deaths; a line of an unknown kind stays as it is.

use super::text;
use crate::{kinds, views};
use serde_json::Value;

views! {
    /// A line of the history, of any kind.
    Line { at: &'a str, what: &'a str, life: Option<u64> }
    /// A life that began.
    Life { life: u64, commit: &'a str, safe: bool, kept_binary: bool }
    Commit { commit: &'a str, by: &'a str, files: u64, added: u64, removed: u64 }
    /// Result of a life's tests.
    Examined { life: u64, commit: &'a str, outcome: &'a str, seconds: Option<f64> }
    Blessed { commit: &'a str }
    /// Edits that were not committed are kept.
    Rescued { life: u64 }
    Fall { cause: &'a str, from_commit: &'a str, to_commit: &'a str, fallen_ref: &'a str }
    /// A line that says why or how, in the guardian's words.
    Said { cause: &'a str, told: &'a str, said: &'a str }
    /// A death, of the guardian's file or of memory; after a fall it names both commits.
    Death {
        at: &'a str, life: u64, ended: &'a str, cause: &'a str, blame: &'a str, commit: &'a str, lived_s: f64,
        from_commit: &'a str, to_commit: &'a str, fallen_ref: &'a str, evidence: &'a str, log_tail: &'a str,
    }
}

/// Mark before the guardian's own words.
const SIGNED: &str = "guardian: ";

impl<'a> Said<'a> {
    /// Returns the text without the guardian's name before it.
    pub fn plainly(self) -> &'a str {
        self.told().trim_start_matches(SIGNED)
    }
}

impl<'a> Commit<'a> {
    pub fn summary(self) -> &'a str {
        text(self.0, "summary").trim_start_matches(SIGNED)
    }

    pub fn is_its_own(self) -> bool {
        self.by() == "self"
    }
}

impl<'a> Rescued<'a> {
    pub fn reference(self) -> &'a str {
        text(self.0, "ref")
    }
}

kinds! {
    /// A line of the history, by its kind.
    Event {
        Life(Life): "life",
        Commit(Commit): "commit",
        Rescued(Rescued): "rescued",
        Examined(Examined): "examined",
        Blessed(Blessed): "blessed",
        Fall(Fall): "fall",
        BrokerEnded(Said): "broker_ended",
        BrokerMissing(Said): "broker_missing",
        ChannelsEnded(Said): "channels_ended",
        BegunAnew(Said): "begun_anew",
        SettingsChanged(Said): "settings_changed",
        SettingsRefused(Said): "settings_refused",
        StateSetAside(Said): "state_set_aside",
        /// An invariant of a life lived is broken that no rollback would mend.
        Broken(Said): "broken",
    }
}

impl<'a> Event<'a> {
    pub fn of(line: &'a Value) -> Self {
        Self::by(Line(line).what(), line)
    }
}
