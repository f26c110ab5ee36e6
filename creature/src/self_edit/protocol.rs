//! The protocol of a self-edit: to disk, build, tests, rehearsal; kept when all pass, put back when one fails.

use super::boundary::Area;
use super::cargo::{self, Limits};
use super::change::{self, Plan};
use super::packages;
use super::rehearse;
use super::{Failed, Stage};
use crate::fault::Fault;
use crate::paths::House;
use std::time::Instant;

/// What a passed protocol took, in milliseconds: the creature's reaction time, for its own records.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Proof {
    pub build_ms: u64,
    pub test_ms: u64,
    pub rehearsal_ms: u64,
}

/// Applies the plan; source is proven first and put back when the proof fails, papers need none.
/// `judge` says of the lock that came of it whether it may be.
pub async fn try_out(
    house: &House,
    life: u64,
    limits: Limits,
    plan: Plan,
    judge: &dyn Fn() -> Result<(), Fault>,
) -> Result<Proof, Failed> {
    let source = plan.touches(Area::Source);
    let crates = plan.changes.iter().any(|change| change.path.starts_with("creature/crates/"));
    let manifests = plan.changes.iter().any(|change| packages::is_paper(&change.path));
    let failed = |fault| Stage::Apply.failed(fault);
    let mut written = change::write(house.root(), plan.changes).map_err(failed)?;
    if !source {
        written.keep();
        return Ok(Proof::default());
    }
    written.guard("creature/Cargo.lock");
    match prove(house, life, limits, crates, manifests.then_some(judge)).await {
        Ok(proof) => {
            written.keep();
            Ok(proof)
        }
        Err(mut failed) => {
            match written.put_back() {
                Ok(()) => failed.fault.hint.push_str("; every file is as it was"),
                Err(fault) => {
                    let worse = format!("\nand not everything could be put back: {fault}");
                    failed.fault.error.push_str(&worse);
                    failed.fault.hint = "look at repo.status; repo.reset_hard puts creature/ back".to_owned();
                }
            }
            Err(failed)
        }
    }
}

/// Proves the source as it is on disk; changes nothing of it. Where manifests changed, `judge` says of the lock that comes
/// of it whether it may be, before anything is fetched as far as this disk knows, and after the build in any case.
pub async fn prove(
    house: &House,
    life: u64,
    limits: Limits,
    crates: bool,
    judge: Option<&dyn Fn() -> Result<(), Fault>>,
) -> Result<Proof, Failed> {
    let judged = || judge.map_or(Ok(()), |judge| judge()).map_err(|fault| Stage::Boundary.failed(fault));
    let mut proof = Proof::default();
    let started = Instant::now();
    if judge.is_some() {
        // What it cannot find here fails the build too, or is judged after it.
        cargo::resolve(house, limits.build).await.map_err(|fault| Stage::Build.failed(fault))?;
        judged()?;
    }
    let built = cargo::build(house, limits.build).await;
    judged()?;
    passed(built, "cargo build").map_err(|fault| Stage::Build.failed(fault))?;
    proof.build_ms = millis(started);
    let started = Instant::now();
    let tested = cargo::test(house, crates, None, limits.test).await;
    passed(tested, "cargo test").map_err(|fault| Stage::Test.failed(fault))?;
    proof.test_ms = millis(started);
    let started = Instant::now();
    let rehearsed = match rehearse::prepare(house) {
        Ok(copy) => rehearse::run(house, &copy, life, limits.rehearsal).await,
        Err(fault) => Err(fault),
    };
    rehearsed.map_err(|fault| Stage::Rehearsal.failed(fault))?;
    proof.rehearsal_ms = millis(started);
    Ok(proof)
}

fn passed(ended: Result<crate::process::Ended, Fault>, step: &str) -> Result<(), Fault> {
    match ended? {
        ended if ended.ok() => Ok(()),
        ended => Err(cargo::fault(step, &ended)),
    }
}

fn millis(since: Instant) -> u64 {
    since.elapsed().as_millis().try_into().unwrap_or(u64::MAX)
}
