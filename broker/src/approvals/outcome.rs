//! The outcome of an act, and the envelope its client gets; pure.

use crate::ground::refusal::Unfit;
use crate::ledger::Entry;
use house::bounds::brief;
use serde_json::{Map, Value, json};

/// The service's answer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answer {
    pub status: u16,
    pub content_type: String,
    pub body: String,
    pub truncated: bool,
    /// Headers that say when to try again and how many calls are left.
    pub headers: Map<String, Value>,
    /// `{"mime_type", "data"}` in base64, of a tool of an MCP server.
    pub pictures: Vec<Value>,
}

/// The outcome of a call.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    Answered(Answer),
    /// The answer was a redirect, which was not followed.
    Redirected(u16, Unfit),
    /// Nothing was sent.
    NotSent(Unfit),
    /// It was sent, and nobody knows whether it happened.
    Unsure(Unfit),
}

impl Outcome {
    pub fn status(&self) -> Option<u16> {
        match self {
            Self::Answered(answer) => Some(answer.status),
            Self::Redirected(status, _) => Some(*status),
            Self::NotSent(_) | Self::Unsure(_) => None,
        }
    }

    pub fn is_success(&self) -> bool {
        self.status().is_some_and(|status| status < 300)
    }

    /// The entry of a call's end, made from that of its beginning.
    pub fn entry(&self, line: Entry) -> Entry {
        let (bytes_in, decision, note) = match self {
            Self::Answered(answer) => (answer.body.len() as u64, "answered", ""),
            Self::Redirected(..) => (0, "redirect not followed", ""),
            Self::NotSent(unfit) => (0, "not sent", unfit.error.as_str()),
            Self::Unsure(unfit) => (0, "unsure", unfit.error.as_str()),
        };
        Entry {
            bytes_in,
            status: self.status(),
            decision: decision.to_owned(),
            note: brief(note, 200),
            ..line
        }
    }

    /// The envelope for the client.
    pub fn envelope(&self) -> Value {
        match self {
            Self::Answered(answer) => {
                let envelope = json!({
                    "ok": true,
                    "status": answer.status,
                    "content_type": answer.content_type,
                    "headers": answer.headers,
                    "body": answer.body,
                    "truncated": answer.truncated,
                });
                match answer.pictures.as_slice() {
                    [] => envelope,
                    pictures => with(envelope, "pictures", pictures),
                }
            }
            Self::Redirected(status, unfit) => with(unfit.envelope(), "status", *status),
            Self::NotSent(unfit) => unfit.envelope(),
            Self::Unsure(unfit) => with(unfit.envelope(), "unsure", true),
        }
    }
}

pub fn not_sent(error: impl Into<String>, hint: impl Into<String>) -> Outcome {
    Outcome::NotSent(Unfit::new(error, hint))
}

/// The outcome of an act that was carried out in this house.
pub fn done(body: &str) -> Outcome {
    Outcome::Answered(Answer { status: 200, body: body.to_owned(), ..Answer::default() })
}

/// The object with one more field.
pub fn with(mut object: Value, name: &str, value: impl Into<Value>) -> Value {
    if let Some(fields) = object.as_object_mut() {
        fields.insert(name.to_owned(), value.into());
    }
    object
}
