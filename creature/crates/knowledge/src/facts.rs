//! Facts: what the creature holds for true, a line each with source and date, and how they are merged. Pure.
//!
//! Invariant: merging loses no statement: two facts become one only where they say the same in the same order, up
//! to case, marks, articles and plurals; the earliest stays, with its source. Another word makes another fact.
//! Invariant: a line that is no fact stays as it is, where it is.

use ground::text;
use std::collections::{BTreeMap, BTreeSet};

/// Characters of one fact, and of its source.
pub const MOST_TEXT: usize = 500;
pub const MOST_SOURCE: usize = 120;

/// Statement with its source and its date.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fact {
    pub text: String,
    /// Source of the statement: an address, a tool, a person.
    pub source: String,
    /// The day it was learned, as in `2026-03-01`; empty where nobody wrote it down.
    pub date: String,
}

/// A line of the paper of facts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Line {
    Fact(Fact),
    Other(String),
}

impl Fact {
    /// A fact on one line, cut to the bounds; a `date` that is not in the form of one is dropped.
    pub fn new(text: &str, source: &str, date: &str) -> Self {
        let date = if is_date(date) { date.to_owned() } else { String::new() };
        Self { text: flat(text, MOST_TEXT), source: source_of(source), date }
    }

    fn line(&self) -> String {
        let mark = match (self.source.as_str(), self.date.as_str()) {
            ("", "") => return format!("- {}", self.text),
            ("", mark) | (mark, "") => mark,
            (source, date) => &format!("{source}, {date}"),
        };
        format!("- {} [{mark}]", self.text)
    }

    /// The words of the fact, brought to one form: the same for all facts that say the same.
    pub fn sense(&self) -> Vec<String> {
        let mut sense = Vec::new();
        for word in words_and_figures(&self.text) {
            match word.strip_suffix("n't") {
                Some(verb) => {
                    sense.extend([if verb == "ca" { "can" } else { verb }, "not"].map(str::to_owned))
                }
                None if ["a", "an", "the"].contains(&word.as_str()) => {}
                None => sense.push(singular(&word).to_owned()),
            }
        }
        // A text of marks and articles alone still says something: itself.
        if sense.is_empty() { vec![self.text.trim().to_owned()] } else { sense }
    }

    /// Sorts facts by how long they are known, the longest first; those without a date come last.
    fn since(&self) -> (bool, &str) {
        (self.date.is_empty(), &self.date)
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

/// Adds a fact at the end; where a fact says the same already, nothing is added and that fact is the error.
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

/// Merges facts that say the same, at the place of the first, with words, source and date of the earliest.
pub fn merge(text: &str) -> String {
    let mut first: BTreeMap<Vec<String>, usize> = BTreeMap::new();
    let mut lines: Vec<Line> = Vec::new();
    for line in read(text) {
        if let Line::Fact(fact) = &line {
            if let Some(Line::Fact(known)) = first.get(&fact.sense()).and_then(|at| lines.get_mut(*at)) {
                if fact.since() < known.since() {
                    *known = fact.clone();
                }
                continue;
            }
            first.insert(fact.sense(), lines.len());
        }
        lines.push(line);
    }
    write(&lines)
}

/// Puts one fact, in these words, in the place of several, given by their numbers; source and date are those of
/// the earliest. Refused where a figure would be lost or made up: words can be put differently, figures cannot.
pub fn unite(text: &str, numbers: &[usize], words: &str) -> Result<String, String> {
    let facts = list(text);
    let wanted: BTreeSet<usize> = numbers.iter().copied().collect();
    let chosen: Vec<&Fact> = wanted.iter().filter_map(|number| facts.get(number.checked_sub(1)?)).collect();
    let earliest = chosen.iter().min_by_key(|fact| fact.since());
    let Some(&earliest) = earliest.filter(|_| chosen.len() == numbers.len() && chosen.len() > 1) else {
        return Err(format!("{numbers:?} are not two or more facts, each once"));
    };
    if words.trim().is_empty() || words.chars().count() > MOST_TEXT {
        return Err(format!("the words are none, or more than {MOST_TEXT} characters"));
    }
    let one = Fact { text: flat(words, MOST_TEXT), ..earliest.clone() };
    if figures(&one.text) != chosen.iter().flat_map(|fact| figures(&fact.text)).collect() {
        return Err(format!("the figures of {numbers:?} and of the words are not the same"));
    }
    let (mut number, mut one) = (0, Some(one));
    let mut lines = Vec::new();
    for line in read(text) {
        number += usize::from(matches!(line, Line::Fact(_)));
        match line {
            Line::Fact(_) if wanted.contains(&number) => lines.extend(one.take().map(Line::Fact)),
            line => lines.push(line),
        }
    }
    Ok(write(&lines))
}

/// The paper as it was `before` a change, with the lines of `now` added that the change (`after`) did not make.
pub fn undo(before: &str, after: &str, now: &str) -> String {
    let mut lines = read(before);
    let known: Vec<Line> = read(after).into_iter().chain(lines.iter().cloned()).collect();
    lines.extend(read(now).into_iter().filter(|line| !known.contains(line)));
    write(&lines)
}

fn line(line: &str) -> Line {
    let said = line.strip_prefix("- ").unwrap_or_default().trim();
    let (text, mark) = said.strip_suffix(']').and_then(|said| said.rsplit_once(" [")).unwrap_or((said, ""));
    let (source, date) = match mark.rsplit_once(", ") {
        Some((source, date)) if is_date(date) => (source, date),
        _ if is_date(mark) => ("", mark),
        _ => (mark, ""),
    };
    let fact = Fact { text: text.trim().to_owned(), source: source.to_owned(), date: date.to_owned() };
    // A line that `Fact::line` would write otherwise was not written by it, and stays as it is.
    if !said.is_empty() && fact.line() == line { Line::Fact(fact) } else { Line::Other(line.to_owned()) }
}

fn is_date(text: &str) -> bool {
    let plain = |(at, letter): (usize, char)| match at {
        4 | 7 => letter == '-',
        _ => letter.is_ascii_digit(),
    };
    text.len() == 10 && text.chars().enumerate().all(plain)
}

fn flat(text: &str, most: usize) -> String {
    text::first(&text::one_line(text), most).trim_end().to_owned()
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
fn figures(text: &str) -> BTreeSet<String> {
    words_and_figures(text)
        .into_iter()
        .filter(|word| word.chars().any(|letter| letter.is_ascii_digit()))
        .collect()
}

/// Words in lower case, and figures with the marks that belong to them.
fn words_and_figures(text: &str) -> Vec<String> {
    let lower = text.to_lowercase().replace('’', "'");
    let words = lower.split(|letter: char| !letter.is_alphanumeric() && !"'.,-+%$€/:".contains(letter));
    // Marks count within a word, as in 3.5, -4 and isn't, not around it; a sign before a figure is part of it.
    let trim = |word: &str| {
        let word = word.trim_end_matches(['\'', '.', ',', '-', '/', ':']);
        let word = word.trim_start_matches(['\'', '.', ',', '/', ':']);
        let figure = word.strip_prefix('-').filter(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
        if figure.is_some() { word.to_owned() } else { word.trim_start_matches('-').to_owned() }
    };
    words.map(trim).filter(|word| !word.is_empty()).collect()
}

fn singular(word: &str) -> &str {
    let plain = word.chars().all(|letter| letter.is_ascii_alphabetic());
    match word.strip_suffix('s') {
        Some(one) if plain && one.len() > 3 && !one.ends_with(['s', 'u', 'i']) => one,
        _ => word,
    }
}
