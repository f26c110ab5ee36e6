//! Facts and agenda before and after each part of a dream, kept for the last dreams, and how a dream is undone.
//!
//! Invariant: undoing takes back what the dream did and nothing that came after it; undoing twice does no more.

use super::facts::{MOST_FACTS, facts_text, keep_facts};
use super::state::{PartResult, UnderWay};
use crate::fault::Fault;
use crate::paths::House;
use crate::store::Store;
use ground::files;
use knowledge::facts;
use memory::state;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::path::Path;

/// Dreams that are kept.
const MOST_DREAMS: usize = 14;

/// Report of a dream, as it is kept beside its parts.
#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
struct Report {
    name: String,
    parts: Vec<PartResult>,
    undone: bool,
}

/// Keeps facts and agenda as a part finds them, unless an earlier try of it that was cut off kept them.
pub(crate) fn before(store: &Store, dream: &str, part: &str) -> Result<(), Fault> {
    let folder = store.house.dreams().join(dream).join(part).join("before");
    if folder.join("agenda.json").exists() { Ok(()) } else { keep(store, &folder) }
}

/// Keeps facts and agenda as a part left them; keeps neither where the part changed nothing.
pub(crate) fn after(store: &Store, dream: &str, part: &str) -> Result<(), Fault> {
    let folder = store.house.dreams().join(dream).join(part);
    keep(store, &folder.join("after"))?;
    if kept(&folder.join("before")) == kept(&folder.join("after")) {
        // A folder that cannot be removed does no harm: both its sides are the same.
        let _ = files::remove(&folder);
    }
    Ok(())
}

fn keep(store: &Store, folder: &Path) -> Result<(), Fault> {
    let full = |cause: memory::Error| Fault::caused("keep what a dream changes", &cause, "is the disk full?");
    let (facts, agenda) = now(store);
    if let Some(facts) = facts {
        memory::replace(&folder.join("facts.md"), facts.as_bytes()).map_err(full)?;
    }
    let agenda = agenda.unwrap_or_default().to_string();
    memory::replace(&folder.join("agenda.json"), agenda.as_bytes()).map_err(full)
}

/// Writes down what came of a dream, and forgets the oldest.
pub(crate) fn end(house: &House, dream: &UnderWay) -> Result<(), Fault> {
    write(house, &Report { name: dream.name.clone(), parts: dream.came.clone(), undone: false })?;
    let mut all = dreams(house);
    all.truncate(all.len().saturating_sub(MOST_DREAMS));
    for name in all {
        // A folder that cannot be removed is tried again after the next dream.
        let _ = files::remove(&house.dreams().join(name));
    }
    Ok(())
}

fn write(house: &House, report: &Report) -> Result<(), Fault> {
    state::write(&house.dreams().join(&report.name).join("dream.json"), report)
        .map_err(|cause| Fault::caused("write down a dream", &cause, "is the disk full?"))
}

/// Undoes the dream of this name, else the last one not undone yet; returns its name and what was put back.
pub(crate) fn undo(store: &mut Store, name: Option<&str>) -> Result<(String, Vec<String>), Fault> {
    let house = store.house.clone();
    let mut reports = dreams(&house).into_iter().rev().filter_map(|name| {
        let report: Report = state::read(&house.dreams().join(&name).join("dream.json"))?;
        Some(Report { name, ..report })
    });
    let found = reports.find(|report| name.map_or(!report.undone, |name| report.name == name));
    let Some(report) = found else {
        let hint = format!("there are {}", dreams(&house).join(", "));
        return Err(Fault::new("no such dream is kept, or it was undone already", hint));
    };
    let (facts_then, agenda_then) = now(store);
    let (mut facts_now, mut agenda_now) = (facts_then.clone(), agenda_then.clone());
    for part in report.parts.iter().rev() {
        let folder = house.dreams().join(&report.name).join(&part.part);
        let (before, after) = (kept(&folder.join("before")), kept(&folder.join("after")));
        if let (Some(before), Some(after), Some(now)) = (before.0, after.0, &mut facts_now)
            && before != after
        {
            *now = facts::undo(&before, &after, now);
        }
        if let (Some(before), Some(after)) = (&before.1, &after.1) {
            agenda_now = three_way(Some(before), Some(after), agenda_now.as_ref());
        }
    }
    let mut done = Vec::new();
    store.record("dream", json!({"undone": report.name}))?;
    if let Some(facts) = &facts_now
        && facts_now != facts_then
    {
        keep_facts(&house, facts)?;
        done.push("self/facts.md".to_owned());
    }
    if agenda_now != agenda_then {
        let hint = "look at .self/mind/dreams with repo.run";
        store.agenda = serde_json::from_value(agenda_now.unwrap_or_default())
            .map_err(|cause| Fault::caused("read the agenda of before", &cause, hint))?;
        store.keep_agenda();
        done.push("the agenda".to_owned());
    }
    let report = Report { undone: true, ..report };
    write(&house, &report)?;
    Ok((report.name, done))
}

/// Facts and agenda as they are now; none for facts that cannot be read, which no part of a dream changes.
fn now(store: &Store) -> (Option<String>, Option<Value>) {
    (facts_text(&store.house).ok(), serde_json::to_value(&store.agenda).ok())
}

/// Facts and agenda as they were kept in a folder.
fn kept(folder: &Path) -> (Option<String>, Option<Value>) {
    let facts = files::head(&folder.join("facts.md"), 0, MOST_FACTS).ok();
    let facts = facts.and_then(|(bytes, _)| String::from_utf8(bytes).ok());
    (facts, state::read(&folder.join("agenda.json")))
}

/// The names of the dreams that are kept, oldest first.
fn dreams(house: &House) -> Vec<String> {
    let mut names: Vec<_> = files::entries(&house.dreams())
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

/// `now` with what changed from `before` to `after` taken back, wherever it was not changed again since. Items
/// of a list are told apart by their `id`.
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
        _ => match (before.and_then(by_id), after.and_then(by_id), now.and_then(by_id)) {
            (Some(before), Some(after), Some(now)) => {
                Some(by_key(&before, &after, &now).into_iter().map(|(_, item)| item).collect())
            }
            _ => now.cloned(),
        },
    }
}

/// `three_way` of each field, in the order of `before`; fields that are new come after.
fn by_key(
    before: &Map<String, Value>,
    after: &Map<String, Value>,
    now: &Map<String, Value>,
) -> Map<String, Value> {
    let keys = before.keys().chain(now.keys().filter(|key| !before.contains_key(*key)));
    let mixed = |key: &String| three_way(before.get(key), after.get(key), now.get(key));
    keys.filter_map(|key| Some((key.clone(), mixed(key)?))).collect()
}

fn by_id(list: &Value) -> Option<Map<String, Value>> {
    let named = |item: &Value| Some((item.get("id")?.as_str()?.to_owned(), item.clone()));
    list.as_array()?.iter().map(named).collect()
}
