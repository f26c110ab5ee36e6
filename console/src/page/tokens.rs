//! Tokens of acts: each for one act on one thing, good once and for an hour; only used ones are held, within a bound.

use crate::page::guard::same;
use anyhow::Result;
use house::clock::Millis;
use house::files;
use house::printable::hex;
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// Longest time a page may lie open before an act is done from it.
const LASTS_MS: Millis = 60 * 60_000;
/// Most acts within that time.
const MOST_USED: usize = 4_096;

/// Makes and takes tokens; those of an earlier run of the server count for nothing.
pub struct Tokens {
    key: [u8; 32],
    /// Those that were taken, and until when they would be good.
    used: Mutex<HashMap<String, Millis>>,
}

/// Reason why a token is not taken.
#[derive(Debug, PartialEq)]
pub enum Stale {
    /// It is none of this server's for this act, or the link was made anew since.
    Unknown,
    TooOld,
    Used,
    /// More was done within the hour than can be held against doing it twice.
    TooMany,
}

impl Tokens {
    pub fn new() -> Result<Self> {
        Ok(Self { key: files::random()?, used: Mutex::default() })
    }

    /// A token for an act, named by the path it is posted to; `link` is the token of the link that counts now.
    pub fn make(&self, act: &str, link: &str, now_ms: Millis) -> Result<String> {
        let number = hex(&files::random()?);
        let until_ms = now_ms.saturating_add(LASTS_MS);
        let seal = self.seal(act, link, until_ms, &number);
        Ok(format!("{until_ms}-{number}-{seal}"))
    }

    /// Takes a token; from here on it is used.
    pub fn take(&self, act: &str, link: &str, given: &str, now_ms: Millis) -> Result<(), Stale> {
        let mut parts = given.split('-');
        let (Some(until), Some(number), Some(seal), None) =
            (parts.next(), parts.next(), parts.next(), parts.next())
        else {
            return Err(Stale::Unknown);
        };
        let until_ms: Millis = until.parse().map_err(|_| Stale::Unknown)?;
        if !same(&self.seal(act, link, until_ms, number), seal) {
            return Err(Stale::Unknown);
        }
        if now_ms > until_ms {
            return Err(Stale::TooOld);
        }
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        used.retain(|_, until_ms| *until_ms >= now_ms);
        if used.contains_key(number) {
            return Err(Stale::Used);
        }
        if used.len() >= MOST_USED {
            return Err(Stale::TooMany);
        }
        used.insert(number.to_owned(), until_ms);
        Ok(())
    }

    /// Returns a seal that only this server can make; hashed twice, so that nothing can be appended.
    fn seal(&self, act: &str, link: &str, until_ms: Millis, number: &str) -> String {
        let within = Sha256::new().chain_update(self.key).chain_update(until_ms.to_le_bytes());
        let within = within.chain_update(number.len().to_le_bytes()).chain_update(number);
        let within = within.chain_update(link.len().to_le_bytes()).chain_update(link).chain_update(act);
        hex(&Sha256::new().chain_update(self.key).chain_update(within.finalize()).finalize())
    }
}

impl Stale {
    pub fn told(&self) -> &'static str {
        match self {
            Self::Unknown => "The page it was done from is older than this server, or than its link.",
            Self::TooOld => "The page it was done from lay open for more than an hour.",
            Self::Used => "It was done from that page already, once.",
            Self::TooMany => "More was done within the hour than can be told apart.",
        }
    }
}
