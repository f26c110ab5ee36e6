//! Costs by the ledger and costs on record, compared over several calls. Pure.
//!
//! Invariant: calls and records come by two files that are read in turn, and some calls leave no thought by design (a
//! talk summed up, an answer that was cut): so sums are compared, and what a call without a record cost is allowed for.

use crate::decide::conduct::Invariant;
use house::records::text;
use serde_json::Value;

/// Paid calls over which both are compared.
const FEWEST_CALLS: usize = 6;
/// Calls whose line may have come before what was forgotten, and their record after.
const UNSEEN_CALLS: usize = 2;
/// Calls and records kept at most.
const MOST_KEPT: usize = 4_096;

/// Costs and counts since the last comparison.
#[derive(Debug, Default)]
pub struct Accounts {
    /// Cost of each paid call, in millionths of a dollar.
    paid: Vec<u64>,
    /// Records of a model's words, and their sum of costs.
    records: usize,
    recorded: u64,
    /// Records of thoughts that tell no cost.
    unpriced: usize,
    /// A call whose price is an estimate, not by the usage that its record has.
    is_estimated: bool,
    /// Records of thoughts that a model is said to have had, and calls to models that ended, paid or not.
    thoughts: usize,
    calls: usize,
}

impl Accounts {
    /// Counts a settled call of this life's; `decision` says how its price is known.
    pub fn settled(&mut self, decision: &str, cost: u64) {
        self.calls = self.calls.saturating_add(1);
        let is_by_usage = decision == "by usage" || decision.starts_with("by usage, beyond");
        match is_by_usage {
            true if self.paid.len() < MOST_KEPT => self.paid.push(cost),
            true => {}
            // A call that never reached a model costs nothing and tells nothing.
            false => self.is_estimated |= cost > 0,
        }
    }

    /// Counts a record of memory or bookkeeping, if it tells of a model's words.
    pub fn recorded(&mut self, kind: &str, data: &Value) {
        let is_asked = kind == "thought" && text(data, "mind") != "instinct";
        self.thoughts += usize::from(is_asked && data.get("usage").is_some_and(Value::is_object));
        let is_thought = match (kind, text(data, "about")) {
            ("thought", _) => text(data, "mind") != "instinct",
            ("agenda", "session") => data.get("thought").is_some() || data.get("garbled").is_some(),
            ("dream", _) => data.get("usage").is_some(),
            // A call for which a model was asked, as to see a picture.
            ("action", _) => data.get("usage").is_some_and(Value::is_object),
            // What is kept of a talk that is over was asked of a model.
            ("observation", "talk") => true,
            _ => false,
        };
        if !is_thought {
            return;
        }
        self.records = self.records.saturating_add(1);
        let cost = data.pointer("/usage/cost_usd").and_then(Value::as_f64);
        let cost = (cost.filter(|cost| (0.0..1e6).contains(cost)).unwrap_or(0.0) * 1e6) as u64;
        self.recorded = self.recorded.saturating_add(cost);
        self.unpriced += usize::from(cost == 0 && matches!(kind, "thought" | "agenda"));
    }

    /// Forgets all sums: records meanwhile were not seen.
    pub fn forget(&mut self) {
        *self = Self::default();
    }

    /// Compares, once there is enough: returns each invariant, whether it was kept, and the evidence.
    pub fn compared(&mut self) -> Vec<(Invariant, bool, String)> {
        let mut seen = Vec::new();
        if self.thoughts >= FEWEST_CALLS {
            let (thoughts, calls) = (std::mem::take(&mut self.thoughts), std::mem::take(&mut self.calls));
            let told = format!("{thoughts} thoughts of a model are on record, of {calls} calls to models");
            seen.push((Invariant::Paid, thoughts <= calls.saturating_add(UNSEEN_CALLS), told));
        }
        if self.paid.len() < FEWEST_CALLS {
            return seen;
        }
        let Self { mut paid, records, recorded, unpriced, is_estimated, thoughts, calls } =
            std::mem::take(self);
        (self.thoughts, self.calls) = (thoughts, calls);
        let calls = paid.len();
        // A third of them without a record is no chance: those without one by design are few.
        seen.push((
            Invariant::Remembered,
            records.saturating_mul(3) > calls.saturating_mul(2),
            format!("{calls} paid calls left {records} records of thoughts"),
        ));
        paid.sort_unstable();
        let sum: u64 = paid.iter().sum();
        // Those without a record may have been the dearest.
        let least: u64 = paid.iter().take(records).sum();
        if sum > 0 && !is_estimated {
            let near = recorded.saturating_mul(2) >= least && recorded <= sum.saturating_mul(2);
            // A free model's calls cost nothing, and so do their records.
            let is_told = unpriced == 0 || paid.first() == Some(&0);
            let told = format!(
                "the ledger says {sum} millionths of a dollar, the records {recorded}; {unpriced} of {records} tell no cost"
            );
            seen.push((Invariant::Costs, near && is_told, told));
        }
        seen
    }
}
