//! The owner's side of asks: lists what waits, shows the exact bytes, and answers yes or no.
//!
//! Invariant: an answer names the digest of what was shown; the broker carries out only what has this digest.

use anyhow::{Result, bail};
use house::asks::{Ask, all, find, stored};
use house::bounds::brief;
use house::printable::flat;
use house::records::{self, text};
use house::terminal::{self, typed};
use house::{House, clock, files, instance};
use serde_json::{Value, json};
use std::time::Duration;

/// Longest wait for the outcome of an answer.
const WAIT: Duration = Duration::from_secs(10);
/// Bytes read from the end of the answers.
const MOST_NOTED_BYTES: u64 = 256 << 10;
const LOOK: Duration = Duration::from_millis(50);

/// Lists the asks that wait, or shows one with its exact bytes.
pub fn show(house: &House, id: Option<&str>, full: bool, as_json: bool) -> Result<u8> {
    let asks = match id {
        Some(id) => vec![find(house, id)?],
        None => all(house).into_iter().filter(|ask| ask.waits(house)).collect(),
    };
    let full = full || id.is_some();
    if as_json {
        let list: Vec<Value> = asks
            .iter()
            .map(|ask| {
                json!({"id": ask.id, "event": ask.event, "asked": ask.asked, "newest": ask.newest,
                       "stored": if full { stored(house, &ask.id).ok() } else { None }})
            })
            .collect();
        terminal::json(&json!({"asks": list}));
        return Ok(0);
    }
    if asks.is_empty() {
        terminal::line("nothing waits for your word");
    }
    for ask in &asks {
        terminal::line(&format!("{}, {} ago", ask.line(), ask.age()));
        if ask.event != "asked" {
            terminal::line(&format!("   {}", ask.outcome()));
            result(ask);
        }
        if !full {
            terminal::exactly(&ask.summary());
            continue;
        }
        match stored(house, &ask.id) {
            Ok(act) => whole(&act),
            Err(error) => terminal::line(&format!("   {error:#}")),
        }
    }
    if id.is_none() && !asks.is_empty() {
        let [one, yes, no] = ["asks ID", "approve ID", "deny ID"].map(typed);
        terminal::line(&format!("one whole: {one}\nyes: {yes}\nno: {no}"));
    }
    Ok(0)
}

/// Prints the service's answer, exactly.
fn result(ask: &Ask) {
    let result = text(&ask.newest, "result");
    if !result.is_empty() {
        terminal::exactly(result);
    }
}

/// A field of a stored ask, named by its path: what is shown is what it holds, exactly.
pub enum Field {
    Text(String),
    /// A number, a yes or no, nothing; or a list as JSON.
    Value(String),
    List(String),
}

/// Every field of a stored ask; nested ones are named by their path.
pub fn fields(stored: &Value) -> Vec<(String, Field)> {
    fn within(stored: &Value, path: &str, fields: &mut Vec<(String, Field)>) {
        for (name, value) in stored.as_object().into_iter().flatten() {
            let name = format!("{path}{}", flat(&brief(name, 80)));
            match value {
                Value::Object(_) => within(value, &format!("{name}."), fields),
                Value::String(text) => fields.push((name, Field::Text(text.clone()))),
                Value::Null | Value::Bool(_) | Value::Number(_) => {
                    fields.push((name, Field::Value(value.to_string())));
                }
                Value::Array(_) => fields.push((name, Field::List(value.to_string()))),
            }
        }
    }
    let mut fields = Vec::new();
    within(stored, "", &mut fields);
    fields
}

/// Prints every field of a stored ask, exactly.
fn whole(stored: &Value) {
    for (name, field) in fields(stored) {
        match field {
            Field::Text(text) => {
                terminal::line(&format!("   {name}: {} bytes", text.len()));
                terminal::exactly(&text);
            }
            Field::Value(value) => terminal::line(&format!("   {name}: {value}")),
            Field::List(list) => {
                terminal::line(&format!("   {name}:"));
                terminal::exactly(&list);
            }
        }
    }
}

/// An ask that may be answered, and what of it was shown.
pub struct Answerable {
    pub ask: Ask,
    pub stored: Value,
    pub digest: String,
}

/// The ask, where it can still be answered and what is stored of it is what was asked.
pub fn answerable(house: &House, id: &str) -> Result<Answerable> {
    let ask = find(house, id)?;
    if !ask.open() {
        bail!("ask {id} has been answered: {}", ask.outcome());
    }
    let stored = stored(house, id)?;
    let digest = text(&stored, "digest").to_owned();
    if digest.is_empty() || digest != text(&ask.asked, "digest") {
        bail!("what is stored of ask {id} is not what was asked; nothing is answered");
    }
    Ok(Answerable { ask, stored, digest })
}

/// Keeps the owner's answer to what has this digest.
pub fn keep(house: &House, id: &str, approve: bool, digest: &str) -> Result<()> {
    let word = if approve { "approve" } else { "deny" };
    let line = json!({"at": clock::stamp(), "id": id, "answer": word, "digest": digest});
    files::append_line(&house.answers(), &line.to_string())
}

/// What comes of an answer, where something does within `wait`.
pub fn came(house: &House, before: &Ask, wait: Duration) -> Result<Option<Ask>> {
    for _ in 0..wait.as_millis() / LOOK.as_millis() {
        let now = find(house, &before.id)?;
        if now.lines > before.lines && now.event != "asked" && now.event != "approved" {
            return Ok(Some(now));
        }
        std::thread::sleep(LOOK);
    }
    Ok(None)
}

/// The owner's answer to an ask that nobody has taken up yet: the newest that names what was asked.
pub fn noted(house: &House, ask: &Ask) -> Option<Value> {
    let tail = files::tail(&house.answers(), MOST_NOTED_BYTES);
    let answers = tail.lines().rev().filter_map(|line| records::parse(line.as_bytes()));
    let mut answers = answers
        .filter(|answer| text(answer, "id") == ask.id && text(answer, "at") >= text(&ask.newest, "at"));
    answers.find(|answer| ask.open() && text(answer, "digest") == text(&ask.asked, "digest"))
}

/// Answers one ask, and waits for the outcome.
pub fn answer(house: &House, id: &str, approve: bool) -> Result<u8> {
    let Answerable { ask, stored, digest } = answerable(house, id)?;
    let doing = if approve { "You say yes to" } else { "You say no to" };
    terminal::line(&format!("{doing} {}: {}", ask.what(), ask.summary()));
    terminal::line(&format!("asked {} ago, why: {}; exactly:", ask.age(), flat(text(&ask.asked, "why"))));
    whole(stored.get("act").unwrap_or(&stored));
    keep(house, id, approve, &digest)?;
    if !instance::broker_runs(house) {
        terminal::line("noted; the broker does not run now and carries it out when it does");
        return Ok(0);
    }
    if let Some(now) = came(house, &ask, WAIT)? {
        terminal::line(&format!("{id}: {}", now.outcome()));
        result(&now);
        return Ok(u8::from(now.has_failed()));
    }
    let seconds = WAIT.as_secs();
    let see = typed(&format!("asks {id}"));
    terminal::line(&format!("noted; nothing has come of it within {seconds} s; what will: {see}"));
    Ok(0)
}
