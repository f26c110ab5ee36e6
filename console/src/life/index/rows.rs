//! Rows of the index's tables: lives, wakes, falls, asks, marks, single entries and sums of hours.

use super::reason::Class;
use rusqlite::{Connection, Result, Row};

pub const HOUR_MS: u64 = 3_600_000;
pub const DAY_MS: u64 = 24 * HOUR_MS;

/// A row of a table; its fields are the table's columns, in their order.
pub trait Kept: Sized {
    fn of(row: &Row) -> Result<Self>;
    fn put(&self, base: &Connection) -> Result<()>;
}

/// Structs that are rows, each with the order that puts it into its table.
macro_rules! rows {
    (@mark $field:ident) => { ", ?" };
    ($($(#[$about:meta])* $put:literal $name:ident {
        $(#[$of_first:meta])* $first:ident: $of:ty $(, $(#[$doc:meta])* $field:ident: $type:ty)* $(,)?
    })*) => {$(
        $(#[$about])*
        #[derive(Clone, Debug, PartialEq)]
        pub struct $name {
            $(#[$of_first])* pub $first: $of,
            $($(#[$doc])* pub $field: $type,)*
        }
        impl $crate::life::index::rows::Kept for $name {
            fn of(row: &rusqlite::Row) -> rusqlite::Result<Self> {
                let mut columns = 1..;
                Ok(Self { $first: row.get(0)?, $($field: row.get(columns.next().unwrap_or(0_usize))?),* })
            }
            fn put(&self, base: &rusqlite::Connection) -> rusqlite::Result<()> {
                let put = concat!("INSERT ", $put, " VALUES (?", $($crate::life::index::rows::rows!(@mark $field),)* ")");
                base.prepare_cached(put)?.execute(rusqlite::params![self.$first, $(self.$field),*]).map(|_| ())
            }
        }
    )*};
}

/// An enum without fields, kept as the place of what it is in `ALL`.
macro_rules! by_place {
    ($(#[$about:meta])* $name:ident { $($(#[$doc:meta])* $one:ident),* $(,)? }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum $name { $($(#[$doc])* $one),* }
        impl $name {
            pub const ALL: &[Self] = &[$(Self::$one),*];
        }
        impl rusqlite::ToSql for $name {
            fn to_sql(&self) -> rusqlite::Result<rusqlite::types::ToSqlOutput<'_>> {
                Ok((*self as u8).into())
            }
        }
        impl rusqlite::types::FromSql for $name {
            fn column_result(value: rusqlite::types::ValueRef<'_>) -> rusqlite::types::FromSqlResult<Self> {
                let place = u8::column_result(value)?;
                let one = Self::ALL.get(usize::from(place)).copied();
                one.ok_or(rusqlite::types::FromSqlError::OutOfRange(place.into()))
            }
        }
    };
}

pub(crate) use {by_place, rows};

/// Where a record stands: the number of its file, and where it begins there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stand {
    pub file: u16,
    pub offset: u64,
}

by_place! {
    MarkKind {
        Edit,
        EditFailed,
        Commit,
        Rescued,
        Dream,
        Reminder,
        /// The owner's word, and the creature's.
        Word,
        Said,
    }
}

by_place! {
    /// Kind of an entry.
    Kind {
        Thought,
        /// A reply of the mind's that could not be read.
        Garbled,
        Act,
        ActFailed,
        /// A call that was paid for: for the owner's words, and of the creature's own accord.
        Money,
        MoneyOwn,
    }
}

rows! {
    "INTO life" Lived {
        number: u32,
        from_ms: u64,
        /// When it was last heard of.
        to_ms: u64,
        commit: String,
        safe: bool,
        blessed_ms: Option<u64>,
        death_ms: Option<u64>,
        /// How it ended, and the result of its tests.
        ended: String,
        examined: String,
    }

    /// The thoughts of one wake, and their results.
    "OR REPLACE INTO wake" Wake {
        /// Its place among all wakes; those on record first come first.
        row: u64,
        life: u32,
        number: u32,
        from_ms: u64,
        to_ms: u64,
        /// The number of its first thought.
        first: u32,
        thoughts: u32,
        acts: u32,
        failed: u32,
        why: String,
        class: Class,
    }

    /// Reason of a wake, told before its first thought.
    "OR REPLACE INTO told" Told {
        life: u32,
        wake: u32,
        at_ms: u64,
        why: String,
        class: Class,
    }

    "INTO fall" Fall {
        at_ms: u64,
        life: u32,
        from_commit: String,
        to_commit: String,
        told: String,
    }

    "INTO ask" Asked {
        id: String,
        asked_ms: u64,
        closed_ms: Option<u64>,
        /// `asked`, `approved`, …: how it stands.
        event: String,
        what: String,
    }

    /// A thing that is rare enough to be told singly.
    "INTO mark" Mark {
        at_ms: u64,
        length_ms: u32,
        kind: MarkKind,
        text: String,
        /// A commit's name, an edit's stage.
        about: String,
        file: u16,
        offset: u64,
    }

    /// Sums of an hour.
    #[derive(Default)]
    "INTO hour" Hour {
        hour: u32,
        thoughts: u32,
        garbled: u32,
        acts: u32,
        failed: u32,
        all_micro: u64,
        own_micro: u64,
    }

    /// A thought, an act, or a call that was paid for.
    #[derive(Copy)]
    "INTO entry" Entry {
        /// When it was on record, in milliseconds since the epoch; it began `length_ms` before.
        at_ms: u64,
        /// Its place among all entries.
        row: u64,
        kind: Kind,
        /// The number of the thought it is or belongs to; 0 where there is none.
        number: u32,
        /// A thought's tokens, millionths of a dollar; the table has the name of an act's tool here.
        value: u64,
        length_ms: u32,
        file: u16,
        /// Where its record begins in its file.
        offset: u64,
    }

    /// How far the records reach, and what goes on in them.
    #[derive(Default)]
    "OR REPLACE INTO reach" Reach {
        row: u32,
        /// Device and number of `.self/`: another one is another life.
        device: i64,
        inode: i64,
        first_ms: Option<u64>,
        last_ms: u64,
        /// The newest life that the guardian told of; 0 where none is.
        newest_life: u32,
        /// When the creature's memory last said something, and since when it dreams.
        before_ms: u64,
        dreams_ms: Option<u64>,
        entries: u64,
    }
}

impl Entry {
    pub fn begun_ms(&self) -> u64 {
        self.at_ms.saturating_sub(u64::from(self.length_ms))
    }
}
