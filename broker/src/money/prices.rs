//! Prices of tokens: the owner's, else those compiled in, else the owner's worst case; an unknown price is never zero.

use crate::ground::caps::Micros;
use crate::makers::{Makers, Row, is_named, version};
use crate::policy::{Policy, Price};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Prompt length from which long-context prices apply if the table does not say, in tokens.
const LONG_TOKENS: u64 = 200_000;
/// Factor of long-context prices, for input and output; most providers charge at most this.
const LONG_TIMES: u64 = 2;

/// Tokens of one call; each is counted in one field only.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Neither read from a cache nor written to one.
    pub input: u64,
    pub output: u64,
    pub cache_read: u64,
    pub cache_write: u64,
    /// Written to a cache that keeps for an hour.
    pub cache_write_hour: u64,
    /// Amount charged as the answer says; nought where it does not say.
    pub charged_micro_usd: Micros,
}

impl Usage {
    /// All tokens of the prompt.
    pub fn prompt(&self) -> u64 {
        let all = [self.input, self.cache_read, self.cache_write, self.cache_write_hour];
        all.into_iter().fold(0, u64::saturating_add)
    }
}

/// Prices in millionths of a micro-dollar per token: a dollar per million tokens is then a whole number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    input: u64,
    output: u64,
    cache_read: u64,
    cache_write: u64,
    cache_write_hour: u64,
    long_tokens: u64,
    long_times: u64,
}

impl Rate {
    pub const FREE: Self = Self::flat(0, 0);

    /// Returns a rate with one price for the whole prompt, and one for the reply.
    const fn flat(input: u64, output: u64) -> Self {
        Self {
            input,
            output,
            cache_read: input,
            cache_write: input,
            cache_write_hour: input,
            long_tokens: LONG_TOKENS,
            long_times: LONG_TIMES,
        }
    }

    pub fn is_free(&self) -> bool {
        [self.input, self.output, self.cache_read, self.cache_write, self.cache_write_hour] == [0; 5]
    }

    /// The highest cost of a call.
    pub fn worst(&self, input_tokens: u64, output_tokens: u64, hour: bool) -> Micros {
        let input = self.input.max(self.cache_write).max(self.cache_read);
        let input = if hour { input.max(self.cache_write_hour) } else { input };
        self.sum([times(input_tokens, input), times(output_tokens, self.output)], input_tokens)
    }

    /// The likely cost of a call of which part of the prompt is read from a cache.
    pub fn likely(&self, fresh_tokens: u64, read_tokens: u64, output_tokens: u64, hour: bool) -> Micros {
        let input = self.input.max(self.cache_write);
        let input = if hour { input.max(self.cache_write_hour) } else { input };
        let parts = [
            times(fresh_tokens, input),
            times(read_tokens, self.cache_read),
            times(output_tokens, self.output),
        ];
        self.sum(parts, fresh_tokens.saturating_add(read_tokens))
    }

    /// The prices in USD per million tokens.
    pub fn shown(&self) -> Value {
        let usd = |rate: u64| rate as f64 / 1e6;
        json!({"input": usd(self.input), "cache_read": usd(self.cache_read), "output": usd(self.output)})
    }

    /// The actual cost of a call, by its tokens.
    pub fn cost(&self, usage: &Usage) -> Micros {
        let parts = [
            times(usage.input, self.input),
            times(usage.output, self.output),
            times(usage.cache_read, self.cache_read),
            times(usage.cache_write, self.cache_write),
            times(usage.cache_write_hour, self.cache_write_hour),
        ];
        self.sum(parts, usage.prompt())
    }

    fn of(price: &Price) -> Self {
        let write = rate(price.cache_write.unwrap_or(price.input * 2.0));
        Self {
            cache_read: rate(price.cache_read.unwrap_or(price.input)),
            cache_write: write,
            cache_write_hour: write,
            ..Self::flat(rate(price.input), rate(price.output))
        }
    }

    /// The owner's price is for every write to a cache; the table's is for writes kept briefly.
    fn of_row(row: &Row) -> Self {
        let Row { input_usd: input, output_usd: output, read_usd, write_usd, .. } = *row;
        let price = Price { input, output, cache_read: Some(read_usd), cache_write: Some(write_usd) };
        let rate = Self::of(&price);
        Self {
            cache_write_hour: rate.cache_write.max(self::rate(input * 2.0)),
            long_tokens: row.long_tokens.unwrap_or(LONG_TOKENS),
            long_times: row.long_times.unwrap_or(LONG_TIMES),
            ..rate
        }
    }

    /// The higher of the two for each price.
    fn dearer(self, other: Self) -> Self {
        Self {
            input: self.input.max(other.input),
            output: self.output.max(other.output),
            cache_read: self.cache_read.max(other.cache_read),
            cache_write: self.cache_write.max(other.cache_write),
            cache_write_hour: self.cache_write_hour.max(other.cache_write_hour),
            long_tokens: self.long_tokens.min(other.long_tokens),
            long_times: self.long_times.max(other.long_times),
        }
    }

    /// Rounded up, so that many small calls are not free.
    fn sum<const PARTS: usize>(&self, parts: [u128; PARTS], prompt_tokens: u64) -> Micros {
        let cost = parts.into_iter().fold(0, u128::saturating_add);
        let long = if prompt_tokens > self.long_tokens { self.long_times } else { 1 };
        u64::try_from(cost.saturating_mul(u128::from(long)).div_ceil(1_000_000)).unwrap_or(u64::MAX)
    }
}

fn times(tokens: u64, rate: u64) -> u128 {
    u128::from(tokens) * u128::from(rate)
}

/// Rounded up; a price that is not a number becomes the highest there is.
fn rate(dollars: f64) -> u64 {
    if dollars.is_finite() && dollars >= 0.0 { (dollars * 1e6).ceil() as u64 } else { u64::MAX }
}

pub struct Prices {
    owners: Vec<(String, Rate)>,
    table: BTreeMap<String, Rate>,
    makers: Makers,
    worst: Rate,
}

impl Prices {
    pub fn new(policy: &Policy) -> Self {
        Self::of_makers(policy, Makers::with_owners(&policy.makers))
    }

    /// Uses another table than the compiled one; from an unreadable one come no prices.
    pub fn with(policy: &Policy, table: &str) -> Self {
        Self::of_makers(policy, Makers::read(table))
    }

    fn of_makers(policy: &Policy, makers: Makers) -> Self {
        let mut owners: Vec<_> =
            policy.prices.iter().map(|(name, price)| (name.clone(), Rate::of(price))).collect();
        owners.sort_by_key(|(name, _)| std::cmp::Reverse(name.len()));
        let mut table: BTreeMap<String, Rate> = BTreeMap::new();
        for (name, row) in makers.models().filter(|(_, row)| !row.is_unpriced) {
            let rate = Rate::of_row(row);
            // Of a name that several have the dearer counts.
            table.entry(name.to_owned()).and_modify(|known| *known = known.dearer(rate)).or_insert(rate);
        }
        Self {
            owners,
            table,
            makers,
            worst: Rate::flat(rate(policy.budget.worst_input_usd), rate(policy.budget.worst_output_usd)),
        }
    }

    /// The owner's price: that of the longest name that matches.
    pub fn of_owner(&self, model: &str) -> Option<Rate> {
        let fits = |name: &str| match name.strip_suffix('*') {
            Some(beginning) => model.starts_with(beginning),
            None => is_named(model, name),
        };
        self.owners.iter().find(|(name, _)| fits(name)).map(|(_, rate)| *rate)
    }

    /// The owner's price, else the list's, else the dearest of the model's family, else the worst case.
    pub fn of(&self, model: &str) -> Rate {
        let known = self.of_owner(model).or_else(|| self.of_table(model));
        known.or_else(|| self.of_family(model).map(|(_, rate)| rate)).unwrap_or(self.worst)
    }

    /// Says for the owner what a model without a price counts as; `None` if its price is known.
    pub fn guess(&self, model: &str) -> Option<String> {
        if self.of_owner(model).is_some() || self.of_table(model).is_some() {
            return None;
        }
        let (like, rate) = match self.of_family(model) {
            Some((family, rate)) => (format!("the dearest {family} there is"), rate),
            None => ("the worst".to_owned(), self.worst),
        };
        let usd = |rate: u64| rate as f64 / 1e6;
        Some(format!(
            "no price is known for {model:?}, so it counts as {like} ({} USD per million tokens in, {} out): the owner \
             may give it one in owner.toml, [prices.{model:?}] input = …, output = … (both 0: free)",
            usd(rate.input),
            usd(rate.output)
        ))
    }

    fn of_table(&self, model: &str) -> Option<Rate> {
        self.table.iter().find(|(name, _)| is_named(model, name)).map(|(_, rate)| *rate)
    }

    /// The dearest of the models that differ from this one by version only, else of all its maker's, and the words
    /// they share. `None` for a model older than all of these: it may have cost anything.
    fn of_family(&self, model: &str) -> Option<(String, Rate)> {
        let words = self.makers.family(model)?;
        let maker = words.first()?;
        let families =
            || self.table.iter().filter_map(|(name, rate)| Some((name, self.makers.family(name)?, rate)));
        let of_maker = || families().filter(|(_, others, _)| others.first() == Some(maker));
        let oldest = of_maker().filter_map(|(name, ..)| version(name)).fold(f64::INFINITY, f64::min);
        if version(model).is_some_and(|version| version < oldest) {
            return None;
        }
        let alike = families().filter(|(_, others, _)| *others == words).map(|(_, _, rate)| *rate);
        match alike.reduce(Rate::dearer) {
            Some(rate) => Some((words.join("-"), rate)),
            None => {
                of_maker().map(|(_, _, rate)| *rate).reduce(Rate::dearer).map(|rate| (maker.clone(), rate))
            }
        }
    }
}
