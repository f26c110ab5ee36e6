//! The broker's ledger as the owner reads it: what went out, what it cost, what was refused, and whether the chain holds.
//!
//! Invariant: only read; a line that cannot be read is counted and passed over, and the chain is said to be broken there.

use crate::files;
use crate::house::House;
use crate::records::text;
use crate::state;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader, Read};

/// Longer lines are none of the broker's, in bytes.
const LONGEST_LINE: u64 = 1 << 20;
/// What a line ends in: the hash of all that stands before, closed by a brace.
const HASH: &str = ",\"hash\":\"";
/// What a line begins with.
const BEGINNING: &[u8] = b"{\"seq\":";

#[derive(Default)]
pub struct Audit {
    /// What the owner should know of one by one: refusals, asks and answers.
    pub events: Vec<Value>,
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
    let mut audit = Audit::default();
    let mut end: Option<(u64, String)> = None;
    // Before the ledger: what is written meanwhile is more than the anchor says, never less.
    let (known, known_bytes) = anchored(house);
    let mut bytes = 0;
    if let Ok(Some(file)) = files::open(&house.ledger()) {
        let (mut reader, mut number) = (BufReader::new(file), 0_u64);
        loop {
            let mut line = Vec::new();
            let read = reader.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut line).unwrap_or(0);
            bytes += read as u64;
            // A line that has no end yet is being written, if it begins as one.
            if read == 0 || line.pop_if(|last| *last == b'\n').is_none() {
                if !line.iter().zip(BEGINNING).all(|(there, wanted)| there == wanted) {
                    audit.broken.get_or_insert(format!("line {}: it does not begin as one", number + 1));
                }
                break;
            }
            number += 1;
            let line = String::from_utf8_lossy(&line);
            match follows(&line, end.as_ref()) {
                Ok((entry, next)) => {
                    end = Some(next);
                    audit.take(entry, since);
                }
                Err(why) => {
                    audit.broken.get_or_insert(format!("line {number}: {why}"));
                    let entry = serde_json::from_str::<Value>(&line).unwrap_or(Value::Null);
                    end = mark_of(&entry);
                    audit.take(entry, since);
                }
            }
        }
    }
    let last = end.map_or(0, |(number, _)| number);
    if known_bytes.is_some_and(|known| known > bytes) {
        let known = known_bytes.unwrap_or_default();
        audit.broken.get_or_insert(format!("it has {bytes} bytes, and the broker knows of {known}"));
    }
    // Where a new file was begun there may be no line in it yet.
    if known > last && known_bytes != Some(0) {
        audit.broken.get_or_insert(format!("it ends at line {last}, and the broker knows of {known}"));
    }
    audit
}

/// The entry of a line that follows the one before, and what the next one must follow.
fn follows(line: &str, before: Option<&(u64, String)>) -> Result<(Value, (u64, String)), &'static str> {
    let entry: Value = serde_json::from_str(line).map_err(|_| "it is not JSON")?;
    let (number, hash) = mark_of(&entry).ok_or("it has no number and hash")?;
    let (body, rest) = line.rsplit_once(HASH).ok_or("it does not end in a hash")?;
    if rest != format!("{hash}\"}}") {
        return Err("it does not end in a hash");
    }
    if state::checksum(format!("{body}}}").as_bytes()) != hash {
        return Err("its hash is not its own: it was changed");
    }
    if let Some((last, hash)) = before
        && (number != last + 1 || text(&entry, "prev") != hash)
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
    let bytes = files::read_small(&house.anchor()).ok().flatten().unwrap_or_default();
    let anchor: Value = serde_json::from_slice(&bytes).unwrap_or_default();
    let lines = anchor.get("end").and_then(|end| end.get("seq")).and_then(Value::as_u64).unwrap_or(0);
    (lines, anchor.get("bytes").and_then(Value::as_u64))
}

impl Audit {
    fn take(&mut self, entry: Value, since: &str) {
        if text(&entry, "at") < since {
            return;
        }
        let number = |name: &str| entry.get(name).and_then(Value::as_u64).unwrap_or(0);
        self.bytes_out += number("bytes_out");
        self.bytes_in += number("bytes_in");
        let event = text(&entry, "event").to_owned();
        let service = text(&entry, "service").to_owned();
        match event.as_str() {
            "reserve" => {
                self.reserved.insert(text(&entry, "call").to_owned(), number("cost_micro_usd"));
            }
            "settle" => {
                self.reserved.remove(text(&entry, "call"));
                self.spent_micro_usd += number("cost_micro_usd");
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
                self.events.push(with_what("refused", entry));
            }
            "ask" => {
                self.asks += 1;
                self.events.push(with_what("asked", entry));
            }
            "answer" => self.events.push(with_what("answered", entry)),
            _ => {}
        }
    }

    /// Of calls nobody knows the end of: they count as they were reserved.
    fn unsettled(&self) -> u64 {
        self.reserved.values().sum()
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

fn with_what(what: &str, mut entry: Value) -> Value {
    if let Some(fields) = entry.as_object_mut() {
        fields.insert("what".into(), what.into());
    }
    entry
}
