//! The broker's ledger as the owner reads it: what went out, what it cost, what was refused, and whether the chain holds.
//!
//! Invariant: only read; a line that cannot be read is counted and passed over, and the chain is said to be broken there.

use crate::history::with_what;
use crate::house::House;
use crate::lines::{Lines, Next};
use crate::records::{self, text};
use crate::{files, state};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// Longer lines are none of the broker's, in bytes.
const LONGEST_LINE: usize = 1 << 20;
/// The largest anchor the broker itself takes, in bytes.
const ANCHOR_BYTES: u64 = 1 << 20;
/// What a line ends in: the hash of all that stands before, closed by a brace.
const HASH: &str = ",\"hash\":\"";
/// What a line begins with.
const BEGINNING: &[u8] = b"{\"seq\":";

/// The ledger on its way through, and what it came to so far.
#[derive(Default)]
pub struct Audit {
    since: String,
    lines: Option<Lines>,
    /// How many lines were read, and what the next one has to follow.
    number: u64,
    end: Option<(u64, String)>,
    /// What the broker knew of before we began: what is written meanwhile is more, never less.
    known: (u64, Option<u64>),
    calls: BTreeMap<String, u64>,
    /// Calls that were counted: some have a line for their beginning and one for their end.
    counted: BTreeSet<String>,
    bytes_out: u64,
    bytes_in: u64,
    spent_micro_usd: u64,
    /// By call, what was reserved and not settled yet.
    reserved: BTreeMap<String, u64>,
    refusals: u64,
    asks: u64,
    /// Where the chain is broken first, and how.
    pub broken: Option<String>,
}

/// Everything since a time; the chain is followed from the ledger's first line.
pub fn read(house: &House, since: &str) -> Audit {
    let mut audit = Audit::open(house, since);
    while audit.next_event().is_some() {}
    audit
}

/// The entry of a line that follows the one before, and what the next one must follow.
fn follows(line: &str, before: Option<&(u64, String)>) -> Result<(Value, (u64, String)), &'static str> {
    let entry = records::parse(line.as_bytes()).ok_or("it is not JSON")?;
    let (number, hash) = mark_of(&entry).ok_or("it has no number and hash")?;
    let (body, rest) = line.rsplit_once(HASH).ok_or("it does not end in a hash")?;
    if rest != format!("{hash}\"}}") {
        return Err("it does not end in a hash");
    }
    if state::checksum(format!("{body}}}").as_bytes()) != hash {
        return Err("its hash is not its own: it was changed");
    }
    if let Some((last, hash)) = before
        && (last.checked_add(1) != Some(number) || text(&entry, "prev") != hash)
    {
        return Err("it does not follow the line before: something is missing or was put in");
    }
    Ok((entry, (number, hash)))
}

fn mark_of(entry: &Value) -> Option<(u64, String)> {
    Some((entry.get("seq")?.as_u64()?, entry.get("hash")?.as_str()?.to_owned()))
}

/// How many lines the broker has written, by its own account, and how many bytes of this file they take.
fn anchored(house: &House) -> (u64, Option<u64>) {
    let bytes = files::read_most(&house.anchor(), ANCHOR_BYTES).ok().flatten().unwrap_or_default();
    let anchor: Value = serde_json::from_slice(&bytes).unwrap_or_default();
    let lines = anchor.get("end").and_then(|end| end.get("seq")).and_then(Value::as_u64).unwrap_or(0);
    (lines, anchor.get("bytes").and_then(Value::as_u64))
}

impl Audit {
    pub fn open(house: &House, since: &str) -> Self {
        let known = anchored(house);
        let file = files::open(&house.ledger()).ok().flatten();
        let lines = file.map(|file| Lines::new(file, LONGEST_LINE));
        Self { since: since.to_owned(), lines, known, ..Self::default() }
    }

    /// The next thing the owner should know of by itself. Once there is none, all is counted.
    pub fn next_event(&mut self) -> Option<Value> {
        loop {
            let line = match self.lines.as_mut().map(Lines::next_line) {
                Some(Next::Line(line)) => Some(String::from_utf8_lossy(line).into_owned()),
                Some(Next::Long) => None,
                Some(Next::End) | None => {
                    self.ends();
                    return None;
                }
            };
            self.number += 1;
            let line = line.unwrap_or_default();
            let (entry, end) = match follows(&line, self.end.as_ref()) {
                Ok((entry, end)) => (entry, Some(end)),
                Err(why) => {
                    self.broken.get_or_insert(format!("line {}: {why}", self.number));
                    let entry = records::parse(line.as_bytes()).unwrap_or(Value::Null);
                    let end = mark_of(&entry);
                    (entry, end)
                }
            };
            self.end = end;
            if let Some(event) = self.take(entry) {
                return Some(event);
            }
        }
    }

    /// What can be said of the chain once all of it was seen.
    fn ends(&mut self) {
        let bytes = self.lines.as_ref().map_or(0, Lines::at);
        if let Some(lines) = &self.lines {
            // A line that has no end yet is being written, if it begins as one.
            let begins = lines.torn().iter().zip(BEGINNING).all(|(there, wanted)| there == wanted);
            if !begins || lines.is_too_long() {
                self.broken.get_or_insert(format!("line {}: it does not begin as one", self.number + 1));
            }
        }
        let last = self.end.as_ref().map_or(0, |(number, _)| *number);
        let (known, known_bytes) = self.known;
        if let Some(known) = known_bytes.filter(|known| *known > bytes) {
            self.broken.get_or_insert(format!("it has {bytes} bytes, and the broker knows of {known}"));
        }
        // Where a new file was begun there may be no line in it yet.
        if known > last && known_bytes != Some(0) {
            self.broken.get_or_insert(format!("it ends at line {last}, and the broker knows of {known}"));
        }
    }

    /// Counts an entry; the event it is, where the owner should know of it by itself: a refusal, an ask, an answer.
    fn take(&mut self, entry: Value) -> Option<Value> {
        if text(&entry, "at") < self.since.as_str() {
            return None;
        }
        let number = |name: &str| entry.get(name).and_then(Value::as_u64).unwrap_or(0);
        self.bytes_out = self.bytes_out.saturating_add(number("bytes_out"));
        self.bytes_in = self.bytes_in.saturating_add(number("bytes_in"));
        let event = text(&entry, "event").to_owned();
        let service = text(&entry, "service").to_owned();
        match event.as_str() {
            "reserve" => {
                self.reserved.insert(text(&entry, "call").to_owned(), number("cost_micro_usd"));
            }
            "settle" => {
                self.reserved.remove(text(&entry, "call"));
                self.spent_micro_usd = self.spent_micro_usd.saturating_add(number("cost_micro_usd"));
                *self.calls.entry(service).or_default() += 1;
            }
            "call" | "fetch" | "registry" | "purpose" => {
                let call = text(&entry, "call");
                if call.is_empty() || self.counted.insert(call.to_owned()) {
                    *self.calls.entry(if service.is_empty() { event } else { service }).or_default() += 1;
                }
            }
            "refuse" => {
                self.refusals += 1;
                return Some(with_what("refused", entry));
            }
            "ask" => {
                self.asks += 1;
                return Some(with_what("asked", entry));
            }
            "answer" => return Some(with_what("answered", entry)),
            _ => {}
        }
        None
    }

    /// Of calls nobody knows the end of: they count as they were reserved.
    fn unsettled(&self) -> u64 {
        self.reserved.values().fold(0, |sum, open| sum.saturating_add(*open))
    }

    /// For programs.
    pub fn sum(&self) -> Value {
        json!({
            "spent_usd": dollars(self.spent_micro_usd), "unsettled_usd": dollars(self.unsettled()), "calls": self.calls, "bytes_out": self.bytes_out,
            "bytes_in": self.bytes_in, "refusals": self.refusals, "asks": self.asks,
            "chain": self.broken.as_deref().map_or("whole".to_owned(), |why| format!("broken: {why}")),
        })
    }

    /// For people; nothing where nothing went out.
    pub fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        if !self.calls.is_empty() || self.refusals + self.asks > 0 {
            let calls: Vec<String> =
                self.calls.iter().map(|(name, count)| format!("{name} {count}")).collect();
            let calls = if calls.is_empty() { "none".into() } else { calls.join(", ") };
            let unsettled = match self.unsettled() {
                0 => String::new(),
                open => format!(" and ${:.4} for calls whose end nobody knows", dollars(open)),
            };
            lines.push(format!(
                "broker: spent ${:.4}{unsettled}; calls: {calls}; {} B out, {} B in; {} refused, {} asked",
                dollars(self.spent_micro_usd),
                self.bytes_out,
                self.bytes_in,
                self.refusals,
                self.asks
            ));
        }
        if let Some(why) = &self.broken {
            lines.push(format!("THE LEDGER'S CHAIN IS BROKEN: .self/ledger.jsonl, {why}"));
        }
        lines
    }
}

fn dollars(micro: u64) -> f64 {
    micro as f64 / 1e6
}
