//! Writes the creature's part of the owner's settings for it: `.self/settings.json`, replaced whole.

use super::{Reader, declared, forms, read};
use crate::{House, files, moments, risky};
use anyhow::Result;
use serde_json::{Map, Value, json};

/// Sections the creature reads.
const SECTIONS: [&str; 8] =
    ["rest", "agenda", "revenue", "sessions", "dream", "files", "permissions", "self_edit"];
/// Keys of the broker's section `[model]` that the creature reads too: how a model is asked.
const OF_MODEL: [&str; 5] = ["deadline_s", "max_tokens", "context_tokens", "tools", "effort"];

/// Writes the file for a life. The life's number tells a file of this life from one left by an earlier life.
pub fn hand_over(house: &House, life: u64, text: &str) -> Result<()> {
    let document = document(house, life, text, &moments::machine_zone())?;
    files::replace_unsynced(&house.handed_settings(), format!("{document:#}\n").as_bytes())
}

/// The document for the creature now in the house; `text` was checked before. `zone`: the time zone where it names none.
pub fn document(house: &House, life: u64, text: &str, zone: &str) -> Result<Value> {
    let read = read(text, Reader::Guardian, forms::check)?;
    let (declared, undeclared) = declared::load(house);
    let (own, unfollowed) = declared::values(&declared, &read.settings.creature, text);
    let mut told: Vec<String> = read.told.iter().map(|told| format!("owner.toml {told}")).collect();
    told.extend(undeclared.into_iter().chain(unfollowed));
    let mut whole = serde_json::to_value(&read.settings)?;
    if let Some(files) =
        whole.get_mut("files").and_then(Value::as_object_mut).filter(|_| read.settings.files.risky)
    {
        match risky::granted(house, &read.settings.files.risky_root) {
            Ok((folder, _)) => drop(files.insert("risky_root".to_owned(), json!(folder))),
            Err(why) => {
                files.insert("risky".to_owned(), json!(false));
                told.push(format!(
                    "owner.toml [files] risky_root: {why}; the file tools work in the workspace"
                ));
            }
        }
    }
    if let Some(named) = whole.pointer_mut("/agenda/time_zone").filter(|named| named.as_str() == Some("")) {
        *named = json!(zone);
    }
    let mut sections = Map::new();
    for name in SECTIONS {
        sections.insert(name.to_owned(), whole.get(name).cloned().unwrap_or_default());
    }
    let model = OF_MODEL.map(|name| (name.to_owned(), whole.pointer(&format!("/model/{name}")).cloned()));
    let model: Map<String, Value> =
        model.into_iter().map(|(name, value)| (name, value.unwrap_or_default())).collect();
    sections.insert("model".to_owned(), Value::Object(model));
    sections.insert("creature".to_owned(), serde_json::to_value(own)?);
    Ok(json!({"life": life, "told": told, "settings": sections}))
}
