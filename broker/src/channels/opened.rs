//! Connections to the channels' places as lines of the ledger: the first of a place at once, then one an hour with their number; pure.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// Time that a line of a place stands for.
pub const SPAN: Duration = Duration::from_secs(3_600);

/// Connections to a place that one line tells.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Line {
    pub channel: String,
    pub method: String,
    pub path: String,
    /// Their number.
    pub count: u64,
    /// Bytes of connections that have ended since the line before.
    pub bytes_out: u64,
    pub bytes_in: u64,
}

/// Places by their number, each with what no line holds yet, and when its last line was written.
#[derive(Default)]
pub struct Opened(BTreeMap<usize, (Option<Instant>, Line)>);

impl Opened {
    /// Counts a connection; returns the line that has to be written before it is made, if one is due.
    pub fn opens(&mut self, at: usize, line: Line, now: Instant) -> Option<Line> {
        let (written, open) = self.0.entry(at).or_default();
        let Line { count, bytes_out, bytes_in, .. } = *open;
        *open = Line { count: count + 1, bytes_out, bytes_in, ..line };
        let is_due = written.is_none_or(|written| now.duration_since(written) >= SPAN);
        is_due.then(|| open.clone())
    }

    /// Notes that a line was written.
    pub fn written(&mut self, at: usize, line: Line, now: Instant) {
        let (written, open) = self.0.entry(at).or_default();
        *written = Some(now);
        open.count = open.count.saturating_sub(line.count);
        open.bytes_out = open.bytes_out.saturating_sub(line.bytes_out);
        open.bytes_in = open.bytes_in.saturating_sub(line.bytes_in);
    }

    /// Adds the bytes of a connection that has ended.
    pub fn carried(&mut self, at: usize, bytes_out: u64, bytes_in: u64) {
        let (_, open) = self.0.entry(at).or_default();
        open.bytes_out = open.bytes_out.saturating_add(bytes_out);
        open.bytes_in = open.bytes_in.saturating_add(bytes_in);
    }

    /// Takes all lines that are not written yet.
    pub fn rest(&mut self) -> Vec<Line> {
        let all = std::mem::take(&mut self.0).into_values().map(|(_, line)| line);
        all.filter(|line| line.count > 0 || line.bytes_out > 0 || line.bytes_in > 0).collect()
    }
}
