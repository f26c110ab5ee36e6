//! An act that asks for a yes, as the owner reads it: act, service, recipient, and its body by fields. Pure.
//!
//! Invariant: nothing of the act is left out, and a body is told by its fields only where these are all of it.

use super::{Field, NAME_CHARS, fields};
use house::bounds::brief;
use house::records::{text, view::field};
use serde_json::Value;

/// Fields of a body that say to whom it goes.
const WHOM: [&str; 13] = [
    "to",
    "cc",
    "bcc",
    "recipient",
    "recipients",
    "recipient_id",
    "participant_id",
    "channel",
    "chat_id",
    "user",
    "username",
    "in_reply_to_tweet_id",
    "in_reply_to",
];
/// Fields of an act that are told in an order of their own.
const KNOWN: [&str; 8] = ["kind", "service", "method", "path", "url", "headers", "body", "text"];

/// The act in a few words, for a heading.
pub fn title(act: &Value) -> String {
    let verb = match text(act, "method") {
        _ if text(act, "kind") == "purpose" => return "Rewrite PURPOSE.md".to_owned(),
        _ if text(act, "kind") == "package" => {
            return format!("Install {}", brief(&package(act), NAME_CHARS));
        }
        "GET" | "HEAD" => "Read from",
        "DELETE" => "Delete at",
        "PUT" | "PATCH" => "Change at",
        _ => "Send to",
    };
    format!("{verb} {}", brief(text(act, "service"), NAME_CHARS))
}

/// Returns the lines for the owner: a name and its text each, weightiest first.
pub fn told(act: &Value) -> Vec<(String, String)> {
    let said = |name: &str| text(act, name).to_owned();
    let mut told = vec![("what".to_owned(), what(act))];
    if text(act, "kind") != "purpose" {
        told.push(("where".to_owned(), said("service")));
    }
    let body = by_fields(&said("body")).or_else(|| is_form(act).then(|| of_form(&said("body"))).flatten());
    let whom = body.iter().flatten().filter(|(name, _)| {
        WHOM.contains(&name.rsplit('.').next().unwrap_or_default().trim_end_matches("[]"))
    });
    let whom: Vec<String> = whom.map(|(name, value)| format!("{name}: {value}")).collect();
    if !whom.is_empty() {
        told.push(("whom".to_owned(), whom.join("; ")));
    }
    match body {
        Some(fields) => told.extend(fields),
        None => told.push(("body".to_owned(), said("body"))),
    }
    if act.get("text").is_some() {
        told.push(("text".to_owned(), said("text")));
    }
    let headers: &[Value] = field(act, "headers");
    told.extend(headers.iter().map(|header| ("header".to_owned(), line(header, ": "))));
    let others = act.as_object().into_iter().flatten().filter(|(name, _)| !KNOWN.contains(&name.as_str()));
    told.extend(others.map(|(name, value)| (name.clone(), line(value, ", "))));
    told.retain(|(name, text)| !text.is_empty() || name == "what");
    told
}

fn what(act: &Value) -> String {
    match text(act, "kind") {
        "purpose" => "rewrite PURPOSE.md".to_owned(),
        "package" => format!("install {}", package(act)),
        _ => {
            let url = [text(act, "url"), text(act, "path")].into_iter().find(|url| !url.is_empty());
            format!("{} {}", text(act, "method"), url.unwrap_or_default())
        }
    }
}

/// The packages of an act, the first by name and the others by number; each name stands in a field below.
fn package(act: &Value) -> String {
    let others = field::<&[Value]>(act, "others").len();
    let more = if others > 0 { format!(" and {others} more") } else { String::new() };
    format!("{} {}{more} ({})", text(act, "name"), text(act, "version"), text(act, "registry"))
}

/// A header or a value on one line; `between`: what stands between the parts of a list.
fn line(value: &Value, between: &str) -> String {
    match (value.as_str(), value.as_array()) {
        (Some(text), _) => text.to_owned(),
        (_, Some(list)) => list.iter().map(|part| line(part, between)).collect::<Vec<_>>().join(between),
        _ => value.to_string(),
    }
}

/// Whether its headers say that the body is a form.
fn is_form(act: &Value) -> bool {
    let headers: &[Value] = field(act, "headers");
    let mut pairs = headers.iter().filter_map(|pair| Some((pair.get(0)?.as_str()?, pair.get(1)?.as_str()?)));
    pairs.any(|(name, value)| {
        name.eq_ignore_ascii_case("content-type") && value.starts_with("application/x-www-form-urlencoded")
    })
}

/// The fields of a form (URL Standard, application/x-www-form-urlencoded); `None` as for JSON.
fn of_form(body: &str) -> Option<Vec<(String, String)>> {
    let fields: Vec<(String, String)> = form_urlencoded::parse(body.as_bytes()).into_owned().collect();
    let is_short = |(name, _): &(String, String)| name.chars().count() <= NAME_CHARS;
    let again = form_urlencoded::Serializer::new(String::new()).extend_pairs(&fields).finish();
    (again == body && fields.iter().all(is_short)).then_some(fields)
}

/// The fields of a body of JSON; `None` where written again they would not be the same bytes but for spaces between
/// parts: a name that stands there twice, or what is no object, is told as it is.
fn by_fields(body: &str) -> Option<Vec<(String, String)>> {
    let read: Value = serde_json::from_str(body).ok().filter(Value::is_object)?;
    let again = read.to_string();
    let is_all = again == compact(body) && is_told_whole(&read);
    let value = |field: Field| match field {
        Field::Text(text) => text,
        Field::Value(value) | Field::List(value) => value,
    };
    is_all.then(|| fields(&read).into_iter().map(|(name, field)| (name, value(field))).collect())
}

/// Whether each field makes a row of its own, under its whole name.
fn is_told_whole(value: &Value) -> bool {
    let is_short = |name: &str| name.chars().count() <= NAME_CHARS;
    let fields = value.as_object().is_none_or(|fields| {
        !fields.is_empty() && fields.iter().all(|(name, value)| is_short(name) && is_told_whole(value))
    });
    fields && value.as_array().is_none_or(|list| list.iter().all(is_told_whole))
}

/// JSON without what may stand between its parts.
fn compact(json: &str) -> String {
    let (mut out, mut is_text, mut is_escaped) = (String::with_capacity(json.len()), false, false);
    for letter in json.chars() {
        let ends = letter == '"' && !is_escaped;
        is_escaped = is_text && letter == '\\' && !is_escaped;
        is_text ^= ends;
        if is_text || !letter.is_ascii_whitespace() {
            out.push(letter);
        }
    }
    out
}
