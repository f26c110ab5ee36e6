//! A control group for one tree alone, killed or frozen whole: where there is no namespace, nothing slips away by forking.

use crate::group;
use crate::tell_kernel;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::fs;
use std::path::PathBuf;

/// How often a group is asked to stand still before what moves in it is killed all the same.
const LOOKS: usize = 50;

#[derive(Debug)]
pub struct Cage {
    folder: PathBuf,
    ended_by: EndedBy,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EndedBy {
    /// `cgroup.kill`.
    Kill,
    /// A file of the group, and the words that stop and wake what is in it.
    Freezer { file: &'static str, words: [&'static str; 2] },
}

const WAYS: [(&str, EndedBy); 3] = [
    ("", EndedBy::Kill),
    ("", EndedBy::Freezer { file: "cgroup.freeze", words: ["1", "0"] }),
    ("freezer", EndedBy::Freezer { file: "freezer.state", words: ["FROZEN", "THAWED"] }),
];

impl Cage {
    /// Makes the group, or finds the one of a former guardian; or why there can be none.
    pub fn make(name: &str) -> Result<Self, String> {
        let mut why = "no control group can be made".to_owned();
        for (controller, ended_by) in WAYS {
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
        fs::OpenOptions::new().write(true).open(self.folder.join(file))?;
        fs::OpenOptions::new().write(true).open(self.door()).map(drop)
    }

    /// For people.
    pub fn told(&self) -> &'static str {
        match self.ended_by {
            EndedBy::Kill => "control group, killed whole",
            EndedBy::Freezer { .. } => "control group, frozen and killed",
        }
    }

    /// What a process joins it by.
    pub fn door(&self) -> PathBuf {
        self.folder.join("cgroup.procs")
    }

    /// Kills what is in it. True once it is empty; who is being buried by the kernel still counts.
    pub fn end(&self) -> bool {
        match self.ended_by {
            EndedBy::Kill => {
                let _ = tell_kernel(self.folder.join("cgroup.kill"), "1");
            }
            EndedBy::Freezer { file, words: [still, go] } => {
                let file = self.folder.join(file);
                let _ = tell_kernel(&file, still);
                let stands = || fs::read_to_string(&file).is_ok_and(|state| state.trim() == still);
                let _ = (0..LOOKS).any(|_| stands());
                for pid in self.members() {
                    let _ = kill(pid, Signal::SIGKILL);
                }
                let _ = tell_kernel(&file, go);
            }
        }
        self.members().is_empty()
    }

    fn members(&self) -> Vec<Pid> {
        let text = fs::read_to_string(self.door()).unwrap_or_default();
        text.lines().filter_map(|line| line.parse().ok()).map(Pid::from_raw).collect()
    }
}

impl Drop for Cage {
    /// A group with processes in it stays, by the kernel's own rule.
    fn drop(&mut self) {
        let _ = fs::remove_dir(&self.folder);
    }
}
