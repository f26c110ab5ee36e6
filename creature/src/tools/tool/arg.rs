//! Argument of a tool: its kinds, how a prompt describes it, and how a given value is read. Pure.
//!
//! Invariant: what is meant beyond doubt is taken (digits in text, JSON in text); all else is refused, with why.

use ground::text::first;
use mind::thought::found;
use serde_json::{Map, Value, json};

/// Characters of what was given wrong, as it is named.
const MOST_NAMED: usize = 80;

/// Argument of a tool, or field of an object that is an argument.
#[derive(Clone, Copy, Debug)]
pub struct Arg {
    pub name: &'static str,
    pub kind: Kind,
    pub needed: bool,
    /// Meaning or form of it, where its name and kind do not say so.
    pub about: &'static str,
}

#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// Text, which may be empty.
    Text,
    /// Text that is not blank.
    NonBlankText,
    OneOf(&'static [&'static str]),
    /// A whole number from the first to the second, both included.
    Number(u64, u64),
    /// Any number, also as text with `$`, commas and spaces: `$1,200`.
    Amount,
    Flag,
    /// An object with any fields.
    Object,
    /// An object with these fields.
    Record(&'static [Arg]),
    /// A list of one to so many; one of `NonBlankText` may come as the lines of a text.
    List(&'static Kind, usize),
    /// JSON of one of these types.
    Json(&'static [&'static str]),
}

impl Arg {
    const fn new(name: &'static str, kind: Kind) -> Self {
        Self { name, kind, needed: true, about: "" }
    }

    /// The argument may be left out.
    pub const fn maybe(self) -> Self {
        Self { needed: false, ..self }
    }

    pub const fn about(self, about: &'static str) -> Self {
        Self { about, ..self }
    }

    /// Returns its name and kind for a prompt: `path`, `hold?: bool`, `most?: 1-20`.
    pub fn words(&self) -> String {
        let mark = if self.needed { "" } else { "?" };
        match self.kind {
            Kind::Text | Kind::NonBlankText => format!("{}{mark}", self.name),
            kind => format!("{}{mark}: {}", self.name, kind.words()),
        }
    }
}

pub const fn non_blank(name: &'static str) -> Arg {
    Arg::new(name, Kind::NonBlankText)
}

pub const fn text(name: &'static str) -> Arg {
    Arg::new(name, Kind::Text)
}

pub const fn one_of(name: &'static str, of: &'static [&'static str]) -> Arg {
    Arg::new(name, Kind::OneOf(of))
}

pub const fn number(name: &'static str, least: u64, most: u64) -> Arg {
    Arg::new(name, Kind::Number(least, most))
}

pub const fn amount(name: &'static str) -> Arg {
    Arg::new(name, Kind::Amount)
}

pub const fn flag(name: &'static str) -> Arg {
    Arg::new(name, Kind::Flag)
}

pub const fn object(name: &'static str) -> Arg {
    Arg::new(name, Kind::Object)
}

pub const fn list(name: &'static str, of: &'static Kind, most: usize) -> Arg {
    Arg::new(name, Kind::List(of, most))
}

pub const fn json_of(name: &'static str, types: &'static [&'static str]) -> Arg {
    Arg::new(name, Kind::Json(types))
}

/// Arguments in braces, as the prompt and refusals have them.
pub fn in_braces(args: &[Arg]) -> String {
    format!("{{{}}}", args.iter().map(Arg::words).collect::<Vec<_>>().join(", "))
}

impl Kind {
    fn words(self) -> String {
        match self {
            Kind::Text | Kind::NonBlankText => "text".to_owned(),
            Kind::OneOf(of) => of.join("|"),
            Kind::Number(least, u64::MAX) => format!("{least}-"),
            Kind::Number(least, most) => format!("{least}-{most}"),
            Kind::Amount => "number".to_owned(),
            Kind::Flag => "bool".to_owned(),
            Kind::Object => "{…}".to_owned(),
            Kind::Record(fields) => in_braces(fields),
            Kind::List(of, _) => format!("[{}]", of.words()),
            Kind::Json(types) => types.join("|"),
        }
    }

    /// Says what it takes, as part of a sentence that refuses something else.
    fn wanted(self) -> String {
        match self {
            Kind::Text | Kind::NonBlankText => "text".to_owned(),
            Kind::OneOf(of) => format!("one of {}", of.join(", ")),
            Kind::Number(..) | Kind::Amount => "a number".to_owned(),
            Kind::Flag => "true or false".to_owned(),
            Kind::Object => "an object".to_owned(),
            Kind::Record(fields) => format!("an object {}", in_braces(fields)),
            Kind::List(of, _) => format!("a list of {}", of.words()),
            Kind::Json(types) => types.join(" or "),
        }
    }

    /// The value converted to this kind, or why it cannot be; `place` names it in a refusal.
    fn read(self, value: &Value, place: &str) -> Result<Value, String> {
        let wrong = || Err(format!("takes {} as {place}, not {}", self.wanted(), found(value)));
        match (self, value) {
            (Kind::NonBlankText, Value::String(text)) if text.trim().is_empty() => {
                Err(format!("needs {place}, and it is empty"))
            }
            (Kind::Text | Kind::NonBlankText, Value::String(_))
            | (Kind::Flag, Value::Bool(_))
            | (Kind::Object, Value::Object(_))
            | (Kind::Amount, Value::Number(_)) => Ok(value.clone()),
            (Kind::OneOf(of), Value::String(text)) => match of.iter().find(|one| **one == text.trim()) {
                Some(one) => Ok(json!(one)),
                None => Err(format!("takes {} as {place}, not `{}`", self.wanted(), first(text, MOST_NAMED))),
            },
            (Kind::Number(least, most), Value::Number(_) | Value::String(_)) => {
                let within = whole(value).filter(|number| (least..=most).contains(number));
                within.map(Value::from).ok_or_else(|| match most {
                    u64::MAX => format!("takes a whole number of at least {least} as {place}"),
                    _ => format!("takes a whole number from {least} to {most} as {place}"),
                })
            }
            (Kind::Amount, Value::String(text)) => {
                match serde_json::from_str::<Value>(&text.replace(['$', ',', ' '], "")) {
                    Ok(number @ Value::Number(_)) => Ok(number),
                    _ => wrong(),
                }
            }
            (Kind::Flag, Value::String(text)) if text.trim() == "true" => Ok(json!(true)),
            (Kind::Flag, Value::String(text)) if text.trim() == "false" => Ok(json!(false)),
            (Kind::Record(fields), Value::Object(map)) => Ok(Value::Object(read(fields, map, Some(place))?)),
            (Kind::List(of, most), Value::Array(items)) => {
                if items.is_empty() || items.len() > most {
                    return Err(format!("takes 1 to {most} entries as {place}, not {}", items.len()));
                }
                let bare = place.trim_matches('`');
                let one = |(at, item): (usize, &Value)| of.read(item, &format!("{bare}[{at}]"));
                items.iter().enumerate().map(one).collect::<Result<_, _>>().map(Value::Array)
            }
            (Kind::Json(types), value) if types.iter().any(|one| is(one, value)) => Ok(value.clone()),
            (Kind::Object | Kind::Record(_) | Kind::List(..), Value::String(text)) => {
                match serde_json::from_str::<Value>(text) {
                    Ok(inner @ (Value::Object(_) | Value::Array(_))) => self.read(&inner, place),
                    _ if matches!(self, Kind::List(Kind::NonBlankText, _)) && !text.trim().is_empty() => {
                        let lines = text.lines().filter(|line| !line.trim().is_empty());
                        self.read(&lines.collect::<Value>(), place)
                    }
                    _ => wrong(),
                }
            }
            _ => wrong(),
        }
    }
}

/// The arguments converted to their kinds, null counting as left out; else what is wrong. `within` names the
/// object that they are fields of.
pub fn read(
    args: &[Arg],
    given: &Map<String, Value>,
    within: Option<&str>,
) -> Result<Map<String, Value>, String> {
    let known = |name: &str| args.iter().any(|arg| arg.name == name);
    if let Some(name) = given.keys().find(|name| !known(name)) {
        return Err(match within {
            Some(place) => {
                let names: Vec<&str> = args.iter().map(|arg| arg.name).collect();
                format!("takes no `{}` in {place}, only {}", first(name, MOST_NAMED), names.join(", "))
            }
            None => format!("takes no argument `{}`", first(name, MOST_NAMED)),
        });
    }
    let inside = within.map_or(String::new(), |place| format!(" in {place}"));
    let mut read = Map::new();
    for arg in args {
        match given.get(arg.name).filter(|value| !value.is_null()) {
            Some(value) => {
                let value = arg.kind.read(value, &format!("`{}`{inside}", arg.name))?;
                read.insert(arg.name.to_owned(), value);
            }
            None if arg.needed => return Err(format!("needs `{}`{inside}", arg.name)),
            None => {}
        }
    }
    Ok(read)
}

fn whole(value: &Value) -> Option<u64> {
    match value {
        Value::String(text) => text.trim().parse().ok(),
        value => value.as_u64().or_else(|| {
            // A model may write 3.0; past 2^53 that would be a guess.
            let number =
                value.as_f64().filter(|number| (0.0..9e15).contains(number) && number.fract() == 0.0)?;
            Some(number as u64)
        }),
    }
}

fn is(kind: &str, value: &Value) -> bool {
    match value {
        Value::String(_) => kind == "string",
        Value::Number(_) => kind == "number",
        Value::Object(_) => kind == "object",
        Value::Array(_) => kind == "array",
        Value::Bool(_) => kind == "boolean",
        Value::Null => false,
    }
}
