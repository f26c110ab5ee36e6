//! Takes the creature's records into the index: its memory, and the reasons of its wakes.

use super::base::Index;
use super::reason;
use super::rows::{Entry, HOUR_MS, Kept, Kind, Mark, MarkKind, Stand, Told, Wake};
use super::texts::short;
use house::records::memory::{Action, Beat, Data, Dream, Message, Record, SelfChange, Thought};
use rusqlite::{Result, params};

/// Longest that a thought is taken to have lasted, and a wake to go on without a word of it.
pub const LONGEST_MS: u64 = 2 * HOUR_MS;
/// Most wakes looked back through for one whose reasons come late.
const WAKES_BACK: u32 = 64;

/// A number of a record's; 0 where it says none, or one that is none of ours.
pub fn small(number: Option<u64>) -> u32 {
    number.and_then(|number| u32::try_from(number).ok()).unwrap_or(0)
}

impl Index {
    /// Takes in a record of memory; returns the entry that is kept of it.
    #[allow(clippy::wildcard_enum_match_arm)]
    pub fn remembered(&mut self, record: Record, at_ms: u64, stand: Stand) -> Result<Option<Entry>> {
        if record.raw_data().is_none() {
            return Ok(None);
        }
        let life = small(record.life());
        self.reaches(at_ms);
        // A life the guardian knows nothing of is only believed where it told of none.
        let newest = self.reach.newest_life;
        let life = if newest == 0 || life <= newest { life } else { 0 };
        let before_ms = std::mem::replace(&mut self.reach.before_ms, at_ms);
        // A wake's thoughts and acts tell of its life together.
        if !matches!(record.data(), Data::Thought(_) | Data::Action(_)) {
            self.hears_of(life, at_ms)?;
        }
        match record.data() {
            Data::Thought(thought) => return self.thought(thought, life, at_ms, before_ms, stand).map(Some),
            Data::Action(action) => return self.act(action, life, at_ms, stand).map(Some),
            Data::Heartbeat(beat) => self.beat(beat, life, at_ms)?,
            Data::Message(message) => self.word(message, at_ms, stand)?,
            Data::SelfChange(edit) => self.changed(edit, at_ms, stand)?,
            Data::Dream(dream) => self.dreamt(dream, at_ms, stand)?,
            Data::Observation(seen) if seen.about() == "birth" => self.birth(life, at_ms, seen.commit())?,
            _ => {}
        }
        Ok(None)
    }

    fn thought(&mut self, of: Thought, life: u32, at_ms: u64, before_ms: u64, stand: Stand) -> Result<Entry> {
        let (is_garbled, is_owners) = (of.is_garbled(), of.owner() == Some(true));
        let (number, wake) = (small(of.thought()), small(of.wake()));
        let begun_ms = self.thinks(life, wake, number, at_ms, before_ms, is_owners)?;
        let (input, output) = (of.usage().input_tokens(), of.usage().output_tokens());
        let value = u64::from(small(Some(input)).saturating_add(small(Some(output))));
        let length_ms = u32::try_from(at_ms.saturating_sub(begun_ms)).unwrap_or(0);
        let kind = if is_garbled { Kind::Garbled } else { Kind::Thought };
        let Stand { file, offset } = stand;
        self.add(Entry { at_ms, row: 0, kind, number, value, length_ms, file, offset }, None)
    }

    /// Counts a thought to its wake; returns when it began: with what was on record before it, or with the wake.
    fn thinks(
        &mut self,
        life: u32,
        number: u32,
        first: u32,
        at_ms: u64,
        before_ms: u64,
        is_owners: bool,
    ) -> Result<u64> {
        let last = self.wake.as_mut().filter(|wake| wake.life == life);
        // A reply that could not be read names no wake.
        if let Some(wake) = last.filter(|wake| number == 0 || wake.number == number) {
            let begun_ms = near(before_ms.max(wake.from_ms), at_ms);
            (wake.to_ms, wake.thoughts) = (wake.to_ms.max(at_ms), wake.thoughts.saturating_add(1));
            return Ok(begun_ms);
        }
        let told: Option<Told> =
            self.one("DELETE FROM told WHERE life = ?1 AND wake = ?2 RETURNING *", [life, number])?;
        let class = if is_owners { reason::Class::Owner } else { reason::Class::Other };
        let told = told.unwrap_or(Told { life, wake: number, at_ms, why: String::new(), class });
        let class = if told.class == reason::Class::Other { class } else { told.class };
        let from_ms = near(told.at_ms, at_ms);
        self.settle()?;
        self.hears_of(life, at_ms)?;
        let row = self.wake.as_ref().map_or(1, |wake| wake.row + 1);
        let (to_ms, why, thoughts, acts, failed) = (at_ms, told.why, 1, 0, 0);
        self.wake =
            Some(Wake { row, life, number, from_ms, to_ms, first, thoughts, acts, failed, why, class });
        Ok(near(before_ms.max(from_ms), at_ms))
    }

    fn act(&mut self, action: Action, life: u32, at_ms: u64, stand: Stand) -> Result<Entry> {
        let failed = !action.is_ok();
        let of_life = self.wake.as_mut().filter(|wake| wake.life == life);
        match of_life.filter(|wake| at_ms.saturating_sub(wake.to_ms) < LONGEST_MS) {
            Some(wake) => {
                (wake.to_ms, wake.acts) = (wake.to_ms.max(at_ms), wake.acts.saturating_add(1));
                wake.failed = wake.failed.saturating_add(u32::from(failed));
            }
            None => self.hears_of(life, at_ms)?,
        }
        let number = small(action.thought());
        let kind = if failed { Kind::ActFailed } else { Kind::Act };
        let Stand { file, offset } = stand;
        let act = Entry { at_ms, row: 0, kind, number, value: 0, length_ms: 0, file, offset };
        self.add(act, Some(action.tool()))
    }

    /// Takes in why a wake was: a record of the bookkeeping, or what the creature told of it.
    pub fn beat(&mut self, beat: Beat, life: u32, at_ms: u64) -> Result<()> {
        let (number, why) = (small(beat.wake()), beat.why());
        if number == 0 || why.as_ref().is_some_and(Vec::is_empty) {
            return Ok(());
        }
        let why = why.unwrap_or_default();
        let class = reason::class(why.iter().copied());
        let why = short(&why.join("; "));
        let told = Told { life, wake: number, at_ms, why: why.clone(), class };
        // Before the first wake is known there is none to look for: most reasons are read then.
        if self.wake.is_none() {
            return told.put(&self.base);
        }
        self.settle()?;
        let late =
            "SELECT * FROM wake WHERE life = ?1 AND number = ?2 AND row > (SELECT max(row) FROM wake) - ?3
            ORDER BY row DESC LIMIT 1";
        let Some(mut wake) = self.one::<Wake>(late, params![life, number, WAKES_BACK])? else {
            return told.put(&self.base);
        };
        wake.from_ms = wake.from_ms.min(at_ms.max(wake.to_ms.saturating_sub(LONGEST_MS)));
        if wake.why.is_empty() {
            wake.why = why;
            wake.class = if class == reason::Class::Other { wake.class } else { class };
        }
        wake.put(&self.base)?;
        if self.wake.as_ref().is_some_and(|last| last.row == wake.row) {
            self.wake = Some(wake);
        }
        Ok(())
    }

    fn word(&mut self, message: Message, at_ms: u64, stand: Stand) -> Result<()> {
        let kind = match message.kind() {
            _ if message.is_owners() => MarkKind::Word,
            "reminder" => MarkKind::Reminder,
            _ => MarkKind::Said,
        };
        self.mark(kind, at_ms, message.text(), message.kind(), stand)
    }

    fn changed(&mut self, edit: SelfChange, at_ms: u64, stand: Stand) -> Result<()> {
        let kind = if edit.ok() { MarkKind::Edit } else { MarkKind::EditFailed };
        self.mark(kind, at_ms, edit.summary(), edit.stage(), stand)
    }

    fn dreamt(&mut self, dream: Dream, at_ms: u64, stand: Stand) -> Result<()> {
        let begun_ms = *self.reach.dreams_ms.get_or_insert(at_ms);
        let told = match (dream.name().is_some(), dream.undone().is_some()) {
            (_, true) => "taken back",
            (true, _) => "dreamt",
            // What its thought came to: the dream goes on.
            (false, false) => return Ok(()),
        };
        self.reach.dreams_ms = None;
        let length_ms = u32::try_from(at_ms.saturating_sub(near(begun_ms, at_ms))).unwrap_or(0);
        let (text, Stand { file, offset }) = (told.to_owned(), stand);
        let (kind, about) = (MarkKind::Dream, String::new());
        Mark { at_ms, length_ms, kind, text, about, file, offset }.put(&self.base)
    }
}

/// Returns the claimed beginning, or `at_ms` where it lies too long before that end.
fn near(begun_ms: u64, at_ms: u64) -> u64 {
    if at_ms.saturating_sub(begun_ms) > LONGEST_MS { at_ms } else { begun_ms.min(at_ms) }
}
