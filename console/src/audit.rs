//! The broker's ledger for the owner: calls, their cost, refusals, and whether its hash chain is intact.
//!
//! Invariant: nothing is written; an unreadable line is counted and skipped, and the chain is reported as broken
//! there.

use house::lines::Lines;
use house::records::ledger::{Booked, Entry};
use house::records::{self, view::field};
use house::{House, files, sealed};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;

/// Longest line of a ledger, in bytes; the broker writes none that is longer.
const LONGEST_LINE: usize = 1 << 20;
/// Largest anchor file the broker itself reads, in bytes.
const ANCHOR_BYTES: u64 = 1 << 20;
/// The end of a line: the hash of everything before it, and a brace.
const HASH: &str = ",\"hash\":\"";
/// The beginning of a line.
const BEGINNING: &[u8] = b"{\"seq\":";
/// The end of the name of a ledger that its owner closed.
const CLOSED: &str = "-closed.jsonl";
/// Outcomes with which a call ends.
const ENDS: [&str; 5] = ["answered", "not sent", "unsure", "redirect not followed", "denied there"];

/// Most kinds of refusals that are listed; of more only the number is told.
const MOST_KINDS: usize = 500;
/// Most asks and answers that are listed.
const MOST_EVENTS: usize = 2_000;

/// Reads the ledger, all its files in order, and sums it up.
#[derive(Default)]
pub struct Audit {
    since: String,
    /// Number and hash of the last line, which the next one has to follow.
    end: Option<(u64, String)>,
    /// Number of lines and bytes in the broker's anchor before reading: lines written meanwhile only add to them.
    known: (u64, Option<u64>),
    calls: BTreeMap<String, u64>,
    /// Calls whose outcome was not read yet: bytes sent, and money reserved.
    open: BTreeMap<String, (u64, u64)>,
    bytes_out: u64,
    bytes_in: u64,
    spent_micro_usd: u64,
    refusals: u64,
    /// By what was refused and why: the first such line, the time of the last, and their number.
    refused: BTreeMap<[String; 4], (Value, String, u64)>,
    asks: u64,
    /// Events listed one by one, in order of time.
    pub events: Vec<Value>,
    /// Where and how the chain is first broken.
    pub broken: Option<String>,
}

/// Sums up everything since a time. The chain is checked from its first line on, through every file.
pub fn read(house: &House, since: &str) -> Audit {
    let mut audit = Audit { since: since.to_owned(), known: anchored(house), ..Audit::default() };
    for path in records::older(&house.ledger(), "") {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        audit.through(&path, &format!("{name}, "));
        // The owner closed this file on purpose: the next one begins a new chain.
        if name.ends_with(CLOSED) {
            (audit.end, audit.broken) = (None, None);
        }
    }
    let bytes = audit.through(&house.ledger(), "");
    audit.ends(bytes);
    let refused = std::mem::take(&mut audit.refused);
    audit.events.extend(refused.into_values().map(folded));
    audit.events.sort_by(|one, other| Entry(one).at().cmp(Entry(other).at()));
    audit
}

/// Many refusals of one kind as a single event, so that they do not hide other events.
fn folded((mut first, last, count): (Value, String, u64)) -> Value {
    if let Some(fields) = first.as_object_mut().filter(|_| count > 1) {
        fields.insert("count".into(), count.into());
        fields.insert("until".into(), last.into());
    }
    with_what("refused", first)
}

/// The entry in a line that correctly follows the one before, and what the next line must follow.
fn follows(line: &str, before: Option<&(u64, String)>) -> Result<(Value, (u64, String)), &'static str> {
    let entry = records::parse(line.as_bytes()).ok_or("it is not JSON")?;
    let (number, hash) = mark_of(&entry).ok_or("it has no number and hash")?;
    let (body, rest) = line.rsplit_once(HASH).ok_or("it does not end in a hash")?;
    if rest != format!("{hash}\"}}") {
        return Err("it does not end in a hash");
    }
    if sealed::checksum(format!("{body}}}").as_bytes()) != hash {
        return Err("its hash is not its own: it was changed");
    }
    if let Some((last, hash)) = before
        && (last.checked_add(1) != Some(number) || Entry(&entry).prev() != hash)
    {
        return Err("it does not follow the line before: something is missing or was put in");
    }
    Ok((entry, (number, hash)))
}

fn mark_of(entry: &Value) -> Option<(u64, String)> {
    Some((Entry(entry).seq()?, Entry(entry).hash()?.to_owned()))
}

/// How many lines the broker says it has written, and how many bytes of the current file they take.
fn anchored(house: &House) -> (u64, Option<u64>) {
    let bytes = files::read_most(&house.anchor(), ANCHOR_BYTES).ok().flatten().unwrap_or_default();
    let anchor: Value = serde_json::from_slice(&bytes).unwrap_or_default();
    let end: Entry = field(&anchor, "end");
    (end.seq().unwrap_or(0), field(&anchor, "bytes"))
}

impl Audit {
    /// Reads a file to its end; returns its length.
    fn through(&mut self, path: &Path, name: &str) -> u64 {
        let Some(file) = files::open(path).ok().flatten() else { return 0 };
        let (mut lines, mut number) = (Lines::new(file, LONGEST_LINE), 0);
        lines.each(|line| {
            let line = String::from_utf8_lossy(line.unwrap_or_default()).into_owned();
            number += 1;
            let (entry, end) = match follows(&line, self.end.as_ref()) {
                Ok((entry, end)) => (entry, Some(end)),
                Err(why) => {
                    self.broken.get_or_insert(format!("{name}line {number}: {why}"));
                    let entry = records::parse(line.as_bytes()).unwrap_or(Value::Null);
                    let end = mark_of(&entry);
                    (entry, end)
                }
            };
            self.end = end;
            if Entry(&entry).at() >= self.since.as_str() {
                self.take(entry);
            }
            true
        });
        // An unfinished last line is one being written, if it begins like a line.
        let begins = lines.torn().iter().zip(BEGINNING).all(|(there, wanted)| there == wanted);
        if !begins || lines.is_too_long() {
            self.broken.get_or_insert(format!("{name}line {}: it does not begin as one", number + 1));
        }
        lines.at()
    }

    /// Compares the end of the chain with the anchor, once every file is read.
    fn ends(&mut self, bytes: u64) {
        let last = self.end.as_ref().map_or(0, |(number, _)| *number);
        let (known, known_bytes) = self.known;
        if let Some(known) = known_bytes.filter(|known| *known > bytes) {
            self.broken.get_or_insert(format!("it has {bytes} bytes, and the broker knows of {known}"));
        }
        // A new file may have been begun without a line yet.
        if known > last && known_bytes != Some(0) {
            self.broken.get_or_insert(format!("it ends at line {last}, and the broker knows of {known}"));
        }
    }

    /// Counts an entry, and keeps it if it should be listed.
    fn take(&mut self, line: Value) {
        let entry = Entry(&line);
        match entry.booked() {
            Booked::Reserve => {
                self.begins(entry);
            }
            booked @ (Booked::Settle | Booked::Unsent) => {
                let (out, _) = self.open.remove(entry.call()).unwrap_or_default();
                add(&mut self.spent_micro_usd, entry.cost_micro_usd());
                if booked == Booked::Settle {
                    self.count(entry);
                    add(&mut self.bytes_out, out.max(entry.bytes_out()));
                    add(&mut self.bytes_in, entry.bytes_in());
                }
            }
            Booked::Call if !entry.call().is_empty() => self.call(entry),
            // A message's bytes are among those of its channel's connections.
            Booked::Purpose | Booked::Message => self.count(entry),
            Booked::Call | Booked::Fetch | Booked::Registry | Booked::Channel => {
                self.count(entry);
                add(&mut self.bytes_out, entry.bytes_out());
                add(&mut self.bytes_in, entry.bytes_in());
            }
            Booked::Refuse => self.refuse(line),
            Booked::Ask => {
                self.asks += 1;
                self.keep(with_what("asked", line));
            }
            Booked::Answer => self.keep(with_what("answered", line)),
            Booked::Other(_) => {}
        }
    }

    fn keep(&mut self, event: Value) {
        if self.events.len() < MOST_EVENTS {
            self.events.push(event);
        }
    }

    /// Counts a call: it has a line at its beginning, one for each new try, and one at its end.
    fn call(&mut self, entry: Entry) {
        if !ENDS.contains(&entry.decision()) {
            if self.begins(entry) {
                self.count(entry);
            }
            return;
        }
        let begun = self.open.remove(entry.call());
        if begun.is_none() {
            self.count(entry);
        }
        add(&mut self.bytes_in, entry.bytes_in());
        if entry.decision() != "not sent" {
            add(&mut self.bytes_out, begun.map_or(0, |(out, _)| out).max(entry.bytes_out()));
        }
    }

    /// Notes a call's beginning; false if it was under way already.
    fn begins(&mut self, entry: Entry) -> bool {
        let begun = (entry.bytes_out(), entry.cost_micro_usd());
        self.open.insert(entry.call().to_owned(), begun).is_none()
    }

    fn count(&mut self, entry: Entry) {
        let name = Some(entry.service()).filter(|name| !name.is_empty());
        let calls = self.calls.entry(name.unwrap_or(entry.event()).to_owned()).or_default();
        add(calls, entry.times());
    }

    fn refuse(&mut self, line: Value) {
        let entry = Entry(&line);
        let (at, times) = (entry.at().to_owned(), entry.times());
        add(&mut self.refusals, times);
        let kind = [entry.service(), entry.method(), entry.path(), entry.decision()].map(str::to_owned);
        if let Some((_, last, count)) = self.refused.get_mut(&kind) {
            (*last, *count) = (at, count.saturating_add(times));
        } else if self.refused.len() < MOST_KINDS {
            self.refused.insert(kind, (line, at, times));
        }
    }

    /// The money reserved for calls whose outcome is unknown: it counts as spent.
    fn unsettled(&self) -> u64 {
        self.open.values().fold(0, |sum, (_, reserved)| sum.saturating_add(*reserved))
    }

    fn all_bytes_out(&self) -> u64 {
        self.open.values().fold(self.bytes_out, |sum, (out, _)| sum.saturating_add(*out))
    }

    /// The sums as JSON.
    pub fn sum(&self) -> Value {
        json!({
            "spent_usd": dollars(self.spent_micro_usd), "unsettled_usd": dollars(self.unsettled()), "calls": self.calls, "bytes_out": self.all_bytes_out(),
            "bytes_in": self.bytes_in, "refusals": self.refusals, "asks": self.asks,
            "chain": self.broken.as_deref().map_or("whole".to_owned(), |why| format!("broken: {why}")),
        })
    }

    /// The sums for people; empty if nothing went out.
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
                self.all_bytes_out(),
                self.bytes_in,
                self.refusals,
                self.asks
            ));
        }
        if let Some(why) = &self.broken {
            let file = if why.starts_with("ledger-") { ".self/" } else { ".self/ledger.jsonl, " };
            lines.push(format!("THE LEDGER'S CHAIN IS BROKEN: {file}{why}"));
        }
        lines
    }
}

fn add(sum: &mut u64, more: u64) {
    *sum = sum.saturating_add(more);
}

fn dollars(micro: u64) -> f64 {
    micro as f64 / 1e6
}

pub fn with_what(what: &str, mut event: Value) -> Value {
    if let Some(fields) = event.as_object_mut() {
        fields.insert("what".into(), what.into());
    }
    event
}
