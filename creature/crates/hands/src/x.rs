//! X over its API v2, by the service `x`: search and mentions, as the owner's account.

use crate::posts::{self, Post, text_at};
use crate::{Broker, Error};
use serde_json::Value;

const FIELDS: (&str, &str) = ("tweet.fields", "author_id,created_at");

/// Posts of the last seven days, newest first.
pub async fn search(broker: &Broker, query: &str, most: usize) -> Result<Vec<Post>, Error> {
    // X answers with ten at least.
    let count = most.clamp(10, 100).to_string();
    let query = [("query", posts::words(query)?), ("max_results", &count), FIELDS];
    let answer = posts::get(broker, "x", "/2/tweets/search/recent", &query).await?;
    Ok(found(&answer).take(most).collect())
}

/// Posts that mention the account, newest first; only later ones than `since_id` where given.
pub async fn mentions(broker: &Broker, since_id: Option<&str>) -> Result<Vec<Post>, Error> {
    let mut query = vec![("max_results", "100"), FIELDS];
    if let Some(since) = since_id {
        query.push(("since_id", post_id(since)?));
    }
    let answer = posts::get(broker, "x", "/2/users/me", &[]).await?;
    let me = text_at(&answer, "/data/id").filter(|id| post_id(id).is_ok());
    let me = me.ok_or_else(|| {
        let hint = "the credentials must be a user's, not only an app's";
        Error::new("ask x who I am: the answer holds no id", hint)
    })?;
    let answer = posts::get(broker, "x", &format!("/2/users/{me}/mentions"), &query).await?;
    Ok(found(&answer).collect())
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

fn found(answer: &Value) -> impl Iterator<Item = Post> {
    let data = answer.get("data").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    data.iter().filter_map(|post| {
        let text = |key: &str| post.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        let id = Some(text("id")).filter(|id| !id.is_empty())?;
        Some(Post { id, author_id: text("author_id"), text: text("text"), created_at: text("created_at") })
    })
}
