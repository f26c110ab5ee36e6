//! Settings the creature defines for itself: declared in `creature/settings.toml`, set by the owner in `[creature]`.
//!
//! Invariant: the declaration is trusted for this section alone: it can neither redefine nor loosen another setting,
//! and no mistake in it keeps a guardian from starting.

use super::forms::{self, Form};
use super::judge::{Judge, Mistakes};
use super::key::Shape::{self, Amount, Any, List, Needed, Table, Text, Word};
use super::key::section;
use super::words;
use crate::{House, files};
use std::collections::BTreeMap;
use toml::{Table as Values, Value};

const MOST_BYTES: u64 = 16 << 10;
const MOST_KEYS: usize = 50;
/// Characters of a text value, or of a key's meaning.
const MOST_CHARS: usize = 400;

section! {
    /// The creature's declaration of one of its settings.
    Declaration {
        /// `flag`, `number` (whole), `amount`, `text` or `word`
        kind: String = String::new(), Needed(&Word(&["flag", "number", "amount", "text", "word"]));
        /// what it is where the owner does not say
        default: Option<Value> = None, Needed(&Any);
        /// one line, for the owner
        meaning: String = String::new(), Needed(&Text(Form::Free));
        /// bounds of a `number` or an `amount`
        least: Option<f64> = None, Amount(-1e15, 1e15);
        /// bounds of a `number` or an `amount`
        most: Option<f64> = None, Amount(-1e15, 1e15);
        /// what a `word` may be
        words: Vec<String> = vec![], List(&Text(Form::Free));
    }
}

const DECLARATION: Shape = Table(Declaration::KEYS);

/// Declarations by name.
pub type Declared = BTreeMap<String, Declaration>;

/// Reads the declarations of `creature/settings.toml`; of a file with a mistake returns none, and the mistake.
pub fn load(house: &House) -> (Declared, Option<String>) {
    let read = || -> anyhow::Result<Declared> {
        let bytes = files::read_most(&house.declared_settings(), MOST_BYTES)?.unwrap_or_default();
        Ok(read(&String::from_utf8(bytes)?)?)
    };
    match read() {
        Ok(declared) => (declared, None),
        Err(error) => (Declared::new(), Some(format!("creature/settings.toml declares nothing: {error:#}"))),
    }
}

/// Parses a declaration.
pub fn read(text: &str) -> Result<Declared, Mistakes> {
    let mut judge = Judge::new(text, forms::check);
    let file = judge.parse()?;
    judge.names(file.get_ref(), Form::KeyName, &DECLARATION);
    judge.found()?;
    let wrong = |what: &str| Mistakes(vec![judge.mistake(0, "", what)]);
    let declared: Declared = toml::from_str(text).map_err(|_| wrong("a value of the wrong kind"))?;
    if declared.len() > MOST_KEYS {
        return Err(wrong(&format!("{} settings; at most {MOST_KEYS}", declared.len())));
    }
    for (name, declaration) in &declared {
        let default = declaration.default.as_ref().map(|value| declaration.fits(value));
        if let Some(Err(what)) = default {
            judge.wrong_at(file.get_ref(), &[name, "default"], what);
        } else if declaration.meaning.chars().count() > MOST_CHARS {
            judge.wrong_at(file.get_ref(), &[name, "meaning"], "is too long for one line");
        }
    }
    judge.found()?;
    Ok(declared)
}

/// The owner's values for what is declared, else the defaults; and a sentence for each value that is not followed.
pub fn values(declared: &Declared, owners: &Values, text: &str) -> (Values, Vec<String>) {
    let mut judge = Judge::new(text, forms::check);
    let file = judge.parse().map(|file| file.into_inner()).unwrap_or_default();
    let names: Vec<&str> = declared.keys().map(String::as_str).collect();
    let defaults = declared.iter().filter_map(|(name, key)| Some((name.clone(), key.default.clone()?)));
    let mut values: Values = defaults.collect();
    for (name, value) in owners {
        let fits = declared.get(name).map(|key| key.fits(value));
        let what = match fits {
            Some(Ok(())) => {
                values.insert(name.clone(), value.clone());
                continue;
            }
            Some(Err(what)) => format!("{what}; it is at its default"),
            None if names.is_empty() => "no such setting; this creature has none of its own".to_owned(),
            None => format!("no such setting; {}", words::suggest(name, &names)),
        };
        judge.wrong_at(&file, &["creature", words::shown(name).unwrap_or("a key")], what);
    }
    let told = judge.found().err().map_or(vec![], |mistakes| mistakes.0);
    (values, told.iter().map(|mistake| format!("owner.toml {mistake}")).collect())
}

impl Declaration {
    /// Says what is wrong with a value, if anything.
    fn fits(&self, value: &Value) -> Result<(), String> {
        let (least, most) = (self.least.unwrap_or(f64::MIN), self.most.unwrap_or(f64::MAX));
        let between = |number: f64| match (least..=most).contains(&number) {
            true => Ok(()),
            false => Err(format!("must be between {least} and {most}")),
        };
        match (self.kind.as_str(), value) {
            ("flag", Value::Boolean(_)) => Ok(()),
            ("number" | "amount", Value::Integer(number)) => between(*number as f64),
            ("amount", Value::Float(number)) => between(*number),
            ("text", Value::String(text)) if text.chars().count() <= MOST_CHARS => Ok(()),
            ("word", Value::String(word)) if self.words.contains(word) => Ok(()),
            ("word", Value::String(word)) => {
                let words: Vec<&str> = self.words.iter().map(String::as_str).collect();
                Err(format!("not a value it can have; {}", words::suggest(word, &words)))
            }
            (kind, _) => Err(format!("must be {}", wanted(kind))),
        }
    }
}

fn wanted(kind: &str) -> String {
    match kind {
        "flag" => "true or false".to_owned(),
        "number" => "a whole number".to_owned(),
        "amount" => "a number".to_owned(),
        _ => format!("text of at most {MOST_CHARS} characters"),
    }
}
