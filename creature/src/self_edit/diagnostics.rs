//! What of cargo's output says what is wrong, whole. Pure.

/// Lines taken from the end of an output that names no error.
const MOST_LAST: usize = 100;

/// All from the first failing test on, else from the first compile error on, else the tests that hang, else the last lines.
pub fn wrong(stdout: &str, stderr: &str) -> String {
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
    lines.join("\n")
}

fn from(text: &str, begins: impl Fn(&str) -> bool) -> Option<Vec<&str>> {
    let lines: Vec<&str> = text.lines().filter(|line| !progress(line)).collect();
    let start = lines.iter().position(|line| begins(line))?;
    Some(lines.into_iter().skip(start).collect())
}

fn last(text: &str) -> Option<Vec<&str>> {
    let lines: Vec<&str> = text.lines().filter(|line| !progress(line)).collect();
    let start = lines.len().saturating_sub(MOST_LAST);
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
