//! What the launcher is told: every wall to put up before it becomes another program. Data, so that tests can hold it.

use serde::{Deserialize, Serialize};
use std::os::fd::RawFd;
use std::path::PathBuf;

/// The walls of one process tree. What is absent is not put up; what is there and fails ends the launch.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Spec {
    /// A tree with a first process and a `/proc` of its own: it ends as a whole, whatever is in it.
    pub tree: bool,
    /// Without it the launcher waits for the tree and ends as its program did.
    pub handover: Option<Handover>,
    /// A pipe nobody writes to: when it closes, whoever started this is gone, and the tree with it.
    pub lifeline: Option<RawFd>,
    /// Descriptors beside 0, 1 and 2 that the program gets.
    pub kept: Vec<RawFd>,
    /// Namespaces to enter, by inherited descriptors.
    pub user: Option<RawFd>,
    pub net: Option<RawFd>,
    /// The one port that may be connected to, where the network is not its own.
    pub port: Option<u16>,
    /// Root of the house; relative rules lie beneath it.
    pub root: PathBuf,
    pub rules: Vec<Rule>,
    /// A view of its own: everything but what may be written is read-only, and these folders are empty.
    pub view: Option<View>,
    pub files: bool,
    pub scopes: bool,
    pub calls: bool,
    pub capabilities: bool,
    pub ceilings: Option<Ceilings>,
    /// `cgroup.procs` of the groups to join: the one that counts its processes, the one that is ended whole.
    pub groups: Vec<PathBuf>,
}

/// How a tree is left to whoever started the launcher.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Handover {
    /// Where the number of its first process and later its program's wait status go, four bytes each.
    pub report: RawFd,
    /// Ends once the launcher is reaped: only then does the first process have the parent it keeps.
    pub gate: RawFd,
}

/// One path and what may be done below it. A relative path is the house's: no link on it is followed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rule {
    pub access: Access,
    pub path: PathBuf,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Access {
    /// Names of a folder and of the folders below it, no content.
    List,
    Read,
    /// Read and execute.
    Run,
    /// Everything but devices and sockets.
    Write,
    /// Read and write a file or device that is there.
    Fill,
}

/// Folders that are hidden, and what shows through all the same.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct View {
    pub hidden: Vec<PathBuf>,
    pub shown: Vec<PathBuf>,
}

/// Limits of the kernel on each process, processes apart: those are counted together.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Ceilings {
    pub processes: u64,
    pub memory_mib: u64,
    pub open_files: u64,
    pub file_mib: u64,
}
