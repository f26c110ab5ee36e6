//! Reads the figures of a usage, by every name that makers give them; pure.
//!
//! Invariant: two figures for one thing count as the larger; a figure that is missing is not nought.

use crate::money::prices::Usage;
use serde_json::Value;

/// All tokens of the prompt, what was read from a cache included unless [`APART`] says otherwise.
const PROMPT: &[&str] = &[
    // OpenAI API reference, chat completions.
    "/prompt_tokens",
    // Anthropic API reference, messages; OpenAI API reference, responses; also of gateways between wires.
    "/input_tokens",
    // OpenRouter's SDK (ChatUsage); Amazon Bedrock's reference (TokenUsage).
    "/promptTokens",
    "/inputTokens",
    // Gemini API reference (UsageMetadata).
    "/promptTokenCount",
    // Cohere API reference (usage.tokens and usage.billed_units).
    "/tokens/input_tokens",
    "/billed_units/input_tokens",
];
const OUTPUT: &[&str] = &[
    "/completion_tokens",
    "/output_tokens",
    "/completionTokens",
    "/outputTokens",
    "/candidatesTokenCount",
    "/tokens/output_tokens",
    "/billed_units/output_tokens",
];
/// Prompt and reply together, thinking included: the difference is the part that the names above leave out.
const TOTAL: &[&str] = &["/total_tokens", "/totalTokens", "/totalTokenCount"];
/// Tokens of thinking, counted in the reply or beside it.
const THINKING: &[&str] = &[
    "/completion_tokens_details/reasoning_tokens",
    "/output_tokens_details/reasoning_tokens",
    "/completionTokensDetails/reasoningTokens",
    "/outputTokensDetails/reasoningTokens",
    "/reasoning_tokens",
];
/// Thinking that is beside the reply by its maker's definition (Gemini API reference, UsageMetadata).
const THINKING_BESIDE: &[&str] = &["/thoughtsTokenCount"];
const READ: &[&str] = &[
    "/prompt_tokens_details/cached_tokens",
    "/input_tokens_details/cached_tokens",
    "/promptTokensDetails/cachedTokens",
    "/inputTokensDetails/cachedTokens",
    "/cache_read_input_tokens",
    "/cacheReadInputTokens",
    "/cachedContentTokenCount",
    // Moonshot's reference.
    "/cached_tokens",
    // DeepSeek's reference, context caching.
    "/prompt_cache_hit_tokens",
    // Mistral's reference (UsageInfo).
    "/num_cached_tokens",
];
const WRITTEN: &[&str] = &[
    "/prompt_tokens_details/cache_write_tokens",
    "/input_tokens_details/cache_write_tokens",
    "/prompt_tokens_details/cache_creation_tokens",
    "/cache_creation_input_tokens",
    "/cacheWriteInputTokens",
    "/cache_creation_tokens",
];
const WRITTEN_FOR_AN_HOUR: &[&str] = &["/cache_creation/ephemeral_1h_input_tokens"];
/// Names of makers whose prompt leaves out what was read from a cache or written to one, beside the prompt's name
/// there: Anthropic, and Amazon Bedrock.
const APART: [(&str, &[&str]); 2] = [
    ("/input_tokens", &["/cache_read_input_tokens", "/cache_creation_input_tokens"]),
    ("/inputTokens", &["/cacheReadInputTokens", "/cacheWriteInputTokens"]),
];
/// Amount charged, in USD (OpenRouter's documentation, usage accounting).
const CHARGED_USD: &str = "/cost";

/// The highest of each figure so far: events count up, and repeat earlier figures.
#[derive(Clone, Copy, Debug, Default)]
pub struct Figures {
    prompt: Option<u64>,
    output: Option<u64>,
    total: Option<u64>,
    thinking: u64,
    thinking_beside: u64,
    read: u64,
    written: u64,
    written_for_an_hour: u64,
    /// Whether the prompt leaves out what was read from a cache or written to one.
    is_apart: bool,
    charged_micro_usd: u64,
}

impl Figures {
    /// Adds a usage; returns whether it says anything of the reply, so that it may be the last.
    pub fn see(&mut self, usage: &Value) -> bool {
        let highest = |names: &[&str]| names.iter().filter_map(|name| count(usage.pointer(name)?)).max();
        let named = |name: &str| usage.pointer(name).is_some_and(|value| !value.is_null());
        let (output, total) = (highest(OUTPUT), highest(TOTAL));
        self.prompt = self.prompt.max(highest(PROMPT));
        self.output = self.output.max(output);
        self.total = self.total.max(total);
        for (known, names) in [
            (&mut self.thinking, THINKING),
            (&mut self.thinking_beside, THINKING_BESIDE),
            (&mut self.read, READ),
            (&mut self.written, WRITTEN),
            (&mut self.written_for_an_hour, WRITTEN_FOR_AN_HOUR),
        ] {
            *known = (*known).max(highest(names).unwrap_or(0));
        }
        let is_apart = |(prompt, cached): &(&str, &[&str])| {
            named(prompt) && !named("/prompt_tokens") && cached.iter().any(|name| named(name))
        };
        self.is_apart |= APART.iter().any(is_apart);
        let charged = usage.pointer(CHARGED_USD).and_then(Value::as_f64).filter(|usd| *usd > 0.0);
        self.charged_micro_usd = self.charged_micro_usd.max((charged.unwrap_or(0.0) * 1e6).ceil() as u64);
        output.or(total).is_some()
    }

    /// The usage these come to; `None` while the prompt or the reply is not known.
    pub fn usage(&self) -> Option<Usage> {
        let named = self.prompt?;
        let cached = self.read.saturating_add(self.written);
        // What is more than the prompt cannot be a part of it, nor what the total counts beside it.
        let is_apart = self.is_apart || cached > named || self.adds_up(named, cached);
        let prompt = if is_apart { named.saturating_add(cached) } else { named };
        let output = self.output(prompt)?;
        Some(Usage {
            input: prompt.saturating_sub(cached),
            output,
            cache_read: self.read,
            cache_write: self.written.saturating_sub(self.written_for_an_hour),
            cache_write_hour: self.written_for_an_hour,
            charged_micro_usd: self.charged_micro_usd,
        })
    }

    /// Whether prompt, cached and reply make up the total, and no thinking does: of gateways that pass on Bedrock's prompt.
    fn adds_up(&self, prompt: u64, cached: u64) -> bool {
        let sum = |output: u64| prompt.saturating_add(cached).saturating_add(output);
        let thinks = self.thinking > 0 || self.thinking_beside > 0;
        cached > 0
            && !thinks
            && self.total.zip(self.output).is_some_and(|(total, output)| total == sum(output))
    }

    /// The larger of what is named and what the total holds beside the prompt: some makers name the reply without its
    /// thinking. Thinking is added by itself only where it cannot be inside.
    fn output(&self, prompt: u64) -> Option<u64> {
        let named = self.output.map(|output| {
            let is_beside = self.thinking > output;
            let thinking = if is_beside { self.thinking } else { 0 };
            output.saturating_add(thinking.max(self.thinking_beside))
        });
        named.max(self.total.map(|total| total.saturating_sub(prompt)))
    }
}

/// A count as a whole number, a decimal or a text; `None` for one below nought.
fn count(value: &Value) -> Option<u64> {
    let decimal = |value: f64| (value >= 0.0).then_some(value.ceil() as u64);
    match value {
        Value::Number(number) => number.as_u64().or_else(|| decimal(number.as_f64()?)),
        Value::String(text) => text.trim().parse().ok().and_then(decimal),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}
