//! The process in which the heart keeps lives, a steward or a stand-in: started from the heart's own program, looked at, ended.

use crate::held::{Look, Sleep};
use crate::wire::{DESCRIPTOR, Line};
use crate::{LEAVE, STAND_IN, STEWARD};
use anyhow::{Context, Result};
use ground::hunt::{self, ANEW, LAST_LIFE};
use ground::{House, files};
use nix::errno::Errno;
use nix::sys::prctl;
use nix::sys::signal::{SigSet, Signal, kill};
use nix::unistd::Pid;
use std::os::fd::AsRawFd;
use std::os::unix::process::CommandExt;
use std::process::Command;

/// Variables of the service manager, which the heart alone answers.
const SERVICE: [&str; 3] = ["NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"];

/// A running steward or stand-in.
pub struct Process {
    pub pid: Pid,
    pub line: Line,
}

/// Starts the steward.
pub fn steward(house: &House, plain: bool, last_life: u64, anew: Option<&str>) -> Result<Process> {
    let mut command = Command::new("/proc/self/exe");
    command.arg(STEWARD).arg(house.root()).args(plain.then_some("--plain"));
    command.env(LAST_LIFE, last_life.to_string());
    match anew {
        Some(why) => command.env(ANEW, why),
        None => command.env_remove(ANEW),
    };
    start(command)
}

/// Starts a stand-in with its plan.
pub fn stand_in(house: &House, plan: &str) -> Result<Process> {
    let mut command = Command::new("/proc/self/exe");
    command.arg(STAND_IN).arg(house.root()).arg(plan).env_remove(ANEW);
    start(command)
}

/// Starts a keeper, in the heart's own process group: Ctrl-C and Ctrl-Z of a terminal reach both.
fn start(mut command: Command) -> Result<Process> {
    let (line, theirs) = Line::pair()?;
    SERVICE.iter().for_each(|name| _ = command.env_remove(name));
    if let Some(name) = std::env::args_os().next() {
        command.arg0(name);
    }
    let (parent, from) = (nix::unistd::getpid(), theirs.as_raw_fd());
    // SAFETY: between fork and exec only system calls are made; nothing allocates or locks.
    #[allow(unsafe_code)]
    unsafe {
        command.pre_exec(move || {
            prctl::set_pdeathsig(Signal::SIGKILL)?;
            if nix::unistd::getppid() != parent {
                return Err(Errno::ESRCH.into());
            }
            SigSet::empty().thread_set_mask()?;
            let done = if from == DESCRIPTOR {
                libc::fcntl(from, libc::F_SETFD, 0)
            } else {
                libc::dup2(from, DESCRIPTOR)
            };
            if done == -1 { Err(std::io::Error::last_os_error()) } else { Ok(()) }
        });
    }
    #[allow(clippy::disallowed_methods)]
    let child = command.spawn().context("the guardian cannot start its steward")?;
    Ok(Process { pid: Pid::from_raw(child.id() as i32), line })
}

impl Process {
    /// Returns the state of its main thread; of one that is gone, that it runs.
    pub fn look(&self) -> Look {
        let stat = files::system(format!("/proc/{}/stat", self.pid)).unwrap_or_default();
        // The program's name, in brackets, may contain anything, so fields are counted from its end.
        let mut fields = stat.rsplit_once(')').map_or("", |(_, rest)| rest).split_ascii_whitespace();
        let sleep = match fields.next() {
            Some("S") => Sleep::Asleep,
            Some("D") => Sleep::Disk,
            Some("T" | "t") => Sleep::Stopped,
            _ => Sleep::Runs,
        };
        // Times in user and kernel mode, in hundredths of a second (proc_pid_stat(5)).
        let taken: u64 = fields.skip(10).take(2).filter_map(|ticks| ticks.parse::<u64>().ok()).sum();
        Look { sleep, taken_ms: taken * 10, place: self.place() }
    }

    /// Returns the place in the kernel where it waits, by the kernel's name for it where we may know it.
    fn place(&self) -> String {
        let name = files::system(format!("/proc/{}/wchan", self.pid)).unwrap_or_default();
        match name.trim() {
            "" | "0" => "in the kernel".into(),
            name => format!("in the kernel ({name})"),
        }
    }

    pub fn pass_on_leave(&self) {
        let _ = kill(self.pid, LEAVE);
    }

    /// Passes on that an order of the owner's waits in its file.
    pub fn pass_on_order(&self) {
        let _ = kill(self.pid, Signal::SIGUSR1);
    }

    /// Asks all that it started to end.
    pub fn ask(&self) {
        hunt::ask_children_of(self.pid);
    }
}
