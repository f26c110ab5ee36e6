//! Items of every kind: found by name, admitted within bounds, due, tried, written to the file, forgotten once ended.

use crate::text::{clip, words};
use crate::{Refusal, When};
use jiff::{SignedDuration, Timestamp};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de, ser};
use serde_json::{Value, json};
use std::ops::{Deref, DerefMut};

/// Items of one kind; past this the item that ended first makes room.
pub const MOST: usize = 1_000;

/// Characters of a title or step, of a reason, and of what an item came to.
pub const LONGEST_TITLE: usize = 300;
pub const LONGEST_REASON: usize = 300;
const LONGEST_OUTCOME: usize = 600;

/// Failures in a row with one reason after which a checkpoint is parked, or a task's turn given up.
pub const SAME_FAILURES: u32 = 3;

/// Failures for any reasons after which it is parked or given up all the same.
pub const MOST_FAILURES: u32 = 9;

/// Kind of items: the fields that only its items have, beside those of `Item`.
pub trait ItemKind: Clone + Default + Serialize + DeserializeOwned {
    /// Its name in ids, as in `goal-7`.
    const NAME: &'static str;
    /// Fields of `Item` that have another name in the file, with that name.
    const FIELDS: &'static [(&'static str, &'static str)] = &[("about", "text")];
    /// The tool that lists its items.
    const LISTED_BY: &'static str = "agenda.list";
    /// Whether several open items may be about the same.
    const REPEATS: bool = false;

    /// Returns when an item ended.
    fn ended_at(item: &Item<Self>) -> Option<Timestamp> {
        item.ended_at
    }

    /// Returns when an item comes due by the clock alone.
    fn due_at(_: &Item<Self>) -> Option<Timestamp> {
        None
    }
}

/// Item of the agenda: it has an id, is about something and ends.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, bound = "K: ItemKind")]
pub struct Item<K> {
    pub id: String,
    /// Its title, its text, or the owner's words.
    pub about: String,
    pub thread: String,
    /// Whether the owner asked for it.
    pub owner: bool,
    /// The epoch where an older self did not write it down.
    #[serde(skip_serializing_if = "is_epoch")]
    pub made_at: Timestamp,
    #[serde(skip_serializing_if = "is_epoch")]
    pub changed_at: Timestamp,
    pub ended_at: Option<Timestamp>,
    /// Reason for its end, or what came of it.
    pub outcome: String,
    /// Fields that only its kind has.
    #[serde(flatten)]
    pub of: K,
}

fn is_epoch(at: &Timestamp) -> bool {
    *at == Timestamp::UNIX_EPOCH
}

impl<K> Deref for Item<K> {
    type Target = K;

    fn deref(&self) -> &K {
        &self.of
    }
}

impl<K> DerefMut for Item<K> {
    fn deref_mut(&mut self) -> &mut K {
        &mut self.of
    }
}

impl<K: ItemKind> Item<K> {
    pub fn is_open(&self) -> bool {
        K::ended_at(self).is_none()
    }

    pub(crate) fn end(&mut self, outcome: &str, now: Timestamp) {
        (self.ended_at, self.changed_at) = (Some(now), now);
        self.outcome = clip(outcome, LONGEST_OUTCOME);
    }
}

/// All items of one kind, the oldest first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, bound = "K: ItemKind")]
pub struct Items<K> {
    #[serde(alias = "all", serialize_with = "written", deserialize_with = "read")]
    pub list: Vec<Item<K>>,
}

fn written<K: ItemKind, S: Serializer>(list: &[Item<K>], to: S) -> Result<S::Ok, S::Error> {
    let rows = list.iter().map(serde_json::to_value).collect::<Result<Vec<Value>, _>>();
    let mut rows = rows.map_err(ser::Error::custom)?;
    for row in &mut rows {
        K::FIELDS.iter().for_each(|(ours, files)| rename(row, ours, files));
    }
    rows.serialize(to)
}

fn read<'a, K: ItemKind, D: Deserializer<'a>>(from: D) -> Result<Vec<Item<K>>, D::Error> {
    let mut rows = Vec::<Value>::deserialize(from)?;
    for row in &mut rows {
        K::FIELDS.iter().for_each(|(ours, files)| rename(row, files, ours));
    }
    serde_json::from_value(Value::Array(rows)).map_err(de::Error::custom)
}

fn rename(row: &mut Value, from: &str, to: &str) {
    if let Some(row) = row.as_object_mut()
        && let Some(value) = row.remove(from)
    {
        row.insert(to.to_owned(), value);
    }
}

impl<K> Default for Items<K> {
    fn default() -> Self {
        Self { list: Vec::new() }
    }
}

impl<K: ItemKind> Items<K> {
    /// Returns the items that have not ended.
    pub fn open(&self) -> impl DoubleEndedIterator<Item = &Item<K>> {
        self.list.iter().filter(|item| item.is_open())
    }

    /// Open items that are due, the earliest first; each once, however often it was missed.
    pub fn due(&self, now: Timestamp) -> Vec<&Item<K>> {
        let mut due: Vec<&Item<K>> =
            self.open().filter(|item| K::due_at(item).is_some_and(|at| at <= now)).collect();
        due.sort_by_key(|item| K::due_at(item));
        due
    }

    /// The earliest moment at which an open item comes due; it may have passed.
    pub fn next_due(&self) -> Option<Timestamp> {
        self.open().filter_map(K::due_at).min()
    }

    /// The items that have not ended, to be shown by the names of the file.
    pub fn to_open(&self) -> Self {
        Self { list: self.open().cloned().collect() }
    }

    /// Forgets items that ended before this time; returns how many.
    pub fn purge(&mut self, before: Timestamp) -> usize {
        let all = self.list.len();
        self.list.retain(|item| K::ended_at(item).is_none_or(|ended| ended >= before));
        all - self.list.len()
    }

    /// The open item of this id; refused where it has ended or there is none.
    pub(crate) fn find(&mut self, id: &str) -> Result<&mut Item<K>, Refusal> {
        let error = match self.list.iter_mut().find(|item| item.id == id) {
            Some(item) if item.is_open() => return Ok(item),
            Some(_) => format!("{id} has ended"),
            None => format!("there is no {}", clip(id, 80)),
        };
        Err(Refusal::new(error, format!("{} names those that are open", K::LISTED_BY)))
    }

    /// Ends the open item of this id.
    pub(crate) fn close(&mut self, id: &str, outcome: &str, when: When) -> Result<Value, Refusal> {
        self.find(id)?.end(outcome, when.now);
        Ok(json!({"id": id}))
    }

    /// Adds an item, numbered after the last; refused where an open one is about the same, or `MOST` are open.
    pub(crate) fn add(
        &mut self,
        last: &mut u64,
        about: String,
        of: K,
        when: When,
    ) -> Result<&mut Item<K>, Refusal> {
        let is_same = |item: &&Item<K>| !K::REPEATS && item.about.eq_ignore_ascii_case(&about);
        if let Some(known) = self.open().find(is_same) {
            return Err(Refusal::new(format!("{} is about that already", known.id), "go on with that one"));
        }
        if self.list.len() >= MOST {
            let ended =
                self.list.iter().enumerate().filter_map(|(at, known)| Some((K::ended_at(known)?, at)));
            let Some((_, oldest)) = ended.min() else {
                return Err(Refusal::new(
                    format!("there are {MOST} open ones"),
                    "close some with agenda.close",
                ));
            };
            self.list.remove(oldest);
        }
        *last = last.saturating_add(1);
        let (id, thread) = (format!("{}-{last}", K::NAME), when.thread.to_owned());
        let (owner, made_at, changed_at) = (when.owner, when.now, when.now);
        let item = Item {
            id,
            about,
            thread,
            owner,
            made_at,
            changed_at,
            ended_at: None,
            outcome: String::new(),
            of,
        };
        Ok(self.list.push_mut(item))
    }
}

/// Reads a value, or its default where a newer self wrote what this one cannot read: the rest is not lost with it.
pub(crate) fn lenient<'a, D: Deserializer<'a>, T: DeserializeOwned + Default>(
    from: D,
) -> Result<T, D::Error> {
    Ok(serde_json::from_value(Value::deserialize(from)?).unwrap_or_default())
}

/// A status, stage or kind by its name as JSON has it.
pub(crate) fn name(of: impl Serialize) -> String {
    serde_json::to_value(of).ok().and_then(|name| name.as_str().map(str::to_owned)).unwrap_or_default()
}

/// Refuses what only the owner may say.
pub(crate) fn owners_yes(id: &str, when: When) -> Result<(), Refusal> {
    if when.owner { Ok(()) } else { Err(awaits(id)) }
}

/// Says that an item waits for the owner.
pub(crate) fn awaits(id: &str) -> Refusal {
    let hint =
        "only your owner's word approves: ask with owner.message, kind approval, and go on with other things";
    Refusal::new(format!("{id} waits for your owner's yes"), hint)
}

/// Tries of a thing: their number, and why it failed last.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Tries {
    pub attempts: u32,
    pub failures: u32,
    /// Failures in a row with the same reason.
    pub same: u32,
    pub reason: String,
    pub failed_at: Option<Timestamp>,
}

impl Tries {
    /// Counts a failure; true when it is one too many and no other try is to be made.
    pub(crate) fn fail(&mut self, reason: &str, now: Timestamp) -> bool {
        let same = gist(reason) == gist(&self.reason);
        self.attempts = self.attempts.saturating_add(1);
        self.failures = self.failures.saturating_add(1);
        self.same = if same { self.same.saturating_add(1) } else { 1 };
        self.reason = clip(reason, LONGEST_REASON);
        self.failed_at = Some(now);
        self.same >= SAME_FAILURES || self.failures >= MOST_FAILURES
    }

    pub(crate) fn succeed(&mut self) {
        self.attempts = self.attempts.saturating_add(1);
        self.forgive();
    }

    /// Forgets the failures; the attempts stay counted.
    pub(crate) fn forgive(&mut self) {
        *self = Self { attempts: self.attempts, ..Self::default() };
    }

    /// Returns the time from which it is worth another try: later with each failure.
    pub(crate) fn again_at(&self) -> Option<Timestamp> {
        self.failed_at.map(|at| later(at, backoff_s(self.failures)))
    }

    /// A clause to end a line with; empty where nothing failed.
    pub fn said(&self) -> String {
        match self.failures {
            0 => String::new(),
            times => format!(", failed {times} of {SAME_FAILURES} times, last: {}", clip(&self.reason, 120)),
        }
    }
}

/// Seconds to wait after so many failures or looks: 60, 120, 240 … up to an hour.
pub(crate) fn backoff_s(times: u32) -> i64 {
    (60_i64 << times.saturating_sub(1).min(6)).min(3_600)
}

/// A reason without what differs from time to time: numbers, hashes, signs, capitals.
fn gist(reason: &str) -> String {
    words(reason).filter(|word| !word.contains(|c: char| c.is_ascii_digit())).collect()
}

/// The text on one line, at most `most` characters; refused where it is empty.
pub(crate) fn needed(text: &str, what: &str, most: usize) -> Result<String, Refusal> {
    let text = clip(text, most);
    if text.is_empty() {
        return Err(Refusal::new(format!("{what} is empty"), "say it in a few words"));
    }
    Ok(text)
}

/// An amount of US dollars, rounded to the cent; refused outside of 0 to 1,000,000,000.
pub(crate) fn checked_usd(amount: f64) -> Result<f64, Refusal> {
    if (0.0..=1e9).contains(&amount) {
        return Ok((amount * 100.0).round() / 100.0);
    }
    Err(Refusal::new(format!("{amount} is no amount"), "it is from 0 to 1,000,000,000 US dollars"))
}

/// `at` plus so many seconds; `Timestamp::MAX` where that is out of range.
pub fn later(at: Timestamp, seconds: impl TryInto<i64>) -> Timestamp {
    let length = SignedDuration::from_secs(seconds.try_into().unwrap_or(i64::MAX));
    at.checked_add(length).unwrap_or(Timestamp::MAX)
}

/// A number of seconds as people say it, as in `45 min`.
pub fn span(seconds: i64) -> String {
    match seconds.max(0) {
        s @ 0..=119 => format!("{s} s"),
        s @ 120..=7_199 => format!("{} min", s / 60),
        s @ 7_200..=172_799 => format!("{} h", s / 3_600),
        s => format!("{} days", s / 86_400),
    }
}
