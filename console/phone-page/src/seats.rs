//! Sessions, and browsers that had one, each known by the digest of its cookie. Pure.
//!
//! A session is bound to its cookie and to nothing else: a phone changes its network, its address and its browser's name.

use house::clock::Millis;
use house::printable::hex;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

const HOUR_MS: Millis = 60 * 60 * 1_000;
pub const DAY_MS: Millis = 24 * HOUR_MS;
/// Longest time of a session without a request, and in all. As long as an app of a phone's home screen is left alone, and
/// short enough that a lost phone is out by itself.
pub const IDLE_MS: Millis = 7 * DAY_MS;
pub const LONGEST_MS: Millis = 30 * DAY_MS;
/// How long after its beginning a session may add a passkey, which outlasts it.
pub const FRESH_MS: Millis = 15 * 60 * 1_000;
/// Longest time a browser is known for after it signed in.
pub const KNOWN_MS: Millis = 365 * DAY_MS;
/// Least time between two notes of when a session was used.
const NOTED_MS: Millis = 10 * 60 * 1_000;
/// Most sessions, and most browsers that are known: beyond them the one unused for longest goes.
const MOST: usize = 20;

/// How the owner signed in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum By {
    Password,
    Passkey,
    Link,
}

impl By {
    pub fn told(self) -> &'static str {
        match self {
            Self::Password => "password",
            Self::Passkey => "passkey",
            Self::Link => "link",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Session {
    /// Its name for people, which lets nobody in.
    pub id: String,
    /// SHA-256 of its cookie, in hexadecimal.
    pub digest: String,
    pub since_ms: Millis,
    pub seen_ms: Millis,
    pub by: By,
    /// The browser as it calls itself, and the address it signed in from.
    pub browser: String,
    pub from: String,
}

/// A browser that signed in once: only its own failures slow it down.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Known {
    pub digest: String,
    pub since_ms: Millis,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Seats {
    pub sessions: Vec<Session>,
    pub known: Vec<Known>,
}

/// Days of a span.
pub fn days(span_ms: Millis) -> Millis {
    span_ms / DAY_MS
}

/// The digest of a cookie, a link or a token.
pub fn digest(secret: &str) -> String {
    hex(&Sha256::digest(secret.as_bytes()))
}

/// Whether a span that began then is over; one from a day to come, too, for its clock was off.
fn is_over(then_ms: Millis, most_ms: Millis, now_ms: Millis) -> bool {
    then_ms > now_ms + DAY_MS || now_ms.saturating_sub(then_ms) >= most_ms
}

impl Session {
    pub fn counts(&self, now_ms: Millis) -> bool {
        !is_over(self.since_ms, LONGEST_MS, now_ms) && !is_over(self.seen_ms, IDLE_MS, now_ms)
    }

    pub fn is_fresh(&self, now_ms: Millis) -> bool {
        now_ms.abs_diff(self.since_ms) < FRESH_MS
    }

    /// Whether its use is to be noted again.
    pub fn is_noted_long_ago(&self, now_ms: Millis) -> bool {
        now_ms.abs_diff(self.seen_ms) >= NOTED_MS
    }
}

impl Seats {
    /// The session of this digest, where it counts.
    pub fn of(&self, digest: &str, now_ms: Millis) -> Option<&Session> {
        self.sessions.iter().find(|session| session.digest == digest && session.counts(now_ms))
    }

    pub fn knows(&self, digest: &str, now_ms: Millis) -> bool {
        self.known.iter().any(|known| known.digest == digest && !is_over(known.since_ms, KNOWN_MS, now_ms))
    }

    /// Begins a session, and knows its browser from here on; one that the same browser had ends.
    pub fn begin(&mut self, session: Session, had: Option<&str>, browser: &str) {
        let now_ms = session.since_ms;
        self.sessions.retain(|one| one.counts(now_ms) && Some(one.digest.as_str()) != had);
        self.sessions.sort_by_key(|one| one.seen_ms);
        self.sessions.drain(..self.sessions.len().saturating_sub(MOST - 1));
        self.sessions.push(session);
        self.known.retain(|known| known.digest != browser && !is_over(known.since_ms, KNOWN_MS, now_ms));
        self.known.drain(..self.known.len().saturating_sub(MOST - 1));
        self.known.push(Known { digest: browser.to_owned(), since_ms: now_ms });
    }

    pub fn note(&mut self, digest: &str, now_ms: Millis) {
        self.sessions.iter_mut().filter(|one| one.digest == digest).for_each(|one| one.seen_ms = now_ms);
    }

    /// Ends the sessions that are so; how many.
    pub fn end(&mut self, is_it: impl Fn(&Session) -> bool) -> usize {
        let before = self.sessions.len();
        self.sessions.retain(|session| !is_it(session));
        before - self.sessions.len()
    }

    /// The sessions that count, the one used last first.
    pub fn in_turn(&self, now_ms: Millis) -> Vec<&Session> {
        let mut all: Vec<&Session> = self.sessions.iter().filter(|one| one.counts(now_ms)).collect();
        all.sort_by_key(|one| std::cmp::Reverse(one.seen_ms));
        all
    }
}
