//! Turns of sub-sessions: begun, thought, acted, answered, failed, cut off, run out of time, cancelled.
//!
//! Turns return the ids whose status or hop they changed; a turn that does not fit the status does nothing.

use super::{
    HOP_ROUNDS, HOP_S, MOST_ANSWER, MOST_GIVEN, MOST_HOP_ROUNDS, MOST_HOPS, Origin, Session, Sessions, Status,
};
use crate::Refusal;
use crate::text::clip;
use jiff::{SignedDuration, Timestamp};

/// Replies in a row that cannot be read, and lives that end while it acts, at which a session fails.
const MOST_MISREAD: u32 = 3;
const MOST_CUTS: u32 = 2;

/// Thoughts in a row with calls of which none did anything, at which a session fails.
const MOST_FRUITLESS: u32 = 8;

impl Session {
    /// Says why its hop is over; none while it is not.
    fn used_up(&self, now: Timestamp, most_cost: u64) -> Option<String> {
        let late = now.duration_since(self.hop_began) >= SignedDuration::from_secs(HOP_S);
        let dear = self.hop_rounds >= HOP_ROUNDS && self.hop_cost > most_cost;
        let is_look = matches!(self.origin, Origin::Own(_));
        Some(match self.hop_rounds {
            _ if late => format!("{HOP_S} s are over"),
            rounds if dear => format!("{rounds} thoughts cost {} USD", self.hop_cost as f64 / 1e6),
            HOP_ROUNDS.. if is_look => format!("the {HOP_ROUNDS} thoughts of a look are over"),
            MOST_HOP_ROUNDS.. => format!("{MOST_HOP_ROUNDS} thoughts are over"),
            _ => return None,
        })
    }
}

impl Sessions {
    /// Starts sessions that are ready, the oldest first, until `at_once` are running.
    pub fn begin(&mut self, now: Timestamp, at_once: usize) -> Vec<String> {
        let room = at_once.saturating_sub(self.running().count());
        let ready = self.all.iter().filter(|session| self.ready(session, now)).take(room);
        let begun: Vec<String> = ready.map(|session| session.id.clone()).collect();
        for id in &begun {
            let on = self.get(id).map(|session| session.depends_on.clone()).unwrap_or_default();
            let share = MOST_GIVEN / on.len().max(1);
            let told = |on: &Session| {
                let text = format!("{} ({}): {}", on.id, clip(&on.objective, 120), on.answer);
                text.chars().take(share).collect()
            };
            let given: Vec<String> = on.iter().filter_map(|id| self.get(id)).map(told).collect();
            let Some(session) = self.at(id, Status::Waiting) else { continue };
            (session.status, session.hop, session.hop_began, session.given) =
                (Status::Running, 1, now, given);
        }
        begun
    }

    /// Ends each hop whose time, money (`most_cost`, in millionths of a dollar) or thoughts are used up: the
    /// session goes on in the next hop, or fails after the last. A look has one, and one whose thoughts come to
    /// nothing has no other.
    pub fn tick(&mut self, now: Timestamp, most_cost: u64) -> Vec<String> {
        let (mut changed, mut over) = (Vec::new(), Vec::new());
        // Whose calls are under way goes on when they have ended.
        let is_free = |session: &&mut Session| session.status == Status::Running && session.acting.is_empty();
        for session in self.all.iter_mut().filter(is_free) {
            // A clock set back gives no hop more than its time.
            session.hop_began = session.hop_began.min(now);
            if session.fruitless >= MOST_FRUITLESS {
                let why = format!("each call of its last {MOST_FRUITLESS} thoughts was refused or failed");
                over.push((session.id.clone(), why));
                continue;
            }
            let Some(why) = session.used_up(now, most_cost) else { continue };
            let most_hops = if matches!(session.origin, Origin::Own(_)) { 1 } else { MOST_HOPS };
            if session.hop >= most_hops {
                over.push((session.id.clone(), format!("not done within {most_hops} hops: {why}")));
                continue;
            }
            // However late it is, one hop is used up: a night slept through does not fail the session.
            (session.hop, session.hop_began, session.hop_rounds, session.hop_cost) =
                (session.hop + 1, now, 0, 0);
            changed.push(session.id.clone());
        }
        changed.extend(over.into_iter().flat_map(|(id, why)| self.failed(&id, &why, now)));
        changed
    }

    /// The session thought, and makes these calls.
    pub fn thought(&mut self, id: &str, calls: Vec<String>) {
        let Some(session) = self.at(id, Status::Running) else { return };
        session.hop_rounds = session.hop_rounds.saturating_add(1);
        session.misread = 0;
        session.fruitless = if calls.is_empty() { 0 } else { session.fruitless.saturating_add(1) };
        session.acting = calls;
    }

    /// Adds what a thought of the session cost, in millionths of a dollar.
    pub fn paid(&mut self, id: &str, cost: u64) {
        if let Some(session) = self.at(id, Status::Running) {
            session.hop_cost = session.hop_cost.saturating_add(cost);
        }
    }

    /// The first of the session's open calls has a result; `ok`: it was neither refused nor failed.
    pub fn acted(&mut self, id: &str, ok: bool) {
        let Some(session) = self.at(id, Status::Running) else { return };
        if ok {
            session.fruitless = 0;
        }
        if !session.acting.is_empty() {
            session.acting.remove(0);
        }
    }

    /// The session's remaining calls are not made.
    pub fn stopped(&mut self, id: &str) {
        if let Some(session) = self.at(id, Status::Running) {
            session.acting.clear();
        }
    }

    /// The session's reply could not be read.
    pub fn misread(&mut self, id: &str, why: &str, now: Timestamp) -> Vec<String> {
        let Some(session) = self.at(id, Status::Running) else { return Vec::new() };
        session.misread = session.misread.saturating_add(1);
        session.hop_rounds = session.hop_rounds.saturating_add(1);
        match session.misread >= MOST_MISREAD {
            true => self.failed(id, &format!("{MOST_MISREAD} replies could not be read: {why}"), now),
            false => Vec::new(),
        }
    }

    /// The session gave its answer and is done.
    pub fn answered(&mut self, id: &str, answer: &str, now: Timestamp) -> Vec<String> {
        self.end(id, Status::Done, answer, now)
    }

    /// The session cannot go on; sessions that depend on it fail too.
    pub fn failed(&mut self, id: &str, why: &str, now: Timestamp) -> Vec<String> {
        let mut changed = self.end(id, Status::Failed, why, now);
        changed.extend(self.cascade(now));
        changed
    }

    /// Cancels a session that has not ended, with its children; sessions that depend on them fail.
    pub fn cancel(&mut self, id: &str, now: Timestamp) -> Result<Vec<String>, Refusal> {
        let Some(session) = self.get(id) else {
            let error = format!("cancel {:?}: no sub-session is called that", clip(id, 40));
            return Err(Refusal::new(error, "see sessions.list"));
        };
        if session.status.ended() {
            let error = format!("cancel {id}: it is {} already", session.status.name());
            return Err(Refusal::new(error, format!("its answer is in sessions.list {id}")));
        }
        let kin = |session: &&Session| session.id == id || session.family() == id;
        let ids: Vec<String> = self.all.iter().filter(kin).map(|session| session.id.clone()).collect();
        let mut changed: Vec<String> =
            ids.iter().flat_map(|id| self.end(id, Status::Cancelled, "cancelled", now)).collect();
        changed.extend(self.cascade(now));
        Ok(changed)
    }

    /// A life ended: drops open calls, which may have happened; fails sessions cut off `MOST_CUTS` times.
    pub fn cut_off(&mut self, now: Timestamp) -> Vec<String> {
        let mut lost = Vec::new();
        for session in &mut self.all {
            let calls = std::mem::take(&mut session.acting);
            let Some(first) = calls.first() else { continue };
            (session.cuts, session.fruitless) = (session.cuts.saturating_add(1), 0);
            // A call that kills its life must not kill the next ones too.
            if session.cuts >= MOST_CUTS {
                let why = format!("cut off {MOST_CUTS} times, the last time at {first}");
                lost.push((session.id.clone(), why));
            }
        }
        lost.into_iter().flat_map(|(id, why)| self.failed(&id, &why, now)).collect()
    }

    /// Fails the sessions that wait for one that has failed, was cancelled or is gone.
    pub(super) fn cascade(&mut self, now: Timestamp) -> Vec<String> {
        let mut changed = Vec::new();
        // What fails may be what others wait for: again until none is left.
        while let Some((id, why)) = self.doomed() {
            changed.extend(self.end(&id, Status::Failed, &why, now));
        }
        changed
    }

    /// A session that waits for one that has failed, was cancelled or is gone, and why it fails.
    fn doomed(&self) -> Option<(String, String)> {
        let broken = |on: &String| match self.get(on) {
            None => Some(format!("{on}, which it waits for, is gone")),
            Some(on) if matches!(on.status, Status::Failed | Status::Cancelled) => {
                let (id, is, why) = (&on.id, on.status.name(), clip(&on.answer, 300));
                Some(format!("{id}, which it waits for, is {is}: {why}"))
            }
            Some(_) => None,
        };
        let mut waiting = self.all.iter().filter(|session| session.status == Status::Waiting);
        waiting.find_map(|session| {
            let why = session.depends_on.iter().find_map(broken)?;
            Some((session.id.clone(), why))
        })
    }

    fn end(&mut self, id: &str, status: Status, answer: &str, now: Timestamp) -> Vec<String> {
        // Only a running session can be done; a waiting one can still fail or be cancelled.
        let open = |session: &&mut Session| match status {
            Status::Done => session.status == Status::Running,
            _ => !session.status.ended(),
        };
        let found = self.all.iter_mut().filter(open).find(|session| session.id == id);
        let Some(session) = found else { return Vec::new() };
        (session.status, session.ended_at) = (status, Some(now));
        session.answer = answer.chars().take(MOST_ANSWER).collect();
        session.acting.clear();
        session.given.clear();
        vec![session.id.clone()]
    }

    fn at(&mut self, id: &str, status: Status) -> Option<&mut Session> {
        self.all.iter_mut().find(|session| session.id == id && session.status == status)
    }
}
