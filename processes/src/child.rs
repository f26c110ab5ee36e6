//! Process trees and their environment: started so that none outlives the guardian, asked to end, ended whole.
//!
//! Invariant: every process is started from the main thread, since the parent-death signal follows the thread that
//! forked.
//! Invariant: nothing here waits for a child; exits are collected when SIGCHLD says so.

use crate::granted::Granted;
use crate::hunt::{self, COOKIE};
use crate::{place, prepare, programs};
use anyhow::{Context, Result};
use ground::{House, files, interrupt};
use nix::errno::Errno;
use nix::fcntl::OFlag;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::prctl;
use nix::sys::signal::{Signal, kill, killpg};
use nix::sys::wait::{WaitStatus, waitpid};
use nix::unistd::{Pid, pipe2};
use std::fs::File;
use std::io::Read;
use std::os::fd::{AsFd, AsRawFd, OwnedFd, RawFd};

use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use walls::cage::Cage;
use walls::spec::Handover;
use walls::{Walls, inherit};

/// Variables passed on to a child; all others are not. None of them holds a key, an address or a proxy.
const PASSED: &str = "CARGO LANG LC_ALL TERM TZ USER RUST_LOG RUST_BACKTRACE SSL_CERT_FILE SSL_CERT_DIR \
    CC CXX AR CARGO_NET_OFFLINE CARGO_HTTP_CAINFO";
/// Looks for the launcher's report of the tree's first process: half a minute of them.
const LAUNCH_LOOKS: usize = 60;
const LAUNCH_LOOK_MS: u16 = 500;
/// Looks at a killed tree until it is gone; after that it is finished later.
const LOOKS: usize = 500;

/// Ties every process tree to this guardian.
pub struct Bond {
    /// Locked by the guardian and by whatever holds a tree together: while either lives, no later guardian starts a
    /// creature.
    lock: File,
    /// The same file for a creature's process, opened so that it only identifies its holder.
    mark: File,
    /// Closes in every child when the guardian ends, however it ends.
    lifeline: OwnedFd,
    _held: OwnedFd,
}

impl Bond {
    pub fn new(house: &House, lock: File) -> Result<Self> {
        let (lifeline, held) = pipe2(OFlag::O_CLOEXEC).context("failed to make a pipe")?;
        let mark = files::open_handle(&house.creature_lock(), 0);
        Ok(Self { lock, mark: mark.context("failed to open the creature's lock")?, lifeline, _held: held })
    }
}

/// Program to start, its walls, grants and outputs.
pub struct Start<'a> {
    pub occupant: Occupant,
    pub program: PathBuf,
    pub args: Vec<String>,
    /// Variables beside those that are passed on.
    pub extra: Vec<(&'static str, String)>,
    pub walls: &'a Walls,
    /// The owner's grants beside the house; none for builds.
    pub granted: Granted,
    /// Port and token of the broker, if there is one.
    pub broker: Option<Door>,
    pub stdout: File,
    pub stderr: File,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Occupant {
    Life,
    /// May use the broker only as a proxy to cargo's registries.
    Build,
}

/// The broker's port, and the token that it accepts.
#[derive(Clone, Debug)]
pub struct Door {
    pub port: u16,
    pub token: String,
}

/// A started program and all processes that come of it.
pub struct Tree {
    /// The process to wait for: the tree's init if it has one, else the program itself.
    pub pid: Pid,
    /// Inode numbers of the files the tree may write to, as they were at its launch.
    pub given: Vec<Option<u64>>,
    held: Held,
}

/// Means by which a tree's processes are held together.
enum Held {
    /// Ends with its init, which reports by this pipe how the program ended.
    Init(File),
    Cage(Cage),
    /// Nothing: processes that have left their parents are searched for.
    Loosely,
}

impl Tree {
    /// Sends SIGTERM, and SIGCONT because a stopped process does not handle SIGTERM.
    pub fn terminate(&self) {
        for signal in [Signal::SIGTERM, Signal::SIGCONT] {
            let _ = if self.has_init() { kill(self.pid, signal) } else { killpg(self.pid, signal) };
        }
    }

    pub fn kill(&self) {
        match &self.held {
            Held::Init(_) => _ = kill(self.pid, Signal::SIGKILL),
            Held::Cage(cage) => _ = cage.end(),
            Held::Loosely => _ = killpg(self.pid, Signal::SIGKILL),
        }
    }

    /// Ends the rest of the tree after the first process was reaped. True once nothing of it is left, whatever forks
    /// meanwhile.
    pub fn finish(&self, spare: &[Pid], ended: &mut Vec<(Pid, WaitStatus)>) -> bool {
        match &self.held {
            Held::Init(_) => true,
            Held::Cage(cage) => cage.end() && hunt::sweep(spare, ended),
            Held::Loosely => {
                self.kill();
                hunt::sweep(spare, ended)
            }
        }
    }

    /// Kills the tree and waits a moment for it to be gone; other processes that end meanwhile are added to `ended`.
    pub fn end(&self, spare: &[Pid], ended: &mut Vec<(Pid, WaitStatus)>) {
        for _ in 0..LOOKS {
            self.kill();
            let none_left = hunt::reap_into(ended);
            if none_left || ended.iter().any(|(pid, _)| *pid == self.pid) {
                break;
            }
            std::thread::sleep(std::time::Duration::from_millis(2));
        }
        self.finish(spare, ended);
    }

    /// How the program ended, given how the first process ended.
    pub fn outcome(&mut self, waited: WaitStatus) -> WaitStatus {
        let Held::Init(report) = &mut self.held else { return waited };
        let mut raw = [0; 4];
        // The other end of the pipe is closed, so this does not wait.
        if report.read_exact(&mut raw).is_err() {
            return waited;
        }
        WaitStatus::from_raw(self.pid, i32::from_ne_bytes(raw)).unwrap_or(waited)
    }

    /// Whether the whole tree ends with the process to wait for.
    pub fn has_init(&self) -> bool {
        matches!(self.held, Held::Init(_))
    }
}

/// Returns the variables by which a life knows its house, its number, its commit and whether it is safe.
pub fn of_life(house: &House, life: u64, commit: &str, safe: bool) -> Vec<(&'static str, String)> {
    let mut variables = vec![
        ("FERAL_HOUSE", house.root().display().to_string()),
        ("FERAL_LIFE", life.to_string()),
        ("FERAL_COMMIT", commit.to_owned()),
    ];
    variables.extend(safe.then(|| ("FERAL_SAFE", "1".to_owned())));
    variables
}

/// Starts a program in a process tree of its own that ends with the guardian.
pub fn start(house: &House, bond: &Bond, start: Start) -> Result<Tree> {
    let program =
        find(&start.program).with_context(|| format!("failed to start {}", start.program.display()))?;
    let given = prepare::prepare(house, start.occupant);
    let cage = start.walls.cage(if start.occupant == Occupant::Life { "life" } else { "build" })?;
    let (report, told) = pipe2(OFlag::O_CLOEXEC).context("failed to make a pipe")?;
    let (gate, _opens) = pipe2(OFlag::O_CLOEXEC).context("failed to make a pipe")?;
    let kept = kept(bond, &start);
    let mut inherited = kept.clone();
    let mut command = if start.walls.launch() {
        let mut spec = start.walls.spec(cage.as_ref());
        (spec.lifeline, spec.kept) = (Some(bond.lifeline.as_raw_fd()), kept);
        start.granted.add_to(&mut spec);
        inherited.extend(start.walls.descriptors());
        inherited.push(bond.lifeline.as_raw_fd());
        if spec.tree {
            spec.handover = Some(Handover { report: told.as_raw_fd(), gate: gate.as_raw_fd() });
            inherited.extend([told.as_raw_fd(), gate.as_raw_fd(), bond.lock.as_raw_fd()]);
        }
        start.walls.command(&spec, Some(&program))?
    } else {
        Command::new(&program)
    };
    command.args(&start.args).current_dir(house.root());
    command.stdin(Stdio::null()).stdout(start.stdout).stderr(start.stderr);
    equip(&mut command, house, start.occupant, start.broker.as_ref());
    if start.occupant == Occupant::Life {
        command.env("FERAL_LIFELINE", bond.lifeline.as_raw_fd().to_string());
    }
    command.envs(start.extra);
    bind(&mut command);
    inherit(&mut command, inherited);
    #[allow(clippy::disallowed_methods)]
    let child = command.spawn().with_context(|| format!("failed to start {}", program.display()))?;
    drop((command, told));
    let pid = Pid::from_raw(child.id() as i32);
    if !start.walls.own_tree() {
        return Ok(Tree { pid, given, held: cage.map_or(Held::Loosely, Held::Cage) });
    }
    let mut report = File::from(report);
    let init = first_process(&mut report, pid)?;
    Ok(Tree { pid: init, given, held: Held::Init(report) })
}

/// The descriptors the program inherits.
fn kept(bond: &Bond, start: &Start) -> Vec<RawFd> {
    let lifeline = (start.occupant == Occupant::Life).then(|| bond.lifeline.as_raw_fd());
    // Where an init holds the lock, the program need not be identified by it.
    let mark = (!start.walls.own_tree()).then(|| bond.mark.as_raw_fd());
    lifeline.into_iter().chain(mark).collect()
}

/// The process id of a tree's init, as the launcher reports it just before it ends.
fn first_process(report: &mut File, launcher: Pid) -> Result<Pid> {
    let mut heard = [PollFd::new(report.as_fd(), PollFlags::POLLIN)];
    let ready = (0..LAUNCH_LOOKS).any(|_| {
        interrupt::gets_on();
        poll(&mut heard, PollTimeout::from(LAUNCH_LOOK_MS)).is_ok_and(|ready| ready > 0)
    });
    let mut raw = [0; 4];
    let said = if ready { report.read_exact(&mut raw) } else { Err(std::io::ErrorKind::TimedOut.into()) };
    if said.is_err() {
        let _ = kill(launcher, Signal::SIGKILL);
    }
    while waitpid(launcher, None) == Err(Errno::EINTR) {}
    said.context("the launcher failed before anything was started; its log says why")?;
    Ok(Pid::from_raw(i32::from_ne_bytes(raw)))
}

/// Sets the whole environment of a process the guardian starts.
fn equip(command: &mut Command, house: &House, occupant: Occupant, broker: Option<&Door>) {
    command.env_clear();
    for name in PASSED.split_whitespace() {
        if let Some(value) = std::env::var_os(name) {
            command.env(name, value);
        }
    }
    command.env("PATH", programs::path());
    command.env(COOKIE, house.identity()).env("RUSTUP_AUTO_INSTALL", "0");
    command.env("HOME", house.home()).env("TMPDIR", house.temporary()).env("CARGO_HOME", house.cargo_home());
    if let Some(rustup) = place::rustup_home() {
        command.env("RUSTUP_HOME", rustup);
    }
    if let Some(name) = toolchain(std::env::var("RUSTUP_TOOLCHAIN").ok(), std::env::var("CARGO").ok()) {
        command.env("RUSTUP_TOOLCHAIN", name);
    }
    let Some(Door { port, token }) = broker else { return };
    command.env("CARGO_HTTP_PROXY", format!("http://life:{token}@127.0.0.1:{port}"));
    if occupant == Occupant::Life {
        command.env("FERAL_BROKER", format!("http://127.0.0.1:{port}")).env("FERAL_BROKER_TOKEN", token);
    }
}

/// The program's path, searched in `PATH` for a bare name: a missing program is noticed here, not behind the walls.
fn find(program: &Path) -> std::io::Result<PathBuf> {
    let missing = || std::io::Error::from(std::io::ErrorKind::NotFound);
    if program.components().count() > 1 {
        return if program.exists() { Ok(program.to_path_buf()) } else { Err(missing()) };
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path).map(|folder| folder.join(program));
    found.into_iter().find(|file| file.is_file()).ok_or_else(missing)
}

/// Ends the command with the guardian. A session of its own keeps its processes from joining the guardian's or
/// broker's group.
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

/// The toolchain that started the guardian. Without it rustup would follow the `rust-toolchain` file of whatever
/// folder rustc runs in, a dependency's included, and install the toolchain named there.
pub fn toolchain(chosen: Option<String>, cargo: Option<String>) -> Option<String> {
    chosen.filter(|name| !name.is_empty()).or_else(|| {
        let cargo = cargo?;
        let (_, rest) = cargo.split_once("/toolchains/")?;
        Some(rest.split_once('/')?.0.to_owned())
    })
}
