//! What was spent, and on what: settled calls by day, class and model, and by what they led to; sums, never calls.

use crate::report::gather;
use house::bounds::{NAME_CHARS, brief};
use house::clock::Millis;
use house::records::{self, text};
use house::{House, moments};
use serde_json::Value;
use std::collections::{BTreeMap, HashMap};

/// Calls that are joined with thoughts, names that are told apart, wakes whose reason is known.
const MOST_CALLS: usize = 200_000;
const MOST_NAMES: usize = 300;
const MOST_WAKES: usize = 50_000;
/// How much later than its thought's record a call may be settled.
const SETTLED_LATER_MS: Millis = 2_000;

/// A sum of calls.
#[derive(Clone, Copy, Default)]
pub struct Sum {
    pub micro: u64,
    pub own_micro: u64,
    pub calls: u64,
}

#[derive(Default)]
pub struct Spent {
    pub days: BTreeMap<String, Sum>,
    pub models: BTreeMap<String, Sum>,
    /// What the thoughts were for that the calls were made for.
    pub led_to: BTreeMap<String, Sum>,
    /// Files of which only the newest was read.
    pub cut: Vec<String>,
}

/// A settled call, until its thought is found.
struct Call {
    at_ms: Millis,
    micro: u64,
    is_own: bool,
}

impl Sum {
    fn add(&mut self, call: &Call) {
        self.micro = self.micro.saturating_add(call.micro);
        self.own_micro = self.own_micro.saturating_add(if call.is_own { call.micro } else { 0 });
        self.calls += 1;
    }
}

fn add(sums: &mut BTreeMap<String, Sum>, name: &str, call: &Call) {
    let name = if sums.len() < MOST_NAMES || sums.contains_key(name) { name } else { "all else" };
    sums.entry(name.to_owned()).or_default().add(call);
}

/// Everything that was spent since a time.
pub fn read(house: &House, since: &str) -> Spent {
    let (mut spent, mut calls) = (Spent::default(), Vec::new());
    let cut = gather::each(&house.ledger(), since, |entry| {
        if text(entry, "event") != "settle" || text(entry, "decision") == "never left" {
            return;
        }
        let micro = entry.get("cost_micro_usd").and_then(Value::as_u64).unwrap_or(0);
        let at_ms = moments::ms(text(entry, "at")).unwrap_or(0);
        let call = Call { at_ms, micro, is_own: text(entry, "class") == "autonomous" };
        let day = Some(text(entry, "day")).filter(|day| !day.is_empty()).unwrap_or(text(entry, "at"));
        add(&mut spent.days, &day.chars().take(10).collect::<String>(), &call);
        let model = ["service", "note"].map(|name| brief(text(entry, name), NAME_CHARS)).join(" ");
        add(&mut spent.models, model.trim(), &call);
        if calls.len() < MOST_CALLS {
            calls.push(call);
        }
    });
    spent.cut.extend(cut);
    let why = reasons(house);
    let mut purpose = Purposes { calls: &calls, next: 0, under_way: None, led_to: &mut spent.led_to };
    let cut = gather::each(&house.memory(), since, |record| purpose.take(record, &why));
    purpose.end();
    spent.cut.extend(cut);
    spent
}

/// Why each wake was, as far as the bookkeeping reaches.
fn reasons(house: &House) -> HashMap<u64, String> {
    let before = house.bookkeeping().with_file_name("bookkeeping.before.jsonl");
    let mut why = HashMap::new();
    for record in [before, house.bookkeeping()].iter().flat_map(|path| records::of(path)) {
        let Some(data) = record.get("data").filter(|_| text(&record, "kind") == "heartbeat") else {
            continue;
        };
        let first = data.get("why").and_then(Value::as_array).and_then(|why| why.first()?.as_str());
        if let (Some(wake), Some(first)) = (data.get("wake").and_then(Value::as_u64), first)
            && why.len() < MOST_WAKES
        {
            why.insert(wake, kind(first));
        }
    }
    why
}

/// A reason without what differs from time to time: a goal stays the goal, an item of the checklist itself.
fn kind(why: &str) -> String {
    let why = match why.split_once(": ") {
        Some(("ready", line)) => format!("on its stack: {}", line.split(' ').next().unwrap_or_default()),
        Some(("unfinished", _)) => "a self-edit under way".to_owned(),
        _ => why.trim_start_matches(|letter: char| letter.is_ascii_digit() || letter == ' ').to_owned(),
    };
    brief(&why, NAME_CHARS)
}

/// Gives each call to the thought it was made for: the first that was remembered after it.
struct Purposes<'a> {
    calls: &'a [Call],
    next: usize,
    /// The thought whose outcome is still coming: the first call that is its own, and what it was for.
    under_way: Option<(usize, String)>,
    led_to: &'a mut BTreeMap<String, Sum>,
}

impl Purposes<'_> {
    fn take(&mut self, record: &Value, why: &HashMap<u64, String>) {
        let data = record.get("data").unwrap_or(&Value::Null);
        match text(record, "kind") {
            "thought" => {
                self.end();
                let until_ms = moments::ms(text(record, "at")).unwrap_or(0).saturating_add(SETTLED_LATER_MS);
                let first = self.next;
                while self.calls.get(self.next).is_some_and(|call| call.at_ms <= until_ms) {
                    self.next += 1;
                }
                let wake = data.get("wake").and_then(Value::as_u64);
                let known = wake.and_then(|wake| why.get(&wake)).cloned();
                let whose = || match data.get("owner").and_then(Value::as_bool) {
                    Some(true) => "for your words".to_owned(),
                    Some(false) => "on its own, why is not on record any more".to_owned(),
                    None => "not known".to_owned(),
                };
                self.under_way = Some((first, known.unwrap_or_else(whose)));
            }
            "self_change" => {
                let summary = brief(text(data, "summary"), NAME_CHARS);
                if let Some((_, purpose)) = &mut self.under_way {
                    *purpose = format!("self-edit: {summary}");
                }
            }
            _ => {}
        }
    }

    fn end(&mut self) {
        let Some((first, purpose)) = self.under_way.take() else { return };
        for call in self.calls.get(first..self.next).unwrap_or_default() {
            add(self.led_to, &purpose, call);
        }
    }
}
