//! The first lines of cargo's output that say what is wrong. Pure.

const MOST_LINES: usize = 20;

/// Longest line passed on, in characters; a type error's line can be thousands.
const MOST_CHARS: usize = 300;

/// The first failing test's words, else the first compile error, else the tests that hang, else the last lines there are.
pub fn first(stdout: &str, stderr: &str) -> String {
    let failed_test = from(stdout, |line| line.starts_with("---- ") || line.contains("panicked at"));
    let error = from(stderr, |line| line.starts_with("error"));
    let lines = match (error, failed_test) {
        // A failed test run ends its stderr with an error that only says so.
        (_, Some(lines)) => lines,
        (Some(lines), None) => lines,
        // Stopped at its deadline, a test run has said no more than which tests took long.
        (None, None) => from(stdout, |line| line.contains("has been running for over"))
            .or_else(|| last(stderr))
            .or_else(|| last(stdout))
            .unwrap_or_default(),
    };
    let cut = |line: &&str| -> String { line.chars().take(MOST_CHARS).collect() };
    lines.iter().map(cut).collect::<Vec<_>>().join("\n")
}

fn from(text: &str, begins: impl Fn(&str) -> bool) -> Option<Vec<&str>> {
    let lines: Vec<&str> = text.lines().filter(|line| !progress(line)).collect();
    let start = lines.iter().position(|line| begins(line))?;
    Some(lines.into_iter().skip(start).take(MOST_LINES).collect())
}

fn last(text: &str) -> Option<Vec<&str>> {
    let lines: Vec<&str> = text.lines().filter(|line| !progress(line)).collect();
    let start = lines.len().saturating_sub(MOST_LINES);
    lines.get(start..).filter(|lines| !lines.is_empty()).map(<[&str]>::to_vec)
}

/// Cargo's own progress and its JSON messages say nothing about what is wrong.
fn progress(line: &str) -> bool {
    let words =
        ["Compiling", "Downloading", "Downloaded", "Updating", "Locking", "Blocking", "Adding", "Finished"];
    let bare = line.trim_start();
    line.starts_with("{\"reason\"")
        || words.iter().any(|word| bare.strip_prefix(word).is_some_and(|rest| rest.starts_with(' ')))
}
