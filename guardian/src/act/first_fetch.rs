//! Fetches the creature's crates before the first build of a new house, as the owner: no broker is there yet to judge it.
//!
//! Invariant: only while no life has been and nothing of `creature/` is the creature's own, only what its lock file names
//! with a checksum, and only from registries that the stable workspace itself is built from. Fetching runs nothing of a
//! crate, and cargo is run from the root, above which no settings are the creature's. Later the broker judges each fetch.

use crate::act::around::Around;
use crate::act::daemons::jobs::{Job, Task};
use crate::act::daemons::keep::Daemons;
use crate::act::ladder::Ladder;
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

/// Whether the first build has to wait for a fetch, which begins now.
pub fn begins(around: &mut Around, daemons: &mut Daemons, ladder: &Ladder) -> bool {
    let is_new = around.state.life == 0 && daemons.broker_is_to_come() && daemons.job.is_none();
    if !is_new || around.state.fetched.is_some() {
        return false;
    }
    let [creatures, stable] =
        ["creature/Cargo.lock", "Cargo.lock"].map(|path| lock_text(&around.house, path));
    let missing = cargo_home::missing(&creatures);
    // No commit below HEAD is a self-edit.
    let is_all_the_owners =
        || around.state.selves.is_empty() && ladder.repo.newest_edit().is_ok_and(|edit| edit.is_none());
    if missing == 0 || !is_known(&creatures, &stable) || !is_all_the_owners() {
        return false;
    }
    match start(&around.house) {
        Ok(pid) => {
            // Once, even if this guardian is killed meanwhile.
            around.state.fetched = Some(String::new());
            around.save();
            daemons.job = Some(Job::new(pid, Task::Fetch { missing }, around.now()));
            true
        }
        Err(error) => {
            tracing::warn!("the creature's crates are not fetched beforehand: {error:#}");
            false
        }
    }
}

fn start(house: &House) -> Result<Pid> {
    let args = ["fetch", "--locked", "--target", "host-tuple", "--manifest-path", "creature/Cargo.toml"];
    let log = Some(files::create(&house.fetch_log())?);
    let (program, args) = (made::cargo(), args.map(str::to_owned).to_vec());
    trusted::start(house, Trusted { program, args, log, ..Trusted::default() })
}
