//! Finds the new sentences of a page that is looked at again and again. Pure.
//!
//! Invariant: clocks and counters make no news, and a sentence is told once.

use crate::summary;
use crate::text::{hash, keep_last};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Sentences remembered of a page; a forgotten one may be told again, should it come back.
const MOST_SENTENCES: usize = 400;

/// Looks in a row at which a sentence may come with other numbers and be told; from then on it is a counter.
const MOST_MOVES: u8 = 3;

/// Words beside which a number only counts, or tells the time.
const COUNTERS: &str = "ago visitor visitors visits views viewed viewers online hits reads likes votes \
    points comments replies followers subscribers shares stars clicks downloads users members guests \
    watching rendered generated cached uptime remaining left elapsed queries session showing";

const MONTHS_AND_DAYS: &str = "january february march april may june july august september october november \
    december jan feb mar apr jun jul aug sep sept oct nov dec monday tuesday wednesday thursday friday \
    saturday sunday mon tue wed thu fri sat sun";

/// Spans of time of which one has several.
const UNITS: &str = "s ms µs millisecond sec second min minute hr hour day week";

/// Sentences known of a page.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Known {
    /// Hashes of its sentences without clocks and counters, oldest first.
    pub sentences: Vec<u64>,
    /// Hashes of those sentences without any number.
    pub shapes: Vec<u64>,
    /// Sentences, by shape, whose numbers were others at the last looks in a row: at how many.
    pub moving: BTreeMap<u64, u8>,
}

impl Known {
    /// The sentences of a page that were not on it before; from now on they are known.
    pub fn news(&mut self, text: &str) -> Vec<String> {
        let (mut new, mut here) = (Vec::new(), Vec::new());
        for sentence in summary::sentences_of(text) {
            let (still, shape) = (hash(&still(&sentence)), hash(&shape(&sentence)));
            let known = self.sentences.contains(&still);
            let moved = !known && self.shapes.contains(&shape) && sentence.contains(char::is_numeric);
            if known {
                self.moving.remove(&shape);
            } else if moved {
                let moves = self.moving.entry(shape).or_default();
                *moves = moves.saturating_add(1);
            }
            here.push((still, shape));
            let counts = self.moving.get(&shape).is_some_and(|moves| *moves > MOST_MOVES);
            if !(known || moved && counts) {
                new.push(sentence);
            }
        }
        for (still, shape) in here {
            keep(&mut self.sentences, still);
            keep(&mut self.shapes, shape);
        }
        self.moving.retain(|shape, _| self.shapes.contains(shape));
        new
    }
}

/// Puts a hash last, and forgets the first of too many.
fn keep(list: &mut Vec<u64>, hash: u64) {
    list.retain(|known| *known != hash);
    list.push(hash);
    keep_last(list, MOST_SENTENCES);
}

/// A sentence without what changes by itself: times, dates, spans, counts, and keys that are made anew.
fn still(sentence: &str) -> String {
    let words: Vec<String> = sentence.split_whitespace().map(|word| bare(word).to_lowercase()).collect();
    let words = without_ages(words);
    let counts = words.iter().any(|word| is_in(COUNTERS, word));
    let dated = words.iter().any(|word| is_in(MONTHS_AND_DAYS, word) && word != "may" && word != "march");
    let kept = words.iter().enumerate().map(|(at, word)| {
        let next = words.get(at + 1).map_or("", String::as_str);
        let number = word.contains(|c: char| c.is_ascii_digit());
        let day = is_in(MONTHS_AND_DAYS, word) && (dated || counts);
        let moves = number && (counts || is_time(word) || is_unit(next) || is_key(word));
        // In a sentence with a name of a month or day, a day of the month and a year are no news.
        let of_date = number && dated && is_day_or_year(word);
        let ago = counts && matches!(word.as_str(), "a" | "an" | "just" | "now" | "yesterday" | "today");
        match day || moves || of_date || ago || (counts && is_unit(word)) {
            true => "#",
            // "12 days", and then "1 day".
            false if at > 0 && is_unit(word) && is_number(&words, at - 1) => word.trim_end_matches('s'),
            false => word.as_str(),
        }
    });
    kept.collect::<Vec<_>>().join(" ")
}

fn is_number(words: &[String], at: usize) -> bool {
    words.get(at).is_some_and(|word| word.contains(|c: char| c.is_ascii_digit()))
}

/// Words in which a post grows older, each as one mark: "just now", "1 minute ago", "about an hour ago", "yesterday".
fn without_ages(words: Vec<String>) -> Vec<String> {
    let mut kept: Vec<String> = Vec::with_capacity(words.len());
    for word in words {
        let last =
            |back: usize| kept.len().checked_sub(back).and_then(|at| kept.get(at)).map_or("", String::as_str);
        let counted =
            last(2).starts_with(|c: char| c.is_ascii_digit()) || matches!(last(2), "a" | "an" | "one");
        let taken = match word.as_str() {
            "now" if last(1) == "just" => 1,
            "ago" if counted && (is_unit(last(1)) || is_long_unit(last(1))) => 2,
            "ago" if matches!(last(1), "moments" | "seconds" | "minutes" | "hours" | "days") => 1,
            "yesterday" => 0,
            _ => {
                kept.push(word);
                continue;
            }
        };
        kept.truncate(kept.len().saturating_sub(taken));
        if matches!(kept.last().map(String::as_str), Some("about" | "over" | "almost")) {
            kept.pop();
        }
        kept.push("#".to_owned());
    }
    kept
}

fn is_long_unit(word: &str) -> bool {
    matches!(word.trim_end_matches('s'), "month" | "year" | "moment")
}

/// A sentence with a mark in the place of each number.
fn shape(sentence: &str) -> String {
    let mut shape = String::with_capacity(sentence.len());
    for letter in still(sentence).chars() {
        match letter.is_numeric() || (shape.ends_with('#') && matches!(letter, '#' | '.' | ',')) {
            true if shape.ends_with('#') => {}
            true => shape.push('#'),
            false => shape.push(letter),
        }
    }
    shape
}

fn bare(word: &str) -> &str {
    word.trim_matches(|c: char| !c.is_alphanumeric() && c != '$' && c != '€' && c != '%')
}

/// `10:15`, `10:15:02`, `2026-11-25`, `25.11.2026`, `11/25/26`, `2026-11-25T10:15:02Z`, `10am`.
fn is_time(word: &str) -> bool {
    let digits_between = |mark: char, parts: std::ops::RangeInclusive<usize>| {
        let split: Vec<&str> = word.split(mark).collect();
        let number =
            |part: &&str| !part.is_empty() && part.len() <= 4 && part.bytes().all(|b| b.is_ascii_digit());
        parts.contains(&split.len()) && split.iter().all(number)
    };
    let year = |mark: char| word.split(mark).any(|part| part.len() == 4);
    let stamp = word.split_once('t').is_some_and(|(day, time)| is_time(day) && time.contains(':'));
    let hour =
        word.strip_suffix("am").or(word.strip_suffix("pm")).is_some_and(|hour| hour.parse::<u8>().is_ok());
    let date =
        digits_between('-', 3..=3) || digits_between('/', 3..=3) || (digits_between('.', 3..=3) && year('.'));
    digits_between(':', 2..=3) || date || stamp || hour
}

/// A word after which a number is a span of time.
fn is_unit(word: &str) -> bool {
    is_in(UNITS, word) || word.strip_suffix('s').is_some_and(|one| is_in(UNITS, one))
}

fn is_in(list: &str, word: &str) -> bool {
    list.split(' ').any(|one| one == word)
}

fn is_day_or_year(word: &str) -> bool {
    let bare = ["st", "nd", "rd", "th"].iter().find_map(|end| word.strip_suffix(end)).unwrap_or(word);
    bare.parse::<u32>().is_ok_and(|number| (1..=31).contains(&number) || (1990..=2100).contains(&number))
}

/// Whether a word looks like a key that is made anew for each reader.
fn is_key(word: &str) -> bool {
    let digits = word.bytes().filter(u8::is_ascii_digit).count();
    word.len() >= 16
        && digits >= 3
        && word.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
}
