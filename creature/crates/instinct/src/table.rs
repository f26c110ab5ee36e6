//! The table of everything instinct understands, as data: abilities with their sentences, and words that mean the same. Pure.

use super::score::{Scorer, Word, plain_words};
use agenda::foreign::{self, folded};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt::Display;
use std::sync::LazyLock;

/// Compiled in; a test reads it with all its sentences.
const TEXT: &str = include_str!("../abilities.toml");

pub static TABLE: LazyLock<Table> = LazyLock::new(|| Table::read(TEXT).unwrap_or_default());

/// Thing that instinct understands, and does or answers.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Ability {
    pub name: String,
    /// The group of the help it stands in; empty where the help need not show it.
    pub group: String,
    pub shown: String,
    pub does: String,
    /// Its answer, where that is always the same.
    pub answer: String,
    /// Part of a talk: the mind that the owner talks with answers it.
    pub talk: bool,
    /// It takes a model, or a model does it better.
    pub beyond: bool,
    /// It does something, so that words near to its own are not enough.
    pub acts: bool,
    /// It may stand in the checklist or on the agenda too.
    pub own: bool,
    /// Tool that it calls, or an act of instinct's own; empty where it only answers.
    pub call: String,
    /// The arguments of the tool, and what the call is about, with the places that `tasks` fills.
    pub args: Map<String, Value>,
    pub about: Option<String>,
    /// Characters of the one line that the words are put on; 0 leaves them as they are.
    pub most: usize,
    says: String,
    /// Sentences that ask for it in other languages.
    #[serde(rename = "in")]
    says_in: BTreeMap<String, String>,
    #[serde(skip)]
    pub patterns: Vec<Vec<Part>>,
}

/// A part of a pattern.
#[derive(Clone, Debug, PartialEq)]
pub enum Part {
    /// Any of these words; `colon`: with a colon behind it.
    Word { any: Vec<String>, optional: bool, colon: bool },
    /// Words in this place, by the name of what they are.
    Slot(String),
}

/// A language beside English.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Language {
    /// Notice that its owner is told once.
    pub told: String,
    /// Words between a time and what it is for; with an apostrophe, beginnings of words.
    link: String,
    /// Words of times, as `agenda::foreign` reads them.
    pub times: String,
    #[serde(skip)]
    words: HashSet<String>,
}

impl Language {
    /// Counts the words at the beginning that lead from a time to what it is for.
    pub fn links(&self, words: &[&str]) -> usize {
        words.iter().take_while(|word| self.link.split(' ').any(|link| link == folded(word))).count()
    }

    /// The words behind those that lead on.
    pub fn unlinked(&self, words: &[&str]) -> String {
        let rest = words.get(self.links(words)..).unwrap_or_default().join(" ");
        let mut elided = self.link.split(' ').filter(|link| link.ends_with('\''));
        elided.find_map(|link| rest.strip_prefix(link)).unwrap_or(&rest).to_owned()
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Table {
    #[serde(rename = "ability")]
    pub abilities: Vec<Ability>,
    /// Courtesies that may stand before and behind words without changing what they ask for.
    pub before: Vec<String>,
    pub after: Vec<String>,
    /// Words that say nothing of what a question asks notes for, and of what a title is about.
    #[serde(deserialize_with = "words")]
    pub unasked: HashSet<String>,
    #[serde(deserialize_with = "words")]
    pub untitled: HashSet<String>,
    /// Words that say nothing of what is asked for.
    #[serde(deserialize_with = "words")]
    pub empty: HashSet<String>,
    pub short: HashMap<String, String>,
    pub same: String,
    /// Texts for the owner beside answers, by name.
    text: HashMap<String, String>,
    /// Words that mean instinct itself.
    #[serde(deserialize_with = "words")]
    pub itself: HashSet<String>,
    #[serde(rename = "language")]
    languages: BTreeMap<String, Language>,
    /// The words of English sentences.
    #[serde(skip)]
    pub english: HashSet<String>,
    #[serde(skip)]
    pub scorer: Scorer,
}

impl Table {
    /// Reads the table; an error says which part of it cannot be read.
    fn read(text: &str) -> Result<Self, toml::de::Error> {
        let mut table: Self = toml::from_str(text)?;
        let read = |says: &str| bars(says).map(|says| pattern(says, &table.short)).collect::<Vec<_>>();
        let words = |patterns: &[Vec<Part>]| {
            let words = patterns.iter().flatten().flat_map(|part| match part {
                Part::Word { any, .. } => any.as_slice(),
                Part::Slot(_) => &[],
            });
            words.filter(|word| !word.contains(|c: char| c.is_ascii_digit())).cloned().collect::<Vec<_>>()
        };
        for ability in &mut table.abilities {
            ability.patterns = read(&ability.says);
            table.english.extend(words(&ability.patterns));
            for (name, language) in &mut table.languages {
                let patterns = ability.says_in.get(name).map_or(Vec::new(), |says| read(says));
                language.words.extend(words(&patterns));
                // In front: the English ones may take any words.
                ability.patterns.splice(..0, patterns);
            }
        }
        for language in table.languages.values_mut() {
            let phrases = language.times.lines().filter_map(|line| Some(line.split_once(" = ")?.0));
            let times = phrases.chain([language.link.as_str()]).flat_map(str::split_whitespace);
            language.words.extend(times.map(str::to_owned));
        }
        table.scorer = Scorer::new(&table);
        Ok(table)
    }

    /// The language these words are in, by its name; none where that is English or not certain.
    pub fn language(&self, words: &[Word]) -> Option<(&str, &Language)> {
        let is_in = |all: &HashSet<String>| words.iter().filter(|word| all.contains(&word.plain)).count();
        let english = is_in(&self.english);
        let counts = self.languages.iter().map(|(name, language)| (is_in(&language.words), name, language));
        let (most, name, language) = counts.clone().max_by_key(|(count, ..)| *count)?;
        let is_alone = counts.filter(|(count, ..)| *count == most).count() == 1;
        (is_alone && most > english).then_some((name, language))
    }

    /// Words of a time in English, from the first language that has all of them.
    pub fn in_english(&self, words: &[&str]) -> Option<String> {
        self.languages.values().find_map(|language| foreign::in_english(&language.times, words))
    }

    pub fn named(&self, name: &str) -> Option<&Ability> {
        self.abilities.iter().find(|ability| ability.name == name)
    }
}

impl Ability {
    /// A sentence that asks for it and for nothing else.
    pub fn sentence(&self) -> Option<&str> {
        let shown = Some(self.shown.as_str()).filter(|shown| !shown.is_empty());
        shown.or_else(|| bars(&self.says).find(|says| !says.contains(['{', '/', '?'])))
    }
}

/// A text of the table with what stands in its places; a name that nothing stands for stays, in braces.
pub fn text(name: &str, places: &[(&str, &dyn Display)]) -> String {
    let fact = |place: &str| match places.iter().find(|(known, _)| *known == place) {
        Some((_, what)) => what.to_string(),
        None => text(place, &[]),
    };
    TABLE.text.get(name).map_or(format!("{{{name}}}"), |text| filled(text, fact))
}

/// A text with the fact that each name in braces stands for.
pub fn filled(text: &str, fact: impl Fn(&str) -> String) -> String {
    let parts = text.split(['{', '}']).enumerate();
    parts.map(|(at, part)| if at % 2 == 0 { part.to_owned() } else { fact(part) }).collect()
}

/// Examples of what can be said, by group, two or all; with what each does where all are told.
pub fn help(all: bool) -> String {
    let shown = || TABLE.abilities.iter().filter(|ability| !ability.group.is_empty());
    let line = |one: &Ability| match all {
        true => format!("`{}` ({})", one.shown, one.does),
        false => format!("`{}`", one.shown),
    };
    let (most, joint) = if all { (usize::MAX, "; ") } else { (2, ", ") };
    let mut known = HashSet::new();
    let groups = shown().map(|one| one.group.as_str()).filter(|group| known.insert(*group));
    let lines = groups.map(|group| {
        let lines: Vec<String> = shown().filter(|one| one.group == group).map(line).take(most).collect();
        format!("\n{group}: {}", lines.join(joint))
    });
    lines.collect()
}

/// Reads words that a text has, in any order.
pub fn words<'a, D: Deserializer<'a>>(from: D) -> Result<HashSet<String>, D::Error> {
    Ok(String::deserialize(from)?.split_whitespace().map(str::to_owned).collect())
}

fn bars(text: &str) -> impl Iterator<Item = &str> {
    text.split('|').map(str::trim).filter(|part| !part.is_empty())
}

fn pattern(says: &str, short: &HashMap<String, String>) -> Vec<Part> {
    let part = |part: &str| match part.strip_prefix('{').and_then(|part| part.strip_suffix('}')) {
        Some(slot) => vec![Part::Slot(slot.to_owned())],
        None => {
            let (bare, colon) = part.strip_suffix(':').map_or((part, false), |bare| (bare, true));
            let (bare, optional) = bare.strip_suffix('?').map_or((bare, false), |bare| (bare, true));
            // A short form stands for several words, each in its place.
            let words = if bare.contains('/') { vec![bare.to_owned()] } else { plain_words(bare, short) };
            let any = |word: &str| word.split('/').map(folded).collect();
            words.iter().map(|word| Part::Word { any: any(word), optional, colon }).collect()
        }
    };
    says.split_whitespace().flat_map(part).collect()
}
