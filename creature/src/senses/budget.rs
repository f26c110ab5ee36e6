//! State of the money: `.self/budget.json` of the broker in one line, and what of it is alarming.

use agenda::own::Allowance;
use ground::files;
use ground::text::shorten;
use serde_json::Value;
use std::path::Path;

/// Bytes of the file that are read.
const MOST_BYTES: u64 = 64 * 1024;

/// Characters of a sentence taken from it.
const MOST_CHARS: usize = 300;

/// Caps that are told of.
const MOST_CAPS: usize = 6;

/// State of the money, as a thought is told.
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

/// Returns a text that changes when a refused model may answer: with the broker's start (`since`) and the day.
pub fn mark(path: &Path) -> String {
    let said: Value = memory::state::read(path).unwrap_or_default();
    let part = |key: &str| said.get(key).and_then(Value::as_str).unwrap_or_default();
    [part("since"), part("day")].join(" ").trim().chars().take(MOST_CHARS).collect()
}

/// Reads the broker's allowance for the creature's own time; none where the file does not name it, or allows no money.
pub fn allowance(path: &Path) -> Option<Allowance> {
    let said: Value = memory::state::read(path)?;
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
pub fn read_money(path: &Path) -> Money {
    let Ok((bytes, _)) = files::head(path, 0, MOST_BYTES) else { return Money::default() };
    let Ok(Value::Object(said)) = serde_json::from_slice(&bytes) else {
        let alarm = "budget.json cannot be read; what is left to spend is unknown".to_owned();
        return Money { line: alarm.clone(), alarm, poor: true, ..Money::default() };
    };
    let text = |value: &Value| match value {
        Value::String(text) => shorten(&text.replace(char::is_control, " "), MOST_CHARS),
        other => shorten(&other.to_string(), MOST_CHARS),
    };
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
    let caps = said.get("caps").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let mut parts: Vec<String> =
        caps.iter().take(MOST_CAPS).enumerate().map(|(n, cap)| spent(cap, n == 0)).collect();
    let reserved_usd = said.get("reserved_usd").and_then(Value::as_f64).unwrap_or(0.0);
    if reserved_usd > 0.0 {
        parts.push(format!("${reserved_usd:.2} reserved for calls under way"));
    }
    if parts.is_empty() {
        parts.push("what was spent is not told".to_owned());
    }
    let line = format!("Money: {}. {alarm}", parts.join(", "));
    let warning = said.get("warning").filter(|value| !value.is_null()).map(text).unwrap_or_default();
    let poor = alarm != warning || said.get("poor") == Some(&Value::Bool(true));
    Money { line: line.trim_end().to_owned(), alarm, poor, warning }
}

/// Returns the spend under one cap; of the shortest also the spend without being asked.
fn spent(cap: &Value, is_shortest: bool) -> String {
    let usd = |key: &str| format!("${:.2}", cap.get(key).and_then(Value::as_f64).unwrap_or(0.0));
    let now = match cap.get("span").and_then(Value::as_str).unwrap_or_default() {
        "day" => "today".to_owned(),
        span => format!("this {}", shorten(span, 20)),
    };
    let (all, most) = (usd("spent_usd"), usd("cap_usd"));
    match is_shortest {
        true => {
            let (own, share) = (usd("autonomous_usd"), usd("autonomous_cap_usd"));
            format!("{all} of {most} spent {now}, {own} of {share} without being asked")
        }
        false => format!("{all} of {most} {now}"),
    }
}
