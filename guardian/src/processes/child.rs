//! Trees of processes: started so that none of them can outlive us, asked to end, ended whole.
//!
//! Invariant: everything is started from the main thread, since the death signal follows the thread that forked.
//! Invariant: nothing here waits for a child; exits are collected when SIGCHLD says so.

use crate::processes::hunt::{self, COOKIE};
use crate::processes::{place, prepare};
use anyhow::{Context, Result};
use house::House;
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
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use walls::cage::Cage;
use walls::spec::Handover;
use walls::{Walls, inherit};

/// Variables a child gets from us; everything else stays with the guardian. No key, no address, no proxy is among them.
const PASSED: &str = "PATH CARGO LANG LC_ALL TERM TZ USER RUST_LOG RUST_BACKTRACE SSL_CERT_FILE SSL_CERT_DIR \
    CC CXX AR CARGO_NET_OFFLINE CARGO_HTTP_CAINFO";
/// How long our own launcher may take to say which process the tree begins with, in milliseconds.
const LAUNCH_MS: u16 = 30_000;
/// Looks at a tree that was killed and is asked to be gone at once; what is not is gone later.
const LOOKS: usize = 500;

/// What ties every tree to this guardian.
pub struct Bond {
    /// Held by us, and by what holds a tree together: while either lives, no later guardian starts a creature.
    lock: File,
    /// The same file for a process of the creature's: to be known by, and good for nothing else.
    mark: File,
    /// Closes in every child when we end, however we end.
    lifeline: OwnedFd,
    _held: OwnedFd,
}

impl Bond {
    pub fn new(house: &House, lock: File) -> Result<Self> {
        let (lifeline, held) = pipe2(OFlag::O_CLOEXEC).context("failed to make a pipe")?;
        let mark = File::options().read(true).custom_flags(libc::O_PATH).open(house.creature_lock());
        Ok(Self { lock, mark: mark.context("failed to open the creature's lock")?, lifeline, _held: held })
    }
}

/// What to start, and with what.
pub struct Start<'a> {
    pub occupant: Occupant,
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
pub enum Occupant {
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

/// A started program and all that comes of it.
pub struct Tree {
    /// The process we wait for: its init where it has one, else the program itself.
    pub pid: Pid,
    /// Inode numbers of the files it may write to, as they lay when it was launched.
    pub given: Vec<Option<u64>>,
    held: Held,
}

/// What holds a tree together.
enum Held {
    /// It ends with its init, which then leaves word how the program ended.
    Init(File),
    Cage(Cage),
    /// Nothing: who has left its parents is hunted.
    Loosely,
}

impl Tree {
    /// Asks it to end. A stopped process cannot die of TERM, so it is continued as well.
    pub fn terminate(&self) {
        for signal in [Signal::SIGTERM, Signal::SIGCONT] {
            let _ = if self.has_init() { kill(self.pid, signal) } else { killpg(self.pid, signal) };
        }
    }

    pub fn kill(&self) {
        match &self.held {
            Held::Init(_) => {
                let _ = kill(self.pid, Signal::SIGKILL);
            }
            Held::Cage(cage) => {
                cage.end();
            }
            Held::Loosely => {
                let _ = killpg(self.pid, Signal::SIGKILL);
            }
        }
    }

    /// Once its first process is reaped: ends what it left. True once nothing of it is there, whoever forks meanwhile.
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

    /// Kills it and waits a moment for it to be gone; what ended meanwhile goes onto the list.
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

    /// How its program ended, from what its first process ended with.
    pub fn outcome(&mut self, waited: WaitStatus) -> WaitStatus {
        let Held::Init(report) = &mut self.held else { return waited };
        let mut raw = [0; 4];
        // Nobody holds the other end any more, so this does not wait.
        if report.read_exact(&mut raw).is_err() {
            return waited;
        }
        WaitStatus::from_raw(self.pid, i32::from_ne_bytes(raw)).unwrap_or(waited)
    }

    /// Whether all that is in it ends with the process we wait for.
    pub fn has_init(&self) -> bool {
        matches!(self.held, Held::Init(_))
    }
}

/// Starts a program in a tree of its own that dies with us.
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

/// The descriptors the program itself gets.
fn kept(bond: &Bond, start: &Start) -> Vec<RawFd> {
    let lifeline = (start.occupant == Occupant::Life).then(|| bond.lifeline.as_raw_fd());
    // Where an init holds the lock, nothing of the creature's need be known by it.
    let mark = (!start.walls.own_tree()).then(|| bond.mark.as_raw_fd());
    lifeline.into_iter().chain(mark).collect()
}

/// The number of a tree's init, as our launcher says just before it is gone.
fn first_process(report: &mut File, launcher: Pid) -> Result<Pid> {
    let mut heard = [PollFd::new(report.as_fd(), PollFlags::POLLIN)];
    while poll(&mut heard, PollTimeout::from(LAUNCH_MS)) == Err(Errno::EINTR) {}
    let ready = heard.iter().any(|heard| heard.any() == Some(true));
    let mut raw = [0; 4];
    let said = if ready { report.read_exact(&mut raw) } else { Err(std::io::ErrorKind::TimedOut.into()) };
    if said.is_err() {
        let _ = kill(launcher, Signal::SIGKILL);
    }
    while waitpid(launcher, None) == Err(Errno::EINTR) {}
    said.context("the launcher failed before anything was started; its log says why")?;
    Ok(Pid::from_raw(i32::from_ne_bytes(raw)))
}

/// The environment of whatever the guardian starts, and nothing else.
fn equip(command: &mut Command, house: &House, occupant: Occupant, broker: Option<&Door>) {
    command.env_clear();
    for name in PASSED.split_whitespace() {
        if let Some(value) = std::env::var_os(name) {
            command.env(name, value);
        }
    }
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

/// The toolchain the owner started us with. Without it rustup would obey the `rust-toolchain` file of whatever
/// folder rustc runs in, a dependency's own included, and install what that names.
pub fn toolchain(chosen: Option<String>, cargo: Option<String>) -> Option<String> {
    chosen.filter(|name| !name.is_empty()).or_else(|| {
        let cargo = cargo?;
        let (_, rest) = cargo.split_once("/toolchains/")?;
        Some(rest.split_once('/')?.0.to_owned())
    })
}
