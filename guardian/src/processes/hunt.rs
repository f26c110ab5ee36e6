//! Processes as `/proc` shows them: reaping ours, ending what descends from us one by one, finding what a former guardian left.
//!
//! Invariant: nothing here waits for a process; a hunt is bounded, and says whether anything is left to hunt.

use anyhow::{Context, Result, bail};
use house::House;
use nix::errno::Errno;
use nix::sys::prctl;
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;
use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::Duration;

/// Marks every process of this house, so that a later guardian knows leftovers even if they closed everything.
pub const COOKIE: &str = "FERAL_TREE";
/// Rounds of one hunt; who is hunted for longer is hunted again when the loop has heard what else there is to hear.
const ROUNDS: usize = 40;
/// The same at a start, where there is nothing else to hear yet: some seconds.
const ORPHAN_ROUNDS: usize = 2_000;
/// Looks for processes born while others were being stopped, in each round.
const LOOKS: usize = 100;
/// Looks in a row that must find none: where numbers of processes begin anew, one look may miss who is just being born.
const UNSEEN: usize = 3;
const PAUSE: Duration = Duration::from_millis(2);

/// Orphans of our children become ours, so that none can slip away.
#[cfg(target_os = "linux")]
pub fn adopt_orphans() -> Result<()> {
    prctl::set_child_subreaper(true).context("failed to become the reaper of orphans")
}

/// Every child that ended since the last call.
pub fn reap() -> Vec<(Pid, WaitStatus)> {
    let mut ended = Vec::new();
    reap_into(&mut ended);
    ended
}

/// The same, onto a list; true when no child is left at all.
pub fn reap_into(ended: &mut Vec<(Pid, WaitStatus)>) -> bool {
    loop {
        match waitpid(None, Some(WaitPidFlag::WNOHANG)).map(|status| (status.pid(), status)) {
            Ok((Some(pid), status)) => ended.push((pid, status)),
            Ok((None, _)) => return false,
            Err(error) => return error == Errno::ECHILD,
        }
    }
}

/// Kills and reaps everything that descends from us, but the processes in `spare` and what they started. True once none
/// is left.
pub fn sweep(spare: &[Pid], ended: &mut Vec<(Pid, WaitStatus)>) -> bool {
    let mut unseen = 0;
    (0..ROUNDS).any(|_| {
        if reap_into(ended) {
            return true;
        }
        let none = kill_all(|| below(Pid::this(), spare)).is_empty();
        unseen = if none { unseen + 1 } else { 0 };
        unseen == UNSEEN
    })
}

/// Kills all that `find` finds, which is told. All are stopped before any is killed, so that the death of one wakes none of
/// the others; and none is reaped before all are found, so that who only hands its life on fills the table of processes.
fn kill_all(find: impl Fn() -> Vec<Pid>) -> BTreeSet<Pid> {
    let mut found = BTreeSet::new();
    for _ in 0..LOOKS {
        let fresh: Vec<Pid> = find().into_iter().filter(|pid| found.insert(*pid)).collect();
        fresh.iter().for_each(|pid| signal(*pid, Signal::SIGSTOP));
        if fresh.is_empty() {
            break;
        }
    }
    found.iter().for_each(|pid| signal(*pid, Signal::SIGKILL));
    if !found.is_empty() {
        std::thread::sleep(PAUSE);
    }
    found
}

/// Who is gone already is not to be told.
fn signal(pid: Pid, signal: Signal) {
    let _ = kill(pid, signal);
}

/// A process and every living one below it.
pub fn all_of(pid: Pid) -> Vec<Pid> {
    let mut found = below(pid, &[]);
    found.push(pid);
    found
}

/// Every living process below one, however deep; not those in `spare`, nor what is below them.
fn below(pid: Pid, spare: &[Pid]) -> Vec<Pid> {
    let mut children: BTreeMap<i32, Vec<i32>> = BTreeMap::new();
    for pid in processes() {
        if let Some(parent) = parent_of_living(pid) {
            children.entry(parent).or_default().push(pid);
        }
    }
    let (mut found, mut next) = (vec![pid.as_raw()], 0);
    while let Some(pid) = found.get(next).copied() {
        next += 1;
        let started = children.remove(&pid).unwrap_or_default();
        found.extend(started.into_iter().filter(|child| !spare.contains(&Pid::from_raw(*child))));
    }
    found.into_iter().skip(1).map(Pid::from_raw).collect()
}

/// The parent of a process; none of one that has died and only waits to be reaped.
fn parent_of_living(pid: i32) -> Option<i32> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name in brackets may hold anything, so fields are counted from its end.
    let mut fields = stat.rsplit_once(')')?.1.split_ascii_whitespace();
    let state = fields.next()?;
    let parent = fields.next()?.parse().ok()?;
    // Of a process whose first thread is gone the state is that thread's: what counts then is how many there are.
    let threads: u64 = fields.nth(15)?.parse().ok()?;
    (!matches!(state, "Z" | "X") || threads > 1).then_some(parent)
}

/// Ends whatever a former guardian of this house left alive. How many processes that were.
pub fn end_orphans(house: &House) -> Result<usize> {
    let us = nix::unistd::getpid();
    let find = || {
        let mut left = holders(&house.creature_lock());
        left.extend(marked(house));
        left.retain(|pid| *pid != us && parent_of_living(pid.as_raw()).is_some());
        left
    };
    let mut ended = BTreeSet::new();
    for _ in 0..ORPHAN_ROUNDS {
        let found = kill_all(find);
        if found.is_empty() {
            return Ok(ended.len());
        }
        ended.extend(found);
    }
    bail!("processes of a former creature will not end: {ended:?}; end them by hand and start again")
}

/// Processes that have this file open.
pub fn holders(path: &Path) -> Vec<Pid> {
    let Ok(wanted) = std::fs::metadata(path) else { return vec![] };
    let holds = |pid: &i32| {
        std::fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten().any(|entry| {
            std::fs::metadata(entry.path())
                .is_ok_and(|meta| meta.ino() == wanted.ino() && meta.dev() == wanted.dev())
        })
    };
    processes().filter(holds).map(Pid::from_raw).collect()
}

/// Whether a program of this name works in this folder or below.
pub fn works_in(name: &str, folder: &Path) -> bool {
    processes().any(|pid| {
        std::fs::read_to_string(format!("/proc/{pid}/comm")).is_ok_and(|comm| comm.trim_end() == name)
            && std::fs::read_link(format!("/proc/{pid}/cwd")).is_ok_and(|at| at.starts_with(folder))
    })
}

fn marked(house: &House) -> Vec<Pid> {
    let mark = format!("{COOKIE}={}", house.identity());
    let is = |pid: &i32| {
        std::fs::read(format!("/proc/{pid}/environ"))
            .is_ok_and(|bytes| bytes.split(|byte| *byte == 0).any(|pair| pair == mark.as_bytes()))
    };
    processes().filter(is).map(Pid::from_raw).collect()
}

fn processes() -> impl Iterator<Item = i32> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// Waits for nothing: whether a process is there.
pub fn exists(pid: i32) -> bool {
    kill(Pid::from_raw(pid), None) != Err(Errno::ESRCH)
}
