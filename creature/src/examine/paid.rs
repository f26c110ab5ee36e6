//! Payments on the broker's ledger: calls that left no thought (cut short, refused, lost with a life) are paid too.

use crate::paths::House;
use ground::files;
use jiff::Timestamp;
use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};

/// Bytes read from the end of a ledger.
const MOST_BYTES: u64 = 64 << 20;

/// Calls of models that were paid for.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Paid {
    pub calls: u64,
    pub usd: f64,
}

/// Sums up what was paid in a span, by all ledgers that are there; nothing where there is none.
pub fn paid(house: &House, since: Timestamp, until: Timestamp) -> Paid {
    let mut sum = Paid::default();
    for path in files::logs(&house.ledger()) {
        let Ok(mut file) = files::open(&path) else { continue };
        let (length, changed) =
            file.metadata().map_or((0, None), |found| (found.len(), found.modified().ok()));
        // One that was moved aside holds nothing newer than its own time.
        let changed = changed.and_then(|at| Timestamp::try_from(at).ok());
        if path != house.ledger() && changed.is_some_and(|at| at < since) {
            continue;
        }
        if file.seek(SeekFrom::Start(length.saturating_sub(MOST_BYTES))).is_err() {
            continue;
        }
        for line in BufReader::new(file.take(MOST_BYTES)).split(b'\n').map_while(Result::ok) {
            add(&mut sum, &line, since, until);
        }
    }
    sum
}

fn add(sum: &mut Paid, line: &[u8], since: Timestamp, until: Timestamp) {
    let Ok(entry) = serde_json::from_slice::<Value>(line) else { return };
    let text = |key: &str| entry.get(key).and_then(Value::as_str).unwrap_or_default();
    let within = text("at").parse::<Timestamp>().is_ok_and(|at| (since..=until).contains(&at));
    let micro = entry.get("cost_micro_usd").and_then(Value::as_u64).unwrap_or(0);
    if text("event") == "settle" && within && micro > 0 {
        sum.calls += 1;
        // Costs are far below what a float holds exactly.
        sum.usd += micro as f64 / 1e6;
    }
}
