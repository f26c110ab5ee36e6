//! The owner's window: how soon a record is on the screen, what ten of them cost the writer, and a word to its answer.

use crate::bench::idle::Cost;
use crate::bench::rewrite::settled_clone;
use crate::bench::row::Row;
use crate::bench::stand_in;
use crate::bench::{Plan, Table};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};
use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, Command};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;
use trials::driven::at_terminal;
use trials::{House, PATIENCE, SOUND, lines};

/// Records behind what is appended.
const FEW: usize = 1_000;
const MANY: usize = 10_000_000;
/// What a program asks to learn where the cursor is.
const WHERE: &[u8] = b"\x1b[6n";
/// Time between two records of the writer, and records of a part.
const BETWEEN: Duration = Duration::from_millis(50);
const PART: usize = 40;

/// A window at a pty of its own; what it printed, and when it printed last.
struct Window {
    child: Child,
    ours: File,
    seen: Arc<(Mutex<Vec<u8>>, Condvar)>,
}

impl Window {
    fn open(house: &House) -> Self {
        // The program itself, as `feral` runs it: no cargo, no guardian in between.
        let mut command = Command::new(trials::programs::console());
        command.args(["window", "--verbosity", "normal"]).current_dir(&house.root);
        command.env("TERM", "xterm-256color").env_remove("NO_COLOR");
        let (child, ours) = at_terminal(command, 100, 30);
        let seen = Arc::new((Mutex::new(Vec::new()), Condvar::new()));
        let (mut from, mut answers, to) =
            (ours.try_clone().unwrap(), ours.try_clone().unwrap(), seen.clone());
        std::thread::spawn(move || {
            let mut bytes = [0; 65_536];
            while let Ok(read @ 1..) = from.read(&mut bytes) {
                let bytes = &bytes[..read];
                if bytes.windows(WHERE.len()).any(|part| part == WHERE) {
                    let _ = answers.write_all(b"\x1b[1;1R");
                }
                to.0.lock().unwrap().extend_from_slice(bytes);
                to.1.notify_all();
            }
        });
        Self { child, ours, seen }
    }

    /// Waits until a text was printed behind so many bytes; where it ends.
    fn until(&self, text: &str, after: usize) -> usize {
        let (seen, told) = &*self.seen;
        let mut from = after;
        let mut bytes = seen.lock().unwrap();
        loop {
            if let Some(at) = find(&bytes[from..], text.as_bytes()) {
                return from + at + text.len();
            }
            from = after.max(bytes.len().saturating_sub(text.len()));
            let (next, wait) = told.wait_timeout(bytes, PATIENCE).unwrap();
            bytes = next;
            assert!(!wait.timed_out(), "waited in vain for {text}: {}", String::from_utf8_lossy(&bytes));
        }
    }

    fn printed(&self) -> usize {
        self.seen.0.lock().unwrap().len()
    }

    fn signal(&self, signal: Signal) {
        kill(Pid::from_raw(self.child.id() as i32), signal).unwrap();
    }
}

impl Drop for Window {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn find(bytes: &[u8], part: &[u8]) -> Option<usize> {
    bytes.windows(part.len()).position(|window| window == part)
}

fn record(text: &str) -> String {
    let data = json!({"about": "bench", "text": text});
    json!({"at": "2026-01-02T03:04:05.000Z", "life": 1, "kind": "observation", "data": data}).to_string()
        + "\n"
}

pub fn measure(plan: &Plan) -> Table {
    let many = plan.scaled(MANY, 100_000);
    let (few, with_few) = behind(plan, FEW);
    let (lots, with_many) = behind(plan, many);
    let latency = |what: &str, took: &[f64]| {
        Row::new(what, "ms", took, "A record appended to memory, until the pty of a window has its text.")
    };
    let open = |what: &str, took: &[f64]| {
        Row::new(
            what,
            "ms",
            took,
            "Start of the program until the pty has its last record, its status and the prompt.",
        )
    };
    let against = format!("{FEW} records behind it");
    let mut rows = vec![
        latency(&format!("record → screen, {many} records behind it"), &lots)
            .against(&against, &few)
            .aim("< 100 ms, constant"),
        latency("the slowest of these", &[most(&lots)]).against(&against, &[most(&few)]).aim("< 100 ms"),
        open(&format!("a window opens, {many} records behind it"), &with_many)
            .against(&against, &with_few)
            .aim("constant"),
    ];
    rows.extend(writer(plan));
    rows.extend(beside_a_life(plan));
    Table::new(rows).note("Windows run as a dev build, at a pty of 100 columns and 30 rows.".into())
}

fn most(samples: &[f64]) -> f64 {
    samples.iter().copied().fold(0.0, f64::max)
}

/// Milliseconds from records to the screen, and of windows that open, with so many records behind them.
fn behind(plan: &Plan, records: usize) -> (Vec<f64>, Vec<f64>) {
    plan.say(&format!("{records} records"));
    // Some hundred megabytes: on the disk the repository is on, and gone with the house.
    fs::create_dir_all(trials::programs::kept()).unwrap();
    let house = House::new_in(&trials::programs::kept(), SOUND);
    let memory = house.path(".self/memory.jsonl");
    let mut file = File::create(&memory).unwrap();
    let block: String = (0..FEW).map(|number| record(&format!("r{number}"))).collect();
    for _ in 0..records / FEW {
        file.write_all(block.as_bytes()).unwrap();
    }
    let last = format!("r{}", FEW - 1);
    let opens = (0..plan.scaled(10, 3)).map(|_| {
        let begun = stand_in::now();
        let window = Window::open(&house);
        let end = window.until(&last, 0);
        window.until(">", end);
        stand_in::now() - begun
    });
    let opens = opens.collect();
    let window = Window::open(&house);
    window.until(&last, 0);
    let mut memory = File::options().append(true).open(memory).unwrap();
    let shown = (0..50).map(|number| {
        // At another moment of its loop each time.
        std::thread::sleep(Duration::from_millis(150 + 7 * number));
        let (text, after) = (format!("now{number}."), window.printed());
        let begun = stand_in::now();
        memory.write_all(record(&text).as_bytes()).unwrap();
        window.until(&text, after);
        stand_in::now() - begun
    });
    (shown.collect(), opens)
}

/// What a writer of records feels of ten windows: they are stopped and go on in turns.
fn writer(plan: &Plan) -> Vec<Row> {
    plan.say("ten windows");
    let house = House::new_in(&trials::programs::kept(), SOUND);
    house.write(".self/memory.jsonl", &record("begin"));
    let windows: Vec<Window> = (0..10).map(|_| Window::open(&house)).collect();
    for window in &windows {
        window.until("begin", 0);
    }
    let mut memory = File::options().append(true).open(house.path(".self/memory.jsonl")).unwrap();
    let (mut with, mut without) = (<[Vec<f64>; 2]>::default(), <[Vec<f64>; 2]>::default());
    let mut number = 0;
    for round in 0..plan.scaled(10, 2) {
        plan.progress(round, plan.scaled(10, 2));
        for (signal, samples) in [(Signal::SIGSTOP, &mut without), (Signal::SIGCONT, &mut with)] {
            windows.iter().for_each(|window| window.signal(signal));
            if signal == Signal::SIGCONT {
                // They catch up with what came while they stood still.
                for window in &windows {
                    window.until(&format!("w{number}."), 0);
                }
            }
            for _ in 0..PART {
                number += 1;
                std::thread::sleep(BETWEEN);
                let line = record(&format!("w{number}."));
                let begun = stand_in::now();
                memory.write_all(line.as_bytes()).unwrap();
                memory.sync_data().unwrap();
                let written = stand_in::now();
                worked();
                samples[0].push(written - begun);
                samples[1].push(stand_in::now() - written);
            }
        }
    }
    let against = "the same while they are stopped";
    let row = |what: &str, of: usize, method: &str| {
        Row::new(what, "ms", &with[of], method).against(against, &without[of]).aim("nothing measurable")
    };
    vec![
        row(
            "a record appended and synced, ten windows",
            0,
            "Twenty records a second, as of a creature that acts without a pause.",
        ),
        row(
            "a fixed piece of work after each, ten windows",
            1,
            "Digits hashed by the writer while the windows draw its record, on a machine of few cores.",
        ),
    ]
}

/// A fixed piece of work.
fn worked() {
    use sha2::{Digest, Sha256};
    let mut hash = Sha256::new();
    for number in 0..200_000_u64 {
        hash.update(number.to_le_bytes());
    }
    assert_ne!(hash.finalize()[..], [0; 32]);
}

/// A word to the real creature without a key, and what a window costs while that rests.
fn beside_a_life(plan: &Plan) -> Vec<Row> {
    plan.say("a clone of this repository, warmed with what is built already");
    let (clone, guardian) = settled_clone("survival");
    let house = &clone.house;
    let window = Window::open(house);
    window.until("rests", 0);
    let (mut heard, mut answered) = (Vec::new(), Vec::new());
    for round in 0..plan.scaled(10, 3) {
        plan.progress(round, plan.scaled(10, 3));
        std::thread::sleep(Duration::from_millis(1_300 + 170 * round as u64));
        let word = format!("remind me in {} hours to look", round + 2);
        let after = window.printed();
        (&window.ours).write_all(word.as_bytes()).unwrap();
        // Pressed by a hand, the last key comes after the others are on the screen.
        std::thread::sleep(Duration::from_millis(300));
        let begun = stand_in::now();
        (&window.ours).write_all(b"\r").unwrap();
        let thinks = || thought_of(&house.path(".self/memory.jsonl"), &word);
        while !thinks() {
            assert!(stand_in::now() - begun < PATIENCE.as_secs_f64() * 1e3, "no thought has {word}");
            std::thread::sleep(Duration::from_millis(2));
        }
        heard.push(stand_in::now() - begun);
        window.until("answer", after);
        answered.push(stand_in::now() - begun);
    }
    plan.say("idle");
    let part = Duration::from_secs(plan.scaled(15, 5));
    std::thread::sleep(Duration::from_secs(2));
    let (mut samples, mut last) = (Vec::new(), Cost::of(window.child.id() as i32));
    for _ in 0..plan.scaled(4, 2) {
        std::thread::sleep(part);
        let now = Cost::of(window.child.id() as i32);
        samples.push(now.since(&last, part));
        last = now;
    }
    let of = |at: usize| samples.iter().map(|sample| sample[at]).collect::<Vec<f64>>();
    drop(window);
    assert_eq!(guardian.stop(), 0);
    let method = "Enter in a window to a thought that has the word, on record; and to its answer at that window's pty. The real \
        creature on instinct, at rest when the word comes.";
    let share: Vec<f64> = of(3).iter().map(|ran_ms| ran_ms / 600.0).collect();
    let idle = "One window beside the real creature on instinct, which wakes every few seconds here.";
    vec![
        Row::new("a word → the first thought that has it", "ms", &heard, method).aim("< 2 s"),
        Row::new("a word → its answer on that screen", "ms", &answered, method),
        Row::new("a window, idle: of one core", "%", &share, idle).aim("< 1 %"),
        Row::new("a window, idle: resident", "MiB", &of(0), idle).aim("< 30 MiB"),
        Row::new("a window, idle: proportional", "MiB", &of(1), idle),
        Row::new("a window, idle: wakeups", "a minute", &of(2), idle),
    ]
}

/// Whether a thought was begun after the word was heard.
fn thought_of(memory: &Path, word: &str) -> bool {
    let records: Vec<Value> = lines(memory);
    let has = |record: &Value| record["kind"] == "message" && record["data"]["text"] == word;
    let Some(at) = records.iter().rposition(has) else { return false };
    records[at..].iter().any(|record| record["kind"] == "thought" && record["data"]["owner"] == true)
}
