//! Rules that several wires share: unknown fields, names, strict schemas, surrogates, and the words for a refusal.

use serde_json::Value;
use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};

/// Longest request the servers take, in bytes.
pub const MOST_BYTES: usize = 32 << 20;

/// Why a request is refused.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Why {
    /// A rule of the wire is broken: the client is at fault.
    Form,
    /// Over the window or the server's size.
    Size,
    /// What this server does not have, and a client may try.
    Taste,
}

/// A refused request.
#[derive(Clone, Debug)]
pub struct Refusal {
    pub number: usize,
    pub status: u16,
    pub message: String,
    pub why: Why,
    /// The wire's own word for it, where it has one.
    pub code: &'static str,
}

pub type Checked = Result<(), Refusal>;

pub fn refusal(message: impl Into<String>) -> Refusal {
    Refusal { number: 0, status: 400, message: message.into(), why: Why::Form, code: "" }
}

pub fn refuse<T>(message: impl Into<String>) -> Result<T, Refusal> {
    Err(refusal(message))
}

/// Refuses unless it is so.
pub fn must(so: bool, message: impl FnOnce() -> String) -> Checked {
    if so { Ok(()) } else { refuse(message()) }
}

/// Refuses a field that is not known; `at` is empty or ends in a dot.
pub fn known(value: &Value, at: &str, names: &[&str]) -> Checked {
    let Some(object) = value.as_object() else { return refuse(format!("{at}: Input should be an object")) };
    match object.keys().find(|key| !names.contains(&key.as_str())) {
        None => Ok(()),
        Some(key) => refuse(format!("{at}{key}: Extra inputs are not permitted")),
    }
}

pub fn list<'a>(value: &'a Value, name: &str) -> &'a [Value] {
    value[name].as_array().map_or(&[], Vec::as_slice)
}

pub fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value[name].as_str().unwrap_or_default()
}

pub fn hash(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

/// OpenAI, `FunctionObject.name` of openapi.yaml.
pub const NAME: &str = "^[a-zA-Z0-9_-]{1,64}$";

pub fn is_name(name: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    (1..=64).contains(&name.len()) && name.bytes().all(fits)
}

/// Each once.
pub fn unique<'a>(names: impl Iterator<Item = &'a str>) -> Result<(), String> {
    let mut seen = BTreeSet::new();
    let mut names = names;
    names.find(|name| !seen.insert(*name)).map_or(Ok(()), |twice| Err(twice.to_owned()))
}

/// What a strict schema may not have (Anthropic, structured outputs, limitations of schemas); `all_required` as OpenAI has
/// it.
pub fn strict(schema: &Value, all_required: bool) -> Result<(), String> {
    const REFUSED: [&str; 9] = [
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "multipleOf",
        "minLength",
        "maxLength",
        "maxItems",
        "uniqueItems",
    ];
    if let Some(object) = schema.as_object() {
        // `properties` holds names of the tool's own.
        if let Some(word) = REFUSED.iter().find(|word| !all_required && object.contains_key(**word)) {
            return Err(format!("For '{}' type, property '{word}' is not supported", text(schema, "type")));
        }
        let kinds: Vec<&str> = match &schema["type"] {
            Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).collect(),
            kind => kind.as_str().into_iter().collect(),
        };
        if kinds.contains(&"object") {
            closed(schema, all_required)?;
        }
    }
    for part in parts(schema) {
        strict(part, all_required)?;
    }
    Ok(())
}

fn closed(schema: &Value, all_required: bool) -> Result<(), String> {
    if schema["additionalProperties"] != Value::Bool(false) {
        return Err("For 'object' type, 'additionalProperties' must be explicitly set to false".to_owned());
    }
    let Some(properties) = schema["properties"].as_object() else { return Ok(()) };
    let required: Vec<&str> = list(schema, "required").iter().filter_map(Value::as_str).collect();
    match properties.keys().find(|name| all_required && !required.contains(&name.as_str())) {
        None => Ok(()),
        Some(name) => Err(format!(
            "'required' is required to be supplied and to be an array including every key in properties. Missing '{name}'."
        )),
    }
}

pub fn parts(schema: &Value) -> Vec<&Value> {
    let mut parts = Vec::new();
    for name in ["properties", "$defs", "definitions"] {
        parts.extend(schema[name].as_object().into_iter().flat_map(|object| object.values()));
    }
    for name in ["anyOf", "oneOf", "allOf", "prefixItems"] {
        parts.extend(list(schema, name));
    }
    parts.extend(schema.get("items"));
    parts
}

/// Whether half of a surrogate pair stands alone among the escapes of a JSON text, or the bytes are no text at all.
pub fn is_torn(raw: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(raw) else { return true };
    let unit = |at: usize| {
        let escape = raw.get(at..at + 6)?;
        let digits = std::str::from_utf8(escape.strip_prefix(b"\\u")?).ok()?;
        u32::from_str_radix(digits, 16).ok()
    };
    let mut at = 0;
    while let Some(escape) = text.get(at..).and_then(|rest| rest.find('\\')) {
        at += escape;
        match unit(at) {
            Some(0xd800..=0xdbff) if matches!(unit(at + 6), Some(0xdc00..=0xdfff)) => at += 12,
            Some(0xd800..=0xdfff) => return true,
            // What is escaped may be of more bytes than one where this is no JSON.
            _ => at += 1 + text[at + 1..].chars().next().map_or(1, char::len_utf8),
        }
    }
    false
}
