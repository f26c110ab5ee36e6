//! The text of a snapshot: purpose, what is open, tried, done and changed, merged with the last snapshot. Pure.
//!
//! Invariant: at most `MOST_CHARS`; the same records give the same text; newest first; the latest failure
//! stays until a newer one takes its place; lines left out are counted.

mod standing;
mod tried;

pub use standing::{ended, open as open_threads, purpose};

use ground::text::{one_line, shorten};
use memory::Record;
use memory::kinds::{self, failed};
use mind::ToolList;
use serde_json::Value;
use std::collections::BTreeMap;

/// Characters of a snapshot; all of it goes into every thought.
pub const MOST_CHARS: usize = 4_000;

/// Headings and the most characters of each section; with the headings together under `MOST_CHARS`.
const SECTIONS: [(&str, usize); 5] = [
    ("What I am", 850),
    ("Open threads", 1_000),
    ("What I tried and what came of it", 650),
    ("Recent actions and outcomes", 700),
    ("How I changed myself", 600),
];

/// Most characters of one line.
const LINE: usize = 180;

const WORDS: &str = "- in my own words: ";
const LATEST: &str = "- latest failure: ";
const OWNER: &str = "- owner asked: ";
const FAILING: &str = "- failing: ";
const DROPPED: &str = "older lines left out)";

/// Facts of a snapshot that are not in the records.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    pub life: u64,
    pub commit: String,
    pub thoughts: u64,
    pub mind: String,
    /// Tools of the life: a tool that is gone is not told as failing.
    pub tools: &'static ToolList,
    pub purpose: String,
    /// Open items of the agenda, and the unfinished draft of the source, a sentence each.
    pub open: Vec<String>,
    /// Tasks and goals that ended, the latest first, a sentence each.
    pub ended: Vec<String>,
    /// Number of the newest records that are left to the next snapshot.
    pub left: usize,
}

/// The records that no snapshot has taken in yet, without the last `kept`, and how many of those are left for the next.
pub fn fresh(records: &[Record], kept: usize) -> (&[Record], usize) {
    let left = |record: &Record| record.data.get("kept").and_then(Value::as_u64).unwrap_or(0) as usize;
    let last = records.iter().enumerate().rev().find(|(_, record)| record.kind == "snapshot");
    let since = last.map_or(0, |(at, record)| match left(record) {
        0 => at + 1,
        left => at.saturating_sub(left),
    });
    let end = records.len().saturating_sub(kept).max(since);
    (records.get(since..end).unwrap_or_default(), records.len() - end)
}

/// Builds the snapshot from the records that are fresh and the text of the last one.
pub fn digest(facts: &Facts, fresh: &[Record], before: Option<&str>) -> String {
    let before = before.unwrap_or_default();
    let lines = |title: &str| old_lines(before, title);
    let sections = [
        i_am(facts, before),
        open(facts, fresh, &lines("Open threads")),
        tried::tried(fresh, &facts.ended, &lines("What I tried and what came of it")),
        recent(fresh, &lines("Recent actions and outcomes")),
        changes(fresh, &lines("How I changed myself")),
    ];
    let mut text = String::new();
    for ((title, most), lines) in SECTIONS.into_iter().zip(sections) {
        text += &format!("## {title}\n{}\n\n", capped(lines, most, facts.left));
    }
    text.chars().take(MOST_CHARS).collect::<String>().trim_end().to_owned() + "\n"
}

fn i_am(facts: &Facts, before: &str) -> Vec<String> {
    let commit = facts.commit.get(..7).unwrap_or(&facts.commit);
    let mut lines = vec![
        format!("- Feral, life {} at commit {commit}, after {} thoughts", facts.life, facts.thoughts),
        format!("- mind: {}", shorten(&facts.mind, LINE)),
        format!("- what I am for: {}", purpose(&facts.purpose)),
    ];
    // A mind may have written the last snapshot without these headings; its lines are kept as its own words.
    if SECTIONS.iter().any(|(title, _)| before.contains(&format!("## {title}\n"))) {
        lines.extend(old_lines(before, "What I am").into_iter().filter(|line| line.starts_with(WORDS)));
    } else {
        let words = before.lines().map(one_line).filter(|line| !line.is_empty());
        lines.extend(words.map(|line| shorten(&format!("{WORDS}{line}"), LINE)));
    }
    lines
}

fn recent(records: &[Record], before: &[String]) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut run: Option<(String, u64)> = None;
    let close = |run: Option<(String, u64)>, lines: &mut Vec<String>| match run {
        Some((line, 1)) => lines.push(line),
        Some((line, times)) => lines.push(format!("{line} (and {} more like it)", times - 1)),
        None => {}
    };
    let mut last_tool = String::new();
    for record in records.iter().rev().filter(|record| record.kind == "action") {
        let tool = text(&record.data, "tool");
        // Successful calls of one tool in a row become one line.
        if !failed(record) && tool == last_tool {
            run = run.map(|(line, times)| (line, times + 1));
            continue;
        }
        close(run.take(), &mut lines);
        run = Some((action(record), 1));
        last_tool = if failed(record) { String::new() } else { tool };
    }
    close(run, &mut lines);
    let latest = records
        .iter()
        .rfind(|record| failed(record))
        .map(|record| shorten(&format!("{LATEST}{}", outcome(record)), LINE))
        .or_else(|| before.iter().find(|line| line.starts_with(LATEST)).cloned());
    let old = before.iter().filter(|line| !line.starts_with(LATEST)).cloned();
    latest.into_iter().chain(lines).chain(old).collect()
}

/// The last intent, the owner's unanswered words, what is open on the agenda, and failing tools. Words of the last
/// snapshot stay until the creature says something, failures until it uses the tool.
fn open(facts: &Facts, records: &[Record], before: &[String]) -> Vec<String> {
    let intent = records.iter().rev().map(|record| text(&record.data, "intent")).find(|i| !i.is_empty());
    let intent = intent.map(|intent| shorten(&format!("- last intent: {}", one_line(&intent)), LINE));
    let answered = |after: &[Record], thread: &str| {
        after.iter().any(|record| is_message(record, "creature") && thread_of(record) == thread)
    };
    let words = records.iter().enumerate().rev().filter(|(at, record)| {
        let after = records.get(at + 1..).unwrap_or_default();
        is_message(record, "owner") && !answered(after, &thread_of(record))
    });
    let words =
        words.map(|(_, word)| shorten(&format!("{OWNER}{}", one_line(&text(&word.data, "text"))), LINE));
    let mut last: BTreeMap<String, (usize, &Record)> = BTreeMap::new();
    for (at, record) in records.iter().enumerate().filter(|(_, record)| record.kind == "action") {
        last.insert(text(&record.data, "tool"), (at, record));
    }
    let fails =
        |(tool, (_, record)): &(&String, &(usize, &Record))| failed(record) && facts.tools.exists(tool);
    let mut failing: Vec<_> = last.iter().filter(fails).map(|(_, last)| last).collect();
    failing.sort_by_key(|(at, _)| std::cmp::Reverse(*at));
    let failing = failing.iter().map(|(_, record)| shorten(&format!("{FAILING}{}", outcome(record)), LINE));
    let quiet = !records.iter().any(|record| is_message(record, "creature"));
    let old_words = before.iter().filter(|line| quiet && line.starts_with(OWNER)).cloned();
    let old_failing = before.iter().filter(|line| {
        let tool = line.strip_prefix(FAILING).and_then(|said| said.split(' ').next());
        tool.is_some_and(|tool| facts.tools.exists(tool) && !last.contains_key(tool))
    });
    let stands = facts.open.iter().map(|said| format!("- {said}"));
    let owners = intent.into_iter().chain(words).chain(old_words);
    owners.chain(stands).chain(failing).chain(old_failing.cloned()).collect()
}

fn changes(records: &[Record], before: &[String]) -> Vec<String> {
    let told = |record: &Record| match record.kind.as_str() {
        "self_change" => Some(changed(record)),
        "death" => Some(text(&record.data, "told")),
        _ => None,
    };
    let fresh = records.iter().rev().filter_map(|record| {
        told(record).map(|said| shorten(&format!("- {} {}", when(record), one_line(&said)), LINE))
    });
    fresh.chain(before.iter().cloned()).collect()
}

/// A change of the source and how far it came.
fn changed(record: &Record) -> String {
    let (summary, stage) = (text(&record.data, "summary"), text(&record.data, "stage"));
    match (failed(record), stage.as_str()) {
        (true, _) => format!("My change \"{summary}\" failed at {stage}: {}", text(&record.data, "error")),
        (false, "born") => format!("I was born of my change \"{summary}\"."),
        (false, "asked") => format!("My change \"{summary}\" was proven and asks to be born."),
        (false, "apply") => format!("I made the change \"{summary}\"."),
        (false, _) => format!("My change \"{summary}\" came to {stage}."),
    }
}

fn action(record: &Record) -> String {
    shorten(&format!("- {} {}", when(record), outcome(record)), LINE)
}

/// Tells what was done and what came of it, on one line.
fn outcome(record: &Record) -> String {
    let data = &record.data;
    let said = match record.kind.as_str() {
        "action" => {
            let result = data.get("result").unwrap_or(&Value::Null);
            let came = if failed(record) { text(result, "error") } else { "ok".to_owned() };
            let args = data.get("args").map(Value::to_string).unwrap_or_default();
            format!("{} {} → {came}", text(data, "tool"), shorten(&args, 70))
        }
        "self_change" => {
            format!("{} of \"{}\": {}", text(data, "stage"), text(data, "summary"), text(data, "error"))
        }
        _ => kinds::said(record, LINE),
    };
    one_line(&said)
}

fn outcome_error(record: &Record) -> String {
    text(record.data.get("result").unwrap_or(&Value::Null), "error")
}

fn is_message(record: &Record, from: &str) -> bool {
    record.kind == "message" && text(&record.data, "from") == from
}

fn thread_of(record: &Record) -> String {
    let thread = text(&record.data, "thread");
    if thread.is_empty() { "main".to_owned() } else { thread }
}

fn text(data: &Value, key: &str) -> String {
    data.get(key).and_then(Value::as_str).unwrap_or_default().to_owned()
}

fn when(record: &Record) -> &str {
    record.at.get(5..16).unwrap_or(&record.at)
}

/// The lines of one section of an earlier snapshot, its note on what was left out among them.
fn old_lines(before: &str, title: &str) -> Vec<String> {
    let mut lines = before.lines().skip_while(|line| *line != format!("## {title}"));
    lines.next();
    lines
        .take_while(|line| !line.starts_with("## "))
        .filter(|line| line.starts_with("- ") || line.ends_with(DROPPED))
        .map(ToOwned::to_owned)
        .collect()
}

/// The first lines that fit in `most` characters, each once, and how many were left out, now and before.
/// `left`: newer records not taken in, named where there is no line.
fn capped(lines: Vec<String>, most: usize, left: usize) -> String {
    let mut dropped = 0;
    let mut kept: Vec<String> = Vec::new();
    // Room for the note is always kept, or a later snapshot that needs the note would have to drop a line.
    let mut room = most.saturating_sub(40);
    for line in lines {
        if let Some(note) = line.strip_suffix(DROPPED) {
            dropped += note.trim_matches(['(', ' ']).parse::<u64>().unwrap_or(0);
            continue;
        }
        let size = line.chars().count() + 1;
        if kept.contains(&line) {
            continue;
        }
        if size > room {
            // After a line that does not fit, all older ones are left out: no gaps in the middle.
            room = 0;
            dropped += 1;
            continue;
        }
        room -= size;
        kept.push(line);
    }
    if kept.is_empty() {
        let newer = format!("nothing before the {left} latest records");
        kept.push(if left > 0 { newer } else { "nothing yet".to_owned() });
    }
    if dropped > 0 {
        kept.push(format!("({dropped} {DROPPED}"));
    }
    kept.join("\n")
}
