//! The index takes in records: the creature's memory, and what it tells of its wakes.

use super::entry::{Entry, Kind};
use super::known::{Known, Mark, MarkKind, Stand, Told, Wake};
use super::reason;
use house::records::text;
use serde_json::Value;

/// Longest that a thought is taken to have lasted, and a wake to go on without a word of it.
const LONGEST_MS: u64 = 2 * 3_600_000;
/// How many wakes back one is looked for whose reasons come late.
const WAKES_BACK: usize = 64;

/// A number of a record's; 0 where it says none, or one that is none of ours.
pub fn number(of: &Value, name: &str) -> u32 {
    of.get(name).and_then(Value::as_u64).and_then(|number| u32::try_from(number).ok()).unwrap_or(0)
}

fn is_ok(of: &Value) -> bool {
    of.get("ok").and_then(Value::as_bool) == Some(true)
}

impl Known {
    /// Takes in a record of memory; returns what is kept on disk of it.
    pub fn remembered(&mut self, record: &Value, at_ms: u64, stand: Stand) -> Option<Entry> {
        let data = record.get("data")?;
        let life = number(record, "life");
        self.reaches(at_ms);
        // A life the guardian knows nothing of is only believed where it told of none.
        let life = if self.newest_life == 0 || life <= self.newest_life { life } else { 0 };
        self.life(life, at_ms);
        let before_ms = std::mem::replace(&mut self.before_ms, at_ms);
        match text(record, "kind") {
            "thought" => return Some(self.thought(data, life, at_ms, before_ms, stand)),
            "action" => return Some(self.act(data, life, at_ms, stand)),
            "heartbeat" => self.beat(data, life, at_ms),
            "message" => self.word(data, at_ms, stand),
            "self_change" => self.changed(data, at_ms, stand),
            "dream" => self.dreamt(data, at_ms, stand),
            "observation" if text(data, "about") == "birth" => {
                let commit = self.texts.number(text(data, "commit"));
                if let Some(life) = self.life(life, at_ms).filter(|life| life.commit == 0) {
                    life.commit = commit;
                }
            }
            _ => {}
        }
        None
    }

    fn thought(&mut self, data: &Value, life: u32, at_ms: u64, before_ms: u64, stand: Stand) -> Entry {
        let is_garbled = data.get("garbled").is_some();
        let (thought, wake) = (number(data, "thought"), number(data, "wake"));
        let is_owners = data.get("owner").and_then(Value::as_bool) == Some(true);
        let begun_ms = self.thinks(life, wake, thought, at_ms, before_ms, is_owners);
        if let Some(hour) = self.hour(at_ms) {
            *(if is_garbled { &mut hour.garbled } else { &mut hour.thoughts }) += 1;
        }
        let usage = data.get("usage").unwrap_or(&Value::Null);
        let tokens = number(usage, "input_tokens").saturating_add(number(usage, "output_tokens"));
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

    fn act(&mut self, data: &Value, life: u32, at_ms: u64, stand: Stand) -> Entry {
        let failed = !data.get("result").is_some_and(is_ok);
        let of_life = self.wakes.last_mut().filter(|wake| wake.life == life);
        if let Some(wake) = of_life.filter(|wake| at_ms.saturating_sub(wake.to_ms) < LONGEST_MS) {
            (wake.to_ms, wake.acts) = (wake.to_ms.max(at_ms), wake.acts.saturating_add(1));
            wake.failed = wake.failed.saturating_add(u32::from(failed));
        }
        if let Some(hour) = self.hour(at_ms) {
            *(if failed { &mut hour.failed } else { &mut hour.acts }) += 1;
        }
        let tool = self.texts.number(text(data, "tool"));
        let kind = if failed { Kind::ActFailed } else { Kind::Act };
        let number = number(data, "thought");
        Entry { at_ms, offset: stand.offset, number, value: tool, length_ms: 0, file: stand.file, kind }
    }

    /// Takes in why a wake was: a record of the bookkeeping, or what the creature told of it.
    pub fn beat(&mut self, data: &Value, life: u32, at_ms: u64) {
        let number = number(data, "wake");
        let why = data.get("why").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        let why: Vec<&str> = why.iter().filter_map(Value::as_str).collect();
        if number == 0 || (why.is_empty() && data.get("why").is_some()) {
            return;
        }
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

    /// Takes in a line of what the creature tells other programs.
    pub fn told(&mut self, line: &Value, at_ms: u64) {
        let (life, data) = (number(line, "life"), line.get("data").unwrap_or(&Value::Null));
        if text(line, "event") == "wakeup" {
            self.beat(data, life, at_ms);
        }
    }

    fn word(&mut self, data: &Value, at_ms: u64, stand: Stand) {
        let kind = match (text(data, "from"), text(data, "kind")) {
            ("owner", _) => MarkKind::Word,
            (_, "reminder") => MarkKind::Reminder,
            _ => MarkKind::Said,
        };
        let (text, about) = (self.texts.number(text(data, "text")), self.texts.number(text(data, "kind")));
        self.mark(Mark { at_ms, length_ms: 0, kind, text, about, stand });
    }

    fn changed(&mut self, data: &Value, at_ms: u64, stand: Stand) {
        let kind = if is_ok(data) { MarkKind::Edit } else { MarkKind::EditFailed };
        let (text, about) =
            (self.texts.number(text(data, "summary")), self.texts.number(text(data, "stage")));
        self.mark(Mark { at_ms, length_ms: 0, kind, text, about, stand });
    }

    fn dreamt(&mut self, data: &Value, at_ms: u64, stand: Stand) {
        let begun_ms = *self.dreams_ms.get_or_insert(at_ms);
        let told = match (data.get("name").is_some(), data.get("undone").is_some()) {
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

/// When something began that is said to have begun then, and was over at `at_ms`: not too long before it.
fn near(begun_ms: u64, at_ms: u64) -> u64 {
    if at_ms.saturating_sub(begun_ms) > LONGEST_MS { at_ms } else { begun_ms.min(at_ms) }
}
