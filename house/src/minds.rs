//! The model as the broker knows it: which one is in use and why, and since when one does not answer. Pure.

use crate::moments;
use crate::records::text;
use serde_json::Value;

/// Which mind the owner's settings and keys make, as the page of a broker that runs says it.
pub fn in_use(page: &Value) -> Option<String> {
    Some(text(page, "mind")).filter(|told| !told.is_empty()).map(str::to_owned)
}

/// Whether what was said of a mind means that there is none, against what the owner wrote.
pub fn is_none(told: &str) -> bool {
    told.ends_with(": no model")
}

/// Each model that does not answer: since when, what its server said, and when that wants to be asked again.
pub fn down(page: &Value) -> Vec<String> {
    let models = page.get("models").and_then(Value::as_array).into_iter().flatten();
    models.filter(|model| text(model, "state") == "down").map(line).collect()
}

fn line(model: &Value) -> String {
    let [name, upstream, since, error, again] =
        ["model", "upstream", "since", "error", "next_try"].map(|field| text(model, field));
    let status = model.get("status").and_then(Value::as_u64).map(|status| format!("{status} "));
    // Most say it themselves.
    let status = status.filter(|status| !error.starts_with(status.as_str()));
    let again = if again.is_empty() {
        String::new()
    } else {
        format!("; it asks for patience until {}", moments::told(again))
    };
    let since = moments::told(since);
    format!(
        "{name} at {upstream} has not answered since {since}: {}{error}{again}",
        status.unwrap_or_default()
    )
}
