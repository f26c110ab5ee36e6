//! What the creature asks of its owner: what waits, with its exact bytes, and the owner's yes or no.
//!
//! Invariant: an answer names the digest of what was shown; the broker carries out nothing else.

use crate::orders;
use anyhow::{Context, Result, bail};
use house::bounds::brief;
use house::printable::flat;
use house::records::{self, text};
use house::terminal::{self, typed};
use house::{House, clock, files};
use serde_json::{Value, json};
use std::time::Duration;

/// How long the command waits for what comes of an answer.
const WAIT: Duration = Duration::from_secs(10);
const LOOK: Duration = Duration::from_millis(50);
/// Characters of a summary in a list.
const SUMMARY_CHARS: usize = 200;

/// One ask, as the newest of its lines leaves it.
#[derive(Clone, Debug)]
pub struct Ask {
    pub id: String,
    /// `asked`, `approved`, `denied`, `executed` or `failed`.
    pub event: String,
    asked: Value,
    newest: Value,
    /// How many lines there are of it.
    lines: usize,
}

impl Ask {
    /// Whether it can still be answered: what failed may be approved anew.
    fn open(&self) -> bool {
        self.event == "asked" || self.event == "failed"
    }

    /// Whether it waits: not answered, or failed so that nobody knows whether it happened.
    fn waits(&self, house: &House) -> bool {
        let unsure =
            || stored(house, &self.id).is_ok_and(|ask| ask.get("may_have_happened") == Some(&true.into()));
        self.event == "asked" || (self.event == "failed" && unsure())
    }

    /// `12: POST x /2/tweets (to say hello)`.
    pub fn line(&self) -> String {
        let field = |name: &str| brief(text(&self.asked, name), 80);
        let why = field("why");
        let why = if why.is_empty() { String::new() } else { format!(" ({why})") };
        flat(&format!("{}: {}{why}", self.id, self.what()))
    }

    /// What it is about, in a few words.
    fn what(&self) -> String {
        let field = |name: &str| brief(text(&self.asked, name), 80);
        match text(&self.asked, "kind") {
            "purpose" => "rewrite PURPOSE.md".to_owned(),
            _ => format!("{} {} {}", field("method"), field("service"), field("path")),
        }
    }

    fn summary(&self) -> String {
        flat(&brief(text(&self.asked, "summary"), SUMMARY_CHARS))
    }

    fn age(&self) -> String {
        let then = text(&self.asked, "at").parse::<jiff::Timestamp>().map_or(0, |at| at.as_millisecond());
        let age = clock::wall_ms().saturating_sub(u64::try_from(then).unwrap_or(0));
        house::moments::span(Duration::from_millis(age))
    }

    /// The status it was answered with where that says that it was not done, as services have it.
    fn refused(&self) -> Option<u64> {
        let status = self.newest.get("status").and_then(Value::as_u64);
        status.filter(|status| self.event == "executed" && *status >= 400)
    }

    fn has_failed(&self) -> bool {
        self.event == "failed" || self.refused().is_some()
    }

    /// What came of it, in a line; what was answered stands in `result`.
    fn outcome(&self) -> String {
        let status = self.newest.get("status").and_then(Value::as_u64);
        let status = status.map(|status| format!(", status {status}")).unwrap_or_default();
        match self.refused() {
            Some(refused) => {
                let service = flat(&brief(text(&self.asked, "service"), 80));
                format!("FAILED: it was sent, and {service} refused it with status {refused}")
            }
            None => format!("{}{status}", self.event),
        }
    }

    fn result(&self) {
        let result = text(&self.newest, "result");
        if !result.is_empty() {
            terminal::exactly(result);
        }
    }
}

/// Every ask there was, oldest first.
pub fn all(house: &House) -> Vec<Ask> {
    let mut asks: Vec<Ask> = Vec::new();
    for line in records::of(&house.asks()) {
        let Some(id) = id_of(&line) else { continue };
        let event = text(&line, "event").to_owned();
        match asks.iter_mut().rev().find(|ask| ask.id == id) {
            Some(ask) => {
                if event == "asked" {
                    ask.asked = line.clone();
                }
                (ask.event, ask.newest, ask.lines) = (event, line, ask.lines + 1);
            }
            None => asks.push(Ask { id, event, asked: line.clone(), newest: line, lines: 1 }),
        }
    }
    asks
}

/// Those nobody has answered; what is over is not held, however much of it there is.
pub fn waiting(house: &House) -> Vec<Ask> {
    let mut asks: Vec<Ask> = Vec::new();
    for line in records::of(&house.asks()) {
        let Some(id) = id_of(&line) else { continue };
        asks.retain(|ask| ask.id != id);
        if text(&line, "event") == "asked" {
            asks.push(Ask { id, event: "asked".into(), asked: line.clone(), newest: line, lines: 1 });
        }
    }
    asks
}

fn id_of(line: &Value) -> Option<String> {
    let id = line.get("id")?;
    let id = id.as_str().map(str::to_owned).or_else(|| Some(id.as_u64()?.to_string()))?;
    let plain = |letter: char| letter.is_ascii_alphanumeric() || letter == '-' || letter == '_';
    ((1..=64).contains(&id.len()) && id.chars().all(plain)).then_some(id)
}

/// Lists what waits, or shows one ask whole.
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
            ask.result();
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

fn find(house: &House, id: &str) -> Result<Ask> {
    let mut asks = all(house);
    if let Some(at) = asks.iter().position(|ask| ask.id == id) {
        return Ok(asks.swap_remove(at));
    }
    let ids: Vec<String> = asks.into_iter().filter(|ask| ask.event == "asked").map(|ask| ask.id).collect();
    let there =
        if ids.is_empty() { "nothing waits".into() } else { format!("these wait: {}", ids.join(", ")) };
    bail!("no ask is called `{}`; {there}", flat(&brief(id, 80)))
}

/// What the broker keeps of an ask, with its exact bytes.
fn stored(house: &House, id: &str) -> Result<Value> {
    let path = house.ask(id);
    let bytes =
        files::read_most(&path, 64 << 20)?.with_context(|| format!("{} is not there", path.display()))?;
    serde_json::from_slice(&bytes).with_context(|| format!("{} cannot be read", path.display()))
}

/// Every field of what is stored, exactly; those within another are named after it.
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

/// Says yes or no to one ask, and waits for what comes of it.
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
    if !orders::broker_runs(house) {
        terminal::line("noted; the broker does not run now and carries it out when it does");
        return Ok(0);
    }
    for _ in 0..WAIT.as_millis() / LOOK.as_millis() {
        let now = find(house, id)?;
        if now.lines > ask.lines && now.event != "asked" && now.event != "approved" {
            terminal::line(&format!("{id}: {}", now.outcome()));
            now.result();
            return Ok(u8::from(now.has_failed()));
        }
        std::thread::sleep(LOOK);
    }
    let seconds = WAIT.as_secs();
    let see = typed(&format!("asks {id}"));
    terminal::line(&format!("noted; nothing has come of it within {seconds} s; what will: {see}"));
    Ok(0)
}
