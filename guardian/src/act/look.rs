//! Looks at a life's heartbeat, conduct, tests' log and requests; tells the policy of news.

use crate::act::executor::Executor;
use crate::decide::conduct::Observed;
use crate::decide::vocabulary::Event;
use house::clock::Millis;
use house::files;

/// Time in which a life names its mind.
const NAMED_MS: Millis = 60_000;

impl Executor {
    pub fn look(&mut self) {
        let claimed = |executor: &Self| {
            let claim = &executor.living.heart.claim;
            (claim.mind.clone(), claim.odd.clone())
        };
        let before = claimed(self);
        if let Some((turns, thought)) = self.living.beat(&self.house, self.state.life) {
            self.hear(Event::Beat { turns, thought });
            if claimed(self) != before {
                self.publish();
            }
        }
        self.look_at_conduct();
        self.look_at_exam();
        let mark = files::mark(&self.house.request());
        if mark.is_some() && mark != self.living.request_seen {
            self.living.request_seen = mark;
            self.hear(Event::Request);
        }
    }

    /// Looks at the life's conduct; observations go to the policy.
    fn look_at_conduct(&mut self) {
        let now = self.clock.now();
        let Some(life) = &mut self.living.life else { return };
        let claim = &self.living.heart.claim;
        // A life that has just begun has no mind yet; one that never names it is taken to have the one before.
        let before = self.decided.record.conducts.0.last().map(|conduct| conduct.mind.clone());
        let mind = match claim.mind.is_empty() {
            true if now < life.began + NAMED_MS => return,
            true => before.unwrap_or_default(),
            false => claim.mind.clone(),
        };
        let seen = life.watched.look(claim, now);
        if seen.iter().any(|(_, kept)| !kept) {
            self.state.broken = life.watched.witness.examples();
        }
        if !seen.is_empty() {
            let is_self_edit = self.state.selves.contains(&self.state.tree);
            self.hear(Event::Observed(Observed { mind, is_self_edit, seen }));
        }
    }
}
