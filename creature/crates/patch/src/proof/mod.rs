//! The protocol of a self-edit: to disk, build, tests, rehearsal; kept when all pass, put back when one fails.

mod cargo;
pub mod diagnostics;
pub mod members;
pub mod rehearse;
mod seed;
mod testing;

use crate::change::{self, Change};
use crate::{Failed, Stage, Workshop, packages};
pub use cargo::Tree;
use ground::fault::Fault;
use std::time::Instant;
pub use testing::{Known, Tested, test};

/// What a passed protocol took, in milliseconds: the creature's reaction time, for its own records.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Proof {
    pub build_ms: u64,
    pub test_ms: u64,
    pub rehearsal_ms: u64,
    /// Tests by name; those that failed, and passed when they were tried again, among them.
    pub passed: Vec<String>,
    pub flaky: Vec<String>,
}

/// Writes the changes into the tree that lives and proves it as it is then; put back when the proof fails. `judge` says of
/// the lock that came of it whether it may be.
pub async fn try_out(
    workshop: &Workshop,
    changes: Vec<Change>,
    judge: &dyn Fn() -> Result<(), Fault>,
) -> Result<Proof, Failed> {
    let paths: Vec<String> = changes.iter().map(|change| change.path.clone()).collect();
    let manifests = changes.iter().any(|change| packages::is_paper(&change.path));
    let mut written =
        change::write(workshop.house.root(), changes).map_err(|fault| Stage::Apply.failed(fault))?;
    written.guard("creature/Cargo.lock");
    match prove(workshop, &paths, manifests.then_some(judge)).await {
        Ok(proof) => {
            written.keep();
            Ok(proof)
        }
        Err(mut failed) => {
            match written.put_back() {
                Ok(()) => {}
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

/// Proves the source as it is on disk, where these paths changed; changes nothing of it. Where manifests changed, `judge` says of the lock that comes
/// of it whether it may be, before anything is fetched as far as this disk knows, and after the build in any case.
pub async fn prove(
    workshop: &Workshop,
    paths: &[String],
    judge: Option<&dyn Fn() -> Result<(), Fault>>,
) -> Result<Proof, Failed> {
    let judged = || judge.map_or(Ok(()), |judge| judge()).map_err(|fault| Stage::Boundary.failed(fault));
    let (mut proof, tree) = (Proof::default(), Tree::living(workshop));
    let started = Instant::now();
    if judge.is_some() {
        // What it cannot find here fails the build too, or is judged after it.
        tree.resolve().await.map_err(|fault| Stage::Build.failed(fault))?;
        judged()?;
    }
    let packages = members::touched(workshop.house.root(), paths);
    let packages: Vec<&str> = packages.iter().map(String::as_str).collect();
    let built = tree.build(&packages).await;
    judged()?;
    let built = built.and_then(|ended| cargo::passed("cargo build", &ended));
    built.map_err(|fault| Stage::Build.failed(fault))?;
    proof.build_ms = millis(started);
    let started = Instant::now();
    let tested = testing::run(&tree, &packages, None, None).await;
    let tested = tested.map_err(|fault| Stage::Test.failed(fault))?;
    (proof.passed, proof.flaky) = (tested.passed, tested.flaky);
    proof.test_ms = millis(started);
    let started = Instant::now();
    let rehearsed = match rehearse::prepare(workshop) {
        Ok(copy) => rehearse::run(workshop, &copy).await,
        Err(fault) => Err(fault),
    };
    rehearsed.map_err(|fault| Stage::Rehearsal.failed(fault))?;
    proof.rehearsal_ms = millis(started);
    Ok(proof)
}

fn millis(since: Instant) -> u64 {
    since.elapsed().as_millis().try_into().unwrap_or(u64::MAX)
}
