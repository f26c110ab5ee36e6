//! Judges a step of the steward's that does not get on: how long it is waited for, and what ends it; pure.

use ground::clock::Millis;

/// Time between two looks at a step; the owner is heard within two of them.
pub const LOOK_MS: Millis = 400;
/// The same while the steward waits for events.
pub const IDLE_LOOK_MS: Millis = 5_000;
/// Looks without progress after which the creature is asked to end, where the owner wants to leave.
const ASK_LOOKS: u32 = 2;
/// Further looks after which everything is killed: ten seconds.
const KILL_LOOKS: u32 = 25;
/// Looks without progress after which the steward begins anew: 20 s asleep in the kernel. Work that only takes long
/// says that it gets on; a disk that is slow does not count as asleep.
const ANEW_LOOKS: u32 = 50;
/// Looks at a steward that waits for events and no longer says so; it says a round every 10 s at the latest.
const SILENT_LOOKS: u32 = 12;
pub const SILENT_MS: Millis = IDLE_LOOK_MS * SILENT_LOOKS as Millis;
/// Processor time without progress after which the steward begins anew: it spins.
pub const SPIN_MS: Millis = 60_000;

/// State of the steward's main thread, as the kernel has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sleep {
    /// Until something happens.
    Asleep,
    /// Until a disk answers. That is no sleep that could be ended, and only takes long.
    Disk,
    /// Stopped by a signal.
    Stopped,
    Runs,
}

/// A look at the steward: its state, the processor time it has taken since it began, and where in the kernel it is.
#[derive(Clone, Debug)]
pub struct Look {
    pub sleep: Sleep,
    pub taken_ms: Millis,
    pub place: String,
}

/// A step as the looks at it found it. Counted by looks, not by time: a machine that was suspended, or a guardian that was
/// stopped, was not held up.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Held {
    /// Whether the steward waits for events.
    pub waits: bool,
    /// Looks in a row without progress, and those of them that found the steward asleep in the kernel.
    pub looks: u32,
    pub asleep: u32,
    /// Processor time at the first of them, and since.
    pub began_ms: Option<Millis>,
    pub spun_ms: Millis,
    /// Whether the owner wants to leave, and said so again.
    pub leaves: bool,
    pub again: bool,
    /// At which look the creature was asked to end.
    pub asked: Option<u32>,
}

impl Held {
    /// Returns the step after one more look at it.
    pub fn after(self, look: &Look) -> Self {
        let began_ms = self.began_ms.unwrap_or(look.taken_ms);
        Self {
            looks: self.looks + 1,
            asleep: if look.sleep == Sleep::Asleep { self.asleep + 1 } else { 0 },
            began_ms: Some(began_ms),
            spun_ms: look.taken_ms.saturating_sub(began_ms),
            ..self
        }
    }
}

/// Consequence of a look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Follows {
    Nothing,
    /// Everything is asked to end.
    Ask,
    /// Everything is killed, and the guardian leaves.
    Leave,
    /// Everything is ended, and a new steward begins, as after a kill.
    Anew,
}

pub fn follows(held: &Held) -> Follows {
    let asleep_looks = if held.waits { SILENT_LOOKS } else { ANEW_LOOKS };
    match held.asked {
        None if held.leaves && held.looks >= ASK_LOOKS => Follows::Ask,
        Some(at) if held.again || held.looks >= at + KILL_LOOKS => Follows::Leave,
        None if !held.leaves && (held.asleep >= asleep_looks || held.spun_ms >= SPIN_MS) => Follows::Anew,
        _ => Follows::Nothing,
    }
}
