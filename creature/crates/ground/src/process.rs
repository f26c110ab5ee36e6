//! Runs one command with a deadline and ends everything it started; every process of the creature's starts here.
//!
//! Invariant: when `run` returns, nothing the command started is left, `setsid` and double forks included, where
//! this process is a child subreaper (`become_reaper`).
//! Invariant: a command never sees a secret: variables that look like keys are dropped, the broker's token too.
//! Only the address of cargo's proxy holds the token; the tools strike it from a command's output.
//! Deliberately absent: stdin, a terminal, a shell (callers name one).

use crate::fault::Fault;
use crate::files;
use nix::errno::Errno;
use nix::sys::signal::{Signal, kill, killpg};
use nix::sys::wait::{WaitPidFlag, waitpid};
use nix::unistd::Pid;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::Command;
use tokio::time::{sleep, sleep_until, timeout};

/// Parts of a variable's name that mark it as a secret.
const SECRET: [&str; 6] = ["KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "CREDENTIAL"];

/// Variables that cargo and rustup leak into the programs they run; a cargo below us must not inherit them.
/// `RUSTUP_TOOLCHAIN` stays: without it rustup obeys the `rust-toolchain` file of every dependency it compiles.
const LEAKED: [&str; 2] = ["LD_LIBRARY_PATH", "RUST_RECURSION_COUNT"];

/// Time in which strays are ended; a stray still there is stuck in the kernel, and is ended after the next command.
const END_STRAYS_WITHIN: Duration = Duration::from_secs(2);

/// Process ids of commands now running, so that `end_strays` spares them.
static RUNNING: Mutex<BTreeSet<i32>> = Mutex::new(BTreeSet::new());

/// Command to run, with its bounds.
#[derive(Clone, Debug)]
pub struct Job {
    pub program: OsString,
    pub args: Vec<OsString>,
    pub dir: PathBuf,
    /// Variables beyond the cleaned environment.
    pub env: Vec<(String, OsString)>,
    pub deadline: Duration,
    /// Bytes kept of each output, half of them its head and half its tail.
    pub most_bytes: usize,
}

impl Job {
    pub fn new(program: impl AsRef<OsStr>, dir: impl Into<PathBuf>, deadline: Duration) -> Self {
        Self {
            program: program.as_ref().to_owned(),
            args: Vec::new(),
            dir: dir.into(),
            env: Vec::new(),
            deadline,
            most_bytes: 256 * 1024,
        }
    }

    pub fn args<A: AsRef<OsStr>>(mut self, args: impl IntoIterator<Item = A>) -> Self {
        self.args.extend(args.into_iter().map(|arg| arg.as_ref().to_owned()));
        self
    }

    pub fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.env.push((name.to_owned(), value.as_ref().to_owned()));
        self
    }
}

/// End of a command, and its output.
#[derive(Clone, Debug)]
pub struct Ended {
    /// Exit status; none when a signal ended it.
    pub status: Option<i32>,
    pub signal: Option<i32>,
    pub timed_out: bool,
    pub stdout: Capture,
    pub stderr: Capture,
    /// Processes that had left its group and were ended after it.
    pub strays: usize,
    pub took: Duration,
}

impl Ended {
    pub fn ok(&self) -> bool {
        self.status == Some(0) && !self.timed_out
    }

    /// The end in words: `exit status 101`, `ended by signal 9`, `stopped at its deadline after 60 s`.
    pub fn how(&self) -> String {
        match (self.timed_out, self.status, self.signal) {
            (true, ..) => format!("stopped at its deadline after {} s", self.took.as_secs()),
            (false, Some(status), _) => format!("exit status {status}"),
            (false, None, Some(signal)) => format!("ended by signal {signal}"),
            (false, None, None) => "ended without a status".to_owned(),
        }
    }
}

/// Output of a command, capped: its head and its tail.
#[derive(Clone, Debug, Default)]
pub struct Capture {
    head: Vec<u8>,
    tail: Vec<u8>,
    /// Bytes there were in all.
    pub total: u64,
    /// Bytes kept of the head, and as many of the tail.
    most: usize,
}

impl Capture {
    fn new(most: usize) -> Self {
        Self { most: most / 2, ..Self::default() }
    }

    fn take(&mut self, bytes: &[u8]) {
        self.total += bytes.len() as u64;
        let room = self.most.saturating_sub(self.head.len()).min(bytes.len());
        let (first, rest) = bytes.split_at(room);
        self.head.extend_from_slice(first);
        self.tail.extend_from_slice(rest);
        // Trimmed only at twice its size, so that a flood costs a copy a buffer, not a copy a read.
        if self.tail.len() > self.most * 2 {
            self.tail.drain(..self.tail.len() - self.most);
        }
    }

    /// Returns the kept bytes as text, with a note of how many are missing from its middle.
    pub fn text(&self) -> String {
        let over = self.tail.len().saturating_sub(self.most);
        let tail = self.tail.get(over..).unwrap_or_default();
        let missing = self.total - (self.head.len() + tail.len()) as u64;
        if missing == 0 {
            let mut whole = self.head.clone();
            whole.extend_from_slice(tail);
            return String::from_utf8_lossy(&whole).into_owned();
        }
        let (head, tail) = (String::from_utf8_lossy(&self.head), String::from_utf8_lossy(tail));
        format!("{head}\n… {missing} bytes left out …\n{tail}")
    }
}

/// Output of a command so far, standard output and standard error apart; it can be read while the command runs.
#[derive(Clone, Debug, Default)]
pub struct Output(Arc<Mutex<(Capture, Capture)>>);

impl Output {
    fn both(&self) -> MutexGuard<'_, (Capture, Capture)> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns standard output and standard error as text, as far as they are kept.
    pub fn texts(&self) -> (String, String) {
        let both = self.both();
        (both.0.text(), both.1.text())
    }
}

/// Makes this process the parent of every orphan below it; without it only process groups can be ended.
pub fn become_reaper() -> Result<(), Fault> {
    #[cfg(target_os = "linux")]
    nix::sys::prctl::set_child_subreaper(true).map_err(|cause| {
        let hint = "commands that daemonise will outlive their call";
        Fault::caused("become a child subreaper", &cause, hint)
    })?;
    Ok(())
}

/// The environment a command may see: no secrets, nothing leaked by cargo, nothing the guardian told this life but
/// `FERAL_TREE`, by which the guardian finds processes of this house.
pub fn child_environment<V>(vars: impl IntoIterator<Item = (OsString, V)>) -> Vec<(OsString, V)> {
    let may_pass = |name: &str| {
        let upper = name.to_uppercase();
        let secret = SECRET.iter().any(|part| upper.contains(part));
        // The proxy's address holds the token: cargo's way to the registries leads through the broker.
        let passed = matches!(name, "CARGO_HOME" | "CARGO_HTTP_PROXY");
        let cargo = name == "CARGO" || (name.starts_with("CARGO_") && !passed);
        !(secret || cargo || LEAKED.contains(&name) || (name.starts_with("FERAL_") && name != "FERAL_TREE"))
    };
    vars.into_iter().filter(|(name, _)| name.to_str().is_some_and(may_pass)).collect()
}

/// Runs the command to its end or its deadline, then ends its whole tree.
pub async fn run(job: Job) -> Result<Ended, Fault> {
    run_into(job, &Output::default()).await
}

/// Runs the command as `run` does; its output goes into `output` while it runs.
pub async fn run_into(job: Job, output: &Output) -> Result<Ended, Fault> {
    let started = Instant::now();
    let mut child = command(&job).spawn().map_err(|cause| {
        let doing = format!("start {} in {}", job.program.display(), job.dir.display());
        Fault::caused(doing, &cause, "is it installed and on PATH?")
    })?;
    let mut group = Group::of(child.id());
    *output.both() = (Capture::new(job.most_bytes), Capture::new(job.most_bytes));
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let (status, timed_out, strays) = {
        let (out, err) =
            (|bytes: &[u8]| output.both().0.take(bytes), |bytes: &[u8]| output.both().1.take(bytes));
        let reading = async { tokio::join!(drain(stdout, out), drain(stderr, err)) };
        tokio::pin!(reading);
        let mut read = false;
        let late = sleep_until((started + job.deadline).into());
        tokio::pin!(late);
        let status = loop {
            tokio::select! {
                status = child.wait() => break status.ok(),
                _ = &mut reading, if !read => read = true,
                () = &mut late => break None,
            }
        };
        let timed_out = status.is_none();
        group.end();
        let status = match status {
            Some(status) => Some(status),
            None => child.wait().await.ok(),
        };
        group.forget();
        let strays = end_strays().await;
        if !read {
            // With every writer dead this is the rest of the pipe; the limit is for a writer that got away.
            let _ = timeout(Duration::from_secs(1), &mut reading).await;
        }
        (status, timed_out, strays)
    };
    let (stdout, stderr) = output.both().clone();
    Ok(Ended {
        status: status.as_ref().and_then(ExitStatus::code),
        signal: status.as_ref().and_then(ExitStatusExt::signal),
        timed_out,
        stdout,
        stderr,
        strays,
        took: started.elapsed(),
    })
}

fn command(job: &Job) -> Command {
    let mut command = Command::new(&job.program);
    command
        .args(&job.args)
        .current_dir(&job.dir)
        .env_clear()
        .envs(child_environment(std::env::vars_os()))
        .env("RUSTUP_AUTO_INSTALL", "0")
        .envs(job.env.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0);
    // Sound: between fork and exec only one system call is made, and it allocates nothing.
    #[cfg(target_os = "linux")]
    unsafe {
        command.pre_exec(|| Ok(nix::sys::prctl::set_pdeathsig(Signal::SIGKILL)?));
    }
    command
}

async fn drain(pipe: Option<impl AsyncRead + Unpin>, mut into: impl FnMut(&[u8])) {
    let Some(mut pipe) = pipe else { return };
    let mut buffer = vec![0; 16 * 1024];
    while let Ok(read @ 1..) = pipe.read(&mut buffer).await {
        into(buffer.get(..read).unwrap_or_default());
    }
}

/// A running command's process group; dropped unfinished, it is ended, so a cancelled call leaves nothing running.
struct Group {
    leader: Option<Pid>,
}

impl Group {
    fn of(id: Option<u32>) -> Self {
        let leader = id.and_then(|id| i32::try_from(id).ok());
        if let (Some(pid), Ok(mut running)) = (leader, RUNNING.lock()) {
            running.insert(pid);
        }
        Self { leader: leader.map(Pid::from_raw) }
    }

    fn end(&self) {
        if let Some(leader) = self.leader {
            // Its leader may be gone already, and then there is nothing to end.
            let _ = killpg(leader, Signal::SIGKILL);
        }
    }

    fn forget(&mut self) {
        if let (Some(leader), Ok(mut running)) = (self.leader.take(), RUNNING.lock()) {
            running.remove(&leader.as_raw());
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if self.leader.is_some() {
            self.end();
            self.forget();
            for pid in strays() {
                let _ = kill(Pid::from_raw(pid), Signal::SIGKILL);
            }
        }
    }
}

/// Ends and reaps adopted processes until none is left, for `END_STRAYS_WITHIN` at most; returns how many there were.
async fn end_strays() -> usize {
    let (mut ended, until) = (BTreeSet::new(), Instant::now() + END_STRAYS_WITHIN);
    loop {
        let found = strays();
        if found.is_empty() || Instant::now() > until {
            return ended.len();
        }
        for id in found {
            let pid = Pid::from_raw(id);
            let _ = kill(pid, Signal::SIGKILL);
            // A process whose parent lives is no child of ours: waiting for it fails, and the next round gets it.
            if waitpid(pid, Some(WaitPidFlag::WNOHANG)) != Err(Errno::ECHILD) {
                ended.insert(id);
            }
        }
        sleep(Duration::from_millis(5)).await;
    }
}

/// Adopted children and all below them, as `/proc` shows them now; none where this process adopts nobody.
fn strays() -> Vec<i32> {
    #[cfg(target_os = "linux")]
    if nix::sys::prctl::get_child_subreaper() == Ok(true) {
        let spared = RUNNING.lock().map(|set| set.clone()).unwrap_or_default();
        let mut below: BTreeMap<i32, Vec<i32>> = BTreeMap::new();
        for (pid, parent) in parents() {
            below.entry(parent).or_default().push(pid);
        }
        let me = std::process::id().cast_signed();
        let adopted = below.get(&me).into_iter().flatten();
        let mut found: Vec<i32> = adopted.filter(|pid| !spared.contains(pid)).copied().collect();
        let mut next = 0;
        while let Some(pid) = found.get(next).copied() {
            found.extend(below.get(&pid).into_iter().flatten());
            next += 1;
        }
        return found;
    }
    Vec::new()
}

/// Every process and its parent.
fn parents() -> Vec<(i32, i32)> {
    let parent = |name: &OsStr| {
        let pid: i32 = name.to_str()?.parse().ok()?;
        let stat = files::of_the_system(format!("/proc/{pid}/stat")).ok()?;
        // The name in brackets may hold anything, so what counts starts after the last bracket.
        let (_, fields) = stat.rsplit_once(')')?;
        Some((pid, fields.split_whitespace().nth(1)?.parse().ok()?))
    };
    files::entries(Path::new("/proc")).filter_map(|entry| parent(&entry.file_name())).collect()
}
