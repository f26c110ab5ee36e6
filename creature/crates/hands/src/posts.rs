//! Posts where people read, by services of the owner's: what all of them have in common.
//!
//! Invariant: a post is sent once. Where nobody can know whether it went through, the error says so.

use crate::{Broker, Error};
use serde::Serialize;
use serde_json::{Value, json};

/// A post that was read.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Post {
    pub id: String,
    pub author_id: String,
    pub text: String,
    /// As the service gives it, RFC 3339; empty when it gave none.
    pub created_at: String,
}

/// Posts a text or a thread with its pictures; the names of its parts there. The broker judges and counts.
pub async fn publish(broker: &Broker, request: &Value) -> Result<Vec<String>, Error> {
    let reply = broker.post_out(request).await?;
    let said: Value = serde_json::from_str(&reply.body).unwrap_or_default();
    let ids = said.get("posted").and_then(Value::as_array).into_iter().flatten();
    Ok(ids.filter_map(|id| id.as_str().map(str::to_owned)).collect())
}

/// Asks a service something; its answer.
pub(crate) async fn get(
    broker: &Broker,
    service: &str,
    path: &str,
    query: &[(&str, &str)],
) -> Result<Value, Error> {
    let query = query.iter().map(|(name, value)| ((*name).to_owned(), json!(value)));
    let query: serde_json::Map<_, _> = query.collect();
    let mut request = json!({"service": service, "method": "GET", "path": path});
    if let (Value::Object(fields), false) = (&mut request, query.is_empty()) {
        fields.insert("query".to_owned(), query.into());
    }
    let reply = broker.service(&request).await?;
    if !(200..300).contains(&reply.status) {
        return Err(refusal(service, reply.status, &reply.body));
    }
    serde_json::from_str(&reply.body).map_err(|cause| {
        Error::new(format!("read {path} of {service}: the answer is not json: {cause}"), "try again later")
    })
}

pub(crate) fn words(query: &str) -> Result<&str, Error> {
    match query.trim() {
        "" => Err(Error::new("search posts: the query is empty", "give a few words to look for")),
        words => Ok(words),
    }
}

/// The error for an answer whose status is no success.
fn refusal(service: &str, status: u16, body: &str) -> Error {
    let hint = match status {
        401 => "the credentials are not valid; the owner must renew them",
        402 => "the account's credits are used up; tell the owner",
        403 => "it is forbidden: the account or app may lack permission",
        429 => "the rate limit is used up; wait a quarter of an hour",
        500.. => "the service is in trouble; try again later",
        _ => "the service refuses the request; change it rather than repeat it",
    };
    let detail = detail(body).map(|detail| format!(": {detail}")).unwrap_or_default();
    Error {
        status: Some(status),
        ..Error::new(format!("call {service}: it answered {status}{detail}"), hint)
    }
}

/// Reads the error in an answer, as one line.
fn detail(body: &str) -> Option<String> {
    let answer: Value = serde_json::from_str(body).ok()?;
    let places = ["/detail", "/errors/0/message", "/errors/0/detail", "/message", "/title", "/error"];
    let found = places.iter().find_map(|place| text_at(&answer, place))?;
    Some(found.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(300).collect())
}

pub(crate) fn text_at<'a>(answer: &'a Value, place: &str) -> Option<&'a str> {
    answer.pointer(place).and_then(Value::as_str)
}
