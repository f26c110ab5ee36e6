//! Reads the guardian's `.self/guardian.json`: this life's standing, and what came before it.

use ground::files;
use ground::text::{first, last};
use serde::Deserialize;
use serde_json::{Value, json};
use std::io;
use std::path::Path;

/// Bytes of guardian.json that are read; eight deaths with their logs fit many times.
const MOST_BYTES: u64 = 1024 * 1024;

/// Characters of a cause or a log in a told sentence.
const MOST_CHARS: usize = 600;

/// Characters of a commit that are told.
const SHORT: usize = 7;

/// The guardian's word. Missing keys are their defaults: an older guardian may not write them.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Standing {
    pub life: u64,
    pub commit: String,
    pub blessed: bool,
    /// The tests that take long have not passed beside this life yet: until then it acts on nothing outside.
    pub unproven: bool,
    pub born: Option<Born>,
    pub ends: Vec<End>,
    pub falls: Vec<Fall>,
    pub broker: BrokerStanding,
}

/// State of the broker, which may still be built while the first life lives.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct BrokerStanding {
    pub running: Option<bool>,
    pub restarts: u64,
}

/// The rebirth this life came of.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Born {
    pub summary: String,
}

/// End of a life that nobody asked for.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct End {
    pub life: u64,
    pub at: String,
    pub ended: String,
    pub cause: String,
    pub blame: String,
    pub commit: String,
    pub log_tail: String,
}

/// Fall: the guardian put `creature/` back.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Fall {
    pub life: u64,
    pub at: String,
    pub from_commit: String,
    pub to_commit: String,
    pub deaths: u64,
    pub cause: String,
    pub fallen_ref: Option<String>,
    pub rescued_ref: Option<String>,
    /// The guardian's own sentence.
    pub told: String,
    /// The end of what the tests said, where they were the cause of the fall.
    pub evidence: String,
}

impl Standing {
    /// Reads it; none when there is no guardian, an error sentence when the file is garbage.
    pub fn read(path: &Path) -> Result<Option<Self>, String> {
        let bytes = match files::head(path, 0, MOST_BYTES) {
            Ok((bytes, _)) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(format!("guardian.json cannot be read: {error}")),
        };
        let said = serde_json::from_slice(&bytes).and_then(|mut said: Value| {
            // What is not there while no creature or guardian runs is written as null.
            if let Some(fields) = said.as_object_mut() {
                fields.retain(|_, value| !value.is_null());
            }
            serde_json::from_value(said)
        });
        said.map_err(|error| format!("guardian.json is garbage: {error}"))
    }

    /// Whether the broker has not begun yet: it may still be built, and who asked it now would wait in vain.
    pub fn is_before_broker(path: &Path) -> bool {
        Self::read(path)
            .ok()
            .flatten()
            .is_some_and(|standing| standing.broker.running == Some(false) && standing.broker.restarts == 0)
    }
}

impl End {
    /// Returns its key in `Cursors::told`.
    pub fn key(&self) -> String {
        format!("end {} {}", self.life, self.at)
    }

    /// Returns a sentence for the next thought.
    pub fn told(&self) -> String {
        let mut told = format!("Life {} ended: {}", self.life, named(&self.ended, "it died"));
        told += &format!(" ({})", named(&first(&self.cause, MOST_CHARS), "cause unknown"));
        if !self.blame.is_empty() {
            told += &format!("; the guardian blames {}", self.blame);
        }
        if !self.commit.is_empty() {
            told += &format!("; it ran commit {}", first(&self.commit, SHORT));
        }
        if !self.log_tail.trim().is_empty() {
            told += &format!(". The end of its log: {}", last(self.log_tail.trim(), MOST_CHARS));
        }
        told
    }

    /// Returns the `death` record.
    pub fn record(&self) -> Value {
        json!({
            "life": self.life, "ended": self.ended, "cause": first(&self.cause, MOST_CHARS), "blame": self.blame,
            "commit": self.commit, "told": self.told(),
        })
    }
}

impl Fall {
    /// Returns its key in `Cursors::told`.
    pub fn key(&self) -> String {
        format!("fall {} {}", self.life, self.at)
    }

    /// Says what was undone, why, and where the work is kept.
    pub fn told(&self) -> String {
        let commits = [&self.from_commit, &self.to_commit].map(|commit| first(commit, SHORT));
        let [from, to] = commits.each_ref().map(|commit| named(commit, "unknown"));
        let mut told = match self.told.split_once(" since its tests ") {
            Some((_, why)) => format!(
                "The guardian put creature/ back from commit {from} to {to}, since the tests beside its first life {}",
                first(why, MOST_CHARS)
            ),
            None => format!(
                "After {} death(s) ({}) the guardian put creature/ back from commit {from} to {to}",
                self.deaths,
                named(&first(&self.cause, MOST_CHARS), "cause unknown"),
            ),
        };
        if let Some(kept) = self.fallen_ref.as_deref() {
            told += &format!(". The undone commits are kept at {kept}");
        }
        if let Some(kept) = self.rescued_ref.as_deref() {
            told += &format!(". What was not yet committed is kept at {kept}");
        }
        told
    }

    /// Returns the `death` record of a fall.
    pub fn record(&self) -> Value {
        json!({
            "life": self.life, "ended": "put back", "cause": first(&self.cause, MOST_CHARS), "blame": "code",
            "commit": self.from_commit, "told": self.told(), "from_commit": self.from_commit,
            "to_commit": self.to_commit, "deaths": self.deaths, "fallen_ref": self.fallen_ref,
            "rescued_ref": self.rescued_ref,
        })
    }
}

fn named<'a>(text: &'a str, otherwise: &'a str) -> &'a str {
    if text.trim().is_empty() { otherwise } else { text.trim() }
}
