//! The broker's ledger as the owner reads it: what went out, what it cost, what was refused, and whether the chain holds.
//!
//! Invariant: only read; a line that cannot be read is counted and passed over, and the chain is said to be broken there.

use guardian::act::state;
use house::lines::{Lines, Next};
use house::records::{self, text};
use house::{House, files};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;

/// Longer lines are none of the broker's, in bytes.
const LONGEST_LINE: usize = 1 << 20;
/// The largest anchor the broker itself takes, in bytes.
const ANCHOR_BYTES: u64 = 1 << 20;
/// What a line ends in: the hash of all that stands before, closed by a brace.
const HASH: &str = ",\"hash\":\"";
/// What a line begins with.
const BEGINNING: &[u8] = b"{\"seq\":";
/// What the name of a ledger ends in that its owner closed.
const CLOSED: &str = "-closed.jsonl";
/// What is said of a call at its end.
const ENDS: [&str; 5] = ["answered", "not sent", "unsure", "redirect not followed", "denied there"];

/// Kinds of refusals that are told one by one; of more only their number.
const MOST_KINDS: usize = 500;
/// Asks and answers that are.
const MOST_EVENTS: usize = 2_000;

/// The ledger on its way through, all files of it, and what it came to so far.
#[derive(Default)]
pub struct Audit {
    since: String,
    /// What the next line has to follow.
    end: Option<(u64, String)>,
    /// What the broker knew of before we began: what is written meanwhile is more, never less.
    known: (u64, Option<u64>),
    calls: BTreeMap<String, u64>,
    /// Calls whose end was not read yet: bytes out, and what was reserved for it.
    open: BTreeMap<String, (u64, u64)>,
    bytes_out: u64,
    bytes_in: u64,
    spent_micro_usd: u64,
    refusals: u64,
    /// By what was refused and why: the first line of it, when the last was, and how many there are.
    refused: BTreeMap<[String; 4], (Value, String, u64)>,
    asks: u64,
    /// What is told by itself, in order of time.
    pub events: Vec<Value>,
    /// Where the chain is broken first, and how.
    pub broken: Option<String>,
}

/// Everything since a time; the chain is followed from the first line there is, through every file.
pub fn read(house: &House, since: &str) -> Audit {
    let mut audit = Audit { since: since.to_owned(), known: anchored(house), ..Audit::default() };
    for path in records::older(&house.ledger(), "") {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        audit.through(&path, &format!("{name}, "));
        // What was closed the owner knows of: a new chain begins after it.
        if name.ends_with(CLOSED) {
            (audit.end, audit.broken) = (None, None);
        }
    }
    let bytes = audit.through(&house.ledger(), "");
    audit.ends(bytes);
    let refused = std::mem::take(&mut audit.refused);
    audit.events.extend(refused.into_values().map(folded));
    audit.events.sort_by(|one, other| text(one, "at").cmp(text(other, "at")));
    audit
}

/// What was refused over and over, as one event: told one by one they would drown what else happened.
fn folded((mut first, last, count): (Value, String, u64)) -> Value {
    if let Some(fields) = first.as_object_mut().filter(|_| count > 1) {
        fields.insert("count".into(), count.into());
        fields.insert("until".into(), last.into());
    }
    with_what("refused", first)
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
    /// Reads a file to its end; how many bytes it has.
    fn through(&mut self, path: &Path, name: &str) -> u64 {
        let Some(file) = files::open(path).ok().flatten() else { return 0 };
        let (mut lines, mut number) = (Lines::new(file, LONGEST_LINE), 0);
        loop {
            let line = match lines.next_line() {
                Next::Line(line) => String::from_utf8_lossy(line).into_owned(),
                Next::Long => String::new(),
                Next::End => break,
            };
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
            if text(&entry, "at") >= self.since.as_str() {
                self.take(entry);
            }
        }
        // A line that has no end yet is being written, if it begins as one.
        let begins = lines.torn().iter().zip(BEGINNING).all(|(there, wanted)| there == wanted);
        if !begins || lines.is_too_long() {
            self.broken.get_or_insert(format!("{name}line {}: it does not begin as one", number + 1));
        }
        lines.at()
    }

    /// What can be said of the chain once all of it was seen.
    fn ends(&mut self, bytes: u64) {
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

    /// Counts an entry, and keeps what the owner should know of by itself.
    fn take(&mut self, entry: Value) {
        match text(&entry, "event") {
            "reserve" => {
                self.begins(&entry);
            }
            "settle" => {
                let (out, _) = self.open.remove(text(&entry, "call")).unwrap_or_default();
                add(&mut self.spent_micro_usd, number(&entry, "cost_micro_usd"));
                if text(&entry, "decision") != "never left" {
                    self.count(&entry);
                    add(&mut self.bytes_out, out.max(number(&entry, "bytes_out")));
                    add(&mut self.bytes_in, number(&entry, "bytes_in"));
                }
            }
            "call" if !text(&entry, "call").is_empty() => self.call(&entry),
            "purpose" => self.count(&entry),
            "call" | "fetch" | "registry" => {
                self.count(&entry);
                add(&mut self.bytes_out, number(&entry, "bytes_out"));
                add(&mut self.bytes_in, number(&entry, "bytes_in"));
            }
            "refuse" => self.refuse(entry),
            "ask" => {
                self.asks += 1;
                self.keep(with_what("asked", entry));
            }
            "answer" => self.keep(with_what("answered", entry)),
            _ => {}
        }
    }

    fn keep(&mut self, event: Value) {
        if self.events.len() < MOST_EVENTS {
            self.events.push(event);
        }
    }

    /// A call has a line when it begins, another each time it is tried anew, and one at its end.
    fn call(&mut self, entry: &Value) {
        if !ENDS.contains(&text(entry, "decision")) {
            if self.begins(entry) {
                self.count(entry);
            }
            return;
        }
        let begun = self.open.remove(text(entry, "call"));
        if begun.is_none() {
            self.count(entry);
        }
        add(&mut self.bytes_in, number(entry, "bytes_in"));
        if text(entry, "decision") != "not sent" {
            add(&mut self.bytes_out, begun.map_or(0, |(out, _)| out).max(number(entry, "bytes_out")));
        }
    }

    /// Whether it was not under way before.
    fn begins(&mut self, entry: &Value) -> bool {
        let begun = (number(entry, "bytes_out"), number(entry, "cost_micro_usd"));
        self.open.insert(text(entry, "call").to_owned(), begun).is_none()
    }

    fn count(&mut self, entry: &Value) {
        let name = Some(text(entry, "service")).filter(|name| !name.is_empty());
        *self.calls.entry(name.unwrap_or(text(entry, "event")).to_owned()).or_default() += 1;
    }

    fn refuse(&mut self, entry: Value) {
        self.refusals += 1;
        let kind = ["service", "method", "path", "decision"].map(|name| text(&entry, name).to_owned());
        let at = text(&entry, "at").to_owned();
        if let Some((_, last, count)) = self.refused.get_mut(&kind) {
            (*last, *count) = (at, *count + 1);
        } else if self.refused.len() < MOST_KINDS {
            self.refused.insert(kind, (entry, at, 1));
        }
    }

    /// Of calls nobody knows the end of: they count as they were reserved.
    fn unsettled(&self) -> u64 {
        self.open.values().fold(0, |sum, (_, reserved)| sum.saturating_add(*reserved))
    }

    fn all_bytes_out(&self) -> u64 {
        self.open.values().fold(self.bytes_out, |sum, (out, _)| sum.saturating_add(*out))
    }

    /// For programs.
    pub fn sum(&self) -> Value {
        json!({
            "spent_usd": dollars(self.spent_micro_usd), "unsettled_usd": dollars(self.unsettled()), "calls": self.calls, "bytes_out": self.all_bytes_out(),
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

fn number(entry: &Value, name: &str) -> u64 {
    entry.get(name).and_then(Value::as_u64).unwrap_or(0)
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
