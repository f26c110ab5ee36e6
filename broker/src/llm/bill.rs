//! The cost of one call: reserved, likely, and actual by the answer's usage, bounded by what it can have cost; pure.
//!
//! Invariant: no figure in an answer makes a call dearer than the bytes sent and received allow.

use super::request::{OVERHEAD_TOKENS, Size, USUAL_MAX_TOKENS};
use crate::ground::caps::{Cost, Micros};
use crate::money::prices::{Rate, Usage};

/// Figures that a call is billed by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bill {
    pub rate: Rate,
    pub size: Size,
    /// Figures of the model's earlier calls, when this one was reserved.
    pub like: Option<Like>,
}

/// Figures of a model's calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Like {
    /// Prompt tokens per thousand bytes; `None` for a prompt too short to tell, or not of text alone.
    pub input_permille: Option<u64>,
    /// Tokens of the reply.
    pub output_tokens: u64,
}

/// For a model without calls yet: three bytes per token are likely, two are reserved; and a usual reply.
const USUAL_PERMILLE: u64 = 333;
const RESERVED_PERMILLE: u64 = 500;
const USUAL_OUTPUT_TOKENS: u64 = 2_000;
/// Bytes of a usual prompt at the beginning of a thought.
const USUAL_BYTES: u64 = 16_000;

/// At least one token per four bytes is reserved.
const LEAST_PERMILLE: u64 = 250;

/// A likely cost, and the reserved prompt, are a quarter above what was seen.
const MARGIN: (u64, u64) = (5, 4);

/// A prompt told before the end has at least one token per sixteen bytes: gateways say 0 until they know.
const TOLD_PERMILLE: u64 = 62;

/// Length from which a prompt tells how many tokens its bytes have; in a shorter one the provider's own additions
/// dominate.
const TELLING_BYTES: u64 = 4_000;

/// Assumed speed of a model's unseen thinking, in tokens per second: above the fastest known.
const UNSEEN_TOKENS_A_SECOND: u64 = 250;

impl Bill {
    /// Likely cost of a call to a model that was never called.
    pub fn usual(rate: Rate) -> Micros {
        let (extra_tokens, output_tokens) = (OVERHEAD_TOKENS, USUAL_MAX_TOKENS);
        let size =
            Size { input_tokens: USUAL_BYTES + extra_tokens, extra_tokens, output_tokens, ..Size::default() };
        Self { rate, size, like: None }.cost(0).likely
    }

    /// The cost to reserve, and the likely cost if `read_tokens` of the prompt are read from a cache.
    pub fn cost(&self, read_tokens: u64) -> Cost {
        let most = self.worst(self.reserved_tokens(), self.size.output_tokens);
        let output = self.like.map_or(USUAL_OUTPUT_TOKENS, |like| like.output_tokens);
        let (input, output) = (self.likely_tokens(), with_margin(output).min(self.size.output_tokens));
        let read = read_tokens.min(input);
        Cost { most, likely: self.rate.likely(input - read, read, output, self.size.hour_cache).min(most) }
    }

    /// Counts the tokens that a prompt to this model may have, to fit what is left.
    pub fn fitting_tokens(&self, room: Cost) -> u64 {
        let beside = self.size.extra_tokens.saturating_add(self.size.unlikely_tokens);
        let of_bytes = |bytes: u64| Self {
            size: Size { input_tokens: beside.saturating_add(bytes), ..self.size },
            ..*self
        };
        let fits = |bytes: u64| {
            let cost = of_bytes(bytes).cost(0);
            cost.most <= room.most && cost.likely <= room.likely
        };
        if !fits(0) {
            return 0;
        }
        let (mut fitting, mut beyond) = (0, self.bytes() + 1);
        while beyond - fitting > 1 {
            let middle = fitting + (beyond - fitting) / 2;
            if fits(middle) { fitting = middle } else { beyond = middle }
        }
        let permille = self.seen_permille().unwrap_or(USUAL_PERMILLE);
        part(fitting, permille)
    }

    /// The cost of a prompt that was read but not answered.
    pub fn input(&self) -> Micros {
        self.worst(self.like.map_or(self.reserved_tokens(), |_| self.likely_tokens()), 0)
    }

    /// The cost by the answer's usage, and whether that usage was impossible. A server may ignore the limit on a
    /// reply, but its tokens have at least one byte each.
    pub fn by_usage(&self, usage: &Usage, answer_bytes: u64) -> (Micros, bool) {
        let output = self.size.output_tokens.max(answer_bytes);
        let most = self.worst(usage.prompt().min(self.size.input_tokens), usage.output.min(output));
        let cost = self.rate.cost(usage);
        let is_beyond = usage.prompt() > self.size.input_tokens || usage.output > output || cost > most;
        // What is said to be charged needs no tokens to explain it, but no call costs more than its bounds.
        let charged = usage.charged_micro_usd.min(self.worst(self.size.input_tokens, output));
        (cost.min(most).max(charged), is_beyond)
    }

    /// The cost of a stream without its end: the prompt, and a bound on the reply by what was written and how long the
    /// model may have thought unseen; never below `said`, a usage that came early. Its prompt is believed unless it has
    /// fewer tokens than any text of that length.
    pub fn cut(&self, said: Option<Usage>, written_bytes: u64, seconds: u64) -> Micros {
        let prompt = self.reserved_tokens().saturating_add(self.size.page_tokens);
        let bound =
            written_bytes.max(seconds.saturating_mul(UNSEEN_TOKENS_A_SECOND)).min(self.size.output_tokens);
        let Some(said) = said else { return self.worst(prompt, bound) };
        let said = Usage { output: said.output.max(bound), ..said };
        let cost = self.by_usage(&said, written_bytes).0;
        match said.prompt() < part(self.bytes(), TOLD_PERMILLE).max(1) {
            true => {
                let output = said.output.min(self.size.output_tokens.max(written_bytes));
                cost.max(self.worst(prompt, output))
            }
            false => cost,
        }
    }

    /// The figures of this call, for estimating the next.
    pub fn like(&self, usage: &Usage) -> Like {
        let bytes = self.bytes();
        let tells = bytes >= TELLING_BYTES && self.size.extra_tokens <= OVERHEAD_TOKENS;
        let prompt = u128::from(usage.prompt().min(self.size.input_tokens));
        let permille = u64::try_from((prompt * 1_000).div_ceil(u128::from(bytes.max(1)))).unwrap_or(1_000);
        Like {
            input_permille: tells.then_some(permille.min(1_000)),
            output_tokens: usage.output.min(self.size.output_tokens),
        }
    }

    /// Prompt tokens to reserve; a usage may claim more, up to everything that was sent.
    pub fn reserved_tokens(&self) -> u64 {
        let permille =
            self.seen_permille().map_or(RESERVED_PERMILLE, with_margin).clamp(LEAST_PERMILLE, 1_000);
        part(self.bytes(), permille).saturating_add(self.size.extra_tokens)
    }

    fn likely_tokens(&self) -> u64 {
        let permille = self.seen_permille().unwrap_or(USUAL_PERMILLE);
        let unseen = self.size.extra_tokens.saturating_sub(OVERHEAD_TOKENS);
        part(self.bytes(), with_margin(permille)).saturating_add(unseen).min(self.reserved_tokens())
    }

    fn seen_permille(&self) -> Option<u64> {
        self.like.and_then(|like| like.input_permille)
    }

    /// Bytes of text.
    fn bytes(&self) -> u64 {
        self.size
            .input_tokens
            .saturating_sub(self.size.extra_tokens)
            .saturating_sub(self.size.unlikely_tokens)
    }

    fn worst(&self, input_tokens: u64, output_tokens: u64) -> Micros {
        if self.rate.is_free() {
            0
        } else {
            self.rate.worst(input_tokens, output_tokens, self.size.hour_cache)
        }
    }
}

fn with_margin(seen: u64) -> u64 {
    seen.saturating_mul(MARGIN.0).div_ceil(MARGIN.1)
}

/// So many thousandths of `whole`.
fn part(whole: u64, permille: u64) -> u64 {
    u64::try_from((u128::from(whole) * u128::from(permille)).div_ceil(1_000)).unwrap_or(u64::MAX)
}
