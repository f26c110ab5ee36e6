//! Judges a settings file against its shape; a mistake names its line, its key and the nearest valid name.
//!
//! Invariant: no value that is text is ever printed, since it may be a secret in the wrong place.

use crate::policy::schema;
use crate::policy::words;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// What may stand at a place.
pub enum Shape {
    Text,
    Flag,
    /// A whole number, least and most.
    Count(u64, u64),
    /// A number, least and most.
    Amount(f64, f64),
    /// One of these words.
    Word(&'static [&'static str]),
    /// Text that a judge has nothing against; it is told whether the field may be empty.
    Judged(fn(&str) -> Result<(), String>),
    List(&'static Shape),
    Table(&'static [Field], Whole),
    /// Any names the first judge has nothing against, each with the same shape.
    Names(fn(&str) -> Result<(), String>, &'static Shape),
    /// A table whose fields depend on the word at one of them.
    Kinds(&'static str, &'static [(&'static str, &'static [Field])]),
}

/// A judge of a table as a whole: the key at fault, and why.
pub type Whole = fn(&DeTable<'_>) -> Option<(&'static str, String)>;

pub struct Field {
    pub name: &'static str,
    pub shape: Shape,
    pub needed: bool,
}

/// Something wrong, and where.
pub struct Mistake {
    /// Bytes into the text.
    pub at: usize,
    /// Keys from the section down.
    pub path: String,
    pub what: String,
}

type Judged = Result<(), Mistake>;

/// A place in the file: how it is called, and where it begins.
#[derive(Clone)]
struct Place {
    path: String,
    /// Spelled as a section, in brackets.
    section: bool,
    at: usize,
}

impl Place {
    fn below(&self, key: &str, at: usize) -> Self {
        let path = format!("{}{}{key}", self.path, if self.section { " " } else { "." });
        Self { path, section: false, at }
    }

    /// A table named by the owner below a section or a key.
    fn named(&self, name: &str, at: usize) -> Self {
        match self.path.strip_suffix(']').filter(|_| self.section) {
            Some(section) => Self { path: format!("{section}.{name}]"), section: true, at },
            None => self.below(name, at),
        }
    }

    fn is_wrong(&self, what: impl Into<String>) -> Judged {
        Err(Mistake { at: self.at, path: self.path.clone(), what: what.into() })
    }
}

/// Judges the value of a section, or of a key above all sections.
pub fn judge(name: &str, at: usize, value: &Spanned<DeValue<'_>>, shape: &Shape) -> Judged {
    let section = matches!(shape, Shape::Table(..) | Shape::Names(..));
    let path = if section { format!("[{name}]") } else { name.to_owned() };
    look(&Place { path, section, at }, value, shape)
}

fn look(place: &Place, value: &Spanned<DeValue<'_>>, shape: &Shape) -> Judged {
    let value = value.get_ref();
    match (shape, value) {
        (Shape::Text, DeValue::String(text)) => no_secret(place, text),
        (Shape::Flag, DeValue::Boolean(_)) => Ok(()),
        (Shape::Count(least, most), DeValue::Integer(number)) => {
            let digits = number.as_str().replace('_', "");
            match u64::from_str_radix(&digits, number.radix()) {
                Ok(count) if (*least..=*most).contains(&count) => Ok(()),
                _ => place.is_wrong(format!("must be between {least} and {most}")),
            }
        }
        (Shape::Amount(least, most), DeValue::Integer(_) | DeValue::Float(_)) => match number(value) {
            Some(amount) if (*least..=*most).contains(&amount) => Ok(()),
            _ => place.is_wrong(format!("must be between {least} and {most}")),
        },
        (Shape::Word(words), DeValue::String(word)) => one_of(place, word, words),
        (Shape::Judged(judge), DeValue::String(text)) => {
            no_secret(place, text)?;
            judge(text).or_else(|what| place.is_wrong(what))
        }
        (Shape::List(each), DeValue::Array(items)) => {
            for (index, item) in items.iter().enumerate() {
                let path = format!("{}[{}]", place.path, index + 1);
                look(&Place { path, section: false, at: item.span().start }, item, each)?;
            }
            Ok(())
        }
        (Shape::Table(fields, whole), DeValue::Table(table)) => {
            fields_of(place, table, fields, &[])?;
            match whole(table) {
                Some((key, what)) => {
                    let at = table.iter().find(|(name, _)| name.get_ref() == key);
                    place.below(key, at.map_or(place.at, |(name, _)| name.span().start)).is_wrong(what)
                }
                None => Ok(()),
            }
        }
        (Shape::Names(judge, each), DeValue::Table(table)) => {
            for (name, value) in table {
                let spelled = words::shown(name.get_ref()).unwrap_or("a name");
                let below = place.named(spelled, name.span().start);
                judge(name.get_ref()).or_else(|what| below.is_wrong(what))?;
                look(&below, value, each)?;
            }
            Ok(())
        }
        (Shape::Kinds(by, kinds), DeValue::Table(table)) => kinds_of(place, table, by, kinds),
        _ => place.is_wrong(format!("must be {}, not {}", wanted(shape), found(value))),
    }
}

fn fields_of(place: &Place, table: &DeTable<'_>, fields: &[Field], besides: &[&str]) -> Judged {
    for (name, value) in table {
        let (key, at) = (name.get_ref().as_ref(), name.span().start);
        if besides.contains(&key) {
            continue;
        }
        let Some(field) = fields.iter().find(|field| field.name == key) else {
            let known: Vec<&str> =
                besides.iter().copied().chain(fields.iter().map(|field| field.name)).collect();
            let below = place.below(words::shown(key).unwrap_or("a key"), at);
            return below.is_wrong(format!("no such setting; {}", unknown(key, &known)));
        };
        look(&place.below(key, at), value, &field.shape)?;
    }
    for field in fields.iter().filter(|field| field.needed) {
        if !table.keys().any(|name| name.get_ref() == field.name) {
            return place.below(field.name, place.at).is_wrong("is missing and cannot be guessed");
        }
    }
    Ok(())
}

fn unknown(key: &str, known: &[&str]) -> String {
    if schema::TOP.contains(&key) {
        return format!("{key} stands above the first section");
    }
    words::suggest(key, known)
}

/// Where a key of a section stands, in bytes into the text.
pub fn place(file: &DeTable<'_>, section: &str, key: &str) -> usize {
    let of = |table: &DeTable<'_>, key: &str| {
        let found = table.iter().find(|(name, _)| name.get_ref() == key);
        found.map(|(name, _)| name.span().start)
    };
    let inner = file.iter().find(|(name, _)| name.get_ref() == section).map(|(_, value)| value.get_ref());
    match inner {
        Some(DeValue::Table(table)) => of(table, key),
        _ => None,
    }
    .or_else(|| of(file, section))
    .unwrap_or(0)
}

fn kinds_of(place: &Place, table: &DeTable<'_>, by: &str, kinds: &[(&str, &[Field])]) -> Judged {
    let names: Vec<&str> = kinds.iter().map(|(name, _)| *name).collect();
    let Some((key, value)) = table.iter().find(|(name, _)| name.get_ref() == by) else {
        return place.below(by, place.at).is_wrong(format!("is missing; it is one of {}", names.join(", ")));
    };
    let below = place.below(by, key.span().start);
    let DeValue::String(kind) = value.get_ref() else {
        return below.is_wrong(format!("must be text, not {}", found(value.get_ref())));
    };
    one_of(&below, kind, &names)?;
    let fields = kinds.iter().find(|(name, _)| name == kind).map_or(&[][..], |(_, fields)| *fields);
    fields_of(place, table, fields, &[by])
}

fn one_of(place: &Place, word: &str, words: &[&str]) -> Judged {
    if words.contains(&word) {
        return Ok(());
    }
    let words: Vec<&str> = words.iter().copied().filter(|word| !word.is_empty()).collect();
    place.is_wrong(format!("not a value it can have; {}", words::suggest(word, &words)))
}

fn no_secret(place: &Place, text: &str) -> Judged {
    if words::looks_secret(text) {
        return place.is_wrong("looks like a secret itself: put it in .env and name the variable here");
    }
    Ok(())
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
        Shape::Text | Shape::Word(_) | Shape::Judged(_) => "text",
        Shape::Flag => "true or false",
        Shape::Count(..) => "a whole number",
        Shape::Amount(..) => "a number",
        Shape::List(_) => "a list",
        Shape::Table(..) | Shape::Names(..) | Shape::Kinds(..) => "a table",
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
