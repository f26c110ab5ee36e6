//! Decides what the tests beside a newborn come to: without them green there is no blessing. Pure, a part of `policy`.

use crate::decide::policy::Policy;
use crate::decide::vocabulary::{Action, Blame, Cause, Exam, Examined, Phase};
use crate::limits::Limits;
use house::clock::Millis;

/// So often the tests of one tree may come to no end that the machine explains: they might see to that themselves.
const MOST_DOUBTS: u32 = 3;

impl Policy {
    /// Whether the life about to be on probation has tests to pass: in safe mode, and where it only stands in, it is not
    /// blessed anyway.
    pub(crate) fn owes_exam(&self) -> bool {
        let unexamined = self.subject.as_ref().is_some_and(|subject| subject.unexamined);
        unexamined && self.record.safe.is_none() && !self.stands_in()
    }

    /// Whether its tests run: nothing of them may be left where they do not.
    pub fn examines(&self) -> bool {
        matches!(self.phase, Phase::Probation { exam: Exam::Runs { .. }, .. })
    }

    /// What is due of them, if anything is.
    pub(crate) fn examine_in_time(&mut self, limits: &Limits, now: Millis) -> Vec<Action> {
        let Phase::Probation { exam, .. } = &mut self.phase else { return vec![] };
        match *exam {
            Exam::Runs { since } if now >= since + limits.build_ms => vec![Action::StopExam],
            Exam::Waits { until } if now >= until => {
                *exam = Exam::Runs { since: now };
                vec![Action::Examine]
            }
            Exam::Runs { .. } | Exam::Waits { .. } | Exam::Over => vec![],
        }
    }

    /// An answer that comes after its life, or after it was stopped, says nothing any more.
    pub(crate) fn examined(&mut self, limits: &Limits, now: Millis, outcome: Examined) -> Vec<Action> {
        let Phase::Probation { exam: exam @ Exam::Runs { .. }, .. } = &mut self.phase else { return vec![] };
        let failed = match outcome {
            Examined::Failed => true,
            Examined::Unsure(blame) => {
                *exam = Exam::Waits { until: now + limits.parked_ms };
                self.record.doubts += u32::from(blame == Blame::Owner);
                self.record.doubts >= MOST_DOUBTS
            }
            Examined::Passed => {
                *exam = Exam::Over;
                self.subject.iter_mut().for_each(|subject| subject.unexamined = false);
                self.record.doubts = 0;
                return self.tick(limits, now);
            }
        };
        if !failed {
            return vec![];
        }
        self.record.doubts = 0;
        self.end_for(limits, now, Cause::TestsFailed)
    }
}
