//! Errors in cargo's output: the first ones whole, others in a line, every failing test by name. Pure.

use ground::text::keep_last;

/// Lines taken from the end of an output that names no error.
const MOST_LAST: usize = 100;

/// Errors and failing tests that are told in a line each.
const MOST_NAMED: usize = 300;

/// Results of a run of tests.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tests {
    pub passed: Vec<String>,
    pub failed: Vec<Failing>,
    /// Every test binary that began told its result, so that no test is missing here.
    pub whole: bool,
}

/// A test that failed, with its panic and output.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Failing {
    pub name: String,
    pub said: String,
}

impl Tests {
    pub fn failing(&self) -> Vec<&str> {
        self.failed.iter().map(|test| test.name.as_str()).collect()
    }
}

/// Reads what the tests came to: results from libtest's stdout, which binaries ran from cargo's stderr.
pub fn tests(stdout: &str, stderr: &str) -> Tests {
    let mut tests = Tests::default();
    let (mut name, mut said) = (None, Vec::new());
    let end = |tests: &mut Tests, name: &mut Option<String>, said: &mut Vec<&str>| {
        if let Some(name) = name.take() {
            tests.failed.push(Failing { name, said: said.join("\n").trim().to_owned() });
        }
        said.clear();
    };
    let mut failing = Vec::new();
    for line in stdout.lines() {
        let of = |line: &str| {
            line.strip_prefix("---- ")?.strip_suffix(" ----")?.strip_suffix(" stdout").map(str::to_owned)
        };
        if let Some(begins) = of(line) {
            end(&mut tests, &mut name, &mut said);
            name = Some(begins);
        } else if line == "failures:" || line.starts_with("test result:") {
            end(&mut tests, &mut name, &mut said);
        } else if name.is_some() {
            said.push(line);
        } else if let Some((test, came)) =
            line.strip_prefix("test ").and_then(|line| line.rsplit_once(" ... "))
        {
            match came {
                "ok" => tests.passed.push(test.to_owned()),
                "FAILED" => failing.push(test.to_owned()),
                _ => {}
            }
        }
    }
    end(&mut tests, &mut name, &mut said);
    for name in failing {
        if tests.failed.iter().all(|test| test.name != name) {
            tests.failed.push(Failing { name, said: String::new() });
        }
    }
    let begins =
        |line: &&str| ["Running ", "Doc-tests "].iter().any(|word| line.trim_start().starts_with(word));
    let begun = stderr.lines().filter(begins).count();
    let told = stdout.lines().filter(|line| line.starts_with("test result:")).count();
    tests.whole = begun == told && !stderr.contains("process didn't exit successfully");
    tests
}

/// Says why a step failed, in about `most` characters: failing tests, else compile errors, else tests that hang, else
/// the last lines; each place as the tools name it. `known` says how a test fares without the change.
pub fn wrong(stdout: &str, stderr: &str, most: usize, known: &dyn Fn(&str) -> String) -> String {
    places(&said(stdout, stderr, most, known))
}

/// The text with the places in it from the root of the house: rustc and panics name them from the workspace's.
fn places(text: &str) -> String {
    let place = |line: &str| {
        let marks = ["--> ", "::: ", "panicked at "];
        let at = marks.iter().find_map(|mark| Some(line.find(mark)? + mark.len()))?;
        let (before, path) = line.split_at_checked(at)?;
        let is_place = path.split(':').nth(1).is_some_and(|line| line.parse::<u32>().is_ok());
        let is_ours = is_place && !path.starts_with(['/', '<']) && !path.starts_with("creature/");
        is_ours.then(|| format!("{before}creature/{path}"))
    };
    let lines: Vec<String> =
        text.split('\n').map(|line| place(line).unwrap_or_else(|| line.to_owned())).collect();
    lines.join("\n")
}

fn said(stdout: &str, stderr: &str, most: usize, known: &dyn Fn(&str) -> String) -> String {
    let tests = tests(stdout, stderr);
    if !tests.failed.is_empty() {
        return failing(&tests.failed, most, known);
    }
    if let Some(text) = errors(stderr, most) {
        return text;
    }
    // A test run that was stopped at its deadline has only said which tests took long.
    from(stdout, |line| line.contains("has been running for over"))
        .or_else(|| from(stdout, |line| line.contains("panicked at")))
        .or_else(|| last(stderr))
        .or_else(|| last(stdout))
        .unwrap_or_default()
        .join("\n")
}

fn failing(failed: &[Failing], most: usize, known: &dyn Fn(&str) -> String) -> String {
    let count =
        if failed.len() == 1 { "1 test fails".to_owned() } else { format!("{} tests fail", failed.len()) };
    let mut text = format!("{count}:\n");
    for test in failed.iter().take(MOST_NAMED) {
        text += &format!("- {}: {}\n", test.name, known(&test.name));
    }
    more(&mut text, failed.len());
    let said = failed.iter().filter(|test| !test.said.is_empty());
    let whole = said.map(|test| format!("---- {} ----\n{}", test.name, test.said));
    text + &fitting(&whole.collect::<Vec<_>>(), most).0
}

/// Compile errors as rustc renders them.
fn errors(stderr: &str, most: usize) -> Option<String> {
    let mut blocks: Vec<String> = Vec::new();
    let mut open = false;
    for line in telling(stderr) {
        let begins = line.starts_with("error");
        if begins || line.starts_with("warning") {
            open = begins;
            blocks.extend(begins.then(|| line.to_owned()));
        } else if let (true, Some(block)) = (open, blocks.last_mut()) {
            block.push('\n');
            block.push_str(line);
        }
    }
    let mut seen = std::collections::BTreeSet::new();
    blocks.iter_mut().for_each(|block| block.truncate(block.trim_end().len()));
    blocks.retain(|block| seen.insert(block.clone()));
    if blocks.is_empty() {
        return None;
    }
    let (mut text, shown) = fitting(&blocks, most);
    let rest = blocks.get(shown..).unwrap_or_default();
    for block in rest.iter().take(MOST_NAMED) {
        let place = block.lines().find_map(|line| line.trim_start().strip_prefix("--> "));
        let place = place.map_or(String::new(), |place| format!(" --> {place}"));
        text += &format!("\n{}{place}", block.lines().next().unwrap_or_default());
    }
    if rest.len() > MOST_NAMED {
        text.push('\n');
        more(&mut text, rest.len());
    }
    Some(text)
}

/// The first blocks that fit, whole, and how many they are; of a first one that is too long, its first lines.
fn fitting(blocks: &[String], most: usize) -> (String, usize) {
    let (mut text, mut shown) = (String::new(), 0);
    for block in blocks {
        let room = most.saturating_sub(text.chars().count());
        let fits = block.chars().count() <= room;
        if !fits && shown > 0 {
            break;
        }
        let mut left = room;
        let lines = block.lines().take_while(|line| {
            let takes = line.chars().count() + 1;
            let first = left == room;
            left = left.saturating_sub(takes);
            first || left > 0
        });
        let block = if fits { block.clone() } else { lines.collect::<Vec<_>>().join("\n") + "\n…" };
        text += &format!("{}{block}", if shown > 0 { "\n" } else { "" });
        shown += 1;
    }
    (text, shown)
}

fn more(text: &mut String, all: usize) {
    if all > MOST_NAMED {
        *text += &format!("and {} more\n", all - MOST_NAMED);
    }
}

fn from(text: &str, begins: impl Fn(&str) -> bool) -> Option<Vec<&str>> {
    let lines: Vec<&str> = telling(text).skip_while(|line| !begins(line)).collect();
    Some(lines).filter(|lines| !lines.is_empty())
}

fn last(text: &str) -> Option<Vec<&str>> {
    let mut lines: Vec<&str> = telling(text).collect();
    keep_last(&mut lines, MOST_LAST);
    Some(lines).filter(|lines| !lines.is_empty())
}

fn telling(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter(|line| !progress(line))
}

/// Whether a line is cargo's progress or a JSON message, which say nothing about what is wrong.
fn progress(line: &str) -> bool {
    let words = [
        "Compiling",
        "Checking",
        "Downloading",
        "Downloaded",
        "Updating",
        "Locking",
        "Blocking",
        "Adding",
        "Finished",
    ];
    let bare = line.trim_start();
    line.starts_with("{\"reason\"")
        || words.iter().any(|word| bare.strip_prefix(word).is_some_and(|rest| rest.starts_with(' ')))
}
