//! A record's time, fast: the form every record of ours has is read digit by digit, any other as a time of any form.

use house::moments;

/// Times before 2000 and later than a day from now are taken for a clock that was wrong, and not drawn.
const EARLIEST_MS: u64 = 946_684_800_000;
const AHEAD_MS: u64 = 86_400_000;

/// Milliseconds since the epoch of a record's time that can be true.
pub fn of(at: &str, now_ms: u64) -> Option<u64> {
    let at_ms = plain(at).or_else(|| moments::ms(at))?;
    (EARLIEST_MS..=now_ms.saturating_add(AHEAD_MS)).contains(&at_ms).then_some(at_ms)
}

/// `2026-01-02T03:04:05.678Z`.
fn plain(at: &str) -> Option<u64> {
    let marks = [(4, b'-'), (7, b'-'), (10, b'T'), (13, b':'), (16, b':'), (19, b'.'), (23, b'Z')];
    let is_plain = |(place, mark): (usize, u8)| at.as_bytes().get(place) == Some(&mark);
    if at.len() != 24 || at.contains('+') || !marks.into_iter().all(is_plain) {
        return None;
    }
    let number = |from: usize, to: usize| at.get(from..to)?.parse::<u64>().ok();
    let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
    let (hour, minute) = (number(11, 13)?, number(14, 16)?);
    let (second, milli) = (number(17, 19)?, number(20, 23)?);
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let most_days = match month {
        2 => 28 + u64::from(is_leap),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    };
    if year < 1970 || !(1..=12).contains(&month) || !(1..=most_days).contains(&day) {
        return None;
    }
    if hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    // Years begin with March here, so that the day which comes and goes is their last.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let days = 365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day - 719_469;
    Some((((days * 24 + hour) * 60 + minute) * 60 + second) * 1_000 + milli)
}
