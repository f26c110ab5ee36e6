//! A control group for one process tree, killed or frozen whole: where there is no namespace, forking does not escape it.

use crate::group;
use ground::files;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::fs;
use std::path::PathBuf;

/// Most checks of whether a group is frozen before its processes are killed all the same.
const LOOKS: usize = 50;

#[derive(Debug)]
pub struct Cage {
    folder: PathBuf,
    ended_by: EndedBy,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EndedBy {
    /// The group's file `cgroup.kill`.
    Kill,
    /// The group's freezer file, and the words that freeze and thaw its processes.
    Freezer { file: &'static str, words: [&'static str; 2] },
}

const KINDS: [(&str, EndedBy); 3] = [
    ("", EndedBy::Kill),
    ("", EndedBy::Freezer { file: "cgroup.freeze", words: ["1", "0"] }),
    ("freezer", EndedBy::Freezer { file: "freezer.state", words: ["FROZEN", "THAWED"] }),
];

impl Cage {
    /// Makes the group, or takes over one a former guardian left; the error says why there can be none.
    pub fn make(name: &str) -> Result<Self, String> {
        let mut why = "no control group can be made".to_owned();
        for (controller, ended_by) in KINDS {
            for above in group::above(controller) {
                let folder = above.join(name);
                let made = fs::create_dir(&folder);
                let cage = Self { folder, ended_by };
                match cage.can_end() {
                    Ok(()) => return Ok(cage),
                    Err(error) => why = format!("{}: {error}", cage.folder.display()),
                }
                if made.is_ok() {
                    let _ = fs::remove_dir(&cage.folder);
                }
            }
        }
        Err(why)
    }

    fn can_end(&self) -> std::io::Result<()> {
        let file = match self.ended_by {
            EndedBy::Kill => "cgroup.kill",
            EndedBy::Freezer { file, .. } => file,
        };
        let opens = |path| files::open_system(fs::OpenOptions::new().write(true), path).map(drop);
        opens(self.folder.join(file))?;
        opens(self.door())
    }

    /// Tells people how the group is ended.
    pub fn told(&self) -> &'static str {
        match self.ended_by {
            EndedBy::Kill => "control group, killed whole",
            EndedBy::Freezer { .. } => "control group, frozen and killed",
        }
    }

    /// The file that a process joins the group by.
    pub fn door(&self) -> PathBuf {
        self.folder.join("cgroup.procs")
    }

    /// Kills every process in the group. True once it is empty; a process the kernel has not yet removed still
    /// counts.
    pub fn end(&self) -> bool {
        match self.ended_by {
            EndedBy::Kill => {
                let _ = files::tell_kernel(self.folder.join("cgroup.kill"), "1");
            }
            EndedBy::Freezer { file, words: [still, go] } => {
                let file = self.folder.join(file);
                let _ = files::tell_kernel(&file, still);
                let stands = || files::system(&file).is_ok_and(|state| state.trim() == still);
                let _ = (0..LOOKS).any(|_| stands());
                for pid in self.members() {
                    let _ = kill(pid, Signal::SIGKILL);
                }
                let _ = files::tell_kernel(&file, go);
            }
        }
        self.members().is_empty()
    }

    fn members(&self) -> Vec<Pid> {
        let text = files::system(self.door()).unwrap_or_default();
        text.lines().filter_map(|line| line.parse().ok()).map(Pid::from_raw).collect()
    }
}

impl Drop for Cage {
    /// The kernel keeps a group that still has processes in it.
    fn drop(&mut self) {
        let _ = fs::remove_dir(&self.folder);
    }
}
