//! A second toolbox: for a call that runs while the life goes on with the first, and what is taken over from it.

use super::Toolbox;
use crate::fault::Fault;
use ::agenda::sessions::Sessions;
use std::sync::Arc;

impl Toolbox {
    /// Another one for a call that runs while this one is used: it changes no agenda and no sub-session.
    pub fn beside(&self) -> Result<Self, Fault> {
        let hint = "are too many files open?";
        let memory =
            self.memory.again().map_err(|cause| Fault::caused("open memory once more", &cause, hint))?;
        Ok(Self {
            house: self.house.clone(),
            memory,
            books: self.books.again(),
            facts: self.facts.clone(),
            rebirth: self.rebirth.clone(),
            broker: self.broker.clone(),
            clock: self.clock.clone(),
            desk: self.desk.clone(),
            feed: self.feed.clone(),
            thread: self.thread.clone(),
            permissions: self.permissions.clone(),
            files: self.files.clone(),
            sessions: Sessions::default(),
            session: self.session.clone(),
            spills: Arc::clone(&self.spills),
            used: Some(Vec::new()),
            ..*self
        })
    }

    /// Takes over what came of such a call.
    pub fn take_over(&mut self, other: Self) {
        self.rebirth = other.rebirth.or(self.rebirth.take());
        for tool in other.used.into_iter().flatten() {
            if let Err(fault) = self.used(&tool) {
                tracing::warn!("{tool} was not noted as used: {fault}");
            }
        }
    }
}
