//! Guesses at the password: how long the next one waits, by address and overall; counted over restarts.
//!
//! Never for good: the longest wait of an address is a quarter of an hour, of all strangers together a minute. A browser
//! that signed in before waits for its own failures alone (OWASP, "Slow Down Online Guessing Attacks with Device Cookies"),
//! a passkey waits for none, and a new password at the terminal forgets them.

use house::clock::Millis;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::net::IpAddr;

/// Failures that cost no wait, and the longest wait: of one address or browser, and of all strangers.
const ONE: (u32, Millis) = (5, 15 * 60 * 1_000);
const ALL: (u32, Millis) = (20, 60 * 1_000);
/// The first wait; each further failure doubles it.
const FIRST_MS: Millis = 1_000;
/// Time after which failures are forgotten.
const FORGOTTEN_MS: Millis = 24 * 60 * 60 * 1_000;
/// Most addresses and browsers that are told apart; beyond them the one that failed longest ago is forgotten.
const MOST: usize = 1_000;

/// The one a guess is counted for.
#[derive(Clone, Debug, PartialEq)]
pub enum Whose {
    Strangers(IpAddr),
    /// A browser's that signed in before, by the digest of its cookie.
    Known(String),
}

impl Whose {
    /// A stranger of IPv6 has a whole network of addresses.
    pub fn name(&self) -> String {
        match self {
            Self::Known(digest) => format!("browser {digest}"),
            Self::Strangers(address) => match address.to_canonical() {
                IpAddr::V4(address) => address.to_string(),
                IpAddr::V6(address) => {
                    let [a, b, c, d, ..] = address.segments();
                    format!("{a:x}:{b:x}:{c:x}:{d:x}::/64")
                }
            },
        }
    }
}

/// Failures of one, or of all strangers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Failures {
    pub count: u32,
    pub last_ms: Millis,
}

/// All failures that are kept.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Guesses {
    pub all: Failures,
    pub by: BTreeMap<String, Failures>,
    /// Failed sign-ins of every kind since there is this page, and the last one: for notices.
    pub failed: u64,
    pub failed_ms: Millis,
    pub from: String,
}

impl Failures {
    /// Forgets what is long ago; a clock that was set back does not make it longer ago.
    fn as_of(self, now_ms: Millis) -> Self {
        if now_ms.saturating_sub(self.last_ms) >= FORGOTTEN_MS { Self::default() } else { self }
    }

    fn wait_ms(self, (free, longest_ms): (u32, Millis), now_ms: Millis) -> Millis {
        let Self { count, last_ms } = self.as_of(now_ms);
        if count < free {
            return 0;
        }
        // By a clock that was set back since: a wait that is counted from then would last until it gets there again.
        if last_ms.saturating_sub(now_ms) > longest_ms {
            return 0;
        }
        let wait_ms = FIRST_MS.saturating_mul(1 << (count - free).min(20)).min(longest_ms);
        last_ms.saturating_add(wait_ms).saturating_sub(now_ms).min(longest_ms)
    }

    fn add(&mut self, now_ms: Millis) {
        let Self { count, .. } = self.as_of(now_ms);
        *self = Self { count: count.saturating_add(1), last_ms: now_ms };
    }
}

impl Guesses {
    /// How long the next guess waits.
    pub fn wait_ms(&self, whose: &Whose, now_ms: Millis) -> Millis {
        let own = self.by.get(&whose.name()).map_or(0, |own| own.wait_ms(ONE, now_ms));
        match whose {
            Whose::Known(_) => own,
            Whose::Strangers(_) => own.max(self.all.wait_ms(ALL, now_ms)),
        }
    }

    /// Counts a guess as failed: before it is looked at, so that no end of this process makes one free. Returns the
    /// failures of all strangers before it.
    pub fn begin(&mut self, whose: &Whose, from: IpAddr, now_ms: Millis) -> Failures {
        let (name, before) = (whose.name(), self.all);
        self.by.retain(|_, failures| failures.as_of(now_ms).count > 0);
        while self.by.len() >= MOST && !self.by.contains_key(&name) {
            let oldest = self.by.iter().min_by_key(|(_, failures)| failures.last_ms);
            let Some(oldest) = oldest.map(|(name, _)| name.clone()) else { break };
            self.by.remove(&oldest);
        }
        self.by.entry(name).or_default().add(now_ms);
        if matches!(whose, Whose::Strangers(_)) {
            self.all.add(now_ms);
        }
        self.fail(from, now_ms);
        before
    }

    /// Takes a guess back that was right: its own failures are forgotten, those of all strangers stay as they were before
    /// it. One stranger's guess is looked at at a time, so nobody else's are undone.
    pub fn was_right(&mut self, whose: &Whose, before: Failures) {
        self.by.remove(&whose.name());
        if matches!(whose, Whose::Strangers(_)) {
            self.all = before;
        }
        self.failed = self.failed.saturating_sub(1);
    }

    /// Counts a failed sign-in of another kind, which waits for nothing.
    pub fn fail(&mut self, from: IpAddr, now_ms: Millis) {
        self.failed = self.failed.saturating_add(1);
        self.failed_ms = now_ms;
        self.from = from.to_canonical().to_string();
    }

    /// Forgets every wait; what was counted for notices stays.
    pub fn forget(&mut self) {
        self.by.clear();
        self.all = Failures::default();
    }
}
