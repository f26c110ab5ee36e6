//! Patience with a mind that is down or babbles: how long it is left alone, how that grows, and when it is told. Pure.
//!
//! Retries within one call, of seconds, are not decided here but in `creature/crates/model/src/client.rs`.

use mind::{Down, Why};

const HOUR_S: u64 = 3_600;

/// The longest wait of the life while a mind is down, in seconds.
pub(crate) const LONGEST_S: u64 = HOUR_S;

/// Garbled replies in a row of which each doubles the wait.
const MOST_GARBLED: u32 = 10;

/// Reasons told during one outage; a server that babbles must not fill memory.
const MOST_REASONS: u32 = 5;

/// Seconds to leave a mind alone at first, by what is the matter and by the wait that was asked for. Sub-sessions wait so
/// long each time; the waits of the life grow from it, and end at `LONGEST_S`.
pub fn first_s(why: Why, asked_s: Option<u64>) -> u64 {
    let at_most = |usual_s: u64| asked_s.unwrap_or(usual_s).min(usual_s);
    let at_least = |usual_s: u64| asked_s.unwrap_or(usual_s).max(usual_s);
    let unless_asked = |usual_s: u64| asked_s.unwrap_or(usual_s);
    match why {
        // An hour, or until the budget resets if that is sooner: asking again before would be refused again.
        Why::Budget | Why::Stopped => at_most(HOUR_S),
        Why::Key | Why::Money | Why::Settings => at_least(HOUR_S),
        Why::UnknownLife => HOUR_S,
        Why::Unfit | Why::Filtered => at_least(600),
        Why::Away => unless_asked(60),
        Why::Unkept => 60,
        // Each costs money.
        Why::Garbled => 5,
    }
}

/// Failures since the last readable thought.
#[derive(Clone, Debug, Default)]
pub struct Patience {
    reason: String,
    reasons: u32,
    wait_s: u64,
    garbled: u32,
}

impl Patience {
    /// Notes that a mind is down; returns the seconds to leave it alone, twice the last at least, and whether the
    /// reason is new and to be remembered.
    pub fn down(&mut self, down: &Down) -> (u64, bool) {
        if down.why == Why::Budget && down.asked_s.is_some() {
            // It is known when to ask again: no later than that.
            self.ease();
        }
        let first_s = first_s(down.why, down.asked_s);
        self.wait_s = first_s.max(self.wait_s * 2).clamp(1, LONGEST_S);
        // Request ids and counts differ each time; the reason is what is left without them.
        let reason: String = down.error.chars().filter(|c| c.is_alphabetic()).take(80).collect();
        let tell = reason != self.reason && self.reasons < MOST_REASONS;
        self.reasons += u32::from(tell);
        self.reason = reason;
        (self.wait_s, tell)
    }

    /// Notes a reply that could not be read; returns the seconds to leave the mind alone, twice the last.
    pub fn garbled(&mut self) -> u64 {
        self.garbled = (self.garbled + 1).min(MOST_GARBLED);
        first_s(Why::Garbled, None) << (self.garbled - 1)
    }

    /// Makes the next wait as short as the first: what stood in the way may be gone.
    pub fn ease(&mut self) {
        self.wait_s = 0;
    }

    /// Says whether more than one reply in a row could not be read.
    pub fn babbles(&self) -> bool {
        self.garbled > 1
    }

    /// Notes a thought; says whether an outage that was told of is over.
    pub fn over(&mut self) -> bool {
        std::mem::take(self).reasons > 0
    }
}
