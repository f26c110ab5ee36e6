//! Whose fault a death or a failed build is, judged from evidence. Pure.
//!
//! Only what the guardian measured itself excuses a dead creature: what a creature prints, it may have made up.
//! A failed build is judged by what was measured, by how far cargo came, by what the commit changed, and by control runs
//! (`controls`). What cargo and rustc say is a hint, and only towards patience: no words alone condemn or excuse.

use crate::decide::vocabulary::Blame;
use std::collections::BTreeMap;

/// What was measured around the end of a life or build.
#[derive(Clone, Debug, Default)]
pub struct Evidence {
    /// Signal that ended it, if one did.
    pub signal: Option<i32>,
    /// Kernel out-of-memory kills since it was started.
    pub memory_kills: u64,
    /// The least that was seen free.
    pub free_mib: u64,
    pub floor_mib: u64,
    /// We ended it for overstaying its deadline.
    pub overdue: bool,
    /// Nothing that it started, nor itself, could send its first process a signal that kills.
    pub sheltered: bool,
    /// What it wrote to was deleted or moved under it: the folder of a build, the memory of a life.
    pub folder_gone: bool,
}

/// What is known of a build that failed.
#[derive(Clone, Debug, Default)]
pub struct Failure {
    pub measured: Evidence,
    /// It came to compiling: every manifest was read, every version chosen, everything fetched.
    pub began: bool,
    /// The compiler refused source of the creature's own, and named the place.
    pub refused: bool,
    /// Only crates from elsewhere failed, and nothing of the creature's had run.
    pub foreign: bool,
    /// When its time was over another cargo held a lock that it needs.
    pub locked: bool,
    /// When its time was over it was connected to somewhere.
    pub connected: bool,
    /// It was said that the disk is full.
    pub says_full: bool,
    /// The commit changed no manifest, no lock file and no name of a file against a tree that was built here.
    pub same_recipe: bool,
    pub answers: BTreeMap<Control, Answer>,
}

/// A run of cargo that tells what a failed build does not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Control {
    /// Does a crate of ours build here and now?
    Tools,
    /// Is all that the build needs on this machine?
    Store,
    /// Can the manifests be read, by themselves?
    Manifests,
    /// Do the registries, if they answer at all, have what is asked of them?
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
    /// Nobody was there to answer.
    Silent,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judgement {
    Blamed(Blame),
    /// Not before this is known.
    Ask(Control),
}

const KILLED: i32 = 9;
/// Signals by which somebody ends a process: hangup, interrupt, kill, terminate. By any other it crashed of itself.
const ENDING: [i32; 4] = [1, 2, KILLED, 15];
/// With more than this free, no build of ours fills a disk, whatever is said. Mebibytes.
const ROOMY_MIB: u64 = 1_024;
/// What is said where something could not be fetched, in whatever words: parts of words, in lower case.
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

/// The first line that fits decides. Once the answers are in, there is one for everything.
pub fn build(failure: &Failure) -> Judgement {
    use Judgement::{Ask, Blamed};
    let Evidence { signal, memory_kills, free_mib, floor_mib, overdue, folder_gone, sheltered: _ } =
        failure.measured;
    if free_mib < floor_mib {
        return Blamed(Blame::Disk);
    }
    if signal.is_some_and(|signal| ENDING.contains(&signal)) {
        // Cargo itself was killed: no compiler's verdict.
        return Blamed(if memory_kills > 0 { Blame::Memory } else { Blame::Owner });
    }
    if folder_gone {
        return Blamed(Blame::Owner);
    }
    // What was built before and is not the creature's fails by what changed around it.
    let unchanged = if failure.same_recipe { Blame::Toolchain } else { Blame::Code };
    if overdue {
        return Blamed(match (failure.locked, failure.began, failure.connected) {
            (true, ..) => Blame::Owner,
            // Only once it compiles does it run code of the creature's.
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

/// Whether a full disk is spoken of, by the system's own number or words for it.
pub fn says_full(text: &str) -> bool {
    ["os error 28", "No space left on device"].iter().any(|words| text.contains(words))
}

/// Whether fetching is spoken of. Cargo puts in `quotes` what the manifests say: those are the creature's words.
pub fn says_fetching(text: &str) -> bool {
    let spoken: String = text.split('`').step_by(2).collect::<String>().to_lowercase();
    FETCHING.iter().any(|part| spoken.contains(part))
}
