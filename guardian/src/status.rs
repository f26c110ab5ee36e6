//! The status, as a screen or a JSON object: from what the guardian publishes, the broker's page and the heartbeat.

use crate::act::heartbeat;
use anyhow::Result;
use house::instance::{last_published, published, running};
use house::records::text;
use house::{House, broker_page, files, moments, own_time, terminal};
use serde_json::{Value, json};

/// What the living creature says its own wakes achieved.
fn own_wakes(house: &House, document: &Value) -> String {
    let number = |name: &str| document.get(name).and_then(Value::as_u64);
    let claim = heartbeat::read(&house.heartbeat()).unwrap_or_default();
    let lives = number("creature_pid").is_some() && number("life") == Some(claim.life);
    if lives { claim.own } else { String::new() }
}

/// Prints the status; exit status 3 when no guardian runs.
pub fn print(house: &House, as_json: bool) -> Result<u8> {
    let pid = running(house);
    let mut document = match pid {
        Some(pid) => published(house, pid).unwrap_or_else(|| {
            json!({"phase": "starting", "note": format!("the guardian, process {pid}, has said nothing yet")})
        }),
        None => last_published(house).unwrap_or_else(|| json!({"phase": "never started"})),
    };
    if let (None, Some(fields)) = (pid, document.as_object_mut()) {
        fields.insert("phase".into(), "not running".into());
        fields.insert("note".into(), "no guardian is running here".into());
        fields.insert("mind".into(), "".into());
        fields.insert("guardian_pid".into(), Value::Null);
        fields.insert("creature_pid".into(), Value::Null);
        if let Some(Value::Object(broker)) = fields.get_mut("broker") {
            broker.insert("running".into(), false.into());
            broker.insert("pid".into(), Value::Null);
            broker.insert("note".into(), "not running".into());
        }
    }
    let own = own_wakes(house, &document);
    if as_json {
        if let Some(fields) = document.as_object_mut() {
            fields.insert("own".into(), own.into());
            let page = files::read_small(&house.budget()).ok().flatten().unwrap_or_default();
            let page = serde_json::from_slice::<Value>(&page).unwrap_or_default();
            fields.insert("autonomy".into(), own_time::of(&page).cloned().unwrap_or_default());
        }
        terminal::json(&document);
    } else {
        for name in ["phase", "note", "life", "commit", "blessed", "last_good", "mind", "safe", "walls"] {
            match document.get(name) {
                Some(Value::String(text)) if !text.is_empty() => terminal::field(name, text),
                Some(Value::Null | Value::String(_)) | None => {}
                Some(value) => terminal::field(name, &value.to_string()),
            }
        }
        for (name, line) in broker_page::lines(house, document.get("broker")) {
            terminal::field(name, &line);
        }
        if !own.is_empty() {
            terminal::field("own wakes", &own);
        }
        if let Some(end) = document.get("ends").and_then(Value::as_array).and_then(|ends| ends.last()) {
            let [at, ended, cause] = ["at", "ended", "cause"].map(|name| text(end, name));
            let told = format!("{}: {} ({cause})", moments::told(at), ended.replace('_', " "));
            terminal::field("last death", &told);
        }
    }
    Ok(if pid.is_some() { 0 } else { 3 })
}
