//! What went wrong with a call: whose fault it is, and what to do about it; never the token.

use std::fmt;
use std::time::Duration;

use serde_json::Value;

use crate::refusal;

/// Characters kept of what a server says.
const MOST_SAID: usize = 200;

/// Bytes; a shorter token is a placeholder, and hiding it would only hide words.
const SHORTEST_TOKEN: usize = 8;

/// Why there is no reply.
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
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    pub kind: Kind,
    pub message: String,
    /// The cause alone, for people: the status, and what the server said.
    pub cause: String,
    /// What would help.
    pub hint: String,
    /// The HTTP status, where there was one.
    pub status: Option<u16>,
    /// How long the server asks to wait.
    pub retry_after: Option<Duration>,
    /// Tokens of a prompt that the budget still has room for, where the broker says so.
    pub fits_tokens: Option<u64>,
}

impl Error {
    pub(crate) fn new(kind: Kind, message: impl Into<String>, hint: impl Into<String>) -> Self {
        let message = message.into();
        let (cause, hint) = (message.clone(), hint.into());
        Error { kind, cause, message, hint, status: None, retry_after: None, fits_tokens: None }
    }

    pub(crate) fn because(self, cause: &str) -> Self {
        Error { cause: cause.to_owned(), ..self }
    }

    /// An answer other than success.
    pub(crate) fn answered(status: u16, said: Said, upstream: &str) -> Self {
        let (kind, what, usual) = class(status, &said.code, &said.message);
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
        let fits_tokens = said.fits_tokens;
        Error { status: Some(status), cause, fits_tokens, ..Error::new(kind, message, hint) }
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

fn class(status: u16, code: &str, said: &str) -> (Kind, &'static str, &'static str) {
    let no_money = status == 402
        || matches!(code, "insufficient_quota" | "billing_hard_limit_reached")
        || said.contains("credit balance is too low");
    match status {
        _ if code == "budget_cap" => (Kind::Withheld, "the budget has no room for it", "it resets by itself"),
        _ if matches!(code, "stopped_until_owner" | "ledger_closed") => {
            (Kind::Stopped, "calls are stopped until the owner acts", "tell the owner")
        }
        502 if code == "upstream_unreachable" => {
            (Kind::Busy, "the server is not reached", "wait and ask again")
        }
        // Not asked again at once: what broke off was already paid for.
        502 if code == "upstream_broken" => (Kind::Unreachable, "the reply broke off", "wait and ask again"),
        _ if (300..400).contains(&status) || code == "upstream_redirect" => (
            Kind::Settings,
            "redirected elsewhere, which is not followed",
            "set base_url to the final address",
        ),
        401 if code == "token_unknown" => {
            (Kind::UnknownLife, "the broker does not know this life", "the next life has a token of its own")
        }
        _ if no_money => {
            (Kind::OutOfMoney, "no money or quota left", "top up the account, or configure another model")
        }
        401 | 403 => (Kind::Refused, "the key is refused", "check the key and that it may use this model"),
        _ if refusal::is_of_tools(status, said, code)
            && !names(said, code, &TOO_LONG)
            && !names(said, code, &SIGNATURE) =>
        {
            let hint = "another form is tried; [model] tools in owner.toml sets how calls travel";
            (Kind::Form, "its tools are not taken as they are sent", hint)
        }
        404 => (Kind::BadRequest, "no such model or address", "check the model's name and base_url"),
        413 => (Kind::TooLong, "the prompt is too large", "send less context"),
        400 | 422 if names(said, code, &TOO_LONG) => {
            (Kind::TooLong, "the prompt is too long", "send less context")
        }
        400 | 422 if names(said, code, &SIGNATURE) => (
            Kind::Signature,
            "its old thinking is refused",
            "leave old thinking out, or begin a new conversation",
        ),
        408 | 429 | 529 | 500..=599 => (Kind::Busy, "the server is busy or in trouble", "wait and ask again"),
        400..=499 => {
            (Kind::BadRequest, "the request is not accepted", "the message says what the server minds")
        }
        _ => (Kind::Garbled, "a status that makes no sense here", "check that base_url is a model server"),
    }
}

/// Words by which servers say that a prompt does not fit.
const TOO_LONG: [&str; 8] = [
    "context_length_exceeded",
    "request_too_large",
    "prompt is too long",
    "context length",
    "context window",
    "context size",
    "context limit",
    "input is too long",
];

/// Words by which servers refuse thinking that is not theirs, or not of this conversation.
const SIGNATURE: [&str; 6] = [
    "`signature`",
    "`thinking` or `redacted_thinking` blocks",
    "invalid_encrypted_content",
    "encrypted content could not be",
    "of type 'reasoning'",
    "item with id 'rs_",
];

fn names(said: &str, code: &str, words: &[&str]) -> bool {
    let said = format!("{code} {said}").to_lowercase();
    words.iter().any(|word| said.contains(word))
}

/// The status of a failure that was told within a stream: its own, else what its `code` or `type` stands for.
pub(crate) fn status(told: &Value) -> u16 {
    let error = told.get("error").filter(|error| error.is_object()).unwrap_or(told);
    let number = error.get("code").and_then(Value::as_u64).and_then(|code| u16::try_from(code).ok());
    if let Some(number) = number.filter(|number| (400..600).contains(number)) {
        return number;
    }
    let word = |key: &str| error.get(key).and_then(Value::as_str).unwrap_or_default();
    let words = [word("code"), word("type")];
    let is = |wanted: &str| words.iter().any(|word| word.contains(wanted));
    match () {
        () if is("invalid") || is("context_length") || is("bad_request") => 400,
        () if is("authentication") => 401,
        () if is("billing") || is("insufficient_quota") => 402,
        () if is("permission") => 403,
        () if is("not_found") => 404,
        () if is("too_large") => 413,
        () if is("rate_limit") => 429,
        () if is("overloaded") => 529,
        () => 500,
    }
}

/// What an error body says, in a few words and without the token.
#[derive(Default)]
pub(crate) struct Said {
    pub message: String,
    pub code: String,
    pub hint: String,
    pub fits_tokens: Option<u64>,
}

/// Reads an error body: JSON of any wire, or the text of an HTML page.
pub(crate) fn said(body: &[u8], token: &str) -> Said {
    let text = String::from_utf8_lossy(body);
    let Ok(json) = serde_json::from_str::<Value>(&text) else {
        return Said { message: shortened(&without_tags(&hidden(&text, token))), ..Said::default() };
    };
    let error = json.get("error").unwrap_or(&json);
    let word = |key: &str| error.get(key).and_then(Value::as_str);
    let message = error.as_str().or_else(|| word("message"));
    let message = message.or_else(|| word("detail"));
    let message = message.map_or_else(|| json.to_string(), str::to_string);
    // The place in the request, where the words leave it out.
    let message = match word("param") {
        Some(param) if !message.contains(param) => format!("{param}: {message}"),
        _ => message,
    };
    let code = word("code").or_else(|| word("type")).unwrap_or_default();
    let short = |text: &str| shortened(&hidden(text, token));
    Said {
        message: short(&message),
        code: code.to_string(),
        hint: short(word("hint").unwrap_or_default()),
        fits_tokens: error.get("fits_tokens").and_then(Value::as_u64),
    }
}

/// A text without the token.
fn hidden(text: &str, token: &str) -> String {
    if token.len() < SHORTEST_TOKEN {
        return text.to_string();
    }
    text.replace(token, "[token]")
}

/// One line of at most 200 characters.
fn shortened(text: &str) -> String {
    // Bounded first: an error body may be megabytes.
    let start: String = text.chars().take(20 * MOST_SAID).collect();
    let line = start.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut short: String = line.chars().take(MOST_SAID).collect();
    if short.len() < line.len() {
        short.push('…');
    }
    short
}

fn without_tags(text: &str) -> String {
    let mut inside = false;
    let mut plain = String::new();
    for letter in text.chars().take(20 * MOST_SAID) {
        match letter {
            '<' => {
                inside = true;
                plain.push(' ');
            }
            '>' if inside => inside = false,
            _ if inside => {}
            _ => plain.push(letter),
        }
    }
    plain
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}
