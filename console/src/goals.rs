//! `goals`: the creature's goals and plans, with steps and times, open ones first; or an item whole.

use crate::agenda::{self, Item};
use anyhow::{Result, bail};
use house::bounds::brief;
use house::printable::flat;
use house::records::{text, view::field};
use house::terminal::{self, typed};
use house::{House, clock, moments};
use serde_json::{Value, json};

/// Ended items of a kind that are shown, and ids named where one is not found.
const MOST_ENDED: usize = 3;
const MOST_NAMED: usize = 8;

/// The kinds as they are told.
const TOLD: [(&str, &str); 8] = [
    ("requests", "requests"),
    ("goals", "goals"),
    ("opportunities", "ways"),
    ("tasks", "tasks"),
    ("directives", "orders"),
    ("reminders", "reminders"),
    ("pulse", "concerns"),
    ("gaps", "gaps"),
];

/// Shows all items, or the one with this id; exit status 1 where they cannot be read.
pub fn show(house: &House, id: Option<&str>, as_json: bool) -> Result<u8> {
    let read = agenda::read(house);
    let agenda = read.as_ref().ok().cloned().flatten().unwrap_or_default();
    let items = agenda::items(&agenda, &clock::stamp());
    if let Some(id) = id {
        if let Err(why) = read {
            bail!("{why}");
        }
        return one(&items, id, as_json);
    }
    let missing = match &read {
        Ok(Some(_)) => None,
        Ok(None) => Some("it means to do nothing yet: .self/mind/agenda.json is not there".to_owned()),
        Err(why) => Some(why.clone()),
    };
    if as_json {
        let items: Vec<Value> = sorted(&items).iter().map(|item| item.json()).collect();
        terminal::json(&json!({"items": items, "revenue": agenda::revenue(&agenda), "missing": missing}));
    } else {
        tell(&items);
        missing.iter().for_each(|missing| terminal::line(missing));
    }
    Ok(u8::from(read.is_err()))
}

/// Open items before those that ended; of each the file's order.
fn sorted(items: &[Item]) -> Vec<&Item> {
    let (open, ended): (Vec<&Item>, Vec<&Item>) = items.iter().partition(|item| item.is_open());
    open.into_iter().chain(ended).collect()
}

fn tell(items: &[Item]) {
    let mut is_nothing = true;
    for (kind, name) in TOLD {
        let of_kind: Vec<&Item> = sorted(items).into_iter().filter(|item| item.kind == kind).collect();
        let (open, ended): (Vec<&Item>, Vec<&Item>) = of_kind.into_iter().partition(|item| item.is_open());
        if open.is_empty() && ended.is_empty() {
            continue;
        }
        is_nothing = false;
        terminal::field(name, &format!("{} open, {} ended", open.len(), ended.len()));
        for item in open {
            let mark = if item.state == "awaiting" { "? " } else { "" };
            let why = if item.why.is_empty() { String::new() } else { format!(" ({})", item.why) };
            terminal::below(1, &format!("{mark}{}{why}", item.line()));
            steps(&item.whole);
        }
        for item in ended.iter().rev().take(MOST_ENDED) {
            let why = if item.why.is_empty() { String::new() } else { format!(" ({})", item.why) };
            terminal::below(1, &format!("{}: {} {}{why}", item.state, item.id, item.title));
        }
    }
    if is_nothing {
        terminal::line("no goal, task or reminder is on its agenda");
    } else {
        terminal::line(&format!("one whole: {}", typed("goals ID")));
    }
}

/// The steps of a goal, a line each, with the attempts.
fn steps(goal: &Value) {
    let steps = agenda::steps(goal);
    if steps.len() < 2 {
        return;
    }
    for step in steps {
        let mark = match text(step, "status") {
            "done" => "x",
            "active" => ">",
            "failed" => "!",
            "blocked" => "-",
            _ => " ",
        };
        let tries: u64 = field(step, "attempts");
        let why = text(step, "reason");
        let why = if why.is_empty() {
            String::new()
        } else {
            format!(" (tried {tries} times: {})", brief(why, agenda::AIM_CHARS))
        };
        terminal::below(2, &format!("[{mark}] {}{why}", brief(text(step, "text"), agenda::AIM_CHARS)));
    }
}

/// Prints an item with every field, times as the owner reads them.
fn one(items: &[Item], id: &str, as_json: bool) -> Result<u8> {
    let Some(item) = items.iter().find(|item| item.id == id) else {
        let ids: Vec<&str> = sorted(items).iter().take(MOST_NAMED).map(|item| item.id.as_str()).collect();
        let there = if ids.is_empty() {
            "nothing is on its agenda".into()
        } else {
            let more =
                if items.len() > ids.len() { format!("; {} has all", typed("goals")) } else { String::new() };
            format!("there are {}{more}", ids.join(", "))
        };
        bail!("nothing on its agenda is called `{}`; {}", flat(&brief(id, 80)), flat(&there));
    };
    if as_json {
        let mut whole = item.json();
        if let Some(fields) = whole.as_object_mut() {
            fields.insert("whole".into(), item.whole.clone());
        }
        terminal::json(&whole);
        return Ok(0);
    }
    fields(&item.whole, 0);
    if item.state == "awaiting" {
        terminal::line(&format!("yes: {}", typed(&format!("say --thread main \"approve {}\"", item.id))));
    }
    Ok(0)
}

fn fields(value: &Value, steps: usize) {
    for (name, value) in value.as_object().into_iter().flatten() {
        let name = brief(name, agenda::AIM_CHARS);
        match value {
            Value::Null => {}
            Value::String(text) if text.is_empty() => {}
            Value::String(text)
                if name.ends_with("_at") || matches!(name.as_str(), "at" | "next" | "last") =>
            {
                let told =
                    if text.parse::<jiff::Timestamp>().is_ok() { moments::off(text) } else { text.clone() };
                terminal::below(steps, &format!("{name}: {told}"));
            }
            Value::String(text) => terminal::below(steps, &format!("{name}: {text}")),
            Value::Bool(_) | Value::Number(_) => terminal::below(steps, &format!("{name}: {value}")),
            Value::Array(list) => {
                terminal::below(steps, &format!("{name}:"));
                for (number, one) in list.iter().enumerate() {
                    if one.is_object() {
                        terminal::below(steps + 1, &format!("{}.", number + 1));
                        fields(one, steps + 2);
                    } else {
                        terminal::below(steps + 1, &one.to_string());
                    }
                }
            }
            Value::Object(_) => {
                terminal::below(steps, &format!("{name}:"));
                fields(value, steps + 1);
            }
        }
    }
}
