//! Decides when the state that lives share is moved out of a trusted tree's way. Pure, a part of `policy`.
//!
//! A life may leave something behind that kills every life after it, however sound: then its predecessors would
//! fall one after another for its deed. So a trusted tree whose life never came to a turn gets one more life without
//! that state. Once a tree: one that dies of its own code falls all the same.

use crate::decide::policy::Policy;
use crate::decide::vocabulary::{Action, Blame, Death, Pending, Phase, Standing};
use crate::limits::Limits;
use house::clock::Millis;

/// Trees remembered for which it was done; a ladder has fewer rungs.
const MOST_TREES: usize = 64;

impl Policy {
    /// Notes that shared state is to be moved aside; false where this death is judged as any other.
    pub(crate) fn sets_aside(
        &mut self,
        limits: &Limits,
        now: Millis,
        (death, blame): (Death, Blame),
        standing: Standing,
    ) -> bool {
        let unborn = match &self.phase {
            Phase::Probation { watch, .. } => watch.is_unborn(),
            Phase::Booting { .. } | Phase::Stopping { .. } => death == Death::Stillborn,
            Phase::Settled { .. } | Phase::Building { .. } | Phase::RollingBack => false,
            Phase::Resting { .. } | Phase::Parked { .. } | Phase::Paused | Phase::Done => false,
        };
        let trusted = matches!(standing, Standing::Blessed | Standing::Bottom);
        let Some(subject) = self.subject.as_ref().filter(|_| unborn && trusted && blame == Blame::Code)
        else {
            return false;
        };
        if self.record.set_aside.contains(&subject.tree) {
            return false;
        }
        self.record.set_aside.push(subject.tree.clone());
        let over = self.record.set_aside.len().saturating_sub(MOST_TREES);
        self.record.set_aside.drain(..over);
        self.record.pending = Some(Pending::SetAside);
        self.give_back(limits);
        self.rest(now);
        true
    }

    /// Begins the next life at once: the shared state is moved aside, as far as it could be.
    pub(crate) fn state_set_aside(&mut self, now: Millis) -> Vec<Action> {
        if self.record.pending == Some(Pending::SetAside) {
            self.record.pending = None;
        }
        if matches!(self.phase, Phase::Resting { .. }) { self.rest(now) } else { vec![] }
    }
}
