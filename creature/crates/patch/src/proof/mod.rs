//! The proof of a self-edit: to disk, build, tests, rehearsal; kept when all pass, put back when one fails.

mod cargo;
pub mod diagnostics;
pub mod members;
pub mod rehearse;
mod seed;
mod testing;

use crate::change::{self, Change};
use crate::{At, EditContext, Failed, Stage, packages};
pub use cargo::Tree;
use ground::fault::Fault;
use std::time::Instant;
pub use testing::{Known, Tested, test};

/// Proof that passed, and its steps in milliseconds: the creature's reaction time, for its own records.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Proof {
    pub build_ms: u64,
    pub test_ms: u64,
    pub rehearsal_ms: u64,
    /// Tests that passed by name, flaky ones among them: those failed, and passed when they were tried again.
    pub passed: Vec<String>,
    pub flaky: Vec<String>,
}

/// Writes the changes into the tree that lives and proves it; puts them back when the proof fails, or is dropped.
/// `judge` refuses packages that nobody allowed, and is asked where manifests change.
pub async fn try_out(
    context: &EditContext,
    changes: Vec<Change>,
    judge: &(dyn Fn() -> Result<(), Fault> + Sync),
) -> Result<Proof, Failed> {
    let paths: Vec<String> = changes.iter().map(|change| change.path.clone()).collect();
    let manifests = changes.iter().any(|change| packages::is_manifest(&change.path));
    let mut written = change::write(context.house.root(), changes).at(Stage::Apply)?;
    written.guard("creature/Cargo.lock");
    let mut failed = match prove(context, &paths, manifests.then_some(judge)).await {
        Ok(proof) => {
            written.keep();
            return Ok(proof);
        }
        Err(failed) => failed,
    };
    if let Err(fault) = written.put_back() {
        failed.fault.error += &format!("\nand not everything could be put back: {fault}");
        failed.fault.hint = "look at repo.status; repo.reset_hard puts creature/ back".to_owned();
    }
    Err(failed)
}

/// Proves the source as it is on disk, where these paths changed; writes none of it. `judge` is as in `try_out`,
/// none where no manifest changed.
pub async fn prove(
    context: &EditContext,
    paths: &[String],
    judge: Option<&(dyn Fn() -> Result<(), Fault> + Sync)>,
) -> Result<Proof, Failed> {
    let (mut proof, tree) = (Proof::default(), Tree::living(context));
    let packages = members::touched(context.house.root(), paths);
    let packages: Vec<&str> = packages.iter().map(String::as_str).collect();
    timed(&mut proof.build_ms, build(&tree, &packages, judge)).await?;
    let tested = timed(&mut proof.test_ms, testing::run(&tree, &packages, None, None)).await;
    Tested { passed: proof.passed, flaky: proof.flaky, .. } = tested.at(Stage::Test)?;
    timed(&mut proof.rehearsal_ms, rehearse::rehearse(context)).await.at(Stage::Rehearsal)?;
    Ok(proof)
}

/// Builds these packages. The lock is judged before anything is fetched, as far as it can be resolved from this
/// disk, and again after the build.
async fn build(
    tree: &Tree,
    packages: &[&str],
    judge: Option<&(dyn Fn() -> Result<(), Fault> + Sync)>,
) -> Result<(), Failed> {
    if let Some(judge) = judge {
        // What cannot be resolved from this disk fails the build too, or is judged after it.
        tree.resolve().await.at(Stage::Build)?;
        judge().at(Stage::Boundary)?;
    }
    let built = tree.build(packages).await;
    if let Some(judge) = judge {
        judge().at(Stage::Boundary)?;
    }
    built.and_then(|ended| cargo::passed("cargo build", &ended)).at(Stage::Build).map(drop)
}

/// Waits for a step and notes how many milliseconds it took.
async fn timed<T>(took_ms: &mut u64, step: impl Future<Output = T>) -> T {
    let started = Instant::now();
    let done = step.await;
    *took_ms = started.elapsed().as_millis().try_into().unwrap_or(u64::MAX);
    done
}
