//! What makers refuse of a list of tools: each rule with the place where its maker says so, or where its refusal was seen.
//!
//! Invariant: a tool that may reach several makers keeps to the rules of all of them. Behind the chat wire and the
//! Responses wire any maker may stand, by an address of its own or a gateway; behind the Messages wire Anthropic,
//! Bedrock and Moonshot.

use super::rules::{NAME, is_name, list, text, unique};
use serde_json::{Map, Value};

/// OpenAI, reference of chat completions and responses, `tools`: at most 128 functions; its refusal, code
/// `array_above_max_length`: github.com/vishalmysore/Tools4AI/issues/16. Groq's reference has the same number.
pub const MOST_TOOLS: usize = 128;

/// OpenAI, code `string_above_max_length`: github.com/getsentry/sentry-mcp/issues/106.
const MOST_DESCRIPTION: usize = 1_024;

/// Google, `FunctionDeclaration.name` of the v1beta reference of 2024: 63 characters, 128 in its SDK of 2026-08; Vertex, Bedrock, Mistral: 64.
const MOST_NAME: usize = 63;

/// OpenAI, structured outputs, supported schemas: ten levels of objects, 5,000 properties, 1,000 values of enums, 120,000
/// characters of names and values.
const MOST_LEVELS: usize = 10;
const MOST_PROPERTIES: usize = 5_000;
const MOST_VALUES: usize = 1_000;
const MOST_CHARACTERS: usize = 120_000;

/// Fields of Google's `Schema` (ai.google.dev/api/caching#Schema) that Moonshot's `mfjs-spec.md` has too
/// (github.com/MoonshotAI/walle): the first refuses `additionalProperties`, `$schema`, `const`, `exclusiveMinimum`
/// (github.com/openswarm-ai/openswarm/issues/24, github.com/pizza-bot-app/pizza-bot/issues/62), the second does not
/// take `minimum`, `maximum`, `minItems`, `maxItems`, `format`, `title`.
const FIELDS: [&str; 6] = ["type", "description", "enum", "items", "properties", "required"];

const TYPES: [&str; 6] = ["string", "number", "integer", "boolean", "array", "object"];

/// A tool of a request, whatever the wire calls its parts.
pub struct Tool<'a> {
    pub name: &'a str,
    pub description: &'a Value,
    pub schema: &'a Value,
    pub strict: bool,
}

/// The first rule that a list of tools breaks, in its maker's words.
pub fn check(tools: &[Tool<'_>]) -> Result<(), String> {
    if tools.len() > MOST_TOOLS {
        return Err(format!(
            "Invalid 'tools': array too long. Expected an array with maximum length {MOST_TOOLS}, but got an array \
             with length {} instead.",
            tools.len()
        ));
    }
    for (at, tool) in tools.iter().enumerate() {
        name(tool.name).map_err(|why| format!("Invalid 'tools[{at}].name': {why}"))?;
        description(tool.description).map_err(|why| format!("Invalid 'tools[{at}].description': {why}"))?;
        let place = |path: &str, why: String| {
            format!("Invalid schema for function '{}': In context=({path}), {why}", tool.name)
        };
        root(tool.schema).map_err(|why| place("", why))?;
        walk(tool.schema, "", tool.strict, &mut Sums::default()).map_err(|(path, why)| place(&path, why))?;
    }
    unique(tools.iter().map(|tool| tool.name)).map_err(|name| format!("duplicate function name '{name}'."))
}

fn name(name: &str) -> Result<(), String> {
    // OpenAI, reference of function objects; Anthropic, reference of tools; Bedrock, ToolSpecification.
    if !is_name(name) {
        return Err(format!(
            "string does not match pattern. Expected a string that matches the pattern '{NAME}'."
        ));
    }
    // Google: "Must start with a letter or an underscore": github.com/google-gemini/gemini-cli/issues/6704.
    let begins = name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_');
    match begins && name.len() <= MOST_NAME {
        true => Ok(()),
        false => Err("Invalid function name. Must start with a letter or an underscore.".to_owned()),
    }
}

fn description(description: &Value) -> Result<(), String> {
    // Bedrock, ToolSpecification.description: at least one character. Google requires one.
    let length = description.as_str().map_or(0, |text| text.chars().count());
    match length {
        0 => Err("empty string. Expected a string with minimum length 1.".to_owned()),
        1..=MOST_DESCRIPTION => Ok(()),
        _ => Err(format!(
            "string too long. Expected a string with maximum length {MOST_DESCRIPTION}, but got a string with length \
             {length} instead."
        )),
    }
}

/// OpenAI: "schema must have type 'object' and not have 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the top level"; Anthropic's
/// reference of `input_schema` and Vertex ("parameters schema should be of type OBJECT") say the same of the type.
fn root(schema: &Value) -> Result<(), String> {
    match text(schema, "type") {
        "object" => Ok(()),
        _ => Err("schema must be a JSON Schema of 'type: \"object\"'.".to_owned()),
    }
}

#[derive(Default)]
struct Sums {
    properties: usize,
    values: usize,
    characters: usize,
}

type At = (String, String);

fn walk(schema: &Value, path: &str, strict: bool, sums: &mut Sums) -> Result<(), At> {
    let here = |why: String| Err((path.to_owned(), why));
    let Some(object) = schema.as_object() else { return here("schema is not an object.".to_owned()) };
    let levels = path.matches("'properties'").count() + 1;
    if levels > MOST_LEVELS {
        return here(format!("{levels} levels of nesting exceeds limit of {MOST_LEVELS}."));
    }
    node(object, strict).or_else(here)?;
    values(schema, sums).or_else(here)?;
    if let Some(properties) = schema["properties"].as_object() {
        sums.properties += properties.len();
        if sums.properties > MOST_PROPERTIES {
            return here(format!("more than {MOST_PROPERTIES} object properties."));
        }
        for (name, property) in properties {
            sums.characters += name.len();
            parameter(name).or_else(here)?;
            walk(property, &format!("{path}'properties', '{name}', "), strict, sums)?;
        }
    }
    match schema.get("items") {
        Some(items) => walk(items, &format!("{path}'items', "), strict, sums),
        None => Ok(()),
    }
}

fn node(schema: &Map<String, Value>, strict: bool) -> Result<(), String> {
    let kind = match schema.get("type") {
        Some(Value::String(kind)) if TYPES.contains(&kind.as_str()) => kind.as_str(),
        Some(Value::String(kind)) => {
            return Err(format!("'{kind}' is not valid under any of the given schemas."));
        }
        // OpenAI looks for `items` in each of several types: github.com/campfirein/byterover-cli/issues/42.
        Some(Value::Array(kinds))
            if kinds.contains(&Value::from("array")) && !schema.contains_key("items") =>
        {
            return Err("array schema missing items.".to_owned());
        }
        // Google: a field of its proto takes one value: github.com/google/generative-ai-docs/issues/444.
        Some(_) => return Err("Proto field is not repeating, cannot start list.".to_owned()),
        // Moonshot: every value has a type: github.com/MoonshotAI/kimi-cli/issues/1595.
        None => return Err("type is not defined".to_owned()),
    };
    let is_known = |key: &str| FIELDS.contains(&key) || (strict && key == "additionalProperties");
    if let Some(key) = schema.keys().find(|key| !is_known(key)) {
        return Err(format!("Unknown name \"{key}\": Cannot find field."));
    }
    // OpenAI: github.com/streamnative/streamnative-mcp-server/issues/26. Google: "items: missing field".
    if kind == "array" && !schema.contains_key("items") {
        return Err("array schema missing items.".to_owned());
    }
    // Google: `items` of a list alone: github.com/NousResearch/hermes-agent/pull/38972.
    if kind != "array" && schema.contains_key("items") {
        return Err("items: field predicate failed: $type == Type.ARRAY".to_owned());
    }
    if kind != "object" {
        return match schema.contains_key("properties") {
            true => Err("properties: only allowed for OBJECT type".to_owned()),
            false => Ok(()),
        };
    }
    fields(schema)
}

fn fields(schema: &Map<String, Value>) -> Result<(), String> {
    // OpenAI: github.com/spring-projects/spring-ai/issues/4776.
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else {
        return Err("object schema missing properties.".to_owned());
    };
    // Google: github.com/agno-agi/agno/issues/2112, nested objects too.
    if properties.is_empty() {
        return Err("properties: should be non-empty for OBJECT type".to_owned());
    }
    // OpenAPI 3.0.3, schema object, after JSON Schema draft 4: `required` is not empty.
    let Some(required) = schema.get("required") else { return Ok(()) };
    let required = required.as_array().map_or(&[] as &[Value], Vec::as_slice);
    if required.is_empty() {
        return Err("required: should be left out where nothing is".to_owned());
    }
    // Google: "required[0]: property is not defined".
    match required.iter().position(|name| name.as_str().is_none_or(|name| !properties.contains_key(name))) {
        Some(at) => Err(format!("required[{at}]: property is not defined")),
        None => Ok(()),
    }
}

/// Google allows words of strings alone, none of them empty (github.com/diegosouzapw/OmniRoute/pull/760); Moonshot's
/// spec, one kind of value in a list.
fn values(schema: &Value, sums: &mut Sums) -> Result<(), String> {
    let Some(values) = schema.get("enum") else { return Ok(()) };
    let words: Vec<&str> = list(schema, "enum").iter().filter_map(Value::as_str).collect();
    if text(schema, "type") != "string" || words.len() != values.as_array().map_or(usize::MAX, Vec::len) {
        return Err("enum: only allowed for STRING type".to_owned());
    }
    if words.is_empty() || words.contains(&"") {
        return Err("enum[0]: cannot be empty".to_owned());
    }
    sums.values += words.len();
    sums.characters += words.iter().map(|word| word.len()).sum::<usize>();
    match sums.values > MOST_VALUES || sums.characters > MOST_CHARACTERS {
        true => Err(format!("more than {MOST_VALUES} enum values or {MOST_CHARACTERS} characters.")),
        false => Ok(()),
    }
}

/// Vertex, FunctionDeclaration.parameters: names begin with a letter or an underscore and have at most 64 characters.
fn parameter(name: &str) -> Result<(), String> {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let begins = name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_');
    match begins && name.len() <= 64 && name.bytes().all(fits) {
        true => Ok(()),
        false => Err(format!("'{name}' is no name of a parameter.")),
    }
}
