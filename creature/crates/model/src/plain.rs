//! Tools in the one form that every maker's server takes, whatever schema they come with. Pure.
//!
//! Invariant: what is in that form stays as it is, byte for byte; nothing that was needed is lost: what the form cannot
//! say is said in words, and a value that it cannot hold travels as text.

use std::borrow::Cow;
use std::cell::Cell;

use serde_json::{Map, Value, json};

use crate::Tool;

/// Characters of a description; more is refused by OpenAI, as what follows: sources in `creature/tests/faithful/tool_rules.rs`.
const MOST_DESCRIPTION: usize = 1_024;

/// Objects and lists within one another; more objects are refused by OpenAI.
const MOST_LEVELS: usize = 10;

/// Values of one tool, for schemas that hold themselves; OpenAI refuses more than 5,000.
const MOST_VALUES: usize = 500;

/// Words of an enumeration; a longer one is told in words.
const MOST_WORDS: usize = 100;

/// Steps to follow a reference, or to look into unions.
const MOST_STEPS: usize = 16;

/// Bounds and hints as words of the description.
const BOUNDS: [(&str, &str); 12] = [
    ("minimum", "at least"),
    ("maximum", "at most"),
    ("exclusiveMinimum", "more than"),
    ("exclusiveMaximum", "less than"),
    ("multipleOf", "a multiple of"),
    ("minLength", "characters at least:"),
    ("maxLength", "characters at most:"),
    ("minItems", "items at least:"),
    ("maxItems", "items at most:"),
    ("pattern", "matching"),
    ("format", "format:"),
    ("default", "if left out:"),
];

/// The tool with a schema and a description that every server takes; its name is its caller's to choose.
pub(crate) fn plain(tool: &Tool) -> Tool {
    let root = Root { schema: &tool.schema, left: Cell::new(MOST_VALUES) };
    let schema =
        root.object(&tool.schema, 1).unwrap_or_else(|| json!({"type": "object", "properties": unused()}));
    let description = match tool.description.trim() {
        "" => tool.name.clone(),
        _ => shortened(&tool.description),
    };
    Tool { name: tool.name.clone(), description, schema, strict: tool.strict }
}

/// Google wants a property of every object.
fn unused() -> Value {
    json!({"note": {"type": "string", "description": "not used"}})
}

fn shortened(text: &str) -> String {
    let most = MOST_DESCRIPTION - 1;
    match text.chars().count() > MOST_DESCRIPTION {
        true => text.chars().take(most).chain(['…']).collect(),
        false => text.to_owned(),
    }
}

struct Root<'a> {
    schema: &'a Value,
    /// Values that may still be described.
    left: Cell<usize>,
}

impl<'a> Root<'a> {
    /// An object with properties; `None` where it has none that could be named.
    fn object(&self, schema: &Value, level: usize) -> Option<Value> {
        let schema = self.met(schema, 0);
        let properties = schema.get("properties")?.as_object().filter(|properties| !properties.is_empty())?;
        if level > MOST_LEVELS || !properties.keys().all(|name| is_parameter(name)) {
            return None;
        }
        let each = properties.iter().map(|(name, property)| (name.clone(), self.value(property, level)));
        let each: Map<String, Value> = each.collect();
        let required = schema.get("required").and_then(Value::as_array).into_iter().flatten();
        let mut names: Vec<&str> = Vec::new();
        for name in required.filter_map(Value::as_str) {
            if each.contains_key(name) && !names.contains(&name) {
                names.push(name);
            }
        }
        let mut plain = json!({"type": "object", "properties": each});
        if let (Value::Object(plain), false) = (&mut plain, names.is_empty()) {
            plain.insert("required".to_owned(), json!(names));
        }
        Some(plain)
    }

    /// A property, or an item of a list.
    fn value(&self, schema: &Value, level: usize) -> Value {
        let schema = self.met(schema, 0);
        let left = self.left.get();
        self.left.set(left.saturating_sub(1));
        let is_deep = left == 0 || level + 1 >= MOST_LEVELS;
        let (mut plain, words) = match kind(&schema) {
            "object" => match (!is_deep).then(|| self.object(&schema, level + 1)).flatten() {
                Some(object) => (object, String::new()),
                None => (json!({"type": "string"}), "a JSON object, as text".to_owned()),
            },
            "array" if is_deep => (json!({"type": "string"}), "a JSON list, as text".to_owned()),
            "array" => (json!({"type": "array", "items": self.items(&schema, level + 1)}), String::new()),
            "string" => words_of(&schema),
            kind @ ("integer" | "number" | "boolean") => (json!({"type": kind}), values(&schema)),
            _ => {
                (json!({"type": "string"}), ["text, or JSON as text".to_owned(), values(&schema)].join("; "))
            }
        };
        let about = schema.get("description").and_then(Value::as_str).unwrap_or_default().trim();
        let parts = [about.to_owned(), words].into_iter().chain(bounds(&schema));
        let about = parts.filter(|part| !part.is_empty()).collect::<Vec<_>>().join("; ");
        let about = about.trim_end_matches("; ");
        if let (Value::Object(plain), false) = (&mut plain, about.is_empty()) {
            plain.insert("description".to_owned(), json!(shortened(about)));
        }
        plain
    }

    /// Returns the schema of a list's items: of a tuple what its places have in common, else text.
    fn items(&self, schema: &Value, level: usize) -> Value {
        let places = ["items", "prefixItems"].iter().find_map(|key| schema.get(*key)?.as_array());
        let places: Vec<Value> = places.into_iter().flatten().map(|item| self.value(item, level)).collect();
        let is_one = places.windows(2).all(|pair| pair.first() == pair.last());
        match (schema.get("items"), places.first()) {
            (Some(item @ Value::Object(_)), _) => self.value(item, level),
            (_, Some(first)) if is_one => first.clone(),
            (_, Some(_)) => json!({"type": "string", "description": "text, or JSON as text"}),
            _ => json!({"type": "string"}),
        }
    }

    /// A schema with its references followed, its parts joined, and of its alternatives the one that is left without
    /// null; alternatives that differ leave it without a type.
    fn met<'s>(&self, schema: &'s Value, steps: usize) -> Cow<'s, Value> {
        let Value::Object(fields) = schema else { return Cow::Owned(json!({})) };
        if steps > MOST_STEPS {
            return Cow::Owned(json!({}));
        }
        let about = |met: &mut Value| {
            if let (Some(about), Value::Object(met)) = (fields.get("description"), met) {
                met.insert("description".to_owned(), about.clone());
            }
        };
        if let Some(place) = fields.get("$ref").and_then(Value::as_str) {
            let there = place.strip_prefix('#').and_then(|place| self.schema.pointer(place));
            let mut met = there.map_or_else(|| json!({}), |there| self.met(there, steps + 1).into_owned());
            about(&mut met);
            return Cow::Owned(met);
        }
        if let Some(parts) = fields.get("allOf").and_then(Value::as_array) {
            let mut all = fields.clone();
            all.shift_remove("allOf");
            for part in parts {
                joined(&mut all, self.met(part, steps + 1).into_owned());
            }
            return Cow::Owned(self.met(&Value::Object(all), steps + 1).into_owned());
        }
        let Some(some) = ["anyOf", "oneOf"].iter().find_map(|key| fields.get(*key)?.as_array()) else {
            return Cow::Borrowed(schema);
        };
        let mut met: Vec<Value> = some.iter().map(|one| self.met(one, steps + 1).into_owned()).collect();
        met.retain(|one| kind(one) != "null");
        let mut one = match met.as_slice() {
            [] => json!({}),
            [one] => one.clone(),
            [first, rest @ ..] => alike(first, rest),
        };
        if let Value::Object(one) = &mut one {
            let beside = fields.iter().filter(|(key, _)| !["anyOf", "oneOf"].contains(&key.as_str()));
            // What stands beside alternatives holds for all of them.
            beside.for_each(|(key, value)| drop(one.insert(key.clone(), value.clone())));
        }
        Cow::Owned(one)
    }
}

/// Alternatives of one type, with the words of all where all have some; else what has no type.
fn alike(first: &Value, rest: &[Value]) -> Value {
    let of = kind(first);
    let is_simple = matches!(of, "string" | "integer" | "number" | "boolean");
    if !is_simple || rest.iter().any(|other| kind(other) != of) {
        return json!({});
    }
    let words = |one: &Value| match one.get("const") {
        Some(only) => Some(vec![only.clone()]),
        None => one.get("enum").and_then(Value::as_array).cloned(),
    };
    let all: Option<Vec<Vec<Value>>> = std::iter::once(first).chain(rest).map(words).collect();
    match all {
        Some(all) => json!({"type": of, "enum": all.concat()}),
        None => json!({"type": of}),
    }
}

fn joined(all: &mut Map<String, Value>, part: Value) {
    let Value::Object(part) = part else { return };
    for (key, value) in part {
        match (all.get_mut(&key), value) {
            (Some(Value::Object(there)), Value::Object(more)) if key == "properties" => there.extend(more),
            (Some(Value::Array(there)), Value::Array(more)) if key == "required" => there.extend(more),
            (Some(_), _) => {}
            (None, value) => drop(all.insert(key, value)),
        }
    }
}

/// The type of a schema, as it is named or as its fields have it; empty where there are several.
fn kind(schema: &Value) -> &str {
    let named = match schema.get("type") {
        Some(Value::String(kind)) => return known(kind),
        Some(Value::Array(kinds)) => {
            let mut kinds = kinds.iter().filter_map(Value::as_str).filter(|kind| *kind != "null");
            let first = kinds.next().unwrap_or_default();
            return if kinds.all(|kind| kind == first) { known(first) } else { "" };
        }
        _ => "",
    };
    let values = schema.get("enum").and_then(Value::as_array).map(Vec::as_slice);
    let values = values.or_else(|| schema.get("const").map(std::slice::from_ref)).unwrap_or_default();
    match () {
        () if schema.get("properties").is_some() => "object",
        () if schema.get("items").is_some() || schema.get("prefixItems").is_some() => "array",
        () if !values.is_empty() && values.iter().all(Value::is_string) => "string",
        () if !values.is_empty() && values.iter().all(|value| value.is_i64() || value.is_u64()) => "integer",
        () if !values.is_empty() && values.iter().all(Value::is_number) => "number",
        () if !values.is_empty() && values.iter().all(Value::is_null) => "null",
        () => named,
    }
}

fn known(kind: &str) -> &str {
    match kind {
        "string" | "integer" | "number" | "boolean" | "array" | "object" | "null" => kind,
        _ => "",
    }
}

/// A text, held to its words where it has some.
fn words_of(schema: &Value) -> (Value, String) {
    let only = schema.get("const").map(std::slice::from_ref);
    let given = schema.get("enum").and_then(Value::as_array).map(Vec::as_slice).or(only).unwrap_or_default();
    let mut words: Vec<&str> = Vec::new();
    for word in given.iter().filter_map(Value::as_str).filter(|word| !word.is_empty()) {
        if !words.contains(&word) {
            words.push(word);
        }
    }
    // A word that may be empty is a text.
    let may_be_empty = given.iter().any(|word| word.as_str() == Some(""));
    match words.len() {
        0 => (json!({"type": "string"}), String::new()),
        1..=MOST_WORDS if !may_be_empty => (json!({"type": "string", "enum": words}), String::new()),
        _ => (json!({"type": "string"}), values(schema)),
    }
}

/// Values that are no words, or too many, in words.
fn values(schema: &Value) -> String {
    let given = schema.get("enum").and_then(Value::as_array);
    let told = given.into_iter().flatten().chain(schema.get("const")).take(MOST_WORDS).map(Value::to_string);
    let told: Vec<String> = told.collect();
    if told.is_empty() { String::new() } else { format!("one of {}", told.join(", ")) }
}

fn bounds(schema: &Value) -> Vec<String> {
    let told = |(key, words): &(&str, &str)| match schema.get(*key)? {
        Value::Null | Value::Bool(_) if *key != "default" => None,
        Value::String(text) => Some(format!("{words} {text}")),
        value => Some(format!("{words} {value}")),
    };
    BOUNDS.iter().filter_map(told).collect()
}

/// Whether every server takes this as the name of a parameter.
fn is_parameter(name: &str) -> bool {
    let begins = name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_');
    begins && name.len() <= 64 && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}
