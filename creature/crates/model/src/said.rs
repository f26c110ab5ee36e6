//! Reads the body of an error: JSON of any maker, or a page; as words for people, and by its codes. Pure.

use std::time::Duration;

use serde_json::{Map, Value};

use crate::{meaning, wait};

/// Characters of it that are shown.
const MOST_SAID: usize = 200;

/// Characters of it that are read; it may be megabytes.
const MOST_READ: usize = 20 * MOST_SAID;

/// Bytes; a shorter token is a placeholder, and hiding it would only hide words.
const SHORTEST_TOKEN: usize = 8;

/// JSON within texts of JSON that is read.
const DEEPEST: usize = 4;

/// Things of a list that are told.
const MOST_TOLD: usize = 3;

/// Keys under which the words of an error stand.
const WORDS: [&str; 8] = ["message", "msg", "detail", "error", "errors", "status_msg", "Message", "title"];

/// Keys of codes.
const CODES: [&str; 6] = ["code", "type", "status", "error_type", "reason", "error_code"];

#[derive(Default)]
pub(crate) struct Said {
    /// Its words, shortened, without the token.
    pub message: String,
    pub code: String,
    pub hint: String,
    pub fits_tokens: Option<u64>,
    /// All codes and words, in lower case.
    pub about: String,
    /// Time to wait.
    pub wait: Option<Duration>,
    /// Tokens of a reply that the account can still pay.
    pub affords: Option<u32>,
    /// The error is of one of the hosts behind a gateway.
    pub is_of_host: bool,
    /// It is no JSON.
    pub is_plain: bool,
}

/// Reads the body of an error.
pub(crate) fn said(body: &[u8], token: &str) -> Said {
    let text = String::from_utf8_lossy(body);
    let Ok(json) = serde_json::from_str::<Value>(&text) else {
        let words = without_tags(&hidden(&text, token));
        let about = words.to_lowercase();
        return Said {
            message: shortened(&words),
            wait: wait::of_words(&about),
            about,
            is_plain: true,
            ..Said::default()
        };
    };
    of_json(&json, token)
}

/// Reads an error that is JSON.
pub(crate) fn of_json(json: &Value, token: &str) -> Said {
    // Google wraps the whole in a list.
    let json = json.as_array().and_then(|list| list.first()).unwrap_or(json);
    let error = error_of(json);
    let raw = error.pointer("/metadata/raw").and_then(|raw| words(raw, 0));
    let told = words(error, 0).or_else(|| words(json, 0)).or_else(|| fields(json));
    let told = [told, raw].into_iter().flatten().collect::<Vec<_>>().join(": ");
    // The place in the request, where the words leave it out.
    let told = match error.get("param").and_then(Value::as_str) {
        Some(param) if !told.contains(param) => format!("{param}: {told}"),
        _ => told,
    };
    let (shown, told) = (hidden(&for_people(&told), token), hidden(&told, token));
    let mut codes = Vec::new();
    for part in [error, json].into_iter().chain(within(error)) {
        codes.extend(CODES.iter().filter_map(|key| part.get(*key)?.as_str()));
        let violations = part.get("violations").and_then(Value::as_array).into_iter().flatten();
        codes.extend(violations.filter_map(|violation| violation.get("quotaId")?.as_str()));
    }
    let about: String = codes.join(" ").chars().chain([' ']).chain(told.chars()).take(MOST_READ).collect();
    let about = about.to_lowercase();
    let word = |key: &str| error.get(key).and_then(Value::as_str);
    let of_json = || Some(json.get("code")?.as_str()?).filter(|_| !error.is_object());
    Said {
        message: shortened(&shown),
        code: word("code").or_else(|| word("type")).or_else(of_json).unwrap_or_default().to_owned(),
        hint: shortened(&hidden(word("hint").unwrap_or_default(), token)),
        fits_tokens: error.get("fits_tokens").and_then(Value::as_u64),
        wait: wait::of_fields(error).or_else(|| wait::of_fields(json)).or_else(|| wait::of_words(&about)),
        affords: affords(&about),
        is_of_host: error.pointer("/metadata/provider_name").is_some_and(Value::is_string),
        about,
        is_plain: false,
    }
}

/// Returns the words for people: without a template's source before them (llama.cpp) or a model's text (Ollama).
fn for_people(told: &str) -> String {
    let said = told.rsplit_once("Jinja Exception: ").map_or(told, |(_, said)| said);
    said.split_once(": raw=").map_or(said, |(said, _)| said).replace(['{', '}'], " ")
}

/// The part of a body that tells of an error.
fn error_of(json: &Value) -> &Value {
    let is_told = |error: &&Value| !matches!(error, Value::Null | Value::Bool(_));
    let first = || json.get("errors").and_then(|errors| errors.as_array()?.first());
    json.get("error").filter(is_told).or_else(first).or(json.get("base_resp")).unwrap_or(json)
}

/// Parts of an error that have codes of their own: Azure's and Google's.
fn within(error: &Value) -> Vec<&Value> {
    let details = error.get("details").and_then(Value::as_array).into_iter().flatten();
    error.get("innererror").into_iter().chain(details).collect()
}

/// The words of a value: its text, or what stands under one of the keys for words; also of JSON within a text.
fn words(value: &Value, depth: usize) -> Option<String> {
    if depth > DEEPEST {
        return None;
    }
    match value {
        Value::String(text) if text.trim_start().starts_with(['{', '[']) => {
            let inner = serde_json::from_str::<Value>(text).ok();
            inner.and_then(|inner| words(&inner, depth + 1)).or_else(|| Some(text.replace(['{', '}'], " ")))
        }
        Value::String(text) => Some(text.trim().to_owned()).filter(|text| !text.is_empty()),
        Value::Array(list) => {
            let told: Vec<String> =
                list.iter().filter_map(|one| words(one, depth + 1)).take(MOST_TOLD).collect();
            Some(told.join("; ")).filter(|told| !told.is_empty())
        }
        Value::Object(object) => {
            let told = WORDS.iter().find_map(|key| words(object.get(*key)?, depth + 1))?;
            Some(place(object).map_or(told.clone(), |place| format!("{place}: {told}")))
        }
        _ => None,
    }
}

/// Names the place in the request where something is wrong, as FastAPI says it.
fn place(error: &Map<String, Value>) -> Option<String> {
    let part = |part: &Value| part.as_str().map_or_else(|| part.to_string(), str::to_owned);
    let parts: Vec<String> = error.get("loc")?.as_array()?.iter().map(part).collect();
    Some(parts.join("."))
}

/// The plain fields of an error without words.
fn fields(json: &Value) -> Option<String> {
    let plain = |(key, value): (&String, &Value)| match value {
        Value::Null | Value::Array(_) | Value::Object(_) => None,
        Value::String(text) => Some(format!("{key}: {text}")),
        other => Some(format!("{key}: {other}")),
    };
    let told: Vec<String> = json.as_object()?.iter().filter_map(plain).take(MOST_TOLD).collect();
    Some(told.join(", "))
}

/// Tokens that can be afforded, as OpenRouter says it.
fn affords(said: &str) -> Option<u32> {
    let before = || {
        let (before, _) = said.split_once(" can be afforded")?;
        before.rsplit(|letter: char| !letter.is_ascii_digit()).next()?.parse().ok()
    };
    let after = || u32::try_from(meaning::number_after(said, "can only afford")?).ok();
    after().or_else(before)
}

/// The status of a failure that was told within a success: its own, else what its codes stand for.
pub(crate) fn status(told: &Value) -> u16 {
    let error = told.get("error").filter(|error| error.is_object()).unwrap_or(told);
    let numbers = ["code", "status"].iter().filter_map(|key| {
        let value = error.get(*key)?;
        value.as_u64().or_else(|| value.as_str()?.parse().ok())
    });
    let number =
        numbers.filter_map(|number| u16::try_from(number).ok()).find(|number| (400..600).contains(number));
    if let Some(number) = number {
        return number;
    }
    if let Some(code) = told.pointer("/base_resp/status_code").and_then(Value::as_u64) {
        // MiniMax, error codes.
        return match code {
            1002 | 1039 | 1041 => 429,
            1004 | 2049 => 401,
            1008 => 402,
            1026 | 1027 | 2013 => 400,
            _ => 500,
        };
    }
    let words = CODES.iter().filter_map(|key| Some(error.get(*key)?.as_str()?.to_lowercase()));
    let words: Vec<String> = words.collect();
    let is = |wanted: &[&str]| words.iter().any(|word| wanted.iter().any(|wanted| word.contains(wanted)));
    match () {
        () if is(&["invalid", "context_length", "context_size", "bad_request", "failed_precondition"]) => 400,
        () if is(&["authenti"]) => 401,
        () if is(&["billing", "insufficient_quota"]) => 402,
        () if is(&["permission"]) => 403,
        () if is(&["not_found"]) => 404,
        () if is(&["too_large"]) => 413,
        () if is(&["rate_limit", "resource_exhausted", "too_many_requests"]) => 429,
        () if is(&["overloaded", "unavailable"]) => 529,
        () => 500,
    }
}

/// A text without the token.
fn hidden(text: &str, token: &str) -> String {
    if token.len() < SHORTEST_TOKEN {
        return text.to_string();
    }
    text.replace(token, "[token]")
}

/// Shortens a text to one line of at most 200 characters.
fn shortened(text: &str) -> String {
    let start: String = text.chars().take(MOST_READ).collect();
    let line = start.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut short: String = line.chars().take(MOST_SAID).collect();
    if short.len() < line.len() {
        short.push('…');
    }
    short
}

/// A page without its scripts and styles, which are no words.
fn without_code(page: &str) -> String {
    let mut words: String = page.chars().take(16 * MOST_READ).collect();
    for (opens, closes) in [("<script", "</script>"), ("<style", "</style>")] {
        while let Some(start) = words.find(opens) {
            let end = words.get(start..).and_then(|code| code.find(closes));
            let end = end.map_or(words.len(), |end| start + end + closes.len());
            words.replace_range(start..end, " ");
        }
    }
    words
}

fn without_tags(text: &str) -> String {
    let (mut inside, mut plain) = (false, String::new());
    for letter in without_code(text).chars().take(MOST_READ) {
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
