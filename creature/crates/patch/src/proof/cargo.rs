//! Cargo as the creature calls it: from the repository root, the target directory named, a deadline on each call.

use super::{diagnostics, members, seed};
use crate::{Workshop, draft};
use ground::fault::Fault;
use ground::process::{self, Ended, Job};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// Characters of errors and failing tests that are told whole: a quarter of what a mind is shown of one result.
const MOST_EVIDENCE: usize = 8_000;

/// The cases of property tests are the same in every run: chance neither lets an edit pass nor refuses another one.
const SEED: &str = "1";

/// Bytes of what a run of tests says.
const MOST_BYTES: usize = 2 << 20;

/// Deadlines of the steps of a self-edit.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    pub build: Duration,
    pub test: Duration,
    pub rehearsal: Duration,
}

/// A tree that cargo builds, and where its artefacts go. Cargo names what is in a workspace by its path from the
/// workspace's root and takes for fresh what is older than its artefact: two trees in one folder would pass for each other.
#[derive(Clone, Debug)]
pub struct Tree {
    root: PathBuf,
    source: PathBuf,
    target: PathBuf,
    /// Where the tree that lives is built.
    living: PathBuf,
    draft: bool,
    cargo: OsString,
}

impl Tree {
    /// The one that lives; the guardian builds it in the same folder.
    pub fn living(workshop: &Workshop) -> Self {
        let house = &workshop.house;
        Self {
            root: house.root().to_path_buf(),
            source: house.source(),
            target: house.target(),
            living: house.target(),
            draft: false,
            cargo: workshop.cargo.clone(),
        }
    }

    pub fn draft(workshop: &Workshop) -> Self {
        let house = &workshop.house;
        Self {
            source: house.draft().join("creature"),
            target: house.target().join("draft"),
            draft: true,
            ..Self::living(workshop)
        }
    }

    /// What holds its `creature/`.
    pub fn root(&self) -> &Path {
        self.source.parent().unwrap_or(&self.root)
    }

    /// Makes new what is not as cargo last saw it here: another draft may hold older files of the same names.
    fn settle(&self) -> Result<(), Fault> {
        let kept = self.target.join("sources.json");
        let hint = "is the disk full?";
        let failed = |cause: std::io::Error| Fault::caused("prepare the build of the draft", &cause, hint);
        let known: BTreeMap<String, String> =
            std::fs::read(&kept).ok().and_then(|text| serde_json::from_slice(&text).ok()).unwrap_or_default();
        let root = self.root();
        let sources = draft::hashes(root);
        if sources == known {
            return Ok(());
        }
        if known.is_empty() {
            let (from, to) = (self.living.join("debug"), self.target.join("debug"));
            seed::take_over(&from, &to, &members::names(root));
        }
        for (path, _) in sources.iter().filter(|(path, hash)| known.get(*path) != Some(hash)) {
            let file = File::options().append(true).open(root.join(path)).map_err(failed)?;
            file.set_modified(SystemTime::now()).map_err(failed)?;
        }
        let text = serde_json::to_vec(&sources).unwrap_or_default();
        memory::replace(&kept, &text)
            .map_err(|cause| Fault::caused("prepare the build of the draft", &cause, hint))
    }
}

/// `cargo build` of what lives and of the tests: one run of cargo, so that they are compiled side by side.
pub async fn build(tree: &Tree, scope: Scope<'_>, deadline: Duration) -> Result<Ended, Fault> {
    let mut args = scope.args();
    args.extend(["--bins", "--tests", "--message-format=json-render-diagnostics"]);
    cargo(tree, "build", &args, deadline).await
}

/// `cargo check` of all there is, tests too.
pub async fn check(tree: &Tree, deadline: Duration) -> Result<Ended, Fault> {
    cargo(tree, "check", &["--workspace", "--bins", "--tests"], deadline).await
}

/// The packages whose tests are run; none: the creature's own.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scope<'a>(pub &'a [&'a str]);

impl Scope<'_> {
    fn args(&self) -> Vec<&str> {
        self.0.iter().flat_map(|name| ["-p", *name]).collect()
    }
}

/// Begins the name of tests that the guardian runs, beside the newborn.
pub const PROBATION: &str = "probation::";

/// `cargo test`, to the end whatever fails; `filter` picks tests by name. What takes long is left to the newborn's
/// probation.
pub async fn test(
    tree: &Tree,
    scope: Scope<'_>,
    filter: Option<&str>,
    deadline: Duration,
) -> Result<Ended, Fault> {
    let mut args = scope.args();
    args.extend(["--no-fail-fast", "--"]);
    match filter {
        Some(filter) => args.push(filter),
        None => args.extend(["--skip", PROBATION]),
    }
    cargo(tree, "test", &args, deadline).await
}

/// The tests of these names once more.
pub async fn again(
    tree: &Tree,
    scope: Scope<'_>,
    names: &[&str],
    deadline: Duration,
) -> Result<Ended, Fault> {
    let mut args = scope.args();
    args.extend(["--no-fail-fast", "--", "--exact"]);
    args.extend(names);
    cargo(tree, "test", &args, deadline).await
}

/// `cargo fetch`: gets what the manifest names.
pub async fn fetch(tree: &Tree, deadline: Duration) -> Result<Ended, Fault> {
    let manifest = tree.source.join("Cargo.toml");
    let job = Job::new(&tree.cargo, &tree.root, deadline).args(["fetch", "--manifest-path"]);
    process::run(job.args([manifest])).await
}

/// Brings the lock up to what the manifests name, from what is on this disk; nothing is fetched.
pub async fn resolve(tree: &Tree, deadline: Duration) -> Result<Ended, Fault> {
    let manifest = tree.source.join("Cargo.toml");
    let args = ["update", "--workspace", "--offline", "--quiet", "--manifest-path"];
    process::run(Job::new(&tree.cargo, &tree.root, deadline).args(args).args([manifest])).await
}

/// A failed step as the mind is told of it: how it ended, and the lines that say why; `known` says of a test how it is
/// without the change.
pub fn fault(step: &str, ended: &Ended, known: &dyn Fn(&str) -> String) -> Fault {
    let lines = diagnostics::wrong(&ended.stdout.text(), &ended.stderr.text(), MOST_EVIDENCE, known);
    let hint = match ended.timed_out {
        true => "something in it hangs or is far too slow",
        false => "mend what these lines name and try again",
    };
    Fault::new(format!("{step} failed: {}\n{lines}", ended.how()), hint)
}

async fn cargo(tree: &Tree, verb: &str, args: &[&str], deadline: Duration) -> Result<Ended, Fault> {
    if tree.draft {
        tree.settle()?;
    }
    // From the root the creature's own .cargo/config.toml and rust-toolchain.toml are inert, as for the guardian.
    let job = Job::new(&tree.cargo, &tree.root, deadline)
        .args([verb, "--manifest-path"])
        .args([tree.source.join("Cargo.toml")])
        .args(["--target-dir".as_ref(), tree.target.as_os_str()])
        .args(args)
        // Most tests wait for something, so more of them than there are processors run at once.
        .env("RUST_TEST_THREADS", "8")
        .env("RUST_BACKTRACE", "0")
        .env("PROPTEST_RNG_SEED", SEED)
        // Else a failure would be written among the sources.
        .env("PROPTEST_DISABLE_FAILURE_PERSISTENCE", "true");
    process::run(Job { most_bytes: MOST_BYTES, ..job }).await
}
