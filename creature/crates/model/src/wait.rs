//! Time that a server asks to wait: by the headers of HTTP and of makers, by fields of its error, and by its words.
//!
//! Sources: RFC 9110 (Retry-After: seconds or a date), OpenAI's SDK (retry-after-ms), OpenAI's, Groq's and Anthropic's
//! pages on rate limit headers, OpenRouter's on limits (X-RateLimit-Reset in milliseconds), google.rpc.RetryInfo,
//! Hugging Face's estimated_time; words as OpenAI, Azure and Google write them.

use std::time::Duration;

use jiff::Timestamp;
use jiff::fmt::rfc2822::DateTimeParser;
use serde_json::Value;

/// The longest wait that is believed: a day.
const LONGEST_S: f64 = 86_400.0;

/// Headers that say what is left of an allowance, and when it is full again.
const ALLOWANCES: [[&str; 2]; 7] = [
    ["x-ratelimit-remaining-requests", "x-ratelimit-reset-requests"],
    ["x-ratelimit-remaining-tokens", "x-ratelimit-reset-tokens"],
    ["x-ratelimit-remaining", "x-ratelimit-reset"],
    ["anthropic-ratelimit-requests-remaining", "anthropic-ratelimit-requests-reset"],
    ["anthropic-ratelimit-tokens-remaining", "anthropic-ratelimit-tokens-reset"],
    ["anthropic-ratelimit-input-tokens-remaining", "anthropic-ratelimit-input-tokens-reset"],
    ["anthropic-ratelimit-output-tokens-remaining", "anthropic-ratelimit-output-tokens-reset"],
];

/// Words before a wait.
const SPOKEN: [&str; 5] =
    ["try again in ", "retry in ", "retry after ", "try again after ", "retry your request after "];

/// The wait that headers ask for. An allowance counts where it is `used_up`, and nothing of it is left.
pub(crate) fn of_headers(header: &dyn Fn(&str) -> Option<String>, used_up: bool) -> Option<Duration> {
    let header = |name: &str| header(name).map(|text| text.trim().to_owned());
    let milliseconds = header("retry-after-ms").and_then(|text| Some(text.parse::<f64>().ok()? / 1e3));
    let asked = || header("retry-after").and_then(|text| until(&text));
    let reset = || {
        let is_left = |name: &str| header(name).and_then(|left| left.parse::<f64>().ok()) != Some(0.0);
        let resets = ALLOWANCES.iter().filter(|[left, _]| used_up && !is_left(left));
        resets.filter_map(|[_, reset]| until(&header(reset)?)).max_by(f64::total_cmp)
    };
    bounded(milliseconds.filter(|wait_s| wait_s.is_finite()).or_else(asked).or_else(reset)?)
}

/// The wait that the fields of an error ask for.
pub(crate) fn of_fields(error: &Value) -> Option<Duration> {
    let details = error.get("details").and_then(Value::as_array).into_iter().flatten();
    let delay = details.filter_map(|detail| spoken(detail.get("retryDelay")?.as_str()?)).next();
    let number = |key: &str| error.get(key).and_then(Value::as_f64);
    let seconds =
        || ["estimated_time", "retry_after", "retry_after_seconds"].iter().find_map(|key| number(key));
    let headers = || {
        let headers = error.pointer("/metadata/headers")?.as_object()?;
        let header = |name: &str| {
            let (_, value) = headers.iter().find(|(key, _)| key.eq_ignore_ascii_case(name))?;
            Some(value.as_str().map_or_else(|| value.to_string(), str::to_owned))
        };
        of_headers(&header, true)
    };
    delay.or_else(seconds).and_then(bounded).or_else(headers)
}

/// The wait that words ask for; the words in lower case.
pub(crate) fn of_words(said: &str) -> Option<Duration> {
    let after = |words: &&str| spoken(said.split_once(*words)?.1);
    bounded(SPOKEN.iter().find_map(after)?)
}

fn bounded(wait_s: f64) -> Option<Duration> {
    Duration::try_from_secs_f64(wait_s.clamp(0.0, LONGEST_S)).ok()
}

/// Seconds until a time, or of a span: a number of seconds, `6m0s`, a date of HTTP, RFC 3339, or since 1970.
fn until(text: &str) -> Option<f64> {
    let from_now = |at: Timestamp| at.duration_since(Timestamp::now()).as_secs_f64();
    if let Ok(number) = text.parse::<f64>() {
        let at = |milliseconds: f64| Timestamp::from_millisecond(milliseconds as i64).ok().map(from_now);
        return match number {
            _ if number.is_nan() => None,
            _ if text.contains(['e', 'E']) => Some(number),
            1e12.. => at(number),
            1e9.. => at(number * 1e3),
            _ => Some(number),
        };
    }
    let dates = DateTimeParser::new().relaxed_weekday(true);
    let date = || dates.parse_timestamp(text).ok().or_else(|| text.parse().ok()).map(from_now);
    spoken(text).or_else(date)
}

/// The seconds of a span at the beginning of a text, such as `10h17m5.7s`, `12ms` or `20 seconds`.
fn spoken(text: &str) -> Option<f64> {
    let (mut rest, mut seconds) = (text.trim_start(), None);
    loop {
        let digits =
            rest.find(|letter: char| !letter.is_ascii_digit() && letter != '.').unwrap_or(rest.len());
        let (number, after) = rest.split_at_checked(digits)?;
        let Ok(number) = number.parse::<f64>() else { return seconds };
        let after = after.trim_start();
        let end = after.find(|letter: char| !letter.is_ascii_alphabetic()).unwrap_or(after.len());
        let (unit, after) = after.split_at_checked(end)?;
        let unit_s = match unit {
            "ms" | "milliseconds" => 1e-3,
            "s" | "sec" | "secs" | "second" | "seconds" => 1.0,
            "m" | "min" | "mins" | "minute" | "minutes" => 60.0,
            "h" | "hr" | "hour" | "hours" => 3_600.0,
            "d" | "day" | "days" => 86_400.0,
            _ => return seconds,
        };
        seconds = Some(seconds.unwrap_or(0.0) + number * unit_s);
        rest = after.trim_start();
    }
}
