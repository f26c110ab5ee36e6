//! The control group that counts the creature's processes when the guardian is root: root is not bound by a limit per user.
//!
//! Joining a group takes the kernel some 16 ms. So the guardian joins once, at its start; its children are in the
//! group from the start, and only the owner's processes leave it again.

use ground::files;
use nix::fcntl::OFlag;
use nix::sys::stat::Mode;
use std::ffi::CString;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

const GROUPS: &str = "/sys/fs/cgroup";

/// The file by which a process joins the group, or why there is no group. Makes the group where needed, and sets its
/// limit.
pub fn counted(name: &str, processes: u64) -> Result<PathBuf, String> {
    let mut why = format!("no group of {GROUPS} can be made");
    for above in above("pids") {
        let group = above.join(name);
        let made = fs::create_dir(&group);
        match files::tell_kernel(group.join("pids.max"), processes.to_string()) {
            Ok(()) => return Ok(group.join("cgroup.procs")),
            Err(error) => why = format!("failed to limit processes in {}: {error}", group.display()),
        }
        if made.is_ok() {
            let _ = fs::remove_dir(&group);
        }
    }
    Err(why)
}

/// The guardian's former group, for children that are not to be counted. Set once, when the guardian joins.
static OUTER: OnceLock<CString> = OnceLock::new();

/// Joins a group by its `cgroup.procs`; false if that fails.
pub fn join(group: &Path) -> bool {
    let outer = group.parent().and_then(Path::parent).map(|above| above.join("cgroup.procs"));
    let Some(outer) = outer.and_then(|outer| CString::new(outer.into_os_string().into_encoded_bytes()).ok())
    else {
        return false;
    };
    files::tell_kernel(group, "0").is_ok() && OUTER.set(outer).is_ok()
}

/// Moves this process back to the former group. May be called between fork and exec: nothing here allocates.
pub fn leave() {
    let Some(outer) = OUTER.get() else { return };
    let flags = OFlag::O_WRONLY | OFlag::O_CLOEXEC;
    if let Ok(file) = nix::fcntl::open(outer.as_c_str(), flags, Mode::empty()) {
        let _ = nix::unistd::write(&file, b"0");
    }
}

/// Folders a group may be made in. With a hierarchy per controller: this process's group there, or its top. With the
/// unified hierarchy: this process's group, that group's parent, or the top.
pub fn above(controller: &str) -> Vec<PathBuf> {
    let ours = files::system("/proc/self/cgroup").unwrap_or_default();
    let mut found = Vec::new();
    for line in ours.lines() {
        let mut fields = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (fields.next(), fields.next()) else { continue };
        let path = Path::new(path.trim_start_matches('/'));
        if controllers.is_empty() {
            // Beside hierarchies per controller the unified one is mounted at `unified`.
            for top in [Path::new(GROUPS).to_path_buf(), Path::new(GROUPS).join("unified")] {
                let ours = top.join(path);
                found.extend(
                    ours.ancestors().take(2).filter(|above| above.starts_with(&top)).map(Path::to_path_buf),
                );
                found.push(top);
            }
        } else if controllers.split(',').any(|known| known == controller) {
            let tree = Path::new(GROUPS).join(controller);
            found.extend([tree.join(path), tree]);
        }
    }
    found
}
