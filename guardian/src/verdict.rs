//! Decides what a trusted tree's life and deaths come to: go on, fall, or the world's fault. Pure, a part of `policy`.

use crate::limits::{Limits, Millis};
use crate::longevity::Lives;
use crate::policy::Policy;
use crate::vocabulary::{Action, Cause, Phase, Standing, Watch};

/// A life's time goes into the record so many times a spell, and when it ends: a killed guardian forgets no more.
const RECORDED_PER_SPELL: Millis = 6;
/// For how many spells an acquitted tree is not left for a crash loop: time for the owner to mend the world.
const WORLD_SPELLS: Millis = 24;

impl Policy {
    /// The tree that runs, if it is trusted and lives a whole life: in safe mode it shows nothing.
    pub(crate) fn trusted(&self) -> Option<String> {
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

    /// A trusted tree died of its code: what follows beside a rest and another life, if anything does.
    pub(crate) fn judge(&mut self, limits: &Limits, now: Millis) -> Option<Vec<Action>> {
        let tree = self.trusted()?;
        let counts = self.record.lives.die(&tree, now, limits);
        let (asked, window) = self.record.lives.asked(limits);
        self.record.deaths.push(now);
        self.record.deaths.retain(|at| at + window > now);
        let excess = self.record.deaths.len().saturating_sub(asked as usize);
        self.record.deaths.drain(..excess);
        if self.record.deaths.len() >= asked as usize || self.record.parked.is_some() {
            Some(self.loops(limits, now, tree))
        } else if counts {
            self.weigh(limits, tree)
        } else {
            None
        }
    }

    fn loops(&mut self, limits: &Limits, now: Millis, tree: String) -> Vec<Action> {
        if now < self.record.world_until {
            // What never comes to a blessing here is no loop of loops of its own making.
            self.record.lives_unblessed = 0;
            self.safe_mode(limits, now)
        } else if self.record.fell.is_some() && self.record.lives.had_lived(limits) {
            self.fall(Cause::Acquitted)
        } else {
            self.record.fell = Some(tree);
            self.fall(Cause::CrashLoop)
        }
    }

    fn weigh(&mut self, limits: &Limits, tree: String) -> Option<Vec<Action>> {
        if self.record.lives.has_turned(limits) {
            if self.record.fell.is_some() {
                return Some(self.fall(Cause::Acquitted));
            }
            self.record.lives.begin_anew();
        }
        let lived_longer = self.record.lives.lived_before(limits).any(|lived| lived != tree);
        lived_longer.then(|| {
            self.record.fell = Some(tree);
            self.fall(Cause::LateDeaths)
        })
    }

    /// What fell is trusted again, and what was lived in another world proves nothing in this one.
    pub(crate) fn acquitted(&mut self, limits: &Limits, now: Millis) {
        self.record.fell = None;
        self.record.lives_unblessed = 0;
        self.record.lives = Lives::default();
        self.record.world_until = now + WORLD_SPELLS * limits.spell_ms;
    }
}
