//! What memory costs: an append beside its bare write and sync, and what a thought reads of 1 MB, 1 GB and 10 GB.
//!
//! Run by `scripts/bench`. Prints a row as a JSON line; any other line is a note.
#![allow(clippy::disallowed_methods, clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing)]

use creature::config::Told;
use creature::life::Life;
use creature::life::birth::birth;
use creature::life::passed::Reasons;
use creature::paths::House;
use creature::store::LOOK_BACK;
use creature::tools::catalogue::LIST;
use memory::{Log, Record, snapshot};
use mind::{context, situation};
use nix::fcntl::{PosixFadviseAdvice, posix_fadvise};
use nix::sys::statvfs::statvfs;
use serde_json::json;
use std::fs::{self, File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

const MB: u64 = 1 << 20;
const GB: u64 = 1 << 30;

/// Room that is left on the disk beside the largest file.
const SPARE: u64 = GB;

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    if !arguments.iter().any(|argument| argument == "--bench") {
        println!("nothing measured: this is for `cargo bench`");
        return;
    }
    let quick = arguments.iter().any(|argument| argument == "--quick");
    let folder = tempfile::tempdir().unwrap();
    let small = home(&folder.path().join("small"));
    let large = home(&folder.path().join("large"));
    grow(&small.memory(), MB);
    for (bytes, name) in [(GB, "1 GB"), (10 * GB, "10 GB")] {
        let room = free(folder.path()) + fs::metadata(large.memory()).map_or(0, |found| found.len());
        if quick && bytes > GB {
            println!("{name} is left out of a quick run.");
        } else if room < bytes + SPARE {
            println!("{name}: skipped: needs {} GB free", (bytes + SPARE) / GB);
        } else {
            eprintln!("bench: memory: writing {name} of records");
            grow(&large.memory(), bytes);
            thoughts(&small, &large, name, bytes == GB);
            appends(&large.memory(), if quick { 50 } else { 300 }, name);
        }
    }
}

fn row(what: &str, method: &str, ours: &[f64], against: &str, theirs: &[f64]) {
    let row = json!({
        "what": what, "method": method, "unit": "ms", "ours": ours, "against": against, "theirs": theirs,
    });
    println!("{row}");
}

/// A house with a purpose, papers and a snapshot, and no model to look for.
fn home(root: &Path) -> House {
    let house = House::new(root);
    for folder in [house.mind(), house.papers()] {
        fs::create_dir_all(folder).unwrap();
    }
    fs::write(house.purpose(), "# Purpose\n\nBe curious about small things.\n").unwrap();
    snapshot::write(&house.snapshots(), &"What many thoughts came to. ".repeat(100)).unwrap();
    house
}

/// Appends records, from 200 to about 8,000 bytes as thoughts and their results are, until the file is that long.
fn grow(path: &Path, bytes: u64) {
    let mut block = Vec::new();
    let most = bytes.min(16 * MB) as usize;
    for turn in 0.. {
        let text = "lorem ipsum ".repeat(10 + turn * 7919 % 640);
        let record =
            Record::new(1, "thought", json!({"thought": turn, "monologue": text, "intent": "go on"}));
        let line = serde_json::to_string(&record).unwrap() + "\n";
        if block.len() + line.len() > most {
            break;
        }
        block.extend(line.into_bytes());
    }
    let mut file = OpenOptions::new().append(true).create(true).open(path).unwrap();
    let mut length = file.metadata().unwrap().len();
    while length < bytes {
        file.write_all(&block).unwrap();
        length += block.len() as u64;
    }
    file.sync_all().unwrap();
}

/// From a house to the text that is put to a model, over a small memory and a large one in turns.
fn thoughts(small: &House, large: &House, name: &str, with_floor: bool) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let mut lives = [small, large].map(|house| {
        let house = house.clone();
        let told = Told {
            house,
            life: 2,
            commit: String::new(),
            safe: false,
            rehearsal: false,
            broker: None,
            lifeline: creature::lifeline::Lifeline::default(),
            clock: creature::clock::Clock::default(),
        };
        runtime.block_on(birth(told)).unwrap()
    });
    let (mut took, mut cold, mut bare, mut opened) =
        ([vec![], vec![]], [vec![], vec![]], vec![], [vec![], vec![]]);
    for _ in 0..60 {
        for (at, life) in lives.iter_mut().enumerate() {
            took[at].push(timed(|| assemble(life)));
        }
        bare.push(timed(|| read_end(&small.memory())));
        for (at, house) in [small, large].into_iter().enumerate() {
            opened[at].push(timed(|| drop(Log::open(&house.memory()).unwrap())));
        }
    }
    for _ in 0..20 {
        for (at, life) in lives.iter_mut().enumerate() {
            forget(&life.told.house.memory());
            cold[at].push(timed(|| assemble(life)));
        }
    }
    let method = "The creature's own way to a thought: papers, inbox, newest snapshot and the last 200 records of at \
        most 1 MiB are read, then context and prompt put together; dev build, as it lives.";
    if with_floor {
        row("context over 1 MB", method, &took[0], "bare read of the last 1 MiB", &bare);
        println!(
            "A context costs the same whatever the memory is long. It is far from the bare read: an unoptimised build, \
             quick to rebuild, counts and cuts the characters of 200 records."
        );
    }
    row(&format!("context over {name}"), method, &took[1], "1 MB", &took[0]);
    let method = "The same after the kernel was told to forget the file (`posix_fadvise`).";
    row(&format!("context over {name}, not in the page cache"), method, &cold[1], "1 MB", &cold[0]);
    let method = "What birth does before: open, look whether the last line is torn.";
    row(&format!("opening {name}"), method, &opened[1], "1 MB", &opened[0]);
}

fn assemble(life: &mut Life) {
    let moment = life.sense(0, &Reasons::default()).unwrap().moment;
    assert_eq!(moment.records.len().min(100), 100, "too little memory was read");
    let parts = context::choose(&moment, &context::Caps::default(), &LIST);
    let said = situation::standing(&parts).text + &situation::opening(&moment, &parts).text;
    assert!(said.len() > 10_000, "too little is said: {}", said.len());
}

fn read_end(path: &Path) {
    let mut file = File::open(path).unwrap();
    let start = file.metadata().unwrap().len().saturating_sub(LOOK_BACK.1);
    file.seek(SeekFrom::Start(start)).unwrap();
    let mut bytes = Vec::with_capacity(LOOK_BACK.1 as usize);
    file.read_to_end(&mut bytes).unwrap();
}

fn forget(path: &Path) {
    let file = File::open(path).unwrap();
    posix_fadvise(&file, 0, 0, PosixFadviseAdvice::POSIX_FADV_DONTNEED).unwrap();
}

/// Appends to a file just begun and to a large one, beside the bare write and sync of the same bytes.
fn appends(large: &Path, rounds: usize, name: &str) {
    let record = Record::new(7, "thought", json!({"monologue": "x".repeat(2_000)}));
    let line = serde_json::to_string(&record).unwrap() + "\n";
    let beside = |name: &str| -> PathBuf { large.with_file_name(name) };
    let (fresh, bare) = (beside("fresh.jsonl"), beside("bare.jsonl"));
    let mut logs = [Log::open(&fresh).unwrap().0, Log::open(large).unwrap().0];
    let mut file = OpenOptions::new().append(true).create(true).open(&bare).unwrap();
    let mut took = [vec![], vec![], vec![]];
    for _ in 0..rounds {
        took[0].push(timed(|| {
            file.write_all(line.as_bytes()).unwrap();
            file.sync_data().unwrap();
        }));
        took[1].push(timed(|| logs[0].append(&record).unwrap()));
        took[2].push(timed(|| logs[1].append(&record).unwrap()));
    }
    let [floor, fresh, large] = took;
    let method = "A record of 2 KB appended and synced, as memory does before each act, and the same bytes written and \
        synced bare (`fdatasync`).";
    if name == "1 GB" {
        row("append to a fresh file", method, &fresh, "bare write and sync", &floor);
    }
    row(&format!("append to {name}"), method, &large, "bare write and sync", &floor);
}

/// Milliseconds.
fn timed(act: impl FnOnce()) -> f64 {
    let start = Instant::now();
    act();
    start.elapsed().as_secs_f64() * 1e3
}

fn free(folder: &Path) -> u64 {
    let found = statvfs(folder).unwrap();
    found.blocks_available() * found.fragment_size()
}
