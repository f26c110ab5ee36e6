//! The index in memory: lives, wakes, falls, asks, edits and words singly, and sums of every hour; bounded.

use super::bytes::{kept, kept_by_place};
use super::reason::Class;
use super::texts::Texts;
use crate::life::caps::Caps;
use std::collections::BTreeMap;

/// Most that is held of each; of more the oldest go.
const MOST_LIVES: usize = 20_000;
const MOST_WAKES: usize = 60_000;
const MOST_MARKS: usize = 50_000;
const MOST_FALLS: usize = 5_000;
const MOST_ASKS: usize = 10_000;
/// Hours with something in them: ten years of them.
const MOST_HOURS: usize = 90_000;
/// Reasons told of wakes that had no thought yet.
const MOST_TOLD: usize = 20_000;

pub const HOUR_MS: u64 = 3_600_000;

/// Where a record stands: the number of its file, and where it begins there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stand {
    pub file: u16,
    pub offset: u64,
}

kept!(Stand { file, offset });

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Lived {
    pub number: u32,
    pub from_ms: u64,
    /// When it was last heard of.
    pub to_ms: u64,
    pub commit: u32,
    pub safe: bool,
    pub blessed_ms: Option<u64>,
    pub death_ms: Option<u64>,
    /// How it ended, and the result of its tests.
    pub ended: u32,
    pub examined: u32,
}

kept!(Lived { number, from_ms, to_ms, commit, safe, blessed_ms, death_ms, ended, examined });

/// The thoughts of one wake, and their results.
#[derive(Clone, Debug, PartialEq)]
pub struct Wake {
    pub life: u32,
    pub number: u32,
    pub from_ms: u64,
    pub to_ms: u64,
    /// The number of its first thought.
    pub first: u32,
    pub thoughts: u32,
    pub acts: u32,
    pub failed: u32,
    pub why: u32,
    pub class: Class,
}

kept!(Wake { life, number, from_ms, to_ms, first, thoughts, acts, failed, why, class });

#[derive(Clone, Debug, PartialEq)]
pub struct Fall {
    pub at_ms: u64,
    pub life: u32,
    pub from_commit: u32,
    pub to_commit: u32,
    pub told: u32,
}

kept!(Fall { at_ms, life, from_commit, to_commit, told });

#[derive(Clone, Debug, PartialEq)]
pub struct Asked {
    pub id: u32,
    pub asked_ms: u64,
    pub closed_ms: Option<u64>,
    /// `asked`, `approved`, …: how it stands.
    pub event: u32,
    pub what: u32,
}

kept!(Asked { id, asked_ms, closed_ms, event, what });

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum MarkKind {
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

impl MarkKind {
    pub const ALL: [MarkKind; 8] = [
        MarkKind::Edit,
        MarkKind::EditFailed,
        MarkKind::Commit,
        MarkKind::Rescued,
        MarkKind::Dream,
        MarkKind::Reminder,
        MarkKind::Word,
        MarkKind::Said,
    ];
}

kept_by_place!(MarkKind);

/// A thing that is rare enough to be held singly.
#[derive(Clone, Debug, PartialEq)]
pub struct Mark {
    pub at_ms: u64,
    pub length_ms: u32,
    pub kind: MarkKind,
    pub text: u32,
    /// A commit's name, an edit's stage.
    pub about: u32,
    pub stand: Stand,
}

kept!(Mark { at_ms, length_ms, kind, text, about, stand });

/// Sums of an hour.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Hour {
    pub thoughts: u32,
    pub garbled: u32,
    pub acts: u32,
    pub failed: u32,
    pub all_micro: u64,
    pub own_micro: u64,
}

kept!(Hour { thoughts, garbled, acts, failed, all_micro, own_micro });

/// Reason of a wake, told before its first thought.
#[derive(Clone, Debug, PartialEq)]
pub struct Told {
    pub at_ms: u64,
    pub why: u32,
    pub class: Class,
}

kept!(Told { at_ms, why, class });

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Known {
    pub texts: Texts,
    /// By number; of wakes, falls, asks and marks those on record first come first.
    pub lives: BTreeMap<u32, Lived>,
    pub wakes: Vec<Wake>,
    pub falls: Vec<Fall>,
    pub asks: Vec<Asked>,
    pub marks: Vec<Mark>,
    pub hours: BTreeMap<u32, Hour>,
    /// By life and wake.
    pub told: BTreeMap<(u32, u32), Told>,
    pub first_ms: Option<u64>,
    pub last_ms: u64,
    /// The newest life that the guardian told of; 0 where none is.
    pub newest_life: u32,
    /// When the creature's memory last said something, and since when it dreams.
    pub before_ms: u64,
    pub dreams_ms: Option<u64>,
    pub caps: Caps,
}

kept!(Known {
    texts,
    lives,
    wakes,
    falls,
    asks,
    marks,
    hours,
    told,
    first_ms,
    last_ms,
    newest_life,
    before_ms,
    dreams_ms,
    caps,
});

impl Known {
    pub fn reaches(&mut self, at_ms: u64) {
        self.first_ms = Some(self.first_ms.map_or(at_ms, |first| first.min(at_ms)));
        self.last_ms = self.last_ms.max(at_ms);
    }

    /// The life of this number, made where it is not known and there is room.
    pub fn life(&mut self, number: u32, at_ms: u64) -> Option<&mut Lived> {
        if number == 0 || (self.lives.len() >= MOST_LIVES && !self.lives.contains_key(&number)) {
            return None;
        }
        let new = Lived { number, from_ms: at_ms, to_ms: at_ms, ..Lived::default() };
        let life = self.lives.entry(number).or_insert(new);
        (life.from_ms, life.to_ms) = (life.from_ms.min(at_ms), life.to_ms.max(at_ms));
        Some(life)
    }

    pub fn hour(&mut self, at_ms: u64) -> Option<&mut Hour> {
        let hour = u32::try_from(at_ms / HOUR_MS).ok()?;
        if self.hours.len() >= MOST_HOURS && !self.hours.contains_key(&hour) {
            return None;
        }
        Some(self.hours.entry(hour).or_default())
    }

    pub fn mark(&mut self, mark: Mark) {
        bounded(&mut self.marks, MOST_MARKS, mark);
    }

    pub fn fell(&mut self, fall: Fall) {
        bounded(&mut self.falls, MOST_FALLS, fall);
    }

    pub fn asked(&mut self, ask: Asked) {
        bounded(&mut self.asks, MOST_ASKS, ask);
    }

    pub fn woke(&mut self, wake: Wake) {
        bounded(&mut self.wakes, MOST_WAKES, wake);
    }

    pub fn why(&mut self, life: u32, wake: u32, told: Told) {
        // Lives and wakes are numbered in order of time: the first is the oldest.
        if self.told.len() >= MOST_TOLD {
            self.told.pop_first();
        }
        self.told.insert((life, wake), told);
    }

    /// The newest commit that ran before a time and is this one, as the life that ran it; for the arrow of a fall.
    pub fn life_of(&self, commit: u32, before: u32) -> Option<&Lived> {
        let of = |life: &&Lived| commit != 0 && life.commit == commit;
        self.lives.range(..before).rev().map(|(_, life)| life).find(of)
    }
}

/// Adds one; of too many the oldest eighth go at once, so that this is rare.
fn bounded<T>(list: &mut Vec<T>, most: usize, one: T) {
    if list.len() >= most {
        list.drain(..most / 8);
    }
    list.push(one);
}
