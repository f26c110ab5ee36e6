//! What happened since a time, told from the records and the broker's ledger alone.

use crate::asks::spelled_json;
use crate::audit::Audit;
use crate::house::House;
use crate::records::{self, text};
use anyhow::{Context, Result};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Reads `90m`, `12h`, `7d` or an RFC 3339 time; the time it means, RFC 3339 UTC.
pub fn since(argument: &str) -> Result<String> {
    if let Ok(time) = argument.parse::<jiff::Timestamp>() {
        return Ok(format!("{time:.3}"));
    }
    let split = argument.len() - argument.chars().last().map_or(0, char::len_utf8);
    let (number, unit) = argument.split_at(split);
    let seconds = match unit {
        "s" => 1,
        "m" => 60,
        "h" => 3_600,
        "d" => 86_400,
        _ => 0,
    };
    let number: i64 = number.parse().unwrap_or(-1);
    anyhow::ensure!(
        seconds > 0 && number >= 0,
        "--since wants 90m, 12h, 7d or a time such as 2026-01-31T08:00:00Z, not `{argument}`"
    );
    let now = jiff::Timestamp::from_millisecond(crate::clock::wall_ms() as i64)?;
    let then = now.checked_sub(jiff::SignedDuration::from_secs(number.saturating_mul(seconds)));
    Ok(format!("{:.3}", then.context("--since reaches too far back")?))
}

/// What thoughts and actions came to.
#[derive(Default)]
pub struct Spend {
    thoughts: u64,
    actions: u64,
    tokens: BTreeMap<&'static str, u64>,
}

/// What is told, an event at a time.
type Told<'a> = &'a mut dyn FnMut() -> Option<Value>;

/// Tells everything since a time, each event as it is come upon: by the guardian, the creature's memory and the broker.
/// Each of their files is in order of time, and nothing of them is held; what they come to in sum is known at the end.
pub fn stream(house: &House, since: &str, mut tell: impl FnMut(Value)) -> (Spend, Audit) {
    let (mut spend, mut audit) = (Spend::default(), Audit::open(house, since));
    let mut history = records::of(&house.history()).filter(|event| text(event, "at") >= since);
    let mut deaths = records::of(&house.deaths()).filter(|death| text(death, "at") >= since);
    let mut memory = records::of(&house.memory()).filter(|record| text(record, "at") >= since);
    let files: [Told; 4] = [
        &mut || history.next(),
        &mut || deaths.next().map(|death| with_what("death", death)),
        &mut || memory.find_map(|record| spend.take(&record)),
        &mut || audit.next_event(),
    ];
    let mut files = files.map(|next| (next(), next));
    while let Some((next, go_on)) = earliest(&mut files) {
        let event = std::mem::replace(next, go_on());
        event.into_iter().for_each(&mut tell);
    }
    (spend, audit)
}

/// The file whose next event comes first, while any has one.
fn earliest<'a, 'b>(
    files: &'a mut [(Option<Value>, Told<'b>)],
) -> Option<(&'a mut Option<Value>, &'a mut Told<'b>)> {
    fn at(next: &Option<Value>) -> &str {
        next.as_ref().map_or("", |event| text(event, "at"))
    }
    let waiting = files.iter_mut().filter(|(next, _)| next.is_some());
    waiting.min_by(|(one, _), (other, _)| at(one).cmp(at(other))).map(|(next, go_on)| (next, go_on))
}

pub fn with_what(what: &str, mut event: Value) -> Value {
    if let Some(fields) = event.as_object_mut() {
        fields.insert("what".into(), what.into());
    }
    event
}

impl Spend {
    /// Counts a record of memory; the event it is, where it is one.
    fn take(&mut self, record: &Value) -> Option<Value> {
        let (data, at) = (record.get("data")?, text(record, "at"));
        match text(record, "kind") {
            "thought" => {
                self.thoughts += 1;
                for name in ["input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens"] {
                    let tokens = data.get("usage").and_then(|usage| usage.get(name)).and_then(Value::as_u64);
                    let sum = self.tokens.entry(name).or_default();
                    *sum = sum.saturating_add(tokens.unwrap_or(0));
                }
                None
            }
            "action" => {
                self.actions += 1;
                let (tool, result) = (text(data, "tool"), data.get("result")?);
                let ok = result.get("ok").and_then(Value::as_bool) == Some(true);
                let drafted = text(result, "drafted");
                let what = if drafted.is_empty() { "posted" } else { "drafted" };
                (ok && matches!(tool, "x.post" | "x.reply")).then(
                    || json!({"at": at, "what": what, "tool": tool, "path": drafted, "id": result.get("id")}),
                )
            }
            "self_change" => Some(json!({
                "at": at, "what": "self_edit", "stage": text(data, "stage"), "ok": data.get("ok"),
                "summary": text(data, "summary"), "error": text(data, "error"),
            })),
            _ => None,
        }
    }

    pub fn as_json(&self) -> Value {
        json!({"thoughts": self.thoughts, "actions": self.actions, "tokens": self.tokens})
    }
}

pub fn print(house: &House, since: &str, as_json: bool) {
    if as_json {
        let mut comma = "";
        print!("{{\"since\": {}, \"events\": [", spelled_json(&since.into()));
        let (spend, audit) = stream(house, since, |event| {
            print!("{comma}\n{}", spelled_json(&event));
            comma = ",";
        });
        let (spend, audit) = (spelled_json(&spend.as_json()), spelled_json(&audit.sum()));
        println!("\n], \"spend\": {spend}, \"broker\": {audit}}}");
        return;
    }
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    let (spend, audit) = stream(house, since, |event| {
        let line = format!("{} {}", text(&event, "at").get(..19).unwrap_or_default(), sentence(&event));
        println!("{}", crate::report::harmless(&line));
        *counts.entry(text(&event, "what").replace('_', " ")).or_default() += 1;
    });
    let told: Vec<String> = counts.iter().map(|(what, count)| format!("{count} {what}")).collect();
    println!("since {since}: {}", if told.is_empty() { "nothing happened".into() } else { told.join(", ") });
    println!("thoughts {}, actions {}", spend.thoughts, spend.actions);
    let tokens = spend.tokens.iter().filter(|(_, count)| **count > 0);
    let tokens: Vec<String> =
        tokens.map(|(name, count)| format!("{} {count}", name.replace('_', " "))).collect();
    if !tokens.is_empty() {
        println!("spend: {}", tokens.join(", "));
    }
    audit.lines().iter().for_each(|line| println!("{line}"));
}

fn sentence(event: &Value) -> String {
    let short = |name: &str| text(event, name).chars().take(7).collect::<String>();
    let number = |name: &str| event.get(name).and_then(Value::as_u64).unwrap_or(0);
    match text(event, "what") {
        "life" => format!("life {} began at {}", number("life"), short("commit")),
        "death" => format!(
            "life {} ended: {} ({}; blamed on {})",
            number("life"),
            text(event, "ended").replace('_', " "),
            text(event, "cause"),
            text(event, "blame")
        ),
        "blessed" => format!("blessed {}", short("commit")),
        "fall" => text(event, "told").trim_start_matches("guardian: ").to_owned(),
        "rescued" => format!("unfinished edits of life {} kept as {}", number("life"), text(event, "ref")),
        "commit" => format!(
            "{} committed {}: {} ({} files, +{} -{})",
            text(event, "by"),
            short("commit"),
            text(event, "summary").trim_start_matches("guardian: "),
            number("files"),
            number("added"),
            number("removed")
        ),
        "drafted" => format!("drafted {}", text(event, "path")),
        "posted" => format!("posted by {}", text(event, "tool")),
        "self_edit" if event.get("ok").and_then(Value::as_bool) == Some(true) => {
            format!("self-edit, {}: {}", text(event, "stage"), text(event, "summary"))
        }
        "self_edit" => {
            let error: String =
                text(event, "error").lines().next().unwrap_or_default().chars().take(100).collect();
            format!("self-edit refused at {}: {} ({error})", text(event, "stage"), text(event, "summary"))
        }
        "refused" | "asked" | "answered" => {
            let reason = [text(event, "decision"), text(event, "note")].join(" ");
            let shown = format!(
                "{} {} {} {}: {}",
                text(event, "what"),
                text(event, "method"),
                text(event, "service"),
                text(event, "path"),
                reason.trim()
            );
            shown.replace('\n', " ")
        }
        "broker_ended" => format!("the broker ended: {} {}", text(event, "cause"), text(event, "said")),
        "broker_missing" => text(event, "cause").to_owned(),
        "settings_changed" => "the owner's settings were taken over".into(),
        "settings_refused" => format!("the owner's settings were not taken over: {}", text(event, "told")),
        other => format!("{other} {event}"),
    }
}
