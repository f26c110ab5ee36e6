//! Spawning: what a session must be to become part of the graph, alone or several in one call.

use super::{MOST_DEPTH, MOST_OPEN, Mode, Origin, Session, Sessions, Status};
use crate::Refusal;
use jiff::Timestamp;
use std::collections::BTreeMap;

const MOST_OBJECTIVE: usize = 2_000;
const MOST_DEPENDENCIES: usize = 16;
const MOST_TOOLS: usize = 64;

/// One session as it is asked for.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Request {
    /// What those asked for in the same call may depend on it by; need not be.
    pub name: String,
    pub origin: Origin,
    pub thread: String,
    pub owner: bool,
    pub objective: String,
    pub mode: Mode,
    pub depends_on: Vec<String>,
    /// It hangs on the one its parent spawned before it.
    pub depends_on_previous: bool,
    pub not_before: Option<Timestamp>,
    pub tools: Vec<String>,
}

/// What became of a request.
#[derive(Clone, Debug, PartialEq)]
pub struct Spawned {
    pub id: String,
    /// What of the request was dropped.
    pub warnings: Vec<String>,
}

impl Sessions {
    /// Adds one session.
    pub fn spawn(&mut self, request: Request, now: Timestamp) -> Result<Spawned, Refusal> {
        let mut spawned = self.spawn_all(vec![request], now)?;
        spawned.pop().ok_or_else(|| Refusal::new("spawn nothing", "give an objective"))
    }

    /// Adds several that may hang on one another in any order; all of them or none.
    pub fn spawn_all(&mut self, requests: Vec<Request>, now: Timestamp) -> Result<Vec<Spawned>, Refusal> {
        let open = self.all.iter().filter(|session| !session.reported).count();
        if open + requests.len() > MOST_OPEN {
            let error = format!("spawn {} more: {open} of {MOST_OPEN} sub-sessions are open", requests.len());
            return Err(Refusal::new(error, "wait for their reports, or cancel some with sessions.cancel"));
        }
        let ids: Vec<String> = (1..)
            .map(|at| format!("session-{}", self.next.saturating_add(at)))
            .take(requests.len())
            .collect();
        let mut known: BTreeMap<String, String> = BTreeMap::new();
        for (request, id) in requests.iter().zip(&ids) {
            known.insert(id.clone(), id.clone());
            if !request.name.is_empty() && known.insert(request.name.clone(), id.clone()).is_some() {
                let error = format!("spawn two sub-sessions of the name {:?}", request.name);
                return Err(Refusal::new(error, "give each a name of its own"));
            }
        }
        let mut previous: Option<String> = None;
        let mut added = Vec::new();
        for (request, id) in requests.into_iter().zip(ids) {
            let mut warnings = Vec::new();
            let depends_on = self.dependencies(&request, &known, previous.as_deref(), &mut warnings);
            let session = self.checked(request, id.clone(), depends_on, now)?;
            previous = Some(id.clone());
            added.push((session, Spawned { id, warnings }));
        }
        let (sessions, spawned): (Vec<Session>, Vec<Spawned>) = added.into_iter().unzip();
        if let Some(circle) = circle(&sessions) {
            let error = format!("spawn sub-sessions that wait for each other: {}", circle.join(", "));
            return Err(Refusal::new(error, "take one of their depends_on away"));
        }
        self.next = self.next.saturating_add(sessions.len() as u64);
        self.all.extend(sessions);
        self.cascade(now);
        Ok(spawned)
    }

    /// What a request hangs on, known ids only.
    fn dependencies(
        &self,
        request: &Request,
        known: &BTreeMap<String, String>,
        before: Option<&str>,
        warnings: &mut Vec<String>,
    ) -> Vec<String> {
        let mut depends_on: Vec<String> = Vec::new();
        for wanted in &request.depends_on {
            let found = known.get(wanted).or_else(|| self.get(wanted).map(|session| &session.id));
            match found {
                None => {
                    warnings.push(format!("no sub-session {:?} is known: dropped", super::cut(wanted, 40)))
                }
                Some(id) if depends_on.contains(id) => {}
                Some(id) => depends_on.push(id.clone()),
            }
        }
        if request.depends_on_previous {
            // A thought's children follow those of earlier thoughts of its thread; a session's only each other.
            let sibling = |session: &&Session| match &request.origin {
                Origin::Tool { parent } if self.get(parent).is_some() => session.family() == parent,
                _ => session.depth == 1 && session.thread == request.thread,
            };
            let before = before.or_else(|| self.all.iter().rfind(sibling).map(|session| session.id.as_str()));
            match before {
                None => warnings.push("there is no previous sub-session: starts at once".to_owned()),
                Some(id) if depends_on.iter().any(|known| known == id) => {}
                Some(id) => depends_on.push(id.to_owned()),
            }
        }
        depends_on
    }

    fn checked(
        &self,
        request: Request,
        id: String,
        depends_on: Vec<String>,
        now: Timestamp,
    ) -> Result<Session, Refusal> {
        let objective = request.objective.trim();
        if objective.is_empty() || objective.chars().count() > MOST_OBJECTIVE {
            let error = format!("spawn a sub-session without 1 to {MOST_OBJECTIVE} characters of objective");
            return Err(Refusal::new(error, "say in a few sentences what is to be found out or done"));
        }
        if depends_on.len() > MOST_DEPENDENCIES || request.tools.len() > MOST_TOOLS {
            let error =
                format!("spawn with more than {MOST_DEPENDENCIES} dependencies or {MOST_TOOLS} tools");
            return Err(Refusal::new(error, "put a sub-session between that gathers some"));
        }
        let depth = match &request.origin {
            Origin::Tool { parent } if parent.starts_with("session-") => match self.get(parent) {
                Some(parent) if !parent.status.ended() => parent.depth.saturating_add(1),
                _ => {
                    return Err(Refusal::new(
                        format!("spawn for {parent}: it has ended"),
                        "spawn from a thought",
                    ));
                }
            },
            _ => 1,
        };
        if depth > MOST_DEPTH {
            let hint = "do it in this session, or answer what else is to be spawned";
            return Err(Refusal::new(format!("spawn deeper than {MOST_DEPTH}"), hint));
        }
        Ok(Session {
            id,
            origin: request.origin,
            depth,
            thread: request.thread,
            owner: request.owner,
            objective: objective.to_owned(),
            mode: request.mode,
            tools: request.tools,
            depends_on,
            not_before: request.not_before,
            status: Status::Waiting,
            spawned_at: now,
            ..Session::default()
        })
    }
}

/// Those that could never start because each waits for another of them.
fn circle(sessions: &[Session]) -> Option<Vec<String>> {
    let mut left: Vec<&Session> = sessions.iter().collect();
    loop {
        let stuck: Vec<&Session> = left
            .iter()
            .filter(|session| session.depends_on.iter().any(|on| left.iter().any(|other| other.id == *on)))
            .copied()
            .collect();
        if stuck.is_empty() {
            return None;
        }
        if stuck.len() == left.len() {
            return Some(stuck.into_iter().map(|session| session.id.clone()).collect());
        }
        left = stuck;
    }
}
