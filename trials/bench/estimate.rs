//! How long is left of a run: by what each measure took on this machine when it was last measured, kept under target/.

use crate::bench::{Plan, results};
use serde_json::{Map, Value};
use std::fs;
use std::path::PathBuf;
use std::time::Duration;

pub struct Estimate {
    path: PathBuf,
    /// Seconds by measure.
    known: Map<String, Value>,
}

impl Estimate {
    /// Quick runs and whole ones are remembered apart.
    pub fn of(plan: &Plan) -> Self {
        let path = results().join(if plan.quick { "bench-quick-took.json" } else { "bench-took.json" });
        let known = fs::read_to_string(&path).ok().and_then(|text| serde_json::from_str(&text).ok());
        Self { path, known: known.unwrap_or_default() }
    }

    /// What these measures will take, in words.
    pub fn left(&self, names: &[&str]) -> String {
        let seconds: f64 = names.iter().filter_map(|name| self.known.get(*name)?.as_f64()).sum();
        let unknown: Vec<&str> =
            names.iter().copied().filter(|name| !self.known.contains_key(*name)).collect();
        match unknown.as_slice() {
            [] => format!("about {seconds:.0} s are left, as it was measured here last"),
            unknown if seconds == 0.0 => format!("never timed here: {}", unknown.join(", ")),
            unknown => format!(
                "about {seconds:.0} s are left, and what was never timed here: {}",
                unknown.join(", ")
            ),
        }
    }

    pub fn took(&mut self, name: &str, took: Duration) {
        self.known.insert(name.to_owned(), (took.as_secs_f64().ceil()).into());
        let _ = fs::write(&self.path, Value::Object(self.known.clone()).to_string());
    }
}
