//! The index's database: its tables; opened, made anew where it is damaged, held in memory where it can be no file.

use super::rows::{Entry, HOUR_MS, Hour, Kept, Kind, Reach, Wake};
use super::texts::short;
use rusqlite::{
    Connection, ErrorCode, OpenFlags, OptionalExtension, Params, Result, ToSql, TransactionBehavior, params,
};
use std::collections::BTreeMap;
use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Version of the tables; an index of another version is made anew.
const VERSION: i64 = 4;
/// Longest wait for another process that writes; none writes for longer than a look.
const BUSY: Duration = Duration::from_secs(5);
/// Columns in the order of the fields of `rows`.
const TABLES: &str = "
    CREATE TABLE reach (row INTEGER PRIMARY KEY, device, inode, first_ms, last_ms, newest_life, before_ms, dreams_ms, entries);
    CREATE TABLE source (number INTEGER PRIMARY KEY, of_kind, name, inode, read_bytes, tail, is_within, seen_bytes);
    CREATE TABLE life (number INTEGER PRIMARY KEY, from_ms, to_ms, of_commit DEFAULT '', safe DEFAULT 0, blessed_ms, death_ms,
        ended DEFAULT '', examined DEFAULT '');
    CREATE TABLE wake (row INTEGER PRIMARY KEY, life, number, from_ms, to_ms, first, thoughts, acts, failed, why, class);
    CREATE INDEX wake_by_time ON wake (from_ms);
    CREATE TABLE told (life, wake, at_ms, why, class, UNIQUE (life, wake));
    CREATE TABLE fall (at_ms, life, from_commit, to_commit, told);
    CREATE TABLE ask (id, asked_ms, closed_ms, event, what);
    CREATE INDEX ask_by_id ON ask (id);
    CREATE TABLE mark (at_ms, length_ms, kind, text, about, file, offset);
    CREATE TABLE hour (hour INTEGER PRIMARY KEY, thoughts, garbled, acts, failed, all_micro, own_micro);
    CREATE TABLE entry (at_ms, row, kind, number, value, length_ms, file, offset, PRIMARY KEY (at_ms, row)) WITHOUT ROWID;
    CREATE TABLE settings_changed (at_ms);
    CREATE TABLE caps (at_ms, all_micro, own_micro);";
/// Adds to the sums of an hour.
const TO_HOUR: &str = "INSERT INTO hour VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT DO UPDATE SET
    thoughts = thoughts + ?2, garbled = garbled + ?3, acts = acts + ?4, failed = failed + ?5,
    all_micro = min(all_micro + ?6, ?8), own_micro = min(own_micro + ?7, ?8)";
/// Most money of a call and of an hour, in millionths of a dollar: no sum of two is too large for a column.
pub const MOST_MICRO: u64 = 1 << 60;
/// Most rows of a table; of more the oldest go.
const MOST: [(&str, u32); 8] = [
    ("wake", 60_000),
    ("told", 20_000),
    ("fall", 5_000),
    ("ask", 10_000),
    ("mark", 50_000),
    // Ten years of them.
    ("hour", 90_000),
    ("settings_changed", 2_000),
    ("caps", 2_000),
];
/// Ends of the names of its files: the database, what is not in it yet, and what its users share.
const ENDS: [&str; 3] = ["", "-wal", "-shm"];
const MOST_LIVES: u32 = 20_000;
/// Most entries of an index in memory; where there are more, its sums of hours tell of all.
const MOST_IN_MEMORY: u64 = 1 << 20;
/// Orders that are held ready: more than there are.
const ORDERS: usize = 64;

/// The index, and what of a look is not written yet.
pub struct Index {
    pub base: Connection,
    is_file: bool,
    pub reach: Reach,
    /// The wake under way.
    pub wake: Option<Wake>,
    /// Sums that the look adds to those of hours.
    hours: BTreeMap<u64, Hour>,
}

impl Index {
    /// The index at a path; in memory where there can be none, or none is wanted.
    pub fn open(path: Option<&Path>) -> Result<Self> {
        let kept = path.filter(|path| has_room(path));
        let kept = kept.and_then(|path| match opened(path) {
            Err(error) if !is_busy(&error) => {
                remove(path);
                opened(path).ok()
            }
            opened => opened.ok(),
        });
        let is_file = kept.is_some();
        let base = match kept {
            Some(base) => base,
            None => made(Connection::open_in_memory()?)?,
        };
        base.set_prepared_statement_cache_capacity(ORDERS);
        Ok(Self { base, is_file, reach: Reach::default(), wake: None, hours: BTreeMap::new() })
    }

    /// Begins a look: one process at a time, and whole or not at all.
    pub fn begin(&mut self) -> Result<()> {
        self.base.execute_batch("BEGIN IMMEDIATE")?;
        self.reach = self.one("SELECT * FROM reach", ())?.unwrap_or_default();
        self.wake = self.one("SELECT * FROM wake ORDER BY row DESC LIMIT 1", ())?;
        self.hours.clear();
        Ok(())
    }

    pub fn end(&mut self) -> Result<()> {
        self.settle()?;
        for (hour, sum) in std::mem::take(&mut self.hours) {
            let Hour { thoughts, garbled, acts, failed, all_micro, own_micro, .. } = sum;
            self.run(
                TO_HOUR,
                params![hour, thoughts, garbled, acts, failed, all_micro, own_micro, MOST_MICRO],
            )?;
        }
        for (table, most) in MOST {
            let old = format!("DELETE FROM {table} WHERE rowid <= (SELECT max(rowid) FROM {table}) - {most}");
            self.run(&old, ())?;
        }
        self.reach.put(&self.base)?;
        self.base.execute_batch("COMMIT")
    }

    pub fn undo(&self) {
        // Where nothing was begun there is nothing to undo.
        let _ = self.base.execute_batch("ROLLBACK");
    }

    /// Empties every table; of the same `.self/`, caps that were read stay, for they stand on no record.
    pub fn empty(&mut self, (device, inode): (i64, i64)) -> Result<()> {
        let is_other = (self.reach.device, self.reach.inode) != (device, inode);
        let tables = MOST.map(|(table, _)| table).into_iter().chain(["source", "life", "entry"]);
        for table in tables.filter(|table| is_other || *table != "caps") {
            self.run(&format!("DELETE FROM {table}"), ())?;
        }
        self.reach = Reach { device, inode, ..Reach::default() };
        self.wake = None;
        self.hours.clear();
        Ok(())
    }

    /// Writes the wake under way, and how far its life reaches by it.
    pub fn settle(&self) -> Result<()> {
        let Some(wake) = &self.wake else { return Ok(()) };
        wake.put(&self.base)?;
        self.run("UPDATE life SET to_ms = max(to_ms, ?2) WHERE number = ?1", (wake.life, wake.to_ms))
    }

    pub fn reaches(&mut self, at_ms: u64) {
        self.reach.first_ms = Some(self.reach.first_ms.map_or(at_ms, |first| first.min(at_ms)));
        self.reach.last_ms = self.reach.last_ms.max(at_ms);
    }

    /// Notes that a life was heard of; it is made where it is not known and there is room.
    pub fn hears_of(&self, number: u32, at_ms: u64) -> Result<()> {
        let heard = "INSERT INTO life (number, from_ms, to_ms) SELECT ?1, ?2, ?2 WHERE ?1 > 0
            AND (?1 IN (SELECT number FROM life) OR (SELECT count(*) FROM life) < ?3)
            ON CONFLICT DO UPDATE SET from_ms = min(from_ms, ?2), to_ms = max(to_ms, ?2)";
        self.run(heard, params![number, at_ms, MOST_LIVES])
    }

    /// Adds an entry; an act's has the name of its tool in the place of a number.
    pub fn add(&mut self, entry: Entry, tool: Option<&str>) -> Result<Entry> {
        self.reach.entries += 1;
        let Entry { at_ms, kind, number, value, length_ms, file, offset, .. } = entry;
        let sum = self.hours.entry(at_ms / HOUR_MS).or_default();
        match kind {
            Kind::Thought => sum.thoughts += 1,
            Kind::Garbled => sum.garbled += 1,
            Kind::Act => sum.acts += 1,
            Kind::ActFailed => sum.failed += 1,
            Kind::Money | Kind::MoneyOwn => {
                let own = if kind == Kind::MoneyOwn { value } else { 0 };
                sum.all_micro = sum.all_micro.saturating_add(value).min(MOST_MICRO);
                sum.own_micro = sum.own_micro.saturating_add(own).min(MOST_MICRO);
            }
        }
        if self.has_all_entries() {
            let tool = tool.map(short);
            let value: &dyn ToSql = tool.as_ref().map_or(&value, |tool| tool);
            let values = params![at_ms, self.reach.entries, kind, number, value, length_ms, file, offset];
            self.run("INSERT INTO entry VALUES (?, ?, ?, ?, ?, ?, ?, ?)", values)?;
        }
        Ok(Entry { row: self.reach.entries, ..entry })
    }

    pub fn has_all_entries(&self) -> bool {
        self.is_file || self.reach.entries <= MOST_IN_MEMORY
    }

    pub fn run(&self, order: &str, values: impl Params) -> Result<()> {
        self.base.prepare_cached(order)?.execute(values).map(|_| ())
    }

    pub fn one<T: Kept>(&self, query: &str, values: impl Params) -> Result<Option<T>> {
        self.base.prepare_cached(query)?.query_row(values, T::of).optional()
    }

    pub fn all<T: Kept>(&self, query: &str, values: impl Params) -> Result<Vec<T>> {
        self.base.prepare_cached(query)?.query_map(values, T::of)?.collect()
    }
}

/// Whether a file can be made at a path: its folder is there, and nothing that is no file stands in its place.
fn has_room(path: &Path) -> bool {
    let made = path.parent().map(|folder| DirBuilder::new().recursive(true).mode(0o700).create(folder));
    let is_file =
        |end: &&str| std::fs::symlink_metadata(beside(path, end)).map_or(true, |found| found.is_file());
    made.is_some_and(|made| made.is_ok()) && ENDS.iter().all(is_file)
}

/// A file of the index's, by how its name ends.
fn beside(path: &Path, end: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(end);
    name.into()
}

/// Removes the index, which is made anew from the records; and the entries of an index before version 4.
pub fn remove(path: &Path) {
    let files = ENDS.map(|end| beside(path, end)).into_iter().chain([path.with_file_name("entries")]);
    // What cannot be removed cannot be opened either, and is done without.
    files.for_each(|file| drop(std::fs::remove_file(file)));
}

fn opened(path: &Path) -> Result<Connection> {
    let base = Connection::open_with_flags(path, OpenFlags::default() | OpenFlags::SQLITE_OPEN_NOFOLLOW)?;
    base.busy_timeout(BUSY)?;
    // Readers see the last whole look while the next is written; a look lost with the machine's power is taken again.
    base.execute_batch("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;")?;
    made(base)
}

/// Makes the tables where there are none; fails where they are of another version.
fn made(mut base: Connection) -> Result<Connection> {
    base.execute_batch(
        "PRAGMA temp_store = MEMORY; PRAGMA cache_size = -8000; PRAGMA trusted_schema = OFF;",
    )?;
    let making = base.transaction_with_behavior(TransactionBehavior::Immediate)?;
    match making.pragma_query_value(None, "user_version", |row| row.get(0))? {
        VERSION => {}
        0 => {
            making.execute_batch(TABLES)?;
            making.pragma_update(None, "user_version", VERSION)?;
        }
        _ => return Err(rusqlite::Error::InvalidQuery),
    }
    making.commit()?;
    Ok(base)
}

/// Whether it is another process that writes, and nothing is wrong.
pub fn is_busy(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
}
