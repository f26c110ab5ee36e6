//! Bluesky over XRPC, by a service that signs in there: search and mentions, as the owner's account.

use crate::posts::{self, Post, text_at};
use crate::{Broker, Error};
use serde_json::Value;

/// Posts that fit, newest first.
pub async fn search(broker: &Broker, service: &str, query: &str, most: usize) -> Result<Vec<Post>, Error> {
    let count = most.clamp(1, 100).to_string();
    let query = [("q", posts::words(query)?), ("sort", "latest"), ("limit", &count)];
    let answer = posts::get(broker, service, "/xrpc/app.bsky.feed.searchPosts", &query).await?;
    Ok(found(&answer, "posts").collect())
}

/// Posts that mention the account, answer or quote it, newest first; only later ones than `since` where given.
pub async fn mentions(broker: &Broker, service: &str, since: Option<&str>) -> Result<Vec<Post>, Error> {
    let path = "/xrpc/app.bsky.notification.listNotifications?reasons=mention&reasons=reply&reasons=quote";
    let answer = posts::get(broker, service, path, &[("limit", "100")]).await?;
    Ok(found(&answer, "notifications").take_while(|post| Some(post.id.as_str()) != since).collect())
}

fn found(answer: &Value, list: &str) -> impl Iterator<Item = Post> {
    let list = answer.get(list).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    list.iter().filter_map(|post| {
        let text = |place: &str| text_at(post, place).unwrap_or_default().to_owned();
        let (author_id, created_at) = (text("/author/handle"), text("/record/createdAt"));
        Some(Post {
            id: text_at(post, "/uri")?.to_owned(),
            author_id,
            text: text("/record/text"),
            created_at,
        })
    })
}
