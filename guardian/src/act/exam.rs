//! The tests beside a new commit's first life: started behind a build's walls, read when they end, failed ones run once more.
//!
//! Invariant: the exit status decides; the output only names which tests failed. Nothing here waits for the tests.

use crate::act::build::{cargo, cargo_args};
use crate::act::executor::Executor;
use crate::act::quotas;
use crate::act::state::Shortfall;
use crate::decide::blame::{self, Answer, Control, Evidence, Failure, Judgement};
use crate::decide::vocabulary::{Blame, Event, Examined};
use crate::limits::LOG_TAIL_BYTES;
use crate::processes::child::{self, Occupant, Start, Tree};
use crate::processes::exits::{describe, memory_kills, signal};
use crate::processes::granted::Granted;
use anyhow::{Context, Result};
use house::bounds::{NAME_CHARS, TOLD_CHARS, brief};
use house::clock::Millis;
use house::interrupt::Interrupted;
use house::moments::span;
use house::printable::flat;
use house::{House, files, records};
use nix::sys::wait::WaitStatus;
use serde_json::json;
use std::io::Write;
use std::time::Duration;

/// How the names of the tests that count begin.
const TESTS: &str = "probation::";
/// Most failed tests that are run once more; with more of them the run has failed.
const MOST_NAMES: usize = 100;
const TOLD_NAMES: usize = 3;
/// Bytes read of the end of a run's output.
const MOST_BYTES: u64 = 4 << 20;

/// One run of `cargo test`.
pub struct Exam {
    pub tree: Tree,
    /// When the first run began.
    since: Millis,
    memory_kills: u64,
    /// Least free space seen, in MiB.
    free_mib: u64,
    /// Where the output of this run begins in the log.
    from: u64,
    /// Tests that failed in the run before and are run once more.
    again: Vec<String>,
    run: Run,
    /// Bytes of the log when it was last looked at for tests that failed.
    looked: u64,
}

/// A run of all tests is ended at its first that fails, which is then run once more; if that passes, all run again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Run {
    /// Of all tests, ended at the first that fails.
    ToTheFirst,
    /// Of those that failed, before the others were seen to pass.
    OfTheFirst,
    /// Of all tests, to its end.
    ToTheEnd,
    /// Of those that failed in it.
    OfTheRest,
}

/// The outcome of a run.
#[derive(Debug, PartialEq)]
pub enum Shown {
    Passed,
    /// Names of the failed tests, and a sentence for people.
    Failed(Vec<String>, String),
    Unsure(Blame),
}

/// Judges a run like a failed build whose tools are known to work, since cargo compiled the tests or rejected them.
pub fn read(status: WaitStatus, text: &str, measured: Evidence) -> Shown {
    if matches!(status, WaitStatus::Exited(_, 0)) {
        return Shown::Passed;
    }
    let (says_full, answers) = (blame::says_full(text), [(Control::Tools, Answer::Yes)].into());
    let failure = Failure { measured, began: true, says_full, answers, ..Failure::default() };
    match blame::build(&failure) {
        Judgement::Blamed(Blame::Code) | Judgement::Ask(_) => {}
        Judgement::Blamed(other) => return Shown::Unsure(other),
    }
    let names = named(text, "FAILED");
    let errors: Vec<&str> = text.lines().filter(|line| line.starts_with("error")).take(TOLD_NAMES).collect();
    let told = match (names.is_empty(), errors.is_empty()) {
        (false, _) => list(&names),
        (true, false) => brief(&flat(&errors.join("; ")), NAME_CHARS),
        (true, true) => describe(status),
    };
    Shown::Failed(names, told)
}

/// Names of tests with this verdict in the test harness's output, each once; text that cannot be a test's name is
/// skipped.
pub fn named(text: &str, verdict: &str) -> Vec<String> {
    let mut names = Vec::new();
    for line in text.lines() {
        let Some((name, said)) = line.strip_prefix("test ").and_then(|rest| rest.split_once(" ... ")) else {
            continue;
        };
        let name = name.strip_suffix(" - should panic").unwrap_or(name);
        let is_name = name.contains(TESTS) && name.len() <= NAME_CHARS;
        let is_name = is_name && name.chars().all(|letter| letter.is_alphanumeric() || "_:".contains(letter));
        if is_name
            && said.trim_end() == verdict
            && names.len() <= MOST_NAMES
            && !names.iter().any(|it| it == name)
        {
            names.push(name.to_owned());
        }
    }
    names
}

fn is_few(names: &[String]) -> bool {
    (1..=MOST_NAMES).contains(&names.len())
}

/// The first few names, and how many more there are.
fn list(names: &[String]) -> String {
    let told: Vec<&str> = names.iter().take(TOLD_NAMES).map(String::as_str).collect();
    match names.len() - told.len() {
        0 => told.join(", "),
        1 => format!("{} and 1 other", told.join(", ")),
        more => format!("{} and {more} others", told.join(", ")),
    }
}

impl Exam {
    /// Notes the free space.
    pub fn follow(&mut self, house: &House) {
        self.free_mib = self.free_mib.min(quotas::free_mib(house));
    }

    /// The output of this run, its end if it is long.
    fn said(&self, house: &House) -> String {
        let bytes = files::mark(&house.exam_log()).map_or(0, |mark| mark.bytes);
        // A log that was cut meanwhile is shorter than `from`: read it whole.
        files::tail(&house.exam_log(), bytes.checked_sub(self.from).unwrap_or(bytes).min(MOST_BYTES))
    }
}

impl Shortfall {
    /// The end of a sentence about a rollback.
    pub fn told(&self) -> String {
        format!("since its tests {}", if self.why.is_empty() { "failed" } else { &self.why })
    }
}

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
        let path = self.house.exam_log();
        let of_all = matches!(run, Run::ToTheFirst | Run::ToTheEnd);
        if run == Run::ToTheFirst {
            files::create(&path).with_context(|| format!("failed to create {}", path.display()))?;
        }
        let mut log = files::append(&path)?;
        if run != Run::ToTheFirst {
            let named = if of_all { "all of them".to_owned() } else { list(&again) };
            writeln!(log, "\nguardian: once more: {named}").context("failed to write the log of tests")?;
        }
        let from = log.metadata()?.len();
        let mut args = cargo_args("test");
        args.extend(["--no-fail-fast", "--"].map(str::to_owned));
        if of_all {
            args.push(TESTS.into());
        } else {
            args.push("--exact".into());
            args.extend(again.iter().cloned());
        }
        let extra = [
            ("RUST_TEST_THREADS", "4"),
            ("RUST_BACKTRACE", "0"),
            ("PROPTEST_RNG_SEED", "1"),
            // Otherwise proptest would write a failure into the sources.
            ("PROPTEST_DISABLE_FAILURE_PERSISTENCE", "true"),
        ];
        let extra = extra.map(|(name, value)| (name, value.to_owned())).to_vec();
        let (occupant, walls, broker) = (Occupant::Build, &self.walls, self.daemons.door(&self.house, None)?);
        let (stdout, memory_kills, granted) = (log.try_clone()?, memory_kills(), Granted::default());
        let start =
            Start { occupant, program: cargo(), args, extra, walls, granted, broker, stdout, stderr: log };
        let tree = child::start(&self.house, &self.bond, start)?;
        self.exam =
            Some(Exam { tree, since, memory_kills, free_mib: u64::MAX, from, again, run, looked: from });
        Ok(())
    }

    /// Ends a run at its first test that fails, and runs that once more: a self that fails it again falls at once.
    pub fn look_at_exam(&mut self) {
        let Some(exam) = self.exam.as_mut().filter(|exam| exam.run == Run::ToTheFirst) else { return };
        let bytes = files::mark(&self.house.exam_log()).map_or(0, |mark| mark.bytes);
        if std::mem::replace(&mut exam.looked, bytes) == bytes {
            return;
        }
        let names = named(&exam.said(&self.house), "FAILED");
        if names.is_empty() || names.len() > MOST_NAMES {
            return;
        }
        let Some(exam) = self.end_exam() else { return };
        if let Err(error) = self.start_exam(Run::OfTheFirst, names, exam.since) {
            self.note_exam(
                exam.since,
                Examined::Unsure(Blame::Toolchain),
                format!("cannot go on: {error:#}"),
            );
            self.hear(Event::Examined(Examined::Unsure(Blame::Toolchain)));
        }
    }

    /// Ends the tests of a life that is over or about to be ended.
    pub fn end_exam(&mut self) -> Option<Exam> {
        let exam = self.exam.take()?;
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
        let (shown, cause) = match self.version.map(|version| self.repo.is_at(version)) {
            Some(Ok(true)) => (self.read_exam(&exam, status, &text), describe(status)),
            Some(Err(error)) if error.is::<Interrupted>() => {
                (Shown::Unsure(Blame::Suspended), "the owner wanted something".into())
            }
            // It is unknown which source was tested.
            _ => (Shown::Unsure(Blame::Owner), "creature/ is not as it was committed".into()),
        };
        let next = match (&shown, exam.run) {
            (Shown::Failed(names, _), Run::ToTheFirst) if is_few(names) => {
                Some((Run::OfTheFirst, names.clone()))
            }
            (Shown::Failed(names, _), Run::ToTheEnd) if is_few(names) => {
                Some((Run::OfTheRest, names.clone()))
            }
            (Shown::Passed, Run::OfTheFirst) => Some((Run::ToTheEnd, exam.again.clone())),
            _ => None,
        };
        let next = next.map(|(run, names)| self.start_exam(run, names, exam.since));
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

    fn read_exam(&self, exam: &Exam, status: WaitStatus, text: &str) -> Shown {
        let measured = Evidence {
            signal: signal(status),
            memory_kills: memory_kills().saturating_sub(exam.memory_kills),
            free_mib: exam.free_mib.min(quotas::tried_mib(&self.house)),
            floor_mib: self.limits.disk_free_mib,
            ..Evidence::default()
        };
        let shown = read(status, text, measured);
        // The last run passes only if each test is named as passed: a name that matches no test runs nothing, and
        // succeeds. After a run that was ended early, the run of all tests decides: its words may have been forged.
        let passed = named(text, "ok");
        if exam.run == Run::OfTheRest
            && shown == Shown::Passed
            && !exam.again.iter().all(|name| passed.contains(name))
        {
            return Shown::Failed(exam.again.clone(), list(&exam.again));
        }
        shown
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
