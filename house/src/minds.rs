//! The model as the broker's page describes it: the one in use and why, and those that do not answer, since when. Pure.

use crate::moments;
use crate::records::{text, view::field};
use serde_json::Value;

/// The model in use, as the page of a running broker names it.
pub fn in_use(page: &Value) -> Option<String> {
    Some(text(page, "mind")).filter(|told| !told.is_empty()).map(str::to_owned)
}

/// Whether the page's words about the model mean that there is none, although the owner configured one.
pub fn is_none(told: &str) -> bool {
    told.ends_with(": no model")
}

/// A line for each model server on this machine that runs and is not used.
pub fn offered(page: &Value) -> Vec<String> {
    field::<Vec<&str>>(page, "nearby").into_iter().map(str::to_owned).collect()
}

/// A line for each model that does not answer: since when, its server's error, and when that server wants the next
/// try.
pub fn down(page: &Value) -> Vec<String> {
    let models: &[Value] = field(page, "models");
    models.iter().filter(|model| text(model, "state") == "down").map(told).collect()
}

/// Formats the line about a model that does not answer.
pub fn told(model: &Value) -> String {
    let [name, upstream, since, error, again] =
        ["model", "upstream", "since", "error", "next_try"].map(|name| text(model, name));
    let status = field::<Option<u64>>(model, "status").map(|status| format!("{status} "));
    // Most servers' error texts begin with the status.
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
