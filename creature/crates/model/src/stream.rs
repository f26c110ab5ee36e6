//! A reply as it comes: events or one JSON text, gathered to what its wire would have sent whole.
//!
//! Invariant: what has not come to its end is no reply.

use serde_json::Value;

use crate::arguments::Ids;
use crate::form::{Form, Part};
use crate::{Call, Endpoint, Heard, Talk, Usage, sse, surrogates};

/// Function that is told each piece of a reply as it is heard.
pub(crate) type Hear<'h> = dyn FnMut(Heard<'_>) + Send + 'h;

/// Wire as it is spoken.
pub(crate) trait Speech: Sync {
    fn path(&self) -> &'static str;
    fn body(&self, endpoint: &Endpoint, talk: &Talk<'_>, form: Form) -> Value;
    /// The part by which a request asks for its reply in JSON, where it does.
    fn asks_for_json(&self, talk: &Talk<'_>, form: Form) -> Option<Part> {
        form.schema(talk).map(|_| Part::Schema)
    }
    /// The ids of the calls of a thought.
    fn ids(&self, raw: &Value) -> Vec<String>;
    fn gather(&self) -> Box<dyn Gather>;
    /// Reads a whole reply; none when `whole` is not one.
    fn read(&self, whole: &Value, ids: &mut Ids) -> Option<Draft>;
}

/// A reply before it is checked.
#[derive(Default)]
pub(crate) struct Draft {
    pub raw: Value,
    pub text: String,
    pub thinking: String,
    pub calls: Vec<Call>,
    pub usage: Usage,
    pub stop: String,
}

/// State of a reply: how far it has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Open,
    /// All that must come has come; a little more may follow.
    Enough,
    Over,
}

/// Puts a wire's events together.
pub(crate) trait Gather: Send {
    fn event(&mut self, kind: &str, data: Value, hear: &mut Hear<'_>) -> End;
    /// The reply as it would have come whole.
    fn whole(self: Box<Self>) -> Value;
}

/// Reason that a body is no reply.
pub(crate) enum Fault {
    /// The server told of a failure within the stream.
    Said(Value),
    /// The body or an event in it is no JSON.
    Garbled(String),
    /// The body has nothing in it.
    Empty,
    /// The stream ended too early.
    Cut,
}

/// A reply's body while it comes.
pub(crate) struct Body {
    reader: sse::Reader,
    gather: Box<dyn Gather>,
    /// All bytes so far, where the body is no stream.
    plain: Option<Vec<u8>>,
    begun: bool,
    pub end: End,
}

impl Body {
    pub(crate) fn new(gather: Box<dyn Gather>) -> Body {
        Body { reader: sse::Reader::default(), gather, plain: None, begun: false, end: End::Open }
    }

    pub(crate) fn streams(&self) -> bool {
        self.plain.is_none()
    }

    pub(crate) fn push(&mut self, piece: &[u8], hear: &mut Hear<'_>) -> Result<(), Fault> {
        let piece = if self.begun { piece } else { piece.trim_ascii_start() };
        if let (Some(first), false) = (piece.first(), self.begun) {
            self.begun = true;
            // The first byte decides: servers answer whole though asked to stream, and the reverse.
            let streams = matches!(first, b':' | b'e' | b'd' | b'i' | b'r' | 0xef);
            self.plain = (!streams).then(Vec::new);
        }
        if let Some(plain) = &mut self.plain {
            plain.extend_from_slice(piece);
            return Ok(());
        }
        for frame in self.reader.push(piece) {
            if self.end == End::Over {
                break;
            }
            match frame.data.trim() {
                "" => {}
                "[DONE]" => self.end = End::Over,
                data => self.event(&frame.name, data, hear)?,
            }
        }
        Ok(())
    }

    fn event(&mut self, name: &str, data: &str, hear: &mut Hear<'_>) -> Result<(), Fault> {
        let data = surrogates::json(data)
            .map_err(|error| Fault::Garbled(format!("an event is not JSON: {error}")))?;
        let kind = data.get("type").and_then(Value::as_str).unwrap_or(name).to_owned();
        if let Some(failure) = failure(&kind, &data) {
            return Err(Fault::Said(failure.clone()));
        }
        let end = self.gather.event(&kind, data, hear);
        self.end = if end == End::Open { self.end } else { end };
        Ok(())
    }

    /// The whole reply, and its bytes where it was no stream.
    pub(crate) fn whole(self) -> Result<(Value, Vec<u8>), Fault> {
        match self.plain {
            None if self.end == End::Open && self.begun => Err(Fault::Cut),
            None if self.begun => Ok((self.gather.whole(), Vec::new())),
            plain => {
                let bytes = plain.unwrap_or_default();
                let text = String::from_utf8_lossy(&bytes);
                if text.trim().is_empty() {
                    return Err(Fault::Empty);
                }
                let json = surrogates::json(&text)
                    .map_err(|error| Fault::Garbled(format!("not JSON ({error}): {text}")))?;
                Ok((json, bytes))
            }
        }
    }
}

/// The failure that an event, or a whole body, tells of: in the reply itself, in its one choice, or beside it.
pub(crate) fn failure<'v>(kind: &str, told: &'v Value) -> Option<&'v Value> {
    let is_told = |part: &Value| {
        let error = part.get("error");
        error.is_some_and(|error| !matches!(error, Value::Null | Value::Bool(false)) && error != "")
    };
    let response = told.get("response").filter(|_| kind == "response.failed");
    let choice = told.pointer("/choices/0").filter(|choice| is_told(choice));
    // MiniMax, whose replies have it with 0.
    let code = told.pointer("/base_resp/status_code").and_then(Value::as_u64);
    let own =
        Some(told).filter(|told| is_told(told) || kind == "error" || code.is_some_and(|code| code != 0));
    response.or(choice).or(own)
}

/// Adds a delta to what is there: text is appended, lists are joined, anything else is replaced.
pub(crate) fn merge(there: &mut Value, more: Value) {
    match (there, more) {
        (_, Value::Null) => {}
        (Value::String(there), Value::String(more)) => there.push_str(&more),
        (Value::Array(there), Value::Array(more)) => there.extend(more),
        (there, more) => *there = more,
    }
}

/// The number at a JSON pointer of a usage; 0 where there is none.
pub(crate) fn count(usage: Option<&Value>, path: &str) -> u64 {
    usage.and_then(|usage| usage.pointer(path)?.as_u64()).unwrap_or(0)
}

/// The text under a key of an object; empty where there is none.
pub(crate) fn word<'v>(value: &'v Value, key: &str) -> &'v str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// Puts a value under a key; what is no object becomes one.
pub(crate) fn set(value: &mut Value, key: &str, new: Value) {
    match value {
        Value::Object(fields) => drop(fields.insert(key.to_owned(), new)),
        other => *other = Value::Object(serde_json::Map::from_iter([(key.to_owned(), new)])),
    }
}
