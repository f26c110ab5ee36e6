//! The creature's asks of its owner, read from the broker's records: which asks wait, how each stands, its exact bytes.

use crate::bounds::brief;
use crate::printable::flat;
use crate::records::{self, ledger::AskLine, text};
use crate::{House, clock, files, moments};
use anyhow::{Context, Result, bail};
use serde_json::Value;
use std::time::Duration;

/// Tag of the row by which the guardian announces an ask.
pub const ASKS: &str = "ASKS YOU";
/// Characters of a word of an ask, and of a summary in a list.
const WORD_CHARS: usize = 80;
const SUMMARY_CHARS: usize = 200;
/// Bytes read from the end of the answers.
const MOST_NOTED_BYTES: u64 = 256 << 10;

/// An ask, in the state its newest record gives it.
#[derive(Clone, Debug)]
pub struct Ask {
    pub id: String,
    /// `asked`, `approved`, `denied`, `executed` or `failed`.
    pub event: String,
    pub asked: Value,
    pub newest: Value,
    /// Number of records of this ask.
    pub lines: usize,
}

impl Ask {
    /// The record of the asking: the act, its time and reason.
    pub fn asked(&self) -> AskLine<'_> {
        AskLine(&self.asked)
    }

    /// The newest record of the ask.
    pub fn newest(&self) -> AskLine<'_> {
        AskLine(&self.newest)
    }

    /// Whether the ask can still be answered: a failed one may be approved anew.
    pub fn open(&self) -> bool {
        self.event == "asked" || self.event == "failed"
    }

    /// Whether the ask waits for the owner: not answered, or failed in a way that leaves open whether the act
    /// happened.
    pub fn waits(&self, house: &House) -> bool {
        let unsure =
            || stored(house, &self.id).is_ok_and(|ask| ask.get("may_have_happened") == Some(&true.into()));
        self.event == "asked" || (self.event == "failed" && unsure())
    }

    /// The ask in a line: `12: POST x /2/tweets (to say hello)`.
    pub fn line(&self) -> String {
        let why = brief(self.asked().why(), WORD_CHARS);
        let why = if why.is_empty() { String::new() } else { format!(" ({why})") };
        flat(&format!("{}: {}{why}", self.id, self.what()))
    }

    /// Describes the act asked for, in a few words.
    pub fn what(&self) -> String {
        self.asked().what(WORD_CHARS)
    }

    pub fn summary(&self) -> String {
        flat(&brief(self.asked().summary(), SUMMARY_CHARS))
    }

    pub fn age(&self) -> String {
        let then = self.asked().at().parse::<jiff::Timestamp>().map_or(0, |at| at.as_millisecond());
        let age = clock::wall_ms().saturating_sub(u64::try_from(then).unwrap_or(0));
        moments::span(Duration::from_millis(age))
    }

    pub fn has_failed(&self) -> bool {
        self.newest().has_failed()
    }

    /// The result of the ask in a line; the service's answer itself is in `result`.
    pub fn outcome(&self) -> String {
        let status = self.newest().status().map(|status| format!(", status {status}")).unwrap_or_default();
        match self.newest().refused() {
            Some(refused) => {
                let service = flat(&brief(self.asked().service(), WORD_CHARS));
                format!("FAILED: it was sent, and {service} refused it with status {refused}")
            }
            None => format!("{}{status}", self.event),
        }
    }
}

/// Every ask on record, oldest first.
pub fn all(house: &House) -> Vec<Ask> {
    let mut asks: Vec<Ask> = Vec::new();
    for line in records::of(&house.asks()) {
        let Some(id) = AskLine(&line).id() else { continue };
        let event = AskLine(&line).event().to_owned();
        match asks.iter_mut().rev().find(|ask| ask.id == id) {
            Some(ask) => {
                if event == "asked" {
                    ask.asked = line.clone();
                }
                (ask.event, ask.newest, ask.lines) = (event, line, ask.lines + 1);
            }
            None => asks.push(Ask { id, event, asked: line.clone(), newest: line, lines: 1 }),
        }
    }
    asks
}

/// The unanswered asks. Answered ones are dropped while reading, so memory does not grow with their number.
pub fn waiting(house: &House) -> Vec<Ask> {
    let mut asks: Vec<Ask> = Vec::new();
    for line in records::of(&house.asks()) {
        let Some(id) = AskLine(&line).id() else { continue };
        asks.retain(|ask| ask.id != id);
        if AskLine(&line).event() == "asked" {
            asks.push(Ask { id, event: "asked".into(), asked: line.clone(), newest: line, lines: 1 });
        }
    }
    asks
}

/// The asks that wait, without those for which an answer of the owner's is noted.
pub fn unanswered(house: &House) -> Vec<Ask> {
    waiting(house).into_iter().filter(|ask| noted(house, ask).is_none()).collect()
}

/// Number of waiting asks, in words.
pub fn told(waiting: u64) -> String {
    match waiting {
        1 => "1 ask waits for your yes or no".to_owned(),
        more => format!("{more} asks wait for your yes or no"),
    }
}

/// The owner's answer to an ask, not yet taken up: the newest that names the digest asked for.
pub fn noted(house: &House, ask: &Ask) -> Option<Value> {
    let tail = files::tail(&house.answers(), MOST_NOTED_BYTES);
    let answers = tail.lines().rev().filter_map(|line| records::parse(line.as_bytes()));
    let mut answers =
        answers.filter(|answer| text(answer, "id") == ask.id && text(answer, "at") >= ask.newest().at());
    answers.find(|answer| ask.open() && text(answer, "digest") == ask.asked().digest())
}

/// The ask with this id; the error lists the ids that wait.
pub fn find(house: &House, id: &str) -> Result<Ask> {
    let mut asks = all(house);
    if let Some(at) = asks.iter().position(|ask| ask.id == id) {
        return Ok(asks.swap_remove(at));
    }
    let ids: Vec<String> = asks.into_iter().filter(|ask| ask.event == "asked").map(|ask| ask.id).collect();
    let there =
        if ids.is_empty() { "nothing waits".into() } else { format!("these wait: {}", ids.join(", ")) };
    bail!("no ask is called `{}`; {there}", flat(&brief(id, 80)))
}

/// The broker's file of an ask, with its exact bytes.
pub fn stored(house: &House, id: &str) -> Result<Value> {
    let path = house.ask(id);
    let bytes =
        files::read_most(&path, 64 << 20)?.with_context(|| format!("{} is not there", path.display()))?;
    serde_json::from_slice(&bytes).with_context(|| format!("{} cannot be read", path.display()))
}
