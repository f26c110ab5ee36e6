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

/// Sub-sessions that have a tool.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub enum SubsessionAccess {
    /// All: the tool looks, within the house or at what is outside, or is the shell, which is within the same walls.
    All,
    /// Minimal and full ones: the tool writes what others of the house will read.
    Minimal,
    /// Full ones alone.
    Full,
    /// None: tools that end or steer the life itself stay with its own thoughts.
    None,
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

impl SubsessionAccess {
    /// Whether sub-sessions of this mode have it.
    pub fn is_given(self, mode: Mode) -> bool {
        match mode {
            Mode::None | Mode::BaseOnly => self <= SubsessionAccess::All,
            Mode::Minimal => self <= SubsessionAccess::Minimal,
            Mode::Full => self <= SubsessionAccess::Full,
        }
    }
}

/// The marks of every tool by its name, in the order of the table.
pub type MarksByName = &'static [(&'static str, Marks)];

/// Marks of a tool: which sub-sessions have it, what it may change, how it is treated.
#[derive(Clone, Copy, Debug)]
pub struct Marks {
    pub subsessions: SubsessionAccess,
    pub changes: Changes,
    /// It may take minutes: it builds, or runs a command.
    pub is_slow: bool,
    /// It waits for something outside: it runs beside the life, which hears its owner meanwhile.
    pub is_beside: bool,
    /// Its arguments carry code or papers: a model is held to their schema token by token.
    pub is_strict: bool,
    /// It shows source, with line numbers.
    pub is_numbered: bool,
    /// It ends the wake; the same call in a later wake is no repeat.
    pub ends: bool,
    /// Unless the settings say otherwise it needs the owner's own request.
    pub is_owners: bool,
    /// It begins sub-sessions; sub-sessions from depth 2 on do not have it.
    pub spawns: bool,
    /// Reviews of standing concerns have it too.
    pub reviews: bool,
    /// Names in its result count as used, not only those in its arguments.
    pub uses_what_it_finds: bool,
    /// Condition on which a request lists it; any other is called through `more`.
    pub listed: Listed,
    /// Values of its argument `kind` with which it answers the owner; the empty one stands for a call without.
    pub answers: &'static [&'static str],
    /// Tells the product of a call, what it leaves that can be used later; none where it leaves nothing.
    pub product: Option<ProductOf>,
}

impl Marks {
    /// Marks of a tool that is quick and changes nothing that other calls go by.
    pub const fn new(subsessions: SubsessionAccess) -> Self {
        Self {
            subsessions,
            changes: Changes::Nothing,
            is_slow: false,
            is_beside: false,
            is_strict: false,
            is_numbered: false,
            ends: false,
            is_owners: false,
            spawns: false,
            reviews: false,
            uses_what_it_finds: false,
            listed: Listed::Always,
            answers: &[],
            product: None,
        }
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

    pub const fn slow(self) -> Self {
        Self { is_slow: true, is_beside: true, ..self }
    }

    pub const fn beside(self) -> Self {
        Self { is_beside: true, ..self }
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

    pub const fn product(self, product: ProductOf) -> Self {
        Self { product: Some(product), ..self }
    }
}
