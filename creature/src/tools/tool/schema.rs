//! The tools as the wires to models have them: names without dots, and JSON schemas made from the one table. Pure.

use super::arg::{Arg, Kind};
use serde_json::{Map, Value, json};

/// A tool's name as wires take it, `[a-zA-Z0-9_-]{1,64}`.
pub fn wire_name(name: &str) -> String {
    name.replace('.', "_")
}

/// A tool as a wire to a model has it.
pub fn native(name: &str, meaning: &str, args: &[Arg], strict: bool) -> model::Tool {
    let (name, description) = (wire_name(name), meaning.to_owned());
    model::Tool { name, description, schema: object(args, strict), strict }
}

/// The schema of an object without further properties; a strict one requires all, nullable if optional, unbounded.
fn object(args: &[Arg], strict: bool) -> Value {
    let property = |arg: &Arg| {
        let mut schema = of(arg.kind, strict);
        if let Value::Object(fields) = &mut schema {
            if strict && !arg.needed {
                let of = fields.get("type").cloned().unwrap_or_default();
                fields.insert("type".to_owned(), json!([of, "null"]));
            }
            if !arg.about.is_empty() {
                fields.insert("description".to_owned(), json!(arg.about));
            }
        }
        (arg.name.to_owned(), schema)
    };
    let properties: Map<String, Value> = args.iter().map(property).collect();
    let required: Vec<&str> = args.iter().filter(|arg| strict || arg.needed).map(|arg| arg.name).collect();
    json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false})
}

fn of(kind: Kind, strict: bool) -> Value {
    match kind {
        Kind::Text | Kind::NonBlankText => json!({"type": "string"}),
        Kind::OneOf(of) => json!({"type": "string", "enum": of}),
        Kind::Number(..) if strict => json!({"type": "integer"}),
        Kind::Number(least, u64::MAX) => json!({"type": "integer", "minimum": least}),
        Kind::Number(least, most) => json!({"type": "integer", "minimum": least, "maximum": most}),
        Kind::Amount => json!({"type": "number"}),
        Kind::Flag => json!({"type": "boolean"}),
        Kind::Object => json!({"type": "object"}),
        Kind::Record(fields) => object(fields, strict),
        Kind::List(item, _) => json!({"type": "array", "items": of(*item, strict)}),
        Kind::Json(types) => json!({"type": types}),
    }
}
