//! What the creature asks of its owner, as the broker's records have it: what waits, how each stands, and what is kept of it.

use crate::bounds::brief;
use crate::printable::flat;
use crate::records::{self, text};
use crate::{House, clock, files, moments};
use anyhow::{Context, Result, bail};
use serde_json::Value;
use std::time::Duration;

/// Characters of a summary in a list.
const SUMMARY_CHARS: usize = 200;

/// One ask, as the newest of its lines leaves it.
#[derive(Clone, Debug)]
pub struct Ask {
    pub id: String,
    /// `asked`, `approved`, `denied`, `executed` or `failed`.
    pub event: String,
    pub asked: Value,
    pub newest: Value,
    /// How many lines there are of it.
    pub lines: usize,
}

impl Ask {
    /// Whether it can still be answered: what failed may be approved anew.
    pub fn open(&self) -> bool {
        self.event == "asked" || self.event == "failed"
    }

    /// Whether it waits: not answered, or failed so that nobody knows whether it happened.
    pub fn waits(&self, house: &House) -> bool {
        let unsure =
            || stored(house, &self.id).is_ok_and(|ask| ask.get("may_have_happened") == Some(&true.into()));
        self.event == "asked" || (self.event == "failed" && unsure())
    }

    /// `12: POST x /2/tweets (to say hello)`.
    pub fn line(&self) -> String {
        let field = |name: &str| brief(text(&self.asked, name), 80);
        let why = field("why");
        let why = if why.is_empty() { String::new() } else { format!(" ({why})") };
        flat(&format!("{}: {}{why}", self.id, self.what()))
    }

    /// What it is about, in a few words.
    pub fn what(&self) -> String {
        let field = |name: &str| brief(text(&self.asked, name), 80);
        match text(&self.asked, "kind") {
            "purpose" => "rewrite PURPOSE.md".to_owned(),
            _ => format!("{} {} {}", field("method"), field("service"), field("path")),
        }
    }

    pub fn summary(&self) -> String {
        flat(&brief(text(&self.asked, "summary"), SUMMARY_CHARS))
    }

    pub fn age(&self) -> String {
        let then = text(&self.asked, "at").parse::<jiff::Timestamp>().map_or(0, |at| at.as_millisecond());
        let age = clock::wall_ms().saturating_sub(u64::try_from(then).unwrap_or(0));
        moments::span(Duration::from_millis(age))
    }

    /// The status it was answered with where that says that it was not done, as services have it.
    fn refused(&self) -> Option<u64> {
        let status = self.newest.get("status").and_then(Value::as_u64);
        status.filter(|status| self.event == "executed" && *status >= 400)
    }

    pub fn has_failed(&self) -> bool {
        self.event == "failed" || self.refused().is_some()
    }

    /// What came of it, in a line; what was answered stands in `result`.
    pub fn outcome(&self) -> String {
        let status = self.newest.get("status").and_then(Value::as_u64);
        let status = status.map(|status| format!(", status {status}")).unwrap_or_default();
        match self.refused() {
            Some(refused) => {
                let service = flat(&brief(text(&self.asked, "service"), 80));
                format!("FAILED: it was sent, and {service} refused it with status {refused}")
            }
            None => format!("{}{status}", self.event),
        }
    }
}

/// Every ask there was, oldest first.
pub fn all(house: &House) -> Vec<Ask> {
    let mut asks: Vec<Ask> = Vec::new();
    for line in records::of(&house.asks()) {
        let Some(id) = id_of(&line) else { continue };
        let event = text(&line, "event").to_owned();
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

/// Those nobody has answered; what is over is not held, however much of it there is.
pub fn waiting(house: &House) -> Vec<Ask> {
    let mut asks: Vec<Ask> = Vec::new();
    for line in records::of(&house.asks()) {
        let Some(id) = id_of(&line) else { continue };
        asks.retain(|ask| ask.id != id);
        if text(&line, "event") == "asked" {
            asks.push(Ask { id, event: "asked".into(), asked: line.clone(), newest: line, lines: 1 });
        }
    }
    asks
}

fn id_of(line: &Value) -> Option<String> {
    let id = line.get("id")?;
    let id = id.as_str().map(str::to_owned).or_else(|| Some(id.as_u64()?.to_string()))?;
    let plain = |letter: char| letter.is_ascii_alphanumeric() || letter == '-' || letter == '_';
    ((1..=64).contains(&id.len()) && id.chars().all(plain)).then_some(id)
}

/// The ask of this name; an error says which wait.
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

/// What the broker keeps of an ask, with its exact bytes.
pub fn stored(house: &House, id: &str) -> Result<Value> {
    let path = house.ask(id);
    let bytes =
        files::read_most(&path, 64 << 20)?.with_context(|| format!("{} is not there", path.display()))?;
    serde_json::from_slice(&bytes).with_context(|| format!("{} cannot be read", path.display()))
}
