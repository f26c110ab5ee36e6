//! Watches a life's conduct: reads what is new in memory, bookkeeping, inbox and ledger, and reports what it observed.
//!
//! Invariant: a look reads a bounded number of bytes and waits for nobody; the creature writes these files.

use crate::act::around::Around;
use crate::decide::conduct::{Invariant, Tally};
use crate::decide::witness::{Claimed, Longest, Witness};
use house::clock::{self, Millis};
use house::files::{self, Mark};
use house::heartbeat::Claim;
use house::lines::Lines;
use house::{House, bounds, records};
use serde_json::{Value, json};
use std::io::{ErrorKind, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// Bytes read of a file at one look.
const LOOK_BYTES: u64 = 2 << 20;
/// Length of the longest line that is read.
const LONGEST_LINE: usize = 1 << 20;
/// Time between two looks at the agenda and the budget, which are read whole.
const AGENDA_MS: Millis = 15_000;
/// Most bytes of an agenda.
const AGENDA_BYTES: u64 = 8 << 20;
/// The longest rest a creature may be set to, in milliseconds.
const LONGEST_REST_MS: Millis = 3_600_000;
/// Most bytes of the budget and of the settings that were handed over.
const DOCUMENT_BYTES: u64 = 1 << 20;

/// A file of lines that is read on from where the last look ended.
#[derive(Debug)]
struct Followed {
    path: PathBuf,
    at: u64,
    mark: Option<Mark>,
}

impl Followed {
    /// Begins at the end of the file: its present lines are of earlier lives.
    fn at_its_end(path: PathBuf) -> Self {
        let mark = files::mark(&path);
        Self { at: mark.map_or(0, |mark| mark.bytes), mark, path }
    }

    /// Hands on each whole line that is new. False where some may be missing, or would be read again: a line was too
    /// long, or the file is another one, whose end is gone on from then.
    fn new_lines(&mut self, mut each: impl FnMut(&[u8])) -> bool {
        let Some(mark) = files::mark(&self.path) else { return true };
        let before = self.mark.replace(mark);
        if before.is_some_and(|before| mark.bytes < self.at || !before.is_same_file(mark)) {
            self.at = mark.bytes;
            return false;
        }
        if mark.bytes == self.at {
            return true;
        }
        let Ok(Some(mut file)) = files::open(&self.path) else { return true };
        if file.seek(SeekFrom::Start(self.at)).is_err() {
            return true;
        }
        let mut is_whole = true;
        let mut lines = Lines::new(file, LONGEST_LINE);
        lines.allow(LOOK_BYTES);
        lines.each(|line| {
            is_whole &= line.map(&mut each).is_some();
            true
        });
        // What has no newline yet is read again.
        self.at = lines.at() - lines.torn().len() as u64;
        is_whole
    }
}

/// Files watched of the life that runs, and the witness that judges them.
#[derive(Debug)]
pub struct Watched {
    pub witness: Witness,
    memory: Followed,
    bookkeeping: Followed,
    inbox: Followed,
    ledger: Followed,
    house: House,
    life: u64,
    agenda_at: Millis,
    /// The longest rest by the owner's settings, and the longest in force just now.
    set_ms: Millis,
    longest: Longest,
}

impl Watched {
    /// Watches a life that begins; `is_born`: whether it is born of an edit of its predecessor's.
    pub fn of(house: &House, life: u64, is_born: bool) -> Self {
        let longest = Longest { usual_ms: LONGEST_REST_MS, any_ms: LONGEST_REST_MS };
        Self {
            witness: Witness::of(life, is_born),
            memory: Followed::at_its_end(house.memory()),
            bookkeeping: Followed::at_its_end(house.bookkeeping()),
            inbox: Followed::at_its_end(house.inbox()),
            ledger: Followed::at_its_end(house.ledger()),
            house: house.clone(),
            life,
            agenda_at: 0,
            set_ms: set_rest_ms(house, life),
            longest,
        }
    }

    /// Allows the rests of settings that were handed over meanwhile; those of the settings before may be under way.
    pub fn allow_rests(&mut self) {
        self.set_ms = self.set_ms.max(set_rest_ms(&self.house, self.life));
        self.longest.usual_ms = self.longest.usual_ms.max(self.set_ms);
    }

    /// Returns each invariant seen since the last look, kept or broken.
    pub fn look(&mut self, claim: &Claim, now: Millis) -> Vec<(Invariant, bool)> {
        let claimed = claimed(claim);
        let Self { witness, memory, bookkeeping, inbox, ledger, .. } = self;
        witness.begin(now);
        let mut is_whole = inbox.new_lines(|line| witness.said(line, now));
        for file in [memory, bookkeeping] {
            is_whole &= file.new_lines(|line| {
                records::parse(line).iter().for_each(|record| witness.recorded(record, claimed, now));
            });
        }
        // After memory: what goes out for a word goes out after it was heard.
        is_whole &= ledger.new_lines(|line| records::parse(line).iter().for_each(|line| witness.paid(line)));
        if !is_whole {
            witness.lost();
        }
        if now >= self.agenda_at + AGENDA_MS {
            self.agenda_at = now;
            self.longest.usual_ms = if is_poor(&self.house) { LONGEST_REST_MS } else { self.set_ms };
            let wall_ms = i64::try_from(clock::wall_ms()).unwrap_or(i64::MAX);
            let agenda = document(&self.house.agenda(), AGENDA_BYTES);
            agenda.iter().for_each(|agenda| self.witness.reminders(agenda, wall_ms, now));
        }
        self.witness.looked(claimed, self.longest, now);
        if let Some(path) = self.witness.due() {
            let looked = self.house.root().join(&path).symlink_metadata();
            // What cannot be looked at says nothing.
            match looked.map_err(|error| error.kind()) {
                Ok(_) => self.witness.found(&path, true),
                Err(ErrorKind::NotFound) => self.witness.found(&path, false),
                Err(_) => {}
            }
        }
        self.witness.take()
    }
}

/// A document that others write; none where it is too long, or would take far more memory than its text.
pub fn document(path: &Path, most: u64) -> Option<Value> {
    bounds::read(&files::read_most(path, most).ok().flatten()?)
}

/// The longest rest by the settings that this life was handed.
fn set_rest_ms(house: &House, life: u64) -> Millis {
    let handed = document(&house.handed_settings(), DOCUMENT_BYTES)
        .filter(|handed| handed.get("life") == Some(&json!(life)));
    let number = |name: &str| handed.as_ref()?.pointer(&format!("/settings/rest/{name}"))?.as_u64();
    let seconds = number("longest_s").into_iter().chain(number("quiet_s")).max();
    seconds.map_or(LONGEST_REST_MS, |seconds| seconds.saturating_mul(1_000).min(LONGEST_REST_MS))
}

/// Whether little money is left, by the broker's page: then a creature rests as long as it may.
fn is_poor(house: &House) -> bool {
    document(&house.budget(), DOCUMENT_BYTES).is_some_and(|page| {
        let is_told = |name: &str| page.get(name).is_some_and(|told| !told.is_null());
        page.get("poor") == Some(&Value::Bool(true)) || is_told("stopped") || is_told("closed")
    })
}

fn claimed(claim: &Claim) -> Claimed {
    let until = claim.until.parse::<jiff::Timestamp>().map_or(0, jiff::Timestamp::as_millisecond);
    Claimed {
        rests: claim.stage == "resting",
        acts: claim.stage == "acting",
        is_away: !claim.next_try.is_empty(),
        turns: claim.turns,
        rest_ms: u64::try_from(until).unwrap_or(0).saturating_sub(clock::wall_ms()),
    }
}

/// An invariant that is broken, and how often, for the end of a sentence.
pub fn counted(invariant: Invariant, tally: Tally) -> String {
    format!("{} ({} of the last {} times)", invariant.broken(), tally.broken, tally.kept + tally.broken)
}

/// Tells the owner of an invariant that is broken, and that no rollback would mend.
pub fn tell_broken(around: &mut Around, invariant: Invariant, tally: Tally) {
    let told = format!("this creature breaks an invariant: {}", counted(invariant, tally));
    around
        .report
        .warn(&format!("{told}; nothing is put back for it, since what was before is not known to keep it"));
    let state = &around.state;
    let data = json!({"life": state.life, "commit": state.commit, "invariant": invariant, "told": told,
        "evidence": state.broken});
    records::tell(&around.house, "broken", data);
}
