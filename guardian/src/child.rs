//! Processes: starting them so that they cannot outlive us, ending whole trees of them, finding orphans.
//!
//! Invariant: everything is started from the main thread, since the death signal follows the thread that forked.
//! Invariant: nothing here waits for a child; exits are collected when SIGCHLD says so.

use crate::house::House;
use crate::walls::{self, Walls, rules};
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

/// Variables a child gets from us; everything else stays with the guardian. No key, no address, no proxy is among them.
const PASSED: &str = "PATH CARGO LANG LC_ALL TERM TZ USER RUST_LOG RUST_BACKTRACE SSL_CERT_FILE SSL_CERT_DIR \
    CC CXX AR CARGO_NET_OFFLINE CARGO_HTTP_CAINFO";
/// Marks every process of this house, so that a later guardian knows leftovers even if they closed everything.
pub const COOKIE: &str = "FERAL_TREE";

/// What to start, and with what.
pub struct Start<'a> {
    pub kind: Kind,
    pub program: PathBuf,
    pub args: Vec<String>,
    /// On top of what is passed.
    pub extra: Vec<(&'static str, String)>,
    pub walls: &'a Walls,
    /// The way out, where there is one.
    pub broker: Option<Door>,
    pub stdout: File,
    pub stderr: File,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Life,
    /// Gets no more of the broker than the proxy to cargo's registries.
    Build,
}

/// The broker's port and the token that opens it.
#[derive(Clone, Debug)]
pub struct Door {
    pub port: u16,
    pub token: String,
}

/// Starts a process in a group of its own that dies with us and holds the creature lock.
pub fn start(house: &House, lock: &File, start: Start) -> Result<Pid> {
    let program =
        find(&start.program).with_context(|| format!("failed to start {}", start.program.display()))?;
    walls::prepare(house, start.kind);
    let mut command = if start.walls.stand() {
        let spec = serde_json::to_string(&start.walls.spec(house, lock.as_raw_fd()))?;
        let mut command = Command::new(start.walls.launcher());
        command.args(["wall", &spec, "--"]).arg(&program);
        command
    } else {
        Command::new(&program)
    };
    command.args(&start.args).current_dir(house.root());
    command.stdin(Stdio::null()).stdout(start.stdout).stderr(start.stderr);
    equip(&mut command, house, start.kind, start.broker.as_ref());
    command.envs(start.extra);
    bind(&mut command);
    inherit(&mut command, start.walls.descriptors(lock));
    #[allow(clippy::disallowed_methods)]
    let child = command.spawn().with_context(|| format!("failed to start {}", program.display()))?;
    Ok(Pid::from_raw(child.id() as i32))
}

/// The environment of whatever the guardian starts, and nothing else.
fn equip(command: &mut Command, house: &House, kind: Kind, broker: Option<&Door>) {
    command.env_clear();
    for name in PASSED.split_whitespace() {
        if let Some(value) = std::env::var_os(name) {
            command.env(name, value);
        }
    }
    command.env(COOKIE, house.root()).env("RUSTUP_AUTO_INSTALL", "0");
    command.env("HOME", house.home()).env("TMPDIR", house.temporary()).env("CARGO_HOME", house.cargo_home());
    if let Some(rustup) = rules::rustup_home() {
        command.env("RUSTUP_HOME", rustup);
    }
    if let Some(name) = toolchain(std::env::var("RUSTUP_TOOLCHAIN").ok(), std::env::var("CARGO").ok()) {
        command.env("RUSTUP_TOOLCHAIN", name);
    }
    let Some(Door { port, token }) = broker else { return };
    command.env("CARGO_HTTP_PROXY", format!("http://life:{token}@127.0.0.1:{port}"));
    if kind == Kind::Life {
        command.env("FERAL_BROKER", format!("http://127.0.0.1:{port}")).env("FERAL_BROKER_TOKEN", token);
    }
}

/// The program itself, by `PATH` where only its name is given: what is missing is seen here, not behind the walls.
fn find(program: &Path) -> std::io::Result<PathBuf> {
    let missing = || std::io::Error::from(std::io::ErrorKind::NotFound);
    if program.components().count() > 1 {
        return if program.exists() { Ok(program.to_path_buf()) } else { Err(missing()) };
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path).map(|folder| folder.join(program));
    found.into_iter().find(|file| file.is_file()).ok_or_else(missing)
}

/// Makes a command die with us, in a session of its own: nobody in it can enter our group, or the broker's.
fn bind(command: &mut Command) {
    let parent = nix::unistd::getpid();
    // SAFETY: between fork and exec only system calls are made; nothing allocates or locks.
    #[allow(unsafe_code)]
    unsafe {
        command.pre_exec(move || {
            nix::unistd::setsid()?;
            prctl::set_pdeathsig(Signal::SIGKILL)?;
            if nix::unistd::getppid() == parent { Ok(()) } else { Err(Errno::ESRCH.into()) }
        });
    }
}

/// Keeps descriptors open over exec. One of them is the lock: while any descendant lives, a new guardian finds it held.
pub fn inherit(command: &mut Command, descriptors: Vec<RawFd>) {
    // SAFETY: plain system calls on descriptors that the parent keeps open; nothing allocates or locks.
    #[allow(unsafe_code)]
    unsafe {
        command.pre_exec(move || {
            if descriptors.iter().all(|descriptor| libc::fcntl(*descriptor, libc::F_SETFD, 0) != -1) {
                return Ok(());
            }
            Err(std::io::Error::last_os_error())
        });
    }
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

/// Kills and reaps every child and adopted orphan but those in `spare`: by number, for anybody in a session can enter a
/// group of it. True once none is left.
pub fn sweep(spare: &[Pid], ended: &mut Vec<(Pid, WaitStatus)>) -> bool {
    for _ in 0..500 {
        if reap_into(ended) {
            return true;
        }
        let left: Vec<_> = children().into_iter().filter(|pid| !spare.contains(pid)).collect();
        if left.is_empty() {
            return true;
        }
        for pid in left {
            let _ = kill(pid, Signal::SIGKILL);
        }
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    false
}

/// Our children, adopted ones included.
fn children() -> Vec<Pid> {
    let me = nix::unistd::getpid();
    processes()
        .filter_map(|pid| {
            let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
            // The name in brackets may hold anything, so fields are counted from its end.
            let mut fields = stat.rsplit_once(')')?.1.split_ascii_whitespace().skip(1);
            let parent: i32 = fields.next()?.parse().ok()?;
            (parent == me.as_raw()).then(|| Pid::from_raw(pid))
        })
        .collect()
}

/// Ends whatever a former guardian of this house left alive. How many processes that were.
pub fn end_orphans(house: &House) -> Result<usize> {
    let mut ended = std::collections::BTreeSet::new();
    for _ in 0..2_000 {
        let mut left = holders(&house.creature_lock());
        left.extend(marked(house.root()));
        left.extend(viewers(house.root()));
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

/// Processes that see the house through a view of the walls. They cannot take it off, whatever else they closed and forgot.
fn viewers(root: &Path) -> Vec<Pid> {
    let space = |pid: &str| std::fs::read_link(format!("/proc/{pid}/ns/mnt")).ok();
    let (ours, mut place) = (space("self"), vec![b' ']);
    // As the kernel spells it: a point of its own, which no other view has.
    for byte in root.join("creature").as_os_str().as_encoded_bytes() {
        match byte {
            b' ' | b'\t' | b'\n' | b'\\' => place.extend(format!("\\{byte:03o}").into_bytes()),
            byte => place.push(*byte),
        }
    }
    place.push(b' ');
    let sees = |pid: &i32| {
        let of = |name: &str| std::fs::read(format!("/proc/{pid}/{name}")).unwrap_or_default();
        let holds = |bytes: Vec<u8>, text: &[u8]| bytes.windows(text.len()).any(|part| part == text);
        space(&pid.to_string()).is_some_and(|space| Some(space) != ours)
            && holds(of("mountinfo"), &place)
            && holds(of("status"), b"NoNewPrivs:\t1\n")
    };
    processes().filter(sees).map(Pid::from_raw).collect()
}

fn processes() -> impl Iterator<Item = i32> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// Waits for nothing: whether a process is there.
pub fn exists(pid: i32) -> bool {
    kill(Pid::from_raw(pid), None) != Err(Errno::ESRCH)
}
