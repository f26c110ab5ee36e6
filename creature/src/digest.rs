//! The snapshot's text: what many records come to, merged with the snapshot before. Pure.
//!
//! Invariant: at most `MOST_CHARS`; the same for the same records; newest first; the latest failure
//! stays until a newer one takes its place; what is left out is counted.

use crate::mind::context::{failed, shorten};
use crate::tools::catalogue::exists;
use memory::Record;
use serde_json::Value;
use std::collections::BTreeMap;

/// Characters of a snapshot; all of it goes into every thought.
pub const MOST_CHARS: usize = 4_000;

/// Headings and the characters each may take; together with headings under `MOST_CHARS`.
const SECTIONS: [(&str, usize); 5] = [
    ("What I am", 900),
    ("Themes", 400),
    ("Recent actions and outcomes", 1_150),
    ("Open threads", 700),
    ("How I changed myself", 700),
];

/// Characters of one line.
const LINE: usize = 180;

/// Terms kept as themes.
const THEMES: usize = 12;

const WORDS: &str = "- in my own words: ";
const LATEST: &str = "- latest failure: ";
const OWNER: &str = "- owner asked: ";
const FAILING: &str = "- failing: ";
const DROPPED: &str = "older lines left out)";

/// What the records do not say.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    pub life: u64,
    pub commit: String,
    pub thoughts: u64,
    pub mind: String,
    pub purpose: String,
    /// The newest records, which are left to the next snapshot.
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
        themes(fresh, &lines("Themes")),
        recent(fresh, &lines("Recent actions and outcomes")),
        open(fresh, &lines("Open threads")),
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
    let purpose = facts.purpose.lines().map(|line| line.trim_start_matches(['#', ' ']));
    let purpose = purpose.map(str::trim).find(|line| !line.is_empty()).unwrap_or("none yet");
    let mut lines = vec![
        format!("- Feral, life {} at commit {commit}, after {} thoughts", facts.life, facts.thoughts),
        format!("- mind: {}", shorten(&facts.mind, LINE)),
        format!("- purpose: {}", shorten(purpose, LINE)),
    ];
    // A mind may have written the last snapshot in a form of its own; its words are not dropped.
    if SECTIONS.iter().any(|(title, _)| before.contains(&format!("## {title}\n"))) {
        lines.extend(old_lines(before, "What I am").into_iter().filter(|line| line.starts_with(WORDS)));
    } else {
        let words = before.lines().map(one_line).filter(|line| !line.is_empty());
        lines.extend(words.map(|line| shorten(&format!("{WORDS}{line}"), LINE)));
    }
    lines
}

/// The words thoughts come back to; what was a theme before counts half.
fn themes(records: &[Record], before: &[String]) -> Vec<String> {
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    for line in before {
        if let Some((term, count)) = line.trim_start_matches("- ").rsplit_once(" ×") {
            *counts.entry(term.to_owned()).or_default() += count.parse::<u64>().unwrap_or(0) / 2;
        }
    }
    for record in records.iter().filter(|record| record.kind == "thought") {
        let said = format!("{} {}", text(&record.data, "intent"), text(&record.data, "monologue"));
        for word in said.split(|c: char| !c.is_alphabetic()) {
            let word = word.to_lowercase();
            if (5..=24).contains(&word.chars().count()) && !PLAIN.contains(&word.as_str()) {
                *counts.entry(word).or_default() += 1;
            }
        }
    }
    let mut counts: Vec<_> = counts.into_iter().filter(|(_, count)| *count > 1).collect();
    counts.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    counts.into_iter().take(THEMES).map(|(term, count)| format!("- {term} ×{count}")).collect()
}

/// Words too plain to be a theme.
const PLAIN: [&str; 20] = [
    "about",
    "after",
    "again",
    "because",
    "before",
    "could",
    "every",
    "first",
    "nothing",
    "other",
    "should",
    "since",
    "something",
    "still",
    "their",
    "there",
    "these",
    "those",
    "which",
    "would",
];

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
        // Ten reads in a row are one thing done.
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

fn open(records: &[Record], before: &[String]) -> Vec<String> {
    let mut lines = Vec::new();
    let answered = records.iter().rposition(|record| is_message(record, "creature"));
    let words = records.iter().enumerate().filter(|(_, record)| is_message(record, "owner"));
    for (at, record) in words {
        if answered.is_none_or(|answered| at > answered) {
            lines.push(shorten(&format!("{OWNER}{}", one_line(&text(&record.data, "text"))), LINE));
        }
    }
    let mut last: BTreeMap<String, (usize, &Record)> = BTreeMap::new();
    for (at, record) in records.iter().enumerate().filter(|(_, record)| record.kind == "action") {
        last.insert(text(&record.data, "tool"), (at, record));
    }
    let fails = |(tool, (_, record)): &(&String, &(usize, &Record))| failed(record) && exists(tool);
    let mut failing: Vec<_> = last.iter().filter(fails).map(|(_, last)| last).collect();
    failing.sort_by_key(|(at, _)| *at);
    lines.extend(failing.iter().map(|(_, record)| shorten(&format!("{FAILING}{}", outcome(record)), LINE)));
    lines.reverse();
    let intent = records.iter().rev().map(|record| text(&record.data, "intent")).find(|i| !i.is_empty());
    if let Some(intent) = intent {
        lines.insert(0, shorten(&format!("- last intent: {}", one_line(&intent)), LINE));
    }
    lines.extend(
        before
            .iter()
            .filter(|line| {
                let tool = line.strip_prefix(FAILING).and_then(|said| said.split(' ').next());
                (line.starts_with(OWNER) && answered.is_none())
                    || tool.is_some_and(|tool| exists(tool) && !last.contains_key(tool))
            })
            .cloned(),
    );
    lines
}

fn changes(records: &[Record], before: &[String]) -> Vec<String> {
    let told = |record: &Record| match record.kind.as_str() {
        "self_change" => Some(match failed(record) {
            false => format!("{}: {}", text(&record.data, "stage"), text(&record.data, "summary")),
            true => format!("failed: {}", outcome(record)),
        }),
        "death" => Some(text(&record.data, "told")),
        _ => None,
    };
    let fresh = records.iter().rev().filter_map(|record| {
        told(record).map(|said| shorten(&format!("- {} {}", when(record), one_line(&said)), LINE))
    });
    fresh.chain(before.iter().cloned()).collect()
}

fn action(record: &Record) -> String {
    shorten(&format!("- {} {}", when(record), outcome(record)), LINE)
}

/// What was done and what came of it, on one line.
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
        "thought" => format!("garbled reply: {}", text(data, "error")),
        _ => text(data, "told"),
    };
    one_line(&said)
}

fn is_message(record: &Record, from: &str) -> bool {
    record.kind == "message" && text(&record.data, "from") == from
}

fn text(data: &Value, key: &str) -> String {
    data.get(key).and_then(Value::as_str).unwrap_or_default().to_owned()
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
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

/// The first lines that fit, each once, and how many were left out, now and before.
fn capped(lines: Vec<String>, most: usize, left: usize) -> String {
    let mut dropped = 0;
    let mut kept: Vec<String> = Vec::new();
    // Room for the note is always kept, or a later snapshot would have to take a line back.
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
            // Once one does not fit, none older does: no gaps in the middle.
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
