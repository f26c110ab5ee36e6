//! Walls around a process tree, as far as this operating system holds them: found by trying, put up before every exec.
//!
//! Landlock, namespaces, seccomp, resource limits, control groups and a Cargo home, each as far as this kernel and
//! these rights allow. Linux only. A stage of the caller's own binary puts them up: its `main` hands the arguments
//! after the word [`STAGE`] to [`launch::launch`]. `examples/walled.rs` walls any command.
//!
//! Invariant: every wall asked of a launch was tried at start, by a launch; a wall that failed then is listed as
//! missing.

pub mod cage;
pub mod calls;
pub mod cargo_home;
pub mod cargo_named;
pub mod group;
pub mod init;
pub mod landlock;
pub mod launch;
pub mod level;
pub mod network;
pub mod remedy;
pub mod spec;
pub mod view;

pub use ground::asked::Choice;

use anyhow::{Context, Result};
use cage::Cage;
use ground::files;
use level::Level;
use network::Network;
use spec::{Ceilings, Rule, Spec, View};
use std::fs::File;
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The first argument by which the caller's binary knows that it is to be the launcher.
pub const STAGE: &str = "wall";

/// The place of the walled processes: where they work, and what they may touch there as it is now.
pub trait Place {
    /// Folder they start in; relative rules lie beneath it.
    fn root(&self) -> &Path;
    /// A name no other place on this kernel has; control groups are named after it.
    fn name(&self) -> String;
    fn rules(&self) -> Vec<Rule>;
    fn view(&self) -> View;
}

/// Means of holding a process tree together, so that it can be ended whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Trees {
    /// A PID namespace, which ends with its init.
    Namespace,
    /// A control group for each tree.
    Cage,
    /// Not at all: processes are searched for and killed one by one.
    Loose,
}

pub struct Walls {
    place: Box<dyn Place>,
    pub network: Network,
    pub level: Level,
    off: bool,
    trees: Trees,
    launcher: PathBuf,
    ceilings: Ceilings,
    group: Option<PathBuf>,
    /// Whether the guardian itself is in the group, and so everything it starts.
    joined: bool,
}

impl Walls {
    /// Finds out by trying which walls can be put up here. `launcher` is a program with the stage;
    /// `ceilings.processes` counts the processes of this place alone. With `joins` this process joins the counting
    /// group itself, and launches do not.
    pub fn find(
        place: Box<dyn Place>,
        choice: Choice,
        mut ceilings: Ceilings,
        launcher: PathBuf,
        joins: bool,
    ) -> Result<Self> {
        let off = choice == Choice::Off;
        let root = nix::unistd::geteuid().is_root();
        let network = network::make(!off)?;
        // A limit per user counts the owner's own processes as well, so those are added.
        let alone = root || network.space.as_ref().is_some_and(|space| space.user.is_some());
        let processes = ceilings.processes;
        ceilings.processes += if alone { 0 } else { threads_of_all() };
        // Without walls only root can make the namespaces of a tree without changing anything else for it.
        let trees = if off && !root { Trees::Loose } else { Trees::Namespace };
        let level = Level::default();
        let (group, joined) = (None, false);
        let mut walls = Self { place, network, level, off, trees, launcher, ceilings, group, joined };
        let counted = || group::counted(&walls.place.name(), processes).map(Some);
        let group = if root && !off { counted() } else { Ok(None) };
        let (group, why_none) = group.map_or_else(|why| (None, Some(why)), |group| (group, None));
        walls.group = group;
        walls.level = if off { Level::off() } else { Level::hoped(&walls.network, why_none) };
        walls.joined = joins && walls.group.as_deref().is_some_and(group::join);
        if trees == Trees::Loose {
            walls.hold_trees_otherwise("walls are off");
        }
        while let Err(failure) = if walls.launch() { walls.try_out() } else { Ok(()) } {
            let (wall, why) = failure.split_once(": ").unwrap_or(("", &failure));
            if wall == level::TREE && walls.trees == Trees::Namespace {
                walls.hold_trees_otherwise(why);
                continue;
            }
            anyhow::ensure!(walls.level.lose(wall, why), "failed to put up the walls: {failure}");
            if wall == level::NETWORK {
                walls.network = network::make(false)?;
            }
        }
        Ok(walls)
    }

    /// Uses control groups for trees where there is no namespace.
    fn hold_trees_otherwise(&mut self, why: &str) {
        let (trees, found) = match Cage::make(&self.cage_name("trial")) {
            Ok(cage) => (Trees::Cage, Ok(cage.told().to_owned())),
            Err(no_cage) => (Trees::Loose, Err(format!("no namespace: {why}; no control group: {no_cage}"))),
        };
        self.trees = trees;
        self.level.find(level::TREE, found);
    }

    /// Whether the walls are on.
    pub fn stand(&self) -> bool {
        !self.off
    }

    /// Whether processes are started by the launcher.
    pub fn launch(&self) -> bool {
        !self.off || self.trees != Trees::Loose
    }

    /// Whether every tree has an init of its own.
    pub fn own_tree(&self) -> bool {
        self.trees == Trees::Namespace
    }

    /// Whether no process inside a tree can kill its program: then a kill came from outside.
    pub fn shelter(&self) -> bool {
        self.own_tree() && self.level.has(level::CALLS)
    }

    /// An empty control group for the next tree of a kind; `None` where trees are held together otherwise.
    pub fn cage(&self, kind: &str) -> Result<Option<Cage>> {
        if self.trees != Trees::Cage {
            return Ok(None);
        }
        let cage = Cage::make(&self.cage_name(kind)).map_err(anyhow::Error::msg)?;
        anyhow::ensure!((0..100).any(|_| cage.end()), "what is in the control group {kind} does not end");
        Ok(Some(cage))
    }

    fn cage_name(&self, kind: &str) -> String {
        format!("{}-{kind}", self.place.name())
    }

    /// The specification for the next launch, by the state of the place now.
    pub fn spec(&self, cage: Option<&Cage>) -> Spec {
        let has = |wall| self.level.has(wall);
        let space = self.network.space.as_ref();
        // Makes the group again if somebody removed it meanwhile.
        let counted = self.group.clone().filter(|_| has(level::PROCESSES) && !self.joined);
        let counted =
            counted.map(|group| group::counted(&self.place.name(), self.ceilings.processes).unwrap_or(group));
        Spec {
            tree: self.own_tree(),
            user: space.and_then(|space| space.user.as_ref()).map(AsRawFd::as_raw_fd),
            net: space.map(|space| space.net.as_raw_fd()),
            port: Some(self.network.port),
            root: self.place.root().to_path_buf(),
            rules: if self.off { vec![] } else { self.place.rules() },
            view: has(level::VIEW).then(|| self.place.view()),
            files: has(level::FILES),
            scopes: has(level::SIGNALS),
            calls: has(level::CALLS),
            capabilities: has(level::CAPABILITIES),
            ceilings: has(level::LIMITS).then_some(self.ceilings),
            groups: counted.into_iter().chain(cage.map(Cage::door)).collect(),
            ..Spec::default()
        }
    }

    /// A command that puts up the walls of a specification and executes a program; without one it only tries the
    /// walls. Descriptors it needs beside [`Walls::descriptors`] are added by the caller with [`inherit`].
    pub fn command(&self, spec: &Spec, program: Option<&Path>) -> Result<Command> {
        let mut command = Command::new(&self.launcher);
        command.arg(STAGE).arg(serde_json::to_string(spec)?).current_dir(self.place.root());
        program.map(|program| command.arg("--").arg(program));
        Ok(command)
    }

    /// Puts the walls up around a process that ends at once.
    fn try_out(&self) -> std::result::Result<(), String> {
        let null = || files::open_system(File::options().read(true).write(true), "/dev/null");
        let run = || -> Result<std::process::Output> {
            let mut command = self.command(&self.spec(None), None)?;
            command.stdin(null()?).env_clear();
            inherit(&mut command, self.descriptors());
            #[allow(clippy::disallowed_methods)]
            command.output().context("failed to start the launcher")
        };
        match run() {
            Ok(output) if output.status.success() => Ok(()),
            Ok(output) => {
                let said = String::from_utf8_lossy(&output.stderr);
                let said = said.lines().last().unwrap_or("it ended without a word");
                Err(said.split_once(&format!("{STAGE}: ")).map_or(said, |(_, said)| said).to_owned())
            }
            Err(error) => Err(format!("{error:#}")),
        }
    }

    /// Descriptors a launch must inherit: the namespaces to enter.
    pub fn descriptors(&self) -> Vec<RawFd> {
        let space = self.network.space.iter();
        let space = space.flat_map(|space| [Some(&space.net), space.user.as_ref()]).flatten();
        space.map(AsRawFd::as_raw_fd).collect()
    }
}

impl Drop for Walls {
    /// The kernel keeps a group that still has processes in it.
    fn drop(&mut self) {
        if let Some(group) = self.group.as_deref().and_then(Path::parent) {
            if self.joined {
                group::leave();
            }
            let _ = std::fs::remove_dir(group);
        }
    }
}

/// Threads of the whole machine, as the kernel counts them.
fn threads_of_all() -> u64 {
    let text = files::system("/proc/loadavg").unwrap_or_default();
    let field = text.split_whitespace().nth(3).and_then(|field| field.split_once('/'));
    field.and_then(|(_, all)| all.parse().ok()).unwrap_or(1_024)
}

/// Keeps descriptors open over exec.
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
