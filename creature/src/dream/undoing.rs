//! Before and after: what each part of a dream found and left, kept for a while, and how a bad dream is undone.
//!
//! Invariant: undoing takes back what the dream did and nothing that came after it; done twice, it changes nothing more.

use super::night::{Came, UnderWay};
use crate::fault::Fault;
use crate::paths::House;
use crate::senses::papers;
use crate::tools::Toolbox;
use knowledge::facts;
use serde_json::{Map, Value, json};
use std::fs;
use std::path::{Path, PathBuf};

/// Dreams that are kept.
const MOST_DREAMS: usize = 14;

const MOST_BYTES: u64 = 16 << 20;

const UNREADABLE: &str = "look at .self/mind/dreams with repo.run";

/// Keeps what a part finds, unless it was cut off before and found it then.
pub(super) fn before(tools: &Toolbox, dream: &str, part: &str) -> Result<(), Fault> {
    let folder = tools.house.dreams().join(dream).join(part).join("before");
    if folder.join("agenda.json").exists() {
        return Ok(());
    }
    keep(tools, &folder)
}

/// Keeps what a part left; where that is what it found, nothing needs to be kept.
pub(super) fn after(tools: &Toolbox, dream: &str, part: &str) -> Result<(), Fault> {
    let folder = tools.house.dreams().join(dream).join(part);
    keep(tools, &folder.join("after"))?;
    if kept(&folder.join("before")) == kept(&folder.join("after")) {
        // A folder that stays says the same twice.
        let _ = fs::remove_dir_all(&folder);
    }
    Ok(())
}

fn keep(tools: &Toolbox, folder: &Path) -> Result<(), Fault> {
    let full = |cause: memory::Error| Fault::caused("keep what a dream changes", &cause, "is the disk full?");
    // Facts that cannot be read are not changed by any part.
    if let Ok(facts) = super::facts_text(&tools.house) {
        memory::replace(&folder.join("facts.md"), facts.as_bytes()).map_err(full)?;
    }
    let agenda = serde_json::to_vec(&tools.desk.agenda).unwrap_or_default();
    memory::replace(&folder.join("agenda.json"), &agenda).map_err(full)
}

/// Writes down what came of a dream, and forgets the oldest.
pub(super) fn end(house: &House, dream: &UnderWay) -> Result<(), Fault> {
    report(house, &dream.name, &dream.came, false)?;
    let mut all = dreams(house);
    all.truncate(all.len().saturating_sub(MOST_DREAMS));
    for name in all {
        // One that cannot be removed is met again tomorrow.
        let _ = fs::remove_dir_all(house.dreams().join(name));
    }
    Ok(())
}

fn report(house: &House, name: &str, came: &[Came], undone: bool) -> Result<(), Fault> {
    let text = json!({"name": name, "parts": came, "undone": undone}).to_string();
    memory::replace(&house.dreams().join(name).join("dream.json"), text.as_bytes())
        .map_err(|cause| Fault::caused("write down a dream", &cause, "is the disk full?"))
}

/// Takes back a dream, the last one that was not taken back yet unless it is named; its name and what was done.
pub(crate) fn undo(tools: &mut Toolbox, name: Option<&str>) -> Result<(String, Vec<String>), Fault> {
    let house = tools.house.clone();
    let reports =
        dreams(&house).into_iter().rev().filter_map(|name| Some((read_report(&house, &name)?, name)));
    let found = match name {
        Some(wanted) => reports.into_iter().find(|(_, name)| name == wanted),
        None => reports.into_iter().find(|(report, _)| report.get("undone") != Some(&Value::Bool(true))),
    };
    let Some((report_then, name)) = found else {
        let hint = format!("there are {}", dreams(&house).join(", "));
        return Err(Fault::new("no such dream is kept, or it was undone already", hint));
    };
    let came: Vec<Came> = report_then
        .get("parts")
        .and_then(|parts| serde_json::from_value(parts.clone()).ok())
        .unwrap_or_default();
    let (facts_then, agenda_then) = (super::facts_text(&house), as_json(tools)?);
    let (mut facts_now, mut agenda_now) = (facts_then.clone(), agenda_then.clone());
    for part in came.iter().rev() {
        let folder = house.dreams().join(&name).join(&part.part);
        let (before, after) = (kept(&folder.join("before")), kept(&folder.join("after")));
        if let (Some(before), Some(after), Ok(now)) = (before.0, after.0, &mut facts_now)
            && before != after
        {
            *now = facts::undo(&before, &after, now);
        }
        if let (Some(before), Some(after)) = (before.1, after.1) {
            agenda_now = three_way(Some(&before), Some(&after), Some(&agenda_now)).unwrap_or(agenda_now);
        }
    }
    let mut done = Vec::new();
    tools.record("dream", json!({"undone": name}))?;
    if let Ok(facts) = &facts_now
        && facts_now != facts_then
    {
        super::keep_facts(&house, facts)?;
        done.push("self/facts.md".to_owned());
    }
    if agenda_now != agenda_then {
        tools.desk.agenda = serde_json::from_value(agenda_now)
            .map_err(|cause| Fault::caused("read the agenda of before", &cause, UNREADABLE))?;
        tools.keep_agenda();
        done.push("the agenda".to_owned());
    }
    report(&house, &name, &came, true)?;
    Ok((name, done))
}

fn as_json(tools: &Toolbox) -> Result<Value, Fault> {
    serde_json::to_value(&tools.desk.agenda)
        .map_err(|cause| Fault::caused("write the agenda as JSON", &cause, "look at creature/crates/agenda"))
}

/// Facts and agenda as they were kept.
fn kept(folder: &Path) -> (Option<String>, Option<Value>) {
    let bytes = |name: &str| papers::head(&folder.join(name), 0, MOST_BYTES).ok().map(|(bytes, _)| bytes);
    let facts = bytes("facts.md").and_then(|facts| String::from_utf8(facts).ok());
    (facts, bytes("agenda.json").and_then(|agenda| serde_json::from_slice(&agenda).ok()))
}

fn read_report(house: &House, name: &str) -> Option<Value> {
    let path: PathBuf = house.dreams().join(name).join("dream.json");
    let (bytes, _) = papers::head(&path, 0, MOST_BYTES).ok()?;
    serde_json::from_slice(&bytes).ok()
}

/// The names of the dreams that are kept, oldest first.
fn dreams(house: &House) -> Vec<String> {
    let listing = fs::read_dir(house.dreams()).into_iter().flatten().flatten();
    let mut names: Vec<String> =
        listing.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// What is now, with what changed from `before` to `after` taken back wherever nobody touched it since. Items of a
/// list are told apart by their `id`.
pub fn three_way(before: Option<&Value>, after: Option<&Value>, now: Option<&Value>) -> Option<Value> {
    if before == after {
        return now.cloned();
    }
    if now == after {
        return before.cloned();
    }
    match (before, after, now) {
        (Some(Value::Object(before)), Some(Value::Object(after)), Some(Value::Object(now))) => {
            Some(Value::Object(by_key(before, after, now)))
        }
        (Some(Value::Array(before)), Some(Value::Array(after)), Some(Value::Array(now))) => {
            let (Some(before), Some(after), Some(mine)) = (by_id(before), by_id(after), by_id(now)) else {
                return Some(Value::Array(now.clone()));
            };
            Some(Value::Array(by_key(&before, &after, &mine).into_iter().map(|(_, item)| item).collect()))
        }
        (_, _, now) => now.cloned(),
    }
}

/// In the order of before, what is new after it.
fn by_key(
    before: &Map<String, Value>,
    after: &Map<String, Value>,
    now: &Map<String, Value>,
) -> Map<String, Value> {
    let keys = before.keys().chain(now.keys().filter(|key| !before.contains_key(*key)));
    let merged =
        |key: &String| Some((key.clone(), three_way(before.get(key), after.get(key), now.get(key))?));
    keys.filter_map(merged).collect()
}

fn by_id(list: &[Value]) -> Option<Map<String, Value>> {
    list.iter().map(|item| Some((item.get("id")?.as_str()?.to_owned(), item.clone()))).collect()
}
