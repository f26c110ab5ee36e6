//! Decides what a trusted tree's deaths come to: go on, roll back, or blame the surroundings. Pure, a part of `policy`.

use crate::decide::longevity::Lives;
use crate::decide::policy::Policy;
use crate::decide::vocabulary::{Action, Cause, Fell, Phase, Standing, Watch};
use crate::limits::Limits;
use house::clock::Millis;

/// Records of a life's time in each spell, besides that at its end: a killed guardian forgets at most one interval.
const RECORDED_PER_SPELL: Millis = 6;
/// Spells after a rollback in which its target's deaths may still acquit the fallen tree.
const DOUBT_SPELLS: Millis = 7 * 24;
/// For how many spells crash loops do not put an acquitted tree back: time for the owner to find the cause.
const WORLD_SPELLS: Millis = 24;

impl Policy {
    /// The running tree, if it is trusted and not in safe mode, where too little runs to prove anything.
    fn trusted(&self) -> Option<String> {
        let subject = self.subject.as_ref().filter(|_| self.record.safe.is_none())?;
        matches!(subject.standing, Standing::Blessed | Standing::Bottom).then(|| subject.tree.clone())
    }

    pub(crate) fn record_life_in_time(&mut self, limits: &Limits, now: Millis) {
        if let Phase::Probation { watch, .. } | Phase::Settled { watch } = &self.phase
            && now >= watch.recorded + limits.spell_ms / RECORDED_PER_SPELL
        {
            self.record_life(limits, now);
        }
    }

    pub(crate) fn record_life(&mut self, limits: &Limits, now: Millis) {
        let Some(tree) = self.trusted() else { return };
        let from = match &mut self.phase {
            Phase::Booting { since } => *since,
            Phase::Probation { watch: Watch { recorded, .. }, .. }
            | Phase::Settled { watch: Watch { recorded, .. } } => std::mem::replace(recorded, now),
            Phase::Building { .. } | Phase::Stopping { .. } | Phase::RollingBack => return,
            Phase::Resting { .. } | Phase::Parked { .. } | Phase::Paused | Phase::Done => return,
        };
        self.record.lives.live(&tree, from, now, limits);
    }

    /// Judges the death of a trusted tree by its code; returns the actions instead of a rest and another life, if
    /// any.
    pub(crate) fn judge(&mut self, limits: &Limits, now: Millis) -> Option<Vec<Action>> {
        let tree = self.trusted()?;
        self.record.fell.take_if(|fell| now >= fell.at + DOUBT_SPELLS * limits.spell_ms);
        let counts = self.record.lives.die(&tree, now, limits);
        let (asked, window) = self.record.lives.asked(&tree, limits);
        self.record.deaths.push(now);
        self.record.deaths.retain(|at| at + window > now);
        let excess = self.record.deaths.len().saturating_sub(asked as usize);
        self.record.deaths.drain(..excess);
        if self.record.deaths.len() >= asked as usize || self.record.parked.is_some() {
            Some(self.loops(limits, now, tree))
        } else if counts && now >= self.record.world_until {
            self.weigh(limits, now, tree)
        } else {
            None
        }
    }

    fn loops(&mut self, limits: &Limits, now: Millis, tree: String) -> Vec<Action> {
        if now < self.record.world_until {
            // The surroundings are to blame, so these lives without a blessing do not count against the tree.
            self.record.lives_unblessed = 0;
            return self.safe_mode(limits, now);
        }
        let had_lived = self.record.lives.of(&tree).lived_ms > limits.spell_ms;
        if self.record.fell.is_some() && had_lived {
            self.record.world_until = now + WORLD_SPELLS * limits.spell_ms;
            return self.fall(Cause::Acquitted);
        }
        self.fall_for_deaths(Cause::CrashLoop, now, tree)
    }

    fn weigh(&mut self, limits: &Limits, now: Millis, tree: String) -> Option<Vec<Action>> {
        let lives = &mut self.record.lives;
        let fell = self.record.fell.as_ref().map(|fell| (lives.take(&fell.first), fell.cause));
        let acquits = fell
            .as_ref()
            .is_some_and(|(lived, cause)| *cause == Cause::LateDeaths && lives.die_as_soon_as(lived, limits));
        let falls = !acquits && !lives.lived_before(&tree, limits).is_empty();
        if falls {
            lives.join_dying(&tree, limits);
        }
        lives.0.extend(fell.map(|(lived, _)| lived));
        if acquits {
            Some(self.fall(Cause::Acquitted))
        } else {
            falls.then(|| self.fall_for_deaths(Cause::LateDeaths, now, tree))
        }
    }

    /// Notes the fallen trees, joined as one, until the lives of the rollback's target show whether they were at
    /// fault.
    fn fall_for_deaths(&mut self, cause: Cause, now: Millis, tree: String) -> Vec<Action> {
        let fell = match self.record.fell.take() {
            Some(mut fell) => {
                self.record.lives.join(&fell.first, &tree);
                fell.others.push(tree);
                Fell { cause, at: now, ..fell }
            }
            None => Fell { first: tree, others: vec![], cause, at: now },
        };
        self.record.fell = Some(fell);
        self.fall(cause)
    }

    /// Targets of a rollback over late deaths, newest first.
    pub fn lived_before(&self, limits: &Limits) -> Vec<String> {
        let fell = self.record.fell.as_ref();
        fell.map(|fell| self.record.lives.lived_before(&fell.first, limits)).unwrap_or_default()
    }

    /// Trusts the fallen tree again, and forgets lives recorded before the surroundings changed.
    pub(crate) fn acquitted(&mut self) {
        self.record.fell = None;
        self.record.lives_unblessed = 0;
        self.record.lives = Lives::default();
    }
}
