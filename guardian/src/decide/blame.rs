//! Blame for a death or a failed build, judged from evidence. Pure.
//!
//! Only the guardian's own measurements excuse a dead creature: it may have made up anything it prints. A failed
//! build is judged by measurements, by how far cargo came, by what the commit changed, and by control runs
//! (`controls`). Text from cargo and rustc is a hint, and only towards patience: no text alone condemns or excuses.

use crate::decide::vocabulary::Blame;
use std::collections::BTreeMap;

/// Measurements around the end of a life or build.
#[derive(Clone, Debug, Default)]
pub struct Evidence {
    /// The signal that ended it, if any.
    pub signal: Option<i32>,
    /// Kernel out-of-memory kills since it was started.
    pub memory_kills: u64,
    /// Least free space seen, in MiB.
    pub free_mib: u64,
    pub floor_mib: u64,
    /// The guardian ended it for exceeding its deadline.
    pub overdue: bool,
    /// Neither the process itself nor anything it started could send its tree's first process a killing signal.
    pub sheltered: bool,
    /// The folder or file it wrote to was deleted or moved meanwhile: a build's folder, a life's memory.
    pub folder_gone: bool,
}

/// Facts about a failed build.
#[derive(Clone, Debug, Default)]
pub struct Failure {
    pub measured: Evidence,
    /// It came to compiling: manifests were read, versions chosen, everything fetched.
    pub began: bool,
    /// The compiler rejected the creature's own source, and named the place.
    pub refused: bool,
    /// Only third-party crates failed, and no code of the creature's had run.
    pub foreign: bool,
    /// At its deadline another cargo held a lock it needs.
    pub locked: bool,
    /// At its deadline it had a socket open.
    pub connected: bool,
    /// Its output says that the disk is full.
    pub says_full: bool,
    /// Compared to a tree built here before, the commit changed no manifest, lock file or file name.
    pub same_recipe: bool,
    pub answers: BTreeMap<Control, Answer>,
}

/// A run of cargo that answers a question which a failed build leaves open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Control {
    /// Does a trivial crate build here and now?
    Tools,
    /// Is everything the build needs on this machine?
    Store,
    /// Can the manifests be read?
    Manifests,
    /// Do the registries, if they answer at all, have what the manifests ask for?
    Registries,
}

impl Control {
    pub fn question(self) -> &'static str {
        match self {
            Control::Tools => "does a crate of the guardian's build here and now",
            Control::Store => "is all that the build needs on this machine",
            Control::Manifests => "can the manifests be read by themselves",
            Control::Registries => "have the registries what is asked of them",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    Yes,
    No,
    /// No registry answered.
    Silent,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judgement {
    Blamed(Blame),
    /// This control run has to be made first.
    Ask(Control),
}

const KILLED: i32 = 9;
/// Signals by which somebody ends a process: hangup, interrupt, kill, terminate. With any other it crashed by itself.
const ENDING: [i32; 4] = [1, 2, KILLED, 15];
/// With more MiB free than this, no build fills the disk, whatever its output says.
const ROOMY_MIB: u64 = 1_024;
/// Parts of words, in lower case, that occur in messages about failed downloads.
const FETCHING: [&str; 8] =
    ["connect", "download", "http response", "receiving", "resolve host", "timed out", "timeout", "transfer"];

pub fn death(evidence: &Evidence) -> Blame {
    let killed = evidence.signal == Some(KILLED);
    if evidence.free_mib < evidence.floor_mib {
        Blame::Disk
    } else if killed && evidence.memory_kills > 0 && !evidence.overdue {
        Blame::Memory
    } else if evidence.folder_gone || evidence.sheltered && killed && !evidence.overdue {
        Blame::Owner
    } else {
        Blame::Code
    }
}

/// Returns the blame for a failed build, or the control run that would tell. The first rule that fits decides; with all
/// answers in, one always does.
pub fn build(failure: &Failure) -> Judgement {
    use Judgement::{Ask, Blamed};
    let Evidence { signal, memory_kills, free_mib, floor_mib, overdue, folder_gone, sheltered: _ } =
        failure.measured;
    if free_mib < floor_mib {
        return Blamed(Blame::Disk);
    }
    if signal.is_some_and(|signal| ENDING.contains(&signal)) {
        // Cargo itself was killed, so this says nothing about the code.
        return Blamed(if memory_kills > 0 { Blame::Memory } else { Blame::Owner });
    }
    if folder_gone {
        return Blamed(Blame::Owner);
    }
    // Blame for a failure that does not lie in the creature's source: if the dependencies are as in a tree that was
    // built here, the toolchain has changed.
    let unchanged = if failure.same_recipe { Blame::Toolchain } else { Blame::Code };
    if overdue {
        return Blamed(match (failure.locked, failure.began, failure.connected) {
            (true, ..) => Blame::Owner,
            // Code of the creature's runs only after compiling has begun.
            (_, true, _) => Blame::Code,
            (.., true) => Blame::Network,
            (.., false) => unchanged,
        });
    }
    if !failure.refused && memory_kills > 0 {
        return Blamed(Blame::Memory);
    }
    if !failure.refused && failure.says_full && free_mib < ROOMY_MIB {
        return Blamed(Blame::Disk);
    }
    let told = |control| failure.answers.get(&control).copied();
    match told(Control::Tools) {
        None => return Ask(Control::Tools),
        Some(Answer::Yes) => {}
        Some(Answer::No | Answer::Silent) => return Blamed(Blame::Toolchain),
    }
    if failure.began {
        return Blamed(if failure.foreign { unchanged } else { Blame::Code });
    }
    match [Control::Store, Control::Manifests, Control::Registries].map(told) {
        [None, ..] => Ask(Control::Store),
        [Some(Answer::Yes), ..] => Blamed(unchanged),
        _ if failure.same_recipe => Blamed(Blame::Network),
        [_, None, _] => Ask(Control::Manifests),
        [_, Some(Answer::No), _] => Blamed(Blame::Code),
        [.., None] => Ask(Control::Registries),
        [.., Some(Answer::No)] => Blamed(Blame::Code),
        [.., Some(Answer::Yes | Answer::Silent)] => Blamed(Blame::Network),
    }
}

/// Whether a text says that the disk is full, by the system's error number or message.
pub fn says_full(text: &str) -> bool {
    ["os error 28", "No space left on device"].iter().any(|words| text.contains(words))
}

/// Whether a text speaks of fetching. Text in backquotes is left out: cargo quotes the manifests there, which the
/// creature writes.
pub fn says_fetching(text: &str) -> bool {
    let spoken: String = text.split('`').step_by(2).collect::<String>().to_lowercase();
    FETCHING.iter().any(|part| spoken.contains(part))
}
