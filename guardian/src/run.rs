//! The guardian's loop: collects events, steps the policy, saves its record, and has the executor act.
//!
//! Invariant: a changed record is on disk before the actions based on it are carried out.
//! Invariant: nothing here waits for the creature; a step that the kernel holds up is the business of the heart.

use crate::act::executor::Executor;
use crate::decide::policy::Policy;
use crate::decide::vocabulary::{Action, Event, Phase};
use crate::steward::{self, ROUND_MS};
use anyhow::{Context, Result};
use heart::{HOUSE_LOST, LEAVE};
use house::clock::Millis;
use house::{files, interrupt};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use processes::alone::lost;
use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGTERM, SIGUSR1};
use signal_hook::iterator::backend::SignalDelivery;
use signal_hook::iterator::exfiltrator::SignalOnly;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;

/// Time between two sweeps for a tree that does not end.
const SWEEP_MS: Millis = 50;

/// The loop's parts: the policy, the executor, and the signals that wake it.
pub struct Guardian {
    policy: Policy,
    pub(crate) executor: Executor,
    signals: SignalDelivery<UnixStream, SignalOnly>,
    /// The phase that `guardian.json` was last written for.
    published: Option<std::mem::Discriminant<Phase>>,
}

/// Listens for children that end, and for the heart's words: to leave, and of an order. Other signals of the owner's are
/// the heart's to hear.
pub fn signals() -> Result<SignalDelivery<UnixStream, SignalOnly>> {
    let (read, write) = UnixStream::pair().context("failed to make a pipe for signals")?;
    interrupt::listen(&[LEAVE as i32, SIGUSR1])?;
    let wanted = interrupt::wanted(&[LEAVE as i32, SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGUSR1]);
    SignalDelivery::with_pipe(read, write, SignalOnly, wanted).context("failed to listen for signals")
}

impl Guardian {
    pub fn new(policy: Policy, executor: Executor, signals: SignalDelivery<UnixStream, SignalOnly>) -> Self {
        let published = Some(std::mem::discriminant(&policy.phase));
        Self { policy, executor, signals, published }
    }

    /// Keeps a creature alive until the owner asks to stop, or the house is gone; returns the program's
    /// exit code.
    pub fn run(&mut self) -> Result<u8> {
        steward::ready();
        let Executor { around, daemons, .. } = &mut self.executor;
        daemons.call(around);
        self.happen(Event::Tick);
        while self.policy.phase != Phase::Done {
            steward::waits();
            let is_called = self.wait();
            steward::begins(is_called);
            if let Some(why) = lost(&self.executor.around.house, steward::heart_pid()) {
                self.executor.around.report.warn(&why);
                return Ok(HOUSE_LOST);
            }
            interrupt::heard();
            let signals: Vec<i32> = self.signals.pending().collect();
            for signal in signals {
                if signal == LEAVE as i32 {
                    self.happen(Event::OwnerStop);
                }
            }
            self.executor.collect();
            self.step_through();
            self.look();
            // On every round: a policy that does not hear the time would take silence for a suspended machine.
            self.happen(Event::Tick);
            self.executor.upkeep();
            self.step_through();
        }
        self.executor.leave().map(|()| 0)
    }

    /// Waits for an event or the next time there is something to do; whether there was an event.
    fn wait(&mut self) -> bool {
        let Executor { around, living, builder, daemons, .. } = &self.executor;
        let (now, look_ms) = (around.now(), around.limits.look_ms);
        let mut until = self.policy.deadline(&around.limits).unwrap_or(Millis::MAX).min(now + ROUND_MS);
        if living.life.is_some() || builder.build.is_some() || daemons.is_busy() {
            until = until.min(now + look_ms);
        }
        if living.life.as_ref().is_some_and(|life| life.exited.is_some()) {
            until = until.min(now + SWEEP_MS);
        }
        if builder.build.is_some() {
            until = until.min(now + around.report.build_frame_ms().unwrap_or(look_ms));
        }
        until = daemons.deadline().into_iter().fold(until, Millis::min);
        let timeout = i32::try_from(until.saturating_sub(now)).unwrap_or(i32::MAX);
        let listener = (!daemons.broker_is_hoped_for()).then_some(daemons.own.broker.listener.as_fd());
        let heard = [Some(self.signals.get_read().as_fd()), listener].into_iter().flatten();
        let mut descriptors: Vec<PollFd> = heard.map(|heard| PollFd::new(heard, PollFlags::POLLIN)).collect();
        // After an interrupted or failed poll the loop only looks earlier.
        poll(&mut descriptors, PollTimeout::try_from(timeout).unwrap_or(PollTimeout::MAX)) != Ok(0)
    }

    /// Handles an event and everything that follows from it.
    pub fn happen(&mut self, event: Event) {
        self.executor.heard.push_back(event);
        self.step_through();
    }

    fn step_through(&mut self) {
        while let Some(event) = self.executor.heard.pop_front() {
            let (record, phase) = (self.policy.record.clone(), self.policy.phase.clone());
            let tidied = event == Event::Tidied;
            if event != Event::Tick && !matches!(event, Event::Beat { .. }) {
                tracing::debug!(?event, ?phase, "step");
            }
            let executor = &mut self.executor;
            let actions = self.policy.step(&executor.around.limits, executor.around.now(), event);
            executor.around.follow(&self.policy);
            // Tests end with the phase that they belong to.
            if !self.policy.examines() {
                executor.end_exam();
            }
            // A spawn saves the state itself, just before it; losing `Tidied` is harmless, since tidying can be
            // repeated.
            let saved_by_spawn = actions.iter().any(|action| matches!(action, Action::Spawn { .. }));
            if self.policy.record != record && !saved_by_spawn && !tidied {
                executor.around.save();
            }
            for action in actions {
                let came_of_it = executor.perform(action);
                executor.heard.extend(came_of_it);
            }
        }
        let passes =
            matches!(self.policy.phase, Phase::Resting { until } if until <= self.executor.around.now());
        let reached = Some(std::mem::discriminant(&self.policy.phase));
        if self.executor.around.is_news || !passes && self.published != reached {
            self.published = reached;
            self.executor.publish();
        }
    }

    /// Looks at the files that others write: heartbeat, requests, orders.
    fn look(&mut self) {
        if self.executor.living.life.is_some() && self.policy.alive() {
            self.executor.look();
            self.step_through();
        }
        let mark = files::mark(&self.executor.around.house.order());
        if mark.is_some() && mark != self.executor.order_seen {
            self.executor.order_seen = mark;
            self.obey_order();
        }
    }
}
