//! What one call comes to: at most, likely, and in fact by what its answer says, held at what it can have cost; pure.
//!
//! Invariant: no figure of an answer's makes a call dearer than what was sent and what came back allow.

use super::request::Judged;
use crate::money::{Cost, Micros};
use crate::prices::{Rate, Usage};

/// What a call is billed by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bill {
    pub rate: Rate,
    /// At most.
    pub input_tokens: u64,
    /// At most, all replies together.
    pub output_tokens: u64,
    pub hour_cache: bool,
}

/// What calls of a model were like, in thousandths of what they could have been.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Like {
    /// Tokens of the prompt to the most there could have been.
    pub input_permille: u64,
    /// Tokens of the reply.
    pub output_tokens: u64,
}

/// Of a model nothing is known of yet: three bytes a token, and a reply of some length.
const USUAL: Like = Like { input_permille: 333, output_tokens: 2_000 };

/// What is likely is a quarter above what was seen.
const ABOVE: (u64, u64) = (5, 4);

impl Bill {
    pub fn new(rate: Rate, judged: &Judged) -> Self {
        let Judged { input_tokens, output_tokens, hour_cache, .. } = *judged;
        Self { rate, input_tokens, output_tokens, hour_cache }
    }

    /// What is reserved, and what is likely by what earlier calls of the model were like.
    pub fn cost(&self, like: Option<Like>) -> Cost {
        let most = self.worst(self.input_tokens, self.output_tokens);
        let like = like.unwrap_or(USUAL);
        let output = above(like.output_tokens).min(self.output_tokens);
        Cost { most, likely: self.worst(self.likely_input(like), output).min(most) }
    }

    /// What it costs to have been read and not answered.
    pub fn input(&self, like: Option<Like>) -> Micros {
        self.worst(like.map_or(self.input_tokens, |like| self.likely_input(like)), 0)
    }

    /// What a usage comes to, and whether it was more than there can have been. A server may not heed the limit of a
    /// reply, but what it sent has at least a byte a token.
    pub fn by_usage(&self, usage: &Usage, answer_bytes: u64) -> (Micros, bool) {
        let output = self.output_tokens.max(answer_bytes);
        let most = self.worst(usage.prompt().min(self.input_tokens), usage.output.min(output));
        let cost = self.rate.cost(usage);
        let is_beyond = usage.prompt() > self.input_tokens || usage.output > output || cost > most;
        (cost.min(most), is_beyond)
    }

    /// What the next call of the model is likely to be like.
    pub fn like(&self, usage: &Usage) -> Like {
        let prompt = u128::from(usage.prompt().min(self.input_tokens));
        let permille = (prompt * 1_000).div_ceil(u128::from(self.input_tokens.max(1)));
        Like {
            input_permille: u64::try_from(permille).unwrap_or(1_000),
            output_tokens: usage.output.min(self.output_tokens),
        }
    }

    fn likely_input(&self, like: Like) -> u64 {
        let tokens = u128::from(self.input_tokens) * u128::from(above(like.input_permille));
        u64::try_from(tokens.div_ceil(1_000)).unwrap_or(u64::MAX).min(self.input_tokens)
    }

    fn worst(&self, input_tokens: u64, output_tokens: u64) -> Micros {
        if self.rate.is_free() { 0 } else { self.rate.worst(input_tokens, output_tokens, self.hour_cache) }
    }
}

fn above(seen: u64) -> u64 {
    seen.saturating_mul(ABOVE.0).div_ceil(ABOVE.1)
}
