//! `mind`: the creature's state on one page: status, money, wakes, plans, last acts.

use crate::why::found;
use crate::{agenda, back, budget, feed};
use house::bounds::{NAME_CHARS, brief, short};
use house::moments::Place;
use house::records::memory::Record;
use house::records::{self, text, view::field};
use house::standing::Known;
use house::terminal::hinted;
use house::terminal::{self, typed};
use house::{House, asks, clock, heartbeat, instance, minds, moments};
use jiff::{Timestamp, ToSpan};
use serde_json::{Value, json};
use std::ops::ControlFlow;

/// Bytes read from the end of memory and of the file of events.
const MOST_BYTES: u64 = 1 << 20;
/// Items of the stack, items that come due, and acts that are shown.
const MOST_ITEMS: usize = 8;
const MOST_DUE: usize = 5;
const MOST_ACTS: usize = 6;
const ACT_CHARS: usize = 160;

pub fn show(house: &House, as_json: bool) -> u8 {
    let facts = facts(house);
    if as_json {
        terminal::json(&facts);
    } else {
        tell(&facts);
    }
    0
}

/// All of it as one document; `missing` names the parts that could not be read.
pub fn facts(house: &House) -> Value {
    let now = clock::stamp();
    let (agenda, mut missing) = match agenda::read(house) {
        Ok(Some(agenda)) => (agenda, vec![]),
        Ok(None) => (Value::Null, vec!["no agenda yet: .self/mind/agenda.json is not there".to_owned()]),
        Err(why) => (Value::Null, vec![why]),
    };
    let items = agenda::items(&agenda, &now);
    let due = agenda::due(&items, &now);
    let (page, page_missing) = budget::page(house);
    missing.extend(page_missing);
    let known = Known::read(house);
    let last =
        known.woke.map(|woke| json!({"at": format!("{woke:.3}"), "wake": known.wake, "why": known.why}));
    let list = |items: &[agenda::Item]| items.iter().map(agenda::Item::json).collect::<Vec<_>>();
    let status = status(house, &page, &known);
    let next = next_wake(text(&status, "rests_until"), &due);
    let acts = acts(house);
    if !house.memory().exists() {
        missing.push("it remembers nothing yet: .self/memory.jsonl is not there".into());
    }
    json!({
        "at": now,
        "status": status,
        "budget": page,
        "budget_told": budget::lines(house, &page),
        "last_wake": last,
        "next_wake": next,
        "orders": list(&agenda::orders(&items)),
        "stack": list(&agenda::stack(&items, &agenda::Ranks::of(house, &items), &now)),
        "due": list(&due),
        "revenue": agenda::revenue(&agenda),
        "acts": acts,
        "missing": missing,
    })
}

/// Reports the guardian's published state, the heartbeat of the running life, and obstacles to its work.
fn status(house: &House, page: &Value, known: &Known) -> Value {
    let told = &known.told;
    if instance::running(house).is_none() {
        return json!({"phase": "not running", "note": "no guardian is running here", "life": told.get("life"),
            "commit": text(told, "commit"), "asks_waiting": asks::waiting(house).len()});
    }
    let claim = heartbeat::read(&house.heartbeat()).unwrap_or_default();
    let beat = if known.lives() { &known.beat } else { &Value::Null };
    let stage = brief(text(beat, "stage"), NAME_CHARS);
    let rests_until = known.rests_until.filter(|_| stage == "resting");
    let does = known.headline(moments::now(), &Place::here()).text;
    let model = minds::in_use(page).filter(|_| instance::broker_runs(house));
    json!({
        "does": does, "phase": text(told, "phase"), "note": text(told, "note"), "life": told.get("life"),
        "commit": text(told, "commit"), "blessed": told.get("blessed"), "mind": brief(text(beat, "mind"), NAME_CHARS),
        "model": model, "down": minds::down(page), "rests_until": rests_until.map(|at| format!("{at:.3}")).unwrap_or_default(),
        "paused": if stage == "resting" { &known.paused } else { "" },
        "stage": stage, "next_try": text(beat, "next_try"), "spent": beat.get("spent"), "own": claim.own, "walls": text(told, "walls"),
        "asks_waiting": asks::waiting(house).len(),
    })
}

/// Returns when it wakes by itself, and why: the items due by then, or else the end of the rest.
fn next_wake(rests_until: &str, due: &[agenda::Item]) -> Value {
    if rests_until.is_empty() {
        return Value::Null;
    }
    // A rest is cut to what comes due to the second.
    let until = rests_until.parse::<Timestamp>().ok().and_then(|until| until.checked_add(2.seconds()).ok());
    let until = until.map(|until| format!("{until:.3}")).unwrap_or_default();
    let why: Vec<String> = due
        .iter()
        .filter(|item| item.due < until)
        .map(|item| format!("{} {}", item.id, item.title))
        .collect();
    json!({"at": rests_until, "why": why})
}

/// Returns its last acts, the newest last.
fn acts(house: &House) -> Vec<Value> {
    let mut acts = Vec::new();
    back::lines(
        found::files(house),
        None,
        MOST_BYTES,
        |_| true,
        |line| {
            let record = records::parse(line.bytes).unwrap_or_default();
            if let Some((act, row)) = Record(&record).action().zip(feed::row(&record)) {
                let told = brief(&row.text, ACT_CHARS);
                acts.push(json!({"at": Record(&record).at(), "thought": act.thought(), "tool": act.tool(), "told": told}));
            }
            if acts.len() < MOST_ACTS { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        },
    );
    acts.reverse();
    acts
}

fn tell(facts: &Value) {
    let part = |name: &str| facts.get(name).unwrap_or(&Value::Null);
    let list = |name: &str| field::<&[Value]>(facts, name);
    let told = |name: &str| field::<Vec<&str>>(facts, name);
    tell_status(part("status"));
    for (number, line) in told("budget_told").into_iter().enumerate() {
        if number == 0 { terminal::field("budget", line) } else { terminal::below(1, line) }
    }
    let last = part("last_wake");
    if !last.is_null() {
        let why: Vec<&str> = field(last, "why");
        let why = if why.is_empty() { "no reason told".into() } else { why.join("; ") };
        terminal::field("last wake", &format!("{}: {why}", moments::near(text(last, "at"))));
    }
    let next = part("next_wake");
    let is_alive = !text(part("status"), "mind").is_empty();
    let next = match field::<Vec<&str>>(next, "why").as_slice() {
        _ if !is_alive => "none: nobody lives here now".to_owned(),
        _ if next.is_null() => "it is awake".to_owned(),
        [] => format!(
            "{}: its rest is over then; a word of yours wakes it before",
            moments::off(text(next, "at"))
        ),
        why => format!("{}: {}", moments::off(text(next, "at")), why.join("; ")),
    };
    terminal::field("next wake", &next);
    if !list("orders").is_empty() {
        rows("orders", list("orders"), MOST_ITEMS, "", "goals");
    }
    rows("means to", list("stack"), MOST_ITEMS, "nothing", "goals");
    rows("due", list("due"), MOST_DUE, "nothing by the clock", "goals");
    let revenue = part("revenue");
    let [earned, pending, expected] =
        ["earned_usd", "pending_usd", "expected_usd"].map(|name| field::<f64>(revenue, name));
    terminal::field(
        "revenue",
        &format!("${earned:.2} earned, ${pending:.2} executed and not received, ${expected:.2} hoped for"),
    );
    let acts = list("acts");
    terminal::field("last acts", if acts.is_empty() { "none on record" } else { "" });
    for act in acts {
        terminal::below(1, &format!("{} {}", moments::near(text(act, "at")), text(act, "told")));
    }
    told("missing").into_iter().for_each(|what| terminal::field("missing", what));
    terminal::line(&format!("more: {}, or goals, budget, asks", typed("why")));
}

fn tell_status(status: &Value) {
    let life = match field::<u64>(status, "life") {
        0 => String::new(),
        life => format!(", life {life} at {}", short(text(status, "commit"))),
    };
    terminal::field("status", &format!("{}{life}", hinted(text(status, "note"))));
    let does = text(status, "does");
    let is_more = |does: &&str| !does.is_empty() && *does != text(status, "note");
    let mut lines: Vec<String> = Some(does).filter(is_more).map(hinted).into_iter().collect();
    lines.extend(
        Some(text(status, "model")).filter(|told| !told.is_empty()).map(|told| format!("model: {told}")),
    );
    lines.extend(field::<Vec<&str>>(status, "down").iter().map(|told| format!("down: {told}")));
    let own = text(status, "own");
    lines.extend((!own.is_empty()).then(|| format!("its own wakes: {own}")));
    let waiting: u64 = field(status, "asks_waiting");
    lines.extend((waiting > 0).then(|| format!("{}: {}", asks::told(waiting), typed("asks"))));
    lines.iter().for_each(|line| terminal::below(1, line));
}

/// The first items of a list, a line each, and how many more there are.
fn rows(name: &str, items: &[Value], most: usize, none: &str, more: &str) {
    terminal::field(name, if items.is_empty() { none } else { "" });
    for item in items.iter().take(most) {
        terminal::below(1, &line(item));
    }
    if items.len() > most {
        terminal::below(1, &format!("and {} more: {}", items.len() - most, typed(more)));
    }
}

/// Writes an item in a line: its time, text, reason and next step.
fn line(item: &Value) -> String {
    let [id, title, next, due, why] = ["id", "title", "next", "due", "why"].map(|name| text(item, name));
    let due = if due.is_empty() { String::new() } else { format!("; {}", moments::off(due)) };
    let why = if why.is_empty() { String::new() } else { format!(" ({why})") };
    let next = if next.is_empty() { String::new() } else { format!("; next: {next}") };
    format!("{id} {title}{why}{due}{next}")
}
