//! Splits a stream into whole lines for scrubbing, so that a secret split between two chunks is found.
//!
//! Invariant: nothing passes before its whole line was scrubbed; events are not delayed, since each ends a line.

/// Longest line, in bytes; no event of any API comes near.
const LONGEST_LINE: usize = 8 << 20;

/// The unfinished line.
#[derive(Default)]
pub struct Lines {
    held: Vec<u8>,
}

/// A line exceeded the bound.
#[derive(Debug, PartialEq, Eq)]
pub struct TooLong;

impl Lines {
    /// The lines completed by these bytes; often none.
    pub fn push(&mut self, bytes: &[u8]) -> Result<Vec<u8>, TooLong> {
        let end = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let (whole, rest) = bytes.split_at(end);
        let mut out = Vec::new();
        if !whole.is_empty() {
            out = std::mem::take(&mut self.held);
            out.extend_from_slice(whole);
        }
        self.held.extend_from_slice(rest);
        if self.held.len() > LONGEST_LINE { Err(TooLong) } else { Ok(out) }
    }

    /// The rest, once the stream has ended.
    pub fn finish(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.held)
    }
}
