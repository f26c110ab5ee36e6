//! How soon after its start a creature asks its model, and what it holds in memory after the answer.
//!
//! Run by `scripts/bench`, built with --release. Prints a row as a JSON line; any other line is a note.
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
#[path = "../tests/creature/probation/sight/world.rs"]
mod world;

use faithful::{Rules, Say, Wire};
use memory::Record;
use serde_json::{Value, json};
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use world::{NATIVE, World};

/// Records of a memory that is not young.
const RECORDS: usize = 1_000;

const START: &str = "the release build, from just before its fork and exec until the model's server has read its first \
    request, `/status` asked of a stand-in for the broker before; of `true` until it has ended; in turns";
const HELD: &str = "VmRSS and VmHWM of the same life, once the answer stands in memory";

/// Samples of one house.
#[derive(Default)]
struct Taken {
    asked_ms: Vec<f64>,
    bare_ms: Vec<f64>,
    held_mib: Vec<f64>,
    bare_mib: Vec<f64>,
    peak_mib: Vec<f64>,
}

fn main() {
    if !std::env::args().any(|argument| argument == "--bench") {
        println!("nothing measured: this is for `cargo bench`");
        return;
    }
    let rounds = if std::env::args().any(|argument| argument == "--quick") { 5 } else { 40 };
    for (house, records) in [("a new house", 0), ("1000 records", RECORDS)] {
        let mut taken = Taken::default();
        for _ in 0..rounds {
            one(records, &mut taken);
        }
        let row =
            |what: &str, method: &str, unit: &str, ours: &[f64], against: &str, theirs: &[f64], aim: &str| {
                let what = format!("{what}, {house}");
                println!(
                    "{}",
                    json!({"what": what, "method": method, "unit": unit, "ours": ours, "against": against,
                    "theirs": theirs, "aim": aim})
                );
            };
        let Taken { asked_ms, bare_ms, held_mib, bare_mib, peak_mib } = &taken;
        row(
            "start → first model request",
            START,
            "ms",
            asked_ms,
            "fork, exec and end of `true`",
            bare_ms,
            "≤ 30 ms",
        );
        row("resident after its answer", HELD, "MiB", held_mib, "`sleep`", bare_mib, "≤ 16 MiB");
        row("the most it was", HELD, "MiB", peak_mib, "", &[], "");
    }
}

/// One life from its start to its first answer, beside bare processes.
fn one(records: usize, taken: &mut Taken) {
    let heard = Arc::new(Mutex::new(None));
    let noting = Arc::clone(&heard);
    let world = World::new(Wire::Anthropic, Rules::default(), NATIVE, move |_| {
        noting.lock().unwrap().get_or_insert_with(Instant::now);
        Say::new().says("Nothing to do.").rests(300)
    });
    let thoughts = (0..records).map(|turn| {
        let text = "lorem ipsum ".repeat(5 + turn * 7919 % 40);
        let record =
            Record::new(1, "thought", json!({"thought": turn, "monologue": text, "intent": "go on"}));
        serde_json::to_string(&record).unwrap() + "\n"
    });
    world.house.write(".self/memory.jsonl", thoughts.collect::<String>());
    let mut bare = Command::new("sleep").arg("600").spawn().unwrap();
    let began = Instant::now();
    Command::new("true").status().unwrap();
    taken.bare_ms.push(began.elapsed().as_secs_f64() * 1e3);
    let began = Instant::now();
    let living = world.house.live(2);
    let asked = house::wait_for("the first request", || *heard.lock().unwrap());
    taken.asked_ms.push(asked.duration_since(began).as_secs_f64() * 1e3);
    world.house.record("thought", |data| data["intent"] != "go on");
    taken.held_mib.push(mib(living.child.id(), "VmRSS:"));
    taken.peak_mib.push(mib(living.child.id(), "VmHWM:"));
    taken.bare_mib.push(mib(bare.id(), "VmRSS:"));
    let _ = bare.kill();
    let _ = bare.wait();
    assert!(living.leave().success());
    world.server.assert_no_violations();
}

fn mib(pid: u32, name: &str) -> f64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap();
    line.trim().trim_end_matches(" kB").parse::<f64>().unwrap() / 1024.0
}
