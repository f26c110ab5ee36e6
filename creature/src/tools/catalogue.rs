//! The list of tools as prompts and wires have it: words, schemas and names, all made from one table.
//!
//! Invariant: one list; what a model is told a tool takes is what its arguments are checked against.

pub mod arg;
mod schema;
mod table;

pub use schema::{by_wire_name, native, wire_name};
pub use table::TOOLS;

use crate::fault::Fault;
use arg::Arg;
use std::fmt::Write;

/// Where a tool may be used.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scope {
    /// Also in safe mode.
    Talk,
    /// Within the house; also in a rehearsal, on its copy.
    House,
    /// Reaches the network, runs commands or asks the guardian; not in a rehearsal.
    Outward,
}

/// One tool as a mind is told of it.
#[derive(Clone, Copy, Debug)]
pub struct Tool {
    pub name: &'static str,
    pub args: &'static [Arg],
    pub meaning: &'static str,
    pub scope: Scope,
}

const fn tool(name: &'static str, args: &'static [Arg], scope: Scope, meaning: &'static str) -> Tool {
    Tool { name, args, meaning, scope }
}

impl Tool {
    /// Its arguments in braces; what may be left out has a `?`.
    pub fn takes(&self) -> String {
        arg::in_braces(self.args)
    }

    /// Its line in a prompt.
    pub fn line(&self) -> String {
        let mut line = format!("- {} {}: {}", self.name, self.takes(), self.meaning);
        for arg in self.args.iter().filter(|arg| !arg.about.is_empty()) {
            let _ = write!(line, "; {}: {}", arg.name, arg.about);
        }
        line + "\n"
    }
}

/// The tools that `may` be used as a prompt has them, a line each.
pub fn lines(may: &dyn Fn(&str) -> bool) -> String {
    TOOLS.iter().filter(|tool| may(tool.name)).map(Tool::line).collect()
}

/// Whether there is such a tool in this life; what only an earlier one had can fail no more.
pub fn exists(name: &str) -> bool {
    TOOLS.iter().any(|tool| tool.name == name)
}

/// The tool of this name; a near one is named in the hint.
pub fn find(name: &str) -> Result<&'static Tool, Fault> {
    if let Some(tool) = TOOLS.iter().find(|tool| tool.name == name) {
        return Ok(tool);
    }
    let (family, verb) = name.split_once(['.', '_', '/']).unwrap_or((name, name));
    let near = TOOLS.iter().map(|tool| tool.name).filter(|known| {
        known.split_once('.').is_some_and(|(known, known_verb)| known == family || known_verb == verb)
    });
    let near: Vec<&str> = near.collect();
    let hint = match near.is_empty() {
        true => "the tools are listed in the prompt".to_owned(),
        false => format!("there are {}", near.join(", ")),
    };
    let name: String = name.chars().take(80).collect();
    Err(Fault::new(format!("no tool is called `{name}`"), hint))
}
