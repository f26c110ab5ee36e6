//! Taint: whether untrusted text was read recently, and which recipients are known.
//!
//! Invariant: a taint is on disk before the text is passed on. It outlasts the life that read the text, since memory
//! carries text from one life into the next.

use crate::ground::clock::Clock;
use crate::ground::files;
use crate::ground::refusal::Refusal;
use anyhow::{Context, Result};
use house::House;
use house::mutex::lock;
use house::printable::hex;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::{HashSet, VecDeque};
use std::sync::Mutex;

/// Seconds after the last untrusted text for which it may still influence the creature: about one wake.
pub const WINDOW_S: i64 = 900;
/// Seconds by which the time on disk is ahead, so that a busy reader writes it once a minute and not at every read.
const AHEAD_S: i64 = 60;
/// Most recipients remembered; beyond that the older half is forgotten, and counts as new again.
const MOST_RECIPIENTS: usize = 4_000;
/// Longest recipient stored as it is; a longer one is stored as its hash.
const LONGEST_RECIPIENT: usize = 120;

/// The file: the end of the taint, in seconds since 1970 UTC, and the life that read last.
#[derive(Clone, Copy, Default, Serialize, Deserialize)]
struct Written {
    life: u64,
    until_s: i64,
}

#[derive(Default)]
struct Known {
    set: HashSet<String>,
    /// Oldest first.
    order: VecDeque<String>,
}

#[derive(Serialize, Deserialize)]
struct Line {
    at: String,
    recipient: String,
}

pub struct Taint {
    house: House,
    clock: Clock,
    /// The end of the taint, and the end that is on disk.
    until: Mutex<(i64, Written)>,
    known: Mutex<Known>,
}

impl Taint {
    /// Reads the state of a former broker; an unreadable file counts as tainted, and as knowing no recipients.
    pub fn open(house: &House, clock: Clock) -> Self {
        let now = clock.now().as_second();
        let written = match files::read_small(&house.taint()) {
            Ok(None) => Written::default(),
            Ok(Some(bytes)) => {
                serde_json::from_slice(&bytes).unwrap_or(Written { life: 0, until_s: now + WINDOW_S })
            }
            Err(error) => {
                tracing::warn!("counted as tainted: {error:#}");
                Written { life: 0, until_s: now + WINDOW_S }
            }
        };
        let taint = Self {
            house: house.clone(),
            clock,
            until: Mutex::new((written.until_s, written)),
            known: Mutex::default(),
        };
        taint.recall();
        taint
    }

    /// Notes that `life` is about to read untrusted text; a failure to write this is logged.
    pub fn read_untrusted(&self, life: u64) {
        let _ = self.try_read_untrusted(life);
    }

    /// As `read_untrusted`, for callers that can still withhold the text: on an error a restart would forget the
    /// taint.
    pub fn try_read_untrusted(&self, life: u64) -> Result<(), Refusal> {
        self.write(life).map_err(|error| {
            tracing::error!("{error:#}");
            let hint = "the owner has to mend it: see the broker's log";
            Refusal::new(503, "ledger_closed", "the broker cannot write down what is read", hint)
        })
    }

    fn write(&self, life: u64) -> Result<()> {
        let until_s = self.clock.now().as_second() + WINDOW_S;
        let mut held = lock(&self.until);
        held.0 = until_s;
        if held.1.life == life && (until_s..=until_s + AHEAD_S).contains(&held.1.until_s) {
            return Ok(());
        }
        let written = Written { life, until_s: until_s + AHEAD_S };
        files::replace(&self.house.taint(), &serde_json::to_vec(&written)?)?;
        held.1 = written;
        Ok(())
    }

    /// Whether untrusted text was read within the window, by whichever life.
    pub fn is_tainted(&self, _life: u64) -> bool {
        let now = self.clock.now().as_second();
        let mut held = lock(&self.until);
        // If the clock was set back, the window must not become longer.
        held.0 = held.0.min(now + WINDOW_S + AHEAD_S);
        now < held.0
    }

    /// Whether nothing was ever sent to this recipient with permission.
    pub fn is_new(&self, recipient: &str) -> bool {
        !lock(&self.known).set.contains(&name(recipient))
    }

    /// Remembers a recipient, also after a restart.
    pub fn know(&self, recipient: &str) -> Result<()> {
        let recipient = name(recipient);
        let mut known = lock(&self.known);
        if known.set.contains(&recipient) {
            return Ok(());
        }
        let line = |recipient: &String| Line { at: self.clock.stamp(), recipient: recipient.clone() };
        if known.order.len() >= MOST_RECIPIENTS {
            let kept = known.order.split_off(MOST_RECIPIENTS / 2);
            let lines = files::in_lines(kept.iter().map(line))?;
            files::replace(&self.house.recipients(), format!("{lines}\n").as_bytes())?;
            known.set = kept.iter().cloned().collect();
            known.order = kept;
        }
        files::append_line(&self.house.recipients(), &files::in_lines([line(&recipient)])?)
            .context("failed to remember a recipient")?;
        known.set.insert(recipient.clone());
        known.order.push_back(recipient);
        Ok(())
    }

    fn recall(&self) {
        let lines: Vec<Line> = files::read_lines(&self.house.recipients()).unwrap_or_else(|error| {
            tracing::warn!("no recipient counts as known: {error:#}");
            Vec::new()
        });
        let mut known = lock(&self.known);
        for Line { recipient, .. } in lines {
            if known.set.insert(recipient.clone()) {
                known.order.push_back(recipient);
            }
        }
    }
}

fn name(recipient: &str) -> String {
    let recipient = recipient.trim();
    if recipient.len() <= LONGEST_RECIPIENT {
        return recipient.to_owned();
    }
    let hash = Sha256::digest(recipient.as_bytes());
    format!("sha256:{}", hex(&hash))
}
