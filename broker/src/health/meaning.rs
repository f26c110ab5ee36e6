//! Meaning of an error of a model's server: whom it is about, and what follows; pure.

use crate::ledger::sums::Stopped;
use serde_json::Value;

/// Most characters kept of an upstream's message.
const MOST_SAID: usize = 200;
/// Most bytes of it that are read.
const MOST_READ: usize = 16 << 10;
/// Statuses of a request that was not accepted: they say nothing about the model.
const NOT_ACCEPTED: [u16; 3] = [400, 413, 422];
/// The smallest limit of a reply that is worth asking for, in tokens; a balance below it is no balance.
const LEAST_REPLY: u64 = 256;
/// Words by which a 403 speaks of what was asked, not of who asked (OpenRouter's documentation, errors).
const OF_MODERATION: [&str; 5] = ["moderation", "flagged", "content policy", "content_policy", "safety"];
/// Fields with which OpenRouter says why, in `error.metadata`.
const MODERATED: [&str; 2] = ["reasons", "flagged_input"];

/// Words of a server whose model's template refuses this conversation, or that cannot read what its model wrote: of
/// llama.cpp (mistral-vibe issue 1006, pull request 23516) and of Ollama (issue 17638). Another request may pass.
const OF_REQUEST: [&str; 4] = [
    "jinja exception",
    "failed to parse tool call",
    "error parsing tool call",
    "does not match the expected peg",
];

/// Codes and types that say so with another status than 402: OpenAI's, Moonshot's, Z.ai's and gateways' references.
const OF_NO_MONEY: [&str; 6] = [
    "insufficient_credits",
    "insufficient_quota",
    "billing_hard_limit_reached",
    "exceeded_current_quota_error",
    "insufficient_balance",
    "1113",
];
const NO_MONEY: &str = "no money or quota is left: top up the account; the owner's next word tries again";
const NO_MONEY_402: &str =
    "no money or quota is left (402): top up the account; the owner's next word tries again";
const KEY: &str = "the key is refused (401): put a right one into .env; that is taken up at once";
const RIGHTS: &str =
    "the key may not do this (403): check its rights and the model; the owner's next word tries again";

/// Whom an error is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meaning {
    /// This request alone: it says nothing about the model.
    Request,
    /// This request, and it would pass with a reply of so many tokens.
    Affordable(u64),
    /// The model, or one of the hosts a router asked, or somebody on the way: it passes by itself.
    Passing,
    /// The key or the account: the owner acts, as the hint says.
    Account(&'static str),
}

impl Meaning {
    pub fn of(is_anthropic: bool, status: u16, body: &[u8]) -> Self {
        let json: Option<Value> = serde_json::from_slice(body).ok();
        let is_page = body.trim_ascii_start().starts_with(b"<");
        // A portal, a proxy or a firewall answers so, not the provider.
        if is_page || (status == 403 && json.is_none()) {
            return if NOT_ACCEPTED.contains(&status) { Self::Request } else { Self::Passing };
        }
        let json = json.unwrap_or_default();
        // Google wraps its error into a list.
        let json = json.get(0).unwrap_or(&json);
        let word = |path: &str| json.pointer(path).and_then(Value::as_str).unwrap_or_default();
        let message = said(body).to_lowercase();
        // The words that count may stand behind much of a template.
        let whole = String::from_utf8_lossy(body.get(..MOST_READ).unwrap_or(body)).to_lowercase();
        let says_so = |path: &&str| OF_NO_MONEY.contains(&word(path));
        let has_no_money = ["/error/code", "/error/type", "/code"].iter().any(says_so)
            || (is_anthropic && message.contains("credit balance is too low"));
        let is_of_host = !word("/error/metadata/provider_name").is_empty();
        let is_moderated =
            MODERATED.iter().any(|name| json.pointer(&format!("/error/metadata/{name}")).is_some())
                || OF_MODERATION.iter().any(|word| message.contains(word));
        match status {
            402 if affordable(&message).is_some() => {
                affordable(&message).map_or(Self::Passing, Self::Affordable)
            }
            403 if is_moderated => Self::Request,
            401..=403 if is_of_host => Self::Passing,
            402 => Self::Account(NO_MONEY_402),
            _ if has_no_money => Self::Account(NO_MONEY),
            // After money: Anthropic says with 400 that there is none.
            _ if NOT_ACCEPTED.contains(&status) => Self::Request,
            500 if OF_REQUEST.iter().any(|word| whole.contains(word)) => Self::Request,
            401 => Self::Account(KEY),
            403 => Self::Account(RIGHTS),
            _ => Self::Passing,
        }
    }
}

impl Meaning {
    /// Returns the owner's next step: for an account, or a balance that does not allow a request twice.
    pub fn hint(self) -> Option<&'static str> {
        match self {
            Self::Account(hint) => Some(hint),
            Self::Affordable(_) => Some(NO_MONEY_402),
            Self::Request | Self::Passing => None,
        }
    }
}

/// The stop of a provider whose account the owner has to look after.
pub fn stop(provider: &str, status: u16, hint: &str) -> Stopped {
    Stopped { provider: provider.to_owned(), status, hint: hint.to_owned(), ..Stopped::default() }
}

/// Reads how many tokens the balance allows a reply: the smallest number in a message that speaks of it (OpenRouter).
fn affordable(message: &str) -> Option<u64> {
    if !message.contains("afford") {
        return None;
    }
    let numbers = message.split(|c: char| !c.is_ascii_digit()).filter_map(|number| number.parse().ok());
    numbers.min().filter(|tokens| *tokens >= LEAST_REPLY)
}

/// As in `503 Service Unavailable: overloaded`, with the upstream's message if there is one.
pub fn named(status: u16, body: &[u8]) -> String {
    let reason = http::StatusCode::from_u16(status).ok().and_then(|status| status.canonical_reason());
    let said = said(body.get(..MOST_READ).unwrap_or(body));
    let head = format!("{status} {}", reason.unwrap_or_default()).trim_end().to_owned();
    if said.is_empty() { head } else { format!("{head}: {said}") }
}

/// The message in an error's body: JSON of any API, or a web page.
fn said(body: &[u8]) -> String {
    let text = String::from_utf8_lossy(body);
    let text = match serde_json::from_str::<Value>(&text) {
        Ok(json) => {
            let json = json.get(0).unwrap_or(&json);
            let error = json.get("error").unwrap_or(json);
            let word = |key: &str| error.get(key).and_then(Value::as_str);
            let said = error.as_str().or(word("message")).or(word("detail"));
            said.unwrap_or_default().to_owned()
        }
        Err(_) => text
            .split('<')
            .map(|part| part.rsplit('>').next().unwrap_or_default())
            .collect::<Vec<_>>()
            .join(" "),
    };
    let words = text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty());
    let line = words.collect::<Vec<_>>().join(" ");
    line.chars().take(MOST_SAID).collect()
}
