//! Salvage: the readable parts of a JSON state that cannot be read as a whole; pure.

use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

/// The state without the parts that `T` cannot read; an item of a list is kept whole or not at all, for what half
/// an item says could be done twice. None where the text is no JSON object.
pub fn salvage<T: DeserializeOwned>(text: &[u8]) -> Option<T> {
    let whole = serde_json::from_slice::<Value>(text).ok().filter(Value::is_object)?;
    let reads = |value: &Value| serde_json::from_value::<T>(value.clone()).is_ok();
    serde_json::from_value(readable(whole, &reads)?).ok()
}

fn readable(value: Value, reads: &dyn Fn(&Value) -> bool) -> Option<Value> {
    if reads(&value) {
        return Some(value);
    }
    match value {
        Value::Array(items) => Some(items.into_iter().filter(|item| reads(&json!([item]))).collect()),
        Value::Object(parts) => {
            let kept = parts.into_iter().filter_map(|(name, part)| {
                let alone = |part: &Value| reads(&json!({name.as_str(): part}));
                readable(part, &alone).map(|part| (name.clone(), part))
            });
            Some(Value::Object(kept.collect::<Map<String, Value>>()))
        }
        _ => None,
    }
}
