//! The journal of what was sent: a synced line before each step, so that a kill at any point leaves no doubt about a nonce.
//!
//! Invariant: a nonce is reserved on disk before anything is signed with it, and what was signed is on disk before it is
//! sent.

use crate::files;
use alloy_primitives::U256;
use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

pub const FILE: &str = "sent.jsonl";
/// Most transfers that are over and kept in the file.
const MOST_OVER: usize = 2_000;

/// A step of a transfer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "step", rename_all = "lowercase")]
pub enum Step {
    /// The nonce is this transfer's.
    Reserved { at_s: i64, to: String, amount: String, symbol: String, max_fee: String },
    /// Signed; its most of the coin, gas included, and its cap for a unit of gas, in the coin's smallest unit.
    Signed { hash: String, raw: String, most: U256, per_gas: u64 },
    /// The node has it.
    Sent,
    /// It is in a block.
    Mined { succeeded: bool, block: String, fee: String },
    /// The node refused it: it was never sent on, and its nonce is free.
    Refused { why: String },
    /// Another transaction has its nonce, or nothing was ever signed with it: it never happens.
    Void { why: String },
}

#[derive(Serialize, Deserialize)]
struct Line {
    number: u64,
    nonce: u64,
    #[serde(flatten)]
    step: Step,
}

/// A transfer as its steps leave it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Kept {
    pub number: u64,
    pub nonce: u64,
    pub steps: Vec<Step>,
}

impl Kept {
    /// Whether it may still happen.
    pub fn is_open(&self) -> bool {
        !matches!(
            self.steps.last(),
            None | Some(Step::Mined { .. } | Step::Refused { .. } | Step::Void { .. })
        )
    }

    /// Hash, signed bytes in hexadecimal, the most it takes, and its cap for a unit of gas; `None` before it is signed.
    pub fn signed(&self) -> Option<(&str, &str, U256, u64)> {
        self.steps.iter().find_map(|step| match step {
            Step::Signed { hash, raw, most, per_gas } => Some((hash.as_str(), raw.as_str(), *most, *per_gas)),
            Step::Reserved { .. }
            | Step::Sent
            | Step::Mined { .. }
            | Step::Refused { .. }
            | Step::Void { .. } => None,
        })
    }

    /// Whether the node is known to have had it.
    pub fn is_sent(&self) -> bool {
        self.steps.contains(&Step::Sent)
    }

    pub fn at_s(&self) -> i64 {
        self.steps
            .iter()
            .find_map(|step| if let Step::Reserved { at_s, .. } = step { Some(*at_s) } else { None })
            .unwrap_or(0)
    }

    fn lines(&self) -> Vec<Line> {
        let line = |step: &Step| Line { number: self.number, nonce: self.nonce, step: step.clone() };
        self.steps.iter().map(line).collect()
    }
}

pub struct Journal {
    path: PathBuf,
    file: File,
    kept: BTreeMap<u64, Kept>,
    /// Reason why nothing more may be written: a line may be torn in the middle of the file.
    broken: Option<String>,
}

impl Journal {
    /// Reads what was kept; takes off a torn last line, voids what was reserved and never signed, and forgets the oldest that
    /// are over.
    pub fn open(home: &Path) -> Result<Self> {
        let path = home.join(FILE);
        let text = files::text(&path)?.unwrap_or_default();
        let whole = text.rfind('\n').map_or("", |at| text.get(..=at).unwrap_or(""));
        let mut kept: BTreeMap<u64, Kept> = BTreeMap::new();
        for (at, line) in whole.lines().enumerate() {
            let line: Line = serde_json::from_str(line)
                .with_context(|| format!("line {} of {} is damaged", at + 1, path.display()))?;
            let one = kept.entry(line.number).or_insert(Kept {
                number: line.number,
                nonce: line.nonce,
                steps: vec![],
            });
            if one.nonce != line.nonce {
                bail!("line {} of {} has another nonce than the one before", at + 1, path.display());
            }
            one.steps.push(line.step);
        }
        for one in kept.values_mut().filter(|one| one.is_open() && one.signed().is_none()) {
            one.steps.push(Step::Void { why: "it was never signed".to_owned() });
        }
        let over: Vec<u64> = kept.values().filter(|one| !one.is_open()).map(|one| one.number).collect();
        for number in over.iter().take(over.len().saturating_sub(MOST_OVER)) {
            kept.remove(number);
        }
        let lines: Result<Vec<String>, _> =
            kept.values().flat_map(Kept::lines).map(|line| serde_json::to_string(&line)).collect();
        let lines: String = lines?.into_iter().map(|line| line + "\n").collect();
        if lines != text {
            files::replace(&path, &lines, false)?;
        }
        Ok(Self { file: files::appended(&path)?, path, kept, broken: None })
    }

    /// Begins a transfer: its nonce is reserved when this returns.
    pub fn reserve(&mut self, nonce: u64, step: Step) -> Result<u64> {
        let number = self.kept.keys().next_back().map_or(1, |last| last + 1);
        self.write(number, nonce, step)?;
        Ok(number)
    }

    /// Adds a step to a transfer, on disk.
    pub fn step(&mut self, number: u64, step: Step) -> Result<()> {
        let nonce = self.kept.get(&number).map(|one| one.nonce).context("there is no such transfer")?;
        self.write(number, nonce, step)
    }

    fn write(&mut self, number: u64, nonce: u64, step: Step) -> Result<()> {
        if let Some(why) = &self.broken {
            bail!(
                "{} cannot be written since {why}; it goes on when the wallet is started anew",
                self.path.display()
            );
        }
        let line = serde_json::to_string(&Line { number, nonce, step: step.clone() })? + "\n";
        let length = self.file.metadata()?.len();
        let written = self.file.write_all(line.as_bytes()).and_then(|()| self.file.sync_data());
        if let Err(error) = written {
            if self.file.set_len(length).and_then(|()| self.file.sync_data()).is_err() {
                self.broken = Some(error.to_string());
            }
            return Err(error).with_context(|| format!("{} cannot be written", self.path.display()));
        }
        let one = self.kept.entry(number).or_insert(Kept { number, nonce, steps: vec![] });
        one.steps.push(step);
        Ok(())
    }

    pub fn get(&self, number: u64) -> Option<&Kept> {
        self.kept.get(&number)
    }

    /// All transfers that are kept, the newest first.
    pub fn newest(&self) -> impl Iterator<Item = &Kept> {
        self.kept.values().rev()
    }

    /// Those that may still happen, the oldest first.
    pub fn open_ones(&self) -> Vec<Kept> {
        self.kept.values().filter(|one| one.is_open()).cloned().collect()
    }

    /// The first nonce that no transfer of ours may still use, not below what the chain counts, nor below what the node
    /// knows to wait beyond that.
    pub fn free_nonce(&self, latest: u64, pending: u64) -> u64 {
        let taken: Vec<u64> = self.kept.values().filter(|one| one.is_open()).map(|one| one.nonce).collect();
        let mut nonce = latest;
        while taken.contains(&nonce) {
            nonce += 1;
        }
        nonce.max(pending)
    }
}
