//! Likeness: groups titles by the words they share, so that three titles on one thing stand together. Pure.

use std::collections::{BTreeMap, BTreeSet};

/// Words that say nothing of what a title is about.
const EMPTY: &str = "about after again also announcing been before best could does doing down even ever every first \
    from going have here into just last like made make making many more most much news next only other over part \
    released release should some than that their them then there these they this those time update updates version \
    using very want week well were what when where which while will with without work your";

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
        for word in left.iter().flat_map(|one| words(title(one))).filter(|word| !common.contains(word)) {
            *counts.entry(word).or_default() += 1;
        }
        // Of equals the first by the alphabet: the same titles give the same groups.
        let most = counts.iter().max_by(|one, other| one.1.cmp(other.1).then(other.0.cmp(one.0)));
        let Some((word, _)) = most.filter(|(_, count)| **count > 1) else { break };
        let (mine, others): (Vec<&T>, Vec<&T>) =
            left.into_iter().partition(|one| words(title(one)).contains(word));
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
    let sets = all.iter().map(|one| words(title(one)));
    sets.reduce(|one, other| &one & &other).unwrap_or_default()
}

fn words(title: &str) -> BTreeSet<String> {
    let plain = title.to_lowercase();
    let words = plain.split(|c: char| !c.is_alphanumeric()).filter(|word| word.chars().count() > 3);
    words.filter(|word| !EMPTY.split_whitespace().any(|empty| empty == *word)).map(str::to_owned).collect()
}
