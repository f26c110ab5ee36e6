//! Likeness: the words that say what a text is about, and titles grouped by those they share. Pure.

use super::table::TABLE;
use super::text::words;
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// Words of a group's name.
const MOST_WORDS: usize = 3;

/// The groups, each with the words it is about; last, with none, those that are like no other.
pub fn grouped<T>(mut left: Vec<&T>, title: impl Fn(&T) -> &str) -> Vec<(String, Vec<&T>)> {
    // Words in all of a source's titles are its subject, and make no group.
    let common = match left.len() {
        0..=2 => BTreeSet::new(),
        _ => shared(&left, &title),
    };
    let mut groups = Vec::new();
    loop {
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        for word in left.iter().flat_map(|one| title_words(title(one))).filter(|word| !common.contains(word))
        {
            *counts.entry(word).or_default() += 1;
        }
        // Of equals the first by the alphabet: the same titles give the same groups.
        let most = counts.iter().max_by(|one, other| one.1.cmp(other.1).then(other.0.cmp(one.0)));
        let Some((word, _)) = most.filter(|(_, count)| **count > 1) else { break };
        let (mine, others): (Vec<&T>, Vec<&T>) =
            left.into_iter().partition(|one| title_words(title(one)).contains(word));
        left = others;
        let about: Vec<String> =
            shared(&mine, &title).difference(&common).take(MOST_WORDS).cloned().collect();
        groups.push((about.join(" "), mine));
    }
    if !left.is_empty() {
        groups.push((String::new(), left));
    }
    groups
}

/// Words that stand in all of the titles.
fn shared<T>(all: &[&T], title: impl Fn(&T) -> &str) -> BTreeSet<String> {
    let sets = all.iter().map(|one| title_words(title(one)));
    sets.reduce(|one, other| &one & &other).unwrap_or_default()
}

fn title_words(title: &str) -> BTreeSet<String> {
    long_words(title).into_iter().filter(|word| !TABLE.untitled.contains(word)).collect()
}

/// The words of more than three letters, in lower case.
fn long_words(text: &str) -> BTreeSet<String> {
    words(text).filter(|word| word.chars().count() > 3).collect()
}

/// Counts the words of more than three letters that two texts share.
pub fn shared_words(one: &str, other: &str) -> usize {
    long_words(one).intersection(&long_words(other)).count()
}

/// The words of a question that say what it is about.
pub fn content(asked: &str) -> Vec<String> {
    let words = asked.split(|c: char| !c.is_alphanumeric() && c != '-' && c != '\'');
    let plain = words.map(|word| word.trim_matches(['-', '\'']).to_lowercase());
    let plain = plain.map(|word| word.strip_suffix("'s").map_or(word.clone(), str::to_owned));
    let says = |word: &String| !word.is_empty() && !TABLE.unasked.contains(&agenda::foreign::folded(word));
    let mut known = HashSet::new();
    plain.filter(|word| says(word) && known.insert(word.clone())).collect()
}

/// Whether a text has all words of `which` that say something, a plural as its singular.
pub fn has_all(text: &str, which: &str) -> bool {
    let text = text.to_lowercase();
    let singular = |word: &str| {
        word.strip_suffix('s').filter(|stem| stem.chars().count() > 2).unwrap_or(word).to_owned()
    };
    let words = content(which);
    !words.is_empty() && words.iter().all(|word| text.contains(&singular(word)))
}
