//! How the money stands: `.self/budget.json` of the broker in one line, and what of it is alarming.

use agenda::own::Allowance;
use ground::papers;
use ground::text::shorten;
use serde_json::Value;
use std::path::Path;

/// Bytes of the file that are read.
const MOST_BYTES: u64 = 64 * 1024;

/// Characters of a sentence taken from it.
const MOST_CHARS: usize = 300;

/// What a thought is told of money.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Money {
    /// Spend and caps, with the alarm behind them; empty where nobody keeps a budget.
    pub line: String,
    /// A warning, or why calls are stopped; empty when all is well.
    pub alarm: String,
    /// Only what cannot wait is done. That the autonomous share is used up is no reason: it is refilled at a rate.
    pub poor: bool,
    /// The warning alone, which the owner hears.
    pub warning: String,
}

/// A text that changes when a model that was refused may answer: with the broker's start (`since`) and the day.
pub fn mark(path: &Path) -> String {
    let bytes = papers::head(path, 0, MOST_BYTES).map(|(bytes, _)| bytes).unwrap_or_default();
    let said: Value = serde_json::from_slice(&bytes).unwrap_or_default();
    let part = |key: &str| said.get(key).and_then(Value::as_str).unwrap_or_default();
    [part("since"), part("day")].join(" ").trim().chars().take(MOST_CHARS).collect()
}

/// What the broker allows for the creature's own time; none where the file does not name it, or allows no money.
pub fn allowance(path: &Path) -> Option<Allowance> {
    let (bytes, _) = papers::head(path, 0, MOST_BYTES).ok()?;
    let said: Value = serde_json::from_slice(&bytes).ok()?;
    let own = said.get("autonomy")?;
    let time = |key: &str| own.get(key).and_then(Value::as_str).and_then(|at| at.parse().ok());
    let usd = |key: &str| own.get(key).and_then(Value::as_f64).filter(|usd| *usd > 0.0);
    usd("usd_per_day")?;
    let usd_per_hour = usd("usd_per_hour").unwrap_or(0.0);
    let (room_at, wakes_at) = (time("room_at"), time("wakes_at"));
    let first_hour_usd = usd("bucket_usd").unwrap_or(0.0);
    Some(Allowance { usd_per_hour, first_hour_usd, room_at, wakes_at, ..Allowance::default() })
}

/// Reads `budget.json`; a missing file is no budget, of a garbage one the alarm says so.
pub fn read(path: &Path) -> Money {
    let Ok((bytes, _)) = papers::head(path, 0, MOST_BYTES) else { return Money::default() };
    let Ok(Value::Object(said)) = serde_json::from_slice(&bytes) else {
        let alarm = "budget.json cannot be read; what is left to spend is unknown".to_owned();
        return Money { line: alarm.clone(), alarm, poor: true, ..Money::default() };
    };
    let text = |value: &Value| match value {
        Value::String(text) => shorten(&text.replace(char::is_control, " "), MOST_CHARS),
        other => shorten(&other.to_string(), MOST_CHARS),
    };
    let number = |key: &str| said.get(key).and_then(Value::as_f64).unwrap_or(0.0);
    let usd = |key: &str| format!("${:.2}", number(key));
    let mut alarms: Vec<String> = Vec::new();
    for key in ["closed", "warning"] {
        alarms.extend(said.get(key).filter(|value| !value.is_null()).map(text));
    }
    if let Some(stopped) = said.get("stopped").filter(|value| !value.is_null()) {
        let part = |key: &str| stopped.get(key).map(text).unwrap_or_default();
        let (provider, status, hint) = (part("provider"), part("status"), part("hint"));
        alarms.push(format!("model calls are stopped: {provider} answered {status}; {hint}"));
    }
    let alarm = alarms.join("; ");
    let reserved = match number("reserved_usd") > 0.0 {
        true => format!(", {} reserved for calls under way", usd("reserved_usd")),
        false => String::new(),
    };
    let line = format!(
        "Money: {} of {} spent today, {} of {} without being asked, {} of {} this week{reserved}. {alarm}",
        usd("spent_today_usd"),
        usd("daily_cap_usd"),
        usd("autonomous_today_usd"),
        usd("autonomous_cap_usd"),
        usd("spent_week_usd"),
        usd("weekly_cap_usd"),
    );
    let warning = said.get("warning").filter(|value| !value.is_null()).map(text).unwrap_or_default();
    let is_own = |part: &str| part.contains("autonomous share");
    let poor = alarm != warning || (!warning.is_empty() && !warning.split("; ").all(is_own));
    Money { line: line.trim_end().to_owned(), alarm, poor, warning }
}
