//! What a thought costs beside its model: part by part, over 10 and 1,000 agenda items and 1,000 and 1,000,000 records.
//!
//! Run by `scripts/bench`. Prints a row as a JSON line; any other line is a note.
#![allow(clippy::disallowed_methods, clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing)]

use agenda::{Agenda, Change, Rules, When};
use creature::clock::Clock;
use creature::config::Told;
use creature::life::birth::birth;
use creature::life::passed::Reasons;
use creature::life::{Leaving, Life};
use creature::paths::House;
use creature::tools::catalogue::LIST;
use jiff::Timestamp;
use memory::{Record, snapshot};
use mind::{context, prompt, situation};
use model::Wire;
use serde_json::{Value, json};
use std::fs;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::time::Instant;

const ROUNDS: usize = 60;
const METHOD: &str =
    "a life by hand on instinct, its parts timed one after another; what is kept is synced to disk";

/// Milliseconds of each part, round by round.
type Taken = Vec<(&'static str, Vec<f64>)>;

fn main() {
    if !std::env::args().any(|argument| argument == "--bench") {
        println!("nothing measured: this is for `cargo bench`");
        return;
    }
    let quick = std::env::args().any(|argument| argument == "--quick");
    let most = if quick { 10_000 } else { 1_000_000 };
    let [base, items, records] = [(10, 1_000), (1_000, 1_000), (10, most)].map(|(items, records)| {
        let folder = tempfile::tempdir().unwrap();
        measured(&home(folder.path(), items, records))
    });
    let name = format!("{most} records");
    for (many, taken) in [("1000 items", items), (name.as_str(), records)] {
        for ((part, ours), (_, theirs)) in taken.iter().zip(&base) {
            let row = json!({
                "what": format!("{part}, {many}"), "method": METHOD, "unit": "ms", "ours": ours,
                "against": "10 items, 1000 records", "theirs": theirs,
            });
            println!("{row}");
        }
    }
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
        lifeline: creature::lifeline::Lifeline::default(),
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
    let moment = timed("sense: papers, words, records, agenda, stack", &mut parts, || {
        life.sense(0, &Reasons::default()).unwrap().moment
    });
    let shown = timed("context", &mut parts, || context::choose(&moment, &context::Caps::default(), &LIST));
    let said = timed("prompt", &mut parts, || {
        prompt::system(prompt::MIND, &prompt::in_json(Wire::Chat, &LIST.lines(&|_| true)), 35_000)
            + &situation::standing(&shown).text
            + &situation::opening(&moment, &shown).text
    });
    assert!(said.len() > 10_000, "too little is said: {}", said.len());
    timed("a thought's record and the cursors kept", &mut parts, || {
        life.store.record("thought", json!({"thought": 1, "monologue": "x".repeat(500)})).unwrap();
        life.save().unwrap();
    });
    timed("a change of the agenda kept", &mut parts, || life.change(&moment.stack[0].looked()).unwrap());
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
