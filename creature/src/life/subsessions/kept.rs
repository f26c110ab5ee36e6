//! Sub-sessions as they are kept: read at birth, every turn booked, then written down whole.

use crate::fault::Fault;
use crate::life::Life;
use crate::paths::House;
use crate::senses::papers;
use crate::tools::Toolbox;
use agenda::sessions::{Request, Sessions, Spawned, Status};
use serde_json::json;

/// Reads them; a garbage file is set aside and told, and none are under way.
pub fn load(house: &House) -> (Sessions, Option<String>) {
    papers::kept(&house.sessions())
}

impl Toolbox {
    /// Spawns sub-sessions, all of them or none; refused without a model, for instinct runs none.
    pub fn spawn(&mut self, requests: Vec<Request>) -> Result<Vec<Spawned>, Fault> {
        if self.facts.mind == "instinct" {
            let hint = "do it by your own tools; a model would be needed";
            return Err(Fault::new("spawn a sub-session: no model is offered, and instinct runs none", hint));
        }
        let refused = |refused: agenda::Refusal| Fault::new(refused.error, refused.hint);
        let spawned = self.sessions.spawn_all(requests, self.clock.now()).map_err(refused)?;
        let ids: Vec<String> = spawned.iter().map(|spawned| spawned.id.clone()).collect();
        self.turned(&ids)?;
        Ok(spawned)
    }

    /// Books how these stand now, and writes all down.
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
            // What it answered is its last thought, and stands in memory; why it failed may stand nowhere else.
            match session.status {
                Status::Failed => self.record("agenda", data)?,
                _ => self.book("agenda", data)?,
            }
        }
        self.keep_sessions();
        Ok(())
    }

    /// Writes them down; failing to is told and survived.
    pub(crate) fn keep_sessions(&self) {
        let text = serde_json::to_vec(&self.sessions).unwrap_or_default();
        if let Err(error) = memory::replace(&self.house.sessions(), &text) {
            tracing::warn!("failed to {error}");
        }
    }
}

impl Life {
    /// Spawns one for what came due by itself: a concern, a reminder, the checklist, a dream.
    pub fn spawn_session(&mut self, request: Request) -> Result<(), Fault> {
        self.toolbox.facts = self.facts();
        self.toolbox.spawn(vec![request]).map(drop)
    }
}
