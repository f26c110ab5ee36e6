//! Fetches the creature's crates before the first build of a new house, as the owner: no broker is there yet to judge it.
//!
//! Invariant: only while no life has been and nothing of `creature/` is the creature's own, only what its lock file names
//! with a checksum, and only from registries that the stable workspace itself is built from. Fetching runs nothing of a
//! crate, and cargo is run from the root, above which no settings are the creature's. Later the broker judges each fetch.

use crate::act::daemons::jobs::{Job, Task};
use crate::act::executor::Executor;
use crate::decide::vocabulary::Phase;
use anyhow::Result;
use house::{House, files};
use nix::unistd::Pid;
use processes::made;
use processes::trusted::{self, Trusted};
use std::collections::BTreeSet;
use walls::cargo_home;

/// Most bytes of a lock file.
const LOCK_BYTES: u64 = 2 << 20;

/// The sources that a lock file names; none where a package of one has no checksum.
pub fn sources(lock: &str) -> Option<BTreeSet<&str>> {
    let field = |part: &str, name: &str| {
        part.lines().any(|line| line.strip_prefix(name).is_some_and(|rest| rest.starts_with(" = ")))
    };
    let mut sources = BTreeSet::new();
    for part in lock.split("[[package]]").skip(1) {
        let source = part.lines().find_map(|line| line.strip_prefix("source = "));
        if source.is_some() && !field(part, "checksum") {
            return None;
        }
        sources.extend(source);
    }
    Some(sources)
}

/// Whether all that the creature's lock file names comes from where the stable workspace's crates come from.
pub fn is_known(creatures: &str, stable: &str) -> bool {
    let (Some(creatures), Some(stable)) = (sources(creatures), sources(stable)) else { return false };
    creatures.is_subset(&stable)
}

fn lock_text(house: &House, path: &str) -> String {
    let bytes = files::read_most(&house.root().join(path), LOCK_BYTES).ok().flatten().unwrap_or_default();
    String::from_utf8(bytes).unwrap_or_default()
}

impl Executor {
    /// Whether the first build has to wait for a fetch, which begins now.
    pub fn fetches_first(&mut self) -> bool {
        let is_new = self.state.life == 0 && self.daemons.broker_is_to_come() && self.daemons.job.is_none();
        if !is_new || self.state.fetched.is_some() {
            return false;
        }
        let [creatures, stable] =
            ["creature/Cargo.lock", "Cargo.lock"].map(|path| lock_text(&self.house, path));
        let missing = cargo_home::missing(&creatures);
        if missing == 0 || !is_known(&creatures, &stable) || !self.is_all_the_owners() {
            return false;
        }
        match self.start_fetch() {
            Ok(pid) => {
                // Once, even if this guardian is killed meanwhile.
                self.state.fetched = Some(String::new());
                self.save();
                self.daemons.job = Some(Job::new(pid, Task::Fetch { missing }, self.clock.now()));
                true
            }
            Err(error) => {
                tracing::warn!("the creature's crates are not fetched beforehand: {error:#}");
                false
            }
        }
    }

    /// Whether no commit below HEAD is a self-edit.
    fn is_all_the_owners(&self) -> bool {
        self.state.selves.is_empty() && self.ladder.repo.newest_edit().is_ok_and(|edit| edit.is_none())
    }

    fn start_fetch(&self) -> Result<Pid> {
        let args = ["fetch", "--locked", "--target", "host-tuple", "--manifest-path", "creature/Cargo.toml"];
        let log = Some(files::create(&self.house.fetch_log())?);
        let (program, args) = (made::cargo(), args.map(str::to_owned).to_vec());
        trusted::start(&self.house, Trusted { program, args, log, ..Trusted::default() })
    }

    /// Begins the build that waited, however the fetch ended: the broker fetches the missing packages.
    pub fn fetched(&mut self, missing: usize, well: bool) {
        if well {
            self.state.fetched = Some(format!("{missing} packages of creature/Cargo.lock"));
            self.save();
        }
        if matches!(self.decided.phase, Phase::Building { .. }) && self.builder.build.is_none() {
            let begun = self.begin_build(false);
            begun.into_iter().for_each(|event| self.hear(event));
        }
    }
}
