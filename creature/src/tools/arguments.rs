//! The arguments of a call, checked against the table of tools; every refusal names the tool and the argument.

use super::tool::arg::{self, Arg};
use crate::fault::Fault;
use crate::guardian_post::summary_line;
use mind::thought::ToolCall;
use serde_json::{Map, Value};

/// The arguments of one call, known to be what its tool takes.
pub struct Arguments {
    tool: &'static str,
    takes: &'static [Arg],
    map: Map<String, Value>,
}

impl Arguments {
    /// Refuses arguments the tool does not take: a misspelt name must not pass for one left out.
    pub fn of(call: &ToolCall, tool: &'static str, takes: &'static [Arg]) -> Result<Self, Fault> {
        match arg::read(takes, &call.args, None) {
            Ok(map) => Ok(Self { tool, takes, map }),
            Err(why) => Err(refusal(tool, takes, why)),
        }
    }

    pub fn tool(&self) -> &'static str {
        self.tool
    }

    /// A fault of this call, with what the tool takes as the hint.
    pub fn fault(&self, why: impl std::fmt::Display) -> Fault {
        refusal(self.tool, self.takes, why)
    }

    /// All arguments that were given, converted to the kinds the tool takes.
    pub fn given(&self) -> &Map<String, Value> {
        &self.map
    }

    pub fn value(&self, name: &str) -> Option<&Value> {
        self.map.get(name)
    }

    /// A text argument; empty where it was left out.
    pub fn text(&self, name: &str) -> &str {
        self.maybe_text(name).unwrap_or_default()
    }

    pub fn maybe_text(&self, name: &str) -> Option<&str> {
        self.map.get(name).and_then(Value::as_str)
    }

    /// A text argument without spaces around it; none where it is blank.
    pub fn said(&self, name: &str) -> Option<&str> {
        self.maybe_text(name).map(str::trim).filter(|said| !said.is_empty())
    }

    pub fn number(&self, name: &str) -> Option<usize> {
        self.map.get(name).and_then(Value::as_u64).and_then(|number| usize::try_from(number).ok())
    }

    pub fn maybe_flag(&self, name: &str) -> Option<bool> {
        self.map.get(name).and_then(Value::as_bool)
    }

    pub fn flag(&self, name: &str) -> bool {
        self.maybe_flag(name).unwrap_or_default()
    }

    /// Returns the line that says what a change is for; it becomes a commit's message.
    pub fn summary(&self, name: &str) -> String {
        summary_line(self.text(name))
    }
}

fn refusal(tool: &str, takes: &[Arg], why: impl std::fmt::Display) -> Fault {
    Fault::new(format!("{tool} {why}"), format!("it takes {}", arg::in_braces(takes)))
}
