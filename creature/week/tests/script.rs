//! The scripted model: a small rule machine that reads what it is sent, as a model would, and answers with calls.
//!
//! It keeps nothing: all it knows stands in its conversation, so a life that dies takes nothing with it.

use crate::outside::section;
use jiff::Timestamp;
use serde_json::{Value, json};

/// What the model says to a conversation, of which it has not answered `new`.
pub fn reply(text: &str, new: &str) -> Value {
    if is_handover(new) {
        return json!("Goal\nthe first line of the stack\nNext\ngo on");
    }
    if is_thought(text) {
        return think(text, new);
    }
    let objective = section(text, "Your objective");
    if objective.is_empty() {
        return say("I dreamt of nothing new.");
    }
    apart(objective, text)
}

/// A thought of the loop's own, no sub-session's and no dream's.
pub fn is_thought(text: &str) -> bool {
    section(text, "Now").contains("thoughts before")
}

/// It is asked to sum up a conversation that ends here.
pub fn is_handover(new: &str) -> bool {
    new.contains("This conversation has grown too long and ends here.")
}

/// The owner's words that are to be answered now; none where it acts by itself.
pub fn words(text: &str) -> &str {
    match section(text, "Now").contains("For your owner") {
        true => section(text, SAID),
        false => "",
    }
}

const SAID: &str = "Your owner's words, not yet answered";

/// The owner's words first, then the first line of the stack that is ready, then events.
fn think(text: &str, new: &str) -> Value {
    let words = words(text);
    if !words.is_empty() {
        // A life ended over these words: what it did of them stands in memory.
        let cut =
            section(new, SAID).is_empty() || new.contains("outcome unknown: ") || new.contains("not run: ");
        return match (cut, new.contains("## records\n")) {
            (_, true) => answer(words, new),
            (false, false) => answer(words, section(text, "Latest records")),
            (true, false) => json!({"monologue": "What did I do of it?", "intent": "look", "sleep_s": 0,
                "tool_calls": [{"tool": "records", "args": {}}]}),
        };
    }
    let now = section(text, "Now").split(". ").next().unwrap_or_default();
    let now: Timestamp = now.parse().unwrap_or_else(|error| panic!("no hour in {now:?}: {error}"));
    let lines = section(text, "What there is to do").lines().filter_map(Line::read);
    if let Some(line) = lines.into_iter().find(|line| line.ready_at <= now) {
        return json!({
            "monologue": format!("First is {}: {}.", line.id, line.title), "intent": format!("work on {}", line.id),
            "tool_calls": work(&line), "sleep_s": 60,
        });
    }
    say("Nothing is worth doing now.")
}

fn say(monologue: &str) -> Value {
    json!({"monologue": monologue, "intent": "rest", "tool_calls": [], "sleep_s": 300})
}

/// Does what the owner's lines ask for, `use <tool> <arguments>`, but not what a life before did, and answers each.
fn answer(words: &str, records: &str) -> Value {
    let mut calls = Vec::new();
    for line in words.lines().filter_map(|line| line.strip_prefix("- ")) {
        let said = line.split_once(' ').map_or("", |(_, said)| said);
        if let Some((tool, args)) = said.strip_prefix("use ").and_then(|wish| wish.split_once(' ')) {
            let args: Value = serde_json::from_str(args).unwrap_or_else(|error| panic!("{args}: {error}"));
            if !done(&args, records) {
                calls.push(json!({"tool": tool, "args": args}));
            }
        }
    }
    let text = format!("Heard, and done: {} thing(s).", calls.len());
    calls.push(json!({"tool": "memory.append", "args": {"kind": "message", "data": {"from": "creature", "text": text}}}));
    json!({"monologue": "My owner spoke.", "intent": "answer", "tool_calls": calls, "sleep_s": 1})
}

/// Whether records show it as done: a change of the agenda, or a result.
fn done(args: &Value, records: &str) -> bool {
    let about = ["title", "text", "what", "place"].iter().find_map(|key| args[*key].as_str());
    // As a conversation begins with them, and as `records` has them.
    let Some(about) = about else {
        return [" action: spawn ", " action spawn "].iter().any(|did| records.contains(did));
    };
    let kinds = [" agenda: ", " action: ", " agenda ", " action "];
    let mut lines = records.lines().filter(|line| kinds.iter().any(|kind| line.contains(kind)));
    lines.any(|line| line.contains(&format!("\"{about}\"")))
}

/// One line of the stack, as it is shown.
#[derive(Debug)]
pub struct Line {
    pub id: String,
    pub kind: String,
    pub title: String,
    /// With the title before it.
    pub why: String,
    pub ready_at: Timestamp,
    pub next: String,
}

impl Line {
    /// `1. goal-7 (goals) title: why; from 2026-10-20T06:00:00Z; next: what`.
    pub fn read(line: &str) -> Option<Self> {
        let (place, rest) = line.split_once(". ")?;
        place.parse::<usize>().ok()?;
        let (head, next) = rest.rsplit_once("; next: ")?;
        let (head, from) = head.rsplit_once("; from ")?;
        let (id, head) = head.split_once(" (")?;
        let (kind, why) = head.split_once(") ")?;
        let title = why.split_once(": ").map_or(why, |(title, _)| title);
        Some(Self {
            id: id.to_owned(),
            kind: kind.to_owned(),
            title: title.to_owned(),
            why: why.to_owned(),
            ready_at: from.parse().ok()?,
            next: next.to_owned(),
        })
    }
}

/// What a line of the stack is worked with.
fn work(line: &Line) -> Value {
    let id = &line.id;
    if line.next.starts_with("ask your owner for a yes") {
        let text = format!("May I go on with {id}, {}?", line.title);
        return json!([{"tool": "owner.message", "args": {"kind": "approval", "text": text}}]);
    }
    match line.kind.as_str() {
        "goals" if line.next.starts_with("fail") => {
            json!([{"tool": "goal.checkpoint", "args": {"id": id, "status": "failed", "reason": "the tool is broken"}}])
        }
        "goals" => json!([
            {"tool": "notes.append", "args": {"name": "scratch", "text": format!("{id}: {}\n", line.next)}},
            {"tool": "goal.checkpoint", "args": {"id": id, "status": "done"}},
        ]),
        "opportunities" => sell(line),
        "gaps" => json!([{"tool": "agenda.close", "args": {"id": id, "reason": "learnt"}}]),
        "presence" => {
            let place = id.trim_start_matches("presence-");
            json!([{"tool": "presence.note", "args": {"place": place, "last": "a post worth reading"}}])
        }
        "knowledge" => json!([{"tool": "notes.read", "args": {"name": "scratch"}}]),
        _ if line.next.contains("mail") => json!([
            {"tool": "service.execute", "args": {"service": "mail", "method": "GET", "path": "/letters"}},
            {"tool": "task.done", "args": {"id": id}},
        ]),
        _ => json!([{"tool": "task.done", "args": {"id": id}}]),
    }
}

/// An opportunity, one stage on.
fn sell(line: &Line) -> Value {
    let stage = |stage: &str| json!([{"tool": "opportunity.move", "args": {"id": line.id, "stage": stage}}]);
    let at = line.why.split_once("at stage ").map_or("", |(_, at)| at);
    let at: String = at.chars().take_while(char::is_ascii_alphabetic).collect();
    match at.as_str() {
        "scan" => stage("evaluate"),
        "evaluate" => stage("propose"),
        "propose" => stage("execute"),
        "execute" => stage("collect"),
        "collect" => json!([
            {"tool": "opportunity.move", "args": {"id": line.id, "stage": "report", "earned_usd": 40}},
            {"tool": "owner.message", "args": {"kind": "revenue", "text": format!("Earned 40 USD: {}", line.title)}},
        ]),
        _ => json!([{"tool": "agenda.close", "args": {"id": line.id, "reason": "paid", "outcome": "done"}}]),
    }
}

/// A sub-session: looks once, then answers by what its objective says.
fn apart(objective: &str, text: &str) -> Value {
    if objective.contains("look") && !text.contains("# What came of your calls") {
        let calls = json!([{"tool": "notes.read", "args": {"name": "scratch"}}]);
        return json!({"monologue": "I look first.", "intent": "look", "tool_calls": calls, "sleep_s": 0});
    }
    let given = section(text, "Answers you build on").matches("answer to").count();
    let answer = match objective {
        wish if wish.contains("worry") => "[NO_ACTION] nothing of note".to_owned(),
        wish if wish.contains("impossible") => "[FAILED] nobody can".to_owned(),
        wish => format!("answer to {}, of {given} before", wish.chars().take(60).collect::<String>()),
    };
    json!({"monologue": answer, "intent": "report", "tool_calls": [], "sleep_s": 0})
}
