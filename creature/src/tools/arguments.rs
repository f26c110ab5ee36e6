//! Reads the arguments of a call; every refusal names the tool and the argument.

use super::catalogue::{Tool, takes};
use crate::fault::Fault;
use crate::guardian_post::one_line;
use crate::mind::thought::ToolCall;
use serde_json::{Map, Value};
use std::ops::RangeInclusive;

/// The arguments of one call, known to be ones its tool takes.
pub struct Arguments<'a> {
    tool: &'a Tool,
    map: &'a Map<String, Value>,
}

impl<'a> Arguments<'a> {
    /// Refuses arguments the tool does not take: a misspelt name must not pass for one left out.
    pub fn of(call: &'a ToolCall, tool: &'a Tool) -> Result<Self, Fault> {
        let args = Self { tool, map: &call.args };
        let known = |name: &str| tool.args.iter().any(|arg| arg.trim_end_matches('?') == name);
        match call.args.keys().find(|name| !known(name)) {
            Some(name) => {
                let name: String = name.chars().take(80).collect();
                Err(args.fault(format!("takes no argument `{name}`")))
            }
            None => Ok(args),
        }
    }

    pub fn tool(&self) -> &'a str {
        self.tool.name
    }

    /// A fault of this call, with what the tool takes as the hint.
    pub fn fault(&self, why: impl std::fmt::Display) -> Fault {
        Fault::new(format!("{} {why}", self.tool.name), format!("it takes {}", takes(self.tool)))
    }

    /// All that was given, as it was.
    pub fn given(&self) -> &'a Map<String, Value> {
        self.map
    }

    /// An argument, null counting as left out.
    pub fn value(&self, name: &str) -> Option<&'a Value> {
        self.map.get(name).filter(|value| !value.is_null())
    }

    pub fn text(&self, name: &str) -> Result<&'a str, Fault> {
        self.maybe_text(name)?.ok_or_else(|| self.fault(format!("needs `{name}`")))
    }

    /// Text that says something.
    pub fn words(&self, name: &str) -> Result<&'a str, Fault> {
        match self.text(name)? {
            text if text.trim().is_empty() => Err(self.fault(format!("needs `{name}`, and it is empty"))),
            text => Ok(text),
        }
    }

    /// Yes or no, also where it comes as text.
    pub fn maybe_truth(&self, name: &str) -> Result<Option<bool>, Fault> {
        match self.value(name) {
            None => Ok(None),
            Some(Value::Bool(truth)) => Ok(Some(*truth)),
            Some(Value::String(text)) if matches!(text.trim(), "true" | "false") => {
                Ok(Some(text.trim() == "true"))
            }
            Some(_) => Err(self.fault(format!("takes true or false as `{name}`"))),
        }
    }

    pub fn maybe_text(&self, name: &str) -> Result<Option<&'a str>, Fault> {
        match self.value(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(other) => Err(self.wrong(name, "text", other)),
        }
    }

    /// A whole number within bounds; digits in text are taken too.
    pub fn number(&self, name: &str, unsaid: usize, bounds: RangeInclusive<usize>) -> Result<usize, Fault> {
        let read = match self.value(name) {
            None => return Ok(unsaid),
            Some(Value::Number(number)) => number.as_u64(),
            Some(Value::String(text)) => text.trim().parse().ok(),
            Some(other) => return Err(self.wrong(name, "a number", other)),
        };
        let number = read.and_then(|number| usize::try_from(number).ok());
        number.filter(|number| bounds.contains(number)).ok_or_else(|| {
            let (least, most) = (bounds.start(), bounds.end());
            self.fault(format!("takes a whole number from {least} to {most} as `{name}`"))
        })
    }

    pub fn flag(&self, name: &str) -> Result<bool, Fault> {
        match self.value(name) {
            None => Ok(false),
            Some(Value::Bool(flag)) => Ok(*flag),
            Some(Value::String(text)) if text == "true" || text == "false" => Ok(text == "true"),
            Some(other) => Err(self.wrong(name, "true or false", other)),
        }
    }

    /// One line that says what a change is for; it becomes a commit's message.
    pub fn summary(&self, name: &str) -> Result<String, Fault> {
        Ok(one_line(self.words(name)?))
    }

    fn wrong(&self, name: &str, wanted: &str, found: &Value) -> Fault {
        let found = match found {
            Value::Null => "null",
            Value::Bool(_) => "a boolean",
            Value::Number(_) => "a number",
            Value::String(_) => "text",
            Value::Array(_) => "a list",
            Value::Object(_) => "an object",
        };
        self.fault(format!("takes {wanted} as `{name}`, not {found}"))
    }
}
