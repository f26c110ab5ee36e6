//! The table of tools, a row each: arguments, where it may be used, what it may change, and its description.
//!
//! Invariant: one list: a model is told exactly the arguments that a call is checked against. Prompts list the
//! tools in this order: a change of it makes caches of prompts miss.

mod agenda;
mod files;
mod outside;
mod papers;
mod row;
mod talk;

use super::marks::{Mark, Marks};
use super::tool::Tool;
use crate::fault::Fault;
use mind::ToolList;
use std::sync::LazyLock;

/// Every tool there is.
pub static TOOLS: LazyLock<Vec<Tool>> =
    LazyLock::new(|| [talk::TOOLS, papers::TOOLS, agenda::TOOLS, files::TOOLS, outside::TOOLS].concat());

/// The marks of every tool, by its name.
pub static MARKS: LazyLock<Vec<(&'static str, Marks)>> =
    LazyLock::new(|| TOOLS.iter().map(|tool| (tool.name, tool.marks)).collect());

/// Every tool as a mind knows it.
pub static LIST: LazyLock<ToolList> = LazyLock::new(|| ToolList(TOOLS.iter().map(Tool::known).collect()));

/// The tool of this name, if there is one.
pub fn known(name: &str) -> Option<&'static Tool> {
    TOOLS.iter().find(|tool| tool.name == name)
}

/// The marks of the tool of this name, if there is one.
pub fn marks(name: &str) -> Option<&'static Marks> {
    known(name).map(|tool| &tool.marks)
}

/// Whether the tool of this name has this mark.
pub fn has(name: &str, mark: Mark) -> bool {
    marks(name).is_some_and(|marks| marks.has(mark))
}

/// The tool of this name; else a fault whose hint names tools of the same family or verb.
pub fn find(name: &str) -> Result<&'static Tool, Fault> {
    if let Some(tool) = known(name) {
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
