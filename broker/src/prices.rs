//! What tokens cost: the owner's prices, else those compiled in, else the worst the owner thinks of; never nothing.

use crate::money::Micros;
use crate::policy::{Policy, Price};
use std::collections::BTreeMap;

/// Compiled in, so that no file can be missing.
const TABLE: &str = include_str!("prices.toml");

/// From so many tokens on, long-context prices are counted.
const LONG_TOKENS: u64 = 200_000;
/// What they are counted at, for input and output; the providers take at most this.
const LONG_TIMES: u128 = 2;

/// Tokens of one call, each counted in one place only.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Neither read from nor written to a cache.
    pub input: u64,
    pub output: u64,
    pub cache_read: u64,
    pub cache_write: u64,
    /// Written to be kept for an hour.
    pub cache_write_hour: u64,
}

/// Millionths of a micro-dollar per token, which is what a dollar per million tokens comes to without a fraction lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    input: u64,
    output: u64,
    cache_read: u64,
    cache_write: u64,
    cache_write_hour: u64,
}

impl Rate {
    pub const FREE: Self = Self { input: 0, output: 0, cache_read: 0, cache_write: 0, cache_write_hour: 0 };

    pub fn is_free(&self) -> bool {
        *self == Self::FREE
    }

    /// What a call costs at most.
    pub fn worst(&self, input_tokens: u64, output_tokens: u64, hour: bool) -> Micros {
        let input = self.input.max(self.cache_write).max(self.cache_read);
        let input = if hour { input.max(self.cache_write_hour) } else { input };
        sum([times(input_tokens, input), times(output_tokens, self.output)], input_tokens)
    }

    /// What a call did cost.
    pub fn cost(&self, usage: &Usage) -> Micros {
        let prompt = [usage.input, usage.cache_read, usage.cache_write, usage.cache_write_hour];
        let prompt = prompt.iter().fold(0, |sum: u64, tokens| sum.saturating_add(*tokens));
        let parts = [
            times(usage.input, self.input),
            times(usage.output, self.output),
            times(usage.cache_read, self.cache_read),
            times(usage.cache_write, self.cache_write),
            times(usage.cache_write_hour, self.cache_write_hour),
        ];
        sum(parts, prompt)
    }

    fn of(price: &Price, is_ours: bool) -> Self {
        let write = price.cache_write.unwrap_or(price.input * 2.0);
        // The owner's price is for every write, ours for the short ones.
        let hour = if is_ours { write.max(price.input * 2.0) } else { write };
        Self {
            input: rate(price.input),
            output: rate(price.output),
            cache_read: rate(price.cache_read.unwrap_or(price.input)),
            cache_write: rate(write),
            cache_write_hour: rate(hour),
        }
    }
}

fn times(tokens: u64, rate: u64) -> u128 {
    u128::from(tokens) * u128::from(rate)
}

/// Rounded up: many small calls are not free.
fn sum<const PARTS: usize>(parts: [u128; PARTS], prompt_tokens: u64) -> Micros {
    let cost = parts.into_iter().fold(0, u128::saturating_add);
    let cost = if prompt_tokens > LONG_TOKENS { cost.saturating_mul(LONG_TIMES) } else { cost };
    u64::try_from(cost.div_ceil(1_000_000)).unwrap_or(u64::MAX)
}

/// Rounded up; a price that is no number is the highest there is.
fn rate(dollars: f64) -> u64 {
    if dollars.is_finite() && dollars >= 0.0 { (dollars * 1e6).ceil() as u64 } else { u64::MAX }
}

pub struct Prices {
    owners: Vec<(String, Rate)>,
    table: BTreeMap<String, Rate>,
    worst: Rate,
}

impl Prices {
    pub fn new(policy: &Policy) -> Self {
        Self::with(policy, TABLE)
    }

    /// With another table than the one compiled in; one that cannot be read has no prices.
    pub fn with(policy: &Policy, table: &str) -> Self {
        let table: BTreeMap<String, Price> = toml::from_str(table).unwrap_or_else(|error| {
            tracing::error!("failed to read the price table, every model counts as the worst: {error}");
            BTreeMap::new()
        });
        let mut owners: Vec<_> =
            policy.prices.iter().map(|(name, price)| (name.clone(), Rate::of(price, false))).collect();
        owners.sort_by_key(|(name, _)| std::cmp::Reverse(name.len()));
        let input = rate(policy.budget.worst_input_usd);
        Self {
            owners,
            table: table.iter().map(|(name, price)| (name.clone(), Rate::of(price, true))).collect(),
            worst: Rate {
                input,
                output: rate(policy.budget.worst_output_usd),
                cache_read: input,
                cache_write: input,
                cache_write_hour: input,
            },
        }
    }

    /// The owner's word where there is one: that of the longest beginning that fits.
    pub fn of_owner(&self, model: &str) -> Option<Rate> {
        self.owners.iter().find(|(name, _)| model.starts_with(name.as_str())).map(|(_, rate)| *rate)
    }

    /// Nobody said what it costs, so it counts as the worst.
    pub fn is_unknown(&self, model: &str) -> bool {
        self.of_owner(model).is_none() && self.of_table(model).is_none()
    }

    pub fn of(&self, model: &str) -> Rate {
        self.of_owner(model).or_else(|| self.of_table(model)).unwrap_or(self.worst)
    }

    /// A name alone or with a date; `gpt-5` says nothing about what `gpt-5-pro` costs.
    fn of_table(&self, model: &str) -> Option<Rate> {
        let rest_is_date = |rest: &str| {
            let rest = rest.strip_prefix('-').unwrap_or(rest);
            rest == "latest" || (rest.len() >= 8 && rest.chars().all(|c| c.is_ascii_digit() || c == '-'))
        };
        let fits = |name: &str| {
            model
                .strip_prefix(name)
                .is_some_and(|rest| rest.is_empty() || (rest.starts_with('-') && rest_is_date(rest)))
        };
        self.table.iter().find(|(name, _)| fits(name)).map(|(_, rate)| *rate)
    }
}
