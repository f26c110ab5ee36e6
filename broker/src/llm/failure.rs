//! An error that a server tells inside an answer of status 200: what it says, and the status it stands for; pure.

use serde_json::{Value, json};

/// Statuses of MiniMax's error codes, by its documentation; a code that is not here stands for 500.
const OF_MINIMAX: [(u64, u16); 8] =
    [(1002, 429), (1004, 401), (1008, 402), (1026, 400), (1027, 400), (1039, 429), (2013, 400), (2049, 401)];
/// Statuses by words that codes and types contain; the first that fits. By the API references of Anthropic, OpenAI and
/// Google, and what gateways make of them.
const BY_WORD: [(u16, &[&str]); 8] = [
    (400, &["invalid", "context_length", "bad_request"]),
    (401, &["authentication", "unauthenticated"]),
    (402, &["billing", "insufficient_quota", "insufficient_balance"]),
    (403, &["permission"]),
    (404, &["not_found"]),
    (413, &["too_large"]),
    (429, &["rate_limit", "too_many", "throttl", "resource_exhausted"]),
    (529, &["overloaded"]),
];
const UNKNOWN: u16 = 500;

#[derive(Clone, Debug, PartialEq)]
pub struct Failure {
    pub status: u16,
    /// The error as the body of an answer of that status.
    pub body: Vec<u8>,
}

impl Failure {
    /// The failure that an event or a whole body tells of.
    pub fn of(told: &Value) -> Option<Self> {
        let base = told.get("base_resp");
        let code = base.and_then(|base| base.get("status_code")?.as_u64()).filter(|code| *code != 0);
        if let (Some(base), Some(code)) = (base, code) {
            let status = OF_MINIMAX.iter().find(|(known, _)| *known == code);
            let said = base.get("status_msg").cloned().unwrap_or_default();
            return Some(Self::new(status.map_or(UNKNOWN, |(_, status)| *status), &json!({"message": said})));
        }
        let error = error(told)?;
        Some(Self::new(status(error), error))
    }

    fn new(status: u16, error: &Value) -> Self {
        Self { status, body: json!({"error": error}).to_string().into_bytes() }
    }
}

/// Finds the error in a message of any wire.
fn error(told: &Value) -> Option<&Value> {
    let is_said = |error: &&Value| match error {
        Value::Object(fields) => !fields.is_empty(),
        Value::String(text) => !text.is_empty(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => false,
    };
    let word = |name: &str| told.get(name).and_then(Value::as_str);
    let inner = ["/error", "/response/error", "/choices/0/error"].iter().filter_map(|at| told.pointer(at));
    let failed = || told.get("response").filter(|_| word("type") == Some("response.failed"));
    let itself = || Some(told).filter(|_| word("type") == Some("error") || word("object") == Some("error"));
    inner.into_iter().find(is_said).or_else(itself).or_else(failed)
}

/// The status an error names, else what its code or type stands for.
fn status(error: &Value) -> u16 {
    let code = ["code", "status", "status_code"].iter().filter_map(|name| error.get(name));
    let number = |code: &Value| code.as_u64().or_else(|| code.as_str()?.parse().ok());
    let named = code.filter_map(number).find_map(|code| u16::try_from(code).ok().filter(is_error));
    named.unwrap_or_else(|| {
        let words = ["code", "type", "status"].iter().filter_map(|name| error.get(name)?.as_str());
        let words = words.collect::<Vec<_>>().join(" ").to_lowercase();
        let fits = |(_, known): &&(u16, &[&str])| known.iter().any(|word| words.contains(word));
        BY_WORD.iter().find(fits).map_or(UNKNOWN, |(status, _)| *status)
    })
}

fn is_error(status: &u16) -> bool {
    (400..600).contains(status)
}
