//! Watches a life's conduct: reads what is new in memory, bookkeeping, inbox and ledger, and reports what it observed.
//!
//! Invariant: a look reads a bounded number of bytes and waits for nobody; the creature writes these files.

use crate::act::executor::Executor;
use crate::act::heartbeat::Claim;
use crate::decide::conduct::{Invariant, Observed, Tally};
use crate::decide::vocabulary::Event;
use crate::decide::witness::{Claimed, Witness};
use house::clock::{self, Millis};
use house::files::{self, Mark};
use house::lines::{Lines, Next};
use house::{House, records};
use serde_json::{Value, json};
use std::io::{Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// Bytes read of a file at one look.
const LOOK_BYTES: u64 = 1 << 20;
/// Length of the longest line that is read.
const LONGEST_LINE: usize = 256 << 10;
/// Time between two looks at the agenda, which is read whole.
const AGENDA_MS: Millis = 15_000;
/// Most bytes of an agenda.
const AGENDA_BYTES: u64 = 8 << 20;
/// The longest rest a creature may be set to, in milliseconds.
const LONGEST_REST_MS: Millis = 3_600_000;

/// A file of lines that is read on from where the last look ended.
#[derive(Debug)]
struct Followed {
    path: PathBuf,
    at: u64,
    mark: Option<Mark>,
}

impl Followed {
    /// Begins at the end: what lies there is of earlier lives.
    fn at_its_end(path: PathBuf) -> Self {
        let mark = files::mark(&path);
        Self { at: mark.map_or(0, |mark| mark.bytes), mark, path }
    }

    /// Hands on each whole line that is new; another file under the name is read from its beginning.
    fn new_lines(&mut self, mut each: impl FnMut(&[u8])) {
        let Some(mark) = files::mark(&self.path) else { return };
        if mark.bytes < self.at || !self.mark.is_some_and(|before| before.is_same_file(mark)) {
            self.at = 0;
        }
        self.mark = Some(mark);
        if mark.bytes == self.at {
            return;
        }
        let Ok(Some(mut file)) = files::open(&self.path) else { return };
        if file.seek(SeekFrom::Start(self.at)).is_err() {
            return;
        }
        let mut lines = Lines::new(file, LONGEST_LINE);
        lines.allow(LOOK_BYTES);
        loop {
            match lines.next_line() {
                Next::Line(line) => each(line),
                Next::Long => {}
                Next::End => break,
            }
        }
        // What has no newline yet is read again.
        self.at = lines.at() - lines.torn().len() as u64;
    }
}

/// What is watched of the life that runs.
#[derive(Debug)]
pub struct Watched {
    witness: Witness,
    memory: Followed,
    bookkeeping: Followed,
    inbox: Followed,
    ledger: Followed,
    agenda_at: Millis,
}

impl Watched {
    pub fn of(house: &House, life: u64) -> Self {
        Self {
            witness: Witness::of(life),
            memory: Followed::at_its_end(house.memory()),
            bookkeeping: Followed::at_its_end(house.bookkeeping()),
            inbox: Followed::at_its_end(house.inbox()),
            ledger: Followed::at_its_end(house.ledger()),
            agenda_at: 0,
        }
    }

    /// One look; `began` is when the life did.
    fn look(&mut self, claim: &Claim, agenda: &Path, began: Millis, now: Millis) -> Vec<(Invariant, bool)> {
        let claimed = claimed(claim);
        let Self { witness, memory, bookkeeping, inbox, ledger, agenda_at } = self;
        inbox.new_lines(|line| witness.said(line, now));
        ledger.new_lines(|line| records::parse(line).iter().for_each(|line| witness.paid(line)));
        for file in [memory, bookkeeping] {
            file.new_lines(|line| {
                records::parse(line).iter().for_each(|record| witness.recorded(record, claimed, now));
            });
        }
        if now >= *agenda_at + AGENDA_MS {
            *agenda_at = now;
            let bytes = files::read_most(agenda, AGENDA_BYTES).ok().flatten();
            let agenda: Option<Value> = bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok());
            let wall_ms = i64::try_from(clock::wall_ms()).unwrap_or(i64::MAX);
            agenda.iter().for_each(|agenda| witness.reminders(agenda, wall_ms, now.saturating_sub(began)));
        }
        witness.looked(claimed, LONGEST_REST_MS, now);
        witness.take()
    }
}

fn claimed(claim: &Claim) -> Claimed {
    let until = claim.until.parse::<jiff::Timestamp>().map_or(0, jiff::Timestamp::as_millisecond);
    let rest_ms = u64::try_from(until).unwrap_or(0).saturating_sub(clock::wall_ms());
    Claimed { rests: claim.stage == "resting", turns: claim.turns, rest_ms }
}

impl Executor {
    /// Looks at the life's conduct; what was observed goes to the policy.
    pub fn look_at_conduct(&mut self) {
        let (now, agenda) = (self.clock.now(), self.house.agenda());
        let Some(life) = &mut self.life else { return };
        // A mind that is away, and a creature without a name for its mind, show nothing.
        let claim = &self.heart.claim;
        if claim.mind.is_empty() {
            return;
        }
        let seen = life.watched.look(claim, &agenda, life.began, now);
        if seen.iter().any(|(_, kept)| !kept) {
            self.state.broken = life.watched.witness.examples();
        }
        if !seen.is_empty() {
            let is_self_edit = self.state.selves.contains(&self.state.tree);
            self.hear(Event::Observed(Observed { mind: self.heart.claim.mind.clone(), is_self_edit, seen }));
        }
    }

    /// Tells the owner of an invariant that is broken, and that no rollback would mend.
    pub fn tell_broken(&mut self, invariant: Invariant, tally: Tally) {
        let told = format!("this creature breaks an invariant: {}", counted(invariant, tally));
        self.report.warn(&format!(
            "{told}; nothing is put back for it, since what was before is not known to keep it"
        ));
        let data = json!({"life": self.state.life, "commit": self.state.commit, "invariant": invariant, "told": told,
            "evidence": self.state.broken});
        records::tell(&self.house, "broken", data);
    }

    /// The end of a sentence about a rollback.
    pub(super) fn breach_told(&self) -> String {
        let breach = self.decided.record.breach;
        let told = breach.map(|(invariant, tally)| counted(invariant, tally)).unwrap_or_default();
        format!("since it broke what the one before it kept: {told}")
    }
}

fn counted(invariant: Invariant, tally: Tally) -> String {
    format!("{} ({} of the last {} times)", invariant.broken(), tally.broken, tally.kept + tally.broken)
}
