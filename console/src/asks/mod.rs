//! The owner's side of asks: lists those that wait, shows the exact bytes, and answers yes or no.
//!
//! Invariant: an answer names the digest of what was shown; the broker carries out only what has this digest.

mod told;

pub use house::asks::noted;
pub use told::{title, told};

use anyhow::{Result, bail};
use house::asks::{Ask, all, find, stored};
use house::bounds::brief;
use house::printable::{self, flat};
use house::records::text;
use house::terminal::{self, typed};
use house::{House, clock, files, instance, moments};
use serde_json::{Value, json};
use std::time::Duration;

/// Longest wait for the outcome of an answer.
const WAIT: Duration = Duration::from_secs(10);
/// Characters of a field's name.
const NAME_CHARS: usize = 80;
/// Columns of a name, and the longest text that stands beside one.
const NAME: usize = 8;
const BESIDE: usize = 60;
/// Lines of an ask that are shown where it is announced.
const ANNOUNCED: usize = 8;
const LOOK: Duration = Duration::from_millis(50);

/// Lists the asks that wait, or shows one as it reads; `full`: its exact bytes.
pub fn show(house: &House, id: Option<&str>, full: bool, as_json: bool) -> Result<u8> {
    let asks = match id {
        Some(id) => vec![find(house, id)?],
        None => all(house).into_iter().filter(|ask| ask.waits(house)).collect(),
    };
    if as_json {
        let full = full || id.is_some();
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
        terminal::line("nothing waits for your yes or no");
    }
    for ask in &asks {
        terminal::line(&format!("{}, {} ago", ask.line(), ask.age()));
        if ask.event != "asked" {
            terminal::line(&format!("   {}", ask.outcome()));
            result(ask);
        }
        if let Some(noted) = noted(house, ask) {
            let (word, at) = (text(&noted, "answer"), moments::near(text(&noted, "at")));
            terminal::line(&format!("   you said {word} at {at}; it is done when the guardian runs"));
        }
        match stored(house, &ask.id) {
            _ if !full && id.is_none() => terminal::exactly(&ask.summary()),
            Ok(act) if full => whole(&act),
            Ok(stored) => readable(&ask.id, stored.get("act").unwrap_or(&stored)),
            Err(error) => terminal::line(&format!("   {error:#}")),
        }
    }
    if id.is_none() && !asks.is_empty() {
        let [one, yes, no] = ["asks ID", "yes ID", "no ID"].map(typed);
        terminal::line(&format!("one whole: {one}\nyes: {yes}\nno: {no}"));
    }
    Ok(0)
}

/// Prints an act as it reads; where its exact bytes stand is said last.
fn readable(id: &str, act: &Value) {
    for (name, text) in told(act) {
        let exact = printable::exactly(&text);
        let is_short = name != "body" && !exact.contains('\n') && printable::columns(&exact) <= BESIDE;
        if is_short {
            terminal::line(&format!("   {:<NAME$} {exact}", flat(&name)));
        } else {
            terminal::line(&format!("   {}", flat(&name)));
            terminal::exactly(&text);
        }
    }
    let bytes = act.to_string().len();
    terminal::line(&format!(
        "   {:<NAME$} {bytes} bytes: {}",
        "exactly",
        typed(&format!("asks {id} --full"))
    ));
}

/// An ask in a few lines, for where it is announced.
pub fn announced(house: &House, ask: &Ask) -> Vec<String> {
    let Ok(stored) = stored(house, &ask.id) else { return vec![] };
    let told = told(stored.get("act").unwrap_or(&stored)).into_iter().filter(|(name, _)| name != "header");
    let line =
        |(name, text): (String, String)| format!("{:<NAME$} {}", flat(&name), flat(&brief(&text, 300)));
    let mut lines: Vec<String> = told.map(line).collect();
    let more = lines.len().saturating_sub(ANNOUNCED);
    lines.truncate(ANNOUNCED);
    lines.extend((more > 0).then(|| format!("… {more} more")));
    lines
}

/// Prints the service's answer, exactly.
fn result(ask: &Ask) {
    let result = ask.newest().result();
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
            let name = format!("{path}{}", flat(&brief(name, NAME_CHARS)));
            match value {
                Value::Object(_) => within(value, &format!("{name}."), fields),
                Value::String(text) => fields.push((name, Field::Text(text.clone()))),
                Value::Null | Value::Bool(_) | Value::Number(_) => {
                    fields.push((name, Field::Value(value.to_string())));
                }
                // The parts of a thread, the items of an order: each by its own fields.
                Value::Array(list) if !list.is_empty() && list.iter().all(has_fields) => {
                    for (at, one) in list.iter().enumerate() {
                        within(one, &format!("{name}[{at}]."), fields);
                    }
                }
                Value::Array(_) => fields.push((name, Field::List(value.to_string()))),
            }
        }
    }
    let mut fields = Vec::new();
    within(stored, "", &mut fields);
    fields
}

fn has_fields(value: &Value) -> bool {
    value.as_object().is_some_and(|fields| !fields.is_empty())
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
    if digest.is_empty() || digest != ask.asked().digest() {
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

/// Waits for the result of an answer; `None` where there is none within `wait`.
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

/// Answers one ask, and waits for the outcome.
pub fn answer(house: &House, id: &str, approve: bool) -> Result<u8> {
    let Answerable { ask, stored, digest } = answerable(house, id)?;
    let doing = if approve { "You say yes to" } else { "You say no to" };
    terminal::line(&format!("{doing} {}: {}", ask.what(), ask.summary()));
    // The window has shown it just before.
    if std::env::var_os(terminal::IN_WINDOW).is_none() {
        terminal::line(&format!("asked {} ago, why: {}", ask.age(), flat(ask.asked().why())));
        readable(id, stored.get("act").unwrap_or(&stored));
    }
    keep(house, id, approve, &digest)?;
    if !instance::broker_runs(house) {
        terminal::line("noted; no broker runs now: it carries it out when it does, with the guardian");
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
