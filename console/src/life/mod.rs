//! A life as a picture: an index of the records that can always be made anew; drawn, told and exported.

pub mod caps;
pub mod export;
mod index;
mod part;
mod parts;
pub mod picture;
mod reading;
pub mod tell;
pub mod trace;

use crate::owners::Owners;
use anyhow::{Context, Result};
use caps::Caps;
use fs2::FileExt;
use house::clock::Millis;
use house::{House, files, moments};
use index::bytes::{Kept, sum};
use index::known::Known;
use index::sources::Source;
use index::store::{Saved, Store};
use jiff::Timestamp;
use std::fs::{DirBuilder, File};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};

pub use parts::{Refused, count, usd};

/// Version of the index's format; an index of another version is made anew.
const VERSION: &str = "feral index 3";
/// Largest index that is read, in bytes.
const MOST_BYTES: u64 = 64 << 20;

/// The index of a house's life. One process at a time keeps it; any other reads beside it, and holds in memory what is
/// newer.
pub struct Life {
    house: House,
    /// Device and number of `.self/`: another one is another life.
    state: (u64, u64),
    sources: Vec<Source>,
    known: Known,
    store: Store,
    /// The mark of the page that the caps of a day were read from.
    caps_mark: Option<files::Mark>,
    owners: Owners,
    is_saved: bool,
}

/// From the first to the last thing of something, or the part of it that is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    pub from: Timestamp,
    pub to: Timestamp,
}

impl Span {
    pub fn of_ms(from_ms: Millis, to_ms: Millis) -> Self {
        let at = |ms: Millis| Timestamp::from_millisecond(i64::try_from(ms).unwrap_or(i64::MAX));
        let from = at(from_ms).unwrap_or_default();
        Self { from, to: at(to_ms.max(from_ms.saturating_add(1))).unwrap_or(from) }
    }

    pub fn from_ms(&self) -> Millis {
        u64::try_from(self.from.as_millisecond()).unwrap_or(0)
    }

    /// At least a millisecond behind where it begins.
    pub fn to_ms(&self) -> Millis {
        u64::try_from(self.to.as_millisecond()).unwrap_or(0).max(self.from_ms() + 1)
    }
}

/// A part of a life that is exported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    All,
    Life(u64),
    Span(Span),
}

impl Part {
    /// All, or what was since a time as `moments::since` says it.
    pub fn since(at: Option<&str>) -> Self {
        let from = at.and_then(|at| at.parse::<Timestamp>().ok());
        from.map_or(Self::All, |from| Self::Span(Span { from, to: moments::now() }))
    }
}

/// Result of a look.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Looked {
    /// Whether another look would find more at once.
    pub more: bool,
    /// Bytes of the records that were read by now, of all there are.
    pub read_bytes: u64,
    pub all_bytes: u64,
}

impl Life {
    /// The index as it was saved; one that is damaged, of another version or of another `.self/` is begun anew.
    pub fn open(house: &House) -> Self {
        let store = entries_file(house, true).or_else(|| entries_file(house, false));
        Self::with(house, store)
    }

    /// As `open`, for one look beside the page: nothing is written.
    pub fn beside(house: &House) -> Self {
        Self::with(house, entries_file(house, false))
    }

    fn with(house: &House, file: Option<(File, bool)>) -> Self {
        let (file, writes) = file.map_or((None, false), |(file, writes)| (Some(file), writes));
        let state = identity(house);
        let (sources, known, saved) = saved(house, state).unwrap_or_default();
        let store = Store::new(file, writes, saved);
        let caps_mark = None;
        let (house, owners) = (house.clone(), Owners::beside(&house.memory()));
        let mut life = Self { house, state, sources, known, store, caps_mark, owners, is_saved: true };
        if life.store.is_damaged() || !life.has_its_files() {
            life.begin_anew();
        }
        life.read_caps();
        life
    }

    /// From the first to the last thing known.
    pub fn span(&self) -> Option<Span> {
        let first_ms = self.known.first_ms?;
        Some(Span::of_ms(first_ms, self.known.last_ms))
    }

    /// Keeps the index, so that the next one who opens it need not read everything again. Does nothing where another
    /// process keeps it, or nothing is new.
    pub fn save(&mut self) -> Result<()> {
        if self.is_saved || !self.store.writes() {
            return Ok(());
        }
        let saved = self.store.save().context("failed to keep the entries of the index")?;
        let mut body = Vec::new();
        VERSION.to_owned().put(&mut body);
        self.state.put(&mut body);
        self.sources.put(&mut body);
        self.known.put(&mut body);
        saved.put(&mut body);
        sum(&body).put(&mut body);
        files::replace(&self.house.page_index(), &body)?;
        self.is_saved = true;
        Ok(())
    }

    fn begin_anew(&mut self) {
        let is_other = identity(&self.house) != self.state;
        if is_other {
            // The file of the entries went with the `.self/` it was in.
            let file = entries_file(&self.house, true).or_else(|| entries_file(&self.house, false));
            let (file, writes) = file.map_or((None, false), |(file, writes)| (Some(file), writes));
            self.store = Store::new(file, writes, Saved::default());
            self.state = identity(&self.house);
        } else {
            self.store = std::mem::take(&mut self.store).emptied();
        }
        // Caps that were read before stand on no record.
        let read = std::mem::take(&mut self.known.caps.read);
        let read = if is_other { Vec::new() } else { read };
        let known = Known { caps: Caps { read, changed_ms: Vec::new() }, ..Known::default() };
        (self.sources, self.known, self.is_saved) = (Vec::new(), known, false);
    }
}

fn identity(house: &House) -> (u64, u64) {
    std::fs::metadata(house.state_folder()).map_or((0, 0), |meta| (meta.dev(), meta.ino()))
}

/// The file of the entries, and whether it is this process that writes it: the one that holds its lock.
fn entries_file(house: &House, to_write: bool) -> Option<(File, bool)> {
    let path = house.page_entries();
    if !to_write {
        return files::open(&path).ok().flatten().map(|file| (file, false));
    }
    DirBuilder::new().recursive(true).mode(0o700).create(path.parent()?).ok()?;
    let file = files::open_lock(&path).ok()?;
    file.try_lock_exclusive().ok().map(|()| (file, true))
}

/// Reads the saved index of this `.self/`.
fn saved(house: &House, state: (u64, u64)) -> Option<(Vec<Source>, Known, Saved)> {
    let bytes = files::read_most(&house.page_index(), MOST_BYTES).ok()??;
    let (mut body, end) = bytes.split_last_chunk::<8>()?;
    if sum(body) != u64::from_le_bytes(*end) || String::take(&mut body)? != VERSION {
        return None;
    }
    if <(u64, u64)>::take(&mut body)? != state {
        return None;
    }
    let read = (Kept::take(&mut body)?, Kept::take(&mut body)?, Kept::take(&mut body)?);
    body.is_empty().then_some(read)
}
