//! Judges a settings file against its declarations; each mistake names its line, its key and the nearest valid name.
//!
//! Invariant: no value that is text is ever printed, since it may be a secret in the wrong place.

use super::forms::{Check, Form};
use super::key::{Key, Shape, WITHOUT_END};
use super::words;
use std::fmt;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Mistakes told at once; beyond that only their number is told.
const MOST_TOLD: usize = 8;
/// Parts of names that owners give to a secret.
const SECRETS: [&str; 4] = ["key", "token", "secret", "password"];

/// A mistake: what is wrong, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    /// Line in the file, from 1.
    pub line: usize,
    /// Keys from the section down; empty where the file is not TOML.
    pub path: String,
    pub what: String,
}

/// All mistakes in a file, at least one, in the order of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistakes(pub Vec<Mistake>);

impl fmt::Display for Mistake {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = if self.path.is_empty() { String::new() } else { format!("{}: ", self.path) };
        write!(to, "line {}: {path}{}", self.line, self.what)
    }
}

impl fmt::Display for Mistakes {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let told: Vec<String> = self.0.iter().take(MOST_TOLD).map(Mistake::to_string).collect();
        write!(to, "{}", told.join("; also "))?;
        match self.0.len().saturating_sub(MOST_TOLD) {
            0 => Ok(()),
            more => write!(to, "; and {more} more"),
        }
    }
}

impl std::error::Error for Mistakes {}

/// A place in the file: its name, and where it begins.
#[derive(Clone)]
struct Place {
    path: String,
    /// Whether the name is written as a section header, in brackets.
    section: bool,
    at: usize,
}

impl Place {
    fn top() -> Self {
        Self { path: String::new(), section: false, at: 0 }
    }

    /// The place of a name below this one; a table there may have a header of its own.
    fn below(&self, name: &str, at: usize, is_table: bool) -> Self {
        let joined = |path: String, section| Self { path, section, at };
        match (self.path.strip_suffix(']').filter(|_| self.section), is_table) {
            _ if self.path.is_empty() && is_table => joined(format!("[{name}]"), true),
            _ if self.path.is_empty() => joined(name.to_owned(), false),
            (Some(section), true) => joined(format!("{section}.{name}]"), true),
            (Some(_), false) => joined(format!("{} {name}", self.path), false),
            (None, _) => joined(format!("{}.{name}", self.path), false),
        }
    }
}

/// Sections that there were, and what to write instead.
const FORMER: [(&str, &str); 1] = [(
    "janee",
    "is an MCP server like any other now: write [mcp.janee], with env for pass_env, and rules by tool and argument \
     (docs/mcp.md, \"I had a section [janee]\")",
)];

/// Collects what is found in a file.
pub struct Judge<'t> {
    text: &'t str,
    check: Check,
    /// Keys that belong above the first section: a mistake in a section may have meant one of them.
    above: Vec<&'static str>,
    /// Names the file gives, each with its section.
    given: Vec<(String, String)>,
    pub mistakes: Vec<Mistake>,
    /// Values that are not taken as written, and yet no mistake.
    pub told: Vec<Mistake>,
}

impl<'t> Judge<'t> {
    pub fn new(text: &'t str, check: Check) -> Self {
        Self { text, check, above: vec![], given: vec![], mistakes: vec![], told: vec![] }
    }

    /// The file as a table, or the syntax error.
    pub fn parse(&self) -> Result<Spanned<DeTable<'t>>, Mistakes> {
        DeTable::parse(self.text).map_err(|error| {
            let at = error.span().map_or(0, |span| span.start);
            Mistakes(vec![self.mistake(at, "", syntax(self.text, at, error.message()))])
        })
    }

    /// Judges the top level of a file: the keys `wanted` accepts, which is given `None` for an unknown name.
    pub fn top(&mut self, table: &DeTable<'_>, keys: &[Key], wanted: impl Fn(Option<&Key>) -> bool) {
        self.above =
            keys.iter().filter(|key| matches!(key.shape, Shape::Word(_))).map(|key| key.name).collect();
        let names = |(section, names): (&Spanned<std::borrow::Cow<'_, str>>, &Spanned<DeValue<'_>>)| {
            let names = names.get_ref().as_table()?.keys();
            Some(
                names
                    .map(|name| (section.get_ref().to_string(), name.get_ref().to_string()))
                    .collect::<Vec<_>>(),
            )
        };
        self.given = table.iter().filter_map(names).flatten().collect();
        let top = Place::top();
        for (name, value) in table {
            let key = keys.iter().find(|key| key.name == name.get_ref());
            if wanted(key) {
                self.field(&top, name, value, keys, &[]);
            }
        }
    }

    /// Judges a file whose keys are names its writer chose.
    pub fn names(&mut self, table: &DeTable<'_>, form: Form, each: &Shape) {
        self.named(&Place::top(), table, form, each);
    }

    /// Adds a mistake that only several values together show, at a key below sections.
    pub fn wrong_at(&mut self, file: &DeTable<'_>, path: &[&str], what: impl Into<String>) {
        let [sections @ .., key] = path else { return };
        let mistake = self.mistake(place(file, path), &format!("[{}] {key}", sections.join(".")), what);
        self.mistakes.push(mistake);
    }

    /// All mistakes so far, in the order of the file.
    pub fn found(&mut self) -> Result<(), Mistakes> {
        if self.mistakes.is_empty() {
            return Ok(());
        }
        let mut mistakes = std::mem::take(&mut self.mistakes);
        mistakes.sort_by_key(|mistake| mistake.line);
        Err(Mistakes(mistakes))
    }

    pub fn mistake(&self, at: usize, path: &str, what: impl Into<String>) -> Mistake {
        let line = self.text.get(..at).unwrap_or_default().matches('\n').count() + 1;
        Mistake { line, path: path.to_owned(), what: what.into() }
    }

    fn wrong(&mut self, place: &Place, what: impl Into<String>) {
        let mistake = self.mistake(place.at, &place.path, what);
        self.mistakes.push(mistake);
    }

    fn look(&mut self, place: &Place, value: &Spanned<DeValue<'_>>, shape: &Shape) {
        match (shape, value.get_ref()) {
            (Shape::Any, _) | (Shape::Flag, DeValue::Boolean(_)) => {}
            (Shape::Needed(shape), _) => self.look(place, value, shape),
            (Shape::Count(least, most), DeValue::Integer(number)) => {
                if !whole(number).is_some_and(|count| (*least..=*most).contains(&count)) {
                    self.wrong(place, between(&least, &most, *most == WITHOUT_END));
                }
            }
            (Shape::Clamped(least, most), DeValue::Integer(number)) => match whole(number) {
                Some(count) if (*least..=*most).contains(&count) => {}
                Some(count) => {
                    let what = format!("{count} is taken as {}", count.clamp(*least, *most));
                    let told = self.mistake(place.at, &place.path, what);
                    self.told.push(told);
                }
                None => self.wrong(place, "must be a whole number of 0 or more"),
            },
            (Shape::Amount(least, most), DeValue::Integer(_) | DeValue::Float(_)) => {
                if !number(value.get_ref()).is_some_and(|amount| (*least..=*most).contains(&amount)) {
                    self.wrong(place, between(&least, &most, *most == f64::MAX));
                }
            }
            (Shape::Word(words), DeValue::String(word)) => self.one_of(place, word, words),
            (Shape::WordOr(words, section), DeValue::String(word)) => {
                let given = self.given.clone();
                let given = given.iter().filter(|(of, _)| of == section).map(|(_, name)| name.as_str());
                let words: Vec<&str> = words.iter().copied().chain(given).collect();
                self.one_of(place, word, &words);
            }
            (Shape::Text(form), DeValue::String(text)) => self.text(place, text, *form),
            (Shape::List(each), DeValue::Array(items)) => {
                for (index, item) in items.iter().enumerate() {
                    let path = format!("{}[{}]", place.path, index + 1);
                    self.look(&Place { path, section: false, at: item.span().start }, item, each);
                }
            }
            (Shape::Table(keys), DeValue::Table(table)) => self.fields(place, table, keys, &[]),
            (Shape::Names(form, each), DeValue::Table(table)) => self.named(place, table, *form, each),
            (Shape::Kinds(by, kinds), DeValue::Table(table)) => self.kinds(place, table, by, kinds),
            (_, value) => self.wrong(place, format!("must be {}, not {}", wanted(shape), found(value))),
        }
    }

    fn fields(&mut self, place: &Place, table: &DeTable<'_>, keys: &[Key], besides: &[&str]) {
        for (name, value) in table.iter().filter(|(name, _)| !besides.contains(&name.get_ref().as_ref())) {
            self.field(place, name, value, keys, besides);
        }
        let is_strange = |name: &str| !besides.contains(&name) && keys.iter().all(|key| key.name != name);
        if table.keys().any(|name| is_strange(name.get_ref())) {
            // The missing key may be there under the mistyped name, which was reported.
            return;
        }
        for key in keys.iter().filter(|key| key.needed()) {
            if !table.keys().any(|name| name.get_ref() == key.name) {
                self.wrong(&place.below(key.name, place.at, false), "is missing and cannot be guessed");
            }
        }
    }

    fn field(
        &mut self,
        place: &Place,
        name: &Spanned<std::borrow::Cow<'_, str>>,
        value: &Spanned<DeValue<'_>>,
        keys: &[Key],
        besides: &[&str],
    ) {
        let (written, at) = (name.get_ref().as_ref(), name.span().start);
        if let Some(key) = keys.iter().find(|key| key.name == written) {
            let section = key.shape.is_section() && place.path.is_empty();
            return self.look(&place.below(written, at, section), value, &key.shape);
        }
        let top = place.path.is_empty();
        if let Some((name, now)) = FORMER.iter().find(|(name, _)| top && *name == written) {
            return self.wrong(&place.below(name, at, true), *now);
        }
        let is_section = top && matches!(value.get_ref(), DeValue::Table(_) | DeValue::Array(_));
        let below = place.below(words::shown(written).unwrap_or("a key"), at, is_section);
        if !top && self.above.contains(&written) {
            return self.wrong(&below, format!("no such setting; {written} stands above the first section"));
        }
        let known: Vec<&str> = besides.iter().copied().chain(keys.iter().map(|key| key.name)).collect();
        let what = if is_section { "section" } else { "setting" };
        let is_secret = SECRETS.iter().any(|word| written.to_lowercase().contains(word));
        if is_secret && words::nearest(written, &known).is_none() {
            return self.wrong(
                &below,
                format!("no such {what}; keys stand in .env, a line each: ANTHROPIC_API_KEY=…"),
            );
        }
        self.wrong(&below, format!("no such {what}; {}", words::suggest(written, &known)));
    }

    fn named(&mut self, place: &Place, table: &DeTable<'_>, form: Form, each: &Shape) {
        for (name, value) in table {
            let written = words::shown(name.get_ref()).unwrap_or("a name");
            let below = place.below(written, name.span().start, each.is_section());
            match (self.check)(form, name.get_ref()) {
                Ok(()) => self.look(&below, value, each),
                Err(what) => self.wrong(&below, what),
            }
        }
    }

    fn kinds(&mut self, place: &Place, table: &DeTable<'_>, by: &str, kinds: &[(&str, &'static [Key])]) {
        let names: Vec<&str> = kinds.iter().map(|(name, _)| *name).collect();
        let Some((key, value)) = table.iter().find(|(name, _)| name.get_ref() == by) else {
            let what = format!("is missing; it is one of {}", names.join(", "));
            return self.wrong(&place.below(by, place.at, false), what);
        };
        let below = place.below(by, key.span().start, false);
        let DeValue::String(kind) = value.get_ref() else {
            return self.wrong(&below, format!("must be text, not {}", found(value.get_ref())));
        };
        match kinds.iter().find(|(name, _)| name == kind) {
            Some((_, keys)) => self.fields(place, table, keys, &[by]),
            None => self.one_of(&below, kind, &names),
        }
    }

    fn one_of(&mut self, place: &Place, word: &str, words: &[&str]) {
        if !words.contains(&word) {
            let words: Vec<&str> = words.iter().copied().filter(|word| !word.is_empty()).collect();
            self.wrong(place, format!("not a value it can have; {}", words::suggest(word, &words)));
        }
    }

    fn text(&mut self, place: &Place, text: &str, form: Form) {
        // Folders and values of other programs may be long and random; they are never printed.
        let open = matches!(form, Form::Free | Form::Folder);
        if !open && words::looks_secret(text) {
            let what = "looks like a secret itself: put it in .env and name the variable here";
            self.wrong(place, what);
        } else if let Err(what) = (self.check)(form, text) {
            self.wrong(place, what);
        }
    }
}

/// Byte position of a key, given the names from the top down; of the nearest enclosing name where the key is missing.
fn place(file: &DeTable<'_>, path: &[&str]) -> usize {
    let (mut at, mut table) = (0, Some(file));
    for step in path {
        let found = table.and_then(|table| table.iter().find(|(name, _)| name.get_ref() == step));
        let Some((name, value)) = found else { break };
        at = name.span().start;
        table = value.get_ref().as_table();
    }
    at
}

/// The TOML parser's message, unless it quotes the line, which may hold a secret.
fn syntax(text: &str, at: usize, message: &str) -> String {
    let number = text.get(..at).unwrap_or_default().matches('\n').count();
    let line = text.lines().nth(number).unwrap_or_default();
    let words = line.split(|c: char| !c.is_alphanumeric()).filter(|word| word.len() >= 5);
    let quoted = words.into_iter().any(|word| message.contains(word));
    let message = message.lines().next().unwrap_or_default();
    if quoted || message.is_empty() { "not TOML".to_owned() } else { format!("not TOML: {message}") }
}

fn between(least: &dyn fmt::Display, most: &dyn fmt::Display, is_open: bool) -> String {
    if is_open { format!("must be at least {least}") } else { format!("must be between {least} and {most}") }
}

fn whole(number: &toml::de::DeInteger<'_>) -> Option<u64> {
    u64::from_str_radix(&number.as_str().replace('_', ""), number.radix()).ok()
}

fn number(value: &DeValue<'_>) -> Option<f64> {
    match value {
        DeValue::Integer(number) => i64::from_str_radix(&number.as_str().replace('_', ""), number.radix())
            .ok()
            .map(|whole| whole as f64),
        DeValue::Float(number) => number.as_str().replace('_', "").parse().ok(),
        DeValue::String(_)
        | DeValue::Boolean(_)
        | DeValue::Datetime(_)
        | DeValue::Array(_)
        | DeValue::Table(_) => None,
    }
}

fn wanted(shape: &Shape) -> &'static str {
    match shape {
        Shape::Needed(shape) => wanted(shape),
        Shape::Text(_) | Shape::Word(_) | Shape::WordOr(..) => "text",
        Shape::Flag => "true or false",
        Shape::Count(..) | Shape::Clamped(..) => "a whole number",
        Shape::Amount(..) => "a number",
        Shape::List(_) => "a list",
        Shape::Table(_) | Shape::Names(..) | Shape::Kinds(..) => "a table",
        Shape::Any => "something",
    }
}

fn found(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "text",
        DeValue::Integer(_) | DeValue::Float(_) => "a number",
        DeValue::Boolean(_) => "true or false",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}
