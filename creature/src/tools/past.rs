//! `records` and `history`: what it did and what became of it, from its own memory and from the guardian's history.
//!
//! Invariant: nothing is remembered that is not in the files; what was not looked at is said.

use super::Toolbox;
use super::arguments::Arguments;
use super::page::{self, cut};
use crate::fault::Fault;
use crate::mind::context::shorten;
use crate::senses::{budget, papers};
use jiff::{SignedDuration, Timestamp};
use memory::Record;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// Records and bytes looked back on.
const LOOK_BACK: (usize, u64) = (20_000, 16 << 20);

/// Bytes of the guardian's history.
const MOST_HISTORY: u64 = 2 << 20;

/// How far back where no time is given, in hours.
const DAY_HOURS: i64 = 24;

/// Characters of a record in a list, and tools that are counted by name.
const MOST_LINE: usize = 300;
const MOST_TOOLS: usize = 30;

pub fn records(tools: &mut Toolbox, args: &Arguments) -> Result<Value, Fault> {
    let since = since(tools, args)?;
    let tail = memory::tail(&tools.house.memory(), LOOK_BACK.0, LOOK_BACK.1)
        .map_err(|cause| Fault::caused("look back on memory", &cause, "knowledge.search still works"))?;
    let at = |record: &Record| record.at.parse::<Timestamp>().ok();
    let reached = tail.records.first().and_then(at).is_none_or(|oldest| oldest < since);
    let full = !reached && (tail.records.len() >= LOOK_BACK.0 || bytes(&tail.records) >= LOOK_BACK.1 / 2);
    let kind = args.maybe_text("kind").map(str::trim).filter(|kind| !kind.is_empty());
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
    let mut answer = page::page(args, "your memory", &lines.join("\n"))?;
    if let Value::Object(fields) = &mut answer {
        fields.shift_remove("path");
        fields.insert("since".to_owned(), json!(since));
        fields.extend(totals(&found));
        let money = budget::read(&tools.house.budget()).line;
        if !money.is_empty() {
            fields.insert("money".to_owned(), json!(money));
        }
        if full {
            let oldest = tail.records.first().map(|record| record.at.clone()).unwrap_or_default();
            let note =
                format!("nothing before {oldest} was looked at; knowledge.search finds words in all of it");
            fields.insert("note".to_owned(), json!(note));
        }
    }
    Ok(answer)
}

fn bytes(records: &[Record]) -> u64 {
    records.iter().map(|record| record.data.to_string().len() as u64 + 80).sum()
}

/// What the records come to: thoughts, tokens, money, calls by tool and failures.
fn totals(records: &[&Record]) -> Map<String, Value> {
    let (mut thoughts, mut actions, mut failures, mut cost_usd) = (0_u64, 0_u64, 0_u64, 0.0);
    let (mut tokens, mut by_tool): (BTreeMap<&str, u64>, BTreeMap<&str, u64>) = <_>::default();
    for record in records {
        let said = |key: &str| record.data.get(key);
        if let Some(usage) = said("usage").and_then(Value::as_object) {
            for name in ["input_tokens", "cache_read_tokens", "cache_write_tokens", "output_tokens"] {
                *tokens.entry(name).or_default() +=
                    usage.get(name).and_then(Value::as_u64).unwrap_or_default();
            }
            cost_usd += usage.get("cost_usd").and_then(Value::as_f64).unwrap_or_default();
        }
        match record.kind.as_str() {
            "thought" => thoughts += 1,
            "action" => {
                actions += 1;
                let ok = said("result").and_then(|result| result.get("ok")) == Some(&json!(true));
                failures += u64::from(!ok);
                *by_tool.entry(said("tool").and_then(Value::as_str).unwrap_or("?")).or_default() += 1;
            }
            _ => {}
        }
    }
    let mut most: Vec<_> = by_tool.into_iter().collect();
    most.sort_by_key(|(tool, count)| (std::cmp::Reverse(*count), *tool));
    let named = most.iter().take(MOST_TOOLS).map(|(tool, count)| format!("{tool} {count}"));
    let mut sum = Map::new();
    let mut put = |name: &str, value: Value| _ = sum.insert(name.to_owned(), value);
    put("records", json!(records.len()));
    put("thoughts", json!(thoughts));
    if !tokens.is_empty() {
        let tokens =
            tokens.iter().map(|(name, count)| format!("{} {count}", name.trim_end_matches("_tokens")));
        put("tokens", json!(tokens.collect::<Vec<_>>().join(", ")));
    }
    if cost_usd > 0.0 {
        put("cost_usd", json!((cost_usd * 10_000.0).round() / 10_000.0));
    }
    put("actions", json!(actions));
    put("failures", json!(failures));
    put("by_tool", json!(named.collect::<Vec<_>>().join(", ")));
    sum
}

/// A record in one line.
fn line(record: &Record) -> String {
    let text = |key: &str| record.data.get(key).and_then(Value::as_str).unwrap_or_default();
    let number = || record.data.get("thought").and_then(Value::as_u64).unwrap_or_default();
    let told = match record.kind.as_str() {
        "thought" if !text("intent").is_empty() => format!("{}: {}", number(), text("intent")),
        "thought" => format!("{}: {}{}", number(), text("monologue"), text("error")),
        "action" => {
            let result = record.data.get("result");
            let args = record.data.get("args").map(Value::to_string).unwrap_or_default();
            let came = match result.and_then(|result| result.get("error")).and_then(Value::as_str) {
                Some(error) => format!("failed: {error}"),
                None => "ok".to_owned(),
            };
            format!("{} {}: {came}", text("tool"), shorten(&args, MOST_LINE / 2))
        }
        "message" => format!("{} {}: {}", text("from"), text("kind"), text("text")),
        _ if !text("text").is_empty() => format!("{}: {}", text("about"), text("text")),
        _ => record.data.to_string(),
    };
    let told = told.split_whitespace().collect::<Vec<_>>().join(" ");
    cut(&format!("{} {} {told}", record.at, record.kind), MOST_LINE)
}

pub fn history(tools: &mut Toolbox, args: &Arguments) -> Result<Value, Fault> {
    let (since, path) = (since(tools, args)?, tools.house.history());
    let length = path.metadata().map_or(0, |found| found.len());
    let begin = length.saturating_sub(MOST_HISTORY);
    let (bytes, _) = match length {
        0 => Default::default(),
        _ => papers::head(&path, begin, MOST_HISTORY).map_err(|cause| {
            Fault::caused("read the guardian's history", &cause, "records tells of your own acts")
        })?,
    };
    let text = String::from_utf8_lossy(&bytes);
    let mut lines: Vec<String> = text.lines().filter_map(|line| event(line, since)).collect();
    lines.reverse();
    let mut answer = page::page(args, "the guardian's history", &lines.join("\n"))?;
    if let Value::Object(fields) = &mut answer {
        fields.shift_remove("path");
        fields.insert("since".to_owned(), json!(since));
        if begin > 0 {
            fields.insert("note".to_owned(), json!("only the last 2 MiB of the history were read"));
        }
    }
    Ok(answer)
}

/// A line of the history in words; none where it is older, or no event.
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

/// The moment that `since` names: so long ago, or a time; a day ago where none is given.
fn since(tools: &Toolbox, args: &Arguments) -> Result<Timestamp, Fault> {
    let now = tools.clock.now();
    let ago = |seconds: i64| now.checked_sub(SignedDuration::from_secs(seconds)).ok();
    let Some(said) = args.maybe_text("since").map(str::trim).filter(|said| !said.is_empty()) else {
        return Ok(ago(DAY_HOURS * 3_600).unwrap_or(now));
    };
    let digits = said.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(said.len());
    let (count, unit) = said.split_at(digits);
    let unit_s = match unit.trim() {
        "s" => Some(1),
        "m" | "min" => Some(60),
        "h" => Some(3_600),
        "d" => Some(86_400),
        "w" => Some(7 * 86_400),
        _ => None,
    };
    let span = unit_s.and_then(|unit_s| count.parse::<i64>().ok()?.checked_mul(unit_s)).and_then(ago);
    span.or_else(|| super::agenda::moment(said, &tools.desk.rules.time_zone)).ok_or_else(|| {
        args.fault("takes as `since` how long ago, as in 30m, 8h or 2d, or a time, as in 2026-05-28T09:00")
    })
}
