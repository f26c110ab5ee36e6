//! Sums of settled calls by day and model, and by the question or reason they were for; no single calls.

use crate::plain;
use crate::report::gather::{self, SETTLED_LATER_MS};
use house::bounds::{NAME_CHARS, brief};
use house::clock::Millis;
use house::records::ledger::{Booked, Entry};
use house::records::memory::{Data, Record, Usage};
use house::{House, moments, records};
use serde_json::Value;
use std::collections::{BTreeMap, HashMap};

/// Calls that are joined with thoughts, names that are told apart, wakes whose reason is known, calls under way at once.
const MOST_CALLS: usize = 200_000;
const MOST_NAMES: usize = 300;
const MOST_WAKES: usize = 50_000;
const MOST_UNDER_WAY: usize = 1_000;
/// Characters of a question.
const QUESTION_CHARS: usize = 90;

/// A sum of calls, and of the tokens of the thoughts they were for.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sum {
    pub micro: u64,
    pub own_micro: u64,
    pub calls: u64,
    /// Milliseconds of the calls whose beginning is known, and how many those are.
    pub took_ms: u64,
    pub timed: u64,
    pub tokens: Tokens,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Tokens {
    /// Given to the model anew, read from its cache, and answered.
    pub input: u64,
    pub cached: u64,
    pub output: u64,
}

#[derive(Default)]
pub struct Spent {
    pub all: Sum,
    pub days: BTreeMap<String, Sum>,
    pub models: BTreeMap<String, Sum>,
    /// The owner's questions, self-edits, and reasons of its own that the thoughts were for.
    pub led_to: BTreeMap<String, Sum>,
    /// Files of which only the newest was read.
    pub cut: Vec<String>,
}

impl Sum {
    fn add(&mut self, other: &Self) {
        self.micro = self.micro.saturating_add(other.micro);
        self.own_micro = self.own_micro.saturating_add(other.own_micro);
        self.calls += other.calls;
        (self.took_ms, self.timed) = (self.took_ms.saturating_add(other.took_ms), self.timed + other.timed);
    }

    /// Seconds that a call took, on average.
    pub fn seconds(&self) -> Option<f64> {
        (self.timed > 0).then(|| self.took_ms as f64 / self.timed as f64 / 1_000.0)
    }
}

impl Tokens {
    fn of(usage: Usage) -> Self {
        let input = usage.input_tokens().saturating_add(usage.cache_write_tokens());
        Self { input, cached: usage.cache_read_tokens(), output: usage.output_tokens() }
    }

    fn add(&mut self, other: Self) {
        self.input = self.input.saturating_add(other.input);
        self.cached = self.cached.saturating_add(other.cached);
        self.output = self.output.saturating_add(other.output);
    }

    /// Share of the model's input that its cache had, in percent.
    pub fn cached_percent(&self) -> Option<u64> {
        let all = self.input.saturating_add(self.cached);
        self.cached.saturating_mul(100).checked_div(all)
    }

    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }
}

/// The sum of this name; of too many names, of all the others.
fn sum<'a>(sums: &'a mut BTreeMap<String, Sum>, name: &str) -> &'a mut Sum {
    let name = if sums.len() < MOST_NAMES || sums.contains_key(name) { name } else { "all else" };
    sums.entry(name.to_owned()).or_default()
}

/// Everything that was spent since a time.
pub fn read(house: &House, since: &str) -> Spent {
    let (mut spent, mut calls) = (Spent::default(), Vec::new());
    let mut under_way: HashMap<String, Millis> = HashMap::new();
    let cut = gather::each(&house.ledger(), since, |entry| {
        let entry = Entry(entry);
        let at_ms = moments::ms(entry.at()).unwrap_or(0);
        if entry.booked() == Booked::Reserve && under_way.len() < MOST_UNDER_WAY {
            under_way.insert(entry.call().to_owned(), at_ms);
        }
        if entry.paid().is_none() {
            return;
        }
        let begun_ms = under_way.remove(entry.call());
        if entry.booked() == Booked::Unsent {
            return;
        }
        let micro = entry.cost_micro_usd();
        let call = Sum {
            micro,
            own_micro: if entry.is_own() { micro } else { 0 },
            calls: 1,
            took_ms: begun_ms.map_or(0, |begun_ms| at_ms.saturating_sub(begun_ms)),
            timed: begun_ms.is_some().into(),
            ..Sum::default()
        };
        spent.all.add(&call);
        sum(&mut spent.days, entry.day()).add(&call);
        let model = [entry.service(), entry.note()].map(|name| brief(name, NAME_CHARS)).join(" ");
        sum(&mut spent.models, model.trim()).add(&call);
        if calls.len() < MOST_CALLS {
            calls.push((at_ms, call));
        }
    });
    spent.cut.extend(cut);
    let why = reasons(house);
    let Spent { all, days, led_to, .. } = &mut spent;
    let mut purpose = Purposes { calls: &calls, next: 0, under_way: None, question: String::new(), led_to };
    let cut = gather::each(&house.memory(), since, |record| {
        let tokens = purpose.take(record, &why);
        all.tokens.add(tokens);
        let day = Record(record).at().get(.."2026-01-31".len()).and_then(|day| days.get_mut(day));
        day.into_iter().for_each(|day| day.tokens.add(tokens));
    });
    purpose.end();
    spent.cut.extend(cut);
    spent
}

/// Returns the reason of each wake, as far as the bookkeeping reaches.
fn reasons(house: &House) -> HashMap<u64, String> {
    let mut why = HashMap::new();
    for record in records::with_before(house.bookkeeping()).iter().flat_map(|path| records::of(path)) {
        let Some(beat) = Record(&record).beat() else { continue };
        let first = beat.why().and_then(|why| why.first().copied());
        if let (Some(wake), Some(first)) = (beat.wake(), first)
            && why.len() < MOST_WAKES
        {
            why.insert(wake, kind(first));
        }
    }
    why
}

/// A reason without its varying parts: a goal stays the goal, an item of the checklist itself.
fn kind(why: &str) -> String {
    let why = match why.split_once(": ") {
        Some(("unfinished", _)) => "a self-edit it had begun".to_owned(),
        Some(_) => plain::reason(why),
        None => {
            plain::reason(why.trim_start_matches(|letter: char| letter.is_ascii_digit() || letter == ' '))
        }
    };
    brief(&why, NAME_CHARS)
}

/// Gives each call to the thought it was made for: the first that was remembered after it.
struct Purposes<'a> {
    /// Settled calls, each with its time.
    calls: &'a [(Millis, Sum)],
    next: usize,
    /// The thought whose outcome is still coming: its first call, its purpose, and its tokens.
    under_way: Option<(usize, String, Tokens)>,
    /// The owner's last message.
    question: String,
    led_to: &'a mut BTreeMap<String, Sum>,
}

impl Purposes<'_> {
    /// Takes a record in order; returns the tokens of a thought.
    #[allow(clippy::wildcard_enum_match_arm)]
    fn take(&mut self, record: &Value, why: &HashMap<u64, String>) -> Tokens {
        let record = Record(record);
        match record.data() {
            Data::Message(message) if message.is_owners() => {
                let said: String = message.text().split_whitespace().collect::<Vec<_>>().join(" ");
                self.question = brief(&said, QUESTION_CHARS);
            }
            Data::Thought(thought) => {
                self.end();
                let until_ms = moments::ms(record.at()).unwrap_or(0).saturating_add(SETTLED_LATER_MS);
                let first = self.next;
                while self.calls.get(self.next).is_some_and(|(at_ms, _)| *at_ms <= until_ms) {
                    self.next += 1;
                }
                let known = || thought.wake().and_then(|wake| why.get(&wake)).cloned();
                let purpose = match thought.owner() {
                    Some(true) if !self.question.is_empty() => format!("you: “{}”", self.question),
                    Some(true) => known().unwrap_or_else(|| "your messages".to_owned()),
                    Some(false) => {
                        known().unwrap_or_else(|| "on its own, why is not on record any more".into())
                    }
                    None => known().unwrap_or_else(|| "not known".to_owned()),
                };
                let tokens = Tokens::of(thought.usage());
                self.under_way = Some((first, purpose, tokens));
                return tokens;
            }
            Data::SelfChange(edit) => {
                let summary = brief(edit.summary(), NAME_CHARS);
                if let Some((_, purpose, _)) = &mut self.under_way {
                    *purpose = format!("self-edit: {summary}");
                }
            }
            _ => {}
        }
        Tokens::default()
    }

    fn end(&mut self) {
        let Some((first, purpose, tokens)) = self.under_way.take() else { return };
        let calls = self.calls.get(first..self.next).unwrap_or_default();
        if calls.is_empty() && tokens.is_none() {
            return;
        }
        let sum = sum(self.led_to, &purpose);
        calls.iter().for_each(|(_, call)| sum.add(call));
        sum.tokens.add(tokens);
    }
}
