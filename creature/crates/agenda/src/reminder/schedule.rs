//! Schedules of reminders: read from a few words, and the next time by the clock of a time zone.

use crate::items::later;
use crate::{Refusal, spoken};
use jiff::civil::{Date, Time};
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan};
use serde::{Deserialize, Serialize};

/// Days looked ahead: a month of 31 days and a few to be sure.
const AHEAD_DAYS: i32 = 35;

/// Shortest and longest interval within a window, in seconds.
const EVERY_S: (u64, u64) = (60, 86_400);

/// The window of a reminder that comes every so often, unless another is said.
const DAY: (Time, Time) = (Time::constant(8, 0, 0, 0), Time::constant(20, 0, 0, 0));

/// The hour of a day or morning, and of an evening, where none is said.
const MORNING: Time = Time::constant(9, 0, 0, 0);
const EVENING: Time = Time::constant(18, 0, 0, 0);

/// Schedule of a reminder. Hours are those of its time zone: an hour that a clock put forward skips comes as much
/// later, of an hour shown twice the first counts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Schedule {
    Once {
        at: Timestamp,
    },
    Daily {
        time: Time,
    },
    /// Days from 1, Monday, to 7.
    Weekly {
        days: Vec<i8>,
        time: Time,
    },
    /// On this day, or on the last of a month that is shorter.
    Monthly {
        day: i8,
        time: Time,
    },
    /// Each day at `from`, then every `every_s` seconds until `to`, included; past midnight where `to` is earlier.
    Every {
        every_s: u64,
        from: Time,
        to: Time,
    },
    /// A schedule that only a newer self knows: the time already set still comes, none after it.
    #[default]
    #[serde(other)]
    Other,
}

/// The hour of an afternoon, and of a night, where none is said.
const AFTERNOON: &str = "14:00";
const NIGHT: &str = "20:00";

/// The words in the few forms that are read: without `at`, `on` and `o'clock`; a bare number behind `at` or before
/// `o'clock` becomes an hour, an hour `in the evening` one of the evening, and `tomorrow evening` has its usual hour.
fn hours(text: &str) -> String {
    let said: Vec<&str> = text.split_whitespace().filter(|word| *word != "the").collect();
    let mut plain: Vec<String> = Vec::new();
    let mut at = false;
    for (nth, word) in said.iter().enumerate() {
        let next = said.get(nth + 1).copied().unwrap_or_default();
        let hour = spoken::number(word).filter(|hour| (at || next == "o'clock") && *hour < 24);
        at = *word == "at";
        let days = word.strip_suffix('s').filter(|day| day.ends_with("day") && weekdays(&[day]).is_some());
        match (hour, *word) {
            (Some(hour), _) => plain.push(format!("{hour}:00")),
            (None, "at" | "on" | "o'clock" | "in") if *word != "in" || part_of_day(next).is_some() => {}
            (None, "next") if spoken::weekday(next).is_some() => {}
            (None, "each") => plain.push("every".to_owned()),
            (None, "tonight") => plain.extend(["today".to_owned(), "night".to_owned()]),
            (None, "this") if part_of_day(next).is_some() => plain.push("today".to_owned()),
            (None, word) => match days {
                Some(day) if plain.last().is_none_or(|last| last != "every") => {
                    plain.extend(["every".to_owned(), day.to_owned()]);
                }
                _ => plain.push(word.to_owned()),
            },
        }
    }
    in_its_part_of_the_day(plain)
}

/// Hours that a part of the day adds to one said with it, and its own hour, where none is.
fn part_of_day(word: &str) -> Option<(i8, &'static str)> {
    match word {
        "morning" => Some((0, "9:00")),
        "afternoon" => Some((12, AFTERNOON)),
        "evening" => Some((12, "18:00")),
        "night" => Some((12, NIGHT)),
        _ => None,
    }
}

/// `4:00 afternoon` as `16:00`, `tomorrow evening` as `tomorrow 18:00`; `every morning` stays.
fn in_its_part_of_the_day(mut plain: Vec<String>) -> String {
    let found = plain.iter().position(|word| part_of_day(word).is_some());
    if let Some((at, (later, usual))) = found.and_then(|at| Some((at, part_of_day(plain.get(at)?)?))) {
        let clock = |word: &String| spoken::time(word).map(|time| (time, word.ends_with('m')));
        match plain.iter().position(|word| clock(word).is_some()) {
            Some(said) => {
                let hour = plain.get(said).and_then(clock).filter(|(time, half)| !half && time.hour() < 12);
                // Three at night is early; twelve at night is not understood.
                let night = plain.get(at).is_some_and(|part| part == "night");
                let later = if night && hour.is_some_and(|(time, _)| time.hour() < 6) { 0 } else { later };
                if night && hour.is_none() {
                    return plain.join(" ");
                }
                let hour = hour.map(|(time, _)| format!("{}:{:02}", time.hour() + later, time.minute()));
                plain.get_mut(said).zip(hour).into_iter().for_each(|(word, hour)| *word = hour);
                let begins = plain.first().is_some_and(|first| first == "every");
                match plain.get_mut(at) {
                    Some(part) if begins && at == 1 => "day".clone_into(part),
                    _ => drop(plain.remove(at)),
                }
            }
            None if plain.first().is_some_and(|first| first == "every") => {}
            None => plain.get_mut(at).into_iter().for_each(|part| usual.clone_into(part)),
        }
    }
    plain.join(" ")
}

/// Days of the week from 1, Monday: one, several joined by `and` or commas, or all that work or rest.
fn weekdays(words: &[&str]) -> Option<Vec<i8>> {
    match words {
        ["weekday" | "workday"] => return Some((1..=5).collect()),
        ["weekend"] => return Some(vec![6, 7]),
        [] => return None,
        _ => {}
    }
    let named = words.iter().flat_map(|word| word.split(',')).filter(|word| !matches!(*word, "and" | ""));
    named.map(|day| spoken::weekday(day).map(|day| day.to_monday_one_offset())).collect()
}

impl Schedule {
    /// Reads `2026-12-01 09:00`, `in 20 min`, `daily 09:00`, `weekly mon,thu 09:00`, `monthly 31 09:00`,
    /// `every 45 min` or `every 2 h 06:00-22:00`, and what people say for these: `every day at 9`, `on friday`.
    pub fn read(text: &str, now: Timestamp, zone: &TimeZone) -> Option<Schedule> {
        let text = hours(&text.trim().to_lowercase());
        let words: Vec<&str> = text.split_whitespace().collect();
        match words.as_slice() {
            ["daily", time] | ["every", "day", time] if spoken::time(time).is_some() => {
                Some(Schedule::Daily { time: spoken::time(time)? })
            }
            ["every", "day" | "morning"] => Some(Schedule::Daily { time: MORNING }),
            ["every", "evening"] => Some(Schedule::Daily { time: EVENING }),
            ["every", days @ ..] if weekdays(days).is_some() => {
                Some(Schedule::Weekly { days: weekdays(days)?, time: MORNING })
            }
            ["every" | "weekly", days @ .., time]
                if weekdays(days).is_some() && spoken::time(time).is_some() =>
            {
                Some(Schedule::Weekly { days: weekdays(days)?, time: spoken::time(time)? })
            }
            // A day without an hour means 9:00, not its midnight.
            [day] if *day == "tomorrow" || spoken::weekday(day).is_some() => {
                let at = spoken::moment(&[day, "9:00"], now, zone)?;
                Some(Schedule::Once { at })
            }
            ["monthly", day, time] => {
                Some(Schedule::Monthly { day: day.parse().ok()?, time: spoken::time(time)? })
            }
            ["every", length @ .., window] if window.contains('-') => {
                let (from, to) = window.split_once('-')?;
                let (from, to) = (spoken::time(from)?, spoken::time(to)?);
                Some(Schedule::Every { every_s: spoken::length_s(length)?, from, to })
            }
            ["every", length @ ..] => {
                let (from, to) = DAY;
                Some(Schedule::Every { every_s: spoken::length_s(length)?, from, to })
            }
            ["in", length @ ..] => Some(Schedule::Once { at: later(now, spoken::length_s(length)?) }),
            [instant] if instant.ends_with('z') => {
                Some(Schedule::Once { at: instant.to_uppercase().parse().ok()? })
            }
            moment => Some(Schedule::Once { at: spoken::moment(moment, now, zone)? }),
        }
    }

    /// Says when it comes, as people say it: `tomorrow at 09:00`, `every Monday at 08:00, first on 30 November`.
    pub fn said(&self, next: Timestamp, now: Timestamp, zone: &TimeZone) -> String {
        let clock = |time: &Time| time.strftime("%H:%M").to_string();
        let every = match self {
            Schedule::Once { .. } | Schedule::Other => return spoken::day_and_hour(next, now, zone),
            Schedule::Daily { time } => format!("every day at {}", clock(time)),
            Schedule::Weekly { days, time } => {
                let days = match days.as_slice() {
                    [1, 2, 3, 4, 5] => "weekday".to_owned(),
                    days => spoken::days(days),
                };
                format!("every {days} at {}", clock(time))
            }
            Schedule::Monthly { day, time } => format!("every month on day {day} at {}", clock(time)),
            Schedule::Every { every_s, from, to } => {
                format!("every {} from {} to {}", spoken::length(*every_s), clock(from), clock(to))
            }
        };
        format!("{every}, first {}", spoken::day(next, now, zone))
    }

    pub(super) fn check(&self) -> Result<(), Refusal> {
        let hint = match self {
            Schedule::Weekly { days, .. }
                if days.is_empty() || !days.iter().all(|day| (1..=7).contains(day)) =>
            {
                "days are 1, Monday, to 7"
            }
            Schedule::Monthly { day, .. } if !(1..=31).contains(day) => "a day of the month is 1 to 31",
            Schedule::Every { every_s, .. } if !(EVERY_S.0..=EVERY_S.1).contains(every_s) => {
                "within a window it comes every 60 s to 24 h; beyond that say daily, weekly or monthly"
            }
            Schedule::Other => "a schedule is once, daily, weekly, monthly or every",
            _ => return Ok(()),
        };
        Err(Refusal::new("keep that schedule", hint))
    }

    /// The first time later than `after`; none where it never comes again.
    pub fn next(&self, after: Timestamp, zone: &TimeZone) -> Option<Timestamp> {
        if let Schedule::Once { at } = self {
            return Some(*at).filter(|at| *at > after);
        }
        // A window of an earlier day may reach past midnight, even over a day that the time zone skipped whole.
        let first = zone.to_datetime(after).date().checked_sub(2.days()).ok()?;
        let days = (0..=AHEAD_DAYS).filter_map(|ahead| first.checked_add(ahead.days()).ok());
        days.filter_map(|day| self.on(day, after, zone)).next()
    }

    /// The first time after `after` that belongs to this day.
    fn on(&self, day: Date, after: Timestamp, zone: &TimeZone) -> Option<Timestamp> {
        let shown = |day: Date, time: Time| spoken::instant(day.to_datetime(time), zone);
        let single = match self {
            Schedule::Daily { time } => shown(day, *time),
            Schedule::Weekly { days, time } => {
                days.contains(&day.weekday().to_monday_one_offset()).then(|| shown(day, *time))?
            }
            Schedule::Monthly { day: wanted, time } => {
                (day.day() == (*wanted).min(day.days_in_month())).then(|| shown(day, *time))?
            }
            Schedule::Every { every_s, from, to } => {
                let last = if to < from { day.tomorrow().ok()? } else { day };
                let (from, to) = (shown(day, *from)?, shown(last, *to)?);
                let every_s = i64::try_from((*every_s).max(1)).ok()?;
                let turns = (after.as_second() - from.as_second()).div_euclid(every_s) + 1;
                let at = from.as_second().saturating_add(turns.max(0).saturating_mul(every_s));
                Timestamp::from_second(at).ok().filter(|at| *at <= to)
            }
            Schedule::Once { .. } | Schedule::Other => None,
        };
        single.filter(|at| *at > after)
    }
}
