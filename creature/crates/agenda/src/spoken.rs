//! Times as people say them: weekdays, hours, lengths, and until when; whatever is not certain is not understood.

use crate::items::later;
use jiff::civil::{DateTime, Time, Weekday};
use jiff::fmt::friendly::SpanParser;
use jiff::tz::TimeZone;
use jiff::{SpanRelativeTo, Timestamp, ToSpan};

const NUMBERS: [&str; 12] =
    ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"];
const TIMES: [&str; 5] = ["%H:%M", "%H:%M:%S", "%I:%M%p", "%I:%M:%S%p", "%I%p"];
const SPANS: SpanParser = SpanParser::new();

/// A day of the week by its name in lower case or the first letters of it, at least three.
pub fn weekday(word: &str) -> Option<Weekday> {
    let known = |day: &Weekday| word.len() >= 3 && format!("{day:?}").to_lowercase().starts_with(word);
    Weekday::Monday.cycle_forward().take(7).find(known)
}

/// A number from 1 to 12 by its name, or any of three digits at most.
pub fn number(word: &str) -> Option<u64> {
    let named = NUMBERS.iter().position(|name| *name == word).map(|at| at as u64 + 1);
    word.parse().ok().filter(|_| word.len() <= 3).or(named)
}

/// Days of the week from 1, Monday, by their names.
pub fn days(days: &[i8]) -> String {
    let days = days.iter().filter_map(|day| Weekday::from_monday_one_offset(*day).ok());
    let names: Vec<String> = days.map(|day| format!("{day:?}")).collect();
    match names.split_last() {
        Some((last, first)) if !first.is_empty() => format!("{} and {last}", first.join(", ")),
        _ => names.concat(),
    }
}

/// A length as people say it.
pub fn length(seconds: u64) -> String {
    match seconds {
        s if s % 86_400 == 0 => format!("{} d", s / 86_400),
        s if s % 3_600 == 0 => format!("{} h", s / 3_600),
        s => format!("{} min", s / 60),
    }
}

/// A day as people say it: `today`, `tomorrow`, `on Friday 27 November`, with its year where that is another.
pub fn day(at: Timestamp, now: Timestamp, zone: &TimeZone) -> String {
    let [at, today] = [at, now].map(|at| zone.to_datetime(at).date());
    match at {
        day if day == today => "today".to_owned(),
        day if Some(day) == today.tomorrow().ok() => "tomorrow".to_owned(),
        day if day.year() == today.year() => day.strftime("on %A %-d %B").to_string(),
        day => day.strftime("on %A %-d %B %Y").to_string(),
    }
}

/// A moment as people say it: `tomorrow at 09:00`; with its seconds where there are any.
pub fn day_and_hour(at: Timestamp, now: Timestamp, zone: &TimeZone) -> String {
    let hour = zone.to_datetime(at).time();
    let hour = hour.strftime(if hour.second() == 0 { "%H:%M" } else { "%H:%M:%S" });
    format!("{} at {hour}", day(at, now, zone))
}

/// An hour of the day: `18:00`, `18:00:30`, `6pm`, `6:30pm`, `noon`.
pub fn time(word: &str) -> Option<Time> {
    if word == "noon" {
        return Some(Time::constant(12, 0, 0, 0));
    }
    // Minutes and seconds have two digits: 3:2 is no hour.
    let mut after = word.trim_end_matches(['a', 'p', 'm']).split(':').skip(1);
    let is_whole = after.all(|part| part.len() == 2);
    TIMES.iter().filter(|_| is_whole).find_map(|form| Time::strptime(form, word).ok())
}

/// A length in seconds: `10 minutes`, `an hour`, `two days`, `45min`, `1h 30m`, `week`; up to 1,000 weeks.
pub fn length_s(words: &[&str]) -> Option<u64> {
    let said = match words {
        ["half", "an", "hour"] => "30 min".to_owned(),
        ["a" | "an", unit] => format!("1 {unit}"),
        [unit] if unit.starts_with(char::is_alphabetic) => format!("1 {unit}"),
        [count, units @ ..] if NUMBERS.contains(count) => format!("{} {}", number(count)?, units.join(" ")),
        [first, ..] if first.starts_with(|first: char| first.is_ascii_digit()) => words.join(" "),
        _ => return None,
    };
    // 18:00:30 is an hour of the day, and to jiff a length.
    let said = Some(said).filter(|said| !said.contains(':'))?;
    let span = SPANS.parse_span(said).ok()?;
    let length = span.to_duration(SpanRelativeTo::days_are_24_hours()).ok()?;
    u64::try_from(length.as_secs()).ok().filter(|length_s| (1..=1_000 * 604_800).contains(length_s))
}

/// Reads the end of the span these words name, later than now: `today`, `this week`, `until friday`, `for 3 days`.
pub fn until(words: &[&str], now: Timestamp, zone: &TimeZone) -> Option<Timestamp> {
    let over = match words {
        ["for", "the", "rest", "of", "the", unit] | ["for", "the", unit @ "day"] => end_of(unit, now, zone),
        ["for", "today"] | ["today"] => end_of("day", now, zone),
        ["for", "this", unit] | ["this", unit] => end_of(unit, now, zone),
        ["for", "the", "next", length @ ..] | ["for", length @ ..] => Some(later(now, length_s(length)?)),
        ["until" | "till", rest @ ..] => moment(rest, now, zone),
        _ => None,
    };
    over.filter(|over| *over > now)
}

/// The moment these words name: `tomorrow`, `friday 18:00`, `6pm`, `2026-12-01`, `next week`. A date may be past.
pub fn moment(words: &[&str], now: Timestamp, zone: &TimeZone) -> Option<Timestamp> {
    let here = zone.to_datetime(now);
    let (today, midnight) = (here.date(), Time::midnight());
    let (day, hour) = match words {
        ["the", "end", "of", "the" | "this", unit] | ["next", unit @ ("week" | "month")] => {
            return end_of(unit, now, zone);
        }
        [day, "at", hour] | [day, hour] => (*day, time(hour)?),
        [hour] if time(hour).is_some_and(|hour| hour > here.time()) => ("today", time(hour)?),
        [hour] if time(hour).is_some() => ("tomorrow", time(hour)?),
        [day] => (*day, midnight),
        _ => return None,
    };
    let date = match day {
        "today" => today,
        "tomorrow" => today.tomorrow().ok()?,
        day => match (weekday(day), day.to_uppercase().parse::<DateTime>()) {
            (Some(day), _) => today.nth_weekday(1, day).ok()?,
            // A date, or a date and hour in one word.
            (None, Ok(shown)) if words.len() == 1 => return instant(shown, zone),
            (None, Ok(shown)) => shown.date(),
            (None, Err(_)) => return None,
        },
    };
    instant(date.to_datetime(hour), zone)
}

/// The end of this day, week or month.
fn end_of(unit: &str, now: Timestamp, zone: &TimeZone) -> Option<Timestamp> {
    let today = zone.to_datetime(now).date();
    let next = match unit {
        "day" => today.tomorrow(),
        "week" => today.nth_weekday(1, Weekday::Monday),
        "month" => today.last_of_month().checked_add(1.day()),
        _ => return None,
    };
    instant(next.ok()?.to_datetime(Time::midnight()), zone)
}

/// The moment at which a clock in `zone` shows this; of a skipped time the later, of a repeated one the earlier.
pub fn instant(shown: DateTime, zone: &TimeZone) -> Option<Timestamp> {
    zone.to_ambiguous_zoned(shown).compatible().ok().map(|zoned| zoned.timestamp())
}
