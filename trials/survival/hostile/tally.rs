//! The figures of a hostile soak as they grow, written after every look; faults a line each, as they come.

use super::Plan;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Write;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Faults of each kind kept among the figures; beyond that they are only counted, and in their file.
const MOST_TOLD: usize = 4;

#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Tally {
    pub walls: String,
    pub seed: u64,
    pub seconds: u64,
    pub kills: BTreeMap<String, usize>,
    pub said: usize,
    pub looks: usize,
    /// Longest time of each, in milliseconds.
    pub worst_ms: BTreeMap<String, u64>,
    /// What the guardian itself measured: the longest time between two rounds of its loop.
    pub longest_gap_ms: Option<u64>,
    /// Most that one life of the hostile program said of itself.
    pub acts: u64,
    pub leases: u64,
    /// How many of each kind of fault.
    pub faults: BTreeMap<String, usize>,
    pub told: Vec<String>,
    #[serde(skip)]
    pub said_before: usize,
    #[serde(skip)]
    seconds_before: u64,
    #[serde(skip)]
    json: Option<PathBuf>,
    #[serde(skip)]
    begun: Option<Instant>,
}

impl Tally {
    pub fn begin(plan: &Plan) -> Self {
        let earlier =
            plan.json.as_ref().filter(|_| plan.resume).and_then(|path| fs::read_to_string(path).ok());
        let mut tally: Self = earlier.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default();
        tally.walls = if plan.open { "off" } else { "full" }.into();
        (tally.seed, tally.json, tally.begun) = (plan.seed, plan.json.clone(), Some(Instant::now()));
        (tally.said_before, tally.seconds_before) = (tally.said, tally.seconds);
        tally
    }

    pub fn fault(&mut self, kind: &str, told: &str) {
        let times = self.faults.entry(kind.to_owned()).or_default();
        *times += 1;
        let is_kept = *times <= MOST_TOLD;
        let at_s = self.begun.map_or(0, |begun| begun.elapsed().as_secs());
        eprintln!("hostile: {at_s:>5} s: FAULT: {kind}: {}", told.lines().next().unwrap_or_default());
        let line = json!({"at_s": at_s, "walls": self.walls, "fault": kind, "told": told});
        if let Some(path) = &self.json {
            let file = File::options().create(true).append(true).open(path.with_extension("faults.jsonl"));
            let _ = file.and_then(|mut file| writeln!(file, "{line}"));
        }
        if is_kept {
            self.told.push(format!("{kind}: {}", told.lines().next().unwrap_or_default()));
        }
    }

    pub fn took(&mut self, what: &str, took: Duration) {
        let worst = self.worst_ms.entry(what.to_owned()).or_default();
        *worst = (*worst).max(took.as_millis() as u64);
    }

    pub fn faults(&self) -> usize {
        self.faults.values().sum()
    }

    /// Writes the figures as they are now.
    pub fn save(&mut self, elapsed: Duration) -> Value {
        self.seconds = self.seconds_before + elapsed.as_secs();
        let mut figures = serde_json::to_value(&*self).unwrap();
        figures["commit"] = crate::survival::render::commit().into();
        if let Some(path) = &self.json {
            let _ = fs::write(path, figures.to_string());
        }
        let kills: usize = self.kills.values().sum();
        eprintln!(
            "hostile: {:>5} s: {kills} kills, {} words, {} looks, {} leases, {} faults; worst ms {}; longest gap {:?} ms",
            elapsed.as_secs(),
            self.said,
            self.looks,
            self.leases,
            self.faults(),
            json!(self.worst_ms),
            self.longest_gap_ms
        );
        figures
    }
}

/// What a run came to, as a section of SURVIVAL.md.
pub fn section(run: &Value) -> String {
    let run: Tally = serde_json::from_value(run.clone()).unwrap_or_default();
    let counts = |counts: &BTreeMap<String, usize>| {
        let all: Vec<String> = counts.iter().map(|(name, times)| format!("{times} × {name}")).collect();
        if all.is_empty() { "none".to_owned() } else { all.join(", ") }
    };
    let worst: Vec<String> = run.worst_ms.iter().map(|(name, ms)| format!("{name} {ms} ms")).collect();
    let gap = run.longest_gap_ms.map_or("not told by the guardian".to_owned(), |ms| format!("{ms} ms"));
    let mut page = format!(
        "## A hostile creature, walls {}\n\nFor {} minutes guardian, broker and life were killed at random over a creature that \
         plants repositories and settings, takes leases and locks, and makes pipes, links and endless files, beside two owners' \
         words (seed {}).\n\n| | |\n|---|---|\n| killed | {} |\n| words said | {} |\n| looks at the whole house, a stop and a start \
         each | {} |\n| most acts and leases of one life | {}, {} |\n| longest time | {} |\n| longest time between two rounds of the \
         guardian's loop | {gap} |\n| faults | {} |\n\n",
        run.walls,
        run.seconds / 60,
        run.seed,
        counts(&run.kills),
        run.said,
        run.looks,
        run.acts,
        run.leases,
        worst.join(", "),
        counts(&run.faults),
    );
    run.told.iter().for_each(|told| page += &format!("- {}\n", told.replace(['|', '\n'], " ")));
    if !run.told.is_empty() {
        page.push('\n');
    }
    page
}
