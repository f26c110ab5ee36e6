//! Hostile bytes: files of a folder of cases, damaged and joined, each put to a check; fewer damages are sought where one fails.
//!
//! A run has the same few cases each time. `FERAL_CASES=100000 cargo test …` has so many, other ones each time.

pub mod taken;

use proptest::prelude::*;
use proptest::sample::Index;
use proptest::strategy::Strategy;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestRng, TestRunner};
use std::path::Path;
use std::time::Duration;

/// Pieces that readers of several kinds fall over.
const PIECES: [&str; 24] = [
    "",
    "\0",
    "\r\n",
    "\n",
    "\u{feff}",
    "\u{fffd}",
    "é",
    "😀",
    "\\ud83d",
    "\"",
    "'",
    "\\",
    "{",
    "}",
    "[",
    "]",
    "<",
    ">",
    "&#x110000;",
    "&",
    "-->",
    "]]>",
    "```",
    "-99999999999999999999",
];

/// Bytes of one case, and processor time for its check: one that grows with the square of its bytes takes longer.
const MOST_BYTES: usize = 64 * 1024;
const MOST_TIME: Duration = Duration::from_secs(10);

/// Time in which fewer damages are sought.
const MOST_SHRINKING: Duration = Duration::from_secs(60);

#[derive(Clone, Debug)]
enum Damage {
    Cut(Index),
    Remove(Index, usize),
    Insert(Index, Index),
    Byte(Index, u8),
    /// A stretch said many times over.
    Repeat(Index, usize, usize),
    /// The end of another file in the place of this one's.
    Join(Index, Index, Index),
}

fn damage() -> impl Strategy<Value = Damage> {
    let at = any::<Index>;
    prop_oneof![
        at().prop_map(Damage::Cut),
        (at(), 1..40_usize).prop_map(|(at, length)| Damage::Remove(at, length)),
        (at(), at()).prop_map(|(at, piece)| Damage::Insert(at, piece)),
        (at(), any::<u8>()).prop_map(|(at, byte)| Damage::Byte(at, byte)),
        (at(), 1..80_usize, 1..4_000_usize).prop_map(|(at, length, times)| Damage::Repeat(at, length, times)),
        (at(), at(), at()).prop_map(|(at, other, from)| Damage::Join(at, other, from)),
    ]
}

fn damaged(mut bytes: Vec<u8>, damages: &[Damage], seeds: &[Vec<u8>], pieces: &[&str]) -> Vec<u8> {
    for damage in damages {
        let place = |at: &Index| at.index(bytes.len() + 1);
        let stretch = |at: &Index, length: usize| place(at)..(place(at) + length).min(bytes.len());
        match damage {
            Damage::Cut(at) => bytes.truncate(place(at)),
            Damage::Remove(at, length) => drop(bytes.drain(stretch(at, *length))),
            Damage::Insert(at, piece) => {
                let all: Vec<&&str> = PIECES.iter().chain(pieces).collect();
                let at = place(at);
                drop(bytes.splice(at..at, piece.get(&all).bytes()));
            }
            Damage::Byte(at, byte) => {
                let at = place(at);
                bytes.get_mut(at).into_iter().for_each(|there| *there = *byte);
            }
            Damage::Repeat(at, length, times) => {
                let stretch = stretch(at, *length);
                let times = (*times).min(MOST_BYTES / stretch.len().max(1));
                let said = bytes[stretch.clone()].repeat(times);
                drop(bytes.splice(stretch, said));
            }
            Damage::Join(at, other, from) => {
                let other = other.get(seeds);
                bytes.truncate(place(at));
                bytes.extend(&other[from.index(other.len() + 1)..]);
            }
        }
        bytes.truncate(MOST_BYTES);
    }
    bytes
}

/// The files of a folder of cases whose names end in one of `ends`, in the order of their names.
pub fn seeds(folder: &str, ends: &[&str]) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/cases").join(folder);
    let paths = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
    let mut paths: Vec<_> =
        paths.filter(|path| path.extension().is_some_and(|end| ends.iter().any(|it| end == *it))).collect();
    paths.sort();
    assert!(!paths.is_empty(), "no {ends:?} in {}", folder.display());
    paths.iter().map(|path| std::fs::read(path).unwrap()).collect()
}

/// A case, shown as the literal that it is in a test.
#[derive(Clone)]
struct Hostile(Vec<u8>);

impl std::fmt::Debug for Hostile {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "b\"{}\"", self.0.escape_ascii())
    }
}

/// Puts `cases` damaged seeds to the check, or as many as the environment says. `pieces`: what this reader may fall over.
pub fn withstands(
    seeds: Vec<Vec<u8>>,
    pieces: &'static [&'static str],
    cases: u32,
    check: impl Fn(&[u8]) -> Result<(), TestCaseError>,
) {
    let all = seeds.clone();
    let hostile = (any::<Index>(), prop::collection::vec(damage(), 0..6))
        .prop_map(move |(seed, damages)| Hostile(damaged(seed.get(&all).clone(), &damages, &all, pieces)));
    run(hostile, cases, |Hostile(bytes)| check(&bytes));
}

/// Puts so many damaged seeds to the check, each with what further damages make of it.
#[allow(dead_code, reason = "not every reader compares two texts")]
pub fn withstands_changes(
    seeds: Vec<Vec<u8>>,
    pieces: &'static [&'static str],
    cases: u32,
    check: impl Fn(&[u8], &[u8]) -> Result<(), TestCaseError>,
) {
    let damages = || prop::collection::vec(damage(), 0..6);
    let hostile = (any::<Index>(), damages(), damages()).prop_map(move |(seed, first, more)| {
        let before = damaged(seed.get(&seeds).clone(), &first, &seeds, pieces);
        let after = damaged(before.clone(), &more, &seeds, pieces);
        (Hostile(before), Hostile(after))
    });
    run(hostile, cases, |(Hostile(before), Hostile(after))| check(&before, &after));
}

fn run<S: Strategy>(hostile: S, cases: u32, check: impl Fn(S::Value) -> Result<(), TestCaseError>) {
    let more =
        std::env::var("FERAL_CASES").ok().map(|cases| cases.parse::<u32>().expect("FERAL_CASES is a number"));
    let config = Config {
        cases: more.unwrap_or(cases),
        failure_persistence: None,
        max_shrink_iters: 2_000,
        // A case that is slow is so each time it is tried.
        max_shrink_time: MOST_SHRINKING.as_millis() as u32,
        ..Config::default()
    };
    let mut runner = match more {
        Some(_) => TestRunner::new(config),
        None => TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha)),
    };
    let soon = |value: S::Value| {
        let begun = taken::taken();
        check(value)?;
        let took = taken::taken() - begun;
        prop_assert!(took < MOST_TIME, "took {took:?} of the processor");
        Ok(())
    };
    runner.run(&hostile, soon).unwrap_or_else(|failed| panic!("{failed}"));
}
