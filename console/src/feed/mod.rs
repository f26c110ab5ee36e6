//! Memory as a live feed: a row for each record worth showing; a record of an unknown kind is shown by its text.

pub mod once;
mod row;
pub mod shown;

pub use row::{at_word, is_ask, more, row};

use crate::back;
use crate::commands::options;
use crate::owners::Owners;
use anyhow::{Context, Result};
use house::records::{self, follow::Follow, memory::Record};
use house::terminal::{self, Row, Screen, typed};
use house::{House, moments, settings};
use memchr::memmem;
use once::Once;
use serde_json::Value;
use shown::{Verbosity, shown};
use signal_hook::consts::SIGTERM;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Rows of the past that are shown first, unless others are asked for.
const LAST_ROWS: usize = 20;
/// Bytes read at one look, and most rows made of them: the caller has other work between looks.
const LOOK_BYTES: u64 = 1 << 20;
const LOOK_ROWS: usize = 200;
/// When a live feed is further behind than this, it skips to the end.
const BEHIND_BYTES: u64 = 1 << 20;
const END_BYTES: u64 = 16 << 10;
/// Rows of a life's first moments that are shown below the first screen, where lines are.
const FIRST_ROWS: usize = 5;
/// Most rows of the past that may be asked for.
const MOST_ROWS: usize = 100_000;
/// Words that are shown of what is passed over, the last ones: they were said to somebody.
const MOST_WORDS: usize = 20;
/// Time between two looks of the guardian's own feed.
const LIVE_MS: u16 = 200;
/// Bytes skipped at one look: lines are counted, not parsed.
const PASS_BYTES: u64 = 64 << 20;

/// Follows the memory file, also when it is rotated.
pub struct Feed {
    follow: Follow,
    /// A live feed skips what it is far behind with; other feeds show everything.
    live: bool,
    owners: Owners,
}

/// The result of a look.
pub struct Seen<T> {
    pub shown: Vec<T>,
    /// Number of records skipped.
    pub passed: u64,
    /// Whether another look would show more at once.
    pub more: bool,
}

impl Feed {
    /// Shows what is appended after `from` bytes, skipping whatever it falls far behind with.
    pub fn live(path: PathBuf, from: u64) -> Self {
        let mut feed = Self { live: true, ..Self::from_start(path) };
        feed.follow.seek(from);
        feed
    }

    pub fn from_start(path: PathBuf) -> Self {
        let owners = Owners::beside(&path);
        Self { follow: Follow::new(path), live: false, owners }
    }

    /// Shows all that is appended from now on.
    pub fn from_end(path: PathBuf) -> Self {
        let mut feed = Self::from_start(path);
        feed.follow.seek(u64::MAX);
        feed
    }

    /// Begins with the last `rows` records worth showing.
    pub fn from_last(path: PathBuf, rows: usize, worth: impl Fn(&Value) -> bool) -> Self {
        let (mut place, mut left) = (u64::MAX, rows);
        back::lines(
            vec![path.clone()],
            None,
            u64::MAX,
            |_| true,
            |line| {
                if left > 0 && records::parse(line.bytes).is_some_and(|record| worth(&record)) {
                    (place, left) = (line.at, left - 1);
                }
                if left > 0 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
            },
        );
        let mut feed = Self::from_start(path);
        feed.follow.seek(place);
        feed
    }

    /// Skips whatever it falls far behind with from here on.
    pub fn skipping(self) -> Self {
        Self { live: true, ..self }
    }

    /// Skips what is there but its last rows, and the last words between owner and creature before them: these, and how
    /// many records were skipped.
    pub fn skip_to_words(&mut self, rows: usize) -> (Vec<Value>, u64) {
        let last = (rows > 0)
            .then(|| Self::from_last(self.follow.path().into(), rows, |record| row(record).is_some()));
        self.words_until(last.map_or(u64::MAX, |last| last.follow.cursor().place))
    }

    fn words_until(&mut self, place: u64) -> (Vec<Value>, u64) {
        let (mut words, mut passed) = (std::collections::VecDeque::new(), 0);
        let Some(lines) = self.follow.lines() else { return (vec![], 0) };
        lines.allow(PASS_BYTES.min(place.saturating_sub(lines.at())));
        lines.each(|line| {
            let word =
                line.filter(|line| memmem::find(line, b"\"message\"").is_some()).and_then(records::parse);
            passed += 1;
            words.extend(word.filter(|record| Record(record).message().is_some()));
            if words.len() > MOST_WORDS {
                words.pop_front();
            }
            true
        });
        let passed = passed - words.len() as u64;
        (words.into_iter().map(|word| self.owners.judged(word)).collect(), passed)
    }

    /// The new records worth showing, a bounded number of them.
    pub fn look<T>(&mut self, worth: impl Fn(Value) -> Option<T>) -> Seen<T> {
        let mut seen = Seen { shown: Vec::new(), passed: 0, more: false };
        let mut most = LOOK_BYTES;
        if let Some(end) = self.end_of_skip() {
            let (words, passed) = self.words_until(end);
            seen.passed = passed;
            seen.shown.extend(words.into_iter().filter_map(&worth));
            most = if self.follow.lines().is_some_and(|lines| lines.at() < end) { 0 } else { LOOK_BYTES };
        }
        let Self { follow, owners, .. } = self;
        seen.more = follow.look(most, |record| {
            match record {
                Some(record) => seen.shown.extend(worth(owners.judged(record))),
                None => seen.passed += 1,
            }
            seen.shown.len() < LOOK_ROWS
        });
        seen
    }

    /// The place up to which a live feed skips now; none where it is not far behind.
    fn end_of_skip(&mut self) -> Option<u64> {
        let lines = self.follow.lines().filter(|_| self.live)?;
        let end = lines.bytes().saturating_sub(END_BYTES);
        (end > lines.at() + BEHIND_BYTES).then_some(end)
    }
}

/// Says how many records were passed over.
pub fn earlier(records: u64) -> String {
    let lines = if records == 1 { "line" } else { "lines" };
    format!("… {records} earlier {lines}: {}", typed("feed --since 1h"))
}

/// Shows new records beside the guardian's own output until asked to end, then the last ones.
fn watch(house: &House, from: u64) -> Result<()> {
    let asked = Arc::new(AtomicBool::new(false));
    signal_hook::flag::register(SIGTERM, Arc::clone(&asked)).context("failed to listen for signals")?;
    let (mut screen, mut feed, mut once) =
        (Screen::open(), Feed::live(house.memory(), from), Once::default());
    // All rows of the first moments would push the first screen off the terminal.
    let (mut words, mut passed) = feed.skip_to_words(FIRST_ROWS);
    loop {
        let last = asked.load(Ordering::Relaxed);
        let seen = feed.look(Some);
        passed += seen.passed;
        if passed > 0 {
            screen.beside().show(&Row::now("feed", "90", &earlier(passed)));
        }
        words.extend(once.of(seen.shown, moments::now()));
        words.extend(if last { once.rest() } else { None });
        // That it asks is told by the guardian.
        let rows = words.drain(..).filter(|record| !is_ask(record)).filter_map(|record| row(&record));
        rows.for_each(|row| screen.beside().show(&row));
        passed = 0;
        if last || !terminal::wait(if seen.more { 0 } else { LIVE_MS }) {
            return Ok(());
        }
    }
}

/// Shows memory, and new records until the reader has gone where that is wanted.
pub fn show(house: &House, wanted: &options::Feed) -> Result<()> {
    if let Some(from) = wanted.live {
        return watch(house, from);
    }
    let since = wanted.since.as_deref().unwrap_or_default();
    let verbosity: Verbosity = settings::shown(house).feed.parse().unwrap_or_default();
    let worth =
        |record: &Value| (wanted.json || shown(record, verbosity).is_some()) && Record(record).at() >= since;
    let (mut screen, mut once) = (Screen::open(), Once::default());
    let mut show = |record: &Value| match shown(record, verbosity) {
        _ if wanted.json => terminal::json_line(record),
        None => {}
        Some((row, details)) => {
            screen.show(&row);
            details.iter().for_each(|detail| terminal::below(1, detail));
        }
    };
    let rows = wanted.last.map(|rows| rows.min(MOST_ROWS)).or(wanted.since.is_none().then_some(LAST_ROWS));
    if rows.is_none() {
        let before = records::older(&house.memory(), since);
        let mut owners = Owners::beside(&house.memory());
        let before = before.iter().flat_map(|path| records::of(path)).filter(worth);
        before.for_each(|record| show(&owners.judged(record)));
    }
    let mut feed = match rows {
        Some(rows) => Feed::from_last(house.memory(), rows, worth),
        None => Feed::from_start(house.memory()),
    };
    loop {
        let seen = feed.look(|record| worth(&record).then_some(record));
        if seen.passed > 0 {
            terminal::error(&format!("{} records are too long to be shown", seen.passed));
        }
        match wanted.json {
            true => seen.shown.iter().for_each(&mut show),
            false => once.of(seen.shown, moments::now()).iter().for_each(&mut show),
        }
        let is_over = !wanted.follow && !seen.more;
        if is_over || !terminal::wait(if seen.more { 0 } else { 500 }) {
            once.rest().iter().for_each(&mut show);
            return Ok(());
        }
    }
}
