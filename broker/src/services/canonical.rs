//! The canonical form of a call's path, query, headers and body: made first, then judged, then sent.
//!
//! Invariant: a part that servers may read in different ways is refused, never guessed at.
//! Pure: nothing here reads, sends or waits.

use crate::approvals::act::is_safe;
use crate::ground::encoding::{FORM, Pairs, decoded, is_json, joined, pairs, segment};
use crate::ground::refusal::Unfit;
use house::bounds::{NAME_CHARS, brief};
use serde_json::Value;

const MOST_PATH: usize = 2_048;
const MOST_QUERY: usize = 8_192;
const MOST_HEADER: usize = 1_024;
/// Largest body of one call, in bytes.
pub const MOST_BODY: usize = 1 << 20;

const METHODS: [&str; 6] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"];

/// Headers of the client that are passed on, besides `if-…` and `…-version`.
const HEADERS: [&str; 6] =
    ["accept", "accept-language", "content-language", "content-type", "idempotency-key", "prefer"];
/// Parameters that would sign a call or turn it into another; compared without `-`, `_` and what follows `[`.
const NOT_A_PARAMETER: &str = "accesstoken refreshtoken idtoken authtoken usertoken token apikey apisecret clientsecret \
    secret password passwd authorization bearer jwt";
/// Field names by which frameworks replace the call's method; `method` only with a sign before it.
const OVERRIDES: [&str; 5] = ["method", "httpmethod", "methodoverride", "xhttpmethod", "xhttpmethodoverride"];
fn unfit<T>(error: impl Into<String>, hint: impl Into<String>) -> Result<T, Unfit> {
    Err(Unfit::new(error, hint))
}

/// The canonical method; `get` becomes `GET`.
pub fn method(given: &str) -> Result<String, Unfit> {
    let method = given.trim().to_ascii_uppercase();
    if METHODS.contains(&method.as_str()) {
        return Ok(method);
    }
    unfit(
        format!("the method {:?} is not known", brief(given, NAME_CHARS)),
        format!("use one of {}", METHODS.join(", ")),
    )
}

/// The canonical path, and the query that followed it.
pub fn path(given: &str) -> Result<(String, Option<&str>), Unfit> {
    let plain = "give a plain path like /2/users/me, its query apart";
    if given.len() > MOST_PATH + MOST_QUERY {
        return unfit("the path is too long", plain);
    }
    if let Some(odd) = given.chars().find(|&letter| !letter.is_ascii_graphic() && letter != ' ') {
        return unfit(
            format!("the path holds {odd:?}"),
            "percent-encode what is not plain ASCII in the query",
        );
    }
    if given.contains(['#', '\\']) {
        return unfit("the path holds a fragment or a backslash", plain);
    }
    let (path, query) = given.split_once('?').map_or((given, None), |(path, query)| (path, Some(query)));
    let Some(rest) = path.strip_prefix('/') else {
        return unfit("the path does not begin with /", "leave out the address: the service has one already");
    };
    let mut canonical = String::with_capacity(path.len());
    let last = rest.split('/').count() - 1;
    for (at, raw) in rest.split('/').enumerate() {
        if raw.is_empty() && at != last {
            return unfit("the path holds //", plain);
        }
        canonical.push('/');
        canonical.push_str(&segment(raw)?);
    }
    if canonical.len() > MOST_PATH {
        return unfit("the path is too long", plain);
    }
    Ok((canonical, query))
}

/// The pairs of a query, given as an object or as text like `a=b&c=d`.
pub fn query(given: &Value, after_path: Option<&str>) -> Result<Pairs, Unfit> {
    let mut pairs = pairs(after_path.unwrap_or_default())?;
    match given {
        Value::Null => {}
        Value::String(text) => pairs.extend(self::pairs(text.trim_start_matches('?'))?),
        Value::Object(fields) => {
            for (name, value) in fields {
                let values = if let Value::Array(values) = value {
                    values.as_slice()
                } else {
                    std::slice::from_ref(value)
                };
                for value in values {
                    match value {
                        Value::Null => {}
                        Value::String(text) => pairs.push((name.clone(), text.clone())),
                        Value::Bool(_) | Value::Number(_) => pairs.push((name.clone(), value.to_string())),
                        Value::Array(_) | Value::Object(_) => {
                            return unfit(
                                format!("the query's {name:?} is nested"),
                                "give text or a list of texts",
                            );
                        }
                    }
                }
            }
        }
        Value::Bool(_) | Value::Number(_) | Value::Array(_) => {
            return unfit("the query is neither an object nor text", "give {\"name\": \"value\"}");
        }
    }
    fit_parameters(&pairs)?;
    if pairs.iter().map(|(name, value)| name.len() + value.len() + 2).sum::<usize>() > MOST_QUERY {
        return unfit("the query is too long", "send less, or in the body");
    }
    Ok(pairs)
}

fn fit_parameters(pairs: &[(String, String)]) -> Result<(), Unfit> {
    for (name, _) in pairs {
        let bare = bare(name);
        if NOT_A_PARAMETER.split(' ').any(|known| known == bare)
            || bare.starts_with("oauth")
            || overrides(name)
        {
            return turned(name);
        }
    }
    Ok(())
}

fn turned(name: &str) -> Result<(), Unfit> {
    let hint = "leave it out: the broker signs calls, and a call's method is what `method` says";
    unfit(format!("the parameter {:?} is not passed on", brief(name, NAME_CHARS)), hint)
}

/// A field's name without signs, in lower case; `a[b]` becomes `a`.
fn bare(name: &str) -> String {
    let bare = name.split('[').next().unwrap_or_default();
    bare.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_ascii_lowercase()
}

fn overrides(name: &str) -> bool {
    let bare = bare(name);
    OVERRIDES.contains(&bare.as_str()) && (bare != "method" || name.trim().starts_with(['_', '$']))
}

/// Refuses JSON with a field, at any depth, that would turn the call into another.
fn fit_fields(json: &Value) -> Result<(), Unfit> {
    match json {
        Value::Object(fields) => fields
            .iter()
            .try_for_each(|(name, value)| if overrides(name) { turned(name) } else { fit_fields(value) }),
        Value::Array(values) => values.iter().try_for_each(fit_fields),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Ok(()),
    }
}

/// Refuses the same in a body whose type has no fields: a server may look for some all the same.
fn fit_text(text: &str) -> Result<(), Unfit> {
    if let Ok(json) = serde_json::from_str(text) {
        fit_fields(&json)?;
    }
    for (name, _) in text.split(['&', ';', '\n']).filter_map(|part| part.split_once('=')) {
        let name = decoded(name).map_or(name.into(), |bytes| String::from_utf8_lossy(&bytes).into_owned());
        if overrides(&name) {
            return turned(&name);
        }
    }
    Ok(())
}

/// The headers that are passed on, sorted, and the names of those that are not.
pub fn headers(given: &Value) -> Result<(Pairs, Vec<String>), Unfit> {
    let fields = match given {
        Value::Null => return Ok((Vec::new(), Vec::new())),
        Value::Object(fields) => fields,
        Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            return unfit("the headers are not an object", "give {\"accept\": \"application/json\"}");
        }
    };
    let (mut passed, mut dropped): (Pairs, Vec<String>) = Default::default();
    for (name, value) in fields {
        let lower = name.trim().to_ascii_lowercase();
        let token = lower.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
        let known = HEADERS.contains(&lower.as_str())
            || lower.starts_with("if-")
            || (lower.ends_with("-version") && !lower.starts_with("sec-"));
        if !token || !known || passed.iter().any(|(name, _)| *name == lower) {
            dropped.push(brief(name, NAME_CHARS));
            continue;
        }
        let Some(value) = value.as_str().map(str::trim).filter(|value| fit_value(value)) else {
            return unfit(
                format!("the header {lower} has no fit value"),
                "give one line of plain ASCII text",
            );
        };
        passed.push((lower, value.to_owned()));
    }
    passed.sort();
    Ok((passed, dropped))
}

fn fit_value(value: &str) -> bool {
    value.len() <= MOST_HEADER && value.chars().all(|letter| letter.is_ascii_graphic() || letter == ' ')
}

/// The canonical body. JSON and forms are serialized anew, so that nothing in them can be read in two ways;
/// `content-type` is made canonical too, and added to `headers` if it is missing.
pub fn body(given: &Value, method: &str, headers: &mut Pairs) -> Result<String, Unfit> {
    let kind = headers.iter().find(|(name, _)| name == "content-type").map(|(_, value)| value.clone());
    headers.retain(|(name, _)| name != "content-type");
    let text = match given {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => given.to_string(),
    };
    if text.is_empty() {
        return Ok(text);
    }
    if is_safe(method) {
        return unfit(format!("a {method} carries no body"), "put it in `query`, or use another method");
    }
    if text.len() > MOST_BODY {
        return unfit(format!("the body is larger than {MOST_BODY} bytes"), "send less at once");
    }
    let json = serde_json::from_str::<Value>(&text).ok();
    let kind = match (kind, &json) {
        (Some(kind), _) => media_type(&kind)?,
        (None, Some(_)) => "application/json".to_owned(),
        (None, None) => "text/plain".to_owned(),
    };
    let (kind, text) = match json {
        Some(json) if is_json(&kind) => {
            fit_fields(&json)?;
            (kind, json.to_string())
        }
        None if is_json(&kind) => return unfit("the body is not JSON, as its type says", "mend the body"),
        _ if kind == FORM => {
            let pairs = pairs(&text)?;
            fit_parameters(&pairs)?;
            (kind, joined(&pairs))
        }
        _ => {
            fit_text(&text)?;
            (format!("{kind}; charset=utf-8"), text)
        }
    };
    headers.push(("content-type".to_owned(), kind));
    headers.sort();
    Ok(text)
}

/// A media type in lower case and without parameters. Servers disagree on parameters, so none is accepted but the
/// charset, which has to be UTF-8.
fn media_type(given: &str) -> Result<String, Unfit> {
    let lower = given.to_ascii_lowercase();
    let mut parts = lower.split(';').map(str::trim);
    let kind = parts.next().unwrap_or_default();
    let token = |text: &str| {
        !text.is_empty()
            && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$&^_.+-".contains(&byte))
    };
    let plain = kind.split_once('/').is_some_and(|(one, two)| token(one) && token(two) && one != "multipart");
    let utf8 = |part: &str| matches!(part, "charset=utf-8" | "charset=\"utf-8\"");
    let fits = parts.next().is_none_or(utf8) && parts.next().is_none();
    if !plain || !fits {
        return unfit(
            format!("the content-type {:?} is not passed on", brief(given, NAME_CHARS)),
            format!(
                "give one media type with no parameter but charset=utf-8, like application/json or {FORM}"
            ),
        );
    }
    Ok(kind.to_owned())
}
