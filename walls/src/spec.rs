//! The launcher's specification: every wall to put up before it executes the program. Data, so that tests can check it.

pub use ground::asked::Ceilings;

use serde::{Deserialize, Serialize};
use std::os::fd::RawFd;
use std::path::PathBuf;

/// Walls of one process tree. A field left out puts up no wall; a field that is set and fails ends the launch.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Spec {
    /// Gives the tree an init and a `/proc` of its own: it ends as a whole.
    pub tree: bool,
    /// Without it the launcher waits for the tree and ends as the program did.
    pub handover: Option<Handover>,
    /// A pipe nobody writes to: when it closes, the guardian is gone, and the tree ends.
    pub lifeline: Option<RawFd>,
    /// Descriptors beside 0, 1 and 2 that the program inherits.
    pub kept: Vec<RawFd>,
    /// Inherited descriptors of namespaces to enter.
    pub user: Option<RawFd>,
    pub net: Option<RawFd>,
    /// Puts no wall around the network.
    pub open: bool,
    /// Lets it use Unix sockets, and make some where it may write. Any that it sees it may connect to: the view has to
    /// leave none of others in sight.
    pub unix: bool,
    /// The one port that may be connected to, where the network is shared.
    pub port: Option<u16>,
    /// Root of the house; relative rules lie beneath it.
    pub root: PathBuf,
    pub rules: Vec<Rule>,
    /// Gives the tree its own mounts: everything read-only except what rules let it write, and the paths named here
    /// hidden.
    pub view: Option<View>,
    pub files: bool,
    pub scopes: bool,
    pub calls: bool,
    pub capabilities: bool,
    pub ceilings: Option<Ceilings>,
    /// `cgroup.procs` of the groups to join: the one that counts processes, and the tree's own.
    pub groups: Vec<PathBuf>,
}

/// Pipes by which the launcher hands the tree over and ends itself.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Handover {
    /// A pipe for the init's process id and later the program's wait status, four bytes each.
    pub report: RawFd,
    /// A pipe that closes once the launcher is reaped: only then does the init have its final parent.
    pub gate: RawFd,
}

/// A path and the access to what lies below it. A relative path lies in the house, and no link on it is followed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rule {
    pub access: Access,
    pub path: PathBuf,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Access {
    /// Names in a folder and the folders below it, no content.
    List,
    Read,
    /// Read and execute.
    Run,
    /// Everything but devices and sockets.
    Write,
    /// Read and write an existing file or device.
    Fill,
    /// Read-only by the view, whatever a rule around it lets be written; no right of its own.
    Keep,
}

/// Folders and files that are hidden, paths in the folders that stay visible, files that are shown as empty ones, and
/// folders that stand in another place too.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct View {
    pub hidden: Vec<PathBuf>,
    pub shown: Vec<PathBuf>,
    /// Read by programs that give up where they may not: an empty file stands in place of each, and can be read.
    pub emptied: Vec<PathBuf>,
    /// A folder, and a path in a hidden folder where it is seen as well: writable if the folder is.
    pub placed: Vec<(PathBuf, PathBuf)>,
}
