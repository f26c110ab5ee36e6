//! Pairing: the sender of the code that the owner's window shows is the owner on that channel. Pure.
//!
//! Invariant: a code counts once, for one channel, until its time, and for so many tries of all people together.

use house::channels::Pairing;
use house::printable::hex;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// Letters of a code, in two groups or in one.
const LETTERS: usize = 8;
/// Lines of a message in which a code is looked for: mail begins with a greeting.
const LINES: usize = 5;

/// The code that is waited for, or was last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Code {
    pub code: String,
    pub tries: u64,
    /// Whether its time has passed.
    pub is_late: bool,
}

/// Tries of a code; the code itself is not kept.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Tried {
    /// The digest of the code that they are of.
    pub of: String,
    pub times: u64,
    /// Whether somebody was paired by it.
    pub is_used: bool,
}

/// Result of a message of somebody unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Try {
    /// It is no code, or none is waited for.
    None,
    Right,
    /// It was right, and came too late or after too many tries.
    Over,
    /// A wrong one; so many tries are left.
    Wrong(u64),
}

/// The code of a channel.
pub fn code(pairing: &Pairing, channel: &str, now: Timestamp) -> Option<Code> {
    let code = plain(&pairing.code).filter(|_| pairing.channel == channel)?;
    Some(Code { code, tries: pairing.tries, is_late: pairing.code(channel, now).is_none() })
}

/// Whether a code was used or tried too often.
pub fn is_over(tried: &Tried, code: &Code) -> bool {
    tried.of == digest(code) && (tried.is_used || tried.times >= code.tries)
}

/// Whether a code counts: nobody used it, its time has not passed, and tries are left.
pub fn is_open(tried: &Tried, code: &Code) -> bool {
    !code.is_late && !is_over(tried, code)
}

fn digest(code: &Code) -> String {
    hex(&Sha256::digest(code.code.as_bytes()))
}

/// Tries what somebody said; a try is counted in `tried`.
pub fn tried(tried: &mut Tried, code: Option<&Code>, said: &str) -> Try {
    let Some(code) = code else { return Try::None };
    let given: Vec<String> = said.lines().take(LINES).filter_map(plain).collect();
    if given.is_empty() {
        return Try::None;
    }
    let of = digest(code);
    if tried.of != of {
        *tried = Tried { of, ..Tried::default() };
    }
    let is_right = given.contains(&code.code);
    if !is_open(tried, code) {
        return if is_right && !tried.is_used { Try::Over } else { Try::None };
    }
    if is_right {
        tried.is_used = true;
        return Try::Right;
    }
    tried.times += 1;
    Try::Wrong(code.tries - tried.times)
}

/// A line that is a code and nothing else: `ABCD-EFGH`, `abcd efgh`, `ABCDEFGH`.
fn plain(line: &str) -> Option<String> {
    let line = line.trim();
    let groups: Vec<&str> = line.split(['-', ' ']).collect();
    let is_grouped = match groups.as_slice() {
        [one] => one.len() == LETTERS,
        [one, other] => one.len() == LETTERS / 2 && other.len() == LETTERS / 2,
        _ => false,
    };
    let code = groups.concat().to_uppercase();
    (is_grouped && code.bytes().all(|byte| byte.is_ascii_alphanumeric())).then_some(code)
}
