//! What the guardian must not forget: saved whole, with a checksum, before anything is done by it.
//!
//! Invariant: a state that cannot be read is kept aside and rebuilt from refs and logs, never a reason to stop.

use crate::decide::vocabulary::{Cause, Record};
use crate::limits::DOCUMENT_BYTES;
use anyhow::{Context, Result};
use house::clock::{self, Anchor};
use house::records::text;
use house::{House, bounds, files};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

/// How many ends, falls and answers are told to the creature and to readers.
const TOLD: usize = 8;

/// No house has lived so often: a log with such a number is not one of ours, and counting on from it might overflow.
const MOST_LIVES: u64 = 1 << 40;

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct State {
    pub anchor: Anchor,
    pub record: Record,
    /// Number of the newest life.
    pub life: u64,
    /// Commit and creature tree the newest life runs.
    pub commit: String,
    pub tree: String,
    /// Summary of the self-edit the newest commit came of.
    pub born: Option<String>,
    /// The creature tree that a rebirth made and that has yet to pass the tests beside its first life.
    pub unexamined: Option<String>,
    /// What came of its tests last, until it is told with a fall.
    pub exam: Shortfall,
    /// Newest rescue ref, until it is told with a fall.
    pub rescued: Option<String>,
    /// A rollback under way.
    pub falling: Option<Falling>,
    /// What the owner asked to be put back to.
    pub rollback_to: Option<String>,
    /// The commit whose entries the index still has, when a commit of ours could not update it.
    pub index_behind: Option<String>,
    /// A tree of which a life ended together with its guardian: tries it spent so are nobody's fault for certain.
    pub lost_tree: String,
    /// Id of the last request carried out.
    pub request: String,
    /// Id of the owner's last order that was taken up, what it is while it is under way, and what came of it.
    pub order: String,
    pub order_under_way: String,
    pub order_outcome: Option<Outcome>,
    /// The guardian left in order, and this was dirty in `creature/` then (a fingerprint; empty if clean).
    pub left: Option<String>,
    pub ends: Vec<Value>,
    pub falls: Vec<Value>,
    pub answers: Vec<Value>,
}

/// What came of an order of the owner's.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    pub ok: bool,
    /// A sentence for people.
    pub told: String,
}

/// Why a tree did not pass its tests.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Shortfall {
    /// Goes on after *since its tests*.
    pub why: String,
    /// The end of their log.
    pub evidence: String,
}

/// A rollback once begun: redone from here by whoever finds it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Falling {
    pub cause: Cause,
    pub from_commit: String,
    pub from_tree: String,
    pub to_commit: String,
    pub to_tree: String,
    pub deaths: usize,
    /// Why it falls, for people, where the cause alone does not say it.
    #[serde(default)]
    pub weighed: String,
    /// What shows it, in its own words.
    #[serde(default)]
    pub evidence: String,
    /// Rungs it could not be put back to, and why the last of them not.
    #[serde(default)]
    pub failed: Vec<String>,
    #[serde(default)]
    pub hindrance: String,
    /// Where unfinished work went, the first time.
    #[serde(default)]
    pub rescued: Option<String>,
    /// It is done and told; only the policy has not heard of it yet.
    #[serde(default)]
    pub told: bool,
}

impl Falling {
    /// Ends the commit message that begins with where the creature was put back to.
    pub fn why(&self) -> String {
        match self.cause {
            Cause::Owner => "as the owner asked".into(),
            Cause::KnownBad => "since that tree fell before".into(),
            Cause::DoesNotBuild => "since it did not build".into(),
            Cause::Environment => "until it can be built".into(),
            Cause::Acquitted => "since what took its place died as well: it was not its fault".into(),
            Cause::LateDeaths | Cause::TestsFailed => self.weighed.clone(),
            Cause::TriesSpent if self.deaths == 0 => "since no life of it came to be trusted".into(),
            Cause::TriesSpent | Cause::CrashLoop | Cause::LoopOfLoops => {
                format!("after {} deaths", self.deaths)
            }
        }
    }
}

#[derive(Deserialize)]
struct Sealed {
    version: u32,
    checksum: String,
    /// The state as text, so that the checksum is of bytes and not of a rendering.
    body: String,
}

impl State {
    /// The saved state, and a line for people if it had to be rebuilt.
    pub fn load(house: &House) -> (Self, Option<String>) {
        let path = house.state();
        let problem = match Self::read(house) {
            Ok(state) => return (state.unwrap_or_else(|| Self::rebuilt(house)), None),
            Err(error) => error,
        };
        let aside = house.kept().join(format!("state-{}.json", clock::name()));
        let moved = std::fs::create_dir_all(house.kept()).and_then(|()| std::fs::rename(&path, &aside));
        let told = format!(
            "the guardian's state could not be read ({problem:#}); {} and what is needed is rebuilt from refs and logs",
            if moved.is_ok() {
                format!("it is kept as {}", aside.display())
            } else {
                "it stays where it is".into()
            }
        );
        (Self::rebuilt(house), Some(told))
    }

    /// What is known without a saved state.
    pub fn rebuilt(house: &House) -> Self {
        Self { life: newest_log(house), ..Self::default() }
    }

    /// The saved state as it lies there, if there is one.
    pub fn read(house: &House) -> Result<Option<Self>> {
        files::read_small(&house.state())?.map(|bytes| unseal(&bytes)).transpose()
    }

    pub fn save(&self, house: &House) -> Result<()> {
        let state = serde_json::to_value(self).context("failed to write the guardian's state as text")?;
        // What could not be read back would be lost whole.
        let text = bounds::fitted(state, DOCUMENT_BYTES, |state| {
            let body = state.to_string();
            json!({"version": 1, "checksum": checksum(body.as_bytes()), "body": body}).to_string()
        });
        files::replace(&house.state(), text.as_bytes())
    }

    /// The order under way is over.
    pub fn order_came_to(&mut self, ok: bool, told: impl Into<String>) {
        self.order_under_way.clear();
        self.order_outcome = Some(Outcome { ok, told: told.into() });
    }

    pub fn tell_end(&mut self, end: Value) {
        push(&mut self.ends, end);
    }

    pub fn tell_fall(&mut self, fall: Value) {
        if self.order_under_way == "rollback" && fall.get("cause") == Some(&json!(Cause::Owner)) {
            let told = text(&fall, "told").trim_start_matches("guardian: ");
            let kept = fall.get("rescued_ref").and_then(Value::as_str);
            let kept = kept.map(|name| format!("; unfinished edits are kept as {name}")).unwrap_or_default();
            self.order_came_to(true, format!("{told}{kept}"));
        }
        push(&mut self.falls, fall);
    }

    pub fn tell_answer(&mut self, answer: Value) {
        push(&mut self.answers, answer);
    }
}

/// SHA-256, hexadecimal.
pub fn checksum(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn unseal(bytes: &[u8]) -> Result<State> {
    let sealed: Sealed = serde_json::from_slice(bytes).context("not a sealed state")?;
    anyhow::ensure!(sealed.version == 1, "it is of version {}, this guardian reads 1", sealed.version);
    anyhow::ensure!(sealed.checksum == checksum(sealed.body.as_bytes()), "its checksum does not match");
    serde_json::from_str(&sealed.body).context("its body is not a state")
}

fn push(list: &mut Vec<Value>, value: Value) {
    list.push(value);
    let excess = list.len().saturating_sub(TOLD);
    list.drain(..excess);
}

/// Lives are numbered on from the newest log, so that no life is counted twice after a lost state.
fn newest_log(house: &House) -> u64 {
    let numbers = std::fs::read_dir(house.logs()).into_iter().flatten().flatten().filter_map(|entry| {
        entry.file_name().to_str()?.strip_prefix("life-")?.strip_suffix(".log")?.parse().ok()
    });
    numbers.filter(|number| *number < MOST_LIVES).max().unwrap_or(0)
}
