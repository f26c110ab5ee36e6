//! What a thought costs beside its model: part by part, over 10 and 1,000 agenda items and 1,000 and 1,000,000 records.
//!
//! `cargo bench --bench mind` is optimised; the creature lives as a dev build: `cargo bench --profile dev --bench mind`.
//! Prints a table for each size of agenda and memory; what grows shows in the ratios.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing)]

use agenda::{Agenda, Change, Rules, When};
use creature::birth::birth;
use creature::clock::Clock;
use creature::config::Told;
use creature::life::{Leaving, Life};
use creature::mind::{context, prompt};
use creature::paths::House;
use creature::tools;
use jiff::Timestamp;
use memory::{Record, snapshot};
use model::Wire;
use serde_json::{Value, json};
use std::fs;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::time::Instant;

const ITEMS: [usize; 2] = [10, 1_000];
const RECORDS: [usize; 2] = [1_000, 1_000_000];
const ROUNDS: usize = 60;

/// Milliseconds of each part, round by round.
type Taken = Vec<(&'static str, Vec<f64>)>;

fn main() {
    if !std::env::args().any(|argument| argument == "--bench") {
        println!("nothing measured: this is for `cargo bench`");
        return;
    }
    let build = if cfg!(debug_assertions) { "dev build, as it lives" } else { "optimised build" };
    println!(
        "Milliseconds a thought takes beside its model, medians of {ROUNDS}; {build}; memory synced to disk.\n"
    );
    let mut all = Vec::new();
    for records in RECORDS {
        for items in ITEMS {
            let folder = tempfile::tempdir().unwrap();
            let house = home(folder.path(), items, records);
            all.push((items, records, measured(&house)));
        }
    }
    table(&all);
}

fn table(all: &[(usize, usize, Taken)]) {
    let heads: Vec<String> =
        all.iter().map(|(items, records, _)| format!("{items} items, {records}")).collect();
    println!("| part | {} | 1,000 items to 10 | 1,000,000 records to 1,000 |", heads.join(" | "));
    println!("|---|{}", "--:|".repeat(all.len() + 2));
    for (at, (part, _)) in all[0].2.iter().enumerate() {
        let medians: Vec<f64> = all.iter().map(|(_, _, taken)| median(&taken[at].1)).collect();
        let cells: Vec<String> = medians.iter().map(|median| format!("{median:.3}")).collect();
        let (items, records) = (medians[1] / medians[0], medians[2] / medians[0]);
        println!("| {part} | {} | {items:.2} | {records:.2} |", cells.join(" | "));
    }
}

fn median(taken: &[f64]) -> f64 {
    let mut sorted = taken.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[sorted.len() / 2]
}

/// A house with an agenda of so many items and a memory of so many records.
fn home(root: &Path, items: usize, records: usize) -> House {
    let house = House::new(root);
    for folder in [house.mind(), house.papers()] {
        fs::create_dir_all(folder).unwrap();
    }
    fs::write(house.purpose(), "# Purpose\n\nBe curious about small things.\n").unwrap();
    fs::write(house.papers().join("scratch.md"), "a line of scratch\n".repeat(200)).unwrap();
    snapshot::write(&house.snapshots(), &"What many thoughts came to. ".repeat(100)).unwrap();
    fs::write(house.agenda(), serde_json::to_vec(&agenda(items)).unwrap()).unwrap();
    let mut file = BufWriter::new(fs::File::create(house.memory()).unwrap());
    for turn in 0..records {
        let text = "lorem ipsum ".repeat(5 + turn * 7919 % 40);
        let data = json!({"thought": turn, "monologue": text, "intent": "go on"});
        serde_json::to_writer(&mut file, &Record::new(1, "thought", data)).unwrap();
        file.write_all(b"\n").unwrap();
    }
    file.into_inner().unwrap().sync_all().unwrap();
    house
}

/// An agenda of so many open items of every kind.
fn agenda(items: usize) -> Agenda {
    let mut agenda = Agenda::default();
    let rules = Rules::default();
    for number in 0..items {
        let change: Change = serde_json::from_value(item(number)).unwrap();
        let now = Timestamp::now();
        agenda.apply(&change, When { now, thread: "main", owner: true, rules: &rules }).unwrap();
    }
    agenda
}

fn item(number: usize) -> Value {
    let title = format!("the {number}th thing that is worth doing, said in a sentence of a usual length");
    match number % 5 {
        0 | 1 => {
            json!({"goal": {"do": "add", "title": title, "checkpoints": ["find out", "do", "look"], "cost_usd": 0.0}})
        }
        2 => json!({"opportunity": {"do": "add", "title": title, "amount_usd": 40.0, "next": ""}}),
        3 => json!({"gap": {"do": "note", "what": title}}),
        _ => json!({"task": {"do": "add", "text": title, "at": "2026-01-20T07:00:00Z", "every_s": null}}),
    }
}

fn measured(house: &House) -> Taken {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let told = Told {
        house: house.clone(),
        life: 2,
        commit: String::new(),
        safe: false,
        rehearsal: false,
        broker: None,
        clock: Clock::default(),
    };
    let mut life = runtime.block_on(birth(told)).unwrap();
    let mut taken: Taken = Vec::new();
    for _ in 0..ROUNDS {
        let mut parts = one(&mut life);
        parts.push(("together", parts.iter().map(|(_, taken)| taken).sum()));
        timed("a whole wake on instinct, with all it keeps", &mut parts, || {
            runtime.block_on(life.wake(&mut Never)).unwrap();
        });
        for (at, (part, ms)) in parts.into_iter().enumerate() {
            match taken.get_mut(at) {
                Some((_, rounds)) => rounds.push(ms),
                None => taken.push((part, vec![ms])),
            }
        }
    }
    taken
}

/// One thought without its model, in its parts.
fn one(life: &mut Life) -> Vec<(&'static str, f64)> {
    let mut parts = Vec::new();
    let moment = timed("sense: papers, words, records, agenda, stack", &mut parts, || life.sense(0).unwrap());
    let shown = timed("context", &mut parts, || context::choose(&moment, &context::Caps::default()));
    let said = timed("prompt", &mut parts, || {
        prompt::system(Wire::OpenAi, tools::catalogue())
            + &prompt::standing(&shown)
            + &prompt::situation(&moment, &shown)
    });
    assert!(said.len() > 10_000, "too little is said: {}", said.len());
    timed("a thought's record and the cursors kept", &mut parts, || {
        life.remember("thought", json!({"thought": 1, "monologue": "x".repeat(500)})).unwrap();
        life.save().unwrap();
    });
    timed("a change of the agenda kept", &mut parts, || {
        life.toolbox.change(&moment.stack[0].looked()).unwrap()
    });
    parts
}

/// Nobody wishes that this life ends.
struct Never;

impl Leaving for Never {
    async fn asked(&mut self) {
        std::future::pending().await
    }
}

fn timed<T>(part: &'static str, parts: &mut Vec<(&'static str, f64)>, act: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let done = act();
    parts.push((part, start.elapsed().as_secs_f64() * 1e3));
    done
}
