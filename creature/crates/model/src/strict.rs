//! Schemas as the wires want them that hold a model to one: every object closed. Pure.

use serde_json::{Value, json};

/// A schema with all its objects closed. None where the wire wants all fields required, and one may be left out: a
/// field that may be null is a list of types, which servers behind the same wire refuse.
pub(crate) fn closed(schema: &Value, all_required: bool) -> Option<Value> {
    let mut schema = schema.clone();
    close(&mut schema, all_required).then_some(schema)
}

fn close(schema: &mut Value, all_required: bool) -> bool {
    let Value::Object(fields) = schema else { return true };
    if let Some(items) = fields.get_mut("items")
        && !close(items, all_required)
    {
        return false;
    }
    if fields.get("type") != Some(&json!("object")) {
        return true;
    }
    let required = fields.get("required").and_then(Value::as_array).map_or(0, Vec::len);
    fields.insert("additionalProperties".to_owned(), json!(false));
    let Some(Value::Object(properties)) = fields.get_mut("properties") else { return !all_required };
    (!all_required || properties.len() == required)
        && properties.values_mut().all(|property| close(property, all_required))
}
