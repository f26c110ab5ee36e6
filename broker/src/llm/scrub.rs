//! Takes known secrets out of a stream by whole lines, so that one cut in two by the chunks it comes in is found too.
//!
//! Invariant: nothing passes that was not looked at as part of its whole line; an event is not held up, for it ends one.

/// Bytes of a line at most; no event of either wire comes near.
const LONGEST_LINE: usize = 8 << 20;

/// The line that has not ended yet.
#[derive(Default)]
pub struct Lines {
    held: Vec<u8>,
}

/// A line without an end.
#[derive(Debug, PartialEq, Eq)]
pub struct TooLong;

impl Lines {
    /// The lines that are whole by now; often none.
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

    /// What is left, when nothing more comes.
    pub fn finish(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.held)
    }
}
