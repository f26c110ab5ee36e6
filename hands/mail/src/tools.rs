//! The tools: their names and schemas are data, `tools.json`; each is a function in a file of its kind.

pub mod look;

use crate::session::Mailbox;
use rmcp::model::Tool;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// The tools as they are listed.
pub fn listed() -> Vec<Tool> {
    serde_json::from_str(include_str!("tools.json")).unwrap_or_default()
}

/// Calls a tool; the error is a text for the caller.
pub async fn call(mailbox: &Mailbox, name: &str, arguments: Map<String, Value>) -> Result<String, String> {
    match name {
        "search" => look::search(mailbox, taken(arguments)?).await,
        "read" => look::read(mailbox, taken(arguments)?).await,
        "thread" => look::thread(mailbox, taken(arguments)?).await,
        _ => Err(format!("there is no tool {name:?}")),
    }
}

fn taken<T: DeserializeOwned>(arguments: Map<String, Value>) -> Result<T, String> {
    serde_json::from_value(Value::Object(arguments)).map_err(|error| format!("the arguments: {error}"))
}
