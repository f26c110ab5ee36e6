//! Decides what follows the end of a life: a rest, a rollback, safe mode or parking. Pure, a part of `policy`.

use crate::decide::policy::{Policy, SAFE_TRIES};
use crate::decide::vocabulary::{Action, Blame, Cause, Death, Pending, Phase, Standing, Subject, Want, Why};
use crate::limits::Limits;
use house::clock::Millis;

/// Failures in a row that are not the code's, after which a binary that is already built is preferred.
const ENVIRONMENT_TRIES: u32 = 3;

impl Policy {
    /// Gives back the try of a life that never began or whose end was not its code's fault.
    pub(crate) fn give_back(&mut self, limits: &Limits) {
        self.record.lives_unblessed = self.record.lives_unblessed.saturating_sub(1);
        self.give_back_try(limits);
    }

    /// Gives back the try of a life that was told to end. It still counts among lives without a blessing: the
    /// creature may have caused the order itself.
    pub(crate) fn give_back_try(&mut self, limits: &Limits) {
        if let Some(left) = &mut self.record.safe {
            *left = (*left + 1).min(SAFE_TRIES);
        } else if let Some((_, left)) = &mut self.record.trial {
            *left = (*left + 1).min(limits.tries);
        }
    }

    pub(crate) fn died(&mut self, limits: &Limits, now: Millis, death: Death, blame: Blame) -> Vec<Action> {
        let mut actions = vec![Action::Bury { death, blame }, Action::Tidy];
        let standing = self.subject.as_ref().map_or(Standing::Bottom, |subject| subject.standing);
        if self.sets_aside(limits, now, (death, blame), standing) {
            actions.extend(self.obey());
            return actions;
        }
        let last = if blame != Blame::Code {
            self.give_back(limits);
            None
        } else if let Some(left) = self.record.safe {
            (left == 0).then(|| self.park(limits, now))
        } else if standing == Standing::Unproven {
            let spent = self.record.trial.as_ref().is_none_or(|(_, left)| *left == 0);
            spent.then(|| self.fall(Cause::TriesSpent))
        } else {
            self.judge(limits, now)
        };
        actions.extend(last.unwrap_or_else(|| {
            self.rest_awhile(limits, now);
            self.obey()
        }));
        actions
    }

    pub(crate) fn build_failed(&mut self, limits: &Limits, now: Millis, blame: Blame) -> Vec<Action> {
        if !matches!(self.phase, Phase::Building { .. }) {
            return vec![];
        }
        let mut actions = vec![Action::Bury { death: Death::BuildFailed, blame }];
        let unproven = self.subject.as_ref().is_some_and(|subject| subject.standing == Standing::Unproven);
        self.record.environment += u32::from(blame != Blame::Code);
        actions.extend(if blame == Blame::Code && self.record.safe.is_some() {
            self.park(limits, now)
        } else if blame == Blame::Code {
            self.fall(Cause::DoesNotBuild)
        } else if unproven && self.record.environment >= ENVIRONMENT_TRIES {
            self.fall(Cause::Environment)
        } else {
            self.rest_awhile(limits, now)
        });
        actions
    }

    /// Waits after a failed action, then tries again.
    pub(crate) fn failed(&mut self, limits: &Limits, now: Millis) -> Vec<Action> {
        if !self.waited_for_it(limits) {
            return vec![];
        }
        self.rest_awhile(limits, now);
        if let Some(Pending::Commit { failures }) = &mut self.record.pending {
            *failures += 1;
            if *failures >= limits.tries {
                self.record.pending = None;
            }
        }
        self.obey()
    }

    /// Obeys the owner's order that an action gave way to; then the action is taken up again at once.
    pub(crate) fn interrupted(&mut self, limits: &Limits, now: Millis) -> Vec<Action> {
        if !self.waited_for_it(limits) {
            return vec![];
        }
        self.rest(now);
        self.obey()
    }

    /// Whether the failed action is the one this phase waits for. A life that never began gives its try back.
    fn waited_for_it(&mut self, limits: &Limits) -> bool {
        match &self.phase {
            Phase::Booting { .. } => self.give_back(limits),
            Phase::Building { .. } | Phase::RollingBack | Phase::Resting { .. } => {}
            // The blessing is asked for again at the next `bless_at`.
            Phase::Probation { .. } | Phase::Settled { .. } | Phase::Stopping { .. } => return false,
            Phase::Parked { .. } | Phase::Paused | Phase::Done => return false,
        }
        true
    }

    /// Whether the life runs in place of a rollback that cannot be done now.
    pub fn stands_in(&self) -> bool {
        self.alive() && matches!(self.record.pending, Some(Pending::Fall(_)))
    }

    /// Runs a rung with a kept binary, if there is one, while the rollback cannot be done.
    pub(crate) fn stuck(&mut self, limits: &Limits, now: Millis, subject: Option<Subject>) -> Vec<Action> {
        let Some(subject) = subject.filter(|_| self.phase == Phase::RollingBack) else {
            return self.failed(limits, now);
        };
        if self.record.want != Want::Keep {
            return self.failed(limits, now);
        }
        self.subject = Some(subject);
        self.record.untidy = true;
        self.phase = Phase::Booting { since: now };
        vec![Action::Spawn { kept: true, safe: false }]
    }

    pub(crate) fn fall(&mut self, cause: Cause) -> Vec<Action> {
        self.record.pending = Some(Pending::Fall(cause));
        if self.record.want == Want::Keep { self.roll_back(cause) } else { self.obey() }
    }

    pub(crate) fn roll_back(&mut self, cause: Cause) -> Vec<Action> {
        self.phase = Phase::RollingBack;
        vec![Action::Rollback { cause, to_bottom: cause == Cause::LoopOfLoops }]
    }

    /// After a rollback the target lives at once; but if no rung was lost, after a rest, so that rollbacks cannot
    /// follow each other without end.
    pub(crate) fn rolled_back(&mut self, limits: &Limits, now: Millis) -> Vec<Action> {
        let cause = self.record.pending.take();
        self.record.trial = None;
        self.record.untidy = false;
        self.record.deaths.clear();
        self.record.environment = 0;
        match cause {
            Some(Pending::Fall(cause)) if cause.is_for_deaths() => {}
            Some(Pending::Fall(Cause::Acquitted)) => self.acquitted(),
            Some(Pending::Fall(Cause::Owner)) => {
                // What the owner chose gets as many lives as any other.
                self.record.fell = None;
                self.record.lives_unblessed = 0;
            }
            _ => self.record.fell = None,
        }
        if self.phase != Phase::RollingBack {
            return vec![];
        }
        let spent = match cause {
            Some(Pending::Fall(Cause::Owner | Cause::Acquitted)) => true,
            Some(Pending::Fall(cause)) => cause.condemns(),
            Some(Pending::Commit { .. } | Pending::SetAside) | None => false,
        };
        if spent {
            self.record.rest_ms = limits.rest_ms;
            return self.rest(now);
        }
        self.rest_awhile(limits, now)
    }

    /// No rung is left below: bad data may break even a good commit, so safe mode comes before parking.
    pub(crate) fn exhausted(&mut self, limits: &Limits, now: Millis) -> Vec<Action> {
        let cause = self.record.pending.take();
        self.record.fell = None;
        if let Some(Pending::Fall(Cause::Owner | Cause::Environment | Cause::LateDeaths | Cause::Acquitted)) =
            cause
        {
            let until = now + self.next_rest(limits);
            return if self.phase == Phase::RollingBack { self.rest(until) } else { vec![] };
        }
        self.safe_mode(limits, now)
    }

    pub(crate) fn safe_mode(&mut self, limits: &Limits, now: Millis) -> Vec<Action> {
        self.record.deaths.clear();
        self.record.trial = None;
        if self.record.safe.is_some() {
            return self.park(limits, now);
        }
        self.record.safe = Some(if self.record.parked.is_some() { 1 } else { SAFE_TRIES });
        self.rest_awhile(limits, now);
        self.obey()
    }

    pub(crate) fn park(&mut self, limits: &Limits, now: Millis) -> Vec<Action> {
        self.record.parked = self.subject.as_ref().map(|subject| subject.tree.clone());
        self.record.safe = None;
        self.record.deaths.clear();
        self.record.trial = None;
        self.phase = Phase::Parked { until: now + limits.parked_ms };
        self.obey()
    }

    /// Ends a life for a rollback, which is noted first, so that a guardian killed meanwhile goes on with it.
    pub(crate) fn end_for(&mut self, limits: &Limits, now: Millis, cause: Cause) -> Vec<Action> {
        self.record.pending = Some(Pending::Fall(cause));
        self.stop(limits, now, Why::Rollback(cause))
    }

    pub(crate) fn owner_rollback(&mut self, limits: &Limits, now: Millis) -> Vec<Action> {
        match &self.phase {
            Phase::Booting { .. } | Phase::Probation { .. } | Phase::Settled { .. } => {
                self.end_for(limits, now, Cause::Owner)
            }
            Phase::Building { .. } => [vec![Action::StopBuild], self.fall(Cause::Owner)].concat(),
            Phase::Resting { .. } | Phase::Parked { .. } => self.fall(Cause::Owner),
            Phase::Paused => {
                self.record.pending = Some(Pending::Fall(Cause::Owner));
                vec![Action::Rollback { cause: Cause::Owner, to_bottom: false }]
            }
            Phase::Stopping { .. } | Phase::RollingBack | Phase::Done => vec![],
        }
    }

    pub(crate) fn rest(&mut self, until: Millis) -> Vec<Action> {
        self.phase = Phase::Resting { until };
        vec![]
    }

    fn rest_awhile(&mut self, limits: &Limits, now: Millis) -> Vec<Action> {
        let until = now + self.next_rest(limits);
        self.rest(until)
    }

    pub(crate) fn next_rest(&mut self, limits: &Limits) -> Millis {
        let rest = self.record.rest_ms.clamp(limits.rest_ms, limits.rest_longest_ms.max(limits.rest_ms));
        self.record.rest_ms = (rest * 2).min(limits.rest_longest_ms);
        rest
    }
}
