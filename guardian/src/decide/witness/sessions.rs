//! Sub-sessions: one that is done had a thought, and that is on record. Pure.
//!
//! Invariant: memory and bookkeeping are read in turn, so a session is judged only a whole turn after it ended.

use super::words::Seen;
use crate::decide::conduct::Invariant;
use house::records::text;
use serde_json::Value;
use std::collections::VecDeque;

/// Sessions that are watched at once; older ones are given up.
const MOST_WATCHED: usize = 128;

#[derive(Debug, PartialEq)]
enum Stands {
    Runs,
    Done,
    /// Done before the last turn was over.
    Ripe,
    /// Ended without an answer.
    Over,
}

#[derive(Debug)]
struct Session {
    id: String,
    stands: Stands,
    has_thought: bool,
}

/// The sub-sessions that began to run in this life.
#[derive(Debug, Default)]
pub struct Sessions(VecDeque<Session>);

impl Sessions {
    /// Takes in a record of memory or of the bookkeeping.
    pub fn recorded(&mut self, kind: &str, data: &Value) {
        if kind != "agenda" || text(data, "about") != "session" {
            return;
        }
        let id = text(data, "session");
        let has_thought = data.get("thought").is_some() || data.get("garbled").is_some();
        match (text(data, "status"), self.0.iter_mut().find(|session| session.id == id)) {
            ("done", Some(known)) => known.stands = Stands::Done,
            ("failed" | "cancelled", Some(known)) => known.stands = Stands::Over,
            (_, Some(known)) => known.has_thought |= has_thought,
            ("running", None) => self.watch(id, has_thought),
            // A thought may be read before the line that says the session runs.
            (_, None) if has_thought => self.watch(id, has_thought),
            _ => {}
        }
    }

    fn watch(&mut self, id: &str, has_thought: bool) {
        self.0.push_back(Session { id: id.to_owned(), stands: Stands::Runs, has_thought });
        let over = self.0.len().saturating_sub(MOST_WATCHED);
        self.0.drain(..over);
    }

    /// Forgets all sessions: changes meanwhile were not seen.
    pub fn forget(&mut self) {
        self.0.clear();
    }

    /// Judges, when a turn is over, the sessions that were done before the last was.
    pub fn turn_over(&mut self) -> Vec<Seen> {
        let ripe = self.0.iter().filter(|session| session.stands == Stands::Ripe);
        let told =
            |session: &Session| format!("sub-session {} is done, without a thought on record", session.id);
        let seen = ripe.map(|session| (Invariant::Remembered, session.has_thought, told(session))).collect();
        self.0.retain(|session| !matches!(session.stands, Stands::Ripe | Stands::Over));
        let done = self.0.iter_mut().filter(|session| session.stands == Stands::Done);
        done.for_each(|session| session.stands = Stands::Ripe);
        seen
    }
}
