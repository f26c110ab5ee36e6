//! Error of a call: whose fault it is, and what to do about it; it never holds the token.

use std::time::Duration;

use crate::said::Said;
use crate::{meaning, refusal};

/// The shortest reply that is worth asking for, in tokens.
const LEAST_TOKENS: u64 = 256;

/// Kind of failure: why there is no reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The key is missing or wrong.
    Refused,
    /// The broker does not know the token: it is of another life.
    UnknownLife,
    /// The account has no money or quota left.
    OutOfMoney,
    /// The broker's budget has no room for the call.
    Withheld,
    /// The broker holds all calls back until the owner acts.
    Stopped,
    /// Too many requests, or the server is in trouble; still so after the retries.
    Busy,
    /// No connection, or one that broke.
    Unreachable,
    /// No whole reply in time.
    Deadline,
    /// A firewall or a proxy before the server refused; that may pass.
    Blocked,
    /// The maker does not serve where this house is.
    Region,
    /// A filter of the maker's refused what this request holds.
    Filtered,
    /// The request is wrong; asking again will not help.
    BadRequest,
    /// Tools, or the form they are sent in, are not taken; another form may be.
    Form,
    /// Old thinking is refused: its signature or its encryption holds for another conversation.
    Signature,
    /// More than the model's window or the server's limit holds.
    TooLong,
    /// The server said success, but what it sent is not a reply.
    Garbled,
    /// The endpoint as configured cannot work.
    Settings,
}

/// A call that failed; displays as the end of "failed to …".
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    pub kind: Kind,
    pub message: String,
    /// The cause alone, for people: the status, and what the server said.
    pub cause: String,
    /// Advice on what would help.
    pub hint: String,
    /// The HTTP status, where there was one.
    pub status: Option<u16>,
    /// Time that the server asks to wait.
    pub retry_after: Option<Duration>,
    /// Tokens of a prompt that the budget still has room for, where the broker says so.
    pub fits_tokens: Option<u64>,
    /// Tokens of a reply that the account at the provider can still pay.
    pub affords: Option<u32>,
    /// Whether it was a success with nothing in it.
    pub is_empty: bool,
}

impl Error {
    pub(crate) fn new(kind: Kind, message: impl Into<String>, hint: impl Into<String>) -> Self {
        let message = message.into();
        let (cause, hint) = (message.clone(), hint.into());
        Error {
            kind,
            cause,
            message,
            hint,
            status: None,
            retry_after: None,
            fits_tokens: None,
            affords: None,
            is_empty: false,
        }
    }

    pub(crate) fn because(self, cause: &str) -> Self {
        Error { cause: cause.to_owned(), ..self }
    }

    /// An answer other than success.
    pub(crate) fn answered(status: u16, said: Said, upstream: &str) -> Self {
        let (kind, what, usual) = class(status, &said);
        let asked = match upstream {
            "" => "ask the broker".to_owned(),
            upstream => format!("ask the model at {upstream}"),
        };
        let message = match said.message.as_str() {
            "" => format!("{asked}: {what} ({status})"),
            said => format!("{asked}: {what} ({status}): {said}"),
        };
        let hint = if said.hint.is_empty() { usual } else { &said.hint };
        let cause = match (status, said.message.as_str()) {
            // The broker's own word: no model's server has answered.
            (_, what) if is_ours(&said.code) && !what.is_empty() => what.to_owned(),
            (_, what) if upstream.is_empty() => named(status, what),
            (_, what) => format!("{upstream}: {}", named(status, what)),
        };
        let (retry_after, fits_tokens, affords) = (said.wait, said.fits_tokens, said.affords);
        Error {
            status: Some(status),
            cause,
            retry_after,
            fits_tokens,
            affords,
            ..Error::new(kind, message, hint)
        }
    }

    /// Tokens of a shorter reply that the account can still pay, where that is worth asking for.
    pub(crate) fn affordable(&self, most_tokens: u64) -> Option<u64> {
        self.affords.map(u64::from).filter(|affords| (LEAST_TOKENS..most_tokens).contains(affords))
    }

    /// Whether the same request may succeed a little later.
    pub(crate) fn is_passing(&self) -> bool {
        self.kind == Kind::Busy || (self.kind == Kind::Unreachable && self.status.is_none())
    }
}

/// Whether this code is the broker's own, not a model server's.
fn is_ours(code: &str) -> bool {
    code.starts_with("upstream_") || matches!(code, "budget_cap" | "stopped_until_owner" | "ledger_closed")
}

/// `503 Service Unavailable: overloaded`.
fn named(status: u16, said: &str) -> String {
    let reason = reqwest::StatusCode::from_u16(status).ok().and_then(|status| status.canonical_reason());
    let parts = [format!("{status} {}", reason.unwrap_or_default()), said.to_owned()];
    let parts = parts.iter().map(|part| part.trim()).filter(|part| !part.is_empty());
    parts.collect::<Vec<_>>().join(": ")
}

/// Returns whose fault it is, what happened, and what helps where the server does not say.
fn class(status: u16, said: &Said) -> (Kind, &'static str, &'static str) {
    match (status, said.code.as_str()) {
        (_, "budget_cap") => (Kind::Withheld, "the budget has no room for it", "it resets by itself"),
        (_, "stopped_until_owner" | "ledger_closed") => {
            (Kind::Stopped, "calls are stopped until the owner acts", "tell the owner")
        }
        (_, "model_not_allowed") => {
            (Kind::Settings, "its owner does not allow this model", "[model] others in owner.toml allows it")
        }
        (502, "upstream_unreachable") => (Kind::Busy, "the server is not reached", "wait and ask again"),
        // Not asked again at once: what broke off was already paid for.
        (502, "upstream_broken") => (Kind::Unreachable, "the reply broke off", "wait and ask again"),
        (300..=399, _) | (_, "upstream_redirect") => (
            Kind::Settings,
            "redirected elsewhere, which is not followed",
            "set base_url to the final address",
        ),
        (401, "token_unknown") => {
            (Kind::UnknownLife, "the broker does not know this life", "the next life has a token of its own")
        }
        _ => match meaning::of(status, said) {
            Some(kind) => by_kind(kind),
            None if refusal::is_of_template(status, &said.about) => {
                let hint = "another form is tried; [model] tools in owner.toml sets how calls travel";
                (Kind::Form, "its template does not take the conversation as it is sent", hint)
            }
            None if refusal::is_of_tools(status, &said.about, "") => {
                let hint = "another form is tried; [model] tools in owner.toml sets how calls travel";
                (Kind::Form, "its tools are not taken as they are sent", hint)
            }
            None => by_status(status),
        },
    }
}

fn by_kind(kind: Kind) -> (Kind, &'static str, &'static str) {
    let (what, helps) = match kind {
        Kind::TooLong => ("the prompt is too long", "send less context"),
        Kind::OutOfMoney => ("no money or quota left", "top up the account, or configure another model"),
        Kind::Filtered => ("its filter refuses what the conversation holds", "begin a new conversation"),
        Kind::Region => (
            "it does not serve where this house is",
            "configure a maker that does, or a base_url that is reached from there",
        ),
        Kind::Refused => ("the key is refused", "check the key and that it may use this model"),
        Kind::Blocked => (
            "something before the server refuses the call",
            "a firewall or a proxy answered: wait, and look at the way to the server",
        ),
        Kind::Signature => {
            ("its old thinking is refused", "leave old thinking out, or begin a new conversation")
        }
        Kind::Garbled => (
            "what the model wrote cannot be read by its server",
            "it is asked again; another model may do better",
        ),
        _ => ("the server is busy or in trouble", "wait and ask again"),
    };
    (kind, what, helps)
}

fn by_status(status: u16) -> (Kind, &'static str, &'static str) {
    match status {
        404 => (Kind::BadRequest, "no such model or address", "check the model's name and base_url"),
        429 => (Kind::Busy, "too many requests, or a quota is used up", "wait and ask again"),
        408 | 500..=599 => by_kind(Kind::Busy),
        400..=499 => {
            (Kind::BadRequest, "the request is not accepted", "the message says what the server minds")
        }
        _ => (Kind::Garbled, "a status that makes no sense here", "check that base_url is a model server"),
    }
}
