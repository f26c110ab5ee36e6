//! Sub-sessions at work: each a few thoughts of its own, beside one another and beside the life, on the creature's budget.
//!
//! Invariant: what takes time (a thought of a model, a call that waits for something outside) is a step beside the life;
//! what it came to is taken over in the one loop and written down before the next. So no session waits for another.

mod act;
mod ask;
pub mod review;
mod steps;
mod tell;
pub mod words;

pub(crate) use steps::{Ended, Steps};

use crate::fault::Fault;
use crate::heartbeat::Stage;
use crate::life::{Leaving, Life};
use crate::tools::CallOutcome;
use agenda::sessions::{Origin, Request, Session, Status};
use ground::text::shorten;
use jiff::Timestamp;
use serde_json::Value;
use std::collections::BTreeSet;
use std::pin::pin;
use std::time::Duration;
use steps::Doing;

/// Longest time for taking over a step and the quick calls that follow.
const SHORT: Duration = Duration::from_secs(300);

impl Life {
    /// Spawns a sub-session for what came due by itself: a concern, a reminder, a quick look.
    pub fn spawn_session(&mut self, request: Request) -> Result<(), Fault> {
        self.store.spawn(vec![request], self.minds.are_instinct()).map(drop)
    }

    /// Reports sub-sessions that ended. True where the next thought is told.
    pub(crate) fn report_apart(&mut self) -> Result<bool, Fault> {
        if self.told.safe {
            return Ok(false);
        }
        tell::note_told(&mut self.store, &self.cursors.events);
        let mut told = false;
        for report in self.store.sessions.reports(self.told.clock.now()) {
            let is_worth = tell::is_worth_telling(&self.store, &report);
            if let (Origin::Own(_), false) = (&report.origin, is_worth) {
                self.end_look(None);
            }
            told |= tell::tell(&mut self.store, &mut self.cursors, &self.caller, &report, is_worth)?;
        }
        Ok(told)
    }

    /// Moves sub-sessions on by the clock, and begins the next step of each that does nothing. While nothing is to be
    /// done of its own accord, or the model is down, none begins.
    pub(crate) async fn advance_apart(&mut self) -> Result<(), Fault> {
        if self.told.safe {
            return Ok(());
        }
        let now = self.told.clock.now();
        if !std::mem::replace(&mut self.steps.knows_cut, true) {
            // A call without a result at birth was cut off by the end of an earlier life.
            let cut = self.store.sessions.cut_off(now);
            self.store.turned(&cut)?;
        }
        let waits = self.is_stopped() || self.access.apart_until().is_some_and(|until| now < until);
        if !waits {
            let mut changed = self.store.sessions.tick(now, self.hop_cost());
            // Without a model none begins: its time would run out with nothing done.
            if !self.minds.are_instinct() {
                let at_once = usize::try_from(self.settings.sessions.at_once).unwrap_or(1);
                changed.extend(self.store.sessions.begin(now, at_once));
            }
            self.store.turned(&changed)?;
        }
        for id in self.steps.sessions() {
            if self.running(&id).is_none() {
                self.steps.dropped(&id);
                self.steps.forget_calls(&id);
            }
        }
        let sessions = &self.store.sessions;
        self.talks.retain(|id, _| sessions.get(id).is_some_and(|session| !session.status.ended()));
        // While its own money is spent, what was begun for the owner goes on.
        let goes_on = |session: &&Session| session.owner || self.access.spent_until(now).is_none();
        let running = self.store.sessions.running().filter(goes_on);
        let running: Vec<String> = running.map(|session| session.id.clone()).collect();
        for id in running.iter().filter(|_| !waits) {
            self.next_step(id).await?;
        }
        Ok(())
    }

    /// Makes the quick calls of a session that come next; begins the first that takes time, or the next thought.
    async fn next_step(&mut self, id: &str) -> Result<(), Fault> {
        while let Some(session) = self.running(id).filter(|_| !self.steps.is_under_way(id)) {
            if self.acts.rebirth.is_some() {
                self.stop_calls(id);
                return Ok(());
            }
            match self.steps.next_call(id) {
                Some(call) => self.call_apart(&session, call).await?,
                None if !session.owner && self.steps.waits_until() > self.told.clock.now() => return Ok(()),
                None if !self.minds.are_instinct() => return self.ask_apart(&session),
                None => return Ok(()),
            }
        }
        Ok(())
    }

    /// A session that runs.
    fn running(&self, id: &str) -> Option<Session> {
        self.store.sessions.get(id).filter(|session| session.status == Status::Running).cloned()
    }

    /// Drops the calls of a session that are left.
    fn stop_calls(&mut self, id: &str) {
        self.steps.forget_calls(id);
        self.store.sessions.stopped(id);
        self.store.keep_sessions();
    }

    /// Takes over what a step came to, and begins the next ones.
    pub(crate) async fn step_ended(&mut self, (id, doing, asked): Ended) -> Result<(), Fault> {
        let stage = self.heart.again();
        self.heart.stage(Stage::Acting, SHORT);
        match (doing, asked, self.running(&id)) {
            (Doing::Asks(asker), Some(asked), Some(session)) => self.asked_apart(&session, asker, asked)?,
            (Doing::Calls(calling), ..) => self.called_apart(&id, *calling)?,
            (Doing::Asks(_), ..) => {}
        }
        self.save()?;
        self.advance_apart().await?;
        stage();
        Ok(())
    }

    /// Awaits something of the life's own while sub-sessions go on; none where the life is to leave or the owner speaks.
    pub(crate) async fn beside_apart<T>(
        &mut self,
        own: impl Future<Output = T>,
        leaving: &mut impl Leaving,
    ) -> Result<Option<T>, Fault> {
        let mut own = pin!(own);
        loop {
            let ended = tokio::select! {
                biased;
                () = leaving.asked() => return Ok(None),
                () = self.watch.word() => return Ok(None),
                done = &mut own => return Ok(Some(done)),
                ended = self.steps.ended() => ended,
            };
            self.step_ended(ended).await?;
        }
    }

    /// Sub-sessions that the owner's word ends: their names for the owner, and the owner's threads they worked for.
    pub(crate) fn cancel_apart(&mut self) -> Result<(Vec<String>, BTreeSet<String>), Fault> {
        let now = self.told.clock.now();
        let (mut named, mut threads) = (Vec::new(), BTreeSet::new());
        for id in self.store.sessions.at_work(now) {
            let Some(session) = self.store.sessions.get(&id).cloned() else { continue };
            named.push(format!("{id} ({})", shorten(&session.objective, 60)));
            threads.extend(session.owner.then(|| session.thread.clone()));
            // One that ended with another of them is no failure.
            let ended = self.store.sessions.cancel(&id, now).unwrap_or_default();
            self.store.turned(&ended)?;
            ended.iter().for_each(|id| {
                self.steps.dropped(id);
                self.steps.forget_calls(id);
                // The owner, who stopped it, need not be told; and no thought is.
                if session.owner {
                    self.store.sessions.reported(id);
                }
            });
            self.store.keep_sessions();
        }
        Ok((named, threads))
    }

    /// Lists the owner's sub-sessions at work, in words; empty where none is.
    pub(crate) fn works_apart(&self) -> Vec<String> {
        let ids = self.store.sessions.at_work(self.told.clock.now());
        let all = ids.iter().filter_map(|id| self.store.sessions.get(id));
        all.filter(|session| session.owner)
            .map(|session| format!("{} ({})", session.id, shorten(&session.objective, 60)))
            .collect()
    }

    /// Ends, at the owner's pause, the steps of sessions that nobody asked for; a call comes to its end as stopped.
    pub(crate) fn pause_apart(&mut self) {
        let is_own = |id: &String| self.store.sessions.get(id).is_some_and(|session| !session.owner);
        let own: Vec<String> = self.steps.sessions().into_iter().filter(is_own).collect();
        for id in own {
            match self.steps.call(&id) {
                Some(job) => job.stop("your owner paused you"),
                None => drop(self.steps.dropped(&id)),
            }
        }
    }

    /// Ends all steps with the life: a thought is asked for again by the next, a call is told as stopped.
    pub(crate) fn end_apart(&mut self) -> Result<(), Fault> {
        for id in self.steps.sessions() {
            if let (Some(Doing::Calls(calling)), Some(session)) = (self.steps.dropped(&id), self.running(&id))
            {
                let error = format!("{} was stopped: this life was asked to leave", calling.call.tool);
                self.acted_apart(&session, &calling.call, CallOutcome::failed(error, "try again"))?;
            }
            self.stop_calls(&id);
        }
        Ok(())
    }

    /// Returns the time at which sub-sessions want the next wake; on instinct they wait for a model.
    pub fn next_session(&self, now: Timestamp) -> Option<Timestamp> {
        let next = (!self.minds.are_instinct()).then(|| self.store.sessions.next_at(now)).flatten()?;
        let mut open = self.store.sessions.all.iter().filter(|session| !session.status.ended());
        let is_own = open.all(|session| !session.owner);
        let paced = if is_own { self.steps.waits_until() } else { next };
        Some(next.max(self.access.apart_until().unwrap_or(next)).max(paced))
    }

    /// Returns the most a hop may cost, in millionths of a dollar: a fiftieth of the day's money, where that is known.
    fn hop_cost(&self) -> u64 {
        let cap_usd = self.minds.offer.get("cap_usd").and_then(Value::as_f64).filter(|cap| *cap > 0.0);
        cap_usd.map_or(u64::MAX, |cap_usd| (cap_usd / 50.0 * 1e6) as u64)
    }
}
