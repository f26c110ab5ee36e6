//! Setbacks: how long to leave a mind alone that is down or babbles, and how often to tell of it. Pure.

/// The longest rest while a mind is down, in seconds.
const LONGEST_DOWN_S: u64 = 3_600;

/// The first rest after a reply that could not be read, in seconds.
const GARBLED_S: u64 = 5;

/// Reasons told during one outage; a server that babbles must not fill memory.
const MOST_REASONS: u32 = 5;

/// What went wrong since the last readable thought.
#[derive(Clone, Debug, Default)]
pub struct Setbacks {
    reason: String,
    reasons: u32,
    rest_s: u64,
    garbled: u32,
}

impl Setbacks {
    /// A mind was down and asks for `rest_s`: the rest to take, twice the last at least, and whether
    /// the reason is new and to be remembered.
    pub fn down(&mut self, error: &str, rest_s: u64) -> (u64, bool) {
        self.rest_s = rest_s.max(self.rest_s * 2).clamp(1, LONGEST_DOWN_S);
        // Request ids and counts differ each time; the reason is what is left without them.
        let reason: String = error.chars().filter(|c| c.is_alphabetic()).take(80).collect();
        let tell = reason != self.reason && self.reasons < MOST_REASONS;
        self.reasons += u32::from(tell);
        self.reason = reason;
        (self.rest_s, tell)
    }

    /// A reply could not be read: the rest to take in seconds, doubling, for each costs money.
    pub fn garbled(&mut self) -> u64 {
        self.garbled = (self.garbled + 1).min(10);
        GARBLED_S << (self.garbled - 1)
    }

    /// What stood in the way may be gone: the next rest is as short as the first.
    pub fn ease(&mut self) {
        self.rest_s = 0;
    }

    /// More than one reply in a row could not be read.
    pub fn babbles(&self) -> bool {
        self.garbled > 1
    }

    /// A thought was had; whether an outage that was told of is over.
    pub fn over(&mut self) -> bool {
        std::mem::take(self).reasons > 0
    }
}
