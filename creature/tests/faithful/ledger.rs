//! What each request cost: tokens read from cache, written, uncached and given out, for a table by prices.

use super::cache::Tokens;
use super::models::Prices;

/// One request that was answered.
#[derive(Clone, Debug)]
pub struct Entry {
    pub number: usize,
    pub model: String,
    pub tokens: Tokens,
    pub output: usize,
    /// At the clock of the server.
    pub at_s: u64,
    pub autonomous: bool,
    /// The whole answer was written; else it was cut or the client hung up.
    pub whole: bool,
}

impl Entry {
    /// Writes cost a quarter more than input for five minutes, twice for an hour.
    pub fn cost_usd(&self, prices: &Prices) -> f64 {
        let Tokens { read, written, written_hour, uncached } = self.tokens;
        let short = (written - written_hour) as f64;
        let input = uncached as f64 + short * 1.25 + written_hour as f64 * 2.0;
        (input * prices.input + read as f64 * prices.cache_read + self.output as f64 * prices.output) / 1e6
    }

    /// The same without a cache.
    pub fn uncached_usd(&self, prices: &Prices) -> f64 {
        (self.tokens.total() as f64 * prices.input + self.output as f64 * prices.output) / 1e6
    }
}

/// The part of all input that was read from cache.
pub fn read_share(entries: &[Entry]) -> f64 {
    let read: usize = entries.iter().map(|entry| entry.tokens.read).sum();
    let total: usize = entries.iter().map(|entry| entry.tokens.total()).sum();
    read as f64 / total.max(1) as f64
}

/// Dollars of all, and of the same without a cache.
pub fn cost(entries: &[Entry], prices: &Prices) -> (f64, f64) {
    let add =
        |(cost, bare), entry: &Entry| (cost + entry.cost_usd(prices), bare + entry.uncached_usd(prices));
    entries.iter().fold((0.0, 0.0), add)
}

/// A table of every request, and of all.
pub fn table(entries: &[Entry], prices: &Prices) -> String {
    let mut table = String::from("request | read | written | uncached | output | USD | USD uncached\n");
    for entry in entries {
        let Tokens { read, written, uncached, .. } = entry.tokens;
        let (spent, without) = (entry.cost_usd(prices), entry.uncached_usd(prices));
        let (number, output) = (entry.number, entry.output);
        table +=
            &format!("{number} | {read} | {written} | {uncached} | {output} | {spent:.5} | {without:.5}\n");
    }
    let (cost, bare) = cost(entries, prices);
    table
        + &format!("all: {:.1} % read, {cost:.4} USD, uncached {bare:.4} USD\n", read_share(entries) * 100.0)
}
