//! The situation as text: every part of a moment under its heading when a conversation begins, later what is new. Pure.
//!
//! Invariant: a part that stands in the conversation as it is now is not said again; what changes least comes first.

use super::context::{self, Caps, Parts};
use super::conversation::{UNANSWERED, fingerprint};
use super::moment::{Moment, Word};
use crate::ToolList;
use jiff::Timestamp;
use memory::{Record, kinds};
use serde_json::Value;
use std::cell::LazyCell;
use std::collections::BTreeMap;

const SKILLS: &str = "Skills";
/// Most messages of other threads that a talk is told of, and most characters of one.
const MOST_ELSEWHERE: usize = 12;
const ELSEWHERE_CHARS: usize = 400;
const CHECKLIST: &str = "Checklist (self/HEARTBEAT.md)";

/// Text said to the model, and a hash of each part of the situation that it shows, by title.
#[derive(Debug, Default, PartialEq)]
pub struct Said {
    pub text: String,
    pub shown: BTreeMap<String, String>,
}

impl Said {
    /// Adds a part under its title, unless `known` has it as it is.
    fn part(&mut self, known: &BTreeMap<String, String>, title: &str, body: &str) {
        let (body, mark) = (body.trim(), fingerprint(&[body.trim()]));
        if known.get(title).is_some_and(|known| *known == mark) {
            return;
        }
        let first = !known.contains_key(title);
        self.shown.insert(title.to_owned(), mark);
        match (body.is_empty(), first) {
            (true, true) => {}
            (true, false) => self.text += &format!("# {title}\n\n(nothing any more)\n\n"),
            (false, _) => self.text += &format!("# {title}\n\n{body}\n\n"),
        }
    }

    /// Adds the alarm about money when its words change; its figures change with every call and are no news.
    fn money(&mut self, known: &BTreeMap<String, String>, alarm: &str) {
        let (title, plain) = ("Money", alarm.replace(|c: char| c.is_ascii_digit(), ""));
        let mark = if plain.is_empty() { String::new() } else { fingerprint(&[&plain]) };
        if known.get(title).map_or("", String::as_str) == mark {
            return;
        }
        let said = if alarm.is_empty() { "it is as it should be again" } else { alarm };
        self.text += &format!("# {title}\n\n{said}\n\n");
        self.shown.insert(title.to_owned(), mark);
    }

    /// Adds the lines not said before. From index `unseen` on, a line is new though one like it was answered.
    fn lines(&mut self, known: &BTreeMap<String, String>, title: &str, lines: &[String], unseen: usize) {
        let mut new = Vec::new();
        for (at, line) in lines.iter().enumerate() {
            let mark = fingerprint(&[title, line]);
            if known.get(&mark).is_none_or(|mark| at >= unseen && mark != UNANSWERED) {
                self.shown.insert(mark, UNANSWERED.to_owned());
                new.push(line.as_str());
            }
        }
        if !new.is_empty() {
            self.text += &format!("# {title}\n\n{}\n\n", new.join("\n"));
        }
    }
}

/// The parts that seldom change; the same for every conversation, so that a cache holds them for all.
pub fn standing(parts: &Parts) -> Said {
    let (mut said, known) = (Said::default(), BTreeMap::new());
    said.part(&known, "PURPOSE.md", or(&parts.purpose, "(missing: ask your owner, or write one)"));
    said.part(&known, SKILLS, &parts.skills);
    said.part(&known, CHECKLIST, &parts.checklist);
    said.part(&known, "What you remember (last snapshot)", &parts.snapshot);
    said.part(&known, "Scratch (self/scratch.md)", &parts.scratch);
    said.part(&known, "Goals", &parts.goals);
    said
}

/// The parts that change often, as they are where a conversation begins.
pub fn opening(moment: &Moment, parts: &Parts) -> Said {
    let (mut said, known) = (Said::default(), BTreeMap::new());
    said.part(&known, "Latest records, oldest first, in short", or(&parts.records, "(none yet)"));
    said.part(&known, "What this life was born with", &moment.born);
    said.part(&known, "Packages that may be installed", &moment.packages);
    situation(&mut said, &known, moment, parts);
    said
}

/// Says what is new since `known` was shown; `wake`: a new wake begins, and is told the hour, its reasons, and what was said on
/// other threads since `last_s`.
pub fn news(
    moment: &Moment,
    known: &BTreeMap<String, String>,
    wake: bool,
    last_s: i64,
    tools: &ToolList,
) -> Said {
    let mut said = Said::default();
    let parts = LazyCell::new(|| context::choose(moment, &Caps::default(), tools));
    if moment.purpose_changed || !known.contains_key("PURPOSE.md") {
        said.part(known, "PURPOSE.md", &parts.purpose);
    }
    if !moment.born.is_empty() {
        said.part(known, "What this life was born with", &moment.born);
    }
    if wake {
        said.part(known, SKILLS, &parts.skills);
    }
    if wake && known.contains_key(CHECKLIST) {
        said.part(known, CHECKLIST, &parts.checklist);
    }
    if wake && moment.answers() {
        let lines = elsewhere(moment, last_s);
        said.lines(known, "Said meanwhile on other threads, and answered there", &lines, lines.len());
    }
    match wake {
        true => situation(&mut said, known, moment, &parts),
        false => happened(&mut said, known, moment),
    }
    said
}

/// The title over the owner's open requests.
const ASKED: &str = "What your owner asked for";

fn situation(said: &mut Said, known: &BTreeMap<String, String>, moment: &Moment, parts: &Parts) {
    // Words that were shown in this conversation stand above: they are open, though no line here names them.
    let only_words = parts.requests.is_empty() && !moment.words.is_empty() && known.contains_key(ASKED);
    let requests = if only_words { "What the words above ask, not yet answered." } else { &parts.requests };
    said.part(known, ASKED, requests);
    said.part(known, "Where you stand with your owner and your work", &parts.state);
    said.part(known, "What there is to do, by rank", &parts.stack);
    happened(said, known, moment);
    if !moment.own.is_empty() {
        said.text += &format!("# Time of your own\n\n{}\n\n", moment.own);
    }
    said.text += &format!("# Now\n\n{}\n", parts.runtime);
}

/// Adds alarm, events and the owner's words. A thought takes the events it is shown off their queue: each is new.
fn happened(said: &mut Said, known: &BTreeMap<String, String>, moment: &Moment) {
    said.money(known, &moment.alarm);
    said.lines(known, "Events", &events(moment), 0);
    let (words, unseen) = (words(moment), moment.words.len().saturating_sub(moment.unseen));
    said.lines(known, "Your owner's words, not yet answered", &words, unseen);
}

/// The newest that the owner and the creature said to each other on other threads: they are one talk to the owner.
fn elsewhere(moment: &Moment, last_s: i64) -> Vec<String> {
    let thread = |record: &Record| {
        let named = record.data.get("thread").and_then(Value::as_str).filter(|thread| !thread.is_empty());
        named.unwrap_or("main").to_owned()
    };
    let is_later = |record: &&Record| record.at.parse::<Timestamp>().is_ok_and(|at| at.as_second() >= last_s);
    let said = moment.records.iter().rev().take_while(is_later);
    let said = said.filter(|record| record.kind == "message" && thread(record) != moment.thread());
    let line = |record: &Record| {
        let at = record.at.get(..19).unwrap_or(&record.at);
        format!("- {at} on {}: {}", thread(record), kinds::said(record, ELSEWHERE_CHARS)).replace('\n', " ")
    };
    let mut lines: Vec<String> = said.take(MOST_ELSEWHERE).map(line).collect();
    lines.reverse();
    lines
}

fn events(moment: &Moment) -> Vec<String> {
    moment.news.iter().map(|news| format!("- {news}")).collect()
}

/// The owner's words, whole.
fn words(moment: &Moment) -> Vec<String> {
    let line = |word: &Word| match word.at.is_empty() {
        true => format!("- {}", word.text),
        false => format!("- {} {}", word.at, word.text),
    };
    moment.words.iter().map(line).collect()
}

fn or<'a>(text: &'a str, missing: &'a str) -> &'a str {
    if text.trim().is_empty() { missing } else { text }
}
