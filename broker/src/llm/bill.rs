//! What one call comes to: reserved, likely, and in fact by what its answer says, held at what it can have cost; pure.
//!
//! Invariant: no figure of an answer's makes a call dearer than what was sent and what came back allow.

use super::request::{Judged, OVERHEAD_TOKENS, USUAL_MAX_TOKENS};
use crate::ground::caps::{Cost, Micros};
use crate::money::prices::{Rate, Usage};

/// What a call is billed by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bill {
    pub rate: Rate,
    /// At most: a token is at least a byte.
    pub input_tokens: u64,
    /// Of these, what is not in its bytes.
    pub extra_tokens: u64,
    /// At most, all replies together.
    pub output_tokens: u64,
    pub hour_cache: bool,
    /// What calls of the model were like when this one was reserved.
    pub like: Option<Like>,
}

/// What calls of a model were like.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Like {
    /// Tokens of the prompt, of a thousand bytes; none where it was too short to tell, or not of words alone.
    pub input_permille: Option<u64>,
    /// Tokens of the reply.
    pub output_tokens: u64,
}

/// Of a model nothing is known of yet: three bytes a token are likely, two are reserved; and a reply of some length.
const USUAL_PERMILLE: u64 = 333;
const RESERVED_PERMILLE: u64 = 500;
const USUAL_OUTPUT_TOKENS: u64 = 2_000;
/// Bytes of a prompt that begins a thought.
const USUAL_BYTES: u64 = 16_000;

/// Never reserved are more bytes a token than four.
const LEAST_PERMILLE: u64 = 250;

/// What is likely is a quarter above what was seen, and so is what is reserved of a prompt.
const ABOVE: (u64, u64) = (5, 4);

/// Bytes from which on a prompt says how many tokens a byte of it has: in a shorter one the provider's words are more.
const TELLING_BYTES: u64 = 4_000;

/// Tokens a second of a model that thinks where nobody sees it: above the fastest there are.
const UNSEEN_TOKENS_A_SECOND: u64 = 250;

impl Bill {
    pub fn new(rate: Rate, judged: &Judged, like: Option<Like>) -> Self {
        let Judged { input_tokens, extra_tokens, output_tokens, hour_cache, .. } = *judged;
        Self { rate, input_tokens, extra_tokens, output_tokens, hour_cache, like }
    }

    /// What a call of a model that was never asked likely costs.
    pub fn usual(rate: Rate) -> Micros {
        let (extra_tokens, output_tokens) = (OVERHEAD_TOKENS, USUAL_MAX_TOKENS);
        let input_tokens = USUAL_BYTES + extra_tokens;
        Self { rate, input_tokens, extra_tokens, output_tokens, hour_cache: false, like: None }.cost(0).likely
    }

    /// What is reserved, and what is likely where so many tokens of the prompt are read from a cache.
    pub fn cost(&self, read_tokens: u64) -> Cost {
        let most = self.worst(self.reserved_tokens(), self.output_tokens);
        let output = self.like.map_or(USUAL_OUTPUT_TOKENS, |like| like.output_tokens);
        let (input, output) = (self.likely_tokens(), above(output).min(self.output_tokens));
        let read = read_tokens.min(input);
        Cost { most, likely: self.rate.likely(input - read, read, output, self.hour_cache).min(most) }
    }

    /// Tokens of a prompt of this model's, cut to what there is room for.
    pub fn fitting_tokens(&self, room: Cost) -> u64 {
        let of_bytes = |bytes: u64| Self { input_tokens: self.extra_tokens + bytes, ..*self };
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

    /// What it costs to have been read and not answered.
    pub fn input(&self) -> Micros {
        self.worst(self.like.map_or(self.reserved_tokens(), |_| self.likely_tokens()), 0)
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

    /// What a stream came to that the client left: the prompt, and a bound on the reply by what was written and how
    /// long the model may have thought unseen. `said` is a usage that came, and whether it was the last.
    pub fn cut(&self, said: Option<(Usage, bool)>, written_bytes: u64, seconds: u64) -> Micros {
        let bound = written_bytes.max(seconds.saturating_mul(UNSEEN_TOKENS_A_SECOND)).min(self.output_tokens);
        match said {
            Some((usage, true)) => self.by_usage(&usage, written_bytes).0,
            Some((usage, false)) => {
                self.by_usage(&Usage { output: usage.output.max(bound), ..usage }, written_bytes).0
            }
            None => self.worst(self.reserved_tokens(), bound),
        }
    }

    /// What the next call of the model is likely to be like.
    pub fn like(&self, usage: &Usage) -> Like {
        let bytes = self.bytes();
        let tells = bytes >= TELLING_BYTES && self.extra_tokens <= OVERHEAD_TOKENS;
        let prompt = u128::from(usage.prompt().min(self.input_tokens));
        let permille = u64::try_from((prompt * 1_000).div_ceil(u128::from(bytes.max(1)))).unwrap_or(1_000);
        Like {
            input_permille: tells.then_some(permille.min(1_000)),
            output_tokens: usage.output.min(self.output_tokens),
        }
    }

    /// Tokens of the prompt that are reserved; a usage may claim more, up to all that was sent.
    pub fn reserved_tokens(&self) -> u64 {
        let permille = self.seen_permille().map_or(RESERVED_PERMILLE, above).clamp(LEAST_PERMILLE, 1_000);
        part(self.bytes(), permille).saturating_add(self.extra_tokens)
    }

    fn likely_tokens(&self) -> u64 {
        let permille = self.seen_permille().unwrap_or(USUAL_PERMILLE);
        let unseen = self.extra_tokens.saturating_sub(OVERHEAD_TOKENS);
        part(self.bytes(), above(permille)).saturating_add(unseen).min(self.reserved_tokens())
    }

    fn seen_permille(&self) -> Option<u64> {
        self.like.and_then(|like| like.input_permille)
    }

    fn bytes(&self) -> u64 {
        self.input_tokens.saturating_sub(self.extra_tokens)
    }

    fn worst(&self, input_tokens: u64, output_tokens: u64) -> Micros {
        if self.rate.is_free() { 0 } else { self.rate.worst(input_tokens, output_tokens, self.hour_cache) }
    }
}

fn above(seen: u64) -> u64 {
    seen.saturating_mul(ABOVE.0).div_ceil(ABOVE.1)
}

/// So many thousandths of it.
fn part(whole: u64, permille: u64) -> u64 {
    u64::try_from((u128::from(whole) * u128::from(permille)).div_ceil(1_000)).unwrap_or(u64::MAX)
}
