//! The anchor: the ledger's length, last hash and sums, by which a shorter or changed ledger is noticed.

use super::chain::End;
use super::sums::Sums;
use crate::ground::files;
use anyhow::{Context, Result, bail};
use house::House;
use serde::{Deserialize, Serialize};

const VERSION: u32 = 1;

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Anchor {
    pub version: u32,
    pub at: String,
    /// The last line the anchor knows.
    pub end: End,
    /// Length of `ledger.jsonl` up to that line.
    pub bytes: u64,
    /// Name in `.self` that `ledger.jsonl` is being moved to, during a rotation.
    pub rotating: Option<String>,
    pub sums: Sums,
}

impl Anchor {
    pub fn read(house: &House) -> Result<Option<Self>> {
        let path = house.anchor();
        let Some(bytes) = files::read_small(&path)? else { return Ok(None) };
        let anchor: Self =
            serde_json::from_slice(&bytes).with_context(|| format!("failed to read {}", path.display()))?;
        if anchor.version != VERSION {
            bail!("{} is of version {}, not {VERSION}", path.display(), anchor.version);
        }
        Ok(Some(anchor))
    }

    pub fn write(&self, house: &House) -> Result<()> {
        let written = Self { version: VERSION, ..self.clone() };
        files::replace(&house.anchor(), serde_json::to_string(&written)?.as_bytes())
    }
}
