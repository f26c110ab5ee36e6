//! The table of everything instinct understands, as data: abilities with their sentences, and words that mean the same. Pure.

use super::score::{Scorer, plain_words};
use serde::Deserialize;
use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

/// Compiled in; a test reads it with all its sentences.
const TEXT: &str = include_str!("../abilities.toml");

pub static TABLE: LazyLock<Table> = LazyLock::new(|| Table::read(TEXT).unwrap_or_default());

/// One thing that instinct understands.
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
    /// Part of a talk: whoever the owner talks with answers it.
    pub talk: bool,
    /// It takes a model.
    pub beyond: bool,
    /// It may stand in the checklist or on the agenda too.
    pub own: bool,
    says: String,
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

#[derive(Debug, Default)]
pub struct Table {
    pub abilities: Vec<Ability>,
    /// What may stand before and behind words without changing what they ask for.
    pub before: Vec<Vec<String>>,
    pub after: Vec<Vec<String>>,
    pub scorer: Scorer,
}

#[derive(Deserialize)]
struct Raw {
    before: String,
    after: String,
    empty: String,
    short: String,
    same: String,
    ability: Vec<Ability>,
}

impl Table {
    /// Reads the table; an error says which part of it cannot be read.
    pub fn read(text: &str) -> Result<Self, toml::de::Error> {
        let raw: Raw = toml::from_str(text)?;
        let phrases = |text: &str| -> Vec<Vec<String>> {
            bars(text).map(|phrase| phrase.split_whitespace().map(str::to_owned).collect()).collect()
        };
        let first_and_rest = |text: &str| -> Vec<(String, Vec<String>)> {
            let line = |line: &str| {
                let mut words = line.split_whitespace().map(str::to_owned);
                Some((words.next()?, words.collect()))
            };
            text.lines().filter_map(line).collect()
        };
        let short: HashMap<String, Vec<String>> = first_and_rest(&raw.short).into_iter().collect();
        let mut same = HashMap::new();
        for (first, others) in first_and_rest(&raw.same) {
            for other in others {
                same.entry(other).or_insert_with(|| first.clone());
            }
        }
        let empty: HashSet<String> = raw.empty.split_whitespace().map(str::to_owned).collect();
        let mut abilities = raw.ability;
        for ability in &mut abilities {
            ability.patterns = bars(&ability.says).map(|says| pattern(says, &short)).collect();
        }
        let scorer = Scorer::new(&abilities, short, same, empty);
        Ok(Self { abilities, before: phrases(&raw.before), after: phrases(&raw.after), scorer })
    }

    pub fn named(&self, name: &str) -> Option<&Ability> {
        self.abilities.iter().find(|ability| ability.name == name)
    }
}

impl Ability {
    /// A sentence that asks for it and for nothing else.
    pub fn sentence(&self) -> Option<String> {
        if !self.shown.is_empty() {
            return Some(self.shown.clone());
        }
        let plain = |says: &&str| !says.contains(['{', '/', '?']);
        bars(&self.says).find(plain).map(str::to_owned)
    }

    /// Whether it does something, beside answering.
    pub fn acts(&self) -> bool {
        matches!(
            self.name.as_str(),
            "dream" | "snapshot" | "map" | "cancel_that" | "undo_that" | "follow_them"
        )
    }
}

/// Examples of what can be said, by group, one or all; with what each does where all are told.
pub fn help(all: bool) -> String {
    let mut groups: Vec<(&str, Vec<String>)> = Vec::new();
    for ability in TABLE.abilities.iter().filter(|ability| !ability.group.is_empty()) {
        let shown = if all {
            format!("`{}` ({})", ability.shown, ability.does)
        } else {
            format!("`{}`", ability.shown)
        };
        match groups.iter_mut().find(|(group, _)| *group == ability.group) {
            Some((_, lines)) if all || lines.len() < 2 => lines.push(shown),
            Some(_) => {}
            None => groups.push((&ability.group, vec![shown])),
        }
    }
    let lines = groups
        .iter()
        .map(|(group, shown)| format!("\n{group}: {}", shown.join(if all { "; " } else { ", " })));
    lines.collect()
}

fn bars(text: &str) -> impl Iterator<Item = &str> {
    text.split('|').map(str::trim).filter(|part| !part.is_empty())
}

fn pattern(says: &str, short: &HashMap<String, Vec<String>>) -> Vec<Part> {
    let part = |part: &str| match part.strip_prefix('{').and_then(|part| part.strip_suffix('}')) {
        Some(slot) => vec![Part::Slot(slot.to_owned())],
        None => {
            let (bare, colon) = part.strip_suffix(':').map_or((part, false), |bare| (bare, true));
            let (bare, optional) = bare.strip_suffix('?').map_or((bare, false), |bare| (bare, true));
            let any: Vec<String> = bare.split('/').map(str::to_owned).collect();
            match any.as_slice() {
                [word] => {
                    let words = plain_words(word, short);
                    words.into_iter().map(|word| Part::Word { any: vec![word], optional, colon }).collect()
                }
                _ => vec![Part::Word { any, optional, colon }],
            }
        }
    };
    says.split_whitespace().flat_map(part).collect()
}
