//! Decides what the tests beside a first life come to: only passing them earns a blessing. Pure, a part of `policy`.

use crate::decide::policy::Policy;
use crate::decide::vocabulary::{Action, Blame, Cause, Exam, Examined, Phase};
use crate::limits::Limits;
use house::clock::Millis;

/// How often the tests of one tree may end without a result for no known reason: the tests could arrange that
/// themselves.
const MOST_DOUBTS: u32 = 3;
/// How often the tests of one tree may end without a result at all, four hours of it: then a tree that is trusted runs
/// until they can be run, and nobody is condemned.
const MOST_UNSURE: u32 = 24;

impl Policy {
    /// Whether the life about to begin its probation has tests to pass. In safe mode, and in place of a rollback, a
    /// life is never blessed and needs none.
    pub(crate) fn owes_exam(&self) -> bool {
        let unexamined = self.subject.as_ref().is_some_and(|subject| subject.unexamined);
        unexamined && self.record.safe.is_none() && !self.stands_in()
    }

    /// Whether the tests run; in every other state none of their processes may be left.
    pub fn examines(&self) -> bool {
        matches!(self.phase, Phase::Probation { exam: Exam::Runs { .. }, .. })
    }

    /// Starts the tests or ends overdue ones, when that is due.
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

    /// Takes the result of the tests; one that comes after its life ended, or after the tests were stopped, is
    /// ignored.
    pub(crate) fn examined(&mut self, limits: &Limits, now: Millis, outcome: Examined) -> Vec<Action> {
        let Phase::Probation { exam: exam @ Exam::Runs { .. }, .. } = &mut self.phase else { return vec![] };
        let cause = match outcome {
            Examined::Failed => Some(Cause::TestsFailed),
            Examined::Unsure(blame) => {
                *exam = Exam::Waits { until: now + limits.parked_ms };
                self.record.unsure += 1;
                self.record.doubts += u32::from(blame == Blame::Owner);
                let doubted = (self.record.doubts >= MOST_DOUBTS).then_some(Cause::TestsFailed);
                doubted.or((self.record.unsure >= MOST_UNSURE).then_some(Cause::Environment))
            }
            Examined::Passed => {
                *exam = Exam::Over;
                self.subject.iter_mut().for_each(|subject| subject.unexamined = false);
                (self.record.doubts, self.record.unsure) = (0, 0);
                return self.tick(limits, now);
            }
        };
        let Some(cause) = cause else { return vec![] };
        (self.record.doubts, self.record.unsure) = (0, 0);
        self.end_for(limits, now, cause)
    }
}
