//! Reads spans of the past as people say them: `2h`, `last night`, `since 9am`, `monday`. Pure.
//!
//! A named day, night or week is meant whole, as far as it is over; behind `since` the span goes on until now.

use crate::spoken;
use jiff::civil::{Date, DateTime, Time, Weekday};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp, ToSpan};

/// A stretch of past time, and the words for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    pub since: Timestamp,
    pub until: Timestamp,
    /// Words that were said, in lower case.
    pub said: String,
}

/// Parts of a day, with the hours of the clock at which they begin and end; past 24 on the next day.
const PARTS: [(&str, i64, i64); 4] =
    [("morning", 5, 12), ("afternoon", 12, 18), ("evening", 18, 24), ("night", 18, 32)];

/// Reads the span these words mean; none where they are not certain. A span ends no later than now.
pub fn read(said: &str, now: Timestamp, zone: &TimeZone) -> Option<Span> {
    let text = said.trim().to_lowercase();
    let words: Vec<&str> = text.split_whitespace().filter(|word| !matches!(*word, "at" | "the")).collect();
    let here = Here { now, zone };
    let (since, until) = match words.as_slice() {
        ["since" | "from" | "after", rest @ ..] => match rest {
            ["last", "night"] => (here.at(here.today().yesterday().ok()?, 18)?, now),
            [hour] if plain_hour(hour) => (here.begun(spoken::time(&format!("{hour}:00"))?)?, now),
            rest => (here.period(rest)?.0, now),
        },
        ["in" | "on" | "during" | "over" | "within" | "for", rest @ ..] => here.period(rest)?,
        rest => here.period(rest)?,
    };
    let until = until.min(now);
    (since < until).then_some(Span { since, until, said: text })
}

fn plain_hour(word: &str) -> bool {
    word.len() <= 2 && word.parse::<u8>().is_ok_and(|hour| hour < 24)
}

/// The present moment, and the time zone whose clock is meant.
struct Here<'a> {
    now: Timestamp,
    zone: &'a TimeZone,
}

impl Here<'_> {
    fn today(&self) -> Date {
        self.zone.to_datetime(self.now).date()
    }

    /// Returns the moment a clock in the zone shows this hour of a day; an hour from 24 on is on a later day.
    fn at(&self, day: Date, hour: i64) -> Option<Timestamp> {
        let day = day.checked_add((hour / 24).days()).ok()?;
        let time = Time::new(i8::try_from(hour % 24).ok()?, 0, 0, 0).ok()?;
        spoken::instant(day.to_datetime(time), self.zone)
    }

    /// The last moment at which a clock in the zone showed this.
    fn begun(&self, time: Time) -> Option<Timestamp> {
        let on = |day: Date| spoken::instant(day.to_datetime(time), self.zone);
        let today = on(self.today())?;
        if today < self.now { Some(today) } else { on(self.today().yesterday().ok()?) }
    }

    fn period(&self, words: &[&str]) -> Option<(Timestamp, Timestamp)> {
        let today = self.today();
        match words {
            ["today"] | ["this", "day"] => self.days(today, 1),
            ["yesterday"] => self.days(today.yesterday().ok()?, 1),
            ["tonight"] => self.part(today, "night"),
            ["last" | "yesterday", part @ ("night" | "evening")] | [part @ "overnight"] => {
                self.part(today.yesterday().ok()?, part.trim_start_matches("over"))
            }
            ["this", part] if PARTS.iter().any(|(name, ..)| name == part) => self.part(today, part),
            ["yesterday", part] if PARTS.iter().any(|(name, ..)| name == part) => {
                self.part(today.yesterday().ok()?, part)
            }
            [which @ ("this" | "last"), "week"] => {
                let monday = today.tomorrow().ok()?.nth_weekday(-1, Weekday::Monday).ok()?;
                match *which {
                    "this" => self.days(monday, 7),
                    _ => self.days(monday.checked_sub(7.days()).ok()?, 7),
                }
            }
            ["this", "month"] => self.days(today.first_of_month(), i64::from(today.days_in_month())),
            ["last", "month"] => {
                let month = today.first_of_month().yesterday().ok()?;
                self.days(month.first_of_month(), i64::from(month.days_in_month()))
            }
            ["last" | "past", length @ ..] if spoken::length_s(length).is_some() => self.ago(length),
            [length @ .., "ago"] => self.ago(length),
            ["last" | "past", day] => self.day(day).and_then(|day| self.days(day, 1)),
            [day] if self.day(day).is_some() => self.days(self.day(day)?, 1),
            [day, part] if PARTS.iter().any(|(name, ..)| name == part) => self.part(self.day(day)?, part),
            [day, hour] if spoken::time(hour).is_some() => {
                let day = match *day {
                    "today" => today,
                    "yesterday" => today.yesterday().ok()?,
                    day => self.day(day)?,
                };
                let since = spoken::instant(day.to_datetime(spoken::time(hour)?), self.zone)?;
                Some((since, self.now))
            }
            [hour] if spoken::time(hour).is_some() => Some((self.begun(spoken::time(hour)?)?, self.now)),
            length if spoken::length_s(length).is_some() => self.ago(length),
            moment => self.dated(&moment.join(" ").to_uppercase()),
        }
    }

    /// The last date of a weekday, today's where it is today; or a date as it is written.
    fn day(&self, word: &str) -> Option<Date> {
        let before = |day| self.today().tomorrow().ok()?.nth_weekday(-1, day).ok();
        // A text longer than a date has an hour in it, and is no day.
        let date = || word.parse().ok().filter(|_| word.len() == 10);
        spoken::weekday(word).and_then(before).or_else(date)
    }

    fn days(&self, first: Date, count: i64) -> Option<(Timestamp, Timestamp)> {
        Some((self.at(first, 0)?, self.at(first, 24 * count)?))
    }

    fn part(&self, day: Date, part: &str) -> Option<(Timestamp, Timestamp)> {
        let (_, from, to) = PARTS.iter().find(|(name, ..)| *name == part)?;
        Some((self.at(day, *from)?, self.at(day, *to)?))
    }

    fn ago(&self, length: &[&str]) -> Option<(Timestamp, Timestamp)> {
        let length = SignedDuration::from_secs(i64::try_from(spoken::length_s(length)?).ok()?);
        Some((self.now.checked_sub(length).ok()?, self.now))
    }

    /// From a moment as it is written until now; without a zone it is one of this zone's clock.
    fn dated(&self, text: &str) -> Option<(Timestamp, Timestamp)> {
        let shown = || spoken::instant(text.parse::<DateTime>().ok()?, self.zone);
        Some((text.parse().ok().or_else(shown)?, self.now))
    }
}
