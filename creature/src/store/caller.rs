//! The caller: in whose name something is done, and on which thread of talk.

use mind::moment::main_thread;

/// Passed by value to what acts, so that no state is set before a call and put back after it.
#[derive(Clone, Debug, PartialEq)]
pub struct Caller {
    /// The owner's own request is worked on; else the creature acts of its own accord.
    pub owner: bool,
    /// The thread of talk this is done for; `main` where there is only one.
    pub thread: String,
    /// The sub-session that acts; none for the life's own thoughts.
    pub session: Option<String>,
    /// Instinct acts in the mind's place, for other words than those that wait for the mind.
    pub stands_in: bool,
}

impl Caller {
    /// The creature of its own accord, on the main thread.
    pub fn own() -> Self {
        Self { owner: false, thread: main_thread(), session: None, stands_in: false }
    }

    /// The owner, by a word on this thread.
    pub fn owner(thread: &str) -> Self {
        Self { owner: true, ..Self::own().on(thread) }
    }

    /// The same caller on another thread.
    pub fn on(self, thread: &str) -> Self {
        Self { thread: thread.to_owned(), ..self }
    }
}
