//! What thinking costs: a job of twenty rounds over servers that cache by the documented rules, in tokens and dollars.
//!
//! Run by `scripts/bench`. Prints a row as a JSON line; any other line is a note. Nothing here is a time.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    dead_code,
    unused_imports,
    unused_macros
)]

#[path = "../tests/creature/broker.rs"]
mod broker;
#[path = "../tests/faithful/mod.rs"]
mod faithful;
#[path = "../tests/creature/house.rs"]
mod house;
#[path = "../tests/creature/probation/sight/job.rs"]
mod job;
#[path = "../tests/creature/probation/sight/world.rs"]
mod world;

use faithful::ledger::{cost, read_share};
use faithful::{Entry, Prices, Seen, Shown, Wire, tokens};
use job::{DAY_USD, Job, job};
use serde_json::{Value, json};

const ROUNDS: usize = 20;

/// More than a day's money buys.
const MANY_ROUNDS: usize = 200;

const METHOD: &str = "the dev build on a job of 20 rounds, 60 lines of source in each: a server on loopback counts \
    tokens (two for seven bytes) and cache hits by its provider's rules; 2 USD a million tokens in, 0.10 read from cache, \
    2.50 written to it, 10 out";
const MONEY: &str = "the same job without an end, until so much is spent";

fn main() {
    if !std::env::args().any(|argument| argument == "--bench") {
        println!("nothing measured: this is for `cargo bench`");
        return;
    }
    let mut thoughts = vec![
        "| thought | system, tools | standing part | situation | conversation so far | read from cache | written | uncached | out | USD / 1,000,000 | uncached |"
            .to_owned(),
        "|---|---|---|---|---|---|---|---|---|---|---|".to_owned(),
    ];
    for wire in [Wire::Anthropic, Wire::Responses] {
        let done = job(wire, ROUNDS);
        for (name, at) in [("first", 0), ("twentieth", ROUNDS - 1)] {
            thoughts.push(thought(&format!("{wire:?}, {name}"), at, &done));
        }
        totals(wire, &done.ledger);
        let many = job(wire, MANY_ROUNDS).ledger;
        let bought = |prices| json!([bought(&many, prices)]);
        let what = format!("{wire:?}: rounds that {DAY_USD} USD buys");
        row(
            json!({"what": what, "method": MONEY, "unit": "rounds", "ours": bought(&Prices::MIDDLE), "aim": "≥ 40"}),
        );
        let dearer = Prices { cache_read: 0.20, ..Prices::MIDDLE };
        let what = format!("{wire:?}: the same where a cache is read for 0.20 USD");
        row(json!({"what": what, "method": MONEY, "unit": "rounds", "ours": bought(&dearer), "aim": "≥ 40"}));
    }
    println!(
        "What stands in the prompt of the first and the twentieth thought, in tokens, and what each of them costs:"
    );
    println!("{}", thoughts.join("\n"));
}

fn row(row: Value) {
    println!("{row}");
}

fn totals(wire: Wire, ledger: &[Entry]) {
    let (spent, bare) = cost(ledger, &Prices::MIDDLE);
    row(json!({
        "what": format!("{wire:?}: input read from cache"), "method": METHOD, "unit": "%",
        "ours": [read_share(ledger) * 100.0], "aim": "≥ 85 %",
    }));
    row(json!({
        "what": format!("{wire:?}: the job"), "method": METHOD, "unit": "USD", "ours": [spent],
        "against": "the same uncached", "theirs": [bare], "aim": "at most a third",
    }));
}

/// Rounds until a day's money is gone.
fn bought(ledger: &[Entry], prices: &Prices) -> usize {
    let affordable = |rounds: &usize| cost(&ledger[..*rounds], prices).0 <= DAY_USD;
    let most = (1..=ledger.len()).take_while(affordable).last().unwrap_or(0);
    assert!(most < ledger.len(), "{most} rounds do not spend {DAY_USD} USD: ask for more of them");
    most
}

/// A line of the table: the prompt by its parts, and what the server counted.
fn thought(name: &str, at: usize, done: &Job) -> String {
    let (seen, entry) = (&done.seen[at], &done.ledger[at]);
    assert_eq!(seen.number, entry.number);
    let [head, standing, situation] = parts(seen);
    let so_far = entry.tokens.total().saturating_sub(head + standing + situation);
    let micro = |usd: f64| (usd * 1e6).round();
    let [spent, bare] = [entry.cost_usd(&Prices::MIDDLE), entry.uncached_usd(&Prices::MIDDLE)].map(micro);
    let (counted, out) = (&entry.tokens, entry.output);
    let faithful::Tokens { read, written, uncached, .. } = counted;
    format!(
        "| {name} | {head} | {standing} | {situation} | {so_far} | {read} | {written} | {uncached} | {out} | {spent} | {bare} |"
    )
}

/// Tokens of system and tools, of the standing part and of the situation, as they stand on the wire.
fn parts(seen: &Seen) -> [usize; 3] {
    let written = |value: &Value| tokens(value.to_string().len());
    let tools: usize = seen.body["tools"].as_array().unwrap().iter().map(written).sum();
    let mut first = seen.messages[0].parts.iter().map(|part| match part {
        Shown::Text(text) => written(&json!(text)),
        other => panic!("a conversation begins with {other:?}"),
    });
    [tools + written(&json!(seen.system)), first.next().unwrap(), first.next().unwrap()]
}
