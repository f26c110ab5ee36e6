//! One outward act with its exact bytes: what is judged, shown to the owner, and sent.
//!
//! Invariant: the digest covers everything that is sent but the secret. Pure: nothing here reads, sends or waits.

use crate::spelling;
use base64::Engine;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};

/// Fields that say who is written to; without `-` and `_`.
const RECIPIENTS: [&str; 25] = [
    "to",
    "cc",
    "bcc",
    "recipient",
    "recipients",
    "recipientid",
    "recipientids",
    "toaddress",
    "toaddresses",
    "channel",
    "channelid",
    "channels",
    "chatid",
    "room",
    "roomid",
    "conversationid",
    "inreplyto",
    "inreplytoid",
    "inreplytotweetid",
    "replyto",
    "userid",
    "username",
    "email",
    "emails",
    "phone",
];
/// Deeper than this nothing is looked for: such a body counts as opaque.
const MOST_DEPTH: usize = 12;
const MOST_RECIPIENTS: usize = 200;

/// A call to a service, or through Janee.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Call {
    /// The service's name, or the capability's.
    pub service: String,
    pub method: String,
    /// Normalised; what rules judge.
    pub path: String,
    /// All that is asked for: address, path and query; without an address where Janee knows it.
    pub url: String,
    /// Sorted; without the secret.
    pub headers: Vec<(String, String)>,
    pub body: String,
    /// What Janee is told; services are not told why.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
}

/// What may need the owner's approval.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Act {
    Service(Call),
    Janee(Call),
    Purpose { text: String },
}

impl Act {
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Service(_) => "service",
            Self::Janee(_) => "janee",
            Self::Purpose { .. } => "purpose",
        }
    }

    pub fn call(&self) -> Option<&Call> {
        match self {
            Self::Service(call) | Self::Janee(call) => Some(call),
            Self::Purpose { .. } => None,
        }
    }

    /// SHA-256 over the exact bytes, in hex.
    pub fn digest(&self) -> String {
        let bytes = serde_json::to_vec(self).unwrap_or_default();
        hex(&Sha256::digest(bytes))
    }

    /// For the owner's eyes, at most `most` characters.
    pub fn summary(&self, most: usize) -> String {
        let text = match self {
            Self::Service(call) => format!("{} {} {}", call.method, call.url, call.body),
            Self::Janee(call) => format!("{} {} by {}: {}", call.method, call.url, call.service, call.body),
            Self::Purpose { text } => format!("PURPOSE.md becomes: {text}"),
        };
        cut(text.trim(), most)
    }

    /// Whom it reaches: the place itself, and everybody the call names. A decoy beside them changes nothing.
    pub fn recipients(&self) -> Vec<String> {
        let Some(call) = self.call() else { return Vec::new() };
        let place = format!("{}:{}", self.kind(), call.service);
        let mut names = Names::default();
        let query = call.url.split_once('?').map_or("", |(_, query)| query);
        names.in_pairs(&spelling::pairs(query).unwrap_or_default());
        names.in_body(call);
        let mut keys = vec![format!("{place} {} {}", call.method, call.path)];
        if names.opaque || names.found.len() > MOST_RECIPIENTS {
            // Nobody can tell who is in there: known only if the very same bytes are.
            keys.push(format!("{place} #{}", hex(&Sha256::digest(call.body.as_bytes()))));
        }
        names.found.truncate(MOST_RECIPIENTS);
        keys.extend(names.found.into_iter().map(|name| format!("{place} {name}")));
        keys.sort();
        keys.dedup();
        keys
    }
}

#[derive(Default)]
struct Names {
    found: Vec<String>,
    opaque: bool,
}

impl Names {
    fn in_body(&mut self, call: &Call) {
        let kind = call.headers.iter().find(|(name, _)| name == "content-type").map_or("", |(_, kind)| kind);
        let json = serde_json::from_str::<Value>(&call.body).ok().filter(|_| spelling::is_json(kind));
        if call.body.is_empty() {
        } else if let Some(json) = json {
            // It was written anew: every reader finds the same in it. Of what only looks like JSON nobody knows that.
            self.in_json(&json, false, 0);
        } else if kind == spelling::FORM {
            self.in_pairs(&spelling::pairs(&call.body).unwrap_or_default());
        } else {
            self.opaque = true;
        }
    }

    fn in_pairs(&mut self, pairs: &[(String, String)]) {
        for (_, value) in pairs.iter().filter(|(name, _)| is_recipient(name)) {
            self.name(value);
        }
    }

    fn in_json(&mut self, value: &Value, named: bool, depth: usize) {
        if depth > MOST_DEPTH {
            self.opaque = true;
            return;
        }
        match value {
            Value::Object(fields) => {
                for (name, value) in fields {
                    if let (Value::String(raw), "raw") = (value, name.as_str()) {
                        self.in_mail(raw);
                    } else {
                        self.in_json(value, named || is_recipient(name), depth + 1);
                    }
                }
            }
            Value::Array(values) => values.iter().for_each(|value| self.in_json(value, named, depth + 1)),
            Value::String(text) if named => self.name(text),
            Value::Number(number) if named => self.name(&number.to_string()),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }

    /// A whole mail in base64, as mail APIs take it: its head says who gets it.
    fn in_mail(&mut self, raw: &str) {
        let bare: String =
            raw.trim_end_matches('=').chars().filter(|letter| !letter.is_whitespace()).collect();
        let bare = bare.replace('+', "-").replace('/', "_");
        let mail = base64::engine::general_purpose::URL_SAFE_NO_PAD.decode(bare).ok();
        let Some(mail) = mail.and_then(|bytes| String::from_utf8(bytes).ok()) else {
            self.opaque = true;
            return;
        };
        let head = mail.replace("\r\n", "\n");
        let head = head.split("\n\n").next().unwrap_or_default().replace("\n ", " ").replace("\n\t", " ");
        let before = self.found.len();
        for (name, value) in head.lines().filter_map(|line| line.split_once(':')) {
            if is_recipient(name.trim()) {
                value.split(',').for_each(|one| self.name(one));
            }
        }
        self.opaque |= self.found.len() == before;
    }

    fn name(&mut self, value: &str) {
        let value = value.trim().to_lowercase();
        // A person may be named with words around the address.
        let bare = value.rsplit_once('<').and_then(|(_, rest)| rest.strip_suffix('>')).unwrap_or(&value);
        self.found.push(bare.chars().take(320).collect());
    }
}

fn is_recipient(name: &str) -> bool {
    let bare: String =
        name.split('[').next().unwrap_or_default().chars().filter(char::is_ascii_alphanumeric).collect();
    RECIPIENTS.contains(&bare.to_ascii_lowercase().as_str())
}

pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// At most `most` characters of a text.
pub fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((at, _)) => format!("{}…", text.get(..at).unwrap_or_default()),
        None => text.to_owned(),
    }
}
