//! Counts uses in the last hour, of each rule and of other limits, on disk: a restart does not reset the count.
//!
//! Invariant: a use is on disk before the call it is counted for, not earlier than it happens; a call that cannot be
//! counted is not made. Of many uses an hour some are written ahead, with one sync: after a kill they count as used.

use crate::ground::clock::Clock;
use crate::ground::files;
use house::House;
use house::mutex::lock;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard};

const HOUR_MS: i64 = 3_600_000;
/// Lines in the file from which on old ones are dropped.
const MOST_LINES: usize = 4_000;
/// Uses written ahead at once: a part of those an hour, and how long they can be taken.
const PART_AHEAD: usize = 16;
const MOST_AHEAD: usize = 16;
const AHEAD_MS: i64 = 60_000;

#[derive(Clone, Serialize, Deserialize)]
struct Line {
    at_ms: i64,
    rule: String,
}

#[derive(Default)]
struct Held {
    uses: BTreeMap<String, Vec<i64>>,
    ahead: BTreeMap<String, Ahead>,
    lines: usize,
    /// Reason why uses cannot be counted.
    closed: Option<String>,
}

/// Uses that are on disk and were not taken, between these times.
#[derive(Clone, Copy, Default)]
struct Ahead {
    left: usize,
    from_ms: i64,
    until_ms: i64,
}

/// Reason why a use is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Full {
    /// Seconds until the next use is possible.
    Wait(u64),
    Closed(String),
}

pub struct Hours {
    house: House,
    clock: Clock,
    held: Mutex<Held>,
}

impl Hours {
    pub fn open(house: &House, clock: Clock) -> Self {
        let mut held = Held::default();
        match files::read_lines::<Line>(&house.hours()) {
            Ok(lines) => {
                held.lines = lines.len();
                lines.into_iter().for_each(|line| held.uses.entry(line.rule).or_default().push(line.at_ms));
            }
            Err(error) => held.closed = Some(format!("{error:#}")),
        }
        Self { house: house.clone(), clock, held: Mutex::new(held) }
    }

    /// Takes one of at most `most` uses an hour; returns how many are left.
    pub fn take(&self, rule: &str, most: u32) -> Result<u32, Full> {
        self.take_many(rule, most, 1)
    }

    /// Takes so many of them, all or none.
    pub fn take_many(&self, rule: &str, most: u32, wanted: u32) -> Result<u32, Full> {
        let now = self.clock.now().as_millisecond();
        let mut held = self.held();
        if let Some(closed) = &held.closed {
            return Err(Full::Closed(closed.clone()));
        }
        let uses = recent(&mut held, rule, now);
        let [most, wanted] = [most, wanted].map(|number| usize::try_from(number).unwrap_or(usize::MAX));
        let left = most.saturating_sub(uses.len());
        if left < wanted {
            uses.sort_unstable();
            let oldest = uses.iter().take(wanted - left).next_back().copied().unwrap_or(now);
            let wait = (oldest + HOUR_MS - now).max(1_000) / 1_000;
            return Err(Full::Wait(u64::try_from(wait).unwrap_or(1) + 1));
        }
        for number in 0..wanted {
            self.use_one(&mut held, rule, most, left - number, now)
                .map_err(|error| Full::Closed(format!("{error:#}")))?;
        }
        Ok(u32::try_from(left - wanted).unwrap_or(u32::MAX))
    }

    /// Takes one of those that are written ahead, else writes some.
    fn use_one(&self, held: &mut Held, rule: &str, most: usize, left: usize, now: i64) -> anyhow::Result<()> {
        let ahead = held.ahead.get(rule).copied().unwrap_or_default();
        if ahead.left == 0 || !(ahead.from_ms..ahead.until_ms).contains(&now) {
            let number = (most / PART_AHEAD).clamp(1, MOST_AHEAD).min(left);
            let until_ms = if number == 1 { now } else { now + AHEAD_MS };
            self.write(held, rule, number, until_ms)?;
            held.ahead.insert(rule.to_owned(), Ahead { left: number, from_ms: now, until_ms });
        }
        if let Some(ahead) = held.ahead.get_mut(rule) {
            ahead.left -= 1;
        }
        held.uses.entry(rule.to_owned()).or_default().push(now);
        Ok(())
    }

    /// Counts the uses left now.
    pub fn left(&self, rule: &str, most: u32) -> u32 {
        let now = self.clock.now().as_millisecond();
        let mut held = self.held();
        let used = recent(&mut held, rule, now).len();
        most.saturating_sub(u32::try_from(used).unwrap_or(u32::MAX))
    }

    /// Writes uses ahead, as of the last moment that they can be taken at.
    fn write(&self, held: &mut Held, rule: &str, number: usize, until_ms: i64) -> anyhow::Result<()> {
        let line = |at_ms: i64, rule: &str| Line { at_ms, rule: rule.to_owned() };
        let fresh = vec![line(until_ms, rule); number];
        if held.lines < MOST_LINES {
            files::append_line(&self.house.hours(), &files::in_lines(fresh)?)?;
            held.lines += number;
            return Ok(());
        }
        let now = self.clock.now().as_millisecond();
        held.uses.values_mut().for_each(|uses| uses.retain(|at| *at > now - HOUR_MS));
        held.uses.retain(|_, uses| !uses.is_empty());
        held.ahead.retain(|name, ahead| ahead.until_ms > now && name != rule);
        let uses = held.uses.iter().flat_map(|(rule, uses)| uses.iter().map(move |at| line(*at, rule)));
        let ahead = held.ahead.iter().flat_map(|(rule, ahead)| vec![line(ahead.until_ms, rule); ahead.left]);
        let lines: Vec<Line> = uses.chain(ahead).chain(fresh).collect();
        files::replace(&self.house.hours(), format!("{}\n", files::in_lines(&lines)?).as_bytes())?;
        held.lines = lines.len();
        Ok(())
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        lock(&self.held)
    }
}

/// Uses in the last hour. After the clock was set back, uses in the future count as made now.
fn recent<'a>(held: &'a mut Held, rule: &str, now: i64) -> &'a mut Vec<i64> {
    let uses = held.uses.entry(rule.to_owned()).or_default();
    uses.retain(|at| *at > now - HOUR_MS);
    uses.iter_mut().for_each(|at| *at = (*at).min(now));
    uses
}
