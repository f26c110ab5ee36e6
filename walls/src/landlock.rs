//! The wall around files, signals and ports: as much of Landlock as this kernel has.
//!
//! Invariant: a rule for a path in the house never follows a link, so a planted link cannot widen it.

use crate::spec::{Access, Rule, Spec};
use ::landlock::{
    ABI, Access as _, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, NetPort, PathBeneath, Ruleset,
    RulesetAttr, RulesetCreatedAttr, RulesetStatus, Scope,
};
use anyhow::{Context, Result};
use ground::files;
use ground::openat::beneath;
use nix::errno::Errno;
use nix::fcntl::{OFlag, ResolveFlag};
use std::fs::File;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

/// The newest Landlock version this program uses; an older kernel enforces what it knows of it.
const WRITTEN_FOR: ABI = ABI::V7;

/// The Landlock version of this kernel; 0 where it has none.
pub fn landlock_version() -> i64 {
    // SAFETY: asks for the version only; the kernel reads and writes no memory of ours.
    #[allow(unsafe_code)]
    unsafe {
        libc::syscall(libc::SYS_landlock_create_ruleset, std::ptr::null::<u8>(), 0_usize, 1_u32).max(0)
    }
}

/// Returns the error by which there is no Landlock here: none in the kernel, not switched on, or refused by a filter.
pub fn no_landlock() -> Errno {
    // SAFETY: as in `landlock_version`.
    #[allow(unsafe_code)]
    unsafe {
        libc::syscall(libc::SYS_landlock_create_ruleset, std::ptr::null::<u8>(), 0_usize, 1_u32);
    }
    Errno::last()
}

/// Restricts this process, and every program it executes or starts.
pub fn shut(spec: &Spec) -> Result<()> {
    let mut ruleset = Ruleset::default().set_compatibility(CompatLevel::BestEffort);
    if spec.files {
        ruleset = ruleset.handle_access(AccessFs::from_all(WRITTEN_FOR))?;
    }
    if spec.net.is_none() && !spec.open && spec.files {
        ruleset = ruleset.handle_access(AccessNet::from_all(WRITTEN_FOR))?;
    }
    if spec.scopes {
        ruleset = ruleset.scope(Scope::from_all(WRITTEN_FOR))?;
    }
    let mut ruleset = ruleset.create().context("failed to make a ruleset")?;
    let root = open(&spec.root, OFlag::O_DIRECTORY)?;
    let emptied = spec.view.iter().flat_map(|view| &view.emptied);
    let emptied: Vec<Rule> = emptied.map(|path| Rule { access: Access::Read, path: path.clone() }).collect();
    for rule in spec.rules.iter().chain(&emptied).filter(|_| spec.files) {
        let Ok(place) = place(&root, &rule.path) else { continue };
        let folder = File::from(place.try_clone()?).metadata()?.is_dir();
        let sockets = if spec.unix && rule.access == Access::Write {
            AccessFs::MakeSock.into()
        } else {
            BitFlags::empty()
        };
        let access = rights(rule.access) | sockets;
        let access = if folder { access } else { access & on_file() };
        if !access.is_empty() {
            ruleset = ruleset.add_rule(PathBeneath::new(place, access))?;
        }
    }
    if let (Some(port), None, false) = (spec.port, spec.net, spec.open) {
        ruleset = ruleset.add_rule(NetPort::new(port, AccessNet::ConnectTcp))?;
    }
    let status = ruleset.restrict_self().context("failed to enter the ruleset")?;
    anyhow::ensure!(status.ruleset != RulesetStatus::NotEnforced, "the kernel did not enforce the ruleset");
    Ok(())
}

/// Opens a path: in the house beneath its root and through no link, any other as usual.
pub fn place(root: &OwnedFd, path: &Path) -> Result<OwnedFd> {
    if path.is_absolute() {
        return open(path, OFlag::empty());
    }
    beneath(root.as_fd(), path, OFlag::empty(), ResolveFlag::empty())
        .with_context(|| format!("failed to open {}", path.display()))
}

fn open(path: &Path, flags: OFlag) -> Result<OwnedFd> {
    let handle = files::open_handle(path, flags.bits());
    Ok(handle.with_context(|| format!("failed to open {}", path.display()))?.into())
}

fn rights(access: Access) -> BitFlags<AccessFs> {
    let read = AccessFs::ReadFile | AccessFs::ReadDir;
    match access {
        Access::List => AccessFs::ReadDir.into(),
        Access::Read => read,
        Access::Run => read | AccessFs::Execute,
        Access::Keep => BitFlags::empty(),
        Access::Fill => AccessFs::ReadFile | AccessFs::WriteFile | AccessFs::Truncate,
        Access::Write => {
            let never = AccessFs::MakeChar | AccessFs::MakeBlock | AccessFs::MakeSock | AccessFs::IoctlDev;
            AccessFs::from_all(WRITTEN_FOR) & !never
        }
    }
}

fn on_file() -> BitFlags<AccessFs> {
    AccessFs::from_file(WRITTEN_FOR)
}
