//! The creature's own mounts: everything read-only except what it may write, folders not meant for it hidden.
//!
//! Landlock does not restrict modes, owners, times and attributes of files, and cannot exclude a folder from one it
//! grants; a mount namespace does both. Invariant: these mounts are visible to this process tree alone.

use crate::landlock;
use crate::spec::{Access, Spec, View};
use anyhow::{Context, Result};
use ground::files;
use nix::mount::{MsFlags, mount};
use nix::sched::{CloneFlags, unshare};
use std::ffi::CString;
use std::fs;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// An empty file in the first hidden folder, which stands in place of every hidden file.
const NOTHING: &str = ".nothing";

/// Enters a mount namespace and restricts it. To be called before mounting is forbidden.
pub fn narrow(spec: &Spec, view: &View) -> Result<()> {
    // A tree with an init has a mount namespace already.
    if !spec.tree {
        unshare(CloneFlags::CLONE_NEWNS).context("failed to make a mount namespace")?;
        let private = MsFlags::MS_REC | MsFlags::MS_PRIVATE;
        mount(None::<&str>, "/", None::<&str>, private, None::<&str>)
            .context("failed to leave shared mounts")?;
    }
    let root: OwnedFd = files::open_folder(&spec.root).context("failed to open the house")?.into();
    let mut writable = Vec::new();
    for rule in spec.rules.iter().filter(|rule| matches!(rule.access, Access::Write | Access::Fill)) {
        // A path that does not exist needs no mount; devices are written to even on read-only mounts.
        let (Ok(place), false) = (landlock::place(&root, &rule.path), rule.path.starts_with("/dev")) else {
            continue;
        };
        bind(&place, &spec.root.join(&rule.path))?;
        writable.push(spec.root.join(&rule.path));
    }
    let mut kept = Vec::new();
    for rule in spec.rules.iter().filter(|rule| rule.access == Access::Keep) {
        let Ok(place) = landlock::place(&root, &rule.path) else { continue };
        bind(&place, &spec.root.join(&rule.path))?;
        kept.push(spec.root.join(&rule.path));
    }
    // Whatever is no folder, a pipe or a socket too, is hidden by an empty file.
    let is_no_folder = |path: &&PathBuf| spec.root.join(path).metadata().is_ok_and(|found| !found.is_dir());
    let (files, folders): (Vec<_>, Vec<_>) = view.hidden.iter().partition(is_no_folder);
    for path in &folders {
        let Ok(_there) = landlock::place(&root, path) else { continue };
        let shown: Vec<_> = view.shown.iter().filter(|shown| shown.starts_with(path)).collect();
        let places: Vec<_> = shown.iter().map(|shown| landlock::place(&root, shown).ok()).collect();
        let at = spec.root.join(path);
        let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV;
        mount(Some("none"), &at, Some("tmpfs"), flags, Some("size=64k,mode=755"))
            .with_context(|| format!("failed to hide {}", path.display()))?;
        for (shown, place) in shown.iter().zip(&places) {
            let at = spec.root.join(shown);
            if let Some(place) = place {
                fs::create_dir_all(&at).with_context(|| format!("failed to show {}", shown.display()))?;
                bind(place, &at)?;
            }
        }
    }
    for (from, at) in &view.placed {
        fs::create_dir_all(at).with_context(|| format!("failed to make {}", at.display()))?;
        bind(&landlock::place(&root, from)?, at)?;
        let is_writable = writable.iter().any(|path| from.starts_with(path));
        writable.extend(is_writable.then(|| at.clone()));
    }
    // What lay in a folder that is hidden now is hidden with it.
    let files = files.into_iter().filter(|path| spec.root.join(path).exists());
    let files: Vec<_> = files.chain(view.emptied.iter().filter(|path| path.is_file())).collect();
    if let Some(folder) = folders.first().filter(|_| !files.is_empty()) {
        let nothing = spec.root.join(folder).join(NOTHING);
        files::create(&nothing).context("failed to make an empty file")?;
        let nothing = landlock::place(&root, &nothing)?;
        files.iter().try_for_each(|path| bind(&nothing, &spec.root.join(path)))?;
    }
    set_read_only(Path::new("/"), true)?;
    writable.iter().try_for_each(|path| set_read_only(path, false))?;
    kept.iter().try_for_each(|path| set_read_only(path, true))?;
    // The working folder was opened before these mounts and lies under them: enter it again.
    std::env::set_current_dir(&spec.root).context("failed to enter the house")
}

fn bind(from: &OwnedFd, to: &Path) -> Result<()> {
    let from = format!("/proc/self/fd/{}", from.as_raw_fd());
    let flags = MsFlags::MS_BIND | MsFlags::MS_REC;
    mount(Some(from.as_str()), to, None::<&str>, flags, None::<&str>)
        .with_context(|| format!("failed to mount {} on itself", to.display()))
}

/// Sets or clears read-only on every mount at and below a path.
fn set_read_only(path: &Path, read_only: bool) -> Result<()> {
    let path = CString::new(path.as_os_str().as_bytes())?;
    // The fields of `struct mount_attr`: to set, to clear, propagation, user namespace.
    let flag = libc::MOUNT_ATTR_RDONLY;
    let attributes = if read_only { [flag, 0, 0, 0] } else { [0, flag, 0, 0] };
    // SAFETY: path and attributes outlive the call, and the size is theirs.
    #[allow(unsafe_code)]
    let done = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            libc::AT_FDCWD,
            path.as_ptr(),
            libc::AT_RECURSIVE,
            attributes.as_ptr(),
            size_of_val(&attributes),
        )
    };
    if done == 0 {
        return Ok(());
    }
    Err(std::io::Error::last_os_error())
        .with_context(|| format!("failed to change the mount at {}", path.to_string_lossy()))
}
