//! The table of tools, a row each: what it takes, where it may be used, what it does and may change, and its words.
//!
//! Invariant: one list; what a model is told a tool takes is what its arguments are checked against. Nothing else knows
//! a tool by its name. The order is that of every prompt: a change in it is a change of what caches hold.

mod agenda;
pub mod arg;
mod files;
mod outside;
mod papers;
mod row;
mod schema;
mod talk;

pub use schema::wire_name;

use super::Lent;
use super::arguments::Arguments;
use super::left::Leaves;
use crate::fault::Fault;
use arg::Arg;
use mind::{KnownTool, ToolList};
use serde_json::Value;
use std::fmt::Write;
use std::pin::Pin;
use std::sync::LazyLock;

/// Every tool there is.
pub static TOOLS: LazyLock<Vec<Tool>> =
    LazyLock::new(|| [talk::TOOLS, papers::TOOLS, agenda::TOOLS, files::TOOLS, outside::TOOLS].concat());

/// Every tool as a mind knows it.
pub static LIST: LazyLock<ToolList> = LazyLock::new(|| ToolList(TOOLS.iter().map(Tool::known).collect()));

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

/// Which sub-sessions have a tool.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub enum Apart {
    /// Each that has tools: it only looks within the house.
    Looks,
    /// Those that work, too: it reads what is outside, writes what others of the house will read, or is the shell, which
    /// is within the same walls.
    Works,
    /// The full ones alone.
    Full,
    /// None: what ends or steers the life itself stays with its own thoughts.
    Never,
}

/// What a tool may change that others go by.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Changes {
    Nothing,
    /// What is remembered: a snapshot stands in place of older records.
    Memory,
    /// Its papers, the checklist among them.
    Papers,
    /// The house, so that every other call is worth another try.
    House,
}

/// What came of a tool that is waited for.
pub type Coming<'a> = Pin<Box<dyn Future<Output = Result<Value, Fault>> + 'a>>;

/// The function of a tool.
#[derive(Clone, Copy, Debug)]
pub enum Run {
    Now(fn(&mut Lent<'_>, &Arguments) -> Result<Value, Fault>),
    Later(for<'a, 'b> fn(&'a mut Lent<'b>, &'a Arguments) -> Coming<'a>),
}

/// One tool.
#[derive(Clone, Copy, Debug)]
pub struct Tool {
    pub name: &'static str,
    pub args: &'static [Arg],
    pub scope: Scope,
    pub run: Run,
    pub marks: Marks,
    pub meaning: &'static str,
}

/// What else is known of a tool: who has it, what it may change, how it is treated.
#[derive(Clone, Copy, Debug)]
pub struct Marks {
    pub apart: Apart,
    pub changes: Changes,
    /// It may take minutes: it builds, or runs a command.
    pub is_slow: bool,
    /// Its arguments carry code or papers: a model is held to their schema token by token.
    pub is_strict: bool,
    /// What it shows is source, with line numbers.
    pub is_numbered: bool,
    /// It ends the wake: said again, it is no repeat.
    pub ends: bool,
    /// Unless the settings say otherwise it needs the owner's own request.
    pub is_owners: bool,
    /// It begins sub-sessions; those that are deep enough may not.
    pub spawns: bool,
    /// Reviews of standing concerns have it too.
    pub reviews: bool,
    /// What it finds is used by that, not only what its arguments name.
    pub uses_what_it_finds: bool,
    /// Kinds of message by which it answers the owner.
    pub answers: &'static [&'static str],
    /// What it leaves that can be used later.
    pub leaves: Option<Leaves>,
}

const fn tool(
    name: &'static str,
    args: &'static [Arg],
    scope: Scope,
    run: Run,
    marks: Marks,
    meaning: &'static str,
) -> Tool {
    Tool { name, args, scope, run, marks, meaning }
}

impl Marks {
    /// Of a tool that is quick and changes nothing that others go by.
    const fn new(apart: Apart) -> Self {
        Self {
            apart,
            changes: Changes::Nothing,
            is_slow: false,
            is_strict: false,
            is_numbered: false,
            ends: false,
            is_owners: false,
            spawns: false,
            reviews: false,
            uses_what_it_finds: false,
            answers: &[],
            leaves: None,
        }
    }

    const fn changes(self, changes: Changes) -> Self {
        Self { changes, ..self }
    }

    const fn slow(self) -> Self {
        Self { is_slow: true, ..self }
    }

    const fn strict(self) -> Self {
        Self { is_strict: true, ..self }
    }

    const fn numbered(self) -> Self {
        Self { is_numbered: true, ..self }
    }

    const fn ends(self) -> Self {
        Self { ends: true, ..self }
    }

    const fn owners(self) -> Self {
        Self { is_owners: true, ..self }
    }

    const fn spawns(self) -> Self {
        Self { spawns: true, ..self }
    }

    const fn reviews(self) -> Self {
        Self { reviews: true, ..self }
    }

    const fn uses_what_it_finds(self) -> Self {
        Self { uses_what_it_finds: true, ..self }
    }

    const fn answers(self, answers: &'static [&'static str]) -> Self {
        Self { answers, ..self }
    }

    const fn leaves(self, leaves: Leaves) -> Self {
        Self { leaves: Some(leaves), ..self }
    }
}

impl Tool {
    fn known(&self) -> KnownTool {
        let changes_files = matches!(self.marks.changes, Changes::Papers | Changes::House);
        KnownTool { name: self.name, line: self.line(), native: schema::native(self), changes_files }
    }

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

/// The tool of this name, if there is one.
pub fn known(name: &str) -> Option<&'static Tool> {
    TOOLS.iter().find(|tool| tool.name == name)
}

/// What is known of the tool of this name; of one that there is not, nothing.
pub fn marks(name: &str) -> Option<&'static Marks> {
    known(name).map(|tool| &tool.marks)
}

/// The tool of this name; a near one is named in the hint.
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
