//! Every tool the creature has, in one plain `match`; one file per family.

use crate::config::Settings;
use crate::mind::thought::ToolCall;
use crate::paths::House;
use serde_json::{Value, json};

/// What tools act with. One per life; tools run one after another.
pub struct Toolbox {
    pub house: House,
    pub settings: Settings,
    pub memory: memory::Log,
    pub life: u64,
    /// Nothing outward happens: no network, no requests to the guardian.
    pub rehearsal: bool,
    /// Set by a self-edit that passed: the life asks for rebirth and ends politely once it is blessed.
    pub rebirth: Option<Rebirth>,
}

/// A self-edit that passed rehearsal and waits to be born.
#[derive(Clone, Debug, PartialEq)]
pub struct Rebirth {
    pub summary: String,
}

impl Toolbox {
    /// Runs one call. Always an object: `{"ok":true,…}` or `{"ok":false,"error":…,"hint":…}`.
    pub async fn call(&mut self, call: &ToolCall) -> Value {
        failure(format!("no tool is called `{}`", call.tool), "the tools are listed in the prompt")
    }
}

/// A failed result: what failed, and what to do next.
pub fn failure(error: impl Into<String>, hint: impl Into<String>) -> Value {
    json!({"ok": false, "error": error.into(), "hint": hint.into()})
}
