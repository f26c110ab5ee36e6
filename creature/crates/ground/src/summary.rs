//! Extractive summaries: the sentences of a text that say most of it, in their own order.

use std::collections::{BTreeMap, BTreeSet};

/// Longest sentence: anything longer is text without punctuation, and is cut between words.
const LONGEST_SENTENCE_CHARS: usize = 320;
const FEWEST_WORDS: usize = 4;
/// Words that say nothing about the subject of a text; words shorter than three letters never do.
const EMPTY_WORDS: &str = "the and for are was were has have had not but you your they their them this that \
    these those with from into over about will would can could should its our his her she him who which what when \
    where while than then there here been being also more most some such only just very all any one out how \
    may might must because after before between each other same did does don't it's";

/// The `most_sentences` sentences that share most words with the rest of `text`, in original order.
///
/// The same text always gives the same summary. Scripts without spaces are compared by character.
pub fn summarise(text: &str, most_sentences: usize) -> Vec<String> {
    let empty: BTreeSet<&str> = EMPTY_WORDS.split_whitespace().collect();
    let mut seen = BTreeSet::new();
    let mut sentences: Vec<(String, Vec<String>)> = Vec::new();
    for sentence in sentences_of(text) {
        if seen.insert(sentence.to_lowercase()) {
            let words = words_of(&sentence, &empty);
            sentences.push((sentence, words));
        }
    }
    // Headings and button texts are dropped, unless there is nothing else.
    if sentences.iter().any(|(_, words)| words.len() >= FEWEST_WORDS) {
        sentences.retain(|(_, words)| words.len() >= FEWEST_WORDS);
    }
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for word in sentences.iter().flat_map(|(_, words)| words) {
        *counts.entry(word).or_default() += 1;
    }
    let mut ranked: Vec<(u64, usize)> = Vec::new();
    for (place, (_, words)) in sentences.iter().enumerate() {
        let distinct: BTreeSet<&str> = words.iter().map(String::as_str).collect();
        let weight: usize = distinct.iter().filter_map(|word| counts.get(word)).sum();
        // Divided by the square root of the length: neither the longest nor the shortest wins by that alone.
        let score = weight as f64 / (words.len().max(1) as f64).sqrt();
        // Texts say what they are about at their beginning.
        let score = if place == 0 { score * 1.3 } else { score };
        ranked.push(((score * 1000.0) as u64, place));
    }
    ranked.sort_unstable_by(|(a, first), (b, second)| b.cmp(a).then(first.cmp(second)));
    let kept: BTreeSet<usize> = ranked.into_iter().take(most_sentences).map(|(_, place)| place).collect();
    let chosen = sentences.into_iter().enumerate().filter(|(place, _)| kept.contains(place));
    chosen.map(|(_, (sentence, _))| sentence).collect()
}

/// The sentences of a text; headings and lines of lists stand for one each.
pub fn sentences_of(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for paragraph in paragraphs(text) {
        let mut sentence = String::new();
        let mut length = 0;
        let mut letters = paragraph.chars().peekable();
        while let Some(letter) = letters.next() {
            sentence.push(letter);
            length += 1;
            let next = letters.peek();
            let ends = match letter {
                '。' | '！' | '？' => next.is_none_or(|next| !"」』）\u{201d}".contains(*next)),
                '.' | '!' | '?' | '…' | '"' | '\u{201d}' | ')' => {
                    next.is_none_or(|next| next.is_whitespace()) && is_ended(&sentence)
                }
                _ => {
                    length >= LONGEST_SENTENCE_CHARS && next.is_none_or(|next| next.is_whitespace())
                        || length >= 2 * LONGEST_SENTENCE_CHARS
                }
            };
            if ends {
                push(&mut found, &mut sentence);
                length = 0;
            }
        }
        push(&mut found, &mut sentence);
    }
    found
}

/// Blank lines and list marks end a paragraph; other line breaks are only wrapping.
fn paragraphs(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut current = String::new();
    for line in text.lines() {
        let bare = line.trim();
        if bare.is_empty() || bare.starts_with(['#', '*', '-', '•', '|', '>']) {
            push(&mut found, &mut current);
        }
        let bare = bare.trim_start_matches(['#', '*', '-', '•', '|', '>', '─', '━', '=', ' ']);
        if !current.is_empty() {
            current.push(' ');
        }
        current.extend(bare.split_whitespace().flat_map(|word| [word, " "]));
        current.truncate(current.trim_end().len());
    }
    push(&mut found, &mut current);
    found
}

fn push(found: &mut Vec<String>, text: &mut String) {
    let whole = text.trim();
    if whole.chars().any(char::is_alphanumeric) {
        found.push(whole.to_owned());
    }
    text.clear();
}

/// False after abbreviations, initials and bare brackets: `e.g.`, `Dr.`, `J.`, `(as here)`.
fn is_ended(sentence: &str) -> bool {
    let bare = sentence.trim_end_matches(['"', '\u{201d}', ')']);
    if bare.len() < sentence.len() && !bare.ends_with(['.', '!', '?', '…']) {
        return false;
    }
    if !bare.ends_with('.') {
        return true;
    }
    let word = bare.trim_end_matches('.').rsplit(char::is_whitespace).next().unwrap_or_default();
    let word = word.trim_start_matches(['(', '"', '\u{201c}']).to_lowercase();
    let short = ["mr", "mrs", "ms", "dr", "prof", "st", "vs", "etc", "cf", "fig", "al"];
    let initial = word.chars().count() == 1 && word.chars().all(char::is_alphabetic);
    !(short.contains(&word.as_str()) || word.contains('.') && word.len() <= 4 || initial)
}

fn words_of(sentence: &str, empty: &BTreeSet<&str>) -> Vec<String> {
    let mut words = Vec::new();
    let lower = sentence.to_lowercase();
    for word in lower.split(|c: char| !(c.is_alphanumeric() || c == '\'')) {
        let dense = |c: char| matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}');
        if word.chars().any(dense) {
            words.extend(word.chars().map(String::from));
        } else if word.chars().count() >= 3 && !empty.contains(word) {
            words.push(word.to_owned());
        }
    }
    words
}
