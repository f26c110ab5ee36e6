//! Reads the usage from an answer as it passes: a JSON body or a stream of events, of any API; pure.
//!
//! Invariant: a usage is final only if the answer came to the end that its API names, and nothing was written after it.

use super::wire::Wire;
use crate::money::prices::Usage;
use serde_json::Value;

/// Most bytes of an event or a whole JSON body that are kept for reading; a larger one yields no usage.
const LARGEST: usize = 32 << 20;

pub struct Meter {
    wire: Wire,
    is_stream: bool,
    /// Of a stream the unfinished line, else the whole body so far.
    text: Vec<u8>,
    is_too_large: bool,
    seen: Option<Seen>,
    /// Bytes of text the model wrote in a stream: a token has at least one.
    written: u64,
    /// Whether the latest usage may be the last: its event can carry the whole count, and no text came after it.
    is_last: bool,
    /// Whether a chat's reply said why it ended.
    is_finished: bool,
    /// Whether the stream came to its API's own end: Anthropic's `message_stop`; of chat completions `[DONE]`, or the
    /// piece without choices that holds the usage of all; of Responses `completed`, `incomplete` or `failed`.
    is_over: bool,
}

/// The highest of each figure so far: events count up, and repeat earlier figures.
#[derive(Clone, Copy, Default)]
struct Seen {
    input: u64,
    output: u64,
    cache_read: u64,
    cache_write: u64,
    cache_write_hour: u64,
}

impl Meter {
    pub fn new(wire: Wire, is_stream: bool) -> Self {
        Self {
            wire,
            is_stream,
            text: Vec::new(),
            is_too_large: false,
            seen: None,
            written: 0,
            is_last: false,
            is_finished: false,
            is_over: false,
        }
    }

    /// Reads bytes as they pass.
    pub fn feed(&mut self, bytes: &[u8]) {
        if self.is_too_large {
            return;
        }
        if !self.is_stream {
            self.text.extend_from_slice(bytes);
        } else {
            for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
                self.text.extend_from_slice(piece);
                if piece.ends_with(b"\n") {
                    let line = std::mem::take(&mut self.text);
                    self.line(&line);
                }
            }
        }
        if self.text.len() > LARGEST {
            self.written = self.written.saturating_add(self.text.len() as u64);
            (self.is_too_large, self.text) = (true, Vec::new());
        }
    }

    /// The final usage, if the answer has one. `is_ended`: the body ended regularly, so that its last line is whole;
    /// a body that was cut can end so too.
    pub fn usage(&mut self, is_ended: bool) -> Option<Usage> {
        if self.is_too_large {
            return None;
        }
        if !self.is_stream {
            let body: Value = serde_json::from_slice(&self.text).ok()?;
            self.see(body.get("usage")?, true);
        } else if is_ended && !self.text.is_empty() {
            let line = std::mem::take(&mut self.text);
            self.line(&line);
        }
        let is_final = if self.is_stream { self.is_over && self.is_last } else { is_ended };
        let usage = self.seen.filter(|_| is_final).map(|seen| self.counted(seen))?;
        // No answer has no tokens at all: gateways that do not count say nought.
        (usage.prompt() > 0 || usage.output > 0).then_some(usage)
    }

    /// The highest usage in an unfinished stream, and the bytes of text written so far; a line that is not read yet
    /// may be all text.
    pub fn so_far(&self) -> (Option<Usage>, u64) {
        let unread = if self.is_stream { self.text.len() as u64 } else { 0 };
        (self.seen.map(|seen| self.counted(seen)), self.written.saturating_add(unread))
    }

    fn counted(&self, seen: Seen) -> Usage {
        match self.wire {
            Wire::Anthropic => Usage {
                input: seen.input,
                output: seen.output,
                cache_read: seen.cache_read,
                cache_write: seen.cache_write.saturating_sub(seen.cache_write_hour),
                cache_write_hour: seen.cache_write_hour,
            },
            // In these APIs the prompt's tokens include those read from a cache.
            Wire::OpenAi | Wire::Responses => Usage {
                input: seen.input.saturating_sub(seen.cache_read).saturating_sub(seen.cache_write),
                output: seen.output,
                cache_read: seen.cache_read.min(seen.input),
                cache_write: seen.cache_write,
                cache_write_hour: 0,
            },
        }
    }

    /// Whether the answer is a web page, as from a gateway or a login, and so not a model's.
    pub fn is_page(&self) -> bool {
        let text = self.text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&self.text);
        !self.is_stream
            && !self.is_too_large
            && text.trim_ascii_start().first().is_none_or(|first| *first == b'<')
    }

    fn line(&mut self, line: &[u8]) {
        let Some(data) = line.trim_ascii().strip_prefix(b"data:") else { return };
        let data = data.trim_ascii();
        if data == b"[DONE]" {
            self.is_over |= self.wire == Wire::OpenAi;
            return;
        }
        let Ok(event) = serde_json::from_slice::<Value>(data) else {
            self.wrote(data.len() as u64);
            return;
        };
        self.wrote(written(&event));
        match (self.wire, event.get("type").and_then(Value::as_str)) {
            (Wire::Anthropic, Some("message_start")) => {
                event.pointer("/message/usage").into_iter().for_each(|usage| self.see(usage, false));
            }
            (Wire::Anthropic, Some("message_delta")) => {
                event.get("usage").into_iter().for_each(|usage| self.see(usage, true));
            }
            (Wire::Anthropic, Some("message_stop")) => self.is_over = true,
            (Wire::Responses, Some("response.completed" | "response.incomplete" | "response.failed")) => {
                event.pointer("/response/usage").into_iter().for_each(|usage| self.see(usage, true));
                self.is_over = true;
            }
            (Wire::Responses, Some("response.in_progress")) => {
                event.pointer("/response/usage").into_iter().for_each(|usage| self.see(usage, false));
            }
            (Wire::Anthropic | Wire::Responses, _) => {}
            (Wire::OpenAi, _) => self.chat_piece(&event),
        }
    }

    fn chat_piece(&mut self, event: &Value) {
        let choices = event.get("choices").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        self.is_finished |=
            choices.iter().any(|choice| choice.get("finish_reason").is_some_and(|reason| !reason.is_null()));
        if let Some(usage) = event.get("usage").filter(|usage| !usage.is_null()) {
            self.see(usage, true);
            self.is_over |= self.is_finished && choices.is_empty();
        }
    }

    fn wrote(&mut self, bytes: u64) {
        self.written = self.written.saturating_add(bytes);
        self.is_last &= bytes == 0;
    }

    fn see(&mut self, usage: &Value, may_be_last: bool) {
        let count = |path: &str| usage.pointer(path).and_then(Value::as_u64);
        let (input, output) = match self.wire {
            Wire::Anthropic | Wire::Responses => (count("/input_tokens"), count("/output_tokens")),
            Wire::OpenAi => (count("/prompt_tokens"), count("/completion_tokens")),
        };
        // A missing figure does not mean zero.
        if (input.is_none() && self.seen.is_none()) || output.is_none() {
            return;
        }
        let mut seen = self.seen.unwrap_or_default();
        let (read, write, hour) = match self.wire {
            Wire::Anthropic => (
                "/cache_read_input_tokens",
                "/cache_creation_input_tokens",
                "/cache_creation/ephemeral_1h_input_tokens",
            ),
            Wire::OpenAi => {
                ("/prompt_tokens_details/cached_tokens", "/prompt_tokens_details/cache_write_tokens", "")
            }
            Wire::Responses => {
                ("/input_tokens_details/cached_tokens", "/input_tokens_details/cache_write_tokens", "")
            }
        };
        let hour = if hour.is_empty() { None } else { count(hour) };
        seen.input = seen.input.max(input.unwrap_or(0));
        seen.output = seen.output.max(output.unwrap_or(0));
        seen.cache_read = seen.cache_read.max(count(read).unwrap_or(0));
        seen.cache_write = seen.cache_write.max(count(write).unwrap_or(0));
        seen.cache_write_hour = seen.cache_write_hour.max(hour.unwrap_or(0));
        (self.seen, self.is_last) = (Some(seen), may_be_last);
    }
}

/// Bytes of text the model wrote in an event: of its values, not of its field names.
fn written(event: &Value) -> u64 {
    let choices = event.get("choices").and_then(Value::as_array).into_iter().flatten();
    let pieces = choices.flat_map(|choice| ["delta", "message", "text"].map(|name| choice.get(name)));
    let pieces = pieces.chain(["delta", "content_block"].map(|name| event.get(name)));
    pieces.flatten().map(text).fold(0, u64::saturating_add)
}

fn text(value: &Value) -> u64 {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
        Value::String(text) => text.len() as u64,
        Value::Array(all) => all.iter().map(text).fold(0, u64::saturating_add),
        Value::Object(fields) => fields.values().map(text).fold(0, u64::saturating_add),
    }
}
