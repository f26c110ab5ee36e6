//! Sums of the records of a span: a fold over them, one at a time. Pure.
//!
//! Invariant: bounded, however many records it is shown; what is not listed is counted.

use agenda::foreign;
use ground::text::{first, one_line, shorten};
use jiff::Timestamp;
use memory::Record;
use memory::kinds::{self, Account};
use serde_json::Value;
use std::collections::BTreeMap;

/// Names counted apart in one table: tools, minds, reasons; past it they are counted together.
const MOST_NAMES: usize = 120;

/// Different failures told apart, and the characters of one.
const MOST_FAILURES: usize = 300;
const LONGEST_ERROR: usize = 120;

/// Events listed of one sort; past it they are only counted.
const MOST_LISTED: usize = 8;

/// The most one thought can cost, in USD; more is taken for garbage.
const MOST_USD: f64 = 10_000.0;

/// Steps listed as the slowest.
const MOST_SLOW: usize = 5;

/// Words of instinct's thought about a message that it does not understand, in `crates/instinct/src/words.rs`.
const NOT_UNDERSTOOD: &str = "I cannot understand that";

/// Cost of the thoughts on one account.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Cost {
    pub thoughts: u64,
    pub usd: f64,
    /// Thoughts of a model with no price known.
    pub unpriced: u64,
}

/// Calls of a tool, their failures and times.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ToolStats {
    pub calls: u64,
    pub failed: u64,
    pub took_ms: u64,
    pub longest_ms: u64,
}

/// The same failure, as often as it came.
#[derive(Clone, Debug, PartialEq)]
pub struct Failure {
    pub tool: String,
    pub error: String,
    pub count: u64,
    pub first: Timestamp,
    pub last: Timestamp,
}

/// Step that took long.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    pub what: String,
    pub took_ms: u64,
    pub at: Timestamp,
}

/// Events of one sort: how many there were, and the newest few, oldest of them first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Listed {
    pub count: u64,
    pub newest: Vec<(Timestamp, String)>,
}

impl Listed {
    fn add(&mut self, at: Timestamp, text: &str) {
        self.count += 1;
        if self.newest.len() >= MOST_LISTED {
            self.newest.remove(0);
        }
        let text = one_line(text);
        self.newest.push((at, shorten(&text, LONGEST_ERROR)));
    }
}

/// Sums of the records of a span.
#[derive(Clone, Debug, Default)]
pub struct Sums {
    pub records: u64,
    pub lives: u64,
    pub wakes: u64,
    /// Wakes by the first reason they thought for.
    pub reasons: BTreeMap<String, u64>,
    /// Thoughts by the mind that had them.
    pub thoughts: BTreeMap<String, u64>,
    pub garbled: u64,
    pub costs: BTreeMap<Account, Cost>,
    pub tools: BTreeMap<String, ToolStats>,
    pub failures: Vec<Failure>,
    /// Messages: the owner's, and the creature's own by kind.
    pub heard: u64,
    pub said: BTreeMap<String, u64>,
    pub not_understood: Listed,
    pub born: Listed,
    pub edits_failed: Listed,
    pub fell: Listed,
    pub deaths: Listed,
    pub slowest: Vec<Step>,
    /// Time at which each thought (`thought 7`) or sub-session last had a record: its next step began then.
    last: BTreeMap<String, Timestamp>,
    /// Number of the newest wake, and when it last had a record.
    wake: Option<(u64, Timestamp)>,
}

impl Sums {
    /// Takes in one record, memory's or the bookkeeping's.
    pub fn add(&mut self, at: Timestamp, record: &Record) {
        self.records += 1;
        let data = &record.data;
        if let Some(account) = kinds::account(record) {
            self.pay(account, data);
        }
        match record.kind.as_str() {
            "thought" => self.thought(at, data),
            "action" => self.action(at, data),
            "message" => self.message(data),
            "heartbeat" => {
                self.wakes += 1;
                let why = data.get("why").and_then(Value::as_array).and_then(|why| why.first());
                if let Some(why) = why.and_then(Value::as_str) {
                    count(&mut self.reasons, reason(why));
                }
            }
            "agenda" if data.get("usage").is_some() => {
                self.last(format!("session {}", text(data, "session")), at);
            }
            "self_change" => self.self_change(at, data),
            "death" if data.get("from_commit").is_some() => self.fell.add(at, text(data, "told")),
            "death" => self.deaths.add(at, text(data, "told")),
            "observation" if text(data, "about") == "birth" => self.lives += 1,
            _ => {}
        }
    }

    /// Takes in what the ledger says was paid: payments that no record has are a cost all the same.
    pub fn paid(&mut self, calls: u64, usd: f64) {
        let recorded = self.cost();
        let missing_usd = usd - recorded.usd;
        // Prices of records are rounded.
        if missing_usd > 0.0005 {
            let thoughts = calls.saturating_sub(recorded.thoughts);
            self.costs.insert(Account::Cut, Cost { thoughts, usd: missing_usd, unpriced: 0 });
        }
    }

    /// Returns the cost of all accounts.
    pub fn cost(&self) -> Cost {
        self.costs.values().fold(Cost::default(), |all, cost| Cost {
            thoughts: all.thoughts + cost.thoughts,
            usd: all.usd + cost.usd,
            unpriced: all.unpriced + cost.unpriced,
        })
    }

    /// Calls and how many of them failed.
    pub fn calls(&self) -> (u64, u64) {
        self.tools
            .values()
            .fold((0, 0), |(calls, failed), stats| (calls + stats.calls, failed + stats.failed))
    }

    fn thought(&mut self, at: Timestamp, data: &Value) {
        count(&mut self.thoughts, text(data, "mind"));
        self.garbled += u64::from(data.get("garbled").is_some());
        let wake = number(data, "wake");
        let before = self.wake.filter(|(before, _)| *before == wake && number(data, "round") > 0);
        if let Some((_, before)) = before {
            self.took(at, before, || format!("a thought of {}", text(data, "mind")));
        }
        self.wake = Some((wake, at));
        self.last(format!("thought {}", number(data, "thought")), at);
        let monologue = text(data, "monologue");
        if let Some((before, _)) = monologue.split_once(NOT_UNDERSTOOD) {
            let said = before.rsplit_once("The owner says: \"").map_or("", |(_, said)| said);
            self.not_understood.add(at, said.trim_end().trim_end_matches(['"', '.']));
        }
    }

    fn action(&mut self, at: Timestamp, data: &Value) {
        let (tool, result) = (text(data, "tool"), data.get("result").unwrap_or(&Value::Null));
        let line = match text(data, "session") {
            "" => format!("thought {}", number(data, "thought")),
            session => format!("session {session}"),
        };
        let began = self.last.get(&line).copied();
        let took_ms = began.map_or(0, |began| ms(began, at));
        let ok = is_ok(result);
        let stats = named(&mut self.tools, tool);
        stats.calls += 1;
        stats.failed += u64::from(!ok);
        stats.took_ms += took_ms;
        stats.longest_ms = stats.longest_ms.max(took_ms);
        if !ok {
            self.failed(at, tool, text(result, "error"));
        }
        if let Some(began) = began {
            self.took(at, began, || {
                let args = data.get("args").map(Value::to_string).unwrap_or_default();
                shorten(&format!("{tool} {args}"), LONGEST_ERROR)
            });
        }
        if let (Some((_, last)), true) = (&mut self.wake, line.starts_with("thought")) {
            *last = at;
        }
        self.last(line, at);
    }

    fn message(&mut self, data: &Value) {
        if text(data, "from") == "owner" {
            self.heard += 1;
            return;
        }
        let kind = Some(text(data, "kind")).filter(|kind| !kind.is_empty());
        count(&mut self.said, kind.unwrap_or("answer"));
    }

    fn self_change(&mut self, at: Timestamp, data: &Value) {
        let (stage, summary) = (text(data, "stage"), text(data, "summary"));
        match is_ok(data) {
            true if stage == "born" => self.born.add(at, summary),
            true => {}
            false => {
                let error = text(data, "error").lines().next().unwrap_or_default();
                self.edits_failed.add(at, &format!("{summary} ({stage}: {error})"));
            }
        }
    }

    fn pay(&mut self, account: Account, data: &Value) {
        let usage = data.get("usage").filter(|usage| usage.is_object());
        let usd = usage.and_then(|usage| usage.get("cost_usd")).and_then(Value::as_f64);
        let cost = self.costs.entry(account).or_default();
        cost.thoughts += 1;
        // A cost that no thought can have would spoil the sum.
        cost.usd += usd.filter(|usd| (0.0..MOST_USD).contains(usd)).unwrap_or_default();
        cost.unpriced += u64::from(usage.is_some() && usd.is_none());
    }

    fn failed(&mut self, at: Timestamp, tool: &str, error: &str) {
        let error = shape(error);
        let same = |failure: &&mut Failure| failure.tool == tool && failure.error == error;
        let room = self.failures.len() < MOST_FAILURES;
        match self.failures.iter_mut().find(same) {
            Some(failure) => (failure.count, failure.last) = (failure.count + 1, at),
            None if room => {
                let tool = tool.to_owned();
                self.failures.push(Failure { tool, error, count: 1, first: at, last: at });
            }
            None => {}
        }
    }

    /// Keeps a step if it is one of the slowest.
    fn took(&mut self, at: Timestamp, began: Timestamp, what: impl FnOnce() -> String) {
        let took_ms = ms(began, at);
        let place = self.slowest.iter().position(|step| step.took_ms < took_ms);
        let place = place.unwrap_or(self.slowest.len());
        if took_ms > 0 && place < MOST_SLOW {
            self.slowest.insert(place, Step { what: what(), took_ms, at });
            self.slowest.truncate(MOST_SLOW);
        }
    }

    fn last(&mut self, line: String, at: Timestamp) {
        if self.last.len() >= MOST_NAMES {
            self.last.retain(|_, last| ms(*last, at) < 3_600_000);
            if self.last.len() >= MOST_NAMES {
                self.last.clear();
            }
        }
        self.last.insert(line, at);
    }
}

/// An error as it is compared with others: its first line, without numbers.
fn shape(error: &str) -> String {
    let line = error.lines().next().filter(|line| !line.trim().is_empty()).unwrap_or("no reason given");
    foreign::shape(&first(line, LONGEST_ERROR))
}

/// A reason for a wake without what it names: `ready: goal-3 …` is `ready`, `4 events wait` is `events wait`.
fn reason(why: &str) -> &str {
    let why = why.split_once(": ").map_or(why, |(sort, _)| sort);
    why.trim_start_matches(|letter: char| letter.is_ascii_digit() || letter == ' ')
}

fn count(table: &mut BTreeMap<String, u64>, name: &str) {
    *named(table, name) += 1;
}

fn named<'a, T: Default>(table: &'a mut BTreeMap<String, T>, name: &str) -> &'a mut T {
    let name = match table.contains_key(name) || table.len() < MOST_NAMES {
        true if name.is_empty() => "?",
        true => name,
        false => "others",
    };
    table.entry(shorten(name, LONGEST_ERROR)).or_default()
}

fn is_ok(result: &Value) -> bool {
    result.get("ok") == Some(&Value::Bool(true))
}

fn ms(from: Timestamp, to: Timestamp) -> u64 {
    u64::try_from(to.duration_since(from).as_millis()).unwrap_or_default()
}

fn text<'a>(data: &'a Value, key: &str) -> &'a str {
    data.get(key).and_then(Value::as_str).unwrap_or_default()
}

fn number(data: &Value, key: &str) -> u64 {
    data.get(key).and_then(Value::as_u64).unwrap_or_default()
}
