//! The tests beside a new commit's first life: started behind a build's walls, read when they end, failed ones run once more.
//!
//! Invariant: the exit status decides; the output only names which tests failed. Nothing here waits for the tests.

use crate::act::quotas;
use crate::act::state::Shortfall;
use crate::act::walled::Walled;
use crate::decide::blame::{self, Answer, Control, Evidence, Failure, Judgement};
use crate::decide::vocabulary::Blame;
use crate::limits::Limits;
use anyhow::{Context, Result};
use house::bounds::{NAME_CHARS, brief};
use house::clock::Millis;
use house::printable::flat;
use house::{House, files};
use nix::sys::wait::WaitStatus;
use processes::child::{Door, Tree};
use processes::exits::{describe, memory_kills, signal};
use processes::made::cargo_args;
use std::io::Write;
use tracing::Span;

/// How the names of the tests that count begin.
const TESTS: &str = "probation::";
/// Most failed tests that are run once more; with more of them the run has failed.
const MOST_NAMES: usize = 100;
const TOLD_NAMES: usize = 3;
/// Bytes read of the end of a run's output.
const MOST_BYTES: u64 = 4 << 20;

/// A run of `cargo test`.
pub struct Exam {
    pub tree: Tree,
    /// Stands at the lines of the log that are about it.
    pub span: Span,
    /// When the first run began.
    pub since: Millis,
    memory_kills: u64,
    /// Least free space seen, in MiB.
    free_mib: u64,
    /// Where the output of this run begins in the log.
    from: u64,
    /// Tests that failed in the run before and are run once more.
    pub again: Vec<String>,
    run: Run,
    /// Bytes of the log when it was last looked at for tests that failed.
    looked: u64,
}

/// A run of all tests is ended at its first that fails, which is then run once more; if that passes, all run again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Run {
    /// Run of all tests, ended at the first that fails.
    ToTheFirst,
    /// Run of those that failed, before the others were seen to pass.
    OfTheFirst,
    /// Run of all tests, to its end.
    ToTheEnd,
    /// Run of those that failed in `ToTheEnd`.
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
pub fn list(names: &[String]) -> String {
    let told: Vec<&str> = names.iter().take(TOLD_NAMES).map(String::as_str).collect();
    match names.len() - told.len() {
        0 => told.join(", "),
        1 => format!("{} and 1 other", told.join(", ")),
        more => format!("{} and {more} others", told.join(", ")),
    }
}

impl Exam {
    /// Starts a run of all tests, or once more of those that failed.
    pub fn start(
        house: &House,
        walled: &Walled,
        broker: Option<Door>,
        run: Run,
        again: Vec<String>,
        since: Millis,
    ) -> Result<Self> {
        let path = house.exam_log();
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
        let (outputs, memory_kills) = ((log.try_clone()?, log), memory_kills());
        let tree = walled.cargo(house, broker, (args, extra), outputs)?;
        let span = tracing::debug_span!("exam", ?run, tests = list(&again));
        tracing::debug!(parent: &span, "the tests begin");
        Ok(Self { tree, span, since, memory_kills, free_mib: u64::MAX, from, again, run, looked: from })
    }

    /// Judges the run by its end and its output.
    pub fn shown(&self, house: &House, limits: &Limits, status: WaitStatus) -> Shown {
        let text = self.said(house);
        let measured = Evidence {
            signal: signal(status),
            memory_kills: memory_kills().saturating_sub(self.memory_kills),
            free_mib: self.free_mib.min(quotas::tried_mib(house)),
            floor_mib: limits.disk_free_mib,
            ..Evidence::default()
        };
        let shown = read(status, &text, measured);
        // The last run passes only if each test is named as passed: a name that matches no test runs nothing, and
        // succeeds. After a run that was ended early, the run of all tests decides: its words may have been forged.
        let passed = named(&text, "ok");
        if self.run == Run::OfTheRest
            && shown == Shown::Passed
            && !self.again.iter().all(|name| passed.contains(name))
        {
            return Shown::Failed(self.again.clone(), list(&self.again));
        }
        shown
    }

    /// Returns the next run and its tests, by the outcome of this one; `None` where that decides.
    pub fn next(&self, shown: &Shown) -> Option<(Run, Vec<String>)> {
        match (shown, self.run) {
            (Shown::Failed(names, _), Run::ToTheFirst) if is_few(names) => {
                Some((Run::OfTheFirst, names.clone()))
            }
            (Shown::Failed(names, _), Run::ToTheEnd) if is_few(names) => {
                Some((Run::OfTheRest, names.clone()))
            }
            (Shown::Passed, Run::OfTheFirst) => Some((Run::ToTheEnd, self.again.clone())),
            _ => None,
        }
    }

    /// Tests that failed by now, of a run that ends at the first of them; looked for where its log has grown.
    pub fn failed_by_now(&mut self, house: &House) -> Vec<String> {
        let bytes = files::mark(&house.exam_log()).map_or(0, |mark| mark.bytes);
        if self.run != Run::ToTheFirst || std::mem::replace(&mut self.looked, bytes) == bytes {
            return vec![];
        }
        Some(named(&self.said(house), "FAILED")).filter(|names| is_few(names)).unwrap_or_default()
    }

    /// Notes the free space.
    pub fn follow(&mut self, house: &House) {
        self.free_mib = self.free_mib.min(quotas::free_mib(house));
    }

    /// The output of this run, its end if it is long.
    pub fn said(&self, house: &House) -> String {
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
