//! Rhythm at which a model is asked, and whether a cache that holds for an hour pays then. Pure.

/// Seconds that the shorter and the longer cache of a provider hold.
const CACHES_S: (i64, i64) = (300, 3_600);

/// Rhythm at which a model is asked.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Rhythm {
    asked_s: Option<i64>,
    hour: bool,
}

impl Rhythm {
    /// Notes that the model is asked now. Says whether a cache of an hour pays: the last pause that the short one did
    /// not outlast was no longer than an hour. Written for twice the price instead of 1.25 times, it is then read for a
    /// tenth after each such pause.
    pub fn asked(&mut self, now_s: i64) -> bool {
        let pause_s = self.asked_s.replace(now_s).map(|before_s| now_s - before_s);
        if let Some(pause_s) = pause_s.filter(|pause_s| *pause_s > CACHES_S.0) {
            self.hour = pause_s <= CACHES_S.1;
        }
        self.hour
    }
}
