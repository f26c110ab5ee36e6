//! The owner's limits on what calls come to: a call is counted on disk before it leaves, and stays counted once it left.
//!
//! Invariant: where the sums cannot be read or written, nothing that has a limit leaves.

pub mod spent;

use crate::ground::files;
use anyhow::{Context, Result, bail};
use house::House;
use house::mutex::lock;
use spent::{Charge, Line, Moment, Over, Spent};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard};

/// Lines from which on the file is written anew with those that count; at least half of them are new by then.
const MOST_LINES: usize = 4_000;
const MOST_BYTES: u64 = 64 << 20;
const BOOT_ID: &str = "/proc/sys/kernel/random/boot_id";

/// Reason why a call that has a limit must not leave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Full {
    Over(Over),
    Closed(String),
}

pub struct Limits {
    path: PathBuf,
    now: Box<dyn Fn() -> Moment + Send + Sync>,
    held: Mutex<Held>,
}

#[derive(Default)]
struct Held {
    spent: Spent,
    /// Lines in the file; without end where its last is torn, so that it is written anew before another is added.
    lines: usize,
    /// Lines that counted when the file was last written anew.
    counted: usize,
    /// Reason why nothing can be counted.
    closed: Option<String>,
}

impl Limits {
    pub fn open(house: &House) -> Self {
        // Without a name of the boot each start of the broker is its own, so that no time between them is counted.
        let boot = files::system(BOOT_ID).ok().filter(|boot| !boot.trim().is_empty());
        let boot = boot.map_or_else(house::files::unused_name, |boot| boot.trim().to_owned());
        Self::by(house, move || Moment { boot: boot.clone(), boot_ms: house::clock::since_boot_ms() })
    }

    /// As `open`, by another clock.
    pub fn by(house: &House, now: impl Fn() -> Moment + Send + Sync + 'static) -> Self {
        let (path, now) = (house.spent(), Box::new(now));
        let held = match read(&path) {
            Ok((lines, torn)) => {
                let count = if torn { usize::MAX } else { lines.len() };
                Held { lines: count, spent: Spent::of(lines, &now()), ..Held::default() }
            }
            Err(error) => {
                let why = format!("{error:#}");
                tracing::warn!(
                    "nothing that has a limit leaves, for its sums cannot be read; where the file is moved away, all \
                     sums begin at nothing: {why}"
                );
                Held { closed: Some(why), ..Held::default() }
            }
        };
        Self { path, now, held: Mutex::new(held) }
    }

    /// Whether a call would fit now; it is not counted.
    pub fn look(&self, charges: &[Charge]) -> Result<(), Full> {
        if charges.is_empty() {
            return Ok(());
        }
        let mut held = self.held();
        match &held.closed {
            Some(why) => Err(Full::Closed(why.clone())),
            None => held.spent.fits(charges, &(self.now)()).map_err(Full::Over),
        }
    }

    /// Counts a call, on disk; returns its number.
    pub fn take(&self, charges: &[Charge]) -> Result<u64, Full> {
        let mut held = self.held();
        if let Some(why) = &held.closed {
            return Err(Full::Closed(why.clone()));
        }
        let line = held.spent.take(charges, &(self.now)()).map_err(Full::Over)?;
        let number = line.number;
        self.keep(&mut held, line).map_err(|error| Full::Closed(format!("{error:#}")))?;
        Ok(number)
    }

    /// Takes out a call that certainly never left.
    pub fn back(&self, number: u64) {
        let mut held = self.held();
        let line = held.spent.back(number, &(self.now)());
        if let Err(error) = self.keep(&mut held, line) {
            tracing::warn!("a call that never left stays counted: {error:#}");
        }
    }

    fn keep(&self, held: &mut Held, line: Line) -> Result<()> {
        if held.lines < MOST_LINES.max(2 * held.counted) {
            files::append_line(&self.path, &serde_json::to_string(&line)?)?;
            held.lines += 1;
            held.spent.apply(line);
            return Ok(());
        }
        let mut spent = held.spent.clone();
        spent.apply(line);
        let lines = spent.lines();
        files::replace(&self.path, format!("{}\n", files::in_lines(&lines)?).as_bytes())?;
        (held.spent, held.lines, held.counted) = (spent, lines.len(), lines.len());
        Ok(())
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        lock(&self.held)
    }
}

/// The lines of the file, and whether a torn one follows: its call never left. Any other that cannot be read may have been
/// one that did.
fn read(path: &Path) -> Result<(Vec<Line>, bool)> {
    let bytes = house::files::read_most(path, MOST_BYTES)?.unwrap_or_default();
    let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    let (kept, torn) = bytes.split_at(whole);
    let mut lines: Vec<Line> = Vec::new();
    for (at, line) in kept.split(|byte| *byte == b'\n').enumerate().filter(|(_, line)| !line.is_empty()) {
        let line = serde_json::from_slice(line);
        lines.push(line.with_context(|| format!("line {} of {} is damaged", at + 1, path.display()))?);
    }
    if lines.windows(2).any(|two| matches!(two, [one, next] if next.ran_ms < one.ran_ms)) {
        bail!("the lines of {} are not in the order of their time", path.display());
    }
    Ok((lines, !torn.is_empty()))
}
