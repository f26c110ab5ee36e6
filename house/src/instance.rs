//! Whether a guardian runs here: by the lock it holds and the status it publishes.

use crate::records::text;
use crate::{House, files};
pub use ground::lock::{holder, running};
use serde_json::{Value, json};

/// Whether a guardian runs here and its broker as well.
pub fn broker_runs(house: &House) -> bool {
    let told = running(house).and_then(|pid| published(house, pid));
    told.is_some_and(|told| told.get("broker").and_then(|broker| broker.get("running")) == Some(&true.into()))
}

/// The published status, if the guardian with this process id wrote it; an earlier guardian's is ignored. While its steward
/// is gone, what its heart says of that counts.
pub fn published(house: &House, pid: i32) -> Option<Value> {
    let is_of = |told: &Value| told.get("guardian_pid").and_then(Value::as_i64) == Some(pid.into());
    let told = last_published(house).filter(is_of);
    let heart = files::read_small(&house.heart()).ok().flatten();
    let heart = heart.and_then(|bytes| serde_json::from_slice::<Value>(&bytes).ok()).filter(is_of);
    let Some(note) = heart.as_ref().map(|heart| text(heart, "told")).filter(|note| !note.is_empty()) else {
        return told;
    };
    let mut told = told.unwrap_or_else(|| json!({"version": 1, "guardian_pid": pid}));
    if let Some(told) = told.as_object_mut() {
        // A stand-in's life has a number of its own.
        let of = |name: &str| heart.as_ref()?.get(name)?.as_i64();
        let pid = of("stand_in").filter(|pid| *pid > 0);
        if let (Some(_), Some(life)) = (pid, of("life")) {
            told.insert("life".into(), life.into());
        }
        told.insert("phase".into(), if pid.is_some() { "settled" } else { "resting" }.into());
        told.insert("safe".into(), pid.is_some().into());
        told.insert("note".into(), note.into());
        told.insert("creature_pid".into(), json!(pid));
        for name in ["broker", "channels"] {
            if let Some(Value::Object(program)) = told.get_mut(name) {
                program.insert("running".into(), false.into());
                program.insert("pid".into(), Value::Null);
            }
        }
    }
    Some(told)
}

/// The status published last, whether its guardian still lives or not.
pub fn last_published(house: &House) -> Option<Value> {
    serde_json::from_slice(&files::read_small(&house.published()).ok()??).ok()
}
