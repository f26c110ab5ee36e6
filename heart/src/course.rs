//! Decides what the heart does next, from what it heard and what runs; pure.

use crate::HOUSE_LOST;
use crate::held::{Follows, Held, Look, follows};
use crate::wire::{Record, Said};
use ground::clock::Millis;

/// Rest after a steward's first end; doubles to `REST_LONGEST_MS`.
const REST_MS: Millis = 1_000;
const REST_LONGEST_MS: Millis = 30_000;
/// So many ends of stewards within `WINDOW_MS` call for a stand-in.
const ENDS: usize = 3;
const WINDOW_MS: Millis = 10 * 60_000;
/// Longest time a stand-in runs until the steward is tried again.
const STAND_IN_LONGEST_MS: Millis = 60 * 60_000;
/// Time for what is asked to end before a steward begins anew, and for a stand-in beyond its life's.
const GRACE_MS: Millis = 2_000;
/// Time for what hears by itself that its steward is gone: a window gives the terminal back.
const PARTING_MS: Millis = 200;
/// Longest wait for a tree that was killed, where the owner wants to leave.
const LEAVE_MS: Millis = 10_000;
/// Time after which the steward has heard a word that was passed on, if it goes round.
const HEARING_MS: Millis = 2_000;
/// Exit code of a stand-in for which there is no version to run; no refusal ends so (100), nor a mistake (1).
pub const NOTHING_TO_RUN: u8 = 66;

/// A process in which the heart keeps lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keeper {
    Steward,
    /// Runs a blessed version while no steward lives.
    StandIn,
}

/// How a keeper ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Gone {
    Exited(u8),
    /// By this signal.
    Killed(String),
}

/// An event.
#[derive(Clone, Debug)]
pub enum Heard {
    /// The owner wants to leave, by a signal, or by an order that the steward reads for itself.
    Leave {
        ordered: bool,
    },
    Said(Said),
    Looked(Look),
    Gone(Gone),
    /// A keeper could not be started.
    Failed(String),
    /// Nothing that was started is left.
    Swept,
    Tick,
}

/// Consequence of an event.
#[derive(Clone, Debug, PartialEq)]
pub enum Does {
    /// A keeper is started; a steward is told why it begins anew.
    Start(Keeper, Option<String>),
    /// The keeper hears that the owner wants to leave.
    PassOn,
    /// All that the keeper started is asked to end.
    Ask,
    /// The owner is told; `stands`: what the status says until the next steward is ready.
    Tell { line: String, stands: bool },
    /// The service manager is told that work has begun.
    Ready,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Phase {
    /// A keeper runs; `until`: a stand-in's end.
    Runs {
        keeper: Keeper,
        since: Millis,
        until: Millis,
    },
    /// A keeper is to end or has ended: from `kill_at` on all that is left is killed.
    Ends {
        keeper: Keeper,
        kill_at: Millis,
        then: Then,
    },
    /// Nothing runs.
    Rests {
        until: Millis,
        next: Keeper,
    },
    Left(u8),
}

/// Sequel to a tree's end.
#[derive(Clone, Debug, PartialEq)]
pub enum Then {
    Leave(u8),
    /// The keeper failed, for this reason.
    Again(String),
    /// The steward is tried after a stand-in.
    Return,
}

/// The heart's course: what runs, and what is known of former stewards.
#[derive(Clone, Debug)]
pub struct Course {
    pub phase: Phase,
    pub held: Held,
    /// Time a stand-in runs at first, as the owner set it.
    parked_ms: Millis,
    /// Time between a life's being asked to end and its being killed.
    grace_ms: Millis,
    /// Whether there is a version to run without the steward.
    pub has_version: bool,
    /// Whether the owner wants to leave, when that was said last, and whether the steward says that it knows.
    leaves: bool,
    asked_at: Millis,
    pub knows: bool,
    /// Whether a steward was ready since this heart began, and whether this one was.
    was_ready: bool,
    ready: bool,
    ends: Vec<Millis>,
    rest_ms: Millis,
    /// How often a stand-in ran since a steward lasted.
    stand_ins: u32,
    /// End of the stand-in's time, over the ends of its lives.
    stand_in_until: Millis,
    why: Option<String>,
}

impl Course {
    /// Begins with a steward to be started.
    pub fn new(parked_ms: Millis) -> Self {
        Self {
            phase: Phase::Rests { until: 0, next: Keeper::Steward },
            held: Held::default(),
            parked_ms,
            grace_ms: LEAVE_MS,
            has_version: false,
            leaves: false,
            asked_at: 0,
            knows: false,
            was_ready: false,
            ready: false,
            ends: Vec::new(),
            rest_ms: REST_MS,
            stand_ins: 0,
            stand_in_until: 0,
            why: None,
        }
    }

    /// Goes by what the steward said of a blessed version, and of the owner's times.
    pub fn goes_by(&mut self, record: &Record) {
        (self.parked_ms, self.grace_ms) = (record.parked_ms, record.grace_ms);
        self.has_version = record.newest().is_some();
    }

    /// Returns when something is due without anything being heard.
    pub fn due(&self) -> Option<Millis> {
        match self.phase {
            Phase::Runs { keeper: Keeper::Steward, .. } | Phase::Left(_) => None,
            Phase::Ends { kill_at: until, .. } | Phase::Runs { until, .. } | Phase::Rests { until, .. } => {
                Some(until)
            }
        }
    }

    /// Whether this keeper runs.
    pub fn keeps(&self, which: Keeper) -> bool {
        matches!(self.phase, Phase::Runs { keeper, .. } if keeper == which)
    }

    /// Whether all that is left is killed now.
    pub fn kills(&self, now: Millis) -> bool {
        matches!(self.phase, Phase::Ends { kill_at, .. } if kill_at <= now)
    }

    pub fn step(&mut self, now: Millis, heard: Heard) -> Vec<Does> {
        match heard {
            Heard::Leave { ordered } => self.leave(now, ordered),
            Heard::Said(said) => self.hear(now, said),
            Heard::Looked(look) => self.look(now, &look),
            Heard::Gone(gone) => self.gone(now, &gone),
            Heard::Failed(why) => self.failed(now, why),
            Heard::Swept => self.swept(now),
            Heard::Tick => self.tick(now),
        }
    }

    fn leave(&mut self, now: Millis, ordered: bool) -> Vec<Does> {
        let again = std::mem::replace(&mut self.leaves, true);
        (self.asked_at, self.knows) = (now, false);
        match &mut self.phase {
            Phase::Runs { keeper, .. } => {
                // A round is due at once: looked at as a step.
                self.held = Held { waits: false, leaves: true, again, ..self.held };
                // An order that it finds at its start is an old one to it.
                let knows = ordered && *keeper == Keeper::Steward && self.ready;
                return if knows { vec![] } else { vec![Does::PassOn] };
            }
            Phase::Ends { kill_at, then, .. } => {
                *then = Then::Leave(0);
                *kill_at = if again { now } else { *kill_at };
            }
            Phase::Rests { .. } => self.phase = Phase::Left(0),
            Phase::Left(_) => {}
        }
        vec![]
    }

    fn hear(&mut self, now: Millis, said: Said) -> Vec<Does> {
        let Phase::Runs { keeper, .. } = self.phase else { return vec![] };
        match said {
            Said::Round { leaves } => self.goes_round(now, leaves, false),
            Said::Waits { leaves } => self.goes_round(now, leaves, true),
            Said::On => self.held = Held { leaves: self.leaves, ..Held::default() },
            Said::Ready => {
                self.ready = true;
                let is_first = keeper == Keeper::Steward && !std::mem::replace(&mut self.was_ready, true);
                return if is_first { vec![Does::Ready] } else { vec![] };
            }
            Said::Life { .. } | Said::Record(_) => {}
        }
        vec![]
    }

    /// That it stays is believed once it must have heard; what it said before may be read after the word.
    fn goes_round(&mut self, now: Millis, leaves: bool, waits: bool) {
        self.leaves = leaves || self.leaves && now < self.asked_at + HEARING_MS;
        self.knows |= leaves;
        let pending = self.leaves && !self.knows;
        let leaves = if waits { pending } else { self.leaves };
        self.held = Held { waits: waits && !pending, leaves, ..Held::default() };
    }

    fn look(&mut self, now: Millis, look: &Look) -> Vec<Does> {
        let Phase::Runs { keeper, .. } = self.phase else { return vec![] };
        self.held = self.held.after(look);
        let tell = |so: &str| {
            let line = format!("a step is held up {}; {so}", look.place);
            Does::Tell { line, stands: false }
        };
        match follows(&self.held) {
            Follows::Nothing => vec![],
            Follows::Ask => {
                self.held.asked = Some(self.held.looks);
                vec![tell("what lives here is asked to end"), Does::Ask]
            }
            Follows::Leave => {
                self.phase = Phase::Ends { keeper, kill_at: now, then: Then::Leave(0) };
                vec![tell("everything is ended, and the next start goes on as after a kill")]
            }
            Follows::Anew => {
                let why = self.silence(&look.place);
                self.phase = Phase::Ends { keeper, kill_at: now + GRACE_MS, then: Then::Again(why.clone()) };
                let line = format!("{why}; everything is ended, and the guardian begins anew");
                vec![Does::Tell { line, stands: false }, Does::Ask]
            }
        }
    }

    /// Says for what a keeper that does not get on is ended.
    fn silence(&self, place: &str) -> String {
        let Held { waits, asleep, spun_ms, .. } = self.held;
        match (waits, spun_ms >= crate::held::SPIN_MS) {
            (true, _) => format!("nothing was heard of the steward for {} s", crate::held::SILENT_MS / 1_000),
            (_, true) => format!("a step took {} s of the processor and did not get on", spun_ms / 1_000),
            (..) => format!(
                "a step was held up {place} for {} s",
                Millis::from(asleep) * crate::held::LOOK_MS / 1_000
            ),
        }
    }

    fn gone(&mut self, now: Millis, gone: &Gone) -> Vec<Does> {
        let keeper = match &mut self.phase {
            Phase::Runs { keeper, .. } => *keeper,
            Phase::Ends { kill_at, .. } => {
                *kill_at = now;
                return vec![];
            }
            Phase::Rests { .. } | Phase::Left(_) => return vec![],
        };
        let then = match (keeper, gone) {
            (_, Gone::Exited(HOUSE_LOST)) => Then::Leave(HOUSE_LOST),
            (Keeper::Steward, Gone::Exited(0)) => Then::Leave(0),
            // A refused start is passed on, and a mistake in the settings.
            (Keeper::Steward, Gone::Exited(code)) if !self.was_ready || self.leaves => Then::Leave(*code),
            _ if self.leaves => Then::Leave(0),
            (_, Gone::Exited(code)) => {
                self.has_version &= keeper == Keeper::Steward || *code != NOTHING_TO_RUN;
                Then::Again(format!("it ended with exit code {code}"))
            }
            (_, Gone::Killed(signal)) => Then::Again(format!("it was ended by {signal}")),
        };
        self.phase = Phase::Ends { keeper, kill_at: now + PARTING_MS, then };
        vec![]
    }

    fn failed(&mut self, now: Millis, why: String) -> Vec<Does> {
        let Phase::Runs { keeper, .. } = self.phase else { return vec![] };
        let then = if self.was_ready { Then::Again(why.clone()) } else { Then::Leave(1) };
        self.phase = Phase::Ends { keeper, kill_at: now, then };
        vec![Does::Tell { line: why, stands: false }]
    }

    /// Nothing is left of a keeper's tree.
    fn swept(&mut self, now: Millis) -> Vec<Does> {
        let Phase::Ends { keeper, then, .. } = self.phase.clone() else { return vec![] };
        match then {
            Then::Leave(code) => {
                self.phase = Phase::Left(code);
                vec![]
            }
            Then::Again(_) | Then::Return if self.leaves => {
                self.phase = Phase::Left(0);
                vec![]
            }
            Then::Again(why) if keeper == Keeper::Steward => self.after_an_end(now, why),
            Then::Again(why) if now < self.stand_in_until => {
                let next = if self.has_version { keeper } else { Keeper::Steward };
                self.rest(now, next, &format!("the version that stands in is gone: {why}"))
            }
            Then::Again(_) | Then::Return => {
                let line = "the version that stood in has ended, and the steward is tried again".into();
                let tell = Does::Tell { line, stands: true };
                std::iter::once(tell).chain(self.start(now, Keeper::Steward)).collect()
            }
        }
    }

    fn after_an_end(&mut self, now: Millis, why: String) -> Vec<Does> {
        self.ends.push(now);
        self.ends.retain(|end| now < end + WINDOW_MS);
        let fails = self.stand_ins > 0 || self.ends.len() >= ENDS;
        self.why = Some(why.clone());
        if fails && self.has_version {
            let stand_in_ms = self.parked_ms.saturating_mul(1 << self.stand_ins.min(16));
            let stand_in_ms = stand_in_ms.min(STAND_IN_LONGEST_MS.max(self.parked_ms));
            self.stand_in_until = now + stand_in_ms;
            self.stand_ins += 1;
            return self.start(now, Keeper::StandIn);
        }
        self.rest(now, Keeper::Steward, &format!("the guardian's steward is gone: {why}"))
    }

    fn rest(&mut self, now: Millis, next: Keeper, what: &str) -> Vec<Does> {
        let seconds = self.rest_ms / 1_000;
        let line = format!("{what}; all it started is ended, and the next begins in {seconds} s");
        self.phase = Phase::Rests { until: now + self.rest_ms, next };
        self.rest_ms = (self.rest_ms * 2).min(REST_LONGEST_MS);
        vec![Does::Tell { line, stands: true }]
    }

    fn start(&mut self, now: Millis, keeper: Keeper) -> Vec<Does> {
        (self.held, self.ready) = (Held::default(), false);
        self.phase = Phase::Runs { keeper, since: now, until: self.stand_in_until };
        if keeper == Keeper::Steward {
            return vec![Does::Start(keeper, self.why.take())];
        }
        let minutes = self.stand_in_until.saturating_sub(now).div_ceil(60_000);
        let why = self.why.as_deref().unwrap_or_default();
        let line = format!(
            "the guardian's steward fails again and again ({why}); a version that proved itself stands in, in safe mode and \
             without the broker, and the steward is tried again in {minutes} min. `doctor` says what \
             this machine lacks; where it lacks nothing, build the guardian of another commit"
        );
        vec![Does::Tell { line, stands: true }, Does::Start(keeper, None)]
    }

    fn tick(&mut self, now: Millis) -> Vec<Does> {
        match self.phase {
            Phase::Runs { keeper: Keeper::StandIn, until, .. } if now >= until => {
                let kill_at = now.saturating_add(self.grace_ms).saturating_add(GRACE_MS);
                self.phase = Phase::Ends { keeper: Keeper::StandIn, kill_at, then: Then::Return };
                vec![Does::PassOn]
            }
            Phase::Runs { keeper: Keeper::Steward, since, .. } if self.ready && now >= since + WINDOW_MS => {
                (self.rest_ms, self.stand_ins) = (REST_MS, 0);
                vec![]
            }
            // What a disk holds ends when the disk answers, and holds no owner.
            Phase::Ends { kill_at, then: Then::Leave(code), .. } if now >= kill_at + LEAVE_MS => {
                self.phase = Phase::Left(code);
                vec![]
            }
            Phase::Rests { until, next } if now >= until => self.start(now, next),
            Phase::Runs { .. } | Phase::Ends { .. } | Phase::Rests { .. } | Phase::Left(_) => vec![],
        }
    }
}
