//! Tool: its row in the table, and the words and schemas made from it.

pub mod arg;
mod schema;

pub use schema::wire_name;

use super::arguments::Arguments;
use super::marks::{Changes, Mark, Marks, Scope};
use super::tool_context::ToolContext;
use crate::fault::Fault;
use arg::Arg;
use mind::KnownTool;
use serde_json::Value;
use std::fmt::Write;
use std::pin::Pin;

/// The result to come of an async tool.
pub type PendingResult<'a> = Pin<Box<dyn Future<Output = Result<Value, Fault>> + Send + 'a>>;

/// The function of a tool.
#[derive(Clone, Copy, Debug)]
pub enum Run {
    Now(fn(&mut ToolContext<'_>, &Arguments) -> Result<Value, Fault>),
    Async(for<'a, 'b> fn(&'a mut ToolContext<'b>, &'a Arguments) -> PendingResult<'a>),
}

/// Row of a tool in the table.
#[derive(Clone, Copy, Debug)]
pub struct Tool {
    pub name: &'static str,
    pub args: &'static [Arg],
    pub scope: Scope,
    pub run: Run,
    pub marks: Marks,
    pub meaning: &'static str,
}

pub const fn tool(
    name: &'static str,
    args: &'static [Arg],
    scope: Scope,
    run: Run,
    marks: Marks,
    meaning: &'static str,
) -> Tool {
    Tool { name, args, scope, run, marks, meaning }
}

impl Tool {
    /// The tool as a mind knows it.
    pub fn known(&self) -> KnownTool {
        let changes_files = matches!(self.marks.changes, Changes::Papers | Changes::House);
        KnownTool {
            name: self.name,
            line: self.line(),
            native: schema::native(self.name, self.meaning, self.args, self.marks.has(Mark::Strict)),
            changes_files,
            listed: self.marks.listed,
        }
    }

    /// Returns its arguments in braces; an optional argument has a `?`.
    pub fn takes(&self) -> String {
        arg::in_braces(self.args)
    }

    /// Returns its line in a prompt.
    pub fn line(&self) -> String {
        let mut line = format!("- {} {}: {}", self.name, self.takes(), self.meaning);
        for arg in self.args.iter().filter(|arg| !arg.about.is_empty()) {
            let _ = write!(line, "; {}: {}", arg.name, arg.about);
        }
        line + "\n"
    }
}
