//! Processes as `/proc` shows them: reaping children, ending all descendants, finding those a former guardian left.
//!
//! Invariant: nothing here waits for a process; a search is bounded, and reports whether anything is left.

use crate::at_work::{holders, processes};
use crate::{House, files};
use anyhow::{Context, Result, bail};
use nix::errno::Errno;
use nix::sys::prctl;
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// A variable in the environment of every process of this house, by which a later guardian finds leftovers.
pub const COOKIE: &str = "FERAL_TREE";
/// Set for a steward that begins anew: why.
pub const ANEW: &str = "FERAL_ANEW";
/// Set for every steward: number of the last life, which may have been a stand-in's.
pub const LAST_LIFE: &str = "FERAL_LAST_LIFE";
/// Rounds of one sweep; processes left then are swept again after the loop has handled other events.
const ROUNDS: usize = 40;
/// Rounds at the guardian's start, where there are no other events yet: some seconds.
const ORPHAN_ROUNDS: usize = 2_000;
/// Looks in each round for processes born while others were being stopped.
const LOOKS: usize = 100;
/// Looks in a row that must find nothing: when process ids wrap around, one look may miss a process just being born.
const UNSEEN: usize = 3;
const PAUSE: Duration = Duration::from_millis(2);

/// Orphaned descendants become children of the guardian, so that they can be found and reaped.
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

/// Reaps onto a list, as `reap` does; true when no child is left at all.
pub fn reap_into(ended: &mut Vec<(Pid, WaitStatus)>) -> bool {
    loop {
        match waitpid(None, Some(WaitPidFlag::WNOHANG)).map(|status| (status.pid(), status)) {
            Ok((Some(pid), status)) => ended.push((pid, status)),
            Ok((None, _)) => return false,
            Err(error) => return error == Errno::ECHILD,
        }
    }
}

/// Asks all children of a process to end; SIGCONT because a stopped process does not handle SIGTERM.
pub fn ask_children_of(pid: Pid) {
    for pid in
        below(pid, &[]).into_iter().filter(|child| parent_of_living(child.as_raw()) == Some(pid.as_raw()))
    {
        signal(pid, Signal::SIGTERM);
        signal(pid, Signal::SIGCONT);
    }
}

/// Kills all descendants of this process, once; true when none is left.
pub fn kill_all_below() -> bool {
    if reap_into(&mut Vec::new()) {
        return true;
    }
    kill_all(|| children(&[]).into_iter().chain(below(Pid::this(), &[])).collect());
    false
}

/// Kills and reaps all descendants of the guardian, except the processes in `spare` and what they started. True once
/// none is left.
pub fn sweep(spare: &[Pid], ended: &mut Vec<(Pid, WaitStatus)>) -> bool {
    let mut unseen = 0;
    (0..ROUNDS).any(|_| {
        if reap_into(ended) {
            return true;
        }
        let none =
            kill_all(|| children(spare).into_iter().chain(below(Pid::this(), spare)).collect()).is_empty();
        unseen = if none { unseen + 1 } else { 0 };
        unseen == UNSEEN
    })
}

/// Kills all processes that `find` finds, and returns them. All are stopped before any is killed, so that no death wakes
/// another; none is reaped before all are found, so that one that keeps forking and ending fills the process table
/// instead of escaping.
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

/// Fails for a process that has ended already, which needs no report.
fn signal(pid: Pid, signal: Signal) {
    let _ = kill(pid, signal);
}

/// A process and all its living descendants.
pub fn all_of(pid: Pid) -> Vec<Pid> {
    let mut found = below(pid, &[]);
    found.push(pid);
    found
}

/// Our own children but for those in `spare`, dead ones included, as the kernel lists them at one moment: whoever goes
/// from hand to hand is among them, being an orphan, and gone again before a walk through `/proc` comes to it. Nothing
/// where the kernel keeps no such list.
fn children(spare: &[Pid]) -> Vec<Pid> {
    let threads = std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let lists = threads.filter_map(|thread| files::system(thread.path().join("children")).ok());
    let pids = lists.flat_map(|list| list.split(' ').filter_map(|pid| pid.parse().ok()).collect::<Vec<_>>());
    pids.map(Pid::from_raw).filter(|pid| !spare.contains(pid)).collect()
}

/// All living descendants of a process, except those in `spare` and their descendants.
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

/// The parent of a process; `None` for one that has died and waits to be reaped.
fn parent_of_living(pid: i32) -> Option<i32> {
    let stat = files::system(format!("/proc/{pid}/stat")).ok()?;
    // The program's name, in brackets, may contain anything, so fields are counted from its end.
    let mut fields = stat.rsplit_once(')')?.1.split_ascii_whitespace();
    let state = fields.next()?;
    let parent = fields.next()?.parse().ok()?;
    // The state is that of the first thread; a process whose first thread has ended lives on if it has others.
    let threads: u64 = fields.nth(15)?.parse().ok()?;
    (!matches!(state, "Z" | "X") || threads > 1).then_some(parent)
}

/// Ends all processes a former guardian of this house left alive; returns how many there were.
pub fn end_orphans(house: &House) -> Result<usize> {
    let us = nix::unistd::getpid();
    let find = |is_first: bool| {
        let mut left = marked(house);
        // Every open file of this machine is looked at: once, as the lock tells whether a look missed one.
        if is_first {
            left.extend(holders(&house.creature_lock()));
        }
        left.retain(|pid| *pid != us && parent_of_living(pid.as_raw()).is_some());
        left
    };
    let (mut ended, mut unseen) = (BTreeSet::new(), 0);
    for _ in 0..ORPHAN_ROUNDS {
        let found = kill_all(|| find(unseen == 0));
        unseen = if found.is_empty() { unseen + 1 } else { 0 };
        if unseen == UNSEEN {
            return Ok(ended.len());
        }
        ended.extend(found);
    }
    bail!("processes of a former creature will not end: {ended:?}; end them by hand and start again")
}

fn marked(house: &House) -> Vec<Pid> {
    let mark = format!("{COOKIE}={}", house.identity());
    let is = |pid: &i32| {
        files::system(format!("/proc/{pid}/environ"))
            .is_ok_and(|text| text.split('\0').any(|pair| pair == mark))
    };
    processes().filter(is).map(Pid::from_raw).collect()
}

/// Whether a process with this id exists; does not wait.
pub fn exists(pid: i32) -> bool {
    kill(Pid::from_raw(pid), None) != Err(Errno::ESRCH)
}
