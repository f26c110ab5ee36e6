//! What is known of a tool beside its words: where it may be used, who has it, what it may change, how it is treated. Pure.

use super::left::Leaves;
use agenda::sessions::Mode;

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

impl Apart {
    /// Whether sub-sessions of this mode have it.
    pub fn is_given(self, mode: Mode) -> bool {
        match mode {
            Mode::None => false,
            Mode::BaseOnly => self <= Apart::Looks,
            Mode::Minimal => self <= Apart::Works,
            Mode::Full => self <= Apart::Full,
        }
    }
}

/// The marks of every tool by its name, in the order of the table.
pub type MarksByName = &'static [(&'static str, Marks)];

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

impl Marks {
    /// Of a tool that is quick and changes nothing that others go by.
    pub const fn new(apart: Apart) -> Self {
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

    pub const fn changes(self, changes: Changes) -> Self {
        Self { changes, ..self }
    }

    pub const fn slow(self) -> Self {
        Self { is_slow: true, ..self }
    }

    pub const fn strict(self) -> Self {
        Self { is_strict: true, ..self }
    }

    pub const fn numbered(self) -> Self {
        Self { is_numbered: true, ..self }
    }

    pub const fn ends(self) -> Self {
        Self { ends: true, ..self }
    }

    pub const fn owners(self) -> Self {
        Self { is_owners: true, ..self }
    }

    pub const fn spawns(self) -> Self {
        Self { spawns: true, ..self }
    }

    pub const fn reviews(self) -> Self {
        Self { reviews: true, ..self }
    }

    pub const fn uses_what_it_finds(self) -> Self {
        Self { uses_what_it_finds: true, ..self }
    }

    pub const fn answers(self, answers: &'static [&'static str]) -> Self {
        Self { answers, ..self }
    }

    pub const fn leaves(self, leaves: Leaves) -> Self {
        Self { leaves: Some(leaves), ..self }
    }
}
