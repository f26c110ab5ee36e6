//! The sentence of a text that has most of the terms asked for, and the day that stands with it. Pure.

use crate::summary::sentences_of;
use crate::text;

/// Characters of a sentence.
const MOST_CHARS: usize = 300;

/// Letters at the beginning of a word that are compared, so that its ending does not matter.
const STEM: usize = 5;

/// A sentence that answers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sentence {
    pub text: String,
    /// The last day written in its line or before, as in `2026-03-01`; empty where there is none.
    pub date: String,
    /// Number of the terms that are in it.
    pub terms: usize,
}

/// The first sentence with the most terms; none where no sentence has one. A heading with a term is put before the
/// sentence below it.
pub fn best(text: &str, terms: &[String]) -> Option<Sentence> {
    let (mut best, mut heading, mut date) = (Sentence::default(), None::<String>, String::new());
    for line in text.lines() {
        date = day_in(line).unwrap_or(date);
        let plain = line.trim().trim_start_matches(['-', '*', '>', ' ']);
        if let Some(title) = plain.strip_prefix('#') {
            heading = Some(title.trim_start_matches('#').trim().to_owned());
            continue;
        }
        // A line with a day and a link says where the text is from, not what is in it.
        if plain.is_empty() || (plain.contains("://") && day_in(line).is_some()) {
            continue;
        }
        for sentence in sentences_of(plain) {
            let said = match heading.take() {
                Some(title) if matched(&title, terms) > 0 => format!("{title}: {sentence}"),
                _ => sentence,
            };
            let found = matched(&said, terms);
            if found > best.terms {
                best = Sentence { text: clip(&said), date: date.clone(), terms: found };
            }
        }
    }
    let alone = heading.map(|title| Sentence { terms: matched(&title, terms), text: title, date });
    [Some(best), alone].into_iter().flatten().find(|sentence| sentence.terms > 0)
}

/// Counts the terms that a text has, by their first letters.
pub fn matched(text: &str, terms: &[String]) -> usize {
    let words: Vec<String> = text.split(|c: char| !c.is_alphanumeric()).map(beginning).collect();
    let has = |part: &str| words.iter().any(|word| *word == beginning(part));
    let parts =
        |term: &str| term.split(|c: char| !c.is_alphanumeric()).filter(|part| !part.is_empty()).all(has);
    terms.iter().filter(|term| parts(term)).count()
}

/// The letters of a word that are compared.
fn beginning(word: &str) -> String {
    let word = word.to_lowercase();
    // A plural counts as its singular; words of up to three letters keep their `s`.
    let word = if word.chars().count() > 3 { word.trim_end_matches('s') } else { &word };
    word.chars().take(STEM).collect()
}

/// The first day written in a line.
fn day_in(line: &str) -> Option<String> {
    let shape = |word: &str| {
        let parts: Vec<usize> = word.split('-').map(str::len).collect();
        parts == [4, 2, 2] && word.chars().all(|c| c.is_ascii_digit() || c == '-')
    };
    let mut words = line.split(|c: char| !c.is_ascii_digit() && c != '-');
    words.find(|word| shape(word)).map(str::to_owned)
}

fn clip(text: &str) -> String {
    if text::count(text) <= MOST_CHARS { text.to_owned() } else { text::first(text, MOST_CHARS - 1) + "…" }
}
