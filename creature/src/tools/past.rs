//! `records`, `self.examine` and `history`: what the creature did, by its memory and by the guardian's history.
//!
//! Invariant: nothing is told that is not in the files; what was not looked at is said.

use super::arguments::Arguments;
use super::page::{self, cut};
use super::tool_context::{ToolContext, with};
use crate::examine;
use crate::fault::Fault;
use crate::senses::budget;
use agenda::span::{self, Span};
use ground::files;
use ground::text;
use jiff::Timestamp;
use memory::{Record, kinds};
use serde_json::{Value, json};

/// Records and bytes looked back on.
const LOOK_BACK: (usize, u64) = (20_000, 16 << 20);

/// Bytes read of the guardian's history, from its end.
const MOST_HISTORY: u64 = 2 << 20;

/// Span looked back on where no time is given.
const DAY: &str = "24h";

/// Characters of a record in a list.
const MOST_LINE: usize = 300;

pub fn records(tools: &mut ToolContext<'_>, args: &Arguments) -> Result<Value, Fault> {
    let since = span(tools, args, "since")?.since;
    let tail = memory::tail(&tools.store.house.memory(), LOOK_BACK.0, LOOK_BACK.1)
        .map_err(|cause| Fault::caused("look back on memory", &cause, "knowledge.search still works"))?;
    let at = |record: &Record| record.at.parse::<Timestamp>().ok();
    let reached = tail.records.first().and_then(at).is_none_or(|oldest| oldest < since);
    let full = !reached && (tail.records.len() >= LOOK_BACK.0 || bytes(&tail.records) >= LOOK_BACK.1 / 2);
    let kind = args.said("kind");
    let words = args.maybe_text("text").map(str::to_lowercase).filter(|words| !words.is_empty());
    let meant = |record: &&Record| {
        at(record).is_some_and(|at| at >= since)
            && kind.is_none_or(|kind| record.kind == kind)
            && words.as_ref().is_none_or(|words| record.data.to_string().to_lowercase().contains(words))
    };
    let found: Vec<&Record> = tail.records.iter().rev().filter(meant).collect();
    let lines: Vec<String> = match found.as_slice() {
        [one] => serde_json::to_string_pretty(one).unwrap_or_default().lines().map(str::to_owned).collect(),
        several => several.iter().map(|record| line(record)).collect(),
    };
    let note = full.then(|| {
        let oldest = tail.records.first().map(|record| record.at.clone()).unwrap_or_default();
        format!("nothing before {oldest} was looked at; knowledge.search finds words in all of it")
    });
    let more = json!({"since": since, "records": found.len(), "note": note});
    told(args, "your memory", &lines, more)
}

/// A page of what is no file, with more fields.
fn told(args: &Arguments, what: &str, lines: &[String], more: Value) -> Result<Value, Fault> {
    let mut answer = page::page(args, what, &lines.join("\n"))?;
    answer.as_object_mut().map(|fields| fields.shift_remove("path"));
    Ok(with(answer, more))
}

fn bytes(records: &[Record]) -> u64 {
    records.iter().map(|record| record.data.to_string().len() as u64 + 80).sum()
}

/// A record in one line.
fn line(record: &Record) -> String {
    let told = kinds::gist(record, MOST_LINE / 2);
    let told = text::one_line(&told);
    cut(&format!("{} {} {told}", record.at, record.kind), MOST_LINE)
}

pub fn history(tools: &mut ToolContext<'_>, args: &Arguments) -> Result<Value, Fault> {
    let (since, path) = (span(tools, args, "since")?.since, tools.store.house.history());
    let length = path.metadata().map_or(0, |found| found.len());
    let begin = length.saturating_sub(MOST_HISTORY);
    let (bytes, _) = match length {
        0 => Default::default(),
        _ => files::head(&path, begin, MOST_HISTORY).map_err(|cause| {
            Fault::caused("read the guardian's history", &cause, "records tells of your own acts")
        })?,
    };
    let text = String::from_utf8_lossy(&bytes);
    let mut lines: Vec<String> = text.lines().filter_map(|line| event(line, since)).collect();
    lines.reverse();
    let note = (begin > 0).then_some("only the last 2 MiB of the history were read");
    told(args, "the guardian's history", &lines, json!({"since": since, "note": note}))
}

/// A line of the history in words; none where it is older than `since`, or no event.
fn event(line: &str, since: Timestamp) -> Option<String> {
    let Value::Object(mut fields) = serde_json::from_str(line).ok()? else { return None };
    let (at, what) = (fields.shift_remove("at")?, fields.shift_remove("what")?);
    let (at, what) = (at.as_str()?, what.as_str()?);
    at.parse::<Timestamp>().ok().filter(|at| *at >= since)?;
    let plain = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let rest = fields.iter().filter(|(_, value)| !value.is_null());
    let rest: Vec<String> = rest.map(|(name, value)| format!("{name} {}", plain(value))).collect();
    let told = format!("{at} {what}: {}", rest.join(", ")).replace(char::is_control, " ");
    Some(cut(&told, MOST_LINE * 2))
}

/// Tells what it did, what failed and what that cost in a span.
pub fn examine(tools: &mut ToolContext<'_>, args: &Arguments) -> Result<Value, Fault> {
    let mut span = span(tools, args, "since")?;
    if args.said("until").is_some() {
        // The examined span ends where the span that `until` names begins: `until today` is midnight.
        span.until = self::span(tools, args, "until")?.since;
    }
    if span.until <= span.since {
        return Err(args.fault("asks for a span that ends before it begins"));
    }
    let (house, zone) = (&tools.store.house, &tools.store.rules.time_zone);
    let examined = examine::examine(house, &tools.store.agenda, span, zone)?;
    let mut fields = examined.fields(zone);
    let money = budget::read_money(&house.budget()).line;
    if !money.is_empty() {
        fields.insert("money_now".to_owned(), json!(money));
    }
    Ok(Value::Object(fields))
}

/// The span that words name; a day back where there are none.
fn span(tools: &ToolContext<'_>, args: &Arguments, name: &str) -> Result<Span, Fault> {
    let said = args.said(name).unwrap_or(DAY);
    span::read(said, tools.store.clock.now(), &tools.store.rules.time_zone).ok_or_else(|| {
        args.fault(format!(
            "takes as `{name}` a span that lies behind, as in 30m, 8h, today, last night, since 9am, monday, or a time, \
             as in 2026-05-28T09:00"
        ))
    })
}
