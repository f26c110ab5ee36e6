//! Progress of a post: the fate of each part, on disk before the part is sent and after.
//!
//! Invariant: a part that a killed broker may have sent is found as `Sent`, never as `Waits`.

use super::kept::folder;
use crate::ground::files;
use crate::ground::refusal::Unfit;
use anyhow::{Context, Result, bail};
use house::House;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::PathBuf;

/// The same post within this time is the same post.
const DAY_MS: i64 = 86_400_000;
/// Most posts whose progress is kept.
const MOST_KEPT: usize = 1_000;
const SORTABLE: &[u8; 32] = b"234567abcdefghijklmnopqrstuvwxyz";

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Fate {
    #[default]
    Waits,
    /// It was begun to be sent, and nobody knows whether it is out.
    Sent,
    Out(Out),
}

/// A part that is out: its name there, and on Bluesky the digest of its record.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Out {
    pub id: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub cid: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Progress {
    pub at_ms: i64,
    /// Makes the keys of its records unlike those of other clients.
    clock: u16,
    pub parts: Vec<Fate>,
}

impl Progress {
    fn new(now_ms: i64, parts: usize) -> Self {
        let mut clock = [0; 2];
        // Without random bytes the microseconds alone tell keys apart.
        let _ = ring::rand::SecureRandom::fill(&ring::rand::SystemRandom::new(), &mut clock);
        Self { at_ms: now_ms, clock: u16::from_le_bytes(clock) % 1_024, parts: vec![Fate::Waits; parts] }
    }

    /// Reads what became of the post of this digest; a fresh one where it was never begun, or was out a day ago.
    pub fn of(house: &House, digest: &str, now_ms: i64, parts: usize) -> Result<Self> {
        let bytes = files::read_small(&place(house, digest))?;
        let Some(bytes) = bytes else { return Ok(Self::new(now_ms, parts)) };
        let read: Self = serde_json::from_slice(&bytes).context("the progress of a post cannot be read")?;
        if read.parts.len() != parts {
            bail!("the progress of a post is that of another");
        }
        Ok(if read.is_over(now_ms) { Self::new(now_ms, parts) } else { read })
    }

    fn is_over(&self, now_ms: i64) -> bool {
        self.left() == 0 && now_ms.saturating_sub(self.at_ms) > DAY_MS
    }

    pub fn set(&mut self, house: &House, digest: &str, part: usize, fate: Fate) -> Result<(), Unfit> {
        if let Some(held) = self.parts.get_mut(part) {
            *held = fate;
        }
        let write = || {
            prune(house, self.at_ms)?;
            files::replace_secret(&place(house, digest), &serde_json::to_vec(self)?)
        };
        write().map_err(|error| {
            tracing::error!("the progress of a post: {error:#}");
            Unfit::new(
                "its progress could not be written down",
                "is the disk full? the owner has to look at it",
            )
        })
    }

    /// Number of parts that are not known to be out.
    pub fn left(&self) -> usize {
        self.parts.iter().filter(|fate| !matches!(fate, Fate::Out(_))).count()
    }

    /// The first part whose fate is unknown.
    pub fn unknown(&self) -> Option<usize> {
        self.parts.iter().position(|fate| *fate == Fate::Sent)
    }

    /// The parts that are out.
    pub fn out(&self) -> Vec<Out> {
        let out = |fate: &Fate| if let Fate::Out(out) = fate { Some(out.clone()) } else { None };
        self.parts.iter().filter_map(out).collect()
    }

    /// The key of a part's record, a TID (atproto.com, "Record keys"): it is the same however often it is sent.
    pub fn key(&self, part: usize) -> String {
        let micros = u64::try_from(self.at_ms * 1_000).unwrap_or_default() + part as u64;
        let number = (micros & ((1 << 53) - 1)) << 10 | u64::from(self.clock);
        let sign = |place: u64| SORTABLE.get((number >> (5 * place) & 31) as usize).copied().unwrap_or(b'2');
        (0..13).rev().map(|place| char::from(sign(place))).collect()
    }

    /// The time a part says it was made at.
    pub fn made_at(&self, part: usize) -> String {
        let at = Timestamp::from_millisecond(self.at_ms + part as i64).unwrap_or_default();
        at.strftime("%Y-%m-%dT%H:%M:%S.%3fZ").to_string()
    }
}

fn place(house: &House, digest: &str) -> PathBuf {
    folder(house).join(format!("{digest}.json"))
}

/// Removes posts that are out since a day; those that are not stay, so that none begins anew.
fn prune(house: &House, now_ms: i64) -> Result<()> {
    fs::create_dir_all(folder(house))?;
    let mut kept = 0;
    for entry in fs::read_dir(folder(house))?.flatten() {
        let path = entry.path();
        if path.extension().is_none_or(|ending| ending != "json") {
            continue;
        }
        let bytes = files::read_small(&path).ok().flatten().unwrap_or_default();
        let read = serde_json::from_slice::<Progress>(&bytes);
        if !(read.is_ok_and(|read| read.is_over(now_ms)) && fs::remove_file(&path).is_ok()) {
            kept += 1;
        }
    }
    if kept > MOST_KEPT {
        bail!("{MOST_KEPT} posts are under way already, in {}", folder(house).display());
    }
    Ok(())
}
