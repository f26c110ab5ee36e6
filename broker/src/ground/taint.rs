//! Taint: whether untrusted text was read a short while ago, and which recipients are known already.
//!
//! Invariant: a taint is on the disk before the text it stands for goes back; death does not wash it off, since a
//! creature's memory carries text from one life into the next.

use crate::ground::clock::Clock;
use crate::ground::files;
use crate::ground::lock::lock;
use crate::ground::text::hex;
use anyhow::{Context, Result};
use house::House;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::{HashSet, VecDeque};
use std::sync::Mutex;

/// How long what was read may still be at work, in seconds after the last of it: one wake, as seen from here.
pub const WINDOW_S: i64 = 900;
/// Seconds by which the file runs ahead, so that a busy reader writes it once a minute and not at every read.
const AHEAD_S: i64 = 60;
/// Recipients remembered; past them the older half is forgotten and asked about again.
const MOST_RECIPIENTS: usize = 4_000;
/// Bytes of a recipient kept as it is; a longer one is kept as its hash.
const LONGEST_RECIPIENT: usize = 120;

/// The file: until when (seconds since 1970, UTC), and who read last.
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
    /// Until when, and what of it is on the disk.
    until: Mutex<(i64, Written)>,
    known: Mutex<Known>,
}

impl Taint {
    /// Reads what was left by the broker before; what cannot be read counts as just tainted, and as not known.
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

    /// Notes that `life` is about to be shown text of others; a failure to write it down is logged.
    pub fn read_untrusted(&self, life: u64) {
        if let Err(error) = self.try_read_untrusted(life) {
            tracing::error!("{error:#}");
        }
    }

    /// The same, for those who can still hold the text back: an error means that a restart would forget it.
    pub fn try_read_untrusted(&self, life: u64) -> Result<()> {
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

    /// True within the window after the last untrusted text, whichever life read it.
    pub fn is_tainted(&self, _life: u64) -> bool {
        let now = self.clock.now().as_second();
        let mut held = lock(&self.until);
        // A clock that was set back must not stretch a window for ever.
        held.0 = held.0.min(now + WINDOW_S + AHEAD_S);
        now < held.0
    }

    /// True for a recipient nobody has sent anything to with leave.
    pub fn is_new(&self, recipient: &str) -> bool {
        !lock(&self.known).set.contains(&name(recipient))
    }

    /// Remembers a recipient, over restarts too.
    pub fn know(&self, recipient: &str) -> Result<()> {
        let recipient = name(recipient);
        let mut known = lock(&self.known);
        if known.set.contains(&recipient) {
            return Ok(());
        }
        let line = |recipient: &str| {
            serde_json::to_string(&Line { at: self.clock.stamp(), recipient: recipient.to_owned() })
        };
        if known.order.len() >= MOST_RECIPIENTS {
            let kept = known.order.split_off(MOST_RECIPIENTS / 2);
            let lines: Result<Vec<String>, _> = kept.iter().map(|recipient| line(recipient)).collect();
            files::replace(&self.house.recipients(), format!("{}\n", lines?.join("\n")).as_bytes())?;
            known.set = kept.iter().cloned().collect();
            known.order = kept;
        }
        files::append_line(&self.house.recipients(), &line(&recipient)?)
            .context("failed to remember a recipient")?;
        known.set.insert(recipient.clone());
        known.order.push_back(recipient);
        Ok(())
    }

    fn recall(&self) {
        let bytes = files::read_small(&self.house.recipients()).unwrap_or_else(|error| {
            tracing::warn!("no recipient counts as known: {error:#}");
            None
        });
        let mut known = lock(&self.known);
        for line in bytes.unwrap_or_default().split(|byte| *byte == b'\n') {
            if let Ok(line) = serde_json::from_slice::<Line>(line)
                && known.set.insert(line.recipient.clone())
            {
                known.order.push_back(line.recipient);
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
