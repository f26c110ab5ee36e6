//! Times as the owner reads and writes them: local, and dated where the day changes.

use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};
use std::time::Duration;

/// Parses `90m`, `12h`, `7d`, `2w`, `today`, `yesterday`, a day or time in the owner's time zone, or an RFC 3339 time;
/// returns RFC 3339 UTC.
pub fn since(argument: &str) -> Result<String, String> {
    let wrong = || {
        format!(
            "--since wants 90m, 12h, 7d, today, yesterday, a day such as 2026-01-31, or a time such as 2026-01-31T08:00, not `{}`",
            crate::printable::flat(&crate::bounds::brief(argument, 80))
        )
    };
    let then = ago(argument).or_else(|| midnight(argument)).or_else(|| argument.parse().ok()).or_else(|| {
        let local = argument.parse::<DateTime>().ok()?;
        local.to_zoned(TimeZone::system()).ok().map(|zoned| zoned.timestamp())
    });
    then.map(|then| format!("{then:.3}")).ok_or_else(wrong)
}

/// The time that long ago; a span that reaches back before the earliest representable time means that time.
fn ago(argument: &str) -> Option<Timestamp> {
    let (number, unit) = argument.split_at_checked(argument.len().checked_sub(1)?)?;
    let seconds: i64 = match unit {
        "s" => 1,
        "m" => 60,
        "h" => 3_600,
        "d" => 86_400,
        "w" => 7 * 86_400,
        _ => return None,
    };
    if number.is_empty() || !number.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let span = number.parse::<i64>().unwrap_or(i64::MAX).saturating_mul(seconds);
    let now_s = i64::try_from(crate::clock::wall_ms() / 1_000).ok()?;
    Timestamp::from_second(now_s.saturating_sub(span).max(0)).ok()
}

/// Beginning of `today` or `yesterday`, by the owner's clock.
fn midnight(argument: &str) -> Option<Timestamp> {
    let today = now().to_zoned(TimeZone::system()).date();
    let day = match argument {
        "today" => today,
        "yesterday" => today.yesterday().ok()?,
        _ => return None,
    };
    Some(day.to_zoned(TimeZone::system()).ok()?.timestamp())
}

/// The name of this machine's time zone, as in `Europe/Berlin`; `UTC` where it has none, or one without a name.
pub fn machine_zone() -> String {
    let name = TimeZone::system().iana_name().filter(|name| TimeZone::get(name).is_ok()).map(str::to_owned);
    name.unwrap_or_else(|| "UTC".to_owned())
}

/// A time zone that times are shown in.
#[derive(Clone)]
pub struct Place(TimeZone);

impl Place {
    /// The time zone of this machine.
    pub fn here() -> Self {
        Self(TimeZone::system())
    }

    pub fn named(zone: &str) -> Option<Self> {
        TimeZone::posix(zone).ok().map(Self)
    }

    /// `14:02:11`.
    pub fn time(&self, at: Timestamp) -> String {
        at.to_zoned(self.0.clone()).strftime("%H:%M:%S").to_string()
    }

    /// `2026-11-22 14:02:11`.
    pub fn whole(&self, at: Timestamp) -> String {
        at.to_zoned(self.0.clone()).strftime("%Y-%m-%d %H:%M:%S").to_string()
    }

    pub fn zoned(&self, at: Timestamp) -> Zoned {
        at.to_zoned(self.0.clone())
    }

    pub fn day(&self, at: Timestamp) -> Date {
        at.to_zoned(self.0.clone()).date()
    }

    /// The day, as `2026-01-31`, on which the clock here showed this time of day (`07:30`) last.
    pub fn last_day_at(&self, time: &str, now: Timestamp) -> Option<String> {
        let time: jiff::civil::Time = time.parse().ok()?;
        let today = self.day(now);
        let is_over = |day: &Date| {
            day.to_datetime(time).to_zoned(self.0.clone()).is_ok_and(|then| then.timestamp() <= now)
        };
        [Some(today), today.yesterday().ok()].into_iter().flatten().find(is_over).map(|day| day.to_string())
    }

    /// `Sunday, 22 November 2026 (CET)`.
    pub fn day_told(&self, at: Timestamp) -> String {
        at.to_zoned(self.0.clone()).strftime("%A, %-d %B %Y (%Z)").to_string()
    }
}

/// A record's time as the owner reads it; text that is no time is not shown as one.
pub fn told(at: &str) -> String {
    at.parse().map_or_else(|_| "at a time unknown".into(), |at| Place::here().whole(at))
}

/// As `told`, without the day where that is today.
pub fn near(at: &str) -> String {
    let (place, then) = (Place::here(), at.parse::<Timestamp>());
    then.map_or_else(
        |_| told(at),
        |then| if place.day(then) == place.day(now()) { place.time(then) } else { place.whole(then) },
    )
}

/// A time to come or gone, and how far off it is: `14:06:02, in 4 min`.
pub fn off(at: &str) -> String {
    let Ok(then) = at.parse::<Timestamp>() else { return told(at) };
    let seconds = then.as_second().saturating_sub(now().as_second());
    let far = span(Duration::from_secs(seconds.unsigned_abs()));
    let near = near(at);
    if seconds >= 0 { format!("{near}, in {far}") } else { format!("{near}, {far} ago") }
}

/// How long ago a time was, in a word or two: `now`, `12 s ago`, `5 min ago`, `3 h ago`, `yesterday 14:02`, `3 Feb 14:02`,
/// `3 Feb 2025`; of one to come, how far off it is.
pub fn since_then(then: Timestamp, now: Timestamp) -> String {
    let seconds = now.as_second().saturating_sub(then.as_second());
    let there = |at: Timestamp| at.to_zoned(TimeZone::system());
    let (then_there, now_there) = (there(then), there(now));
    match seconds {
        ..-1 => format!("in {}", span(Duration::from_secs(seconds.unsigned_abs()))),
        -1..5 => "now".to_owned(),
        5..60 => format!("{seconds} s ago"),
        60..3_600 => format!("{} min ago", seconds / 60),
        3_600..43_200 => format!("{} h ago", seconds / 3_600),
        _ if then_there.date() == now_there.date() => then_there.strftime("today %H:%M").to_string(),
        _ if now_there.date().yesterday().ok() == Some(then_there.date()) => {
            then_there.strftime("yesterday %H:%M").to_string()
        }
        _ if then_there.year() == now_there.year() => then_there.strftime("%-d %b %H:%M").to_string(),
        _ => then_there.strftime("%-d %b %Y").to_string(),
    }
}

/// A record's time in milliseconds since the epoch; `None` for text that is no time.
pub fn ms(at: &str) -> Option<crate::clock::Millis> {
    u64::try_from(at.parse::<Timestamp>().ok()?.as_millisecond()).ok()
}

pub fn now() -> Timestamp {
    Timestamp::from_millisecond(crate::clock::wall_ms() as i64).unwrap_or_default()
}

/// `1 h 5 min`, `12 s`: a duration for people.
pub fn span(duration: Duration) -> String {
    let seconds = duration.as_secs();
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3_600 => format!("{} min", seconds / 60),
        3_600..86_400 => format!("{} h {} min", seconds / 3_600, seconds % 3_600 / 60),
        _ => format!("{} d {} h", seconds / 86_400, seconds % 86_400 / 3_600),
    }
}
