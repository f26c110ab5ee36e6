//! Processes: starting them so that they cannot outlive us, ending whole trees of them, finding orphans.
//!
//! Invariant: everything is started from the main thread, since the death signal follows the thread that forked.
//! Invariant: nothing here waits for a child; exits are collected when SIGCHLD says so.

use crate::house::House;
use anyhow::{Context, Result, bail};
use nix::errno::Errno;
use nix::sys::prctl;
use nix::sys::signal::{Signal, kill, killpg};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;
use std::fs::File;
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Variables a child gets from us; everything else stays with the guardian.
const PASSED: &str = "PATH HOME CARGO CARGO_HOME RUSTUP_HOME TMPDIR LANG LC_ALL TERM TZ USER RUST_LOG RUST_BACKTRACE \
    SSL_CERT_FILE SSL_CERT_DIR HTTP_PROXY HTTPS_PROXY NO_PROXY http_proxy https_proxy no_proxy \
    CC CXX AR CARGO_NET_OFFLINE CARGO_HTTP_CAINFO";
/// Marks every process of this house, so that a later guardian knows leftovers even if they closed everything.
pub const COOKIE: &str = "FERAL_TREE";

/// What to start, and with what.
pub struct Start {
    pub program: PathBuf,
    pub args: Vec<String>,
    /// On top of what is passed.
    pub extra: Vec<(&'static str, String)>,
    pub stdout: File,
    pub stderr: File,
}

/// Starts a process in a group of its own that dies with us and holds the creature lock.
pub fn start(house: &House, lock: &File, start: Start) -> Result<Pid> {
    let mut command = Command::new(&start.program);
    command.args(&start.args).current_dir(house.root()).env_clear().process_group(0);
    command.stdin(Stdio::null()).stdout(start.stdout).stderr(start.stderr);
    for name in PASSED.split_whitespace() {
        if let Some(value) = std::env::var_os(name) {
            command.env(name, value);
        }
    }
    command.env(COOKIE, house.root()).envs(start.extra).env("RUSTUP_AUTO_INSTALL", "0");
    if let Some(name) = toolchain(std::env::var("RUSTUP_TOOLCHAIN").ok(), std::env::var("CARGO").ok()) {
        command.env("RUSTUP_TOOLCHAIN", name);
    }
    let (parent, lock) = (nix::unistd::getpid(), lock.as_raw_fd());
    // SAFETY: between fork and exec only system calls are made; nothing allocates or locks.
    #[allow(unsafe_code)]
    unsafe {
        command.pre_exec(move || prepare(parent, lock));
    }
    #[allow(clippy::disallowed_methods)]
    let child = command.spawn().with_context(|| format!("failed to start {}", start.program.display()))?;
    Ok(Pid::from_raw(child.id() as i32))
}

/// The toolchain the owner started us with. Without it rustup would obey the `rust-toolchain` file of whatever
/// folder rustc runs in, a dependency's own included, and install what that names.
pub fn toolchain(chosen: Option<String>, cargo: Option<String>) -> Option<String> {
    chosen.filter(|name| !name.is_empty()).or_else(|| {
        let cargo = cargo?;
        let (_, rest) = cargo.split_once("/toolchains/")?;
        Some(rest.split_once('/')?.0.to_owned())
    })
}

#[cfg(target_os = "linux")]
fn prepare(parent: Pid, lock: RawFd) -> std::io::Result<()> {
    prctl::set_pdeathsig(Signal::SIGKILL)?;
    if nix::unistd::getppid() != parent {
        return Err(Errno::ESRCH.into());
    }
    // The lock stays open over exec: while any descendant lives, a new guardian finds it held.
    // SAFETY: a plain system call on a descriptor that the parent keeps open.
    #[allow(unsafe_code)]
    if unsafe { libc::fcntl(lock, libc::F_SETFD, 0) } == -1 {
        return Err(std::io::Error::last_os_error());
    }
    // So that the kernel, short of memory, takes the creature before its guardian. Not being able to is no reason not to live.
    let flags = nix::fcntl::OFlag::O_WRONLY;
    if let Ok(file) = nix::fcntl::open(c"/proc/self/oom_score_adj", flags, nix::sys::stat::Mode::empty()) {
        let _ = nix::unistd::write(&file, b"500");
    }
    Ok(())
}

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
fn reap_into(ended: &mut Vec<(Pid, WaitStatus)>) -> bool {
    loop {
        match waitpid(None, Some(WaitPidFlag::WNOHANG)).map(|status| (status.pid(), status)) {
            Ok((Some(pid), status)) => ended.push((pid, status)),
            Ok((None, _)) => return false,
            Err(error) => return error == Errno::ECHILD,
        }
    }
}

/// Asks a group to end. A stopped process cannot die of TERM, so it is continued as well.
pub fn terminate(group: Pid) {
    let _ = killpg(group, Signal::SIGTERM);
    let _ = killpg(group, Signal::SIGCONT);
}

pub fn kill_group(group: Pid) {
    let _ = killpg(group, Signal::SIGKILL);
}

/// Kills and reaps every child and adopted orphan but those of the groups in `spare`. True once none is left.
pub fn sweep(spare: &[Pid], ended: &mut Vec<(Pid, WaitStatus)>) -> bool {
    for _ in 0..500 {
        if reap_into(ended) {
            return true;
        }
        let left: Vec<_> = children().into_iter().filter(|(_, group)| !spare.contains(group)).collect();
        if left.is_empty() {
            return true;
        }
        for (pid, _) in left {
            let _ = kill(pid, Signal::SIGKILL);
        }
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    false
}

/// Our children, adopted ones included, each with its process group.
fn children() -> Vec<(Pid, Pid)> {
    let me = nix::unistd::getpid();
    processes()
        .filter_map(|pid| {
            let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
            // The name in brackets may hold anything, so fields are counted from its end.
            let mut fields = stat.rsplit_once(')')?.1.split_ascii_whitespace().skip(1);
            let parent: i32 = fields.next()?.parse().ok()?;
            let group: i32 = fields.next()?.parse().ok()?;
            (parent == me.as_raw()).then(|| (Pid::from_raw(pid), Pid::from_raw(group)))
        })
        .collect()
}

/// Ends whatever a former guardian of this house left alive. How many processes that were.
pub fn end_orphans(house: &House) -> Result<usize> {
    let mut ended = std::collections::BTreeSet::new();
    for _ in 0..2_000 {
        let mut left = holders(&house.creature_lock());
        left.extend(marked(house.root()));
        left.retain(|pid| *pid != nix::unistd::getpid());
        if left.is_empty() {
            return Ok(ended.len());
        }
        for pid in left {
            let _ = kill(pid, Signal::SIGKILL);
            ended.insert(pid.as_raw());
        }
        std::thread::sleep(std::time::Duration::from_millis(5));
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

fn marked(root: &Path) -> Vec<Pid> {
    let mark = format!("{COOKIE}={}", root.display());
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
