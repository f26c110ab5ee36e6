//! Names of threads: each chat of a channel is a thread of the one talk, and the name says which channel. Pure.

use crate::channel::Chat;
use house::printable::hex;
use sha2::{Digest, Sha256};

/// Longest name that a creature takes.
const MOST_CHARS: usize = 64;
/// Bytes of the digest that stands for a chat whose id is no plain name.
const DIGEST_BYTES: usize = 8;

/// The thread of a chat: `telegram-1234`; of an id that is no plain name `matrix-0f1e2d3c4b5a6978`.
pub fn name(channel: &str, chat: &Chat) -> String {
    let place = match &chat.thread {
        Some(thread) => format!("{}_{thread}", chat.id),
        None => chat.id.clone(),
    };
    let named = format!("{channel}-{place}");
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_.".contains(letter);
    if !place.is_empty() && place.chars().all(is_plain) && named.len() <= MOST_CHARS {
        return named;
    }
    let whole = format!("{}\n{}", chat.id, chat.thread.as_deref().unwrap_or_default());
    format!("{channel}-{}", digest(&[&whole], DIGEST_BYTES))
}

/// The channel that a thread's name begins with, of those there are.
pub fn channel<'a>(thread: &str, mut channels: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    channels.find(|name| thread.strip_prefix(name).is_some_and(|rest| rest.starts_with('-')))
}

/// The key of a message: the same for each try of the same one.
pub fn key(of: &[&str]) -> String {
    digest(of, 16)
}

/// The beginning of the SHA-256 over texts, each with its length before it, so that no two lists of texts are one.
fn digest(of: &[&str], bytes: usize) -> String {
    let mut sum = Sha256::new();
    for text in of {
        if of.len() > 1 {
            sum.update((text.len() as u64).to_le_bytes());
        }
        sum.update(text.as_bytes());
    }
    hex(sum.finalize().get(..bytes).unwrap_or_default())
}
