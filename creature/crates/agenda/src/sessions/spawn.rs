//! Spawning of sub-sessions: requests are checked and become part of the graph, one or several in a call.

use super::{MOST_DEPTH, MOST_OPEN, Mode, Origin, Session, Sessions};
use crate::Refusal;
use crate::text::clip;
use jiff::Timestamp;
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};

const MOST_OBJECTIVE: usize = 2_000;
/// As many dependencies as sessions may be open: a session that gathers the answers of all others is usual.
const MOST_DEPENDENCIES: usize = MOST_OPEN;
const MOST_TOOLS: usize = 64;

/// Request for a session; the skipped fields are not the caller's to set.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Request {
    /// The name by which others of the same call may depend on it; may be empty.
    pub name: String,
    #[serde(skip)]
    pub origin: Origin,
    #[serde(skip)]
    pub thread: String,
    #[serde(skip)]
    pub owner: bool,
    pub objective: String,
    pub mode: Mode,
    pub depends_on: Vec<String>,
    /// Earlier sessions of its parent that it depends on.
    pub depends_on_previous: Previous,
    pub not_before: Option<Timestamp>,
    pub tools: Vec<String>,
    /// The model that works on it, and how much that thinks; empty: the usual of its mode.
    pub model: String,
    pub effort: String,
    /// Parts of the request that the caller dropped, a sentence each; `Spawned` passes them on.
    #[serde(skip)]
    pub warnings: Vec<String>,
}

/// Earlier sessions of its parent that a session depends on.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum Previous {
    /// All of them, or none.
    All(bool),
    /// `all`, or the one of this name.
    Said(String),
    /// The sessions of these names.
    Named(Vec<String>),
}

impl Default for Previous {
    fn default() -> Self {
        Self::All(false)
    }
}

impl Previous {
    fn all(&self) -> bool {
        match self {
            Self::All(all) => *all,
            Self::Said(said) => ["all", "true"].contains(&said.trim()),
            Self::Named(_) => false,
        }
    }

    fn names(&self) -> &[String] {
        match self {
            Self::Named(names) => names,
            Self::Said(name) if !["all", "true", "false", ""].contains(&name.trim()) => {
                std::slice::from_ref(name)
            }
            Self::Said(_) | Self::All(_) => &[],
        }
    }
}

/// A request that became a session.
#[derive(Clone, Debug, PartialEq)]
pub struct Spawned {
    pub id: String,
    /// Parts of the request that were dropped, a sentence each.
    pub warnings: Vec<String>,
}

impl Sessions {
    /// Adds one session.
    pub fn spawn(&mut self, request: Request, now: Timestamp) -> Result<Spawned, Refusal> {
        let mut spawned = self.spawn_all(vec![request], now)?;
        spawned.pop().ok_or_else(|| Refusal::new("spawn nothing", "give an objective"))
    }

    /// Adds several that may depend on each other in any order; all of them, or none where one is refused.
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
        let mut previous: Vec<String> = Vec::new();
        let mut added = Vec::new();
        for (request, id) in requests.into_iter().zip(ids) {
            let (depends_on, warnings) = self.dependencies(&request, &known, &previous);
            previous.push(id.clone());
            added.push((self.session(request, &id, depends_on, now)?, Spawned { id, warnings }));
        }
        let (sessions, spawned): (Vec<Session>, Vec<Spawned>) = added.into_iter().unzip();
        let circle = circle(&sessions);
        if !circle.is_empty() {
            let error = format!("spawn sub-sessions that wait for each other: {}", circle.join(", "));
            return Err(Refusal::new(error, "take one of their depends_on away"));
        }
        self.next = self.next.saturating_add(sessions.len() as u64);
        self.all.extend(sessions);
        self.cascade(now);
        Ok(spawned)
    }

    /// The ids of known sessions that a request depends on; and what was dropped of it.
    fn dependencies(
        &self,
        request: &Request,
        known: &BTreeMap<String, String>,
        before: &[String],
    ) -> (Vec<String>, Vec<String>) {
        let (mut depends_on, mut warnings) = (Vec::new(), request.warnings.clone());
        for wanted in request.depends_on.iter().chain(request.depends_on_previous.names()) {
            match known.get(wanted).or_else(|| self.get(wanted).map(|session| &session.id)) {
                None => warnings.push(format!("no sub-session {:?} is known: dropped", clip(wanted, 40))),
                Some(id) => depends_on.push(id.clone()),
            }
        }
        if request.depends_on_previous.all() {
            let previous = self.previous(request, before);
            if previous.is_empty() {
                warnings.push("there is no previous sub-session: starts at once".to_owned());
            }
            depends_on.extend(previous);
        }
        let mut seen = BTreeSet::new();
        depends_on.retain(|id| seen.insert(id.clone()));
        (depends_on, warnings)
    }

    /// The ids of all that its parent spawned before it. Where a thought has spawned none yet, those of the open
    /// sessions of depth 1 on its thread, or else of the last one there.
    fn previous(&self, request: &Request, before: &[String]) -> Vec<String> {
        let Origin::Tool { parent } = &request.origin else { return before.to_vec() };
        let named = |session: &Session| session.id.clone();
        let kin = self.all.iter().filter(|session| session.family() == parent).map(named);
        let kin: Vec<String> = kin.chain(before.iter().cloned()).collect();
        if !kin.is_empty() || self.get(parent).is_some() {
            return kin;
        }
        let on_thread = |session: &&Session| session.depth == 1 && session.thread == request.thread;
        let open = self.all.iter().filter(on_thread).filter(|session| !session.status.ended());
        let open: Vec<String> = open.map(named).collect();
        let last = || self.all.iter().rfind(on_thread).map(named);
        if open.is_empty() { last().into_iter().collect() } else { open }
    }

    /// The session of a request; refused where its objective, dependencies, tools or depth are out of bounds.
    fn session(
        &self,
        request: Request,
        id: &str,
        depends_on: Vec<String>,
        now: Timestamp,
    ) -> Result<Session, Refusal> {
        let objective = request.objective.trim();
        if objective.is_empty() || objective.chars().count() > MOST_OBJECTIVE {
            let error = format!("spawn a sub-session without 1 to {MOST_OBJECTIVE} characters of objective");
            return Err(Refusal::new(error, "say in a few sentences what is to be found out or done"));
        }
        if depends_on.len() > MOST_DEPENDENCIES || request.tools.len() > MOST_TOOLS {
            let error = format!("spawn with over {MOST_DEPENDENCIES} dependencies or {MOST_TOOLS} tools");
            return Err(Refusal::new(error, "put a sub-session between that gathers some"));
        }
        let depth = match &request.origin {
            Origin::Tool { parent } if parent.starts_with("session-") => {
                let living = self.get(parent).filter(|parent| !parent.status.ended());
                let over =
                    || Refusal::new(format!("spawn for {parent}: it has ended"), "spawn from a thought");
                living.ok_or_else(over)?.depth.saturating_add(1)
            }
            _ => 1,
        };
        if depth > MOST_DEPTH {
            let hint = "do it in this session, or answer what else is to be spawned";
            return Err(Refusal::new(format!("spawn deeper than {MOST_DEPTH}"), hint));
        }
        Ok(Session {
            id: id.to_owned(),
            origin: request.origin,
            depth,
            thread: request.thread,
            owner: request.owner,
            objective: objective.to_owned(),
            mode: request.mode,
            tools: request.tools,
            model: request.model,
            effort: request.effort,
            depends_on,
            not_before: request.not_before,
            spawned_at: now,
            ..Session::default()
        })
    }
}

/// The ids of those that could never start because each waits for another of them.
fn circle(sessions: &[Session]) -> Vec<String> {
    let mut left: Vec<&Session> = sessions.iter().collect();
    loop {
        let waits = |session: &&Session| left.iter().any(|other| session.depends_on.contains(&other.id));
        let stuck: Vec<&Session> = left.iter().copied().filter(waits).collect();
        if stuck.len() == left.len() {
            return stuck.into_iter().map(|session| session.id.clone()).collect();
        }
        left = stuck;
    }
}
