//! The walls around the creature: what the operating system holds, found out at start and put up before every exec.
//!
//! Invariant: what is asked of a launch was tried at start, by a launch; what failed then is named as missing.

pub mod cage;
pub mod calls;
pub mod files;
pub mod group;
pub mod init;
pub mod launch;
pub mod level;
pub mod network;
pub mod rules;
pub mod spec;
pub mod view;

use crate::cargo_home;
use crate::child::Kind;
use crate::limits::Limits;
use anyhow::{Context, Result};
use cage::Cage;
use house::openat::Folder;
use house::{House, files as files_of_house};
use level::Level;
use network::Network;
use spec::{Ceilings, Spec};
use std::fs::File;
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;

/// What the owner asks for: `walls` in `owner.toml`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Choice {
    /// As far as the kernel can.
    #[default]
    On,
    /// All of them, or no start.
    Required,
    Off,
}

/// How a tree of processes is held together, so that it can be ended whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Trees {
    /// A namespace of their own, which ends with its init.
    Namespace,
    /// A control group each.
    Cage,
    /// Not at all: they are hunted.
    Loose,
}

pub struct Walls {
    pub network: Network,
    pub level: Level,
    off: bool,
    trees: Trees,
    launcher: PathBuf,
    more: Vec<PathBuf>,
    ceilings: Ceilings,
    group: Option<PathBuf>,
    /// We are in the group ourselves, and so is whatever we start.
    joined: bool,
}

impl Walls {
    /// Finds out what can be put up here, by trying. `launcher` is this program; `more` the owner's own folders. Who
    /// `joins` the group that counts processes has it joined by no launch.
    pub fn find(
        house: &House,
        choice: Choice,
        limits: &Limits,
        more: Vec<PathBuf>,
        launcher: PathBuf,
        joins: bool,
    ) -> Result<Self> {
        let off = choice == Choice::Off;
        let root = nix::unistd::geteuid().is_root();
        let network = network::make(!off)?;
        // Where only a limit per user counts them, it counts the owner's own as well.
        let alone = root || network.space.as_ref().is_some_and(|space| space.user.is_some());
        let ceilings = Ceilings {
            processes: limits.processes + if alone { 0 } else { threads_of_all() },
            memory_mib: limits.memory_per_process_mib,
            open_files: limits.open_files,
            file_mib: limits.file_mib,
        };
        // Without walls only root has namespaces that change nothing else.
        let trees = if off && !root { Trees::Loose } else { Trees::Namespace };
        let level = Level::default();
        let (group, joined) = (None, false);
        let mut walls = Self { network, level, off, trees, launcher, more, ceilings, group, joined };
        prepare(house, Kind::Life);
        let group = if root && !off { group::counted(house, limits.processes).map(Some) } else { Ok(None) };
        let (group, why_none) = group.map_or_else(|why| (None, Some(why)), |group| (group, None));
        walls.group = group;
        walls.level = if off { Level::off() } else { Level::hoped(&walls.network, why_none) };
        walls.joined = joins && walls.group.as_deref().is_some_and(group::join);
        if trees == Trees::Loose {
            walls.hold_trees_otherwise(house, "walls are off");
        }
        while let Err(failure) = if walls.launch() { walls.try_out(house) } else { Ok(()) } {
            let (wall, why) = failure.split_once(": ").unwrap_or(("", &failure));
            if wall == level::TREE && walls.trees == Trees::Namespace {
                walls.hold_trees_otherwise(house, why);
                continue;
            }
            anyhow::ensure!(walls.level.lose(wall, why), "failed to put up the walls: {failure}");
            if wall == level::NETWORK {
                walls.network = network::make(false)?;
            }
        }
        Ok(walls)
    }

    /// Where there is no namespace for them.
    fn hold_trees_otherwise(&mut self, house: &House, why: &str) {
        let (trees, found) = match Cage::make(&cage_name(house, "trial")) {
            Ok(cage) => (Trees::Cage, Ok(cage.told().to_owned())),
            Err(no_cage) => (Trees::Loose, Err(format!("no namespace: {why}; no control group: {no_cage}"))),
        };
        self.trees = trees;
        self.level.find(level::TREE, found);
    }

    /// Whether there are walls.
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

    /// Whether nothing inside a tree can kill its program: then who does is outside.
    pub fn shelter(&self) -> bool {
        self.own_tree() && self.level.has(level::CALLS)
    }

    /// The control group for the next tree of a kind, empty; nothing where trees are held together otherwise.
    pub fn cage(&self, house: &House, kind: Kind) -> Result<Option<Cage>> {
        if self.trees != Trees::Cage {
            return Ok(None);
        }
        let name = if kind == Kind::Life { "life" } else { "build" };
        let cage = Cage::make(&cage_name(house, name)).map_err(anyhow::Error::msg)?;
        anyhow::ensure!((0..100).any(|_| cage.end()), "what is in the control group {name} does not end");
        Ok(Some(cage))
    }

    pub fn launcher(&self) -> &Path {
        &self.launcher
    }

    /// What the next launch is told, by the house as it is now.
    pub fn spec(&self, house: &House, cage: Option<&Cage>) -> Spec {
        let has = |wall| self.level.has(wall);
        let space = self.network.space.as_ref();
        // Made anew where somebody took it away meanwhile.
        let counted = self.group.clone().filter(|_| has(level::PROCESSES) && !self.joined);
        let counted = counted.map(|group| group::counted(house, self.ceilings.processes).unwrap_or(group));
        Spec {
            tree: self.own_tree(),
            user: space.and_then(|space| space.user.as_ref()).map(AsRawFd::as_raw_fd),
            net: space.map(|space| space.net.as_raw_fd()),
            port: Some(self.network.port),
            root: house.root().to_path_buf(),
            rules: if self.off { vec![] } else { rules::all(house, &self.more) },
            view: has(level::VIEW).then(|| rules::view(house)),
            files: has(level::FILES),
            scopes: has(level::SIGNALS),
            calls: has(level::CALLS),
            capabilities: has(level::CAPABILITIES),
            ceilings: has(level::LIMITS).then_some(self.ceilings),
            groups: counted.into_iter().chain(cage.map(Cage::door)).collect(),
            ..Spec::default()
        }
    }

    /// Puts the walls up around a process that then ends at once.
    fn try_out(&self, house: &House) -> std::result::Result<(), String> {
        let null = || File::options().read(true).write(true).open("/dev/null");
        let run = || -> Result<std::process::Output> {
            let spec = serde_json::to_string(&self.spec(house, None))?;
            let mut command = Command::new(&self.launcher);
            command.arg("wall").arg(spec).current_dir(house.root()).stdin(null()?).env_clear();
            crate::child::inherit(&mut command, self.descriptors());
            #[allow(clippy::disallowed_methods)]
            command.output().context("failed to start the launcher")
        };
        match run() {
            Ok(output) if output.status.success() => Ok(()),
            Ok(output) => {
                let said = String::from_utf8_lossy(&output.stderr);
                let said = said.lines().last().unwrap_or("it ended without a word");
                Err(said.strip_prefix("guardian wall: ").unwrap_or(said).to_owned())
            }
            Err(error) => Err(format!("{error:#}")),
        }
    }

    /// What a launch must inherit: the namespaces to enter.
    pub fn descriptors(&self) -> Vec<RawFd> {
        let space = self.network.space.iter();
        let space = space.flat_map(|space| [Some(&space.net), space.user.as_ref()]).flatten();
        space.map(AsRawFd::as_raw_fd).collect()
    }
}

/// The name of the control group for a house's trees of one kind.
fn cage_name(house: &House, kind: &str) -> String {
    format!("feral-{}-{kind}", house.identity())
}

impl Drop for Walls {
    /// A group with processes in it stays, by the kernel's own rule.
    fn drop(&mut self) {
        if let Some(group) = self.group.as_deref().and_then(Path::parent) {
            if self.joined {
                group::leave();
            }
            let _ = std::fs::remove_dir(group);
        }
    }
}

/// What rules are written for must be there before a life begins. What cannot be made, the life will miss and say so.
/// Inode numbers of the files a life may write to: those opened here, though the path may have another by now.
pub fn prepare(house: &House, kind: Kind) -> Vec<Option<u64>> {
    let _ = std::fs::create_dir(house.root().join("target"));
    for path in rules::FOLDERS.iter().map(Path::new).chain([Path::new("target/creature")]) {
        let Some(first) = path.components().next() else { continue };
        let rest = path.strip_prefix(first).unwrap_or(path);
        let _ = Folder::open(&house.root().join(first)).and_then(|folder| folder.make(rest));
    }
    let made = |path: &&str| {
        let mut options = File::options();
        options.create(true).append(true).custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK);
        let path = house.root().join(path);
        // What cannot be opened stays as it lies.
        let found = options.open(&path).and_then(|file| file.metadata());
        found.or_else(|_| std::fs::symlink_metadata(path)).map(|meta| meta.ino()).ok()
    };
    let given = rules::FILES.iter().map(made).collect();
    rules::CARGO_FILES.iter().for_each(|path| _ = made(path));
    for folder in [house.home(), house.temporary()] {
        let _ = std::fs::create_dir(folder);
    }
    // Whoever runs the life says what is wrong with it.
    let _ = copy_purpose(house);
    let seeded = match kind {
        Kind::Build => cargo_home::prepare(house),
        Kind::Life => cargo_home::prepare_once(house),
    };
    if let Err(error) = seeded {
        tracing::warn!("{error:#}; the creature's builds may need the network");
    }
    given
}

/// Keeps the copy of the purpose as new as the purpose: an owner's editor may put a new file in its place. An error is the
/// owner's to mend; what was read before counts until then.
pub fn copy_purpose(house: &House) -> Result<()> {
    let modified = |path: &Path| std::fs::symlink_metadata(path).and_then(|meta| meta.modified()).ok();
    let (purpose, copy) = (house.purpose(), house.purpose_copy());
    let newest = modified(&purpose);
    if newest == modified(&copy) {
        return Ok(());
    }
    let Some(text) = files_of_house::read_small(&purpose)? else { return Ok(()) };
    let written = files_of_house::replace_unsynced(&copy, &text);
    if let (Ok(()), Some(newest)) = (written, newest) {
        let _ = File::options().write(true).open(&copy).and_then(|file| file.set_modified(newest));
    }
    Ok(())
}

/// Inode numbers of the files that lie now where a life may write. One that was moved or replaced differs.
pub fn lying(house: &House) -> Vec<Option<u64>> {
    let number = |path: &&str| std::fs::symlink_metadata(house.root().join(path)).map(|meta| meta.ino()).ok();
    rules::FILES.iter().map(number).collect()
}

/// Threads of the whole machine, as the kernel counts them.
fn threads_of_all() -> u64 {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let field = text.split_whitespace().nth(3).and_then(|field| field.split_once('/'));
    field.and_then(|(_, all)| all.parse().ok()).unwrap_or(1_024)
}
