//! The policy's vocabulary: what the owner wants, phases, events, actions, and the record that survives the guardian.

use crate::decide::conduct::{Conducts, Invariant, Observed, Tally};
use crate::decide::longevity::Lives;
use crate::limits::Limits;
use house::clock::Millis;
use serde::{Deserialize, Serialize};

/// The owner's wish for the creature.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Want {
    #[default]
    Keep,
    Pause,
    Leave,
}

/// The current phase, with exactly the data it needs.
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

/// State of the tests that a life on probation has to pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Exam {
    /// There are no tests to pass, or they have passed.
    Over,
    Runs {
        since: Millis,
    },
    /// They ended without a result, through no fault of the code: they run again at `until`.
    Waits {
        until: Millis,
    },
}

/// The result of the tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Examined {
    Passed,
    Failed,
    /// They ended without a result, by this blame; `Owner` where the guardian has no explanation.
    Unsure(Blame),
}

/// Times and turns of a life that beats.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Watch {
    pub since: Millis,
    pub beat_at: Millis,
    pub turns: u64,
    pub turned_at: Millis,
    pub thought: bool,
    /// Time up to which its life is in the record.
    pub recorded: Millis,
}

/// Reason for ending a life.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Why {
    Death(Death),
    Wanted,
    LeaveSafe,
    Rollback(Cause),
    /// A life in place of a rollback ends for the rollback to be tried again.
    Retry,
}

/// An unexpected end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Death {
    Stillborn,
    Crashed,
    Hung,
    BuildFailed,
}

/// Blame for a death or failed step. Only `Code` costs rungs.
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

/// The cause of a rollback.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// The tree used up its tries without a blessing.
    TriesSpent,
    /// A blessed commit died too often within the loop window.
    CrashLoop,
    /// The tree repeatedly dies sooner than its predecessors did.
    LateDeaths,
    /// The rollback's target dies as well, and did not before: the fallen tree was not at fault.
    Acquitted,
    DoesNotBuild,
    /// The tests beside its first life failed.
    TestsFailed,
    /// Its lives break an invariant that its predecessor's kept.
    Conduct,
    /// The tree was condemned before.
    KnownBad,
    /// Too many lives without a blessing, whatever the cause.
    LoopOfLoops,
    /// Failures that are not the code's and that waiting does not end: run something already built.
    Environment,
    Owner,
}

impl Cause {
    /// Whether the tree itself is at fault: it is struck from the ladder and refused if it comes back.
    pub fn condemns(self) -> bool {
        match self {
            Cause::TriesSpent | Cause::CrashLoop | Cause::LateDeaths => true,
            Cause::DoesNotBuild | Cause::TestsFailed | Cause::LoopOfLoops | Cause::Conduct => true,
            Cause::KnownBad | Cause::Environment | Cause::Owner | Cause::Acquitted => false,
        }
    }

    /// Whether the rollback is for deaths, so that the lives of its target tell whether another tree lives longer.
    pub fn is_for_deaths(self) -> bool {
        matches!(self, Cause::CrashLoop | Cause::LateDeaths)
    }
}

/// How far a creature tree is trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Standing {
    Unproven,
    Blessed,
    /// The bottom rung of the ladder.
    Bottom,
    Fallen,
}

/// The version the next life would run.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Subject {
    pub tree: String,
    pub standing: Standing,
    /// The ladder's trees, bottom first.
    pub rungs: Vec<String>,
    /// Whether a verified copy of its binary is kept.
    pub kept: bool,
    /// Whether the last build was of this tree.
    pub built: bool,
    /// Whether a self-edit made it and its tests have not passed yet.
    pub unexamined: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Event {
    Tick,
    Surveyed(Subject),
    /// `creature/` was edited while no creature lived, so by the owner.
    OwnerEdits,
    /// An action failed; its purpose still stands.
    Failed,
    /// An action gave way to the owner's order, which is heard next; then the action is repeated.
    Interrupted,
    /// No rung can be restored now; the subject, which has a kept binary, can run meanwhile.
    Stuck(Option<Subject>),
    BuildSucceeded,
    BuildFailed(Blame),
    Beat {
        turns: u64,
        thought: bool,
    },
    /// Invariants were seen kept or broken.
    Observed(Observed),
    /// The creature's whole process tree has ended.
    Exited {
        blame: Blame,
        rebirth: bool,
    },
    Examined(Examined),
    Committed,
    Tidied,
    StateSetAside,
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
    /// Find out what HEAD would run, after tidying if asked; answers `Surveyed`, `OwnerEdits` or `Failed`.
    Survey {
        tidy: bool,
    },
    Build,
    /// Build the running creature's source beside it.
    BuildBeside,
    StopBuild,
    Spawn {
        kept: bool,
        safe: bool,
    },
    /// Start the tests beside the life; `Examined` comes when they end, or at once if they cannot be started. They
    /// are ended together with the phase they belong to.
    Examine,
    /// End overdue tests; answers `Examined`.
    StopExam,
    Terminate,
    KillTree,
    Bury {
        death: Death,
        blame: Blame,
    },
    /// Keep what a life left in `creature/` under a ref and restore HEAD's tree; answers `Tidied` or `Failed`.
    Tidy,
    /// Move aside what lives share, and put back what is the owner's; answers `StateSetAside`.
    SetAside,
    /// Make the commit the creature asked for; answers `Committed` or `Failed`.
    Commit,
    Answer,
    /// Answers `Blessed` or `Failed`.
    Bless,
    /// Tell the owner of an invariant that is broken, and that no rollback would mend.
    TellBroken {
        invariant: Invariant,
        tally: Tally,
    },
    /// Answers `RollbackDone`, `RollbackExhausted`, `Stuck` or `Failed`; like every long action it may also answer
    /// `Interrupted`.
    Rollback {
        cause: Cause,
        to_bottom: bool,
    },
    Leave,
}

/// The part of the policy that survives the guardian. Times are on its timeline.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default)]
pub struct Record {
    pub want: Want,
    /// The tree on trial and the tries it has left.
    pub trial: Option<(String, u32)>,
    /// Deaths of blessed commits by their code within the loop window.
    pub deaths: Vec<Millis>,
    pub rest_ms: Millis,
    pub lives_unblessed: u32,
    /// Tries left in safe mode; `None` outside of it.
    pub safe: Option<u32>,
    /// A tree that failed on every rung and in safe mode: from here on each gets one try, between long rests.
    pub parked: Option<String>,
    /// A creature has lived since `creature/` was last seen clean: changes there are not the owner's.
    pub untidy: bool,
    pub pending: Option<Pending>,
    /// Failures in a row that were not the code's.
    pub environment: u32,
    /// How often the tests of the tree on trial ended without a result for no known reason.
    pub doubts: u32,
    /// How often they ended without a result, for whatever reason.
    pub unsure: u32,
    /// Lifetimes and deaths of the ladder's trees.
    pub lives: Lives,
    /// Trees that fell for their deaths, until the lives of the rollback's target show whether they were at fault.
    pub fell: Option<Fell>,
    /// Invariants kept and broken by the lives of trees.
    pub conducts: Conducts,
    /// The invariant a rollback is for, and how often it was kept and broken.
    pub breach: Option<(Invariant, Tally)>,
    /// Trees for which what lives share was moved aside, the newest last.
    pub set_aside: Vec<String>,
    /// Until this time crash loops are blamed on the surroundings.
    pub world_until: Millis,
}

/// Trees that fell for their deaths, one after another; their lives are counted as the first one's.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Fell {
    pub first: String,
    pub others: Vec<String>,
    /// Cause and time of the last fall.
    pub cause: Cause,
    pub at: Millis,
}

/// Work that is decided but not done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pending {
    Commit {
        failures: u32,
    },
    Fall(Cause),
    /// Move what lives share out of the way of a trusted tree that could not begin.
    SetAside,
}

impl Watch {
    /// Whether this life was not seen to come to a turn or a thought.
    pub fn is_unborn(&self) -> bool {
        self.turns == 0 && !self.thought
    }

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
