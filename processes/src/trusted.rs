//! The owner's own processes (broker, console, builds of them): no walls, the full environment; they end with the guardian.
//!
//! Invariant: started from the main thread, as every child; a sweep after a life spares them only if told to.

use crate::machine;
use crate::{child, hunt};
use anyhow::{Context, Result};
use ground::{House, at_work, files, interrupt};
use nix::errno::Errno;
use nix::sys::prctl;
use nix::sys::signal::{Signal, killpg};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;
use std::fs::File;
use std::io::Write;
use std::os::fd::RawFd;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

/// Variables cargo and rustup set for the programs they run. A cargo started from there would take them for settings,
/// and recompile everything that depends on them.
const LEAKED: &str = "CARGO CARGO_BIN_NAME CARGO_CRATE_NAME CARGO_PRIMARY_PACKAGE LD_LIBRARY_PATH OUT_DIR RUST_RECURSION_COUNT";
const LEAKED_FROM: [&str; 2] = ["CARGO_PKG_", "CARGO_MANIFEST_"];

/// Program to start, its environment and descriptors.
#[derive(Default)]
pub struct Trusted {
    pub program: PathBuf,
    pub args: Vec<String>,
    /// Variables beside the full environment.
    pub extra: Vec<(&'static str, String)>,
    /// File for its standard output and standard error; `None`: discarded.
    pub log: Option<File>,
    /// Passed as descriptor 3.
    pub third: Option<RawFd>,
    /// Passed as descriptor 4; the lock on it shows a later guardian that this process lives.
    pub fourth: Option<RawFd>,
    /// Passed as descriptor 5.
    pub fifth: Option<RawFd>,
    /// Runs with low priority.
    pub yields: bool,
    /// Whether it has our terminal: it reads it in our process group, and is asked to end if we die.
    pub has_terminal: bool,
}

/// Starts the process, in a process group of its own unless it has our terminal.
pub fn start(house: &House, trusted: Trusted) -> Result<Pid> {
    let mut command = Command::new(&trusted.program);
    command.args(&trusted.args).current_dir(house.root());
    if !trusted.has_terminal {
        command.process_group(0).stdin(Stdio::null());
    }
    for (name, _) in std::env::vars_os() {
        let name = name.to_string_lossy();
        if LEAKED.split(' ').any(|leaked| leaked == name)
            || LEAKED_FROM.iter().any(|from| name.starts_with(from))
        {
            command.env_remove(&*name);
        }
    }
    let toolchain = child::toolchain(std::env::var("RUSTUP_TOOLCHAIN").ok(), std::env::var("CARGO").ok());
    command
        .env_remove(hunt::ANEW)
        .env_remove(hunt::LAST_LIFE)
        .env(hunt::COOKIE, house.identity())
        .envs(trusted.extra);
    command.envs(toolchain.map(|name| ("RUSTUP_TOOLCHAIN", name)));
    // Compilers and linkers of a build end without a folder for their temporary files.
    if machine::no_temporary().is_some() {
        let own = house.root().join("target/tmp");
        if std::fs::create_dir_all(&own).is_ok() {
            command.env("TMPDIR", own);
        }
    }
    match trusted.log {
        Some(log) => command.stdout(log.try_clone().context("failed to share a log")?).stderr(log),
        None => command.stdout(Stdio::null()).stderr(Stdio::null()),
    };
    let (parent, yields) = (nix::unistd::getpid(), trusted.yields);
    // Whoever has the terminal leaves it as it was.
    let end = if trusted.has_terminal { Signal::SIGTERM } else { Signal::SIGKILL };
    let descriptors = [(trusted.third, 3), (trusted.fourth, 4), (trusted.fifth, 5)];
    // SAFETY: between fork and exec only system calls are made; nothing allocates or locks.
    #[allow(unsafe_code)]
    unsafe {
        command.pre_exec(move || {
            // The owner's processes are not counted with the creature's.
            walls::group::leave();
            prctl::set_pdeathsig(end)?;
            prepare(parent, descriptors, yields)
        });
    }
    #[allow(clippy::disallowed_methods)]
    let child = command.spawn().with_context(|| format!("failed to start {}", trusted.program.display()))?;
    Ok(Pid::from_raw(child.id() as i32))
}

fn prepare(parent: Pid, descriptors: [(Option<RawFd>, RawFd); 3], yields: bool) -> std::io::Result<()> {
    if nix::unistd::getppid() != parent {
        return Err(Errno::ESRCH.into());
    }
    // Copied to high numbers first, so that none is overwritten before it is copied to its place.
    let mut far = [None; 3];
    for ((from, _), far) in descriptors.iter().zip(&mut far) {
        if let Some(from) = from {
            // SAFETY: a plain system call on a descriptor that the parent keeps open.
            #[allow(unsafe_code)]
            let copy = unsafe { libc::fcntl(*from, libc::F_DUPFD_CLOEXEC, 16) };
            if copy == -1 {
                return Err(std::io::Error::last_os_error());
            }
            *far = Some(copy);
        }
    }
    for ((_, to), from) in descriptors.iter().zip(far) {
        // SAFETY: as above; the copy does not close at exec.
        #[allow(unsafe_code)]
        if from.is_some_and(|from| unsafe { libc::dup2(from, *to) } == -1) {
            return Err(std::io::Error::last_os_error());
        }
    }
    if yields {
        // A failure does not matter.
        // SAFETY: a plain system call.
        #[allow(unsafe_code)]
        unsafe {
            libc::setpriority(libc::PRIO_PROCESS, 0, 15);
        }
    }
    Ok(())
}

/// Asks a process and its group to end.
pub fn terminate(pid: Pid) {
    send(pid, Signal::SIGTERM);
    send(pid, Signal::SIGCONT);
}

pub fn kill(pid: Pid) {
    send(pid, Signal::SIGKILL);
}

/// Sends to the process and its group, or to the process alone where the group is ours.
fn send(pid: Pid, signal: Signal) {
    if killpg(pid, signal).is_err() {
        let _ = nix::sys::signal::kill(pid, signal);
    }
}

/// Runs a short-lived program to its end; for commands, never within the loop.
pub fn output(program: &Path, args: &[&str]) -> Result<Output> {
    #[allow(clippy::disallowed_methods)]
    let output = Command::new(program).args(args).stdin(Stdio::null()).output();
    output.with_context(|| format!("failed to run {}", program.display()))
}

/// Runs a program to its end with this text as its input; none where that takes longer, and then it is ended. It ends with
/// us. `goes_on` is told the seconds that have passed, once each.
pub fn answered(
    program: &Path,
    args: &[&str],
    input: &str,
    longest_s: u64,
    mut goes_on: impl FnMut(u64),
) -> Result<Option<Output>> {
    let failed = || format!("failed to run {}", program.display());
    let mut command = Command::new(program);
    command.args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    // SAFETY: a plain system call.
    #[allow(unsafe_code)]
    unsafe {
        command.pre_exec(|| Ok(prctl::set_pdeathsig(Signal::SIGTERM)?));
    }
    #[allow(clippy::disallowed_methods)]
    let mut child = command.spawn().with_context(failed)?;
    let (pid, stdin) = (Pid::from_raw(child.id() as i32), child.stdin.take());
    let input = input.to_owned();
    let writing = std::thread::spawn(move || stdin.map(|mut stdin| stdin.write_all(input.as_bytes())));
    let (done, ended) = mpsc::channel();
    let waiting = std::thread::spawn(move || done.send(child.wait_with_output()));
    for second in 1..=longest_s {
        match ended.recv_timeout(Duration::from_secs(1)) {
            Ok(output) => {
                let _ = (writing.join(), waiting.join());
                return output.map(Some).with_context(failed);
            }
            Err(RecvTimeoutError::Timeout) => goes_on(second),
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    terminate(pid);
    Ok(None)
}

/// Waits for a process while `go_on` allows; `None` if it no longer does, and the process lives on.
pub fn wait(pid: Pid, mut go_on: impl FnMut() -> bool) -> Option<WaitStatus> {
    loop {
        match waitpid(pid, Some(WaitPidFlag::WNOHANG)) {
            Ok(WaitStatus::StillAlive) => {}
            Ok(status) => return Some(status),
            Err(_) => return Some(WaitStatus::Exited(pid, -1)),
        }
        if !go_on() {
            return None;
        }
        interrupt::gets_on();
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Ends the processes a former guardian left: those that have the file open, and the process of this name whose id is
/// in the file. The latter because the broker hides its open files.
pub fn end_holders(lock: &Path, name: &str) {
    let noted = files::tail(lock, 32).trim().parse().ok();
    let is_it =
        |pid: &i32| files::system(format!("/proc/{pid}/comm")).is_ok_and(|comm| comm.trim_end() == name);
    let noted = noted.filter(is_it).map(Pid::from_raw);
    let us = nix::unistd::getpid();
    for pid in at_work::holders(lock).into_iter().chain(noted).filter(|pid| *pid != us) {
        let _ = nix::sys::signal::kill(pid, Signal::SIGKILL);
    }
}
