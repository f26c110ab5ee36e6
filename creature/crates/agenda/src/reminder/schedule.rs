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

/// When a reminder comes. Hours are those of its time zone: one that a clock put forward skips comes as much
/// later, of one shown twice the first counts.
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

/// The words without `at` and `on`; a bare number behind `at` becomes an hour: `at 9` is `9:00`.
fn hours(text: &str) -> String {
    let (mut plain, mut at) = (Vec::new(), false);
    for word in text.split_whitespace() {
        let hour = word.parse::<u8>().is_ok_and(|hour| at && hour < 24);
        at = word == "at";
        match (hour, word) {
            (true, hour) => plain.push(format!("{hour}:00")),
            (false, "at" | "on") => {}
            (false, word) => plain.push(word.to_owned()),
        }
    }
    plain.join(" ")
}

fn weekly(day: &str, time: Time) -> Option<Schedule> {
    let day = spoken::weekday(day)?.to_monday_one_offset();
    Some(Schedule::Weekly { days: vec![day], time })
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
            ["every", day] if spoken::weekday(day).is_some() => weekly(day, MORNING),
            ["every", day, time] if spoken::weekday(day).is_some() => weekly(day, spoken::time(time)?),
            // A day without an hour means 9:00, not its midnight.
            [day] if *day == "tomorrow" || spoken::weekday(day).is_some() => {
                let at = spoken::moment(&[day, "9:00"], now, zone)?;
                Some(Schedule::Once { at })
            }
            ["weekly", days, time] => {
                let day = |day| spoken::weekday(day).map(|day| day.to_monday_one_offset());
                let days = days.split(',').map(day).collect::<Option<_>>()?;
                Some(Schedule::Weekly { days, time: spoken::time(time)? })
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
