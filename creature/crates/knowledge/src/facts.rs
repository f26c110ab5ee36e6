//! Facts: what the creature holds for true, a line each with source and date, and how they are merged. Pure.
//!
//! Invariant: merging loses no statement: two facts become one only where they say the same in the same order, up to
//! case, marks, articles and plurals; the earliest stays, with its source. What differs in a word is another fact.
//! Invariant: a line that is no fact stays as it is, where it is.

use std::collections::{BTreeMap, BTreeSet};

/// Characters of one fact, and of its source.
pub const MOST_TEXT: usize = 500;
pub const MOST_SOURCE: usize = 120;

/// One statement.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fact {
    pub text: String,
    /// Who said so: an address, a tool, a person.
    pub source: String,
    /// The day it was learned, as in `2026-03-01`; empty where nobody wrote it down.
    pub date: String,
}

/// A line of the paper.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Line {
    Fact(Fact),
    Other(String),
}

/// What merging came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Merged {
    pub text: String,
    /// What went, and into what.
    pub gone: Vec<(String, String)>,
}

impl Fact {
    /// On one line, within bounds.
    pub fn new(text: &str, source: &str, date: &str) -> Self {
        let date = if is_date(date) { date.to_owned() } else { String::new() };
        Self { text: flat(text, MOST_TEXT), source: source_of(source), date }
    }

    fn line(&self) -> String {
        match (self.source.is_empty(), self.date.is_empty()) {
            (true, true) => format!("- {}", self.text),
            (true, false) => format!("- {} [{}]", self.text, self.date),
            (false, true) => format!("- {} [{}]", self.text, self.source),
            (false, false) => format!("- {} [{}, {}]", self.text, self.source, self.date),
        }
    }

    /// What it says, the same for all that says the same.
    pub fn sense(&self) -> Vec<String> {
        sense(&self.text)
    }
}

/// Reads the paper, line by line.
pub fn read(text: &str) -> Vec<Line> {
    text.lines().map(line).collect()
}

/// The facts alone, in their order; a fact's number is its place here, counted from 1.
pub fn list(text: &str) -> Vec<Fact> {
    let fact = |line| if let Line::Fact(fact) = line { Some(fact) } else { None };
    read(text).into_iter().filter_map(fact).collect()
}

/// The paper of these lines.
pub fn write(lines: &[Line]) -> String {
    let line = |line: &Line| match line {
        Line::Fact(fact) => fact.line() + "\n",
        Line::Other(text) => format!("{text}\n"),
    };
    lines.iter().map(line).collect()
}

/// Adds a fact at the end; what says the same already stays instead of it, and is given back.
pub fn add(text: &str, fact: &Fact) -> Result<String, Fact> {
    let sense = fact.sense();
    match list(text).into_iter().find(|known| known.sense() == sense) {
        Some(known) => Err(known),
        None => {
            let mut lines = read(text);
            lines.push(Line::Fact(fact.clone()));
            Ok(write(&lines))
        }
    }
}

/// Merges what says the same; the place is the first's, the words and the source are the earliest's.
pub fn merge(text: &str) -> Merged {
    let mut first: BTreeMap<Vec<String>, usize> = BTreeMap::new();
    let (mut lines, mut gone): (Vec<Line>, Vec<(String, String)>) = (Vec::new(), Vec::new());
    for line in read(text) {
        let Line::Fact(fact) = line else {
            lines.push(line);
            continue;
        };
        match first.get(&fact.sense()).and_then(|at| lines.get_mut(*at)) {
            Some(Line::Fact(known)) => {
                let (stays, goes) = match earlier(&fact, known) {
                    true => (fact.clone(), std::mem::take(known)),
                    false => (known.clone(), fact),
                };
                gone.push((goes.text, stays.text.clone()));
                *known = stays;
            }
            _ => {
                first.insert(fact.sense(), lines.len());
                lines.push(Line::Fact(fact));
            }
        }
    }
    Merged { text: write(&lines), gone }
}

/// Puts one fact, in these words, in the place of several, given by their numbers; source and date are the earliest's.
/// Refused where a figure would be lost or made up: words can be put differently, figures cannot.
pub fn unite(text: &str, numbers: &[usize], words: &str) -> Result<Merged, String> {
    let wanted: BTreeSet<usize> = numbers.iter().copied().collect();
    let facts = list(text);
    let chosen: Vec<&Fact> = wanted.iter().filter_map(|number| facts.get(number.checked_sub(1)?)).collect();
    if chosen.len() != wanted.len() || wanted.len() != numbers.len() || wanted.len() < 2 {
        return Err(format!("{numbers:?} are not two or more facts, each once"));
    }
    let Some(earliest) = chosen.iter().copied().reduce(|a, b| if earlier(b, a) { b } else { a }) else {
        return Err("there is nothing to unite".to_owned());
    };
    if words.split_whitespace().next().is_none() || words.chars().count() > MOST_TEXT {
        return Err(format!("the words are none, or more than {MOST_TEXT} characters"));
    }
    let one = Fact { text: flat(words, MOST_TEXT), ..earliest.clone() };
    let before: BTreeSet<String> = chosen.iter().flat_map(|fact| figures(&fact.text)).collect();
    if before != figures(&one.text).into_iter().collect() {
        return Err(format!("the figures of {numbers:?} and of the words are not the same"));
    }
    let gone = chosen.iter().map(|fact| (fact.text.clone(), one.text.clone())).collect();
    let (mut number, mut placed) = (0, false);
    let mut lines = Vec::new();
    for line in read(text) {
        number += usize::from(matches!(line, Line::Fact(_)));
        match line {
            Line::Fact(_) if wanted.contains(&number) => {
                if !placed {
                    lines.push(Line::Fact(one.clone()));
                }
                placed = true;
            }
            line => lines.push(line),
        }
    }
    Ok(Merged { text: write(&lines), gone })
}

/// What the paper was before a change, with what came after the change added.
pub fn undo(before: &str, after: &str, now: &str) -> String {
    let mut lines = read(before);
    let known: Vec<Line> = read(after).into_iter().chain(lines.iter().cloned()).collect();
    lines.extend(read(now).into_iter().filter(|line| !known.contains(line)));
    write(&lines)
}

/// Known for longer; a fact without a date is later than any with one, and of two the one above is the earlier.
fn earlier(one: &Fact, other: &Fact) -> bool {
    match (one.date.is_empty(), other.date.is_empty()) {
        (true, _) => false,
        (false, true) => true,
        (false, false) => one.date < other.date,
    }
}

fn line(line: &str) -> Line {
    let Some(said) = line.strip_prefix("- ").map(str::trim).filter(|said| !said.is_empty()) else {
        return Line::Other(line.to_owned());
    };
    let inner = said.strip_suffix(']').and_then(|said| said.rsplit_once(" ["));
    let fact = match inner {
        None => Fact { text: said.to_owned(), ..Fact::default() },
        Some((text, mark)) => {
            let (source, date) = match mark.rsplit_once(", ") {
                Some((source, date)) if is_date(date) => (source, date),
                _ if is_date(mark) => ("", mark),
                _ => (mark, ""),
            };
            let (text, source) = (text.trim().to_owned(), source.to_owned());
            Fact { text, source, date: date.to_owned() }
        }
    };
    // A line that would be written otherwise is somebody's own, and stays as it is.
    match Line::Fact(fact.clone()) {
        fact_line if fact.line() == line => fact_line,
        _ => Line::Other(line.to_owned()),
    }
}

fn is_date(text: &str) -> bool {
    let plain = |(at, letter): (usize, char)| match at {
        4 | 7 => letter == '-',
        _ => letter.is_ascii_digit(),
    };
    text.len() == 10 && text.chars().enumerate().all(plain)
}

fn flat(text: &str, most: usize) -> String {
    let one_line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    one_line.chars().take(most).collect::<String>().trim_end().to_owned()
}

/// A source that can be read back: no brackets, and no date at its end.
fn source_of(source: &str) -> String {
    let mut source = flat(&source.replace(['[', ']'], ""), MOST_SOURCE);
    while let Some(rest) = source.rsplit_once(", ").filter(|(_, date)| is_date(date)).map(|(rest, _)| rest) {
        source = rest.to_owned();
    }
    if is_date(&source) { String::new() } else { source }
}

/// The figures of a text: every run of letters and digits that has a digit.
fn figures(text: &str) -> Vec<String> {
    words(text).into_iter().filter(|word| word.chars().any(|letter| letter.is_ascii_digit())).collect()
}

fn words(text: &str) -> Vec<String> {
    let lower = text.to_lowercase().replace('’', "'");
    let letters = |letter: char| letter.is_alphanumeric() || "'.,-+%$€/:".contains(letter);
    let words = lower.split(|letter: char| !letter.is_alphanumeric() && !letters(letter));
    // Marks count within a word, as in 3.5, -4 and isn't, not around it; a sign before a figure is of it.
    let trim = |word: &str| {
        let word = word.trim_end_matches(['\'', '.', ',', '-', '/', ':']);
        let word = word.trim_start_matches(['\'', '.', ',', '/', ':']);
        let signed =
            word.strip_prefix('-').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
        if signed { word.to_owned() } else { word.trim_start_matches('-').to_owned() }
    };
    words.map(trim).filter(|word| !word.is_empty()).collect()
}

fn sense(text: &str) -> Vec<String> {
    let mut sense = Vec::new();
    for word in words(text) {
        if let Some(before) = word.strip_suffix("n't") {
            let before = if before == "ca" { "can" } else { before };
            sense.extend([before.to_owned(), "not".to_owned()]);
        } else if ["a", "an", "the"].contains(&word.as_str()) {
        } else {
            sense.push(singular(&word));
        }
    }
    // A text of marks and articles alone still says something: itself.
    if sense.is_empty() { vec![text.trim().to_owned()] } else { sense }
}

fn singular(word: &str) -> String {
    let plain = word.chars().all(|letter| letter.is_ascii_alphabetic());
    match word.strip_suffix('s') {
        Some(one) if plain && one.len() > 3 && !one.ends_with(['s', 'u', 'i']) => one.to_owned(),
        _ => word.to_owned(),
    }
}
