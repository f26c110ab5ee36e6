//! Pauses between tries that grow, with some chance in them, so that many houses do not come back at one moment. Pure.

use std::time::Duration;

const SHORTEST_MS: u64 = 1_000;
const LONGEST_MS: u64 = 5 * 60_000;

/// A growing pause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pause {
    tries: u32,
}

impl Pause {
    /// The next pause; `chance`: any number.
    pub fn next(&mut self, chance: u64) -> Duration {
        let whole = SHORTEST_MS.saturating_mul(1 << self.tries.min(20)).min(LONGEST_MS);
        self.tries = self.tries.saturating_add(1);
        Duration::from_millis(whole - whole / 4 + chance % (whole / 4 + 1))
    }

    /// Begins anew: the last try went well.
    pub fn over(&mut self) {
        self.tries = 0;
    }

    /// Begins anew where what ended had lasted longer than any pause: a server that is begun anew each night is not ill.
    pub fn lasted(&mut self, ms: u64) {
        if ms > LONGEST_MS {
            self.over();
        }
    }
}
