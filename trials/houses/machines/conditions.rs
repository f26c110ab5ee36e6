//! Conditions a guardian is started in: mounts of its own, another user, a filter on its system calls.

use crate::{House, programs};
use nix::mount::{MsFlags, mount};
use nix::sched::{CloneFlags, unshare};
use nix::unistd::{Gid, Uid, setgid, setgroups, setuid};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
};
use std::collections::BTreeMap;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Who has no rights of its own.
const NOBODY: u32 = 65_534;

/// What is put on a folder, for the processes of a house alone.
#[derive(Clone)]
pub enum Mount {
    /// An empty disk.
    Empty(PathBuf, MsFlags),
    /// Another folder.
    Other(PathBuf, PathBuf),
}

/// The condition a process is started in.
#[derive(Clone, Default)]
pub struct Condition {
    pub mounts: Vec<Mount>,
    pub filters: Vec<BpfProgram>,
    /// As a user without rights, where these tests run as root.
    pub plain: bool,
}

impl Condition {
    /// Whether it can be made here.
    pub fn can_be_made(&self) -> bool {
        let mut trial = Command::new("true");
        self.put_on(&mut trial);
        trial.status().is_ok_and(|status| status.success())
    }

    /// The guardian with these words, started in it.
    pub fn command(&self, house: &House, words: &[&str]) -> Command {
        let mut command = house.command(words);
        self.put_on(&mut command);
        if self.plain {
            command.env("HOME", house.folder.path());
        }
        command
    }

    /// Gives a house to the user who is to live in it.
    pub fn give(&self, house: &House) {
        if !(self.plain && nix::unistd::geteuid().is_root()) {
            return;
        }
        programs::place_guardian(&house.folder.path().join("bin"));
        give(house.folder.path());
    }

    /// Any command, started in it.
    pub fn around(&self, mut command: Command) -> Command {
        self.put_on(&mut command);
        command
    }

    fn put_on(&self, command: &mut Command) {
        let Self { mounts, filters, plain } = self.clone();
        let changes_user = plain && nix::unistd::geteuid().is_root();
        // SAFETY: plain system calls; what they need was made before, and nothing else runs in the copy of this process.
        #[allow(unsafe_code)]
        unsafe {
            command.pre_exec(move || {
                if !mounts.is_empty() {
                    unshare(CloneFlags::CLONE_NEWNS)?;
                    let private = MsFlags::MS_REC | MsFlags::MS_PRIVATE;
                    mount(None::<&str>, "/", None::<&str>, private, None::<&str>)?;
                }
                for each in &mounts {
                    match each {
                        Mount::Empty(at, flags) => {
                            mount(Some("none"), at, Some("tmpfs"), *flags, None::<&str>)?;
                        }
                        Mount::Other(from, at) => {
                            mount(Some(from), at, None::<&str>, MsFlags::MS_BIND, None::<&str>)?;
                        }
                    }
                }
                if changes_user {
                    setgroups(&[Gid::from_raw(NOBODY)])?;
                    setgid(Gid::from_raw(NOBODY))?;
                    setuid(Uid::from_raw(NOBODY))?;
                }
                if !filters.is_empty() {
                    nix::sys::prctl::set_no_new_privs()?;
                }
                for filter in &filters {
                    seccompiler::apply_filter(filter).map_err(std::io::Error::other)?;
                }
                Ok(())
            });
        }
    }
}

fn give(path: &Path) {
    // Programs may be the same files as where they were built.
    if path.file_name().is_some_and(|name| name == "bin") {
        return;
    }
    std::os::unix::fs::lchown(path, Some(NOBODY), Some(NOBODY)).unwrap();
    if path.is_dir() && !path.is_symlink() {
        std::fs::read_dir(path).unwrap().flatten().for_each(|entry| give(&entry.path()));
    }
}

/// Refuses system calls to this thread alone, for good.
pub fn refuse_here(calls: &[i64], errno: i32) {
    nix::sys::prctl::set_no_new_privs().unwrap();
    seccompiler::apply_filter(&refused(calls, errno)).unwrap();
}

/// Refuses system calls with an error, whatever their arguments.
pub fn refused(calls: &[i64], errno: i32) -> BpfProgram {
    filter(calls.iter().map(|call| (*call, vec![])).collect(), errno)
}

/// Refuses to write 128 KiB or more at once, as over a quota.
pub fn large_writes_refused(errno: i32) -> BpfProgram {
    let large = SeccompCondition::new(2, SeccompCmpArgLen::Qword, SeccompCmpOp::Ge, 128 << 10).unwrap();
    filter([(libc::SYS_write, vec![SeccompRule::new(vec![large]).unwrap()])].into(), errno)
}

/// Refuses new namespaces of these kinds, by `clone` and `unshare`.
pub fn no_namespaces(kinds: &[i32]) -> BpfProgram {
    let rules = kinds.iter().map(|kind| {
        let flag = *kind as u32 as u64;
        let is = SeccompCmpOp::MaskedEq(flag);
        let has = SeccompCondition::new(0, SeccompCmpArgLen::Dword, is, flag).unwrap();
        SeccompRule::new(vec![has]).unwrap()
    });
    let rules: Vec<SeccompRule> = rules.collect();
    filter([(libc::SYS_clone, rules.clone()), (libc::SYS_unshare, rules)].into(), libc::EPERM)
}

fn filter(rules: BTreeMap<i64, Vec<SeccompRule>>, errno: i32) -> BpfProgram {
    let refused = SeccompAction::Errno(errno as u32);
    let architecture = std::env::consts::ARCH.try_into().unwrap();
    SeccompFilter::new(rules, SeccompAction::Allow, refused, architecture).unwrap().try_into().unwrap()
}
