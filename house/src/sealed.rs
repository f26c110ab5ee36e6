//! The guardian's saved state as a sealed document, and what others than the guardian read in it.

pub use ground::checksum::{checksum, checksum_of};

use crate::{House, files};
use anyhow::{Context, Result};
use serde::Deserialize;
use serde_json::json;

/// No house has had so many lives: a larger number in a log's name is not the guardian's, and could overflow.
const MOST_LIVES: u64 = 1 << 40;

#[derive(Deserialize)]
struct Sealed {
    version: u32,
    checksum: String,
    /// The state as text: the checksum is over these bytes, not over a rendering of them.
    body: String,
}

/// A state as it is saved.
pub fn sealed(body: &str) -> String {
    json!({"version": 1, "checksum": checksum(body.as_bytes()), "body": body}).to_string()
}

/// The text of the saved state, if there is one; an error where it is not as it was saved.
pub fn body(house: &House) -> Result<Option<String>> {
    let Some(bytes) = files::read_small(&house.state())? else { return Ok(None) };
    let sealed: Sealed = serde_json::from_slice(&bytes).context("not a sealed state")?;
    anyhow::ensure!(sealed.version == 1, "it is of version {}, this guardian reads 1", sealed.version);
    anyhow::ensure!(sealed.checksum == checksum(sealed.body.as_bytes()), "its checksum does not match");
    Ok(Some(sealed.body))
}

/// The number of the newest life log: after a lost state, numbering goes on from it.
pub fn newest_life(house: &House) -> u64 {
    let numbers = std::fs::read_dir(house.logs()).into_iter().flatten().flatten().filter_map(|entry| {
        entry.file_name().to_str()?.strip_prefix("life-")?.strip_suffix(".log")?.parse().ok()
    });
    numbers.filter(|number| *number < MOST_LIVES).max().unwrap_or(0)
}

/// How the last guardian left `creature/`: it says whose the edits are that lie there now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Left {
    /// No guardian ran here yet.
    Never,
    /// By a crash.
    Unknown,
    /// In order, with edits of this fingerprint; empty: none.
    With(String),
}

impl Left {
    pub fn read(house: &House) -> Result<Self> {
        #[derive(Deserialize)]
        struct Saved {
            left: Option<String>,
        }
        let Some(body) = body(house)? else { return Ok(Self::unsaved(house)) };
        let saved: Saved = serde_json::from_str(&body).context("its body is not a state")?;
        Ok(saved.left.map_or(Self::Unknown, Self::With))
    }

    /// How it was left as far as other files tell.
    pub fn unsaved(house: &House) -> Self {
        if newest_life(house) > 0 { Self::Unknown } else { Self::Never }
    }
}
