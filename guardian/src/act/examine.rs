//! Examines a new commit beside its first life: starts its tests, goes on from what they show, and notes how they ended.

use crate::act::exam::{Exam, Run, Shown, list};
use crate::act::executor::Executor;
use crate::act::state::Shortfall;
use crate::decide::vocabulary::{Blame, Event, Examined};
use crate::limits::LOG_TAIL_BYTES;
use house::bounds::{TOLD_CHARS, brief};
use house::clock::Millis;
use house::moments::span;
use house::{files, records};
use nix::sys::wait::WaitStatus;
use processes::exits::describe;
use serde_json::json;
use std::time::Duration;

impl Executor {
    pub fn examine(&mut self) -> Option<Event> {
        let unsure = self.run_exam(Run::ToTheFirst, vec![], self.around.now());
        if unsure.is_none() {
            self.around.report.say("its tests run beside this life; it is trusted once they passed");
            self.around.is_news = true;
        }
        unsure
    }

    /// Begins a run; where it cannot be started, the tests came to nothing.
    fn run_exam(&mut self, run: Run, again: Vec<String>, since: Millis) -> Option<Event> {
        let house = &self.around.house;
        let door = self.daemons.door(house, None);
        match door.and_then(|door| Exam::start(house, &self.living.walled, door, run, again, since)) {
            Ok(exam) => {
                self.builder.exam = Some(exam);
                None
            }
            Err(error) => {
                let outcome = Examined::Unsure(Blame::Toolchain);
                Some(self.examined(since, outcome, &format!("could not be run: {error:#}")))
            }
        }
    }

    /// Ends a run at its first test that fails, and runs that once more: a self that fails it again falls at once.
    pub fn look_at_exam(&mut self) {
        let Some(exam) = &mut self.builder.exam else { return };
        let names = exam.failed_by_now(&self.around.house);
        if !names.is_empty()
            && let Some(exam) = self.end_exam()
        {
            let unsure = self.run_exam(Run::OfTheFirst, names, exam.since);
            self.heard.extend(unsure);
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
        let most = span(Duration::from_millis(self.around.limits.build_ms));
        Some(self.examined(exam.since, Examined::Failed, &format!("did not end within {most}")))
    }

    pub fn exam_ended(&mut self, mut exam: Exam, status: WaitStatus) {
        let _about = exam.span.clone().entered();
        let status = exam.tree.outcome(status);
        self.finish_beside(&exam.tree);
        exam.follow(&self.around.house);
        let (shown, cause) = match self.ladder.dirty() {
            Ok(dirty) if dirty.is_empty() => {
                (exam.shown(&self.around.house, &self.around.limits, status), describe(status))
            }
            Err(_) => (Shown::Unsure(Blame::Suspended), "the owner wanted something".into()),
            // It is unknown which source was tested.
            Ok(_) => (Shown::Unsure(Blame::Owner), "creature/ is not as it was committed".into()),
        };
        if let Some((run, names)) = exam.next(&shown) {
            let unsure = self.run_exam(run, names, exam.since);
            return self.heard.extend(unsure);
        }
        let (outcome, told) = match shown {
            Shown::Failed(_, told) => (Examined::Failed, format!("failed: {told}")),
            Shown::Unsure(blame) => {
                let blamed = json!(blame);
                let blamed = blamed.as_str().unwrap_or_default();
                (Examined::Unsure(blame), format!("came to nothing: {cause}; blamed on {blamed}"))
            }
            Shown::Passed if exam.again.is_empty() => (Examined::Passed, "passed".into()),
            Shown::Passed => (Examined::Passed, format!("passed, flaky: {}", list(&exam.again))),
        };
        let event = self.examined(exam.since, outcome, &told);
        self.heard.push_back(event);
    }

    /// Notes how the tests ended; returns the event for the policy.
    fn examined(&mut self, since: Millis, outcome: Examined, told: &str) -> Event {
        let around = &mut self.around;
        let lived = Duration::from_millis(around.now().saturating_sub(since));
        let why = brief(told, TOLD_CHARS);
        let told = format!("the tests of life {} {why}, after {}", around.state.life, span(lived));
        let word = match outcome {
            Examined::Passed => "passed",
            Examined::Failed => "failed",
            Examined::Unsure(_) => "unsure",
        };
        if outcome == Examined::Passed {
            around.report.say(&told);
            (around.state.unexamined, around.state.exam) = (None, Shortfall::default());
            if let Err(error) = self.daemons.own.broker.tokens.proven(&around.house) {
                around.report.warn(&format!("{error:#}; this life may not act yet"));
            }
        } else {
            around.report.warn(&told);
            let evidence = files::tail(&around.house.exam_log(), LOG_TAIL_BYTES);
            around.state.exam = Shortfall { why: why.clone(), evidence };
        }
        // Saved before it is recorded: after a kill, tests that passed are not run again.
        around.save();
        around.is_news = true;
        records::tell(
            &around.house,
            "examined",
            json!({"life": around.state.life, "commit": around.state.commit, "outcome": word, "told": why, "seconds": lived.as_secs_f64()}),
        );
        Event::Examined(outcome)
    }
}
