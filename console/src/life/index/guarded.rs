//! Takes the records of guardian and broker into the index: lives, blessings, commits, falls, deaths, asks, money.

use super::entry::{Entry, Kind};
use super::known::{Asked, Fall, Known, Mark, MarkKind, Stand};
use super::sources::Of;
use super::take::small;
use house::bounds::NAME_CHARS;
use house::records::history::{Death, Event, Line, Said};
use house::records::ledger::{self, AskLine};
use house::records::memory::{Fed, FeedLine, Record};
use serde_json::Value;

/// Most asks looked back through for the one that an answer names.
const ASKS_BACK: usize = 2_000;

impl Known {
    /// Takes in a record of a file; returns what is kept on disk of it.
    pub fn take(&mut self, of: Of, record: &Value, at_ms: u64, stand: Stand) -> Option<Entry> {
        match of {
            Of::Beats => {
                if let Some(beat) = Record(record).beat() {
                    self.beat(beat, small(Record(record).life()), at_ms);
                }
            }
            Of::Events => {
                if let Fed::Wakeup(beat) = FeedLine(record).told() {
                    self.beat(beat, small(FeedLine(record).life()), at_ms);
                }
            }
            Of::History => self.guarded(record, at_ms, stand),
            Of::Deaths => self.died(Death(record), at_ms),
            Of::Asks => self.asks_line(AskLine(record), at_ms),
            Of::Memory => return self.remembered(Record(record), at_ms, stand),
            Of::Ledger => return self.entered(ledger::Entry(record), at_ms, stand),
        }
        None
    }

    /// Takes in a line of the guardian's history.
    #[allow(clippy::wildcard_enum_match_arm)]
    pub fn guarded(&mut self, event: &Value, at_ms: u64, stand: Stand) {
        let number = small(Line(event).life());
        self.reaches(at_ms);
        self.newest_life = self.newest_life.max(number);
        match Event::of(event) {
            Event::Life(of) => {
                let commit = self.texts.ours(of.commit());
                if let Some(life) = self.life(number, at_ms) {
                    (life.commit, life.safe) = (commit, of.safe());
                }
            }
            Event::Blessed(_) => {
                if let Some(life) = self.life(number, at_ms) {
                    life.blessed_ms = Some(at_ms);
                }
            }
            Event::Examined(of) => {
                let told = self.texts.ours(&format!("{}: {}", of.outcome(), Said(event).told()));
                if let Some(life) = self.life(number, at_ms) {
                    life.examined = told;
                }
            }
            Event::Fall(of) => {
                let told = self.texts.ours(Said(event).plainly());
                let [from_commit, to_commit] =
                    [of.from_commit(), of.to_commit()].map(|name| self.texts.ours(name));
                self.fell(Fall { at_ms, life: number, from_commit, to_commit, told });
            }
            Event::Commit(of) if of.is_its_own() => {
                let (text, about) = (self.texts.ours(of.summary()), self.texts.ours(of.commit()));
                self.mark(Mark { at_ms, length_ms: 0, kind: MarkKind::Commit, text, about, stand });
            }
            Event::SettingsChanged(_) => self.caps.changed(at_ms),
            Event::Rescued(of) => {
                let text = self.texts.ours(of.reference());
                self.mark(Mark { at_ms, length_ms: 0, kind: MarkKind::Rescued, text, about: 0, stand });
            }
            _ => {}
        }
    }

    /// Takes in a death.
    pub fn died(&mut self, death: Death, at_ms: u64) {
        let ended = death.ended().replace('_', " ");
        let told = format!("{ended} ({}), blamed on {}", death.cause(), death.blame());
        let (told, commit) = (self.texts.ours(&told), self.texts.ours(death.commit()));
        let number = small(Some(death.life()));
        self.reaches(at_ms);
        let from_ms = at_ms.saturating_sub((death.lived_s() * 1_000.0).clamp(0.0, 1e12) as u64);
        self.newest_life = self.newest_life.max(number);
        let is_new = !self.lives.contains_key(&number);
        if let Some(life) = self.life(number, at_ms) {
            (life.death_ms, life.ended) = (Some(at_ms), told);
            if is_new {
                (life.from_ms, life.commit) = (from_ms, commit);
            }
        }
    }

    /// Takes in a line of the broker's on an ask.
    pub fn asks_line(&mut self, line: AskLine, at_ms: u64) {
        let Some(id) = line.id() else { return };
        self.reaches(at_ms);
        let (id, event) = (self.texts.ours(&id), self.texts.ours(line.event()));
        let closed_ms = (line.event() != "asked").then_some(at_ms);
        if let Some(ask) = self.asks.iter_mut().rev().take(ASKS_BACK).find(|ask| ask.id == id) {
            (ask.event, ask.closed_ms) = (event, ask.closed_ms.filter(|_| closed_ms.is_some()).or(closed_ms));
            return;
        }
        let what = line.what(NAME_CHARS);
        let what = self.texts.ours(&what);
        self.asked(Asked { id, asked_ms: at_ms, closed_ms, event, what });
    }

    /// Takes in a line of the ledger; returns what is kept on disk of it.
    pub fn entered(&mut self, entry: ledger::Entry, at_ms: u64, stand: Stand) -> Option<Entry> {
        let (micro, is_own) = (entry.paid()?, entry.is_own());
        self.reaches(at_ms);
        if let Some(hour) = self.hour(at_ms) {
            hour.all_micro = hour.all_micro.saturating_add(micro);
            hour.own_micro = hour.own_micro.saturating_add(if is_own { micro } else { 0 });
        }
        let kind = if is_own { Kind::MoneyOwn } else { Kind::Money };
        let value = u32::try_from(micro).unwrap_or(u32::MAX);
        let (offset, file) = (stand.offset, stand.file);
        Some(Entry { at_ms, offset, number: small(entry.life()), value, length_ms: 0, file, kind })
    }
}
