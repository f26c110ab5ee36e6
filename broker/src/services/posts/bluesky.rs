//! Bluesky as a post needs it: a picture is a blob, a post a record under a key chosen before, so that it exists once.
//!
//! Lexicons `com.atproto.repo.uploadBlob`, `com.atproto.repo.putRecord`, `app.bsky.feed.post`.

use super::facets::{self, Is};
use super::network::{COLLECTION, parts_of};
use super::post::{Part, Picture, Post};
use super::progress::{Out, Progress};
use super::wire::{Stop, Wire, json, text_at};
use crate::ground::refusal::Unfit;
use bytes::Bytes;
use serde_json::{Value, json};

/// Uploads a picture; its blob as records hold it.
pub async fn upload(wire: &Wire<'_>, picture: &Picture, bytes: Bytes) -> Result<Value, Stop> {
    let path = "/xrpc/com.atproto.repo.uploadBlob";
    let answer = json(&wire.call("POST", path, &[], &picture.kind, bytes).await?)?;
    let blob = answer.get("blob").cloned();
    Ok(blob.ok_or_else(|| Unfit::new("its answer holds no picture", "try again later"))?)
}

/// Answered posts: the first of a thread and the one right before.
pub struct Answers {
    root: Value,
    parent: Value,
}

/// Looks up what the first part answers: the post of this name.
pub async fn answers(wire: &Wire<'_>, uri: &str) -> Result<Answers, Stop> {
    let (parent, value) = looked_up(wire, uri).await?;
    let root = value.pointer("/reply/root").cloned().unwrap_or_else(|| parent.clone());
    Ok(Answers { root, parent })
}

/// Answered posts of a later part: the one before, and what `first` answers or else `first` itself.
pub fn continues(first: &Out, before: &Out, above: Option<Answers>) -> Answers {
    let named = |out: &Out| json!({"uri": out.id, "cid": out.cid});
    Answers { root: above.map_or_else(|| named(first), |above| above.root), parent: named(before) }
}

/// The reference to a post, and its record.
async fn looked_up(wire: &Wire<'_>, uri: &str) -> Result<(Value, Value), Stop> {
    let Some((account, key)) = parts_of(uri) else {
        return Err(Unfit::new(format!("{uri} names no post"), "give its uri").into());
    };
    let query = [("repo", account), ("collection", COLLECTION), ("rkey", key)];
    let answer = json(&wire.get("/xrpc/com.atproto.repo.getRecord", &query).await?)?;
    let (Some(uri), Some(cid)) = (text_at(&answer, "/uri"), text_at(&answer, "/cid")) else {
        return Err(Unfit::new(format!("what is said of {uri} holds no post"), "try again later").into());
    };
    Ok((json!({"uri": uri, "cid": cid}), answer.get("value").cloned().unwrap_or_default()))
}

/// The record of one part.
pub async fn record(
    wire: &Wire<'_>,
    post: &Post,
    (at, part): (usize, &Part),
    (blobs, answers): (&[Value], Option<Answers>),
    progress: &Progress,
) -> Result<Value, Stop> {
    let mut record = json!({"$type": COLLECTION, "text": part.text, "createdAt": progress.made_at(at)});
    let facets = marked(wire, &part.text).await?;
    let quoted =
        if at == 0 && !post.quote.is_empty() { Some(looked_up(wire, &post.quote).await?.0) } else { None };
    let images =
        part.pictures.iter().zip(blobs).map(|(picture, blob)| json!({"alt": picture.alt, "image": blob}));
    let images: Vec<Value> = images.collect();
    let shown = (!images.is_empty()).then(|| json!({"$type": "app.bsky.embed.images", "images": images}));
    let quoted = quoted.map(|post| json!({"$type": "app.bsky.embed.record", "record": post}));
    let embed = match (quoted, shown) {
        (Some(quoted), Some(shown)) => {
            Some(json!({"$type": "app.bsky.embed.recordWithMedia", "record": quoted, "media": shown}))
        }
        (quoted, shown) => quoted.or(shown),
    };
    let fields = [
        ("facets", (!facets.is_empty()).then_some(Value::Array(facets))),
        ("reply", answers.map(|answers| json!({"root": answers.root, "parent": answers.parent}))),
        ("embed", embed),
    ];
    if let Some(record) = record.as_object_mut() {
        record.extend(fields.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))));
    }
    Ok(record)
}

/// The marks of a text; a handle that is nobody's stays plain words.
async fn marked(wire: &Wire<'_>, text: &str) -> Result<Vec<Value>, Stop> {
    let mut marks = Vec::new();
    for facet in facets::found(text) {
        let feature = match facet.is {
            Is::Link(uri) => json!({"$type": "app.bsky.richtext.facet#link", "uri": uri}),
            Is::Tag(tag) => json!({"$type": "app.bsky.richtext.facet#tag", "tag": tag}),
            Is::Mention(handle) => {
                let path = "/xrpc/com.atproto.identity.resolveHandle";
                let outcome = wire.get(path, &[("handle", &handle)]).await?;
                if outcome.status().is_some_and(|status| (400..500).contains(&status) && status != 429) {
                    continue;
                }
                let answer = json(&outcome)?;
                let Some(did) = text_at(&answer, "/did") else { continue };
                json!({"$type": "app.bsky.richtext.facet#mention", "did": did})
            }
        };
        marks.push(json!({"index": {"byteStart": facet.start, "byteEnd": facet.end}, "features": [feature]}));
    }
    Ok(marks)
}

/// The path and body that put a record under its key: the same again is the same record.
pub fn put(account: &str, key: &str, record: &Value) -> (&'static str, Value) {
    let body = json!({"repo": account, "collection": COLLECTION, "rkey": key, "record": record});
    ("/xrpc/com.atproto.repo.putRecord", body)
}
