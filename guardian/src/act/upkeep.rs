//! Upkeep: all that is done beside what the policy decides, once a round and here alone.
//!
//! None of it starts, judges or puts back a life: it bounds files, keeps the owner's daemons, shows how far a build is and
//! follows the policy's phase. A life whose files were taken away is asked to end, and the policy hears of its end.

use crate::act::executor::Executor;
use crate::act::quotas;
use crate::decide::policy::Policy;
use crate::decide::vocabulary::Want;
use crate::steward;
use house::records;
use processes::prepare;

impl Executor {
    /// Once a round.
    pub fn upkeep(&mut self) {
        let now = self.clock.now();
        if self.living.life.is_some() && self.decided.alive() {
            quotas::bound_logs(&self.house, self.state.life);
            if self.living.end_the_bereft(&self.house, self.limits.grace_ms, now) {
                let told =
                    "memory or heartbeat was moved or removed under the creature; it begins a new life";
                self.report.warn(told);
            }
            self.look_at_purpose();
            if !self.report.unhanded.is_empty() {
                self.hand_over();
            }
            self.show_facts();
        }
        self.tend_daemons();
        self.clear_after_life();
        self.pay();
        self.builder.follow(&self.house, &mut self.report, now);
    }

    /// Follows the policy after each of its steps: `decided` is a copy of it as of the last one.
    pub fn follow(&mut self, policy: &Policy) {
        self.decided.clone_from(policy);
        steward::leaves(policy.record.want == Want::Leave);
        // Tests end with the phase that they belong to.
        if !policy.examines() {
            self.end_exam();
        }
    }

    /// Clears files planted by the last life once it has ended: before a rest, and before anything it left is committed
    /// or put back. Not between two lives without a rest: the next could plant it again at once.
    pub fn clear_after_life(&mut self) {
        if self.ladder.may_be_planted && self.living.life.is_none() {
            self.ladder.clear_planted(&mut self.report);
        }
    }

    /// Tries again to write the records and state that could not be written.
    fn pay(&mut self) {
        records::pay();
        if self.owes && self.state.save(&self.house).is_ok() && self.write_published().is_ok() {
            self.owes = false;
            self.report.say("what could not be written is written now");
        }
    }

    /// Warns once that the purpose cannot be read; the status shows it until it can.
    fn look_at_purpose(&mut self) {
        let unread =
            prepare::copy_purpose(&self.house).err().map(|why| format!("{why:#}")).unwrap_or_default();
        if unread == self.report.purpose_unread {
            return;
        }
        if !unread.is_empty() {
            self.report.warn(&format!("{unread}; what it said before counts until then"));
        }
        self.report.purpose_unread = unread;
        self.publish();
    }
}
