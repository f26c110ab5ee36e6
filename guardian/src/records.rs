//! What the guardian leaves for readers: a line for each thing it did, and the evidence of each death.

use crate::house::House;
use crate::{clock, files, way};
use serde_json::{Map, Value, json};
use std::io::Read;

/// Largest history or deaths file; past it the older half goes to `kept/`.
const MOST_BYTES: u64 = 16 << 20;

/// Appends `{"at", "what", …}` to the history. A full disk costs the line, not the house.
pub fn tell(house: &House, what: &str, data: Value) {
    append(house, house.history(), &line(what, data));
}

/// As `tell`, but not again what the last lines already say: a step that a kill has us redo is told once.
pub fn tell_once(house: &House, what: &str, data: Value) {
    let new = line(what, data);
    let same =
        |old: Value| new.as_object().into_iter().flatten().all(|(k, v)| k == "at" || old.get(k) == Some(v));
    let tail = files::tail(&house.history(), 64 << 10);
    if !tail.lines().filter_map(|line| serde_json::from_str(line).ok()).any(same) {
        append(house, house.history(), &new);
    }
}

/// Appends a death with its evidence.
pub fn bury(house: &House, death: &Value) {
    append(house, house.deaths(), death);
}

fn line(what: &str, data: Value) -> Value {
    let mut line = Map::new();
    line.insert("at".into(), clock::stamp().into());
    line.insert("what".into(), what.into());
    if let Value::Object(data) = data {
        line.extend(data);
    }
    Value::Object(line)
}

fn append(house: &House, path: std::path::PathBuf, value: &Value) {
    if std::fs::symlink_metadata(&path).is_ok_and(|meta| !meta.is_file() || meta.len() > MOST_BYTES) {
        let _ = way::aside(house, &path);
    }
    let _ = path.parent().map(std::fs::create_dir_all);
    if let Err(error) = files::append_line(&path, &value.to_string()) {
        tracing::error!("{error:#}");
    }
}

/// Lines of a record file that parse, oldest first; the others are counted.
pub fn read(path: &std::path::Path) -> (Vec<Value>, usize) {
    let mut bytes = Vec::new();
    // What cannot be read to its end is read as far as it goes.
    _ = files::open(path).map(|file| file.map(|mut file| file.read_to_end(&mut bytes)));
    let (mut good, mut bad) = (Vec::new(), 0);
    for line in bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
        match serde_json::from_slice::<Value>(line) {
            Ok(value) if value.is_object() => good.push(value),
            _ => bad += 1,
        }
    }
    (good, bad)
}

/// A text field of a record, empty when it is not there.
pub fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// What the next life and readers are told of an end.
pub fn end(life: u64, commit: &str, ended: Value, blame: Value, end: &crate::run::End) -> Value {
    json!({
        "at": clock::stamp(), "life": life, "commit": commit, "ended": ended, "cause": end.cause,
        "blame": blame, "lived_s": end.lived_ms as f64 / 1_000.0, "log_tail": end.log_tail,
    })
}
