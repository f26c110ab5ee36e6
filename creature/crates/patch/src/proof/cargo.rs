//! Cargo as the creature calls it: from the repository root, the target directory named, a deadline on each call.

use super::{diagnostics, members, seed};
use crate::EditContext;
use crate::source::{self, Hashes};
use ground::fault::Fault;
use ground::files;
use ground::process::{self, Ended, Job};
use std::error::Error;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// Characters of errors and failing tests that are told whole: a quarter of what a mind is shown of one result.
const MOST_EVIDENCE: usize = 8_000;

/// Seed of property tests: with the same cases in every run no edit passes or fails by chance.
const SEED: &str = "1";

/// Bytes kept of each output of a run of cargo.
const MOST_BYTES: usize = 2 << 20;

/// Beginning of the names of tests that take long: the guardian runs them beside the newborn.
pub const PROBATION: &str = "probation::";

/// A tree that cargo builds, and where its artefacts go. Cargo names packages of a workspace by their path from
/// its root, and takes source older than its artefact for built, so each tree has a target folder of its own.
#[derive(Clone, Debug)]
pub struct Tree {
    pub(super) context: EditContext,
    source: PathBuf,
    target: PathBuf,
    draft: bool,
}

impl Tree {
    /// The tree that lives; the guardian builds it in the same target folder.
    pub fn living(context: &EditContext) -> Self {
        let (source, target) = (context.house.source(), context.house.target());
        Self { context: context.clone(), source, target, draft: false }
    }

    pub fn draft(context: &EditContext) -> Self {
        let (source, target) = (context.house.draft().join("creature"), context.house.target().join("draft"));
        Self { context: context.clone(), source, target, draft: true }
    }

    /// The folder that holds its `creature/`.
    pub fn root(&self) -> &Path {
        self.source.parent().unwrap_or(&self.source)
    }

    /// `cargo build` of the binaries and the tests: one run of cargo, so that they are compiled side by side.
    pub(super) async fn build(&self, packages: &[&str]) -> Result<Ended, Fault> {
        let mut args = named(packages);
        args.extend(["--bins", "--tests", "--message-format=json-render-diagnostics"]);
        self.cargo("build", &args, self.context.limits.build).await
    }

    /// `cargo check` of all packages, tests too; how long it took.
    pub async fn check(&self) -> Result<Duration, Fault> {
        let args = ["--workspace", "--bins", "--tests"];
        let ended = self.cargo("check", &args, self.context.limits.build).await?;
        passed("cargo check", &ended)
    }

    /// `cargo test`, to the end whatever fails; `which` picks tests by name. No packages: the creature's own.
    pub(super) async fn test(&self, packages: &[&str], which: &[&str]) -> Result<Ended, Fault> {
        let mut args = named(packages);
        args.extend(["--no-fail-fast", "--"]);
        args.extend(which);
        self.cargo("test", &args, self.context.limits.test).await
    }

    /// `cargo fetch`: gets what the manifest names; how long it took.
    pub async fn fetch(&self) -> Result<Duration, Fault> {
        let job = self.job(&["fetch"], self.context.limits.test);
        passed("cargo fetch", &process::run(job).await?)
    }

    /// Brings `Cargo.lock` up to what the manifests name, from what is on this disk; nothing is fetched.
    pub(super) async fn resolve(&self) -> Result<Ended, Fault> {
        let args = ["update", "--workspace", "--offline", "--quiet"];
        process::run(self.job(&args, self.context.limits.build)).await
    }

    /// Runs cargo from the repository root: there the creature's own .cargo/config.toml and rust-toolchain.toml
    /// are inert, as for the guardian.
    fn job(&self, args: &[&str], deadline: Duration) -> Job {
        let job = Job::new(&self.context.cargo, self.context.house.root(), deadline);
        job.args(args).args(["--manifest-path".into(), self.source.join("Cargo.toml")])
    }

    async fn cargo(&self, verb: &str, args: &[&str], deadline: Duration) -> Result<Ended, Fault> {
        if self.draft {
            self.touch_changed()?;
        }
        let job = self
            .job(&[verb], deadline)
            .args(["--target-dir".as_ref(), self.target.as_os_str()])
            .args(args)
            // Most tests wait for something, so more of them than there are processors run at once.
            .env("RUST_TEST_THREADS", "8")
            .env("RUST_BACKTRACE", "0")
            .env("PROPTEST_RNG_SEED", SEED)
            // Else proptest would write a failing case among the sources.
            .env("PROPTEST_DISABLE_FAILURE_PERSISTENCE", "true");
        process::run(Job { most_bytes: MOST_BYTES, ..job }).await
    }

    /// Gives files that changed since cargo last ran here a new modification time: those of another draft may be
    /// older than their artefacts.
    fn touch_changed(&self) -> Result<(), Fault> {
        let failed =
            |cause: &dyn Error| Fault::caused("prepare the build of the draft", cause, "is the disk full?");
        let kept = self.target.join("sources.json");
        let known: Hashes = memory::state::read(&kept).unwrap_or_default();
        let root = self.root();
        let sources = source::hashes(root);
        if sources == known {
            return Ok(());
        }
        if known.is_empty() {
            let (from, to) = (self.context.house.target().join("debug"), self.target.join("debug"));
            seed::take_over(&from, &to, &members::names(root));
        }
        for (path, _) in sources.iter().filter(|(path, hash)| known.get(*path) != Some(hash)) {
            let file = files::open_with(File::options().append(true), &root.join(path));
            file.and_then(|file| file.set_modified(SystemTime::now())).map_err(|cause| failed(&cause))?;
        }
        let text = serde_json::to_vec(&sources).unwrap_or_default();
        memory::replace(&kept, &text).map_err(|cause| failed(&cause))
    }
}

fn named<'a>(packages: &[&'a str]) -> Vec<&'a str> {
    packages.iter().flat_map(|name| ["-p", *name]).collect()
}

/// Returns how long a step took that passed; else why it failed.
pub(super) fn passed(step: &str, ended: &Ended) -> Result<Duration, Fault> {
    if ended.ok() { Ok(ended.took) } else { Err(fault(step, ended, &|_| String::new())) }
}

/// A failed step as the mind is told of it: how it ended, and the lines that say why; `known` says how a test
/// fares without the change.
pub(super) fn fault(step: &str, ended: &Ended, known: &dyn Fn(&str) -> String) -> Fault {
    let lines = diagnostics::wrong(&ended.stdout.text(), &ended.stderr.text(), MOST_EVIDENCE, known);
    let hint = match ended.timed_out {
        true => "something in it hangs or is far too slow",
        false => "mend what these lines name and try again",
    };
    Fault::new(format!("{step} failed: {}\n{lines}", ended.how()), hint)
}
