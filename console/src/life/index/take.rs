//! Takes the creature's records into the index: its memory, and the reasons of its wakes.

use super::entry::{Entry, Kind};
use super::known::{Known, Mark, MarkKind, Stand, Told, Wake};
use super::reason;
use house::records::memory::{Action, Beat, Data, Dream, Message, Record, SelfChange, Thought};

/// Longest that a thought is taken to have lasted, and a wake to go on without a word of it.
const LONGEST_MS: u64 = 2 * 3_600_000;
/// Most wakes looked back through for one whose reasons come late.
const WAKES_BACK: usize = 64;

/// A number of a record's; 0 where it says none, or one that is none of ours.
pub fn small(number: Option<u64>) -> u32 {
    number.and_then(|number| u32::try_from(number).ok()).unwrap_or(0)
}

impl Known {
    /// Takes in a record of memory; returns what is kept on disk of it.
    #[allow(clippy::wildcard_enum_match_arm)]
    pub fn remembered(&mut self, record: Record, at_ms: u64, stand: Stand) -> Option<Entry> {
        record.raw_data()?;
        let life = small(record.life());
        self.reaches(at_ms);
        // A life the guardian knows nothing of is only believed where it told of none.
        let life = if self.newest_life == 0 || life <= self.newest_life { life } else { 0 };
        self.life(life, at_ms);
        let before_ms = std::mem::replace(&mut self.before_ms, at_ms);
        match record.data() {
            Data::Thought(thought) => return Some(self.thought(thought, life, at_ms, before_ms, stand)),
            Data::Action(action) => return Some(self.act(action, life, at_ms, stand)),
            Data::Heartbeat(beat) => self.beat(beat, life, at_ms),
            Data::Message(message) => self.word(message, at_ms, stand),
            Data::SelfChange(edit) => self.changed(edit, at_ms, stand),
            Data::Dream(dream) => self.dreamt(dream, at_ms, stand),
            Data::Observation(seen) if seen.about() == "birth" => {
                let commit = self.texts.number(seen.commit());
                if let Some(life) = self.life(life, at_ms).filter(|life| life.commit == 0) {
                    life.commit = commit;
                }
            }
            _ => {}
        }
        None
    }

    fn thought(&mut self, of: Thought, life: u32, at_ms: u64, before_ms: u64, stand: Stand) -> Entry {
        let (is_garbled, is_owners) = (of.is_garbled(), of.owner() == Some(true));
        let (thought, wake) = (small(of.thought()), small(of.wake()));
        let begun_ms = self.thinks(life, wake, thought, at_ms, before_ms, is_owners);
        if let Some(hour) = self.hour(at_ms) {
            *(if is_garbled { &mut hour.garbled } else { &mut hour.thoughts }) += 1;
        }
        let (input, output) = (of.usage().input_tokens(), of.usage().output_tokens());
        let tokens = small(Some(input)).saturating_add(small(Some(output)));
        let length_ms = u32::try_from(at_ms.saturating_sub(begun_ms)).unwrap_or(0);
        let kind = if is_garbled { Kind::Garbled } else { Kind::Thought };
        Entry {
            at_ms,
            offset: stand.offset,
            number: thought,
            value: tokens,
            length_ms,
            file: stand.file,
            kind,
        }
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
    ) -> u64 {
        let last = self.wakes.last_mut().filter(|wake| wake.life == life);
        // A reply that could not be read names no wake.
        if let Some(wake) = last.filter(|wake| number == 0 || wake.number == number) {
            let begun_ms = near(before_ms.max(wake.from_ms), at_ms);
            (wake.to_ms, wake.thoughts) = (wake.to_ms.max(at_ms), wake.thoughts.saturating_add(1));
            return begun_ms;
        }
        let told = self.told.remove(&(life, number));
        let class = if is_owners { reason::Class::Owner } else { reason::Class::Other };
        let told = told.unwrap_or(Told { at_ms, why: 0, class });
        let class = if told.class == reason::Class::Other { class } else { told.class };
        let from_ms = near(told.at_ms, at_ms);
        let (thoughts, acts, failed) = (1, 0, 0);
        self.woke(Wake {
            life,
            number,
            from_ms,
            to_ms: at_ms,
            first,
            thoughts,
            acts,
            failed,
            why: told.why,
            class,
        });
        near(before_ms.max(from_ms), at_ms)
    }

    fn act(&mut self, action: Action, life: u32, at_ms: u64, stand: Stand) -> Entry {
        let failed = !action.is_ok();
        let of_life = self.wakes.last_mut().filter(|wake| wake.life == life);
        if let Some(wake) = of_life.filter(|wake| at_ms.saturating_sub(wake.to_ms) < LONGEST_MS) {
            (wake.to_ms, wake.acts) = (wake.to_ms.max(at_ms), wake.acts.saturating_add(1));
            wake.failed = wake.failed.saturating_add(u32::from(failed));
        }
        if let Some(hour) = self.hour(at_ms) {
            *(if failed { &mut hour.failed } else { &mut hour.acts }) += 1;
        }
        let tool = self.texts.number(action.tool());
        let kind = if failed { Kind::ActFailed } else { Kind::Act };
        let number = small(action.thought());
        Entry { at_ms, offset: stand.offset, number, value: tool, length_ms: 0, file: stand.file, kind }
    }

    /// Takes in why a wake was: a record of the bookkeeping, or what the creature told of it.
    pub fn beat(&mut self, beat: Beat, life: u32, at_ms: u64) {
        let (number, why) = (small(beat.wake()), beat.why());
        if number == 0 || why.as_ref().is_some_and(Vec::is_empty) {
            return;
        }
        let why = why.unwrap_or_default();
        let class = reason::class(why.iter().copied());
        let why = self.texts.number(&why.join("; "));
        let late = self.wakes.iter_mut().rev().take(WAKES_BACK);
        match late.into_iter().find(|wake| wake.life == life && wake.number == number) {
            Some(wake) => {
                wake.from_ms = wake.from_ms.min(at_ms.max(wake.to_ms.saturating_sub(LONGEST_MS)));
                if wake.why == 0 {
                    wake.why = why;
                    wake.class = if class == reason::Class::Other { wake.class } else { class };
                }
            }
            None => self.why(life, number, Told { at_ms, why, class }),
        }
    }

    fn word(&mut self, message: Message, at_ms: u64, stand: Stand) {
        let kind = match message.kind() {
            _ if message.is_owners() => MarkKind::Word,
            "reminder" => MarkKind::Reminder,
            _ => MarkKind::Said,
        };
        let (text, about) = (self.texts.number(message.text()), self.texts.number(message.kind()));
        self.mark(Mark { at_ms, length_ms: 0, kind, text, about, stand });
    }

    fn changed(&mut self, edit: SelfChange, at_ms: u64, stand: Stand) {
        let kind = if edit.ok() { MarkKind::Edit } else { MarkKind::EditFailed };
        let (text, about) = (self.texts.number(edit.summary()), self.texts.number(edit.stage()));
        self.mark(Mark { at_ms, length_ms: 0, kind, text, about, stand });
    }

    fn dreamt(&mut self, dream: Dream, at_ms: u64, stand: Stand) {
        let begun_ms = *self.dreams_ms.get_or_insert(at_ms);
        let told = match (dream.name().is_some(), dream.undone().is_some()) {
            (_, true) => "taken back",
            (true, _) => "dreamt",
            // What its thought came to: the dream goes on.
            (false, false) => return,
        };
        self.dreams_ms = None;
        let length_ms = u32::try_from(at_ms.saturating_sub(near(begun_ms, at_ms))).unwrap_or(0);
        let text = self.texts.number(told);
        self.mark(Mark { at_ms, length_ms, kind: MarkKind::Dream, text, about: 0, stand });
    }
}

/// Returns the claimed beginning, or `at_ms` where it lies too long before that end.
fn near(begun_ms: u64, at_ms: u64) -> u64 {
    if at_ms.saturating_sub(begun_ms) > LONGEST_MS { at_ms } else { begun_ms.min(at_ms) }
}
