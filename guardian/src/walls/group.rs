//! The group that counts the creature's processes, for root: a limit per user does not bind it.

use crate::files::tell_kernel;
use crate::house::House;
use sha2::{Digest, Sha256};
use std::fs;
use std::path::{Path, PathBuf};

const GROUPS: &str = "/sys/fs/cgroup";

/// The file a process joins the group by; or why there is no group. The group is made if need be, its limit set anew.
pub fn counted(house: &House, processes: u64) -> Result<PathBuf, String> {
    let name: String = Sha256::digest(house.root().as_os_str().as_encoded_bytes())
        .iter()
        .take(6)
        .map(|b| format!("{b:02x}"))
        .collect();
    let mut why = format!("no group of {GROUPS} can be made");
    for above in above() {
        let group = above.join(format!("feral-{name}"));
        let made = fs::create_dir(&group);
        match tell_kernel(group.join("pids.max"), processes.to_string()) {
            Ok(()) => return Ok(group.join("cgroup.procs")),
            Err(error) => why = format!("failed to limit processes in {}: {error}", group.display()),
        }
        if made.is_ok() {
            let _ = fs::remove_dir(&group);
        }
    }
    Err(why)
}

/// Where a group may be made: with ours where controllers have trees of their own, else beside ours or at the top.
fn above() -> Vec<PathBuf> {
    let ours = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let mut found = Vec::new();
    for line in ours.lines() {
        let mut fields = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (fields.next(), fields.next()) else { continue };
        let path = Path::new(path.trim_start_matches('/'));
        if controllers.split(',').any(|controller| controller == "pids") {
            let tree = Path::new(GROUPS).join("pids");
            found.extend([tree.join(path), tree]);
        } else if controllers.is_empty() {
            let tree = Path::new(GROUPS).join(path);
            found.extend(tree.parent().filter(|above| above.starts_with(GROUPS)).map(Path::to_path_buf));
            found.push(GROUPS.into());
        }
    }
    found
}
