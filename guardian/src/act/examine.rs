//! Examines a new commit beside its first life: starts its tests, goes on from what they show, and notes how they ended.

use crate::act::exam::{Exam, Run, Shown, list};
use crate::act::executor::Executor;
use crate::act::state::Shortfall;
use crate::decide::vocabulary::{Blame, Event, Examined};
use crate::limits::LOG_TAIL_BYTES;
use anyhow::Result;
use house::bounds::{TOLD_CHARS, brief};
use house::clock::Millis;
use house::interrupt::Interrupted;
use house::moments::span;
use house::{files, records};
use nix::sys::wait::WaitStatus;
use processes::exits::describe;
use serde_json::json;
use std::time::Duration;

impl Executor {
    pub fn examine(&mut self) -> Option<Event> {
        if let Err(error) = self.start_exam(Run::ToTheFirst, vec![], self.clock.now()) {
            self.report.warn(&format!("{error:#}; the tests of this life run later"));
            self.state.exam =
                Shortfall { why: format!("could not be run: {error:#}"), ..Shortfall::default() };
            return Some(Event::Examined(Examined::Unsure(Blame::Toolchain)));
        }
        self.report.say("its tests run beside this life; it is trusted once they passed");
        self.publish();
        None
    }

    fn start_exam(&mut self, run: Run, again: Vec<String>, since: Millis) -> Result<()> {
        let door = self.daemons.door(&self.house, None)?;
        self.builder.exam = Some(Exam::start(&self.house, &self.living, door, run, again, since)?);
        Ok(())
    }

    /// Ends a run at its first test that fails, and runs that once more: a self that fails it again falls at once.
    pub fn look_at_exam(&mut self) {
        let names =
            self.builder.exam.as_mut().map(|exam| exam.failed_by_now(&self.house)).unwrap_or_default();
        if names.is_empty() {
            return;
        }
        let Some(exam) = self.end_exam() else { return };
        if let Err(error) = self.start_exam(Run::OfTheFirst, names, exam.since) {
            let outcome = Examined::Unsure(Blame::Toolchain);
            self.note_exam(exam.since, outcome, format!("cannot go on: {error:#}"));
            self.hear(Event::Examined(outcome));
        }
    }

    /// Ends the tests of a life that is over or about to be ended.
    pub fn end_exam(&mut self) -> Option<Exam> {
        let exam = self.builder.exam.take()?;
        self.end_beside(&exam.tree);
        Some(exam)
    }

    pub fn stop_exam(&mut self) -> Option<Event> {
        let exam = self.end_exam()?;
        let most = span(Duration::from_millis(self.limits.build_ms));
        self.note_exam(exam.since, Examined::Failed, format!("did not end within {most}"));
        Some(Event::Examined(Examined::Failed))
    }

    pub fn exam_ended(&mut self, mut exam: Exam, status: WaitStatus) {
        let status = exam.tree.outcome(status);
        self.finish_beside(&exam.tree);
        exam.follow(&self.house);
        let text = exam.said(&self.house);
        let (shown, cause) = match self.ladder.version.map(|version| self.ladder.repo.is_at(version)) {
            Some(Ok(true)) => (exam.shown(&self.house, &self.limits, status, &text), describe(status)),
            Some(Err(error)) if error.is::<Interrupted>() => {
                (Shown::Unsure(Blame::Suspended), "the owner wanted something".into())
            }
            // It is unknown which source was tested.
            _ => (Shown::Unsure(Blame::Owner), "creature/ is not as it was committed".into()),
        };
        let next = exam.next(&shown).map(|(run, names)| self.start_exam(run, names, exam.since));
        let (outcome, told) = match (next, shown) {
            (Some(Ok(())), _) => return,
            (Some(Err(error)), _) => (Examined::Unsure(Blame::Toolchain), format!("cannot go on: {error:#}")),
            (None, Shown::Failed(_, told)) => (Examined::Failed, format!("failed: {told}")),
            (None, Shown::Unsure(blame)) => {
                let blamed = json!(blame);
                let blamed = blamed.as_str().unwrap_or_default();
                (Examined::Unsure(blame), format!("came to nothing: {cause}; blamed on {blamed}"))
            }
            (None, Shown::Passed) if exam.again.is_empty() => (Examined::Passed, "passed".into()),
            (None, Shown::Passed) => (Examined::Passed, format!("passed, flaky: {}", list(&exam.again))),
        };
        self.note_exam(exam.since, outcome, told);
        self.hear(Event::Examined(outcome));
        self.publish();
    }

    fn note_exam(&mut self, since: Millis, outcome: Examined, told: String) {
        let lived = Duration::from_millis(self.clock.now().saturating_sub(since));
        let word = match outcome {
            Examined::Passed => "passed",
            Examined::Failed => "failed",
            Examined::Unsure(_) => "unsure",
        };
        let why = brief(&told, TOLD_CHARS);
        let told = format!("the tests of life {} {why}, after {}", self.state.life, span(lived));
        if outcome == Examined::Passed {
            self.report.say(&told);
            (self.state.unexamined, self.state.exam) = (None, Shortfall::default());
        } else {
            self.report.warn(&told);
            let evidence = files::tail(&self.house.exam_log(), LOG_TAIL_BYTES);
            self.state.exam = Shortfall { why: why.clone(), evidence };
        }
        if outcome == Examined::Passed
            && let Err(error) = self.daemons.own.broker.tokens.proven(&self.house)
        {
            self.report.warn(&format!("{error:#}; this life may not act yet"));
        }
        // Saved before it is recorded: after a kill, tests that passed are not run again.
        self.save();
        records::tell(
            &self.house,
            "examined",
            json!({"life": self.state.life, "commit": self.state.commit, "outcome": word, "told": why, "seconds": lived.as_secs_f64()}),
        );
    }
}
