//! The tools as the wires to models have them, in the one form that every maker's server accepts. Pure.
//!
//! Invariant: one type a value and never a list of types; every list has `items`, every object has properties; bounds
//! are words of the description; what may be left out is not in `required`. What only some servers want, the wire adds.

use super::arg::{Arg, Kind};
use serde_json::{Map, Value, json};

/// A tool's name as wires take it, `[a-zA-Z0-9_-]{1,64}`.
pub fn wire_name(name: &str) -> String {
    name.replace('.', "_")
}

/// A tool as a wire to a model has it.
pub fn native(name: &str, meaning: &str, args: &[Arg], strict: bool) -> model::Tool {
    let (name, description) = (wire_name(name), meaning.to_owned());
    model::Tool { name, description, schema: object(args), strict }
}

fn object(args: &[Arg]) -> Value {
    let property = |arg: &Arg| {
        let mut schema = of(arg.kind);
        let about: Vec<String> =
            [arg.about.to_owned(), bounds(arg.kind)].into_iter().filter(|part| !part.is_empty()).collect();
        if let (Value::Object(fields), false) = (&mut schema, about.is_empty()) {
            fields.insert("description".to_owned(), json!(about.join("; ")));
        }
        (arg.name.to_owned(), schema)
    };
    let properties: Map<String, Value> = args.iter().map(property).collect();
    let required: Vec<&str> = args.iter().filter(|arg| arg.needed).map(|arg| arg.name).collect();
    match required.is_empty() {
        true => json!({"type": "object", "properties": properties}),
        false => json!({"type": "object", "properties": properties, "required": required}),
    }
}

fn of(kind: Kind) -> Value {
    match kind {
        // A server that wants the fields of every object cannot be told of one with any: it comes as text.
        Kind::Text | Kind::NonBlankText | Kind::Object | Kind::Json(_) => json!({"type": "string"}),
        Kind::OneOf(of) => json!({"type": "string", "enum": of}),
        Kind::Number(..) => json!({"type": "integer"}),
        Kind::Amount => json!({"type": "number"}),
        Kind::Flag => json!({"type": "boolean"}),
        Kind::Record(fields) => object(fields),
        Kind::List(item, _) => json!({"type": "array", "items": of(*item)}),
    }
}

/// Says in words what a kind takes beyond its type.
fn bounds(kind: Kind) -> String {
    match kind {
        // That lines count from 1 a model knows; a refusal says it all the same.
        Kind::Number(0 | 1, u64::MAX) => String::new(),
        Kind::Number(least, u64::MAX) => format!("at least {least}"),
        Kind::Number(least, most) => format!("{least} to {most}"),
        Kind::List(_, most) => format!("at most {most}"),
        Kind::Object => "a JSON object, as text".to_owned(),
        Kind::Json(types) if types.contains(&"string") => "text, or JSON as text".to_owned(),
        Kind::Json(types) => format!("JSON as text: {}", types.join(" or ")),
        Kind::Text | Kind::NonBlankText | Kind::OneOf(_) | Kind::Amount | Kind::Flag | Kind::Record(_) => {
            String::new()
        }
    }
}
