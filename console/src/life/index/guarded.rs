//! Takes the records of guardian and broker into the index: lives, blessings, commits, falls, deaths, asks, money.

use super::base::{Index, MOST_MICRO};
use super::rows::{Asked, Entry, Fall, Kept, Kind, Mark, MarkKind, Stand};
use super::sources::Of;
use super::take::small;
use super::texts::short;
use house::bounds::NAME_CHARS;
use house::records::history::{Death, Event, Line, Said};
use house::records::ledger::{self, AskLine};
use house::records::memory::{Fed, FeedLine, Record};
use rusqlite::{Result, ToSql, params};
use serde_json::Value;

/// Most asks looked back through for the one that an answer names.
const ASKS_BACK: u32 = 2_000;

impl Index {
    /// Takes in a record of a file; returns the entry that is kept of it.
    pub fn take(&mut self, of: Of, record: &Value, at_ms: u64, stand: Stand) -> Result<Option<Entry>> {
        match of {
            Of::Beats => {
                if let Some(beat) = Record(record).beat() {
                    self.beat(beat, small(Record(record).life()), at_ms)?;
                }
            }
            Of::Events => {
                if let Fed::Wakeup(beat) = FeedLine(record).told() {
                    self.beat(beat, small(FeedLine(record).life()), at_ms)?;
                }
            }
            Of::History => self.guarded(record, at_ms, stand)?,
            Of::Deaths => self.died(Death(record), at_ms)?,
            Of::Asks => self.asks_line(AskLine(record), at_ms)?,
            Of::Memory => return self.remembered(Record(record), at_ms, stand),
            Of::Ledger => return self.entered(ledger::Entry(record), at_ms, stand),
        }
        Ok(None)
    }

    /// Notes something of a life; `set` is what it sets of the row.
    fn of_life(&mut self, number: u32, at_ms: u64, set: &str, values: &[&dyn ToSql]) -> Result<()> {
        self.hears_of(number, at_ms)?;
        let values: Vec<&dyn ToSql> =
            [&number as &dyn ToSql].into_iter().chain(values.iter().copied()).collect();
        self.run(&format!("UPDATE life SET {set} WHERE number = ?1"), values.as_slice())
    }

    pub fn birth(&mut self, number: u32, at_ms: u64, commit: &str) -> Result<()> {
        self.of_life(number, at_ms, "of_commit = iif(of_commit = '', ?2, of_commit)", &[&short(commit)])
    }

    /// Takes in a line of the guardian's history.
    #[allow(clippy::wildcard_enum_match_arm)]
    fn guarded(&mut self, event: &Value, at_ms: u64, stand: Stand) -> Result<()> {
        let number = small(Line(event).life());
        self.reaches(at_ms);
        self.reach.newest_life = self.reach.newest_life.max(number);
        match Event::of(event) {
            Event::Life(of) => {
                self.of_life(number, at_ms, "of_commit = ?2, safe = ?3", &[&short(of.commit()), &of.safe()])
            }
            Event::Blessed(_) => self.of_life(number, at_ms, "blessed_ms = ?2", &[&at_ms]),
            Event::Examined(of) => {
                let told = short(&format!("{}: {}", of.outcome(), Said(event).told()));
                self.of_life(number, at_ms, "examined = ?2", &[&told])
            }
            Event::Fall(of) => {
                let told = short(Said(event).plainly());
                let [from_commit, to_commit] = [of.from_commit(), of.to_commit()].map(short);
                Fall { at_ms, life: number, from_commit, to_commit, told }.put(&self.base)
            }
            Event::Commit(of) if of.is_its_own() => {
                self.mark(MarkKind::Commit, at_ms, of.summary(), of.commit(), stand)
            }
            Event::SettingsChanged(_) => self.run("INSERT INTO settings_changed VALUES (?1)", [at_ms]),
            Event::Rescued(of) => self.mark(MarkKind::Rescued, at_ms, of.reference(), "", stand),
            _ => Ok(()),
        }
    }

    pub fn mark(&mut self, kind: MarkKind, at_ms: u64, text: &str, about: &str, stand: Stand) -> Result<()> {
        let (text, about) = (short(text), short(about));
        Mark { at_ms, length_ms: 0, kind, text, about, file: stand.file, offset: stand.offset }
            .put(&self.base)
    }

    /// Takes in a death.
    fn died(&mut self, death: Death, at_ms: u64) -> Result<()> {
        let ended = death.ended().replace('_', " ");
        let told = short(&format!("{ended} ({}), blamed on {}", death.cause(), death.blame()));
        let number = small(Some(death.life()));
        self.reaches(at_ms);
        let from_ms = at_ms.saturating_sub((death.lived_s() * 1_000.0).clamp(0.0, 1e12) as u64);
        self.reach.newest_life = self.reach.newest_life.max(number);
        if !self.base.prepare_cached("SELECT 1 FROM life WHERE number = ?1")?.exists([number])? {
            self.of_life(number, from_ms, "of_commit = ?2", &[&short(death.commit())])?;
        }
        self.of_life(number, at_ms, "death_ms = ?2, ended = ?3", &[&at_ms, &told])
    }

    /// Takes in a line of the broker's on an ask.
    fn asks_line(&mut self, line: AskLine, at_ms: u64) -> Result<()> {
        let Some(id) = line.id() else { return Ok(()) };
        self.reaches(at_ms);
        let (id, event) = (short(&id), short(line.event()));
        let closed_ms = (line.event() != "asked").then_some(at_ms);
        let known = "UPDATE ask SET event = ?2, closed_ms = iif(?3 IS NULL, NULL, coalesce(closed_ms, ?3)) WHERE rowid =
            (SELECT max(rowid) FROM ask WHERE id = ?1 AND rowid > (SELECT max(rowid) FROM ask) - ?4)";
        let changed = self.base.prepare_cached(known)?.execute(params![id, event, closed_ms, ASKS_BACK])?;
        if changed > 0 {
            return Ok(());
        }
        let what = short(&line.what(NAME_CHARS));
        Asked { id, asked_ms: at_ms, closed_ms, event, what }.put(&self.base)
    }

    /// Takes in a line of the ledger; returns the entry that is kept of it.
    fn entered(&mut self, entry: ledger::Entry, at_ms: u64, stand: Stand) -> Result<Option<Entry>> {
        let Some(micro) = entry.paid() else { return Ok(None) };
        let is_own = entry.is_own();
        self.reaches(at_ms);
        let kind = if is_own { Kind::MoneyOwn } else { Kind::Money };
        let (number, value) = (small(entry.life()), micro.min(MOST_MICRO));
        let Stand { file, offset } = stand;
        self.add(Entry { at_ms, row: 0, kind, number, value, length_ms: 0, file, offset }, None).map(Some)
    }
}
