//! The broker's records: lines of its ledger and of its asks; a line of an unknown kind stays as it is.

use crate::views;

/// Length of a day's name.
const DAY: usize = "2026-01-31".len();

views! {
    /// A line of the ledger.
    Entry {
        at: &'a str, life: Option<u64>, service: &'a str, method: &'a str, path: &'a str, bytes_out: u64, bytes_in: u64,
        cost_micro_usd: u64, decision: &'a str, call: &'a str, class: &'a str, note: &'a str, count: Option<u64>,
        seq: Option<u64>, prev: &'a str, hash: Option<&'a str>, until: &'a str,
    }
    /// A line on an ask, or the kept record of one.
    AskLine {
        at: &'a str, event: &'a str, kind: &'a str, service: &'a str, method: &'a str, path: &'a str, why: &'a str,
        reason: &'a str, summary: &'a str, digest: &'a str, status: Option<u64>, result: &'a str,
    }
}

/// Kind of a line of the ledger.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Booked<'a> {
    Reserve,
    /// A call of a model whose cost is known.
    Settle,
    /// As `Settle`, of a call that never left.
    Unsent,
    Call,
    Fetch,
    Registry,
    /// Connections to a place of a channel.
    Channel,
    /// A message that left by a channel.
    Message,
    Ask,
    Answer,
    Purpose,
    Refuse,
    Other(&'a str),
}

impl<'a> Entry<'a> {
    pub fn booked(self) -> Booked<'a> {
        match self.event() {
            "reserve" => Booked::Reserve,
            "settle" if self.decision() == "never left" => Booked::Unsent,
            "settle" => Booked::Settle,
            "call" => Booked::Call,
            "fetch" => Booked::Fetch,
            "registry" => Booked::Registry,
            "channel" => Booked::Channel,
            "message" => Booked::Message,
            "ask" => Booked::Ask,
            "answer" => Booked::Answer,
            "purpose" => Booked::Purpose,
            "refuse" => Booked::Refuse,
            other => Booked::Other(other),
        }
    }

    pub fn event(self) -> &'a str {
        super::text(self.0, "event")
    }

    /// Returns the amount paid, in millionths of a dollar, for a settled call.
    pub fn paid(self) -> Option<u64> {
        matches!(self.booked(), Booked::Settle | Booked::Unsent).then(|| self.cost_micro_usd())
    }

    /// Whether the call was of the creature's own accord.
    pub fn is_own(self) -> bool {
        self.class() == "autonomous"
    }

    /// The day it counts to, by UTC.
    pub fn day(self) -> &'a str {
        let day = Some(super::text(self.0, "day")).filter(|day| !day.is_empty()).unwrap_or(self.at());
        day.get(..day.floor_char_boundary(DAY)).unwrap_or_default()
    }

    /// Number of lines it stands for.
    pub fn times(self) -> u64 {
        self.count().unwrap_or(1).max(1)
    }
}

impl<'a> AskLine<'a> {
    /// Its id, where it is a plain name.
    pub fn id(self) -> Option<String> {
        let id = self.0.get("id")?;
        let id = id.as_str().map(str::to_owned).or_else(|| Some(id.as_u64()?.to_string()))?;
        let plain = |letter: char| letter.is_ascii_alphanumeric() || letter == '-' || letter == '_';
        ((1..=64).contains(&id.len()) && id.chars().all(plain)).then_some(id)
    }

    /// Describes the act: a request or a rewrite of the purpose; at most `most` characters of each part.
    pub fn what(self, most: usize) -> String {
        match self.kind() {
            "purpose" => "rewrite PURPOSE.md".to_owned(),
            _ => [self.method(), self.service(), self.path()]
                .map(|part| crate::bounds::brief(part, most))
                .join(" "),
        }
    }

    /// Whether its service refused the request (400 and above).
    pub fn refused(self) -> Option<u64> {
        self.status().filter(|status| self.event() == "executed" && *status >= 400)
    }

    pub fn has_failed(self) -> bool {
        self.event() == "failed" || self.refused().is_some()
    }
}
