//! What became of each mutant, as one file that is whole after each of them.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

/// What became of a mutant.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The patch could not be put into the source; nothing is learned of the creature.
    NotPlaced,
    RefusedByBuild,
    RefusedByTests,
    RefusedByRehearsal,
    /// It lived, and fell for the tests that run beside a newborn.
    RefusedInProbation,
    /// It lived, died, and was put back by the guardian alone.
    PutBack,
    /// It lived and was blessed.
    Kept,
    /// No living, thinking creature came after it.
    Bricked,
}

impl Outcome {
    pub fn words(self) -> &'static str {
        match self {
            Outcome::NotPlaced => "not placed",
            Outcome::RefusedByBuild => "refused by build",
            Outcome::RefusedByTests => "refused by tests",
            Outcome::RefusedByRehearsal => "refused by rehearsal",
            Outcome::RefusedInProbation => "refused in probation",
            Outcome::PutBack => "lived and was put back",
            Outcome::Kept => "lived and was kept",
            Outcome::Bricked => "bricked",
        }
    }
}

/// An outcome and what there is to say of it: the test that saw it, or what a kept one cannot do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Verdict {
    pub outcome: Outcome,
    pub detail: String,
    pub ms: u64,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Row {
    pub id: String,
    pub name: String,
    pub file: String,
    pub line: u64,
    #[serde(flatten)]
    pub first: Verdict,
    /// What became of it once the tests were strengthened, where it was tried again.
    pub after: Option<Verdict>,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Results {
    pub commit: String,
    /// Tree of `creature/`: rows of two of them are not one measurement.
    pub creature: String,
    pub seed: u64,
    pub sampled: usize,
    pub of: usize,
    /// Commit and creature of the run over the kept ones.
    pub after: Option<(String, String)>,
    pub rows: Vec<Row>,
}

/// What the people who looked at the kept ones say of them, by id: `harmless` and why, or the test that `ought` to see
/// it now.
fn judged() -> BTreeMap<String, Value> {
    let path = trials::clone::origin().join("trials/mutants/judged.json");
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

impl Results {
    pub fn path() -> PathBuf {
        trials::clone::origin().join("target/survival/mutants.json")
    }

    pub fn load() -> Option<Self> {
        let text = fs::read_to_string(Self::path()).ok()?;
        Some(serde_json::from_str(&text).unwrap())
    }

    fn count(&self, outcome: Outcome) -> usize {
        self.rows.iter().filter(|row| row.first.outcome == outcome).count()
    }

    /// Outcomes once tests were strengthened: what was not kept stays refused, tests only grow.
    fn count_after(&self, outcome: Outcome) -> usize {
        let last = |row: &&Row| row.after.as_ref().unwrap_or(&row.first).outcome == outcome;
        self.rows.iter().filter(last).count()
    }

    fn kept(&self) -> Vec<Value> {
        let judged = judged();
        let kept = self.rows.iter().filter(|row| row.first.outcome == Outcome::Kept);
        kept.map(|row| {
            let after =
                row.after.as_ref().map(|after| json!({"outcome": after.outcome, "detail": after.detail}));
            let mut told = json!({"name": row.name, "file": row.file, "line": row.line, "detail": row.first.detail,
                "after": after});
            let judged = judged.get(&row.id).and_then(Value::as_object).cloned();
            told.as_object_mut().unwrap().extend(judged.unwrap_or_default());
            told
        })
        .collect()
    }

    /// Replaces the file whole.
    pub fn write(&self) {
        let totals = |count: &dyn Fn(Outcome) -> usize| {
            json!({
                "not_placed": count(Outcome::NotPlaced),
                "refused_by_build": count(Outcome::RefusedByBuild),
                "refused_by_tests": count(Outcome::RefusedByTests),
                "refused_by_rehearsal": count(Outcome::RefusedByRehearsal),
                "refused_in_probation": count(Outcome::RefusedInProbation),
                "put_back": count(Outcome::PutBack),
                "kept": count(Outcome::Kept),
                "bricked": count(Outcome::Bricked),
            })
        };
        let mut whole = serde_json::to_value(self).unwrap();
        let object = whole.as_object_mut().unwrap();
        object.insert("machine".into(), json!(machine()));
        object.insert("tried".into(), json!(self.rows.len()));
        let first = totals(&|outcome| self.count(outcome));
        object.extend(first.as_object().unwrap().clone());
        if let Some((commit, creature)) = &self.after {
            let mut after = totals(&|outcome| self.count_after(outcome));
            after["commit"] = json!(commit);
            after["creature"] = json!(creature);
            let again = self.rows.iter().filter(|row| row.after.is_some()).count();
            after["tried_again"] = json!(again);
            object.insert("strengthened".into(), after);
        }
        object.insert("kept_list".into(), json!(self.kept()));
        let path = Self::path();
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let next = path.with_extension("new");
        fs::write(&next, serde_json::to_string_pretty(&whole).unwrap() + "\n").unwrap();
        fs::rename(next, path).unwrap();
    }

    /// The totals in one line.
    pub fn line(&self) -> String {
        let all = [
            Outcome::NotPlaced,
            Outcome::RefusedByBuild,
            Outcome::RefusedByTests,
            Outcome::RefusedByRehearsal,
            Outcome::RefusedInProbation,
            Outcome::PutBack,
            Outcome::Kept,
            Outcome::Bricked,
        ];
        let count = |outcome: Outcome| match self.after {
            Some(_) => self.count_after(outcome),
            None => self.count(outcome),
        };
        all.map(|outcome| format!("{} {}", count(outcome), outcome.words())).join(", ")
    }
}

fn machine() -> String {
    let processors = std::thread::available_parallelism().map_or(0, usize::from);
    let about = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = about.lines().find_map(|line| line.strip_prefix("model name")).unwrap_or_default();
    format!("{processors} processors{}", model.trim().replacen(':', ",", 1))
}
