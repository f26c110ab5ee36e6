//! Sub-sessions as they are kept: read at birth, every turn remembered, then written down whole.

use crate::fault::Fault;
use crate::life::Life;
use crate::paths::House;
use crate::senses::papers;
use crate::tools::Toolbox;
use agenda::salvage::salvage;
use agenda::sessions::{Request, Sessions, Spawned, Status};
use serde_json::json;
use std::io;

/// Bytes of the file that are read; all sessions at their longest fit.
const MOST_BYTES: u64 = 16 << 20;

/// Reads them; a garbage file is set aside and told, and none are under way.
pub fn load(house: &House) -> (Sessions, Option<String>) {
    let path = house.sessions();
    match papers::head(&path, 0, MOST_BYTES) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => (Sessions::default(), None),
        Err(error) => {
            // The next turn replaces the file; a failure to keep this one costs no life.
            let _ = memory::set_aside(&path);
            (Sessions::default(), Some(format!("sessions.json cannot be read, set aside: {error}")))
        }
        Ok((bytes, _)) => match serde_json::from_slice(&bytes) {
            Ok(sessions) => (sessions, None),
            Err(error) => {
                let _ = memory::set_aside(&path);
                let kept: Sessions = salvage(&bytes).unwrap_or_default();
                let _ = memory::replace(&path, &serde_json::to_vec(&kept).unwrap_or_default());
                let said = "is garbage, set aside; what of it can be read is kept";
                (kept, Some(format!("sessions.json {said}: {error}")))
            }
        },
    }
}

impl Toolbox {
    /// Spawns sub-sessions, all of them or none; refused without a model, for instinct runs none.
    pub fn spawn(&mut self, requests: Vec<Request>) -> Result<Vec<Spawned>, Fault> {
        if self.facts.mind == "instinct" {
            let hint = "do it by your own tools; a model would be needed";
            return Err(Fault::new("spawn a sub-session: no model is offered, and instinct runs none", hint));
        }
        let mut next = self.sessions.clone();
        let spawned = next
            .spawn_all(requests, self.clock.now())
            .map_err(|refused| Fault::new(refused.error, refused.hint))?;
        self.sessions = next;
        let ids: Vec<String> = spawned.iter().map(|spawned| spawned.id.clone()).collect();
        self.turned(&ids)?;
        Ok(spawned)
    }

    /// Remembers how these stand now, and writes all down.
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
            self.record("agenda", data)?;
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
    pub fn spawn_session(&mut self, request: Request) -> Result<Spawned, Fault> {
        self.toolbox.facts = self.facts();
        let spawned = self.toolbox.spawn(vec![request])?;
        spawned.into_iter().next().ok_or_else(|| Fault::new("spawn nothing", "give an objective"))
    }
}
