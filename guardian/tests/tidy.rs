//! The manners of both workspaces as a test: every complaint names a file, a line and what to do.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    clippy::indexing_slicing,
    clippy::wildcard_enum_match_arm
)]

mod sources;

use sources::{Source, dependencies, functions, plain, root, sources, written_down};
use std::path::Path;

/// Lines of a file that still fit in one look.
const FILE_LINES: usize = 400;
const FUNCTION_LINES: usize = 70;
const ORDERS_LINES: usize = 40;

/// Names that say nothing of what is in a file.
const BANNED: [&str; 9] =
    ["util", "utils", "common", "helper", "helpers", "misc", "manager", "managers", "imp"];

/// What, the aim, the ceiling, whose files.
type Total = (&'static str, usize, usize, fn(&str) -> bool);

/// Total lines of source: what, what the plan aims at, the ceiling, and whose they are. A ceiling stands just above
/// what is there, so that growth is a decision: raise it in the change that needs it, lower it after a cut.
const TOTALS: [Total; 4] = [
    ("guardian", 2_500, 14_010, |path| path.starts_with("guardian/src/")),
    ("guardian's core", 1_500, 1_650, |path| {
        ["policy", "run", "child", "repo", "heartbeat", "state"]
            .iter()
            .any(|name| path == format!("guardian/src/{name}.rs"))
    }),
    // The plan set no aim for it; this is what it took.
    ("broker", 10_000, 12_830, |path| path.starts_with("broker/src/")),
    // Time of its own, a secretary without a model, and looking at itself took five thousand.
    ("creature", 6_000, 34_900, |path| path.starts_with("creature/") && path.contains("/src/")),
];

/// Stands in for the providers of models, knows nothing of the creature, and so serves the tests of the whole too.
const FAITHFUL: &str = "creature/tests/faithful/mod.rs";

/// All that the guardian may stand on: no async, no network, no model. The last two are for the walls.
const GUARDIAN_NEEDS: &str = "anyhow fs2 git2 jiff lexopt libc libgit2-sys nix serde serde_json sha2 signal-hook toml \
    tracing tracing-subscriber unicode-width landlock seccompiler";
const GUARDIAN_TESTS_NEED: &str = "nix tempfile tiny_http";

/// Built from halves, so that this file does not complain about itself.
const UNFINISHED: [&str; 3] = [concat!("to", "do!("), concat!("unimple", "mented!("), concat!("FIX", "ME")];
const MACHINES: [&str; 5] = [
    concat!("/ho", "me/"),
    concat!("/Us", "ers/"),
    concat!("/ro", "ot/"),
    concat!("/wo", "rk/"),
    concat!(":\\", "Users"),
];

#[track_caller]
fn none(complaints: Vec<String>) {
    assert!(complaints.is_empty(), "{} to mend:\n{}", complaints.len(), complaints.join("\n"));
}

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
fn tests_stay_out_of_the_source() {
    let marks = ["#[test]", "#[cfg(test)]", "#[tokio::test", "#[cfg(not(test))]"];
    none(lines_with(
        Source::is_production,
        &marks,
        "no test and no knowledge of tests in src/; move it to tests/",
    ));
}

/// Text of the creature's must not come to a terminal as it is: all that is printed passes one door, which sees to it.
#[test]
fn the_guardian_prints_by_one_door() {
    let door = "guardian/src/terminal.rs";
    let of = |source: &Source| source.path.starts_with("guardian/src/") && source.path != door;
    let marks = ["println!", "print!(", "eprint!(", "dbg!(", "::stdout(", "::stderr", "/dev/tty"];
    none(lines_with(of, &marks, "print it by `terminal`, which takes out what steers one"));
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

fn lines_with(of: impl Fn(&Source) -> bool, marks: &[&str], what_to_do: &str) -> Vec<String> {
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

#[test]
fn growth_is_a_decision() {
    let sources = sources();
    let mut bad = Vec::new();
    for (name, aim, ceiling, of) in TOTALS {
        let ours = sources.iter().filter(|source| source.is_rust() && of(&source.path));
        let lines: usize = ours.map(|source| source.text.lines().count()).sum();
        println!("{name}: {lines} lines of source; the plan aims at {aim}, the ceiling is {ceiling}");
        if lines > ceiling {
            bad.push(format!("guardian/tests/tidy.rs: {name} has {lines} lines, its ceiling is {ceiling} (aim {aim}): cut as much, or raise the ceiling in `TOTALS` and say why"));
        }
    }
    none(bad);
}

#[test]
fn orders_stay_short() {
    let orders = sources().into_iter().filter(|source| source.path.ends_with("AGENTS.md"));
    let long = orders.filter(|source| source.text.lines().count() > ORDERS_LINES);
    none(long.map(|source| format!("{}:{}: orders have at most {ORDERS_LINES} lines; move what is not an order to ARCHITECTURE.md", source.path, ORDERS_LINES + 1)).collect());
}

#[test]
fn no_workspace_reaches_into_the_other() {
    let mut bad = Vec::new();
    for source in sources() {
        let folder = Path::new(&source.path).parent().unwrap().to_owned();
        let ours = source.path.starts_with("creature/");
        let names: &[&str] = if source.path.ends_with("Cargo.toml") {
            &["path"]
        } else if source.is_rust() {
            &["#[path", "include!(", "include_str!(", "include_bytes!("]
        } else {
            continue;
        };
        for (line, text) in source.lines() {
            let Some(at) = names.iter().find_map(|name| Some(text.find(name)? + name.len())) else {
                continue;
            };
            let Some(target) = text[at..].split('"').nth(1) else { continue };
            let target = plain(&folder.join(target));
            if target == Path::new(FAITHFUL) && source.path == "guardian/tests/e2e.rs" {
                continue;
            }
            if target.starts_with("..") || target.starts_with("creature") != ours {
                bad.push(format!(
                    "{}:{line}: {} is another workspace's; share a file format, not a path",
                    source.path,
                    target.display()
                ));
            }
        }
        for (name, _) in dependencies(&source)
            .iter()
            .filter(|(name, _)| name == if ours { "guardian" } else { "creature" })
        {
            bad.push(format!(
                "{}:1: depends on {name}; guardian and creature share files, never types",
                source.path
            ));
        }
    }
    none(bad);
}

#[test]
fn the_guardian_stands_on_little() {
    let mut bad = Vec::new();
    for source in sources().iter().filter(|source| source.path == "guardian/Cargo.toml") {
        for (name, table) in dependencies(source) {
            let allowed = if table == "dev-dependencies" { GUARDIAN_TESTS_NEED } else { GUARDIAN_NEEDS };
            if !allowed.split_whitespace().any(|allowed| allowed == name) || table == "build-dependencies" {
                let line =
                    source.lines().find(|(_, text)| text.starts_with(&name)).map_or(1, |(line, _)| line);
                bad.push(format!("{}:{line}: `{name}` under {table} is not on the list; do without it, or add it to the list in tidy.rs with the reason in ARCHITECTURE.md", source.path));
            }
        }
    }
    none(bad);
}

#[test]
fn every_path_of_the_state_is_written_down() {
    let sources = sources();
    let map = &sources.iter().find(|source| source.path == "ARCHITECTURE.md").unwrap().text;
    let written = written_down(map);
    let mut bad = Vec::new();
    for source in sources.iter().filter(|source| source.is_production()) {
        for (line, text) in source.lines() {
            for (at, _) in text.match_indices(".self/") {
                let path: String = text[at..]
                    .chars()
                    .take_while(|c| c.is_ascii_alphanumeric() || "._-/".contains(*c))
                    .collect();
                let path = path.trim_end_matches(['.', '/', '-']);
                let stands = |written: &String| {
                    written
                        .strip_prefix(path)
                        .is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', '<', '-']))
                };
                if !written.iter().any(stands) {
                    bad.push(format!(
                        "{}:{line}: {path} does not stand in ARCHITECTURE.md; add its row, writer and form",
                        source.path
                    ));
                }
            }
        }
    }
    none(bad);
}

#[test]
fn every_link_leads_somewhere() {
    let (root, mut bad) = (root(), Vec::new());
    for source in sources().iter().filter(|source| source.path.ends_with(".md")) {
        let mut fenced = false;
        for (line, text) in source.lines() {
            fenced ^= text.trim_start().starts_with("```");
            for after in text.split("](").skip(1).filter(|_| !fenced) {
                let target = after.split([')', '#', ' ']).next().unwrap_or_default();
                let elsewhere = target.contains("://") || target.starts_with("mailto:") || target.is_empty();
                let folder = root.join(&source.path).parent().unwrap().to_owned();
                if !elsewhere && !folder.join(target).exists() {
                    bad.push(format!(
                        "{}:{line}: {target} does not exist; mend the link or take it out",
                        source.path
                    ));
                }
            }
        }
    }
    none(bad);
}
