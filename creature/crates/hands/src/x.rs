//! X over its API v2, by the service `x`: post, reply, search, mentions, as the owner's account.
//!
//! Invariant: a post is sent once. Where nobody can know whether it went through, the error says so.

use crate::{Broker, Error};
use serde::Serialize;
use serde_json::{Value, json};

const MOST_WEIGHT: usize = 280;
/// Characters that X counts for a link, whatever its length.
const LINK_WEIGHT: usize = 23;
const FIELDS: (&str, &str) = ("tweet.fields", "author_id,created_at");

/// A post that went out.
#[derive(Clone, Debug, PartialEq)]
pub struct Posted {
    pub id: String,
}

/// A post that was read.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Post {
    pub id: String,
    pub author_id: String,
    pub text: String,
    /// As X gives it, RFC 3339; empty when it gave none.
    pub created_at: String,
}

/// Posts `text`, as an answer to the post with the id `to` where one is given.
pub async fn post(broker: &Broker, text: &str, to: Option<&str>) -> Result<Posted, Error> {
    check_text(text)?;
    let mut body = json!({ "text": text });
    if let (Some(to), Value::Object(fields)) = (to, &mut body) {
        fields.insert("reply".to_owned(), json!({"in_reply_to_tweet_id": post_id(to)?}));
    }
    let answer = call(broker, "POST", "/2/tweets", &[], Some(&body)).await?;
    let id = text_at(&answer, "/data/id").map(str::to_owned);
    let id = id.ok_or_else(|| Error::new("post to x: the answer holds no id", UNSURE))?;
    Ok(Posted { id })
}

/// Posts of the last seven days, newest first.
pub async fn search(broker: &Broker, query: &str, most: usize) -> Result<Vec<Post>, Error> {
    if query.trim().is_empty() {
        return Err(Error::new("search x: the query is empty", "give a few words to look for"));
    }
    // X answers with ten at least.
    let count = most.clamp(10, 100).to_string();
    let query = [("query", query.trim()), ("max_results", &count), FIELDS];
    let answer = call(broker, "GET", "/2/tweets/search/recent", &query, None).await?;
    Ok(posts(&answer).take(most).collect())
}

/// Posts that mention the account, newest first; only later ones than `since_id` where given.
pub async fn mentions(broker: &Broker, since_id: Option<&str>) -> Result<Vec<Post>, Error> {
    let mut query = vec![("max_results", "100"), FIELDS];
    if let Some(since) = since_id {
        query.push(("since_id", post_id(since)?));
    }
    let answer = call(broker, "GET", "/2/users/me", &[], None).await?;
    let me = text_at(&answer, "/data/id").filter(|id| post_id(id).is_ok());
    let me = me.ok_or_else(|| {
        let hint = "the credentials must be a user's, not only an app's";
        Error::new("ask x who I am: the answer holds no id", hint)
    })?;
    let answer = call(broker, "GET", &format!("/2/users/{me}/mentions"), &query, None).await?;
    Ok(posts(&answer).collect())
}

async fn call(
    broker: &Broker,
    method: &str,
    path: &str,
    query: &[(&str, &str)],
    body: Option<&Value>,
) -> Result<Value, Error> {
    let mut request = json!({"service": "x", "method": method, "path": path});
    if let Value::Object(fields) = &mut request {
        if !query.is_empty() {
            let query = query.iter().map(|(name, value)| ((*name).to_owned(), json!(value)));
            fields.insert("query".to_owned(), Value::Object(query.collect()));
        }
        fields.extend(body.map(|body| ("body".to_owned(), body.clone())));
    }
    let posting = method == "POST";
    let reply = broker.service(&request).await?;
    if !(200..300).contains(&reply.status) {
        return Err(refusal(reply.status, &reply.body, posting));
    }
    let unsure = if posting { UNSURE } else { "try again later" };
    serde_json::from_str(&reply.body)
        .map_err(|cause| Error::new(format!("read {path} of x: the answer is not json: {cause}"), unsure))
}

const UNSURE: &str =
    "the post may have gone through: look for it among your own posts before sending it again";

/// Counts the length of a text as X does: links are 23, CJK and emoji count double.
pub fn weight(text: &str) -> usize {
    let mut weight = 0;
    for word in text.split_inclusive(char::is_whitespace) {
        let bare = word.trim_end();
        if bare.starts_with("https://") || bare.starts_with("http://") {
            weight += LINK_WEIGHT + word.chars().count() - bare.chars().count();
            continue;
        }
        let narrow = |c: char| matches!(u32::from(c), 0..=4351 | 8192..=8205 | 8208..=8223 | 8242..=8247);
        weight += word.chars().map(|c| if narrow(c) { 1 } else { 2 }).sum::<usize>();
    }
    weight
}

fn check_text(text: &str) -> Result<(), Error> {
    if text.trim().is_empty() {
        return Err(Error::new("post to x: the text is empty", "write something"));
    }
    let weight = weight(text);
    if weight > MOST_WEIGHT {
        let message = format!("post to x: the text counts {weight} characters, {MOST_WEIGHT} are allowed");
        let hint = format!("cut {} characters, or make it several posts", weight - MOST_WEIGHT);
        return Err(Error::new(message, hint));
    }
    Ok(())
}

fn post_id(id: &str) -> Result<&str, Error> {
    let id = id.trim();
    if !id.is_empty() && id.len() <= 19 && id.bytes().all(|byte| byte.is_ascii_digit()) {
        return Ok(id);
    }
    let shown: String = id.chars().take(40).collect();
    Err(Error::new(
        format!("read `{shown}` as the id of a post"),
        "an id is the number at the end of a post's url",
    ))
}

/// The error for an answer whose status is no success.
fn refusal(status: u16, body: &str, posting: bool) -> Error {
    let hint = match status {
        401 => "the credentials are not valid; the owner must renew them",
        402 => "the account's credits at x are used up; tell the owner",
        403 => "x forbids it: the app may lack write permission, or the text was posted before",
        429 => "the rate limit is used up; wait a quarter of an hour",
        500.. if posting => UNSURE,
        500.. => "x is in trouble; try again later",
        _ => "x refuses the request; change it rather than repeat it",
    };
    let detail = detail(body).map(|detail| format!(": {detail}")).unwrap_or_default();
    Error { status: Some(status), ..Error::new(format!("call x: it answered {status}{detail}"), hint) }
}

/// Reads the error in X's answer, as one line.
fn detail(body: &str) -> Option<String> {
    let answer: Value = serde_json::from_str(body).ok()?;
    let places = ["/detail", "/errors/0/message", "/errors/0/detail", "/title", "/error"];
    let found = places.iter().find_map(|place| text_at(&answer, place))?;
    Some(found.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(300).collect())
}

fn text_at<'a>(answer: &'a Value, place: &str) -> Option<&'a str> {
    answer.pointer(place).and_then(Value::as_str)
}

fn posts(answer: &Value) -> impl Iterator<Item = Post> {
    let data = answer.get("data").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    data.iter().filter_map(|post| {
        let text = |key: &str| post.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        let id = Some(text("id")).filter(|id| !id.is_empty())?;
        Some(Post { id, author_id: text("author_id"), text: text("text"), created_at: text("created_at") })
    })
}
