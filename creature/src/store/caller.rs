//! The caller: in whose name something is done, and on which thread of talk.

use mind::moment::main_thread;

/// Passed by value to what acts: nothing is set before a call and put back after it.
#[derive(Clone, Debug, PartialEq)]
pub struct Caller {
    /// The owner's own request is worked on; else the creature acts by itself.
    pub owner: bool,
    /// The thread of talk this is done for; `main` where there is only one.
    pub thread: String,
    /// The sub-session that acts; none for the life's own thoughts.
    pub session: Option<String>,
}

impl Caller {
    /// The creature by itself.
    pub fn own() -> Self {
        Self { owner: false, thread: main_thread(), session: None }
    }

    /// The owner, whose word on this thread it is.
    pub fn owner(thread: &str) -> Self {
        Self { owner: true, ..Self::own().on(thread) }
    }

    /// The same on another thread.
    pub fn on(self, thread: &str) -> Self {
        Self { thread: thread.to_owned(), ..self }
    }
}
