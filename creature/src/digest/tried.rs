//! Tools that failed more than once, and items of the agenda that ended, as a snapshot tells of them. Pure.

use super::{outcome_error, text};
use ground::text::{one_line, shorten};
use memory::Record;
use memory::kinds::failed;

/// Characters of an error.
const MOST_ERROR: usize = 90;

/// Words by which a line about a tool is known in a later snapshot.
const FAILED: &str = " failed ";

/// Calls of one tool.
struct Calls {
    tool: String,
    all: usize,
    failed: usize,
    error: String,
    /// The last call went well.
    works: bool,
}

/// Lines on tools that failed more than once, on what ended, then those of `before` on tools not used since.
pub(super) fn tried(records: &[Record], ended: &[String], before: &[String]) -> Vec<String> {
    let mut tools: Vec<Calls> = Vec::new();
    for record in records.iter().filter(|record| record.kind == "action") {
        let tool = text(&record.data, "tool");
        // The one that was used last stands last.
        let mut calls = match tools.iter().position(|calls| calls.tool == tool) {
            Some(at) => tools.remove(at),
            None => Calls { tool, all: 0, failed: 0, error: String::new(), works: true },
        };
        (calls.all, calls.works) = (calls.all + 1, !failed(record));
        if !calls.works {
            (calls.failed, calls.error) = (calls.failed + 1, outcome_error(record));
        }
        tools.push(calls);
    }
    let fresh = tools.iter().rev().filter(|calls| calls.failed > 1).map(Calls::sentence);
    let known = |line: &str| tools.iter().any(|calls| line.starts_with(&format!("- {}{FAILED}", calls.tool)));
    let old = before.iter().filter(|line| line.contains(FAILED) && !known(line)).cloned();
    fresh.chain(ended.iter().map(|said| format!("- {said}"))).chain(old).collect()
}

impl Calls {
    fn sentence(&self) -> String {
        let Self { tool, all, failed, error, works } = self;
        let error = shorten(&one_line(error), MOST_ERROR);
        let since = if *works { "it works again" } else { "it fails still" };
        format!("- {tool}{FAILED}{failed} of {all} times, the last time with \"{error}\"; {since}.")
    }
}
