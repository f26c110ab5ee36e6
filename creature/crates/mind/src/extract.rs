//! An extract of a conversation, made by plain code where no model sums it up. Pure.
//!
//! Invariant: every line stands in the conversation; what is left out is counted.

use super::transcript::Line;
use crate::ToolList;
use ground::text::{keep_last, one_line, shorten};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// Characters of one of the last words, one of the last results, one failure and one line of what was done.
const MOST_SAID: usize = 1_000;
const MOST_CAME: usize = 1_500;
const MOST_FAILURE: usize = 400;
const MOST_DONE: usize = 160;

/// How many of each are kept, the latest.
const SAID: usize = 5;
const CAME: usize = 3;
const FAILURES: usize = 8;
const DONE: usize = 30;
const FILES: usize = 40;

/// Arguments that name what a call is about; the first that is there is shown.
const ABOUT: [&str; 14] = [
    "path",
    "name",
    "url",
    "query",
    "id",
    "command",
    "pattern",
    "service",
    "title",
    "objective",
    "text",
    "summary",
    "kind",
    "filter",
];

/// A call; `came`: its result and whether it failed, none where the life ended before.
struct Done<'a> {
    tool: &'a str,
    about: String,
    came: Option<(&'a str, bool)>,
}

/// Lists what was said, done, failed, changed and read last, each under a heading; empty where nothing was.
pub fn extract(lines: &[Line], tools: &ToolList) -> String {
    let done = done(lines);
    let said = lines.iter().filter_map(|line| match line {
        Line::Said(text) => Some(format!("- {}", shorten(&one_line(text), MOST_SAID))),
        _ => None,
    });
    let came = done.iter().filter_map(|call| {
        let (text, _) = call.came?;
        Some(format!("- {} {}:\n{}", call.tool, call.about, shorten(text, MOST_CAME)))
    });
    let sections = [
        ("What you said last", last(said.collect(), SAID)),
        ("What you did", last(runs(&done), DONE)),
        ("What failed and was not made good", last(unmended(&done), FAILURES)),
        ("Files you changed", last(files(lines, tools), FILES)),
        ("What came back last", last(came.collect(), CAME)),
    ];
    let told = sections.iter().filter(|(_, lines)| !lines.is_empty());
    told.map(|(title, lines)| format!("## {title}\n{}\n\n", lines.join("\n"))).collect()
}

fn done(lines: &[Line]) -> Vec<Done<'_>> {
    let came: BTreeMap<usize, (&str, bool)> = lines
        .iter()
        .filter_map(|line| match line {
            Line::Came { call, text, failed } => Some((*call, (text.as_str(), *failed))),
            _ => None,
        })
        .collect();
    let done = lines.iter().enumerate().filter_map(|(at, line)| match line {
        Line::Called { tool, args } => Some(Done { tool, about: about(args), came: came.get(&at).copied() }),
        _ => None,
    });
    done.collect()
}

/// Names what a call is about, in a few words.
fn about(args: &Map<String, Value>) -> String {
    let paths = edited(args).join(", ");
    let named = || ABOUT.iter().find_map(|key| args.get(*key)?.as_str()).unwrap_or_default().to_owned();
    shorten(&one_line(&if paths.is_empty() { named() } else { paths }), MOST_DONE)
}

/// Paths of the edits of one call.
fn edited(args: &Map<String, Value>) -> Vec<&str> {
    let edits = args.get("edits").and_then(Value::as_array);
    let mut paths: Vec<&str> =
        edits.into_iter().flatten().filter_map(|edit| edit.get("path")?.as_str()).collect();
    paths.dedup();
    paths
}

/// A line for each call; calls of one tool in a row with the same outcome share one.
fn runs(done: &[Done]) -> Vec<String> {
    let how = |call: &Done| match call.came {
        Some((_, false)) => "",
        Some((_, true)) => " (failed)",
        None => " (its outcome is not known)",
    };
    done.chunk_by(|one, next| one.tool == next.tool && how(one) == how(next))
        .filter_map(|run| {
            let first = run.first()?;
            let mut about: Vec<&str> = run.iter().map(|call| call.about.as_str()).collect();
            about.dedup();
            let times = if run.len() > 1 { format!(" ×{}", run.len()) } else { String::new() };
            Some(format!(
                "- {}{times}: {}{}",
                first.tool,
                shorten(&about.join("; "), MOST_DONE * 2),
                how(first)
            ))
        })
        .collect()
}

/// Failures with no success of the same tool after them: the last of each tool.
fn unmended(done: &[Done]) -> Vec<String> {
    let mut last: Vec<&Done> = Vec::new();
    for call in done.iter().filter(|call| call.came.is_some()) {
        last.retain(|known| known.tool != call.tool);
        last.push(call);
    }
    let failed = last.into_iter().filter_map(|call| Some((call, call.came.filter(|(_, failed)| *failed)?.0)));
    failed
        .map(|(call, text)| {
            format!("- {} {}: {}", call.tool, call.about, shorten(&one_line(text), MOST_FAILURE))
        })
        .collect()
}

/// Files that calls changed, failed calls left out; each once, the last change last.
fn files(lines: &[Line], tools: &ToolList) -> Vec<String> {
    let failed: Vec<usize> = lines
        .iter()
        .filter_map(|line| match line {
            Line::Came { call, failed: true, .. } => Some(*call),
            _ => None,
        })
        .collect();
    let mut files: Vec<String> = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let Line::Called { tool, args } = line else { continue };
        if !tools.known(tool).is_some_and(|known| known.changes_files) || failed.contains(&at) {
            continue;
        }
        let own = ["path", "name"].iter().find_map(|key| args.get(*key)?.as_str());
        for path in edited(args).into_iter().chain(own) {
            let line = format!("- {}", shorten(path, MOST_DONE));
            files.retain(|known| *known != line);
            files.push(line);
        }
    }
    files
}

/// The last ones, and how many were before them.
fn last(mut lines: Vec<String>, most: usize) -> Vec<String> {
    let over = keep_last(&mut lines, most);
    if over > 0 {
        lines.insert(0, format!("({over} earlier ones are left out)"));
    }
    lines
}
