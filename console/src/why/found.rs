//! Finds a thought and what belongs to it, from the end of the records and by halving: never by reading all of memory.

use crate::back;
use crate::owners::Owners;
use house::House;
use house::records;
use house::records::memory::Record;
use serde_json::Value;
use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::path::PathBuf;

/// Most bytes read from the end of memory for the last thought.
const MOST_END_BYTES: u64 = 64 << 20;
/// Bytes read before and behind the place where a thought was found.
const BEFORE_BYTES: u64 = 1 << 20;
const BEHIND_BYTES: u64 = 64 << 20;
/// Most records kept from before a thought, and of its results.
const MOST_RECORDS: usize = 200;

/// A thought and the records around it.
#[derive(Debug, Default)]
pub struct Found {
    pub path: PathBuf,
    pub thought: Value,
    /// Its replies that could not be read, before the one that could.
    pub garbled: Vec<Value>,
    /// Records since the thought before it: results, words, observations.
    pub before: Vec<Value>,
    /// When the thought before it was remembered; empty where that is not known.
    pub since: String,
    /// Results of its calls, and its messages.
    pub after: Vec<Value>,
}

/// Memory and what was rotated away from it, the newest first.
pub fn files(house: &House) -> Vec<PathBuf> {
    records::whole(&house.memory(), "").rev().collect()
}

/// The number of the last thought that can be read.
pub fn last(house: &House) -> Option<u64> {
    let mut last = None;
    back::lines(
        files(house),
        None,
        MOST_END_BYTES,
        |_| true,
        |line| {
            last = records::parse(line.bytes).and_then(|record| Record(&record).thought()?.thought());
            if last.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        },
    );
    last
}

/// The thought with this number.
pub fn thought(house: &House, wanted: u64) -> Option<Found> {
    files(house).into_iter().find_map(|path| {
        let place = records::place_by(&path, |record| Some(Record(record).number()? < wanted));
        let most = BEFORE_BYTES + BEHIND_BYTES;
        let mut found = Found { path: path.clone(), ..Found::default() };
        let (mut before, mut owners) = (VecDeque::new(), Owners::beside(&house.memory()));
        for record in records::from(&path, place.saturating_sub(BEFORE_BYTES), most) {
            if !found.take(owners.judged(record), wanted, &mut before) {
                break;
            }
        }
        (!found.thought.is_null() || !found.garbled.is_empty()).then_some(found)
    })
}

impl Found {
    /// Takes a record in order; false where all that belongs to the thought was taken.
    fn take(&mut self, record: Value, wanted: u64, before: &mut VecDeque<Value>) -> bool {
        let begun = !self.thought.is_null() || !self.garbled.is_empty();
        let seen = Record(&record);
        let thought = seen.thought().and_then(|thought| Some((thought.thought()?, thought.is_garbled())));
        match thought {
            Some((number, _)) if number != wanted => {
                if begun || number > wanted {
                    return false;
                }
                self.since = seen.at().to_owned();
                before.clear();
            }
            Some((_, is_garbled)) => {
                if !begun {
                    self.before = std::mem::take(before).into();
                }
                if is_garbled {
                    self.garbled.push(record);
                } else {
                    self.thought = record;
                }
            }
            _ if begun => {
                // What the next life remembers is not what came of this thought.
                if Record(self.garbled.last().unwrap_or(&self.thought)).life() != seen.life() {
                    return false;
                }
                if self.after.len() < MOST_RECORDS {
                    self.after.push(record);
                }
            }
            _ => {
                before.push_back(record);
                if before.len() > MOST_RECORDS {
                    before.pop_front();
                }
            }
        }
        true
    }
}

/// Returns the reasons of a wake, from the creature's bookkeeping; empty where they are not kept any more.
pub fn reasons(house: &House, wake: u64) -> Vec<String> {
    let paths = records::with_before(house.bookkeeping());
    let mut beats = paths.iter().rev().flat_map(|path| records::of(path));
    let why = |record: Value| {
        let beat = Record(&record).beat().filter(|beat| beat.wake() == Some(wake))?;
        Some(beat.why().unwrap_or_default().into_iter().map(str::to_owned).collect())
    };
    beats.find_map(why).unwrap_or_default()
}
