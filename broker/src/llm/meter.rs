//! Reads the usage from an answer as it passes: a JSON body or a stream of events, of any API; pure.
//!
//! Invariant: a usage is final only if the answer came to the end that its API names, and nothing was written after it.

use super::failure::Failure;
use super::figures::Figures;
use super::wire::Wire;
use crate::money::prices::Usage;
use serde_json::Value;

/// Most bytes of an event or a whole JSON body that are kept for reading; a larger one yields no usage.
const LARGEST: usize = 32 << 20;
/// Beginnings of the lines of a stream of events (HTML standard, server-sent events).
const OF_EVENTS: [&[u8]; 5] = [b"data:", b"event:", b"id:", b"retry:", b":"];
/// The mark that may stand before a text.
const MARK: &[u8] = b"\xef\xbb\xbf";

/// Places of a usage: in the answer, in what the event is about (Anthropic, Responses), in Groq's own field
/// (vercel/ai#1651), or under Gemini's name.
const PLACES: [&str; 5] = ["/usage", "/message/usage", "/response/usage", "/x_groq/usage", "/usageMetadata"];
/// Fields of a piece that say which kind it is, and nothing that the model wrote.
const NO_WORDS: [&str; 4] = ["role", "type", "stop_reason", "stop_sequence"];
/// Events whose usage is not the last.
const EARLY: [&str; 3] = ["message_start", "response.created", "response.in_progress"];

#[derive(Default)]
pub struct Meter {
    wire: Wire,
    /// Whether it is a stream by its first bytes, else by its type.
    is_stream: Option<bool>,
    is_called_stream: bool,
    /// Unfinished line of a stream, else the whole body so far.
    text: Vec<u8>,
    /// Data of an unfinished event of a stream.
    data: Vec<u8>,
    is_too_large: bool,
    seen: Option<Figures>,
    /// Bytes of text the model wrote: a token has at least one.
    written: u64,
    /// Whether anything came that a model's server says: an event, or a body.
    is_said: bool,
    failure: Option<Failure>,
    /// Whether the latest usage may be the last: its event can carry the whole count, and no text came after it.
    is_last: bool,
    /// Whether a chat's reply said why it ended, and whether its usage came with that or after.
    is_finished: bool,
    is_counted: bool,
    /// Whether a chat has several replies: what is said of one is not said of all.
    is_several: bool,
    /// Whether the stream came to its API's own end: Anthropic's `message_stop`; of chat completions `[DONE]`, or the
    /// piece without choices that holds the usage of all; of Responses `completed`, `incomplete` or `failed`.
    is_over: bool,
}

impl Meter {
    /// `is_called_stream`: what the answer's type says, for a body that does not say it itself.
    pub fn new(wire: Wire, is_called_stream: bool) -> Self {
        Self { wire, is_called_stream, ..Self::default() }
    }

    /// Reads bytes as they pass.
    pub fn feed(&mut self, bytes: &[u8]) {
        if self.is_too_large {
            return;
        }
        if self.is_stream == Some(true) {
            self.lines(bytes);
        } else {
            self.text.extend_from_slice(bytes);
            self.is_stream = self.is_stream.or_else(|| kind(&self.text));
            if self.is_stream == Some(true) {
                let text = std::mem::take(&mut self.text);
                self.lines(text.strip_prefix(MARK).unwrap_or(&text));
            }
        }
        if self.text.len() + self.data.len() > LARGEST {
            self.written = self.written.saturating_add((self.text.len() + self.data.len()) as u64);
            (self.is_too_large, self.text, self.data) = (true, Vec::new(), Vec::new());
        }
    }

    fn is_stream(&self) -> bool {
        self.is_stream.unwrap_or(self.is_called_stream)
    }

    /// The final usage, if the answer has one. `is_ended`: the body ended regularly, so that its last line is whole;
    /// a body that was cut can end so too.
    pub fn usage(&mut self, is_ended: bool) -> Option<Usage> {
        if self.is_too_large {
            return None;
        }
        if !self.is_stream() {
            let text = self.text.strip_prefix(MARK).unwrap_or(&self.text);
            let body: Value = serde_json::from_slice(text).ok()?;
            (self.written, self.is_said) = (0, true);
            self.read(&body);
        } else if is_ended {
            let line = std::mem::take(&mut self.text);
            self.line(&line);
            self.dispatch();
        }
        let is_final = match self.is_stream() {
            true => (self.is_over || (is_ended && self.is_counted)) && self.is_last,
            false => is_ended,
        };
        let usage = self.seen.filter(|_| is_final)?.usage()?;
        // No prompt has no tokens, nor has a reply with words: gateways that do not count say nought.
        (usage.prompt() > 0 && (usage.output > 0 || self.written == 0)).then_some(usage)
    }

    /// The highest usage in an unfinished stream, and the bytes of text written so far; a line that is not read yet
    /// may be all text.
    pub fn so_far(&self) -> (Option<Usage>, u64) {
        let unread = if self.is_stream() { self.text.len() + self.data.len() } else { 0 };
        (self.seen.and_then(|seen| seen.usage()), self.written.saturating_add(unread as u64))
    }

    /// The error that was told inside the answer.
    pub fn failure(&self) -> Option<&Failure> {
        self.failure.as_ref()
    }

    /// Whether the model wrote anything.
    pub fn has_words(&self) -> bool {
        self.written > 0
    }

    /// Whether it is no model's answer: a web page, as from a gateway or a login, or nothing at all but comments and
    /// `[DONE]`.
    pub fn is_none(&self) -> bool {
        if self.is_too_large || self.is_said {
            return false;
        }
        let text = self.text.strip_prefix(MARK).unwrap_or(&self.text).trim_ascii_start();
        self.is_stream() || text.first().is_none_or(|first| *first == b'<')
    }

    fn lines(&mut self, bytes: &[u8]) {
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.text.extend_from_slice(piece);
            if piece.ends_with(b"\n") {
                let line = std::mem::take(&mut self.text);
                self.line(&line);
            }
        }
    }

    /// Reads a line of a stream: an event by itself, a part of one, or its end.
    fn line(&mut self, line: &[u8]) {
        let line = line.trim_ascii();
        if line.is_empty() {
            return self.dispatch();
        }
        let Some(data) = line.strip_prefix(b"data:").map(<[u8]>::trim_ascii) else { return };
        if data == b"[DONE]" {
            self.dispatch();
            self.is_over |= self.wire == Wire::OpenAi;
        } else if let (true, Ok(event @ Value::Object(_))) =
            (self.data.is_empty(), serde_json::from_slice(data))
        {
            self.event(&event);
        } else {
            self.data.extend_from_slice(data);
            self.data.push(b'\n');
        }
    }

    /// Reads the event whose data came over several lines.
    fn dispatch(&mut self) {
        let data = std::mem::take(&mut self.data);
        if data.is_empty() {
            return;
        }
        match serde_json::from_slice::<Value>(&data) {
            Ok(event) => self.event(&event),
            Err(_) => {
                self.is_said = true;
                self.wrote(data.len() as u64);
            }
        }
    }

    fn event(&mut self, event: &Value) {
        self.is_said = true;
        let kind = event.get("type").and_then(Value::as_str).unwrap_or_default();
        self.read(event);
        self.is_over |= match self.wire {
            Wire::Anthropic => kind == "message_stop",
            Wire::Responses => {
                matches!(kind, "response.completed" | "response.incomplete" | "response.failed")
            }
            Wire::OpenAi => false,
        };
    }

    /// Reads an event, or a whole body.
    fn read(&mut self, told: &Value) {
        self.wrote(written(told));
        let kind = told.get("type").and_then(Value::as_str).unwrap_or_default();
        let choices = told.get("choices").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        self.is_several |= choices.len() > 1
            || choices
                .iter()
                .any(|choice| choice.get("index").is_some_and(|index| index.as_u64() != Some(0)));
        self.is_finished |=
            choices.iter().any(|choice| choice.get("finish_reason").is_some_and(|reason| !reason.is_null()));
        let in_choice = choices.first().and_then(|choice| choice.get("usage")).filter(|_| !self.is_several);
        let usages = PLACES.iter().filter_map(|at| told.pointer(at)).chain(in_choice);
        let usages: Vec<&Value> = usages.filter(|usage| usage.is_object()).collect();
        for usage in usages {
            if self.seen.get_or_insert_default().see(usage) {
                self.is_last = !EARLY.contains(&kind);
                self.is_over |= self.is_finished && choices.is_empty() && self.wire == Wire::OpenAi;
                self.is_counted |= self.is_finished && !self.is_several;
            }
        }
        if self.failure.is_none() {
            self.failure = Failure::of(told);
        }
    }

    fn wrote(&mut self, bytes: u64) {
        self.written = self.written.saturating_add(bytes);
        self.is_last &= bytes == 0;
    }
}

/// Whether a body is a stream of events, by its first bytes; `None` while they may be either.
fn kind(text: &[u8]) -> Option<bool> {
    let text = text.strip_prefix(MARK).unwrap_or(text).trim_ascii_start();
    if text.is_empty() || MARK.starts_with(text) {
        return None;
    }
    if OF_EVENTS.iter().any(|begins| text.starts_with(begins)) {
        return Some(true);
    }
    let may_become = OF_EVENTS.iter().any(|begins| begins.starts_with(text));
    if may_become { None } else { Some(false) }
}

/// Bytes of text the model wrote in an event or a body: of its values, not of its field names, nor of what only says
/// which kind of piece it is.
fn written(told: &Value) -> u64 {
    let choices = told.get("choices").and_then(Value::as_array).into_iter().flatten();
    let pieces = choices.flat_map(|choice| ["delta", "message", "text"].map(|name| choice.get(name)));
    let pieces = pieces.chain(["delta", "content_block", "content", "output"].map(|name| told.get(name)));
    let of_piece = |piece: &Value| {
        let Some(fields) = piece.as_object() else { return text(piece) };
        let words = fields.iter().filter(|(name, _)| !NO_WORDS.contains(&name.as_str()));
        words.map(|(_, value)| text(value)).fold(0, u64::saturating_add)
    };
    pieces.flatten().map(of_piece).fold(0, u64::saturating_add)
}

fn text(value: &Value) -> u64 {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
        Value::String(text) => text.len() as u64,
        Value::Array(all) => all.iter().map(text).fold(0, u64::saturating_add),
        Value::Object(fields) => fields.values().map(text).fold(0, u64::saturating_add),
    }
}
