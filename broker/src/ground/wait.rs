//! How long a server asks to wait: `Retry-After` in seconds, as a fraction or as a date. Pure.

use jiff::Timestamp;
use jiff::fmt::rfc2822::DateTimeParser;

/// Longest wait that is believed, in seconds.
const LONGEST_S: f64 = 86_400.0;

/// The seconds from `now` on, rounded up; none where the text says neither seconds nor a date.
/// Source: RFC 9110, 10.2.3; fractions are what some servers send all the same.
pub fn asked_s(text: &str, now: Timestamp) -> Option<u64> {
    let text = text.trim();
    let seconds = match text.parse::<f64>() {
        Ok(seconds) => seconds,
        Err(_) => {
            let until = DateTimeParser::new().relaxed_weekday(true).parse_timestamp(text).ok()?;
            until.duration_since(now).as_secs_f64()
        }
    };
    (!seconds.is_nan()).then(|| seconds.clamp(0.0, LONGEST_S).ceil() as u64)
}
