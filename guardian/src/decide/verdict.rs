//! Decides what a trusted tree's life and deaths come to: go on, fall, or the world's fault. Pure, a part of `policy`.

use crate::decide::longevity::Lives;
use crate::decide::policy::Policy;
use crate::decide::vocabulary::{Action, Cause, Fell, Phase, Standing, Watch};
use crate::limits::Limits;
use house::clock::Millis;

/// A life's time goes into the record so many times a spell, and when it ends: a killed guardian forgets no more.
const RECORDED_PER_SPELL: Millis = 6;
/// For how many spells what was put back may still show that it was not the fault of what fell.
const DOUBT_SPELLS: Millis = 7 * 24;
/// For how many spells an acquitted tree is not left for a crash loop: time for the owner to mend the world.
const WORLD_SPELLS: Millis = 24;

impl Policy {
    /// The tree that runs, if it is trusted and lives a whole life: in safe mode it shows nothing.
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

    /// A trusted tree died of its code: what follows beside a rest and another life, if anything does.
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
            // What never comes to a blessing here is no loop of loops of its own making.
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

    /// What fell stays known, as one, until what takes its place has shown whether it was its fault.
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

    /// The trees that lived before what falls now for its late deaths, newest first.
    pub fn lived_before(&self, limits: &Limits) -> Vec<String> {
        let fell = self.record.fell.as_ref();
        fell.map(|fell| self.record.lives.lived_before(&fell.first, limits)).unwrap_or_default()
    }

    /// What fell is trusted again, and what was lived in another world proves nothing in this one.
    pub(crate) fn acquitted(&mut self) {
        self.record.fell = None;
        self.record.lives_unblessed = 0;
        self.record.lives = Lives::default();
    }
}
