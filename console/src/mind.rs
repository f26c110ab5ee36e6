//! `mind`: how it stands with the creature on one page: status, money, wakes, what it means to do, what it did last.

use crate::{agenda, budget, feed};
use guardian::act::heartbeat;
use house::bounds::{NAME_CHARS, brief};
use house::moments::Place;
use house::records::{self, text};
use house::standing::{self, Known};
use house::terminal::hinted;
use house::terminal::{self, typed};
use house::{House, asks, clock, instance, minds, moments};
use jiff::{Timestamp, ToSpan};
use serde_json::{Value, json};
use std::path::Path;

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

/// All of it as one document; `missing` names what could not be read.
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
    let Wakes { last, rests_until, paused } = wakes(house);
    let list = |items: &[agenda::Item]| items.iter().map(agenda::Item::json).collect::<Vec<_>>();
    let status = status(house, &page, &rests_until, &paused);
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

/// What the guardian publishes, the heartbeat of the life that runs, and what keeps it from working.
fn status(house: &House, page: &Value, rests_until: &str, paused: &str) -> Value {
    let Some(pid) = instance::running(house) else {
        let last = instance::last_published(house).unwrap_or_default();
        return json!({"phase": "not running", "note": "no guardian is running here", "life": last.get("life"),
            "commit": text(&last, "commit"), "asks_waiting": asks::waiting(house).len()});
    };
    let told = instance::published(house, pid).unwrap_or_default();
    let claim = heartbeat::read(&house.heartbeat()).unwrap_or_default();
    let lives = told.get("creature_pid").is_some_and(Value::is_number)
        && told.get("life").and_then(Value::as_u64) == Some(claim.life);
    let beat = records::newest(&house.heartbeat(), MOST_BYTES).next().filter(|_| lives).unwrap_or_default();
    let stage = brief(text(&beat, "stage"), NAME_CHARS);
    let does = Known::read(house).headline(moments::now(), &Place::here()).text;
    let model = minds::in_use(page).filter(|_| instance::broker_runs(house));
    json!({
        "does": does, "phase": text(&told, "phase"), "note": text(&told, "note"), "life": told.get("life"),
        "commit": text(&told, "commit"), "blessed": told.get("blessed"), "mind": brief(text(&beat, "mind"), NAME_CHARS),
        "model": model, "down": minds::down(page), "rests_until": if stage == "resting" { rests_until } else { "" },
        "paused": if stage == "resting" { paused } else { "" },
        "stage": stage, "next_try": text(&beat, "next_try"), "spent": beat.get("spent"), "own": claim.own, "walls": text(&told, "walls"),
        "asks_waiting": asks::waiting(house).len(),
    })
}

/// What the creature's own feed says of its wakes; empty where it does not.
#[derive(Default)]
struct Wakes {
    /// The last one, with its reasons.
    last: Value,
    /// When the rest after it ends.
    rests_until: String,
    /// What holds it meanwhile.
    paused: String,
}

fn wakes(house: &House) -> Wakes {
    let newest = |path: &Path| records::newest(path, MOST_BYTES).collect::<Vec<_>>();
    let mut events = newest(&house.events());
    if !events.iter().any(|event| text(event, "event") == "wakeup") {
        events =
            newest(&house.events().with_file_name("feed.before.jsonl")).into_iter().chain(events).collect();
    }
    let mut wakes = Wakes::default();
    for event in &events {
        let data = event.get("data").unwrap_or(&Value::Null);
        match text(event, "event") {
            "wakeup" => {
                let why = data.get("why").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
                let why: Vec<String> =
                    why.iter().filter_map(Value::as_str).map(|why| brief(why, NAME_CHARS)).collect();
                wakes.last = json!({"at": text(event, "at"), "wake": data.get("wake"), "why": why});
                wakes.rests_until.clear();
            }
            "sleep" => {
                let rest_ms = data.get("rest_ms").and_then(Value::as_i64).unwrap_or(0);
                let begun: Option<Timestamp> = text(event, "at").parse().ok();
                let end = begun.and_then(|begun| begun.checked_add(rest_ms.milliseconds()).ok());
                wakes.rests_until = end.map(|end| format!("{end:.3}")).unwrap_or_default();
            }
            "paused" => wakes.paused = brief(&standing::paused(data), NAME_CHARS),
            "resumed" => wakes.paused.clear(),
            _ => {}
        }
    }
    wakes
}

/// When it wakes by itself, and for what: what comes due by then, or else because the rest is over.
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

/// What it did last, the newest last.
fn acts(house: &House) -> Vec<Value> {
    let records = records::newest(&house.memory(), MOST_BYTES);
    let mut acts: Vec<Value> = Vec::new();
    for record in records.filter(|record| text(record, "kind") == "action") {
        let Some(row) = feed::row(&record) else { continue };
        let data = record.get("data").unwrap_or(&Value::Null);
        acts.push(
            json!({"at": text(&record, "at"), "thought": data.get("thought"), "tool": text(data, "tool"),
            "told": brief(&row.text, ACT_CHARS)}),
        );
        if acts.len() > MOST_ACTS {
            acts.remove(0);
        }
    }
    acts
}

fn tell(facts: &Value) {
    let part = |name: &str| facts.get(name).unwrap_or(&Value::Null);
    let list = |name: &str| part(name).as_array().map(Vec::as_slice).unwrap_or_default();
    tell_status(part("status"));
    for (number, line) in list("budget_told").iter().filter_map(Value::as_str).enumerate() {
        if number == 0 { terminal::field("budget", line) } else { terminal::below(1, line) }
    }
    let last = part("last_wake");
    if !last.is_null() {
        let why = texts(last, "why");
        let why = if why.is_empty() { "no reason told".into() } else { why.join("; ") };
        terminal::field("last wake", &format!("{}: {why}", moments::near(text(last, "at"))));
    }
    let next = part("next_wake");
    let is_alive = !text(part("status"), "mind").is_empty();
    let next = match texts(next, "why").as_slice() {
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
        ["earned_usd", "pending_usd", "expected_usd"].map(|name| agenda::usd(revenue, name));
    terminal::field(
        "revenue",
        &format!("${earned:.2} earned, ${pending:.2} executed and not received, ${expected:.2} hoped for"),
    );
    let acts = list("acts");
    terminal::field("last acts", if acts.is_empty() { "none on record" } else { "" });
    for act in acts {
        terminal::below(1, &format!("{} {}", moments::near(text(act, "at")), text(act, "told")));
    }
    list("missing").iter().filter_map(Value::as_str).for_each(|what| terminal::field("missing", what));
    terminal::line(&format!("more: {}, or goals, budget, asks", typed("why")));
}

fn tell_status(status: &Value) {
    let commit: String = text(status, "commit").chars().take(7).collect();
    let life = status.get("life").and_then(Value::as_u64).filter(|life| *life > 0);
    let life = life.map(|life| format!(", life {life} at {commit}")).unwrap_or_default();
    terminal::field("status", &format!("{}{life}", hinted(text(status, "note"))));
    let does = text(status, "does");
    let is_more = |does: &&str| !does.is_empty() && *does != text(status, "note");
    let mut lines: Vec<String> = Some(does).filter(is_more).map(hinted).into_iter().collect();
    lines.extend(
        Some(text(status, "model")).filter(|told| !told.is_empty()).map(|told| format!("model: {told}")),
    );
    lines.extend(texts(status, "down").iter().map(|told| format!("down: {told}")));
    let own = text(status, "own");
    lines.extend((!own.is_empty()).then(|| format!("its own wakes: {own}")));
    let waiting = status.get("asks_waiting").and_then(Value::as_u64).unwrap_or(0);
    lines.extend((waiting > 0).then(|| format!("{}: {}", asks::told(waiting), typed("asks"))));
    lines.iter().for_each(|line| terminal::below(1, line));
}

fn texts<'a>(value: &'a Value, name: &str) -> Vec<&'a str> {
    let list = value.get(name).and_then(Value::as_array).into_iter().flatten();
    list.filter_map(Value::as_str).collect()
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

/// An item in a line: when, what, why, and what is next.
fn line(item: &Value) -> String {
    let [id, title, next, due, why] = ["id", "title", "next", "due", "why"].map(|name| text(item, name));
    let due = if due.is_empty() { String::new() } else { format!("; {}", moments::off(due)) };
    let why = if why.is_empty() { String::new() } else { format!(" ({why})") };
    let next = if next.is_empty() { String::new() } else { format!("; next: {next}") };
    format!("{id} {title}{why}{due}{next}")
}
