//! Nearness of words to a sentence of the table: words in common, each by its weight, endings and slips forgiven. Pure.

use super::table::{Part, Table};
use agenda::foreign::folded;
use std::collections::{HashMap, HashSet};
use strsim::{levenshtein, osa_distance};

/// Weight of a word that is like another but for a slip of the pen.
const SLIP: f64 = 0.7;

/// Letters of the shortest word that may have a slip: too many other words are near a shorter one. In a word of just
/// this length the slip is a missing letter or two letters in each other's place.
const SLIPPED: usize = 4;

/// Weight of a word that turns a sentence into its opposite.
const TURNED: f64 = 1.5;

/// A word as it is compared, and where in the text it stands.
#[derive(Clone, Debug, PartialEq)]
pub struct Word {
    pub plain: String,
    pub from: usize,
    pub to: usize,
    pub colon: bool,
}

/// Knows how much each word says, and the sentences to compare with.
#[derive(Debug, Default)]
pub struct Scorer {
    short: HashMap<String, String>,
    same: HashMap<String, String>,
    empty: HashSet<String>,
    weights: HashMap<String, f64>,
    /// The sentences without slots: the place of their ability, and the meanings of each word.
    sentences: Vec<(usize, Vec<Vec<String>>)>,
}

impl Scorer {
    pub fn new(table: &Table) -> Self {
        let (short, empty) = (table.short.clone(), table.empty.clone());
        let mut scorer = Self { short, empty, ..Self::default() };
        for mut line in table.same.lines().map(str::split_whitespace) {
            let Some(first) = line.next() else { continue };
            for other in line {
                scorer.same.entry(other.to_owned()).or_insert_with(|| first.to_owned());
            }
        }
        let mut known: HashMap<String, HashSet<usize>> = HashMap::new();
        let all = table.abilities.iter().enumerate();
        for (at, pattern) in all.flat_map(|(at, one)| one.patterns.iter().map(move |pattern| (at, pattern))) {
            let words = pattern.iter().filter(|part| !matches!(part, Part::Word { optional: true, .. }));
            let words = words.map(|part| match part {
                Part::Word { any, .. } => Some(any.iter().map(|word| scorer.meaning(word)).collect()),
                Part::Slot(_) => None,
            });
            // What has a slot is no whole sentence.
            let Some(words) = words.collect::<Option<Vec<Vec<String>>>>() else { continue };
            let words = scorer.filled(words, |any| any.first().map_or("", String::as_str));
            for word in words.iter().flatten() {
                known.entry(word.clone()).or_default().insert(at);
            }
            scorer.sentences.push((at, words));
        }
        // As in "inverse document frequency": a word of few abilities says more than one of many.
        let count = table.abilities.len() as f64;
        let weight = |of: usize| (count / of as f64).ln_1p() / count.ln_1p();
        scorer.weights = known.into_iter().map(|(word, of)| (word, weight(of.len()))).collect();
        scorer
    }

    /// The words of a text.
    pub fn words(&self, said: &str) -> Vec<Word> {
        let mut words = Vec::new();
        let begin = said.as_ptr() as usize;
        for word in said.split_whitespace() {
            let from = word.as_ptr() as usize - begin;
            let (to, colon) = (from + word.len(), word.ends_with(':'));
            for plain in plain_words(word, &self.short) {
                words.push(Word { plain, from, to, colon });
            }
        }
        words
    }

    /// Scores how near these words come to each ability, the nearest first: its place in the table, and 0 to 1.
    pub fn nearest(&self, words: &[Word]) -> Vec<(usize, f64)> {
        let said: Vec<(String, f64)> = words.iter().map(|word| self.understood(&word.plain)).collect();
        let said = self.filled(said, |(word, _)| word);
        let mut best: HashMap<usize, f64> = HashMap::new();
        for (at, sentence) in &self.sentences {
            let score = self.likeness(&said, sentence);
            let known = best.entry(*at).or_default();
            *known = known.max(score);
        }
        let mut best: Vec<(usize, f64)> = best.into_iter().collect();
        best.sort_by(|one, other| other.1.total_cmp(&one.1).then(one.0.cmp(&other.0)));
        best
    }

    /// Twice what both have in common, by all that both have.
    fn likeness(&self, said: &[(String, f64)], sentence: &[Vec<String>]) -> f64 {
        let heaviest = |any: &Vec<String>| any.iter().map(|word| self.weight(word)).fold(0.0, f64::max);
        let all: f64 = said.iter().map(|(word, _)| self.weight(word)).sum::<f64>()
            + sentence.iter().map(heaviest).sum::<f64>();
        let mut left: Vec<&Vec<String>> = sentence.iter().collect();
        let mut shared = 0.0;
        for (word, sureness) in said {
            if let Some(at) = left.iter().position(|any| any.contains(word)) {
                let any = left.swap_remove(at);
                shared += (self.weight(word) + heaviest(any)) * sureness;
            }
        }
        if all > 0.0 { shared / all } else { 0.0 }
    }

    /// The items without those whose words say nothing, unless no other is there.
    fn filled<T: Clone>(&self, all: Vec<T>, word: impl Fn(&T) -> &str) -> Vec<T> {
        let filled: Vec<T> = all.iter().filter(|one| !self.empty.contains(word(one))).cloned().collect();
        if filled.is_empty() { all } else { filled }
    }

    /// Whether every word that says something is known: with one that is not, a sentence is about something else.
    pub fn knows_all(&self, words: &[Word]) -> bool {
        let known = |word: &Word| {
            let (meaning, _) = self.understood(&word.plain);
            self.weights.contains_key(&meaning) || self.empty.contains(&meaning)
        };
        words.iter().all(known)
    }

    fn weight(&self, word: &str) -> f64 {
        match word {
            "not" | "never" => TURNED,
            word => self.weights.get(word).copied().unwrap_or(1.0),
        }
    }

    /// The word that stands for all that mean the same.
    fn meaning(&self, word: &str) -> String {
        let stem = stem(word);
        self.same.get(word).or_else(|| self.same.get(stem)).map_or(stem, String::as_str).to_owned()
    }

    /// Returns the meaning of a word, also where it has a slip of the pen, and how sure that is.
    fn understood(&self, word: &str) -> (String, f64) {
        let meaning = self.meaning(word);
        let long = meaning.chars().count();
        if self.weights.contains_key(&meaning) || long < SLIPPED {
            return (meaning, 1.0);
        }
        let slips = if long < 8 { 1 } else { 2 };
        let near = |known: &&String| {
            let length = known.chars().count();
            length >= SLIPPED
                && known.chars().next() == meaning.chars().next()
                && osa_distance(known, &meaning) <= slips
                // Two letters in each other's place are two changes, where that does not count as one.
                && (long > SLIPPED || length > long || levenshtein(known, &meaning) == 2)
        };
        let nearest = self.weights.keys().filter(near);
        let nearest = nearest.min_by_key(|known| (osa_distance(known, &meaning), known.as_str()));
        nearest.map_or((meaning.clone(), 1.0), |known| (known.clone(), SLIP))
    }
}

/// A word in lower case, without marks around it, in its long form.
pub fn plain_words(word: &str, short: &HashMap<String, String>) -> Vec<String> {
    if word.starts_with("http://") || word.starts_with("https://") {
        return vec![word.to_owned()];
    }
    let plain = folded(word);
    short.get(&plain).unwrap_or(&plain).split_whitespace().map(str::to_owned).collect()
}

/// A word without the ending of a plural or of a form of a verb, where four letters are left.
fn stem(word: &str) -> &str {
    let cut = |end: &&str| word.strip_suffix(*end).filter(|stem| stem.chars().count() >= 4);
    ["ing", "ed", "es", "s"].iter().find_map(cut).unwrap_or(word)
}
