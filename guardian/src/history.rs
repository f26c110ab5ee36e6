//! What happened since a time, told from the records and the broker's ledger alone.

use crate::audit;
use crate::house::House;
use crate::records::{self, text};
use anyhow::{Context, Result};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};

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

/// Everything told since a time: by the guardian, and by the creature's own memory.
pub fn collect(house: &House, since: &str) -> (Vec<Value>, Value) {
    let mut events: Vec<Value> = Vec::new();
    for (path, what) in [(house.history(), ""), (house.deaths(), "death")] {
        for mut line in records::read(&path).0 {
            if let (Some(fields), false) = (line.as_object_mut(), what.is_empty()) {
                fields.insert("what".into(), what.into());
            }
            events.push(line);
        }
    }
    events.retain(|event| text(event, "at") >= since);
    let spend = from_memory(house, since, &mut events);
    events.sort_by(|one, other| text(one, "at").cmp(text(other, "at")));
    (events, spend)
}

fn from_memory(house: &House, since: &str, events: &mut Vec<Value>) -> Value {
    let mut spend: BTreeMap<&str, u64> = BTreeMap::new();
    let (mut thoughts, mut actions) = (0_u64, 0_u64);
    let Ok(Some(file)) = crate::files::open(&house.memory()) else { return json!({}) };
    for line in BufReader::new(file).split(b'\n').map_while(Result::ok) {
        let Ok(record) = serde_json::from_slice::<Value>(&line) else { continue };
        let (Some(data), true) = (record.get("data"), text(&record, "at") >= since) else { continue };
        let at = text(&record, "at");
        match text(&record, "kind") {
            "thought" => {
                thoughts += 1;
                for name in ["input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens"] {
                    let tokens = data.get("usage").and_then(|usage| usage.get(name)).and_then(Value::as_u64);
                    *spend.entry(name).or_default() += tokens.unwrap_or(0);
                }
            }
            "action" => {
                actions += 1;
                let (tool, result) = (text(data, "tool"), data.get("result").unwrap_or(&Value::Null));
                let ok = result.get("ok").and_then(Value::as_bool) == Some(true);
                if ok && matches!(tool, "x.post" | "x.reply") {
                    let drafted = text(result, "drafted");
                    let what = if drafted.is_empty() { "posted" } else { "drafted" };
                    events.push(json!({"at": at, "what": what, "tool": tool, "path": drafted, "id": result.get("id")}));
                }
            }
            "self_change" => events.push(json!({
                "at": at, "what": "self_edit", "stage": text(data, "stage"), "ok": data.get("ok"),
                "summary": text(data, "summary"), "error": text(data, "error"),
            })),
            _ => {}
        }
    }
    json!({"thoughts": thoughts, "actions": actions, "tokens": spend})
}

pub fn print(house: &House, since: &str, as_json: bool) {
    let (mut events, spend) = collect(house, since);
    let mut audit = audit::read(house, since);
    events.append(&mut audit.events);
    events.sort_by(|one, other| text(one, "at").cmp(text(other, "at")));
    if as_json {
        let all = json!({"since": since, "events": events, "spend": spend, "broker": audit.sum()});
        println!("{}", crate::asks::spelled_json(&all));
        return;
    }
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for event in &events {
        *counts.entry(text(event, "what")).or_default() += 1;
        println!("{} {}", text(event, "at").get(..19).unwrap_or_default(), sentence(event));
    }
    let told: Vec<String> =
        counts.iter().map(|(what, count)| format!("{count} {}", what.replace('_', " "))).collect();
    println!("since {since}: {}", if told.is_empty() { "nothing happened".into() } else { told.join(", ") });
    let number = |name: &str| spend.get(name).and_then(Value::as_u64).unwrap_or(0);
    println!("thoughts {}, actions {}", number("thoughts"), number("actions"));
    let tokens = spend.get("tokens").and_then(Value::as_object);
    let spent = |count: &Value| count.as_u64().is_some_and(|count| count > 0);
    let tokens: Vec<String> = tokens
        .into_iter()
        .flatten()
        .filter(|(_, count)| spent(count))
        .map(|(name, count)| format!("{} {count}", name.replace('_', " ")))
        .collect();
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
            crate::asks::spelled(&shown.replace('\n', " "))
        }
        "broker_ended" => format!("the broker ended: {} {}", text(event, "cause"), text(event, "said")),
        "broker_missing" => text(event, "cause").to_owned(),
        "settings_changed" => "the owner's settings were taken over".into(),
        "settings_refused" => format!("the owner's settings were not taken over: {}", text(event, "told")),
        other => format!("{other} {event}"),
    }
}
