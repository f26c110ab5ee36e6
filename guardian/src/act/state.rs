//! The guardian's state: saved whole, with a checksum, before actions based on it.
//!
//! Invariant: an unreadable state is moved aside and rebuilt from refs and logs; it never stops the guardian.

use crate::decide::vocabulary::{Cause, Record};
use crate::limits::DOCUMENT_BYTES;
use anyhow::{Context, Result};
use house::clock::{self, Anchor};
use house::records::text;
use house::sealed::{self, Left};
use house::{House, bounds, files};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// How many ends, rollbacks and answers are kept for the creature and for readers.
const TOLD: usize = 8;

/// Trees remembered as made by the creature; a ladder has fewer rungs.
const MOST_SELVES: usize = 64;
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct State {
    pub anchor: Anchor,
    pub record: Record,
    /// Number of the newest life.
    pub life: u64,
    /// Commit and creature tree of the newest life.
    pub commit: String,
    pub tree: String,
    /// Summary of the self-edit that made the newest commit.
    pub born: Option<String>,
    /// Creature trees made by rebirths, the newest last.
    pub selves: Vec<String>,
    /// Creature tree made by a rebirth that has not yet passed the tests beside its first life.
    pub unexamined: Option<String>,
    /// How its tests failed last, kept until a rollback reports it.
    pub exam: Shortfall,
    /// Latest evidence of a broken invariant, a line each, kept until a rollback reports it.
    pub broken: String,
    /// Newest rescue ref, kept until a rollback reports it.
    pub rescued: Option<String>,
    /// The rollback under way.
    pub falling: Option<Falling>,
    /// The commit the owner asked to be put back to.
    pub rollback_to: Option<String>,
    /// The commit the index still matches, when the guardian's own commit could not update it.
    pub index_behind: Option<String>,
    /// A tree whose life ended together with its guardian: the try it spent may be nobody's fault.
    pub lost_tree: String,
    /// Id of the last request carried out.
    pub request: String,
    /// Id of the owner's last order, what it is while under way, and its outcome.
    pub order: String,
    pub order_under_way: String,
    pub order_outcome: Option<Outcome>,
    /// Fingerprint of the edits in `creature/` when the guardian was stopped in order (empty: none); `None` after a
    /// crash.
    pub left: Option<String>,
    pub ends: Vec<Value>,
    pub falls: Vec<Value>,
    pub answers: Vec<Value>,
    /// Packages fetched before the first build of all, for the ledger's first line: empty where that failed, none where
    /// nothing was tried.
    pub fetched: Option<String>,
}

/// The outcome of an owner's order.
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
    /// The end of a sentence that begins "since its tests".
    pub why: String,
    /// The end of the tests' log.
    pub evidence: String,
}

/// A rollback under way: a guardian that finds it completes it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Falling {
    pub cause: Cause,
    pub from_commit: String,
    pub from_tree: String,
    pub to_commit: String,
    pub deaths: usize,
    /// Why the tree falls, for people, where the cause alone does not say it.
    #[serde(default)]
    pub weighed: String,
    /// Evidence, verbatim.
    #[serde(default)]
    pub evidence: String,
    /// Rungs that could not be restored, and why the last one could not.
    #[serde(default)]
    pub failed: Vec<String>,
    #[serde(default)]
    pub hindrance: String,
    /// The ref or path under which unfinished work was kept, the first time.
    #[serde(default)]
    pub rescued: Option<String>,
    /// Whether the rollback is done and reported; only the policy has not heard of it.
    #[serde(default)]
    pub told: bool,
}

impl Falling {
    /// The end of the commit message, after the commit that the creature was put back to.
    pub fn why(&self) -> String {
        match self.cause {
            Cause::Owner => "as the owner asked".into(),
            Cause::KnownBad => "since that tree fell before".into(),
            Cause::DoesNotBuild => "since it did not build".into(),
            Cause::Environment if self.weighed.is_empty() => "until it can be built".into(),
            Cause::Acquitted => "since what took its place died as well: it was not its fault".into(),
            Cause::Environment | Cause::LateDeaths | Cause::TestsFailed | Cause::Conduct => {
                self.weighed.clone()
            }
            Cause::LoopOfLoops if !self.weighed.is_empty() => self.weighed.clone(),
            Cause::TriesSpent if self.deaths == 0 => "since no life of it came to be trusted".into(),
            Cause::TriesSpent | Cause::CrashLoop | Cause::LoopOfLoops => {
                format!("after {} deaths", self.deaths)
            }
        }
    }
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

    /// The state that can be rebuilt from other files.
    pub fn rebuilt(house: &House) -> Self {
        Self { life: sealed::newest_life(house), ..Self::default() }
    }

    /// The saved state, if there is one.
    pub fn read(house: &House) -> Result<Option<Self>> {
        let read = |body: String| serde_json::from_str(&body).context("its body is not a state");
        sealed::body(house)?.map(read).transpose()
    }

    /// How `creature/` was left when this was saved.
    pub fn left(&self) -> Left {
        match &self.left {
            Some(edits) => Left::With(edits.clone()),
            None if *self == Self::default() => Left::Never,
            None => Left::Unknown,
        }
    }

    pub fn save(&self, house: &House) -> Result<()> {
        let state = serde_json::to_value(self).context("failed to write the guardian's state as text")?;
        // A document beyond the bound could not be read back, and all of it would be lost.
        let text = bounds::fitted(state, DOCUMENT_BYTES, |state| sealed::sealed(&state.to_string()));
        files::replace(&house.state(), text.as_bytes())
    }

    /// Notes the outcome of the order under way.
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

    /// Remembers that a rebirth made this creature tree.
    pub fn made_self(&mut self, tree: String) {
        self.selves.retain(|known| *known != tree);
        self.selves.push(tree);
        let excess = self.selves.len().saturating_sub(MOST_SELVES);
        self.selves.drain(..excess);
    }

    pub fn tell_answer(&mut self, answer: Value) {
        push(&mut self.answers, answer);
    }
}

fn push(list: &mut Vec<Value>, value: Value) {
    list.push(value);
    let excess = list.len().saturating_sub(TOLD);
    list.drain(..excess);
}
