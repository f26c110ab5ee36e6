//! Folds what a life leaves in files and what the ledger says into observations: an invariant was kept, or broken. Pure.
//!
//! Invariant: what cannot be told is not observed. A life that was cut short, a mind that is away and a pause say nothing.

use crate::decide::conduct::Invariant;
use house::clock::Millis;
use serde_json::Value;
use std::collections::{HashMap, VecDeque};

/// Thoughts and words that are watched at once; older ones are given up.
const MOST_WATCHED: usize = 64;
/// Broken ones that are kept as evidence, and characters of each.
const MOST_EXAMPLES: usize = 6;
const EXAMPLE_CHARS: usize = 200;
/// A rest says that a turn is over only once it has lasted so long: files are written in turn, and looked at in turn.
const AT_REST_MS: Millis = 500;
/// Time a word may lie unheard beside a life that rests, and beside one that is busy.
const HEARD_AT_REST_MS: Millis = 30_000;
const HEARD_MS: Millis = 15 * 60_000;
/// Time after a reminder is due until it counts as forgotten.
const REMINDED_MS: Millis = 120_000;

/// A thought whose calls are not all seen to have ended.
#[derive(Debug)]
struct Thought {
    number: u64,
    calls: usize,
    results: usize,
}

/// A word of the owner's.
#[derive(Debug)]
struct Word {
    text: String,
    thread: String,
    since: Millis,
    /// Finished turns and time when it was seen in memory.
    heard: Option<(u64, Millis)>,
}

/// What the creature says of itself just now.
#[derive(Clone, Copy, Debug, Default)]
pub struct Claimed {
    pub rests: bool,
    pub turns: u64,
    /// Length of the rest it claims, in milliseconds.
    pub rest_ms: Millis,
}

/// What is known of one life's conduct.
#[derive(Debug, Default)]
pub struct Witness {
    life: u64,
    thoughts: VecDeque<Thought>,
    words: VecDeque<Word>,
    /// Next time of each reminder that stands, in wall-clock milliseconds.
    reminders: HashMap<String, i64>,
    /// Since when it rests, and whether this rest was looked at.
    rests: Option<(Millis, bool)>,
    /// Since the last rest: paid calls, records of any kind that tells of something done, and what both say it cost, in
    /// millionths of a dollar; none where no thought of a model is on record.
    paid: (u32, u64),
    records: (u32, Option<u64>),
    seen: Vec<(Invariant, bool)>,
    examples: VecDeque<String>,
}

impl Witness {
    pub fn of(life: u64) -> Self {
        Self { life, ..Self::default() }
    }

    /// Observations since the last call.
    pub fn take(&mut self) -> Vec<(Invariant, bool)> {
        std::mem::take(&mut self.seen)
    }

    /// The newest broken ones, a line each.
    pub fn examples(&self) -> String {
        self.examples.iter().map(String::as_str).collect::<Vec<_>>().join("\n")
    }

    fn note(&mut self, invariant: Invariant, kept: bool, example: impl FnOnce() -> String) {
        self.seen.push((invariant, kept));
        if !kept {
            self.examples.push_back(house::bounds::brief(&example(), EXAMPLE_CHARS));
            let over = self.examples.len().saturating_sub(MOST_EXAMPLES);
            self.examples.drain(..over);
        }
    }

    /// A line that the owner, or a program of the owner's, put into the inbox.
    pub fn said(&mut self, line: &[u8], now: Millis) {
        let Ok(line) = std::str::from_utf8(line) else { return };
        let read: Option<Value> = serde_json::from_str(line).ok();
        let (text, thread) = match &read {
            Some(Value::Object(fields)) => {
                let field = |name: &str| fields.get(name).and_then(Value::as_str).unwrap_or_default();
                (field("text").to_owned(), field("thread").to_owned())
            }
            Some(_) => return,
            None => (line.to_owned(), String::new()),
        };
        let text = text.trim().to_owned();
        if text.is_empty() {
            return;
        }
        let thread = if thread.is_empty() { "main".to_owned() } else { thread };
        self.words.push_back(Word { text, thread, since: now, heard: None });
        let over = self.words.len().saturating_sub(MOST_WATCHED);
        self.words.drain(..over);
    }

    /// A record of memory or of the bookkeeping.
    pub fn recorded(&mut self, record: &Value, claimed: Claimed, now: Millis) {
        if record.get("life").and_then(Value::as_u64) != Some(self.life) {
            return;
        }
        let data = record.get("data").unwrap_or(&Value::Null);
        let text = |name: &str| data.get(name).and_then(Value::as_str).unwrap_or_default();
        let number = data.get("thought").and_then(Value::as_u64);
        if let Some(usage) = data.get("usage").filter(|usage| usage.is_object()) {
            let cost = usage.get("cost_usd").and_then(Value::as_f64).filter(|cost| (0.0..1e6).contains(cost));
            if let Some(cost) = cost {
                self.records.1 = Some(self.records.1.unwrap_or(0) + (cost * 1e6) as u64);
            }
        }
        let kind = record.get("kind").and_then(Value::as_str).unwrap_or_default();
        // A wake is noted whether anything came of it or not.
        self.records.0 += u32::from(kind != "heartbeat");
        match (kind, number) {
            ("thought", Some(number)) if data.get("garbled").is_none() => {
                // A mind that is asked says what it cost, be it nothing.
                if text("mind") != "instinct" {
                    self.records.1 = self.records.1.or(Some(0));
                }
                let calls = data.get("tool_calls").and_then(Value::as_array).map_or(0, Vec::len);
                self.thoughts.push_back(Thought { number, calls, results: 0 });
                if self.thoughts.len() > MOST_WATCHED {
                    self.thoughts.pop_front();
                }
            }
            ("action", Some(number)) => {
                let of = self.thoughts.iter_mut().find(|thought| thought.number == number);
                of.into_iter().for_each(|thought| thought.results += 1);
            }
            ("message", _) if text("from") == "owner" => self.heard(text("text"), claimed, now),
            ("message", _) if text("from") == "creature" => {
                self.told(text("kind"), text("thread"), text("text"))
            }
            _ => {}
        }
    }

    fn heard(&mut self, text: &str, claimed: Claimed, now: Millis) {
        let is_it = |word: &&mut Word| word.heard.is_none() && is_same(&word.text, text.trim());
        let Some(word) = self.words.iter_mut().find(is_it) else { return };
        word.heard = Some((claimed.turns, now));
        self.note(Invariant::Heard, true, String::new);
    }

    fn told(&mut self, kind: &str, thread: &str, text: &str) {
        // An answer has no action of its own.
        if kind == "answer" {
            let open = self.thoughts.iter_mut().rev().find(|thought| thought.results < thought.calls);
            open.into_iter().for_each(|thought| thought.results += 1);
        }
        let thread = if thread.is_empty() { "main" } else { thread };
        let waiting = self.words.len();
        // An answer may come before the record of the word was looked at: words of the thread are answered all the same.
        self.words.retain(|word| word.thread != thread);
        let answered = waiting - self.words.len();
        if kind == "waiting" {
            return;
        }
        let is_empty = text.trim().is_empty();
        if is_empty || answered > 0 {
            self.note(Invariant::Answered, !is_empty, || format!("an empty {kind} on thread {thread}"));
        }
    }

    /// A line of the ledger.
    pub fn paid(&mut self, line: &Value) {
        let number = |name: &str| line.get(name).and_then(Value::as_u64);
        let is_settled = line.get("event").and_then(Value::as_str) == Some("settle");
        let by_usage =
            line.get("decision").and_then(Value::as_str).is_some_and(|how| how.starts_with("by usage"));
        if is_settled && by_usage && number("life") == Some(self.life) {
            self.paid.0 += 1;
            self.paid.1 = self.paid.1.saturating_add(number("cost_micro_usd").unwrap_or(0));
        }
    }

    /// The reminders that stand: `wall_ms` is the time of day they are meant in.
    pub fn reminders(&mut self, agenda: &Value, wall_ms: i64, lived_ms: Millis) {
        let list = agenda.pointer("/reminders/list").and_then(Value::as_array);
        let mut standing = HashMap::new();
        for reminder in list.into_iter().flatten().take(1_000) {
            let text = |name: &str| reminder.get(name).and_then(Value::as_str);
            let next = text("next").filter(|_| text("finished").is_none());
            let next = next.and_then(|next| next.parse::<jiff::Timestamp>().ok());
            if let (Some(id), Some(next)) = (text("id"), next) {
                standing.insert(id.to_owned(), next.as_millisecond());
            }
        }
        let late = wall_ms - REMINDED_MS as i64;
        let before = std::mem::take(&mut self.reminders);
        for (id, next) in &before {
            match standing.get(id) {
                Some(same) if same == next => {}
                // It was told, or the owner took it back; an early change says nothing.
                _ if *next <= wall_ms => self.note(Invariant::Reminded, true, String::new),
                _ => {}
            }
        }
        // A life that just began may still be at what lay there before.
        if lived_ms > REMINDED_MS {
            let forgotten: Vec<String> =
                standing.iter().filter(|(_, next)| **next <= late).map(|(id, _)| id.clone()).collect();
            for id in forgotten {
                standing.remove(&id);
                self.note(Invariant::Reminded, false, || format!("reminder {id} is due and was not told"));
            }
        }
        self.reminders = standing;
    }

    /// What the heartbeat says at this look; `longest_rest_ms` is the owner's.
    pub fn looked(&mut self, claimed: Claimed, longest_rest_ms: Millis, now: Millis) {
        self.rests = match (claimed.rests, self.rests) {
            (false, _) => None,
            (true, None) => Some((now, false)),
            (true, rests) => rests,
        };
        let settled = self.rests.is_some_and(|(since, _)| now >= since + AT_REST_MS);
        self.unheard(settled, now);
        if !settled {
            return;
        }
        self.unanswered(claimed, now);
        if let Some((since, false)) = self.rests {
            self.rests = Some((since, true));
            self.turn_over(claimed, longest_rest_ms);
        }
    }

    fn unheard(&mut self, rests: bool, now: Millis) {
        let most = if rests { HEARD_AT_REST_MS } else { HEARD_MS };
        let words = std::mem::take(&mut self.words);
        for word in words {
            if word.heard.is_none() && now >= word.since + most {
                self.note(Invariant::Heard, false, || format!("not heard: {}", word.text));
            } else {
                self.words.push_back(word);
            }
        }
    }

    fn unanswered(&mut self, claimed: Claimed, now: Millis) {
        let words = std::mem::take(&mut self.words);
        for word in words {
            let over = |(turns, at)| claimed.turns > turns && now >= at + HEARD_AT_REST_MS / 2;
            if word.heard.is_some_and(over) {
                self.note(Invariant::Answered, false, || format!("no answer to: {}", word.text));
            } else {
                self.words.push_back(word);
            }
        }
    }

    /// What a turn left, looked at in the rest after it.
    fn turn_over(&mut self, claimed: Claimed, longest_rest_ms: Millis) {
        for Thought { number, calls, results } in std::mem::take(&mut self.thoughts) {
            if calls > 0 {
                self.note(Invariant::Results, results >= calls, || {
                    format!("thought {number} made {calls} calls, of which {results} have a result on record")
                });
            }
        }
        let (calls, paid) = std::mem::take(&mut self.paid);
        let (records, recorded) = std::mem::take(&mut self.records);
        if calls > 0 {
            self.note(Invariant::Remembered, records > 0, || format!("{calls} paid calls left no record"));
        }
        if let Some(recorded) = recorded.filter(|_| paid > 0) {
            let near = recorded.saturating_mul(2) >= paid && recorded <= paid.saturating_mul(2);
            self.note(Invariant::Costs, near, || {
                format!("the ledger says {paid} millionths of a dollar, the records {recorded}")
            });
        }
        // Two minutes more than the owner allows: the claim is written before the rest begins.
        self.note(Invariant::Rests, claimed.rest_ms <= longest_rest_ms + 120_000, || {
            format!(
                "a rest of {} s, where {} s are the longest",
                claimed.rest_ms / 1_000,
                longest_rest_ms / 1_000
            )
        });
    }
}

/// Whether a record has the owner's word, which may have been cut.
fn is_same(word: &str, record: &str) -> bool {
    let beginning = |text: &str| text.chars().take(40).collect::<String>();
    word == record || beginning(word) == beginning(record)
}
