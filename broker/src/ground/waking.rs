//! The hours of a day in which the creature may think of its own accord, in the owner's time zone; pure.
//!
//! Invariant: the stretches of two days do not overlap, not even when clocks change for summer or winter.

use jiff::Timestamp;
use jiff::civil::{Date, DateTime, Time};
use jiff::tz::TimeZone;

const MINUTES_OF_A_DAY: u16 = 1_440;
/// Most days looked through.
const MOST_DAYS: usize = 400;

#[derive(Clone, Debug)]
pub struct Waking {
    zone: TimeZone,
    hours: Hours,
}

/// Minutes after midnight; an end that is not after the beginning is on the next day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Hours {
    from: u16,
    to: u16,
}

/// Waking hours of one day, in milliseconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stretch {
    pub begins_ms: i64,
    pub ends_ms: i64,
}

impl Stretch {
    pub fn length_ms(self) -> u64 {
        self.ends_ms.saturating_sub(self.begins_ms).max(0).unsigned_abs()
    }

    pub fn holds(self, ms: i64) -> bool {
        (self.begins_ms..self.ends_ms).contains(&ms)
    }
}

/// Checks whether waking hours can be parsed; an empty text means all day.
pub fn judge(text: &str) -> Result<(), String> {
    if text.is_empty() { Ok(()) } else { read(text).map(|_| ()) }
}

fn read(text: &str) -> Result<Hours, String> {
    const WANTED: &str = "must be two times of day, like \"08:00-23:00\" or, over midnight, \"20:00-02:00\"";
    let (from, to) = text.split_once('-').ok_or(WANTED)?;
    let (from, to) = (minutes(from).ok_or(WANTED)?, minutes(to).ok_or(WANTED)?);
    if from == MINUTES_OF_A_DAY || from == to {
        return Err("must begin and end at two times of day; leave it out for all day".to_owned());
    }
    Ok(Hours { from, to })
}

/// `08:30` as minutes after midnight; `24:00` is the end of the day.
fn minutes(text: &str) -> Option<u16> {
    let (hour, minute) = text.trim().split_once(':')?;
    let digits = |text: &str| text.len() == 2 && text.bytes().all(|byte| byte.is_ascii_digit());
    let (hour, minute): (u16, u16) = if digits(hour) && digits(minute) {
        (hour.parse().ok()?, minute.parse().ok()?)
    } else {
        return None;
    };
    let minutes = hour * 60 + minute;
    (minute < 60 && minutes <= MINUTES_OF_A_DAY).then_some(minutes)
}

impl Waking {
    /// Parses waking hours that were checked before; takes UTC where there is no such time zone.
    pub fn new(hours: &str, zone: &str) -> Self {
        let all_day = Hours { from: 0, to: MINUTES_OF_A_DAY };
        let zone = TimeZone::get(zone).unwrap_or(TimeZone::UTC);
        Self { zone, hours: read(hours).unwrap_or(all_day) }
    }

    pub fn is_all_day(&self) -> bool {
        self.hours == Hours { from: 0, to: MINUTES_OF_A_DAY }
    }

    /// As in `08:00-23:00`; empty for all day.
    pub fn told(&self) -> String {
        let Hours { from, to } = self.hours;
        let time = |minutes: u16| format!("{:02}:{:02}", minutes / 60, minutes % 60);
        if self.is_all_day() { String::new() } else { format!("{}-{}", time(from), time(to)) }
    }

    /// The stretch that contains a time, if one does, and the stretches after it.
    pub fn from(&self, ms: i64) -> impl Iterator<Item = Stretch> + '_ {
        let today = Timestamp::from_millisecond(ms).unwrap_or_default().to_zoned(self.zone.clone()).date();
        // Yesterday's stretch may reach into today.
        let first = today.yesterday().unwrap_or(today);
        let days = std::iter::successors(Some(first), |day| day.tomorrow().ok());
        days.take(MOST_DAYS)
            .filter_map(|day| self.of(day))
            .filter(move |stretch| stretch.ends_ms > ms && stretch.length_ms() > 0)
    }

    fn of(&self, day: Date) -> Option<Stretch> {
        let Hours { from, to } = self.hours;
        let next = day.tomorrow().ok()?;
        let (last, to) =
            if to > from && to < MINUTES_OF_A_DAY { (day, to) } else { (next, to % MINUTES_OF_A_DAY) };
        Some(Stretch { begins_ms: self.at(day, from)?, ends_ms: self.at(last, to)? })
    }

    /// A time skipped when clocks change is an hour later; of a repeated time it is the first.
    fn at(&self, day: Date, minutes: u16) -> Option<i64> {
        let (hour, minute) = (i8::try_from(minutes / 60).ok()?, i8::try_from(minutes % 60).ok()?);
        let time = DateTime::from_parts(day, Time::new(hour, minute, 0, 0).ok()?);
        Some(self.zone.to_ambiguous_timestamp(time).compatible().ok()?.as_millisecond())
    }
}
