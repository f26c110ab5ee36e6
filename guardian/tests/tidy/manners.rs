//! Manners of a file: its first line, its size, its name, and what must not stand in it.

use crate::none;
use crate::sources::{Source, functions, is_lived_in, sources};

/// Lines of a file that still fit in one look.
const FILE_LINES: usize = 400;
const FUNCTION_LINES: usize = 70;

/// Names that say nothing of what is in a file.
const BANNED: [&str; 9] =
    ["util", "utils", "common", "helper", "helpers", "misc", "manager", "managers", "imp"];

/// Built from halves, so that this file does not complain about itself.
const UNFINISHED: [&str; 3] = [concat!("to", "do!("), concat!("unimple", "mented!("), concat!("FIX", "ME")];
const MACHINES: [&str; 5] = [
    concat!("/ho", "me/"),
    concat!("/Us", "ers/"),
    concat!("/ro", "ot/"),
    concat!("/wo", "rk/"),
    concat!(":\\", "Users"),
];

/// Words with which no doc comment begins: behind them a reader waits for its subject.
const RIDDLES: [&str; 7] = ["What ", "Whatever ", "Whoever ", "Who ", "Whose ", "One ", "That which "];

#[test]
fn the_first_line_would_do_in_a_map() {
    let bad = sources().into_iter().filter(Source::is_rust).filter_map(|source| {
        let first = source.text.lines().next().unwrap_or_default();
        let sentence = first.strip_prefix("//! ").unwrap_or_default();
        let good = sentence.len() > 15 && sentence.ends_with(['.', '?']) && !sentence.starts_with(' ');
        (!good).then(|| {
            format!("{}:1: begin with `//! ` and one sentence that says what the file is for", source.path)
        })
    });
    none(bad.collect());
}

#[test]
fn a_file_fits_in_one_look() {
    let bad = sources().into_iter().filter(Source::is_rust).filter_map(|source| {
        let lines = source.text.lines().count();
        let over = format!(
            "{}:{}: {lines} lines; at most {FILE_LINES}: cut it where it has two subjects",
            source.path,
            FILE_LINES + 1
        );
        (lines > FILE_LINES).then_some(over)
    });
    none(bad.collect());
}

#[test]
fn a_function_fits_in_one_look() {
    let mut bad = Vec::new();
    for source in sources().iter().filter(|source| source.is_rust()) {
        for (line, name, length) in functions(&source.text) {
            if length > FUNCTION_LINES {
                bad.push(format!(
                    "{}:{line}: `{name}` has {length} lines; at most {FUNCTION_LINES}: name a part of it",
                    source.path
                ));
            }
        }
    }
    none(bad);
}

#[test]
fn functions_are_measured() {
    let text = "fn one() {}\n\npub(crate) async fn two<T>(\n    a: T,\n) -> T {\n    a\n}\n\ntrait T {\n    fn three(\n        &self,\n    ) -> u8;\n    fn four(&self);\n}\n";
    let found = functions(text);
    let expected = [(1, "one", 1), (3, "two", 5), (10, "three", 3), (13, "four", 1)];
    assert_eq!(found, expected.map(|(line, name, length)| (line, name.to_owned(), length)));
}

#[test]
fn names_say_what_is_inside() {
    let bad = sources()
        .into_iter()
        .filter(Source::is_rust)
        .filter(|source| source.path.split('/').any(|part| BANNED.contains(&part.trim_end_matches(".rs"))));
    none(
        bad.map(|source| format!("{}:1: this name says nothing; name it after what it does", source.path))
            .collect(),
    );
}

#[test]
fn doc_comments_begin_with_a_verb_or_a_noun() {
    let (mut bad, is_lived_in) = (Vec::new(), is_lived_in());
    let is_ours =
        |source: &&Source| source.is_production() && !(source.path.starts_with("creature/") && is_lived_in);
    for source in sources().iter().filter(is_ours) {
        let mut is_begun = false;
        for (line, text) in source.lines() {
            let said = ["///", "//!"].iter().find_map(|mark| text.trim_start().strip_prefix(mark));
            let riddle = said
                .filter(|_| !is_begun)
                .map(str::trim_start)
                .and_then(|said| RIDDLES.iter().find(|riddle| said.starts_with(**riddle)));
            if let Some(riddle) = riddle {
                bad.push(format!(
                    "{}:{line}: `{}`: begin with a verb, or a noun of the code",
                    source.path,
                    riddle.trim()
                ));
            }
            is_begun = said.is_some();
        }
    }
    none(bad);
}

#[test]
fn tests_stay_out_of_the_source() {
    let marks = ["#[test]", "#[cfg(test)]", "#[tokio::test", "#[cfg(not(test))]"];
    none(lines_with(
        Source::is_production,
        &marks,
        "no test and no knowledge of tests in src/; move it to tests/",
    ));
}

#[test]
fn nothing_is_left_unfinished() {
    let code = |source: &Source| !source.path.ends_with(".md") && !source.path.ends_with(".lock");
    none(lines_with(code, &UNFINISHED, "finish it, or open an issue and take the mark out"));
}

#[test]
fn no_machine_is_named() {
    none(lines_with(|_| true, &MACHINES, "a path of one machine; make it relative, or ask the environment"));
}

/// A complaint for each line that holds one of the marks.
pub fn lines_with(of: impl Fn(&Source) -> bool, marks: &[&str], what_to_do: &str) -> Vec<String> {
    let mut bad = Vec::new();
    for source in sources().iter().filter(|source| of(source)) {
        for (line, text) in source.lines() {
            for mark in marks.iter().filter(|mark| text.contains(**mark)) {
                bad.push(format!("{}:{line}: `{mark}`: {what_to_do}", source.path));
            }
        }
    }
    bad
}
