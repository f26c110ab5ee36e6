//! What the creature asks of its owner: what waits, with its exact bytes, and the owner's yes or no.
//!
//! Invariant: an answer names the digest of what was shown; the broker carries out nothing else.
//! Invariant: nothing of the creature's reaches a terminal but as letters: whatever steers one is spelled out.

use crate::house::House;
use crate::records::{self, text};
use crate::{bounds, clock, files, orders};
use anyhow::{Context, Result, bail};
use serde_json::{Value, json};
use std::time::Duration;

/// How long the command waits for what comes of an answer.
const WAIT: Duration = Duration::from_secs(10);
const LOOK: Duration = Duration::from_millis(50);
/// Characters of a summary in a list.
const SUMMARY_CHARS: usize = 200;
/// Columns of a piece of a text, so that with what stands before it a terminal of 80 does not break it once more.
const COLUMNS: usize = 64;

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
        let field = |name: &str| plain(text(&self.asked, name), 80);
        let what = match text(&self.asked, "kind") {
            "purpose" => "rewrite PURPOSE.md".to_owned(),
            _ => format!("{} {} {}", field("method"), field("service"), field("path")),
        };
        let why = field("why");
        format!("{}: {what}{}", self.id, if why.is_empty() { String::new() } else { format!(" ({why})") })
    }

    fn age(&self) -> String {
        let then = text(&self.asked, "at").parse::<jiff::Timestamp>().map_or(0, |at| at.as_millisecond());
        let age = clock::wall_ms().saturating_sub(u64::try_from(then).unwrap_or(0));
        crate::report::span(Duration::from_millis(age))
    }

    fn outcome(&self) -> String {
        let status = self.newest.get("status").and_then(Value::as_u64);
        let status = status.map(|status| format!(", status {status}")).unwrap_or_default();
        let result = spelled(text(&self.newest, "result"));
        let result = if result.is_empty() { String::new() } else { format!("\n{result}") };
        format!("{}{status}{result}", self.event)
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
        println!("{}", spelled_json(&json!({"asks": list})));
        return Ok(0);
    }
    if asks.is_empty() {
        println!("nothing waits for your word");
    }
    for ask in &asks {
        println!("{}, {} ago", ask.line(), ask.age());
        if ask.event != "asked" {
            println!("   {}", ask.outcome());
        }
        if full {
            match stored(house, &ask.id) {
                Ok(act) => whole(&act).iter().for_each(|line| println!("   {line}")),
                Err(error) => println!("   {error:#}"),
            }
        } else {
            let summary = plain(text(&ask.asked, "summary"), SUMMARY_CHARS);
            pieces(&summary).iter().for_each(|piece| println!("   {piece}"));
        }
    }
    if id.is_none() && !asks.is_empty() {
        println!("`guardian asks ID` shows one whole; `guardian approve ID`, `guardian deny ID` answer");
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
    bail!("no ask is called `{}`; {there}", plain(id, 80))
}

/// What the broker keeps of an ask, with its exact bytes.
fn stored(house: &House, id: &str) -> Result<Value> {
    let path = house.ask(id);
    let bytes =
        files::read_most(&path, 64 << 20)?.with_context(|| format!("{} is not there", path.display()))?;
    serde_json::from_slice(&bytes).with_context(|| format!("{} cannot be read", path.display()))
}

/// Every field of what is stored, its text spelled so that it cannot steer a terminal.
fn whole(stored: &Value) -> Vec<String> {
    let mut lines = Vec::new();
    for (name, value) in stored.as_object().into_iter().flatten() {
        match value {
            Value::Object(_) => {
                lines.push(format!("{}:", plain(name, 80)));
                lines.extend(whole(value).into_iter().map(|line| format!("  {line}")));
            }
            Value::String(text) => lines.extend(field(name, text)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => {
                lines.extend(field(name, &value.to_string()));
            }
        }
    }
    lines
}

/// A field on one line where it fits, else below its name.
fn field(name: &str, text: &str) -> Vec<String> {
    let (name, pieces) = (plain(name, 40), pieces(text));
    match pieces.as_slice() {
        [] => vec![format!("{name}: ")],
        [only] if width(&name) + width(only) <= COLUMNS => {
            vec![format!("{name}: {}", only.strip_prefix("| ").unwrap_or(only))]
        }
        pieces => {
            let head = format!("{name}: {} bytes", text.len());
            [head].into_iter().chain(pieces.iter().map(|piece| format!("  {piece}"))).collect()
        }
    }
}

/// The lines of a text in pieces that fit, each behind a `|`; `|>` goes on with the line above.
fn pieces(text: &str) -> Vec<String> {
    let mut pieces = Vec::new();
    for line in spelled(text).lines() {
        let (mut piece, mut columns) = ("| ".to_owned(), 0);
        for letter in line.chars() {
            if columns + columns_of(letter) > COLUMNS {
                pieces.push(std::mem::replace(&mut piece, "|>".to_owned()));
                columns = 0;
            }
            piece.push(letter);
            columns += columns_of(letter);
        }
        pieces.push(piece);
    }
    pieces
}

fn width(text: &str) -> usize {
    text.chars().map(columns_of).sum()
}

/// At most; letters of the East and pictures take two.
fn columns_of(letter: char) -> usize {
    1 + usize::from(letter >= '\u{1100}')
}

/// A text with everything that is no plain letter spelled out; lines stay lines.
pub fn spelled(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        if letter == '\n' {
            out.push('\n');
        } else if letter.is_control() || is_hidden(letter) {
            out.extend(letter.escape_unicode());
        } else {
            out.push(letter);
        }
    }
    out
}

/// A document as JSON that a terminal shows as it is; the same document to whoever reads it.
pub fn spelled_json(document: &Value) -> String {
    let mut out = String::new();
    for letter in format!("{document:#}").chars() {
        if letter != '\n' && (letter.is_control() || is_hidden(letter)) {
            letter.encode_utf16(&mut [0; 2]).iter().for_each(|unit| out.push_str(&format!("\\u{unit:04x}")));
        } else {
            out.push(letter);
        }
    }
    out
}

/// Letters nobody sees, and those written from right to left, which turn around what stands beside them.
fn is_hidden(letter: char) -> bool {
    if letter.is_ascii() {
        return false;
    }
    // What the language itself would not print: formats, separators, what is assigned to nobody.
    let printed = ['x', letter].iter().collect::<String>().escape_debug().count() == 2;
    let blank = matches!(u32::from(letter),
        0x34F | 0x115F..=0x1160 | 0x17B4..=0x17B5 | 0x180B..=0x180F | 0x2800 | 0x3164 | 0xFE00..=0xFE0F | 0xFFA0
        | 0xE0000..=0xE0FFF);
    let turns = matches!(u32::from(letter),
        0x590..=0x8FF | 0xFB1D..=0xFDFF | 0xFE70..=0xFEFF | 0x10800..=0x10FFF | 0x1E800..=0x1EFFF);
    !printed || blank || turns
}

/// One line of it, at most so many characters.
fn plain(text: &str, most: usize) -> String {
    bounds::brief(&spelled(&text.replace('\n', " ")), most)
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
    println!("{}", ask.line());
    whole(&stored).iter().for_each(|line| println!("   {line}"));
    let word = if approve { "approve" } else { "deny" };
    let line = json!({"at": clock::stamp(), "id": id, "answer": word, "digest": digest});
    files::append_line(&house.answers(), &line.to_string())?;
    if !orders::broker_runs(house) {
        println!("noted; the broker does not run now and carries it out when it does");
        return Ok(0);
    }
    for _ in 0..WAIT.as_millis() / LOOK.as_millis() {
        let now = find(house, id)?;
        if now.lines > ask.lines && now.event != "asked" && now.event != "approved" {
            println!("{id}: {}", now.outcome());
            return Ok(u8::from(now.event == "failed"));
        }
        std::thread::sleep(LOOK);
    }
    println!("noted; nothing has come of it within {} s: see `guardian asks {id}`", WAIT.as_secs());
    Ok(0)
}
