//! Memory that is torn, garbage, one endless line, full of NULs, or poison.

use super::STATE;
use super::files::{next_life, nobody_died_of_it, patient};
use crate::survival::matrix::Row;
use crate::survival::trial::Trial;
use std::fs;
use std::io::Write;
use trials::House;

const DAMAGED: &str =
    "a torn tail, garbage lines, a line of 100 MB with and without its end, and NULs, one after the other";

pub const ROWS: &[Row] = &[
    Row::new(STATE, "damaged memory", DAMAGED, |trial| {
        // What every creature does first: ends a torn line.
        trial.shell("echo >> .self/memory.jsonl; think first; live");
        damaged(trial);
    })
    .twice(),
    Row::new(STATE, "damaged memory, real creature", DAMAGED, |trial| {
        trial.real();
        damaged(trial);
    })
    .real(),
    Row::new(
        STATE,
        "poisoned memory",
        "a line of memory makes every life of the good commit crash, until the owner moves that memory aside",
        poisoned,
    )
    .quick()
    .twice(),
];

/// Damages, each with what of it can be found again.
fn damages() -> [(&'static str, Vec<u8>); 5] {
    let long = |end: &str| [&b"{\"at\":\"".repeat(15 << 20)[..100 << 20], end.as_bytes()].concat();
    [
        ("a torn tail", b"{\"at\":\"2026-01-01T00:00:00.000Z\",\"life\":1,\"kind\":\"thou".to_vec()),
        ("garbage", b"\n\xff\xfe garbage\n{]}\n\xc3(\n\"text\"\n[1,2\n{\"life\":\"one\"}\n".to_vec()),
        ("NULs", [&b"\0".repeat(70_000)[..], b"\n"].concat()),
        ("a line of 100 MB", long("\n")),
        ("a line of 100 MB without its end", long("")),
    ]
}

fn damaged(trial: &mut Trial) {
    patient(trial);
    trial.begin();
    trial.inject(|_| {});
    let mut whole = 0;
    for (what, bytes) in damages() {
        whole += bytes.len() as u64;
        next_life(trial, |trial| append(trial.house(), &bytes));
        nobody_died_of_it(trial, what);
    }
    let now = fs::metadata(trial.house().path(".self/memory.jsonl")).unwrap().len();
    assert!(now > whole, "{} bytes of memory are gone", whole - now);
    trial.note(format!("{} MB of damage stand where they were, skipped", whole >> 20));
}

fn append(house: &House, bytes: &[u8]) {
    let memory = fs::File::options().append(true).open(house.path(".self/memory.jsonl"));
    memory.unwrap().write_all(bytes).unwrap();
}

fn poisoned(trial: &mut Trial) {
    trial.shell(
        "if [ -z \"$FERAL_SAFE\" ] && grep -q 'a poison' .self/memory.jsonl; then exit 9; fi; \
         while :; do think again; sleep 0.1; done",
    );
    trial.begin();
    trial.inject(|trial| {
        append(
            trial.house(),
            b"{\"at\":\"2026-01-01T00:00:00.000Z\",\"life\":1,\"kind\":\"note\",\"data\":\"a poison\"}\n",
        );
        trial.kill_creature();
    });
    let safe = |house: &House| house.told("life").iter().filter(|life| life["safe"] == true).count();
    trial.until("safe mode", |house| house.status()["safe"] == true && house.status()["phase"] == "settled");
    // It is left by itself, again and again, to see whether a normal life can be lived by now.
    let (before, lives) = (safe(trial.house()), trial.house().told("life").len());
    trial.until("a normal life to be tried, and safe mode again", |house| {
        safe(house) > before && house.told("life").iter().skip(lives).any(|life| life["safe"] == false)
    });
    // The owner mends what nobody else may: nothing of memory is deleted, it only makes way.
    let house = trial.house();
    fs::rename(house.path(".self/memory.jsonl"), house.path(".self/memory-poisoned.jsonl")).unwrap();
    trial.recovers();
    let safe = safe(trial.house());
    assert!(trial.house().told("fall").is_empty(), "good code was put back for its data");
    trial.note(format!("{safe} lives in safe mode, left for good once the memory was moved aside"));
}
