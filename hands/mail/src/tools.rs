//! The tools: their names and schemas are data, `tools.json`; each is a function in a file of its kind.

pub mod change;
pub mod look;
pub mod out;

use crate::session::Mailbox;
use rmcp::model::Tool;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use std::time::Duration;
use tokio::time::timeout;

/// Longest time for a tool that only talks to the mailbox.
const LOOK: Duration = Duration::from_secs(55);

/// The tools as they are listed.
pub fn listed() -> Vec<Tool> {
    serde_json::from_str(include_str!("tools.json")).unwrap_or_default()
}

/// Calls a tool; the error is a text for the caller. Those that send have an end of their own.
pub async fn call(mailbox: &Mailbox, name: &str, arguments: Map<String, Value>) -> Result<String, String> {
    match name {
        "send" => return out::send(mailbox, taken(arguments)?).await,
        "reply" => return out::reply(mailbox, taken(arguments)?).await,
        "forward" => return out::forward(mailbox, taken(arguments)?).await,
        _ => {}
    }
    let called = async {
        match name {
            "search" => look::search(mailbox, taken(arguments)?).await,
            "read" => look::read(mailbox, taken(arguments)?).await,
            "thread" => look::thread(mailbox, taken(arguments)?).await,
            "attachment" => change::attachment(mailbox, taken(arguments)?).await,
            "draft" => change::draft(mailbox, taken(arguments)?).await,
            "move" => change::r#move(mailbox, taken(arguments)?).await,
            "flag" => change::flag(mailbox, taken(arguments)?).await,
            _ => Err(format!("there is no tool {name:?}")),
        }
    };
    timeout(LOOK, called).await.unwrap_or_else(|_| {
        Err(format!("the mailbox's server does not answer within {} s; try again later", LOOK.as_secs()))
    })
}

fn taken<T: DeserializeOwned>(arguments: Map<String, Value>) -> Result<T, String> {
    serde_json::from_value(Value::Object(arguments)).map_err(|error| format!("the arguments: {error}"))
}
