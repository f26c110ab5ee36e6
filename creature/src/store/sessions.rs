//! Keeps sub-sessions: each turn is booked, then the file with all of them is replaced whole.

use super::Store;
use crate::fault::Fault;
use agenda::sessions::Status;
use memory::state;
use serde_json::json;

impl Store {
    /// Books how the sessions with these ids stand now, and writes the file with all of them.
    pub(crate) fn turned(&mut self, ids: &[String]) -> Result<(), Fault> {
        if ids.is_empty() {
            return Ok(());
        }
        for id in ids {
            let Some(session) = self.sessions.get(id) else { continue };
            let spawned = session.status == Status::Waiting;
            let data = json!({
                "about": "session", "session": id, "status": session.status, "hop": session.hop,
                "thread": session.thread, "origin": session.origin, "depends_on": session.depends_on,
                "objective": spawned.then_some(&session.objective),
                "answer": session.status.ended().then_some(&session.answer),
            });
            // An answer is in memory as the session's last thought; why it failed may be recorded nowhere else.
            match session.status {
                Status::Failed => self.record("agenda", data)?,
                _ => self.book("agenda", data)?,
            }
        }
        self.keep_sessions();
        Ok(())
    }

    /// Writes the file of sub-sessions; a failure is only logged.
    pub(crate) fn keep_sessions(&self) {
        state::keep(&self.house.sessions(), &self.sessions);
    }
}
