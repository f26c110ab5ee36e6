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
use house::clock::Millis;
use house::{House, files, moments};
use index::base::Index;
use index::rows::Reach;
use index::seen::Seen;
use jiff::Timestamp;
use std::cell::Cell;

pub use index::rows::{DAY_MS, HOUR_MS};
pub use parts::{Refused, count, usd};

/// The index of a house's life. Every server of the page reads it on, one at a time; an export has one of its own in memory.
pub struct Life {
    house: House,
    /// `None` until the next look opens it.
    index: Option<Index>,
    /// Device and number of `.self/` when it was opened: another one is another life.
    state: (i64, i64),
    /// Whether the files were compared with what was read of them.
    is_compared: bool,
    /// How often it failed since the last look that did not; twice, and it is held in memory alone.
    failures: u8,
    /// Whether a view could not be read.
    is_unread: Cell<bool>,
    /// The mark of the page that the caps of a day were read from.
    caps_mark: Option<files::Mark>,
    owners: Owners,
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
    /// The index as it was kept; where it is damaged or of another version, and where it cannot be kept, the first look
    /// makes it anew.
    pub fn open(house: &House) -> Self {
        Self::with(house, 0)
    }

    fn with(house: &House, failures: u8) -> Self {
        let path = house.page_index();
        Self {
            house: house.clone(),
            index: Index::open(Some(path.as_path()).filter(|_| failures < 2)).ok(),
            state: reading::identity(house),
            is_compared: false,
            failures,
            is_unread: Cell::new(false),
            caps_mark: None,
            owners: Owners::beside(&house.memory()),
        }
    }

    /// From the first to the last thing known.
    pub fn span(&self) -> Option<Span> {
        let reach: Reach = self.index.as_ref()?.one("SELECT * FROM reach", ()).ok()??;
        Some(Span::of_ms(reach.first_ms?, reach.last_ms))
    }

    fn seen(&self, from_ms: Millis, to_ms: Millis) -> Seen<'_> {
        Seen::read(self.index.as_ref(), from_ms, to_ms, &self.is_unread)
    }
}
