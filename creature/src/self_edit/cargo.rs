//! Cargo as the creature calls it: from the repository root, the target directory named, a deadline on each call.

use super::diagnostics;
use crate::config::SelfEditSettings;
use crate::fault::Fault;
use crate::paths::House;
use crate::process::{self, Ended, Job};
use std::time::Duration;

/// Deadlines of the steps of a self-edit.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    pub build: Duration,
    pub test: Duration,
    pub rehearsal: Duration,
}

impl From<&SelfEditSettings> for Limits {
    fn from(owner: &SelfEditSettings) -> Self {
        Self {
            build: Duration::from_secs(owner.build_s),
            test: Duration::from_secs(owner.test_s),
            rehearsal: Duration::from_secs(owner.rehearsal_s),
        }
    }
}

/// `cargo build` of the creature.
pub async fn build(house: &House, deadline: Duration) -> Result<Ended, Fault> {
    let args = ["--message-format=json-render-diagnostics"];
    cargo(house, "build", &args, deadline).await
}

/// `cargo test` of the creature, of its crates too where `crates`; `filter` picks tests by name. The simulated week is
/// left to `scripts/check`: a minute of a busy machine is more than an edit may cost.
pub async fn test(
    house: &House,
    crates: bool,
    filter: Option<&str>,
    deadline: Duration,
) -> Result<Ended, Fault> {
    let mut args = Vec::new();
    if crates {
        args.push("--workspace");
    }
    args.extend(["--", "--skip", "week::"]);
    args.extend(filter);
    cargo(house, "test", &args, deadline).await
}

/// `cargo fetch`: gets what the manifest names.
pub async fn fetch(house: &House, deadline: Duration) -> Result<Ended, Fault> {
    let manifest = house.source().join("Cargo.toml");
    let job = Job::new(program(), house.root(), deadline).args(["fetch", "--manifest-path"]);
    process::run(job.args([manifest])).await
}

/// Brings the lock up to what the manifests name, from what is on this disk; nothing is fetched.
pub async fn resolve(house: &House, deadline: Duration) -> Result<Ended, Fault> {
    let manifest = house.source().join("Cargo.toml");
    let args = ["update", "--workspace", "--offline", "--quiet", "--manifest-path"];
    process::run(Job::new(program(), house.root(), deadline).args(args).args([manifest])).await
}

/// A failed step as the mind is told of it: how it ended, and the lines that say why.
pub fn fault(step: &str, ended: &Ended) -> Fault {
    let lines = diagnostics::wrong(&ended.stdout.text(), &ended.stderr.text());
    let hint = match ended.timed_out {
        true => "something in it hangs or is far too slow",
        false => "mend what these lines name and try again",
    };
    Fault::new(format!("{step} failed: {}\n{lines}", ended.how()), hint)
}

async fn cargo(house: &House, verb: &str, args: &[&str], deadline: Duration) -> Result<Ended, Fault> {
    // From the root the creature's own .cargo/config.toml and rust-toolchain.toml are inert, as for the guardian.
    let job = Job::new(program(), house.root(), deadline)
        .args([verb, "--manifest-path"])
        .args([house.source().join("Cargo.toml")])
        .args(["--target-dir".into(), house.target()])
        .args(args)
        // Most tests wait for something, so more of them than there are processors run at once.
        .env("RUST_TEST_THREADS", "8")
        .env("RUST_BACKTRACE", "0");
    process::run(job).await
}

fn program() -> std::ffi::OsString {
    std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into())
}
