//! The words the guardian decides in: what is wanted, what is, what happens, what is done, what survives.

use crate::decide::longevity::Lives;
use crate::limits::Limits;
use house::clock::Millis;
use serde::{Deserialize, Serialize};

/// What the owner wants.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Want {
    #[default]
    Keep,
    Pause,
    Leave,
}

/// What is. Each phase carries exactly its own data.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Phase {
    Building { since: Millis },
    Booting { since: Millis },
    Probation { watch: Watch, bless_at: Millis, exam: Exam },
    Settled { watch: Watch },
    Stopping { since: Millis, killed: bool, why: Why },
    RollingBack,
    Resting { until: Millis },
    Parked { until: Millis },
    Paused,
    Done,
}

/// How a life on probation stands with the tests it is trusted for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Exam {
    /// There are none to be passed, or they are passed.
    Over,
    Runs {
        since: Millis,
    },
    /// Nothing came of them, through nobody's code: they run again then.
    Waits {
        until: Millis,
    },
}

/// What came of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Examined {
    Passed,
    Failed,
    /// They came to no end, and whose fault that is. `Owner` is whoever: the machine does not explain it.
    Unsure(Blame),
}

/// What is known of a life that beats.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Watch {
    pub since: Millis,
    pub beat_at: Millis,
    pub turns: u64,
    pub turned_at: Millis,
    pub thought: bool,
    /// Up to where it is in the record as lived.
    pub recorded: Millis,
}

/// Why a life is being ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Why {
    Death(Death),
    Wanted,
    LeaveSafe,
    Rollback(Cause),
    /// What stands in gives way for the rollback to be tried again.
    Retry,
}

/// An end nobody asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Death {
    Stillborn,
    Crashed,
    Hung,
    BuildFailed,
}

/// Whose fault a death or a failed step is. Only `Code` spends the creature's rungs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Blame {
    Code,
    Toolchain,
    Disk,
    Memory,
    Network,
    Owner,
    Suspended,
}

/// Why the creature is put back. Every rollback carries one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// Three boots and no blessing.
    TriesSpent,
    /// A blessed commit died too often at once.
    CrashLoop,
    /// It dies sooner than those before it did, again and again.
    LateDeaths,
    /// What it gave way to for its deaths dies as well, and did not before: it was not its fault.
    Acquitted,
    DoesNotBuild,
    /// Those of its tests that run beside its first life failed.
    TestsFailed,
    /// This tree fell before.
    KnownBad,
    /// Life after life without a blessing, whatever the cause.
    LoopOfLoops,
    /// Neither code's fault nor mended by waiting: run something that is already built.
    Environment,
    Owner,
}

impl Cause {
    /// The tree itself is at fault: strike it and refuse it if it comes back.
    pub fn condemns(self) -> bool {
        match self {
            Cause::TriesSpent | Cause::CrashLoop | Cause::LateDeaths => true,
            Cause::DoesNotBuild | Cause::TestsFailed | Cause::LoopOfLoops => true,
            Cause::KnownBad | Cause::Environment | Cause::Owner | Cause::Acquitted => false,
        }
    }

    /// It fell for how it lived, so what is put back shows whether another lives better.
    pub fn is_for_deaths(self) -> bool {
        matches!(self, Cause::CrashLoop | Cause::LateDeaths)
    }
}

/// How much a creature tree is trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Standing {
    Unproven,
    Blessed,
    /// Blessed, and there is no rung below it.
    Bottom,
    Fallen,
}

/// The version the next life would run.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Subject {
    pub tree: String,
    pub standing: Standing,
    /// The trees of the ladder, bottom first.
    pub rungs: Vec<String>,
    /// A verified copy of its binary is kept.
    pub kept: bool,
    /// The last build was of this tree.
    pub built: bool,
    /// A self-edit made it, and it has yet to pass the tests that run beside a life.
    pub unexamined: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Event {
    Tick,
    Surveyed(Subject),
    /// `creature/` was edited while no creature lived: that is the owner's.
    OwnerEdits,
    /// An action could not be performed; what was meant by it is still wanted.
    Failed,
    /// It gave up for the owner's word, which is heard next; then it is done again.
    Interrupted,
    /// Nothing can be put back now; what has a kept binary can run meanwhile.
    Stuck(Option<Subject>),
    BuildSucceeded,
    BuildFailed(Blame),
    Beat {
        turns: u64,
        thought: bool,
    },
    /// The creature and its whole tree are gone.
    Exited {
        blame: Blame,
        rebirth: bool,
    },
    Examined(Examined),
    Committed,
    Tidied,
    Blessed,
    RollbackDone,
    RollbackExhausted,
    Request,
    OwnerStop,
    OwnerPause,
    OwnerResume,
    OwnerRollback,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    /// Find out what HEAD would run, tidying first if asked: answers `Surveyed`, `OwnerEdits` or `Failed`.
    Survey {
        tidy: bool,
    },
    Build,
    /// Prove the source beside a running creature.
    BuildBeside,
    StopBuild,
    Spawn {
        kept: bool,
        safe: bool,
    },
    /// Start the tests beside the life; `Examined` comes when they end, or at once where they cannot be started. They end
    /// by themselves with the phase they belong to.
    Examine,
    /// They overstay: answers `Examined`.
    StopExam,
    Terminate,
    KillTree,
    Bury {
        death: Death,
        blame: Blame,
    },
    /// Keep what a life left in `creature/` under a ref and put HEAD's tree there: answers `Tidied` or `Failed`.
    Tidy,
    /// Commit what the creature asked for: answers `Committed` or `Failed`.
    Commit,
    Answer,
    /// Answers `Blessed` or `Failed`.
    Bless,
    /// Answers `RollbackDone`, `RollbackExhausted`, `Stuck` or `Failed`; as all that take long, or `Interrupted`.
    Rollback {
        cause: Cause,
        to_bottom: bool,
    },
    Leave,
}

/// What survives the guardian. Times are on its timeline.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default)]
pub struct Record {
    pub want: Want,
    /// The tree on trial and the boots it has left.
    pub trial: Option<(String, u32)>,
    /// Code deaths of blessed commits within the window.
    pub deaths: Vec<Millis>,
    pub rest_ms: Millis,
    pub lives_unblessed: u32,
    /// Safe mode, and the boots it has left.
    pub safe: Option<u32>,
    /// The tree whose every rung and safe mode failed: from here on one try of each, between long rests.
    pub parked: Option<String>,
    /// A creature has lived since `creature/` was last seen clean: what is dirty there is not the owner's.
    pub untidy: bool,
    pub pending: Option<Pending>,
    /// Failures in a row that were nobody's code.
    pub environment: u32,
    /// How often the tests of the tree on trial came to no end that the machine explains.
    pub doubts: u32,
    /// What the trees of the ladder have lived, and how often they died.
    pub lives: Lives,
    /// What fell for its deaths, while what was put back has yet to show that it lives.
    pub fell: Option<Fell>,
    /// Until then a crash loop is the world's fault.
    pub world_until: Millis,
}

/// Trees that fell for their deaths, one after the other; what they lived counts as the first one's.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Fell {
    pub first: String,
    pub others: Vec<String>,
    /// Why and when the last of them did.
    pub cause: Cause,
    pub at: Millis,
}

/// Work decided on and not yet done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pending {
    Commit { failures: u32 },
    Fall(Cause),
}

impl Watch {
    pub fn silent_at(&self, limits: &Limits) -> Millis {
        (self.beat_at + limits.beat_ms).min(self.turned_at + limits.standstill_ms)
    }

    pub fn beat(&mut self, now: Millis, turns: u64, thought: bool) {
        self.beat_at = now;
        if turns > self.turns {
            self.turns = turns;
            self.turned_at = now;
        }
        self.thought |= thought;
    }

    pub fn shift(&mut self, gap: Millis, now: Millis) {
        self.since += gap;
        self.recorded += gap;
        self.turned_at = (self.turned_at + gap).min(now);
        self.beat_at = now;
    }
}
