//! Marks of a tool: where it may be used, which sub-sessions have it, what it may change, how it is treated. Pure.

use super::product::ProductOf;
use agenda::sessions::Mode;
use mind::Listed;

/// Scope in which a tool may be used.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scope {
    /// Usable in safe mode too.
    Talk,
    /// Acts within the house; usable in a rehearsal too, on its copy of the house.
    House,
    /// Reaches the network, runs commands or asks the guardian; does nothing in a rehearsal.
    Outward,
}

/// Things that a tool may change and other calls or thoughts go by.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Changes {
    Nothing,
    /// Memory as thoughts are shown it: a snapshot stands in place of older records.
    Memory,
    /// The creature's papers, the checklist among them.
    Papers,
    /// Files of the house, so that a call that failed before is worth another try.
    House,
}

/// Treatment of a tool.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Mark {
    /// It may take minutes: it builds, or runs a command.
    Slow,
    /// It waits for something outside: it runs beside the life, which hears its owner meanwhile.
    Beside,
    /// Its arguments carry code or papers: a model is held to their schema token by token.
    Strict,
    /// It shows source, with line numbers.
    Numbered,
    /// It ends the wake; the same call in a later wake is no repeat.
    Ends,
    /// Unless the settings say otherwise it needs the owner's own request.
    Owners,
    /// It begins sub-sessions; sub-sessions from depth 2 on do not have it.
    Spawns,
    /// Reviews of standing concerns have it too.
    Reviews,
    /// Names in its result count as used, not only those in its arguments.
    UsesWhatItFinds,
}

/// The marks of every tool by its name, in the order of the table.
pub type MarksByName = &'static [(&'static str, Marks)];

/// Marks of a tool: which sub-sessions have it, what it may change, how it is treated.
#[derive(Clone, Copy, Debug)]
pub struct Marks {
    /// Modes of the sub-sessions that have it.
    pub modes: &'static [Mode],
    pub changes: Changes,
    pub marked: &'static [Mark],
    /// Condition on which a request lists it; any other is called through `more`.
    pub listed: Listed,
    /// Values of its argument `kind` with which it answers the owner; the empty one stands for a call without.
    pub answers: &'static [&'static str],
    /// Tells the product of a call, what it leaves that can be used later; none where it leaves nothing.
    pub product: Option<ProductOf>,
}

impl Marks {
    /// Marks of a tool that is quick and changes nothing that other calls go by.
    pub const fn new(modes: &'static [Mode]) -> Self {
        Self {
            modes,
            changes: Changes::Nothing,
            marked: &[],
            listed: Listed::Always,
            answers: &[],
            product: None,
        }
    }

    pub fn has(&self, mark: Mark) -> bool {
        self.marked.contains(&mark)
    }

    pub const fn marked(self, marked: &'static [Mark]) -> Self {
        Self { marked, ..self }
    }

    /// It is seldom needed: no request lists it.
    pub const fn seldom(self) -> Self {
        Self { listed: Listed::Never, ..self }
    }

    /// A request lists it where the owner configured this.
    pub const fn needs(self, what: &'static str) -> Self {
        Self { listed: Listed::Where(what), ..self }
    }

    pub const fn changes(self, changes: Changes) -> Self {
        Self { changes, ..self }
    }

    pub const fn answers(self, answers: &'static [&'static str]) -> Self {
        Self { answers, ..self }
    }

    pub const fn product(self, product: ProductOf) -> Self {
        Self { product: Some(product), ..self }
    }
}
