//! What the guardian did, by kind, and deaths: lines of its history; one of an unknown kind stays as it is.

use super::text;
use crate::views;
use serde_json::Value;

views! {
    /// A line of the history, of any kind.
    Line { at: &'a str, what: &'a str, life: Option<u64> }
    /// A life that began.
    Life { life: u64, commit: &'a str, safe: bool, kept_binary: bool }
    Commit { commit: &'a str, by: &'a str, files: u64, added: u64, removed: u64 }
    /// The tests of a life came to something.
    Examined { life: u64, commit: &'a str, outcome: &'a str, seconds: Option<f64> }
    Blessed { commit: &'a str }
    /// Edits that were not committed are kept.
    Rescued { life: u64 }
    Fall { cause: &'a str, from_commit: &'a str, to_commit: &'a str, fallen_ref: &'a str }
    /// A line that says why or how, in the guardian's words.
    Said { cause: &'a str, told: &'a str, said: &'a str }
    /// A death, of the guardian's file or of memory; one by a fall says from where to where.
    Death {
        at: &'a str, life: u64, ended: &'a str, cause: &'a str, blame: &'a str, commit: &'a str, lived_s: f64,
        from_commit: &'a str, to_commit: &'a str, fallen_ref: &'a str, evidence: &'a str, log_tail: &'a str,
    }
}

/// How the guardian signs what it says.
const SIGNED: &str = "guardian: ";

impl<'a> Said<'a> {
    /// What is told, without who tells it.
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

/// A line of the history, by what it is of.
#[derive(Clone, Copy, Debug)]
pub enum Event<'a> {
    Life(Life<'a>),
    Commit(Commit<'a>),
    Rescued(Rescued<'a>),
    Examined(Examined<'a>),
    Blessed(Blessed<'a>),
    Fall(Fall<'a>),
    BrokerEnded(Said<'a>),
    BrokerMissing(Said<'a>),
    BegunAnew(Said<'a>),
    SettingsChanged,
    SettingsRefused(Said<'a>),
    StateSetAside(Said<'a>),
    /// An invariant of a life lived is broken that no rollback would mend.
    Broken(Said<'a>),
    /// Of a kind that a later guardian chose, or that nobody reads.
    Other(&'a str),
}

impl<'a> Event<'a> {
    pub fn of(line: &'a Value) -> Self {
        match Line(line).what() {
            "life" => Self::Life(Life(line)),
            "commit" => Self::Commit(Commit(line)),
            "rescued" => Self::Rescued(Rescued(line)),
            "examined" => Self::Examined(Examined(line)),
            "blessed" => Self::Blessed(Blessed(line)),
            "fall" => Self::Fall(Fall(line)),
            "broker_ended" => Self::BrokerEnded(Said(line)),
            "broker_missing" => Self::BrokerMissing(Said(line)),
            "begun_anew" => Self::BegunAnew(Said(line)),
            "settings_changed" => Self::SettingsChanged,
            "settings_refused" => Self::SettingsRefused(Said(line)),
            "state_set_aside" => Self::StateSetAside(Said(line)),
            "broken" => Self::Broken(Said(line)),
            other => Self::Other(other),
        }
    }
}
