//! Wait that a server asks for: by `retry-after` in every form, its own headers, or the body of its error; pure.

use http::HeaderMap;
use jiff::fmt::rfc2822::DateTimeParser;
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

/// Longest wait that is believed, in seconds.
const LONGEST_S: f64 = 86_400.0;
/// Milliseconds: OpenAI's SDKs, and Azure's reference.
const IN_MS: [&str; 2] = ["retry-after-ms", "x-ms-retry-after-ms"];
/// Headers for what is left, and for when there is more: OpenAI and Groq say `1m30s`, Anthropic a time, OpenRouter
/// milliseconds since 1970, others seconds from now or since 1970. Only a limit that is used up has to be waited for.
const USED_UP: [(&str, &str); 8] = [
    ("x-ratelimit-remaining-requests", "x-ratelimit-reset-requests"),
    ("x-ratelimit-remaining-tokens", "x-ratelimit-reset-tokens"),
    ("anthropic-ratelimit-requests-remaining", "anthropic-ratelimit-requests-reset"),
    ("anthropic-ratelimit-tokens-remaining", "anthropic-ratelimit-tokens-reset"),
    ("anthropic-ratelimit-input-tokens-remaining", "anthropic-ratelimit-input-tokens-reset"),
    ("anthropic-ratelimit-output-tokens-remaining", "anthropic-ratelimit-output-tokens-reset"),
    ("x-ratelimit-remaining", "x-ratelimit-reset"),
    ("ratelimit-remaining", "ratelimit-reset"),
];
/// A number from this one on is a time since 1970 in seconds; from `SINCE_1970_MS` on, in milliseconds.
const SINCE_1970_S: f64 = 1e9;
const SINCE_1970_MS: f64 = 1e12;

/// Whole seconds to wait, a day at most; `None` if the server does not say.
pub fn asked_s(headers: &HeaderMap, body: &[u8], now: Timestamp) -> Option<u64> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim);
    let in_ms = || IN_MS.iter().find_map(|name| Some(text(name)?.parse::<f64>().ok()? / 1e3));
    let after = || span_s(text("retry-after")?, now);
    let used_up = || {
        let is_used_up = |name: &str| text(name).is_some_and(|left| left.parse() == Ok(0.0));
        let waits = USED_UP.iter().filter(|(left, _)| is_used_up(left));
        waits.filter_map(|(_, until)| span_s(text(until)?, now)).reduce(f64::max)
    };
    let wait_s = in_ms().or_else(after).or_else(|| of_body(body)).or_else(used_up)?;
    (wait_s >= 0.0).then(|| wait_s.min(LONGEST_S).ceil() as u64)
}

/// Returns the time a server wants the next try.
pub fn next_try(wait_s: Option<u64>, now: Timestamp) -> Option<Timestamp> {
    now.checked_add(SignedDuration::from_secs(i64::try_from(wait_s?).ok()?)).ok()
}

/// Seconds from a number, a span like `1m30s`, or a date; a date that is over is no wait.
fn span_s(text: &str, now: Timestamp) -> Option<f64> {
    let until = |then: Timestamp| then.duration_since(now).as_secs_f64().max(0.0);
    if let Ok(number) = text.parse::<f64>() {
        return match number {
            ms if ms >= SINCE_1970_MS => Some((ms / 1e3 - now.as_millisecond() as f64 / 1e3).max(0.0)),
            s if s >= SINCE_1970_S => Some((s - now.as_second() as f64).max(0.0)),
            s => Some(s),
        };
    }
    let dates = DateTimeParser::new().relaxed_weekday(true);
    let date = || text.parse().ok().or_else(|| dates.parse_timestamp(text).ok()).map(until);
    text.parse::<SignedDuration>().ok().map(|span| span.as_secs_f64()).or_else(date)
}

/// Google's `RetryInfo`, in an error's details (google.rpc, error_details).
fn of_body(body: &[u8]) -> Option<f64> {
    let json: Value = serde_json::from_slice(body).ok()?;
    let json = json.get(0).unwrap_or(&json);
    let details = json.pointer("/error/details")?.as_array()?;
    let delay = details.iter().find_map(|detail| detail.get("retryDelay")?.as_str())?;
    delay.strip_suffix('s')?.parse().ok()
}
