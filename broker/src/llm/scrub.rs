//! Takes known secrets out of a stream of bytes, also where one is cut in two by the chunks it comes in.
//!
//! Invariant: only what may still become a secret is held back, so that a stream is not slowed down.

use crate::keys::MARK;

/// Secrets and what was held back.
pub struct Scrubber {
    secrets: Vec<Vec<u8>>,
    /// Which bytes a secret can begin with.
    begins: [bool; 256],
    held: Vec<u8>,
}

impl Scrubber {
    pub fn new<'a>(secrets: impl IntoIterator<Item = &'a str>) -> Self {
        let mut secrets: Vec<Vec<u8>> =
            secrets.into_iter().filter(|secret| !secret.is_empty()).map(|secret| secret.into()).collect();
        secrets.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
        let mut begins = [false; 256];
        for first in secrets.iter().filter_map(|secret| secret.first()) {
            if let Some(begins) = begins.get_mut(usize::from(*first)) {
                *begins = true;
            }
        }
        Self { secrets, begins, held: Vec::new() }
    }

    /// What may go on of what has come so far.
    pub fn push(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut all = std::mem::take(&mut self.held);
        all.extend_from_slice(bytes);
        let mut out = Vec::with_capacity(all.len());
        let mut rest = all.as_slice();
        while let Some(first) = rest.first() {
            let may_begin = self.begins.get(usize::from(*first)).copied().unwrap_or(true);
            if may_begin
                && self.secrets.iter().any(|secret| secret.len() > rest.len() && secret.starts_with(rest))
            {
                self.held = rest.to_vec();
                return out;
            }
            let found = self.secrets.iter().find(|secret| may_begin && rest.starts_with(secret));
            match found {
                Some(secret) => {
                    out.extend_from_slice(MARK.as_bytes());
                    rest = rest.get(secret.len()..).unwrap_or_default();
                }
                None => {
                    out.push(*first);
                    rest = rest.get(1..).unwrap_or_default();
                }
            }
        }
        out
    }

    /// The rest, when nothing more comes.
    pub fn finish(&mut self) -> Vec<u8> {
        // A whole secret may have been held back for the sake of a longer one.
        let held = std::mem::take(&mut self.held);
        let mut out = Vec::new();
        let mut rest = held.as_slice();
        while let Some(first) = rest.first() {
            match self.secrets.iter().find(|secret| rest.starts_with(secret)) {
                Some(secret) => {
                    out.extend_from_slice(MARK.as_bytes());
                    rest = rest.get(secret.len()..).unwrap_or_default();
                }
                None => {
                    out.push(*first);
                    rest = rest.get(1..).unwrap_or_default();
                }
            }
        }
        out
    }
}
