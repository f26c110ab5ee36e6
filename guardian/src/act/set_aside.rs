//! Moves the state that lives share out of the way of a tree that cannot begin, and tells the owner where it is kept.

use crate::act::executor::Executor;
use crate::decide::vocabulary::Event;
use house::{records, shared};
use serde_json::json;

impl Executor {
    /// Whatever cannot be moved is told and stays: the next life is judged by how it ends.
    pub fn set_aside(&mut self) -> Event {
        let done = shared::set_aside(&self.house);
        let commit: String = self.state.commit.chars().take(7).collect();
        let told = format!("{commit} was trusted and did not come to life: {}", done.told());
        records::tell(&self.house, "state_set_aside", json!({"commit": self.state.commit, "told": told}));
        self.report.warn(&told);
        Event::StateSetAside
    }
}
