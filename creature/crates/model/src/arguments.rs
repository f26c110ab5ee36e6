//! Calls as servers send them, made fit to be run and to be sent back: ids of their own, arguments an object. Pure.

use std::collections::HashSet;

use serde_json::{Map, Value};

use crate::{Turn, surrogates};

/// Characters kept of arguments that are no object.
const MOST_BROKEN: usize = 2_000;

/// Names under which servers put a call's arguments.
const NAMES: [&str; 4] = ["arguments", "parameters", "args", "input"];

/// Ids already given in a conversation.
pub(crate) struct Ids {
    used: HashSet<String>,
    turn: usize,
}

impl Ids {
    /// The ids of the turns so far; `of` tells those of a thought.
    pub(crate) fn of(turns: &[Turn], of: impl Fn(&Value) -> Vec<String>) -> Ids {
        let thoughts = turns.iter().filter_map(|turn| match turn {
            Turn::Thought { raw } => Some(of(raw)),
            Turn::Said { .. } | Turn::Results { .. } => None,
        });
        Ids { used: thoughts.flatten().collect(), turn: turns.len() }
    }

    /// The server's id where no other call has it, else a new one: of nine letters and digits, as Mistral's templates
    /// want it.
    pub(crate) fn unique(&mut self, given: &str) -> String {
        let made = (1..).map(|number| format!("c{:05}{number:03}", self.turn));
        let mut ids = std::iter::once(given.to_owned()).filter(|given| !given.is_empty()).chain(made);
        ids.find(|id| self.used.insert(id.clone())).unwrap_or_default()
    }
}

/// The function of a call: its own, or name and arguments that stand in the call itself. Arguments that stand under
/// another name of theirs are put under `arguments`.
pub(crate) fn function(call: &mut Value) -> Value {
    let mut function = match call.get_mut("function") {
        Some(function @ Value::Object(_)) => function.take(),
        _ => Value::Object(Map::new()),
    };
    let (Value::Object(fields), Value::Object(call)) = (&mut function, call) else { return function };
    if fields.is_empty() {
        let own = std::iter::once("name").chain(NAMES).filter_map(|key| call.shift_remove_entry(key));
        fields.extend(own.collect::<Vec<_>>());
    }
    if fields.get(NAMES[0]).is_none_or(Value::is_null)
        && let Some(given) =
            NAMES.iter().find_map(|name| fields.shift_remove(*name).filter(|args| !args.is_null()))
    {
        fields.insert(NAMES[0].to_owned(), given);
    }
    function
}

/// Arguments that came as an object, as its text, or as the text of that text; none at all are an empty object.
pub(crate) fn arguments(given: Option<&Value>) -> Result<Map<String, Value>, String> {
    match given {
        None | Some(Value::Null) => Ok(Map::new()),
        Some(Value::Object(arguments)) => Ok(arguments.clone()),
        Some(Value::String(text)) if text.trim().is_empty() => Ok(Map::new()),
        Some(Value::String(text)) => match surrogates::json(text) {
            Ok(Value::Object(arguments)) => Ok(arguments),
            Ok(Value::String(inner)) if inner.len() < text.len() => arguments(Some(&Value::String(inner))),
            Ok(_) => Err(broken("they are JSON, but no object", text)),
            Err(error) => Err(broken(&error.to_string(), text)),
        },
        Some(other) => Err(broken("they are JSON, but no object", &other.to_string())),
    }
}

fn broken(why: &str, text: &str) -> String {
    let begin: String = text.chars().take(MOST_BROKEN).collect();
    format!("the arguments cannot be read ({why}): {begin}")
}

/// Arguments as text to be sent back: the model's own where it is JSON as it stands, `{}` where none can be read.
pub(crate) fn text(given: Option<&Value>, read: &Result<Map<String, Value>, String>) -> String {
    let own = given.and_then(Value::as_str).map(surrogates::whole);
    let own = own.filter(|own| serde_json::from_str::<Map<String, Value>>(own).is_ok());
    match (own, read) {
        (Some(own), _) => own.into_owned(),
        (None, Ok(read)) => Value::Object(read.clone()).to_string(),
        (None, Err(_)) => "{}".to_owned(),
    }
}

/// The name in characters that every server accepts, 64 at most.
pub(crate) fn name(given: &str) -> String {
    let fits = |letter: char| letter.is_ascii_alphanumeric() || "_-".contains(letter);
    let name: String = given.chars().take(64).map(|c| if fits(c) { c } else { '_' }).collect();
    if name.is_empty() { "unknown".to_owned() } else { name }
}
