//! The owner's side of asks: lists what waits, shows the exact bytes, and answers yes or no.
//!
//! Invariant: an answer names the digest of what was shown; the broker carries out only what has this digest.

use anyhow::{Result, bail};
use house::asks::{Ask, all, find, stored};
use house::bounds::brief;
use house::printable::flat;
use house::records::text;
use house::terminal::{self, typed};
use house::{House, clock, files, instance};
use serde_json::{Value, json};
use std::time::Duration;

/// Longest wait for the outcome of an answer.
const WAIT: Duration = Duration::from_secs(10);
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
            Ok(act) => whole(&act, ""),
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

/// Prints every field of a stored ask, exactly; nested fields are named by their path.
fn whole(stored: &Value, within: &str) {
    for (name, value) in stored.as_object().into_iter().flatten() {
        let name = format!("{within}{}", flat(&brief(name, 80)));
        match value {
            Value::Object(_) => whole(value, &format!("{name}.")),
            Value::String(text) => {
                terminal::line(&format!("   {name}: {} bytes", text.len()));
                terminal::exactly(text);
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => terminal::line(&format!("   {name}: {value}")),
            Value::Array(_) => {
                terminal::line(&format!("   {name}:"));
                terminal::exactly(&value.to_string());
            }
        }
    }
}

/// Answers one ask, and waits for the outcome.
pub fn answer(house: &House, id: &str, approve: bool) -> Result<u8> {
    let ask = find(house, id)?;
    if !ask.open() {
        bail!("ask {id} has been answered: {}", ask.outcome());
    }
    let stored = stored(house, id)?;
    let digest = text(&stored, "digest");
    if digest.is_empty() || digest != text(&ask.asked, "digest") {
        bail!("what is stored of ask {id} is not what was asked; nothing is answered");
    }
    let doing = if approve { "You say yes to" } else { "You say no to" };
    terminal::line(&format!("{doing} {}: {}", ask.what(), ask.summary()));
    terminal::line(&format!("asked {} ago, why: {}; exactly:", ask.age(), flat(text(&ask.asked, "why"))));
    whole(stored.get("act").unwrap_or(&stored), "");
    let word = if approve { "approve" } else { "deny" };
    let line = json!({"at": clock::stamp(), "id": id, "answer": word, "digest": digest});
    files::append_line(&house.answers(), &line.to_string())?;
    if !instance::broker_runs(house) {
        terminal::line("noted; the broker does not run now and carries it out when it does");
        return Ok(0);
    }
    for _ in 0..WAIT.as_millis() / LOOK.as_millis() {
        let now = find(house, id)?;
        if now.lines > ask.lines && now.event != "asked" && now.event != "approved" {
            terminal::line(&format!("{id}: {}", now.outcome()));
            result(&now);
            return Ok(u8::from(now.has_failed()));
        }
        std::thread::sleep(LOOK);
    }
    let seconds = WAIT.as_secs();
    let see = typed(&format!("asks {id}"));
    terminal::line(&format!("noted; nothing has come of it within {seconds} s; what will: {see}"));
    Ok(0)
}
