//! A measured row as it travels: samples of ours and of what they are held against; and what they come to.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// One comparison. The creature's bench prints these a line each; the guardian's makes them.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Row {
    pub what: String,
    /// How it is measured, in one sentence; rows of one `what` share it.
    pub method: String,
    pub unit: String,
    pub ours: Vec<f64>,
    /// What it is held against; empty for nothing.
    pub against: String,
    pub theirs: Vec<f64>,
    /// What the plan aims at, in words.
    pub aim: String,
}

impl Row {
    pub fn new(what: &str, unit: &str, ours: &[f64], method: &str) -> Self {
        let (what, unit, method) = (what.to_owned(), unit.to_owned(), method.to_owned());
        Self { what, method, unit, ours: ours.to_owned(), ..Self::default() }
    }

    /// The same measure held against something; no samples of it mean that it is not installed.
    pub fn against(&self, what: &str, theirs: &[f64]) -> Self {
        Self { against: what.to_owned(), theirs: theirs.to_owned(), ..self.clone() }
    }

    pub fn aim(mut self, aim: &str) -> Self {
        self.aim = aim.to_owned();
        self
    }

    /// Median of ours over median of theirs; none where there is nothing to divide by.
    pub fn ratio(&self) -> Option<f64> {
        let under = median(&self.theirs).filter(|under| *under > 0.0)?;
        Some(median(&self.ours)? / under)
    }

    pub fn figures(&self) -> Value {
        let figures =
            |samples: &[f64]| json!({"median": median(samples), "p90": high(samples), "n": samples.len()});
        json!({
            "what": self.what, "method": self.method, "unit": self.unit, "ours": figures(&self.ours),
            "against": self.against, "theirs": figures(&self.theirs), "ratio": self.ratio(), "aim": self.aim,
        })
    }
}

pub fn median(samples: &[f64]) -> Option<f64> {
    at(samples, 0.5)
}

pub fn high(samples: &[f64]) -> Option<f64> {
    at(samples, 0.9)
}

fn at(samples: &[f64], share: f64) -> Option<f64> {
    let mut sorted = samples.to_owned();
    sorted.sort_by(f64::total_cmp);
    sorted.get(((sorted.len() as f64 * share) as usize).min(sorted.len().saturating_sub(1))).copied()
}
