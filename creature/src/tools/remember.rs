//! `memory.*`: what a mind chooses to remember, beside what the loop records of it.

use super::arguments::Arguments;
use super::{Toolbox, owner};
use crate::digest::{self, Facts};
use crate::fault::Fault;
use crate::senses::papers;
use memory::snapshot;
use serde_json::{Value, json};

/// Kinds that tell what happened; a mind may not write them itself.
const RESERVED: [&str; 7] = ["thought", "action", "self_change", "heartbeat", "snapshot", "death", "agenda"];

const MOST_BYTES: usize = 32 * 1024;

/// Characters of a snapshot; all of it goes into every thought from then on.
const MOST_SNAPSHOT: usize = 8_000;

/// Records a made snapshot is drawn from.
const MOST_RECORDS: usize = 400;
const MOST_RECORD_BYTES: u64 = 4 * 1024 * 1024;

pub fn append(tools: &mut Toolbox, args: &Arguments) -> Result<Value, Fault> {
    let kind = args.maybe_text("kind")?.unwrap_or("observation");
    let plain = |letter: char| letter.is_ascii_lowercase() || letter == '_';
    if RESERVED.contains(&kind) || kind.is_empty() || kind.len() > 32 || !kind.chars().all(plain) {
        return Err(args.fault(format!("cannot write records of kind `{kind}`")));
    }
    let data = match (args.maybe_text("text")?, args.value("data")) {
        (Some(text), None) if !text.trim().is_empty() => json!({"about": "note", "text": text}),
        (None, Some(data @ Value::Object(_))) => data.clone(),
        (None, Some(_)) => return Err(args.fault("takes an object as `data`")),
        (Some(_), Some(_)) => return Err(args.fault("takes `text` or `data`, not both")),
        (Some(_) | None, None) => return Err(args.fault("needs `text` or `data`")),
    };
    if data.to_string().len() > MOST_BYTES {
        return Err(args.fault("takes at most 32 KiB; write more with notes.write or files.write"));
    }
    if kind == "message" {
        return owner::answer(tools, data);
    }
    tools.record(kind, data)?;
    Ok(json!({"kind": kind}))
}

pub fn snapshot(tools: &mut Toolbox, args: &Arguments) -> Result<Value, Fault> {
    let text = match args.maybe_text("text")? {
        Some(text) if text.trim().is_empty() => {
            return Err(args.fault("needs words in `text`, or no `text` at all"));
        }
        Some(text) if text.chars().count() > MOST_SNAPSHOT => {
            return Err(args.fault(format!("takes at most {MOST_SNAPSHOT} characters as `text`")));
        }
        Some(text) => text.to_owned(),
        None => made(tools)?,
    };
    let hint = "is the disk full, or .self/snapshots not writable?";
    let path = snapshot::write(&tools.house.snapshots(), &text)
        .map_err(|cause| Fault::caused("write the snapshot", &cause, hint))?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let path = format!(".self/snapshots/{name}");
    tools.record("snapshot", json!({"path": path, "thoughts": tools.facts.thoughts}))?;
    Ok(json!({"path": path, "chars": text.chars().count()}))
}

fn made(tools: &Toolbox) -> Result<String, Fault> {
    let read =
        |cause: memory::Error| Fault::caused("read memory for a snapshot", &cause, "write one as `text`");
    let tail = memory::tail(&tools.house.memory(), MOST_RECORDS, MOST_RECORD_BYTES).map_err(read)?;
    let before = snapshot::latest(&tools.house.snapshots()).map_err(read)?;
    let purpose = papers::read(&tools.house.purpose()).text;
    let facts = Facts { purpose, ..tools.facts.clone() };
    Ok(digest::digest(&facts, &tail.records, before.as_ref().map(|snapshot| snapshot.text.as_str())))
}
