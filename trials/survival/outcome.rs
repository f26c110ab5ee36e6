//! What came of a row, as a line for people and an object for programs.

use crate::survival::arguments::Arguments;
use crate::survival::render;
use serde_json::{Value, json};
use std::process::ExitCode;
use std::time::Duration;

pub enum Verdict {
    Survived,
    NotRun(String),
    Failed(String),
}

pub struct Outcome {
    pub title: String,
    pub family: &'static str,
    pub fault: &'static str,
    pub injected: &'static str,
    pub killed: bool,
    pub happened: String,
    /// From the fault to a creature that beats, thinks and is trusted.
    pub to_living_ms: Option<u64>,
    pub lost_bytes: u64,
    pub false_rollbacks: usize,
    pub left_behind: usize,
    /// Most memory the last guardian of the row had resident.
    pub guardian_peak_kib: u64,
    /// From the last death before each fall to the next life from its kept binary, rests included.
    pub fall_to_life_ms: Vec<i64>,
    pub took_ms: u64,
    pub verdict: Verdict,
    /// The row failed, and its house did not come back to a living, trusted creature.
    pub brick: bool,
}

impl Outcome {
    pub fn line(&self) -> String {
        let living = self.to_living_ms.map_or("-".into(), |ms| format!("{:.1} s", ms as f64 / 1e3));
        match &self.verdict {
            Verdict::Survived => format!("survived  {living:>7}  {}: {}", self.title, self.happened),
            Verdict::NotRun(why) => format!("not run         -  {}: {why}", self.title),
            Verdict::Failed(why) => {
                let failed = if self.brick { "BRICK " } else { "FAILED" };
                format!("{failed}    {living:>7}  {}: {}", self.title, why.lines().next().unwrap_or_default())
            }
        }
    }

    fn json(&self) -> Value {
        let (verdict, why) = match &self.verdict {
            Verdict::Survived => ("survived", ""),
            Verdict::NotRun(why) => ("not_run", why.as_str()),
            Verdict::Failed(why) => ("failed", why.as_str()),
        };
        json!({
            "family": self.family, "fault": self.fault, "injected": self.injected, "guardian_killed": self.killed,
            "happened": self.happened, "to_living_ms": self.to_living_ms, "lost_bytes": self.lost_bytes,
            "false_rollbacks": self.false_rollbacks, "left_behind": self.left_behind,
            "guardian_peak_kib": self.guardian_peak_kib, "fall_to_life_ms": self.fall_to_life_ms,
            "took_ms": self.took_ms, "verdict": verdict, "why": why, "brick": self.brick,
        })
    }
}

/// Says what failed in full, writes the file that was asked for, and gives the exit status.
pub fn report(outcomes: &[Outcome], arguments: &Arguments, took: Duration) -> ExitCode {
    for outcome in outcomes {
        if let Verdict::Failed(why) = &outcome.verdict {
            eprintln!("\n---- {}\n{why}\n(before that: {})", outcome.title, outcome.happened);
        }
    }
    let count =
        |wanted: fn(&Verdict) -> bool| outcomes.iter().filter(|outcome| wanted(&outcome.verdict)).count();
    let failed = count(|verdict| matches!(verdict, Verdict::Failed(_)));
    println!(
        "survival: {} survived, {failed} failed, {} of them bricks, {} not run here; {} bytes lost, {} false rollbacks, {} processes left behind",
        count(|verdict| matches!(verdict, Verdict::Survived)),
        outcomes.iter().filter(|outcome| outcome.brick).count(),
        count(|verdict| matches!(verdict, Verdict::NotRun(_))),
        outcomes.iter().map(|outcome| outcome.lost_bytes).sum::<u64>(),
        outcomes.iter().map(|outcome| outcome.false_rollbacks).sum::<usize>(),
        outcomes.iter().map(|outcome| outcome.left_behind).sum::<usize>(),
    );
    if let Some(path) = &arguments.json {
        let rows: Vec<Value> = outcomes.iter().map(Outcome::json).collect();
        let at = jiff::Timestamp::now();
        let whole = json!({
            "at": format!("{at:.0}"), "seconds": took.as_secs(), "machine": render::machine(), "commit": render::commit(),
            "full": arguments.full, "rows": rows,
        });
        let written = serde_json::to_string_pretty(&whole).unwrap();
        if let Err(error) = std::fs::write(path, written) {
            eprintln!("survival: failed to write {}: {error}", path.display());
            return ExitCode::FAILURE;
        }
    }
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
