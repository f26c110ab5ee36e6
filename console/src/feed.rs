//! Memory as a live feed: a row for each record worth showing; one of a kind unknown here is shown by what it says.

use crate::owners::Owners;
use crate::window::view::{Verbosity, shown};
use anyhow::{Context, Result};
use house::bounds::brief;
use house::lines::{Lines, Next};
use house::records::{self, text};
use house::terminal::{self, Row, Screen, typed};
use house::{House, settings};
use serde_json::Value;
use signal_hook::consts::SIGTERM;
use std::io::{Seek, SeekFrom};
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Longest row, in characters; words between owner and creature are shown whole.
const MOST_CHARS: usize = 400;
const WORD_CHARS: usize = 64 << 10;
/// Longest tag, which may be the name of a kind that the creature chose.
const TAG_CHARS: usize = 20;
/// Rows of the past that are shown first, unless others are asked for.
const LAST_ROWS: usize = 20;
/// Bytes read at one look, and most rows made of them: the caller has other work between looks.
const LOOK_BYTES: u64 = 1 << 20;
const LOOK_ROWS: usize = 200;
/// When a live feed is further behind than this, it skips to the end.
const BEHIND_BYTES: u64 = 1 << 20;
const END_BYTES: u64 = 16 << 10;
/// Rows of a life's first moments that are shown below the first screen.
const FIRST_ROWS: usize = 5;
/// Time between two looks of the guardian's own feed.
const LIVE_MS: u16 = 200;
/// Bytes skipped at one look: lines are counted, not parsed.
const PASS_BYTES: u64 = 64 << 20;

/// Follows the memory file, also when it is rotated.
pub struct Feed {
    path: PathBuf,
    /// The open file, and its inode number.
    open: Option<(Lines, u64)>,
    /// A live feed skips what it is far behind with; other feeds show everything.
    live: bool,
    owners: Owners,
}

/// The result of a look.
pub struct Seen<T> {
    pub shown: Vec<T>,
    /// How many records were skipped.
    pub passed: u64,
    /// Whether another look would show more at once.
    pub more: bool,
}

impl Feed {
    /// Shows what is appended after `from` bytes, skipping whatever it falls far behind with.
    pub fn live(path: PathBuf, from: u64) -> Self {
        let mut feed = Self { live: true, ..Self::from_start(path) };
        feed.reopen(from);
        feed
    }

    pub fn from_start(path: PathBuf) -> Self {
        let owners = Owners::beside(&path);
        Self { path, open: None, live: false, owners }
    }

    /// Shows all that is appended from now on.
    pub fn from_end(path: PathBuf) -> Self {
        let mut feed = Self::from_start(path);
        feed.reopen(u64::MAX);
        feed
    }

    /// Begins with the last `rows` records worth showing.
    pub fn from_last(path: PathBuf, rows: usize, worth: impl Fn(&Value) -> bool) -> Self {
        let mut feed = Self::from_start(path);
        let mut reach = 64_u64 << 10;
        let place = loop {
            let bytes = std::fs::metadata(&feed.path).map_or(0, |meta| meta.len());
            let from = bytes.saturating_sub(reach);
            if !feed.reopen(from) {
                return feed;
            }
            let places = feed.places(from > 0, rows, &worth);
            if from == 0 || places.len() >= rows {
                break places.first().copied().unwrap_or(bytes);
            }
            reach = reach.saturating_mul(4);
        };
        feed.reopen(place);
        feed
    }

    /// Skips whatever it falls far behind with from here on.
    pub fn skipping(self) -> Self {
        Self { live: true, ..self }
    }

    /// Positions of the last `rows` records worth showing; with `torn` the first line read may be the end of a longer
    /// one.
    fn places(&mut self, torn: bool, rows: usize, worth: impl Fn(&Value) -> bool) -> Vec<u64> {
        let Some((lines, _)) = &mut self.open else { return vec![] };
        let mut places = std::collections::VecDeque::new();
        let mut torn = torn;
        loop {
            let at = lines.at();
            let is_worth = match lines.next_line() {
                Next::Line(line) => records::parse(line).is_some_and(|record| worth(&record)),
                Next::Long => false,
                Next::End => return places.into(),
            };
            if is_worth && !std::mem::take(&mut torn) {
                places.push_back(at);
            }
            torn = false;
            if places.len() > rows {
                places.pop_front();
            }
        }
    }

    /// Skips what is there except for its last rows; returns how many records.
    pub fn skip_to_last(&mut self, rows: usize) -> u64 {
        let last = Self::from_last(self.path.clone(), rows, |record| row(record).is_some());
        let place = last.open.map_or(0, |(lines, _)| lines.at());
        let Some((lines, _)) = self.open.as_mut().filter(|(lines, _)| lines.at() < place) else { return 0 };
        lines.allow(PASS_BYTES);
        lines.pass(place)
    }

    fn reopen(&mut self, place: u64) -> bool {
        let Ok(Some(mut file)) = house::files::open(&self.path) else { return false };
        let (inode, bytes) = file.metadata().map_or((0, 0), |meta| (meta.ino(), meta.len()));
        let _ = file.seek(SeekFrom::Start(place.min(bytes)));
        self.open = Some((Lines::new(file, records::LONGEST_LINE), inode));
        true
    }

    /// The new records worth showing, a bounded number of them.
    pub fn look<T>(&mut self, worth: impl Fn(Value) -> Option<T>) -> Seen<T> {
        if self.open.is_none() {
            self.reopen(0);
        }
        let mut seen = Seen { shown: Vec::new(), passed: 0, more: false };
        let Some((lines, inode)) = &mut self.open else { return seen };
        let end = lines.bytes().saturating_sub(END_BYTES);
        if self.live && end > lines.at() + BEHIND_BYTES {
            lines.allow(PASS_BYTES);
            seen.passed = lines.pass(end);
        }
        lines.allow(if seen.passed > 0 && lines.at() < end { 0 } else { LOOK_BYTES });
        while seen.shown.len() < LOOK_ROWS {
            match lines.next_line() {
                Next::Line(line) => {
                    let record = records::parse(line).map(|record| self.owners.judged(record));
                    seen.shown.extend(record.and_then(&worth));
                }
                Next::Long => seen.passed += 1,
                Next::End => break,
            }
        }
        let is_all = lines.at() >= lines.bytes();
        let there = std::fs::metadata(&self.path).map_or(*inode, |meta| meta.ino());
        seen.more = match is_all && (there != *inode || lines.at() > lines.bytes()) {
            true => self.reopen(0),
            false => !is_all,
        };
        seen
    }
}

/// What to show of the past: the last rows, or everything since a time; and in which form.
#[derive(Debug, Default)]
pub struct Wanted {
    pub last: Option<usize>,
    pub since: Option<String>,
    pub json: bool,
    /// The guardian's own feed: begin at this position and skip what it falls far behind with.
    pub live: Option<u64>,
}

/// Shows new records beside the guardian's own output until asked to end, then the last ones.
fn watch(house: &House, from: u64) -> Result<()> {
    let asked = Arc::new(AtomicBool::new(false));
    signal_hook::flag::register(SIGTERM, Arc::clone(&asked)).context("failed to listen for signals")?;
    let (mut screen, mut feed) = (Screen::open(), Feed::live(house.memory(), from));
    // All rows of the first moments would push the first screen off the terminal.
    let mut passed = feed.skip_to_last(FIRST_ROWS);
    loop {
        let last = asked.load(Ordering::Relaxed);
        let seen = feed.look(|record| row(&record));
        passed += seen.passed;
        if passed > 0 {
            let told = format!("… {passed} records passed over; {} shows them", typed("feed --since 1h"));
            screen.beside().show(&Row::now("feed", "90", &told));
        }
        seen.shown.iter().for_each(|row| screen.beside().show(row));
        passed = 0;
        if last || !terminal::wait(if seen.more { 0 } else { LIVE_MS }) {
            return Ok(());
        }
    }
}

/// Shows memory and new records until the reader has gone.
pub fn follow(house: &House, wanted: &Wanted) -> Result<()> {
    if let Some(from) = wanted.live {
        return watch(house, from);
    }
    let since = wanted.since.as_deref().unwrap_or_default();
    let verbosity: Verbosity = settings::shown(house).feed.parse().unwrap_or_default();
    let worth = |record: &Value| {
        (wanted.json || shown(record, verbosity).is_some())
            && (since.is_empty() || text(record, "at") >= since)
    };
    let mut screen = Screen::open();
    let mut show = |record: &Value| match shown(record, verbosity) {
        _ if wanted.json => terminal::json_line(record),
        None => {}
        Some((row, details)) => {
            screen.show(&row);
            details.iter().for_each(|detail| terminal::below(1, detail));
        }
    };
    let rows = wanted.last.or(wanted.since.is_none().then_some(LAST_ROWS));
    if rows.is_none() {
        let before = records::older(&house.memory(), since);
        let mut owners = Owners::beside(&house.memory());
        let before = before.iter().flat_map(|path| records::of(path)).filter(worth);
        before.for_each(|record| show(&owners.judged(record)));
    }
    let mut feed = match rows {
        Some(rows) => Feed::from_last(house.memory(), rows, worth),
        None => Feed::from_start(house.memory()),
    };
    loop {
        let seen = feed.look(|record| worth(&record).then_some(record));
        if seen.passed > 0 {
            terminal::error(&format!("{} records are too long to be shown", seen.passed));
        }
        seen.shown.iter().for_each(&mut show);
        if !terminal::wait(if seen.more { 0 } else { 500 }) {
            return Ok(());
        }
    }
}

/// A change of the agenda in words; `None` for mere looks at it and for bookkeeping.
fn change(data: &Value) -> Option<String> {
    if let Some(session) = data.get("session").and_then(Value::as_str) {
        return Some(format!("{session}: {}", text(data, "thought")));
    }
    let (kind, change) = data.get("change")?.as_object()?.iter().next()?;
    let words = ["do", "id", "title", "text", "what", "place"].map(|key| text(change, key)).join(" ");
    (kind != "looked" && kind != "outbox").then(|| format!("{kind} {words}"))
}

/// The outcome of an action: done, drafted, asked, failed.
fn outcome(result: &Value) -> (&'static str, String) {
    if result.get("ok").and_then(Value::as_bool) != Some(true) {
        return ("33", format!("failed: {}", text(result, "error")));
    }
    match (text(result, "drafted"), asked(result)) {
        (_, Some(ask)) => ("33", format!("asks you first: ask {ask}")),
        ("", None) => ("32", "ok".into()),
        (path, None) => ("33", format!("drafted only: {path}")),
    }
}

/// The id of the ask that an action became, if it waits for the owner.
pub fn asked(result: &Value) -> Option<String> {
    let id = result.get("asked")?;
    id.as_str().map(str::to_owned).or_else(|| id.as_u64().map(|id| id.to_string()))
}

/// The row of a record worth showing. Words between owner and creature are not cut.
pub fn row(record: &Value) -> Option<Row> {
    let data = record.get("data")?;
    let mut most = MOST_CHARS;
    let (tag, paint, body) = match text(record, "kind") {
        "thought" if data.get("garbled").is_some() => {
            ("garbled", "31", format!("the mind's reply could not be read: {}", text(data, "error")))
        }
        "thought" => {
            let (intent, monologue) = (text(data, "intent"), text(data, "monologue"));
            // A turn that names no intent has its own first line for one.
            let is_said = monologue.starts_with(intent.trim_end_matches('…'));
            let both = if is_said { monologue.into() } else { format!("{monologue} — {intent}") };
            ("thought", "36", both)
        }
        "action" => {
            let (paint, outcome) = outcome(data.get("result")?);
            ("action", paint, format!("{} {outcome}", text(data, "tool")))
        }
        "self_change" => {
            let ok = data.get("ok").and_then(Value::as_bool) == Some(true);
            let end = if ok { String::new() } else { format!(": {}", text(data, "error")) };
            ("self-edit", "35", format!("{} ({}){end}", text(data, "summary"), text(data, "stage")))
        }
        "death" => ("death", "31", telling(data)),
        "message" => {
            most = WORD_CHARS;
            ("word", "1;34", format!("{}: {}", text(data, "from"), text(data, "text")))
        }
        "agenda" => ("agenda", "90", change(data)?),
        "observation" => ("noticed", "90", telling(data)),
        "" | "heartbeat" => return None,
        kind => (kind, "90", telling(data)),
    };
    let flat = || body.split_whitespace().collect::<Vec<_>>().join(" ");
    let text = if most == WORD_CHARS { body.trim().to_owned() } else { flat() };
    let at = record.get("at").and_then(Value::as_str).and_then(|at| at.parse().ok());
    Some(Row { at, tag: brief(tag, TAG_CHARS), paint, text: at_word(&text, most) })
}

/// What a record of any kind says: its words and what they are about, or else its fields but for nested ones.
fn telling(data: &Value) -> String {
    let said = ["text", "told"].map(|name| text(data, name)).concat();
    match (text(data, "about"), data) {
        ("", _) if !said.is_empty() => said,
        (about, _) if !said.is_empty() => format!("{about}: {said}"),
        (_, Value::Object(fields)) => {
            let fields = fields.iter().filter(|(_, value)| !value.is_object());
            let fields = fields.map(|(name, value)| (name, words(value)));
            let fields = fields.filter(|(_, words)| !words.is_empty());
            let told = joined(fields.map(|(name, words)| format!("{name} {words}")), ", ");
            if told.is_empty() { data.to_string() } else { told }
        }
        _ => words(data),
    }
}

/// A value without the marks of JSON; of a nested object what it says, without names.
fn words(value: &Value) -> String {
    let told = match value {
        Value::Null => String::new(),
        Value::String(text) => brief(text, MOST_CHARS),
        Value::Bool(_) | Value::Number(_) => value.to_string(),
        Value::Array(list) => joined(list.iter().map(words), "; "),
        Value::Object(fields) => {
            let told = |(name, value): (&String, &Value)| match value.as_bool() {
                Some(true) => name.clone(),
                Some(false) => format!("not {name}"),
                None => words(value),
            };
            joined(fields.iter().map(told), ": ")
        }
    };
    brief(&told, MOST_CHARS)
}

fn joined(parts: impl Iterator<Item = String>, between: &str) -> String {
    parts.filter(|part| !part.is_empty()).collect::<Vec<_>>().join(between)
}

/// The beginning of a text, cut at the end of a word.
pub fn at_word(text: &str, most: usize) -> String {
    let short = brief(text, most);
    match short.rsplit_once(' ') {
        Some((whole, _)) if short.len() < text.len() && short.ends_with('…') => format!("{whole} …"),
        _ => short,
    }
}
