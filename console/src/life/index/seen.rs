//! Everything known of a span at one moment, read from the index for one view of it.

use super::base::Index;
use super::rows::{Asked, Entry, Fall, HOUR_MS, Hour, Kept, Kind, Lived, Mark, Reach, Wake};
use super::take::LONGEST_MS;
use crate::life::caps::Caps;
use rusqlite::{Result, Transaction, params};
use std::cell::{Cell, OnceCell};
use std::collections::BTreeMap;

/// Hours before a span that are read too: money is summed from the beginning of a day.
const HOURS_BEFORE: u64 = 24;

/// All lives and falls; of wakes, asks and marks those of the span, the ones on record first first.
#[derive(Default)]
pub struct Seen<'a> {
    pub lives: BTreeMap<u32, Lived>,
    pub wakes: Vec<Wake>,
    pub falls: Vec<Fall>,
    pub asks: Vec<Asked>,
    pub marks: Vec<Mark>,
    pub caps: Caps,
    pub last_ms: u64,
    /// The names of the files that were read, by their numbers.
    names: BTreeMap<u16, String>,
    /// The index as it was then; `None` where it cannot be read.
    from: Option<(&'a Index, Transaction<'a>)>,
    failed: Option<&'a Cell<bool>>,
    /// The numbers of the first and the last hour, and the hours once they were wanted.
    span: (i64, i64),
    hours: OnceCell<BTreeMap<u32, Hour>>,
}

impl<'a> Seen<'a> {
    /// Reads a span; where that fails, nothing is known of it, and `failed` is set.
    pub fn read(index: Option<&'a Index>, from_ms: u64, to_ms: u64, failed: &'a Cell<bool>) -> Self {
        let Some(index) = index else { return Self::default() };
        match Self::of(index, from_ms, to_ms) {
            Ok(seen) => Self { failed: Some(failed), ..seen },
            Err(_) => {
                failed.set(true);
                Self::default()
            }
        }
    }

    fn of(index: &'a Index, from_ms: u64, to_ms: u64) -> Result<Self> {
        let moment = index.base.unchecked_transaction()?;
        let over_ms = bound(to_ms.saturating_add(LONGEST_MS));
        let span = (bound((from_ms / HOUR_MS).saturating_sub(HOURS_BEFORE)), bound(to_ms / HOUR_MS));
        let (from_ms, to_ms) = (bound(from_ms), bound(to_ms));
        let reach: Option<Reach> = index.one("SELECT * FROM reach", ())?;
        let lives: Vec<Lived> = index.all("SELECT * FROM life", ())?;
        let mut changed = index.base.prepare_cached("SELECT at_ms FROM settings_changed ORDER BY rowid")?;
        let changed_ms = changed.query_map((), |row| row.get(0))?.collect::<Result<_>>()?;
        let mut names = index.base.prepare_cached("SELECT number, name FROM source")?;
        let names = names.query_map((), |row| Ok((row.get(0)?, row.get(1)?)))?.collect::<Result<_>>()?;
        Ok(Self {
            lives: lives.into_iter().map(|life| (life.number, life)).collect(),
            wakes: index.all(
                "SELECT * FROM wake WHERE from_ms <= ?2 AND to_ms >= ?1 ORDER BY row",
                (from_ms, over_ms),
            )?,
            falls: index.all("SELECT * FROM fall ORDER BY rowid", ())?,
            asks: index.all(
                "SELECT * FROM ask WHERE asked_ms <= ?2 AND coalesce(max(closed_ms, asked_ms), ?1) >= ?1 ORDER BY rowid",
                (from_ms, to_ms),
            )?,
            marks: index.all(
                "SELECT * FROM mark WHERE at_ms >= ?1 AND at_ms - length_ms <= ?2 ORDER BY rowid",
                (from_ms, to_ms),
            )?,
            caps: Caps { read: index.all("SELECT * FROM caps ORDER BY rowid", ())?, changed_ms },
            last_ms: reach.map_or(0, |reach| reach.last_ms),
            names,
            from: Some((index, moment)),
            failed: None,
            span,
            hours: OnceCell::new(),
        })
    }

    /// Every entry of a span, in order of time; false where they could not all be read.
    pub fn each(&self, from_ms: u64, to_ms: u64, take: impl FnMut(&Entry)) -> bool {
        let is_whole = self.from.as_ref().is_some_and(|(index, _)| index.has_all_entries());
        is_whole && self.tried(|index| entries(index, from_ms, to_ms, take)).is_some()
    }

    /// The sums of the span's hours, by the hours' numbers.
    pub fn hours(&self) -> &BTreeMap<u32, Hour> {
        self.hours.get_or_init(|| {
            let query = "SELECT * FROM hour WHERE hour BETWEEN ?1 AND ?2";
            let hours: Option<Vec<Hour>> = self.tried(|index| index.all(query, self.span));
            hours.unwrap_or_default().into_iter().map(|hour| (hour.hour, hour)).collect()
        })
    }

    /// Returns the name of a file that was read; `None` where it is gone.
    pub fn file(&self, number: u16) -> Option<&str> {
        self.names.get(&number).map(String::as_str).filter(|name| !name.is_empty())
    }

    /// Returns the name of an act's tool.
    pub fn tool(&self, act: &Entry) -> String {
        let query = "SELECT value FROM entry WHERE at_ms = ?1 AND row = ?2";
        let tool = |index: &Index| index.base.query_row(query, (act.at_ms, act.row), |row| row.get(0));
        self.tried(tool).unwrap_or_default()
    }

    fn tried<T>(&self, query: impl FnOnce(&Index) -> Result<T>) -> Option<T> {
        let read = query(self.from.as_ref()?.0).ok();
        if read.is_none() {
            self.failed.iter().for_each(|failed| failed.set(true));
        }
        read
    }

    /// The newest life before this one that ran a commit; for the arrow of a fall.
    pub fn life_of(&self, commit: &str, before: u32) -> Option<&Lived> {
        let of = |life: &&Lived| !commit.is_empty() && life.commit == commit;
        self.lives.range(..before).rev().map(|(_, life)| life).find(of)
    }
}

fn entries(index: &Index, from_ms: u64, to_ms: u64, mut take: impl FnMut(&Entry)) -> Result<()> {
    let query =
        "SELECT at_ms, row, kind, number, iif(kind IN (?4, ?5), 0, value), length_ms, file, offset FROM entry
        WHERE at_ms BETWEEN ?1 AND ?2 AND at_ms - length_ms <= ?3";
    let mut query = index.base.prepare_cached(query)?;
    let over_ms = bound(to_ms.saturating_add(LONGEST_MS));
    let mut rows = query.query(params![bound(from_ms), over_ms, bound(to_ms), Kind::Act, Kind::ActFailed])?;
    while let Some(row) = rows.next()? {
        take(&Entry::of(row)?);
    }
    Ok(())
}

/// A number as a column holds it.
pub fn bound(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
