//! Processes of this machine as `/proc` shows them: which there are, which have a file open, which work in a folder.

use crate::files;
use nix::unistd::Pid;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Lists process ids, the newest first: a short-lived process may then still be there when it is looked at.
pub fn processes() -> impl Iterator<Item = i32> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let mut pids: Vec<i32> = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
    pids.reverse();
    pids.into_iter()
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

/// Whether a program of this name has its working folder in `folder` or below.
pub fn works_in(name: &str, folder: &Path) -> bool {
    processes().any(|pid| {
        files::system(format!("/proc/{pid}/comm")).is_ok_and(|comm| comm.trim_end() == name)
            && std::fs::read_link(format!("/proc/{pid}/cwd")).is_ok_and(|at| at.starts_with(folder))
    })
}
