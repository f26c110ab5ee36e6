//! The pulse in a dream: of concerns that say the same for the same thread, the older one stays.

use crate::fault::Fault;
use crate::tools::Toolbox;
use agenda::Change;
use knowledge::facts::Fact;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// An open concern.
pub(super) struct Concern {
    pub id: String,
    pub thread: String,
    pub text: String,
}

pub(super) fn open(tools: &Toolbox) -> Vec<Concern> {
    let pulse = serde_json::to_value(&tools.desk.agenda.pulse).unwrap_or(Value::Null);
    let all = pulse.get("all").and_then(Value::as_array).cloned().unwrap_or_default();
    let text = |item: &Value, key: &str| item.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let open = all.iter().filter(|item| item.get("finished").is_none_or(Value::is_null));
    open.map(|item| Concern { id: text(item, "id"), thread: text(item, "thread"), text: text(item, "text") })
        .collect()
}

pub(super) fn change(change: Value) -> Result<Change, Fault> {
    serde_json::from_value(json!({"pulse": change})).map_err(|cause| {
        Fault::caused("change the pulse", &cause, "look at creature/crates/agenda/src/pulse.rs")
    })
}

/// Closes what says the same as an older concern.
pub(super) fn tend(tools: &mut Toolbox) -> Result<String, Fault> {
    let mut first: BTreeMap<(String, Vec<String>), String> = BTreeMap::new();
    let mut closed = 0;
    for concern in open(tools) {
        let sense = Fact::new(&concern.text, "", "").sense();
        match first.get(&(concern.thread.clone(), sense.clone())) {
            Some(older) => {
                let why = format!("it says the same as {older}");
                tools.change(&change(json!({"do": "close", "id": concern.id, "why": why}))?)?;
                closed += 1;
            }
            None => _ = first.insert((concern.thread, sense), concern.id),
        }
    }
    Ok(format!("{closed} concerns closed"))
}
