//! X API v2 as a post needs it: a picture is uploaded in pieces and described, then the post is created.
//!
//! OpenAPI document of X: `/2/media/upload/initialize`, `/{id}/append`, `/{id}/finalize`, `/2/media/metadata`, `/2/tweets`.

use super::network::Network;
use super::post::{Part, Picture};
use super::wire::{Stop, Wire, json, text_at};
use crate::ground::refusal::Unfit;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use std::time::Duration;

/// Bytes of a piece.
const PIECE: usize = 1 << 20;
/// Times that a picture in the making is looked at.
const MOST_LOOKS: usize = 30;

/// Uploads a picture; its id.
pub async fn upload(wire: &Wire<'_>, picture: &Picture, bytes: &[u8]) -> Result<String, Stop> {
    let category = if picture.kind == "image/gif" { "tweet_gif" } else { "tweet_image" };
    let begin = json!({"media_type": picture.kind, "total_bytes": picture.bytes, "media_category": category});
    let answer = json(&wire.post("/2/media/upload/initialize", &begin).await?)?;
    let id = text_at(&answer, "/data/id").filter(|id| (Network::X.takes().is_name)(id));
    let id = id.ok_or_else(|| Unfit::new("its answer holds no id of the picture", "try again later"))?;
    for (at, piece) in bytes.chunks(PIECE).enumerate() {
        let piece = json!({"media": STANDARD.encode(piece), "segment_index": at});
        json(&wire.post(&format!("/2/media/upload/{id}/append"), &piece).await?)?;
    }
    let mut answer = json(&wire.post(&format!("/2/media/upload/{id}/finalize"), &Value::Null).await?)?;
    for _ in 0..MOST_LOOKS {
        match text_at(&answer, "/data/processing_info/state") {
            None | Some("succeeded") => return described(wire, picture, id).await,
            Some("failed") => {
                return Err(Unfit::new(
                    format!("X could not use the picture {:?}", picture.name),
                    "take another",
                )
                .into());
            }
            Some(_) => {}
        }
        let wait =
            answer.pointer("/data/processing_info/check_after_secs").and_then(Value::as_u64).unwrap_or(1);
        tokio::time::sleep(Duration::from_secs(wait.clamp(1, 10))).await;
        answer = json(&wire.get("/2/media/upload", &[("media_id", id), ("command", "STATUS")]).await?)?;
    }
    Err(Unfit::new(format!("X is still busy with the picture {:?}", picture.name), "try again later").into())
}

async fn described(wire: &Wire<'_>, picture: &Picture, id: &str) -> Result<String, Stop> {
    if !picture.alt.is_empty() {
        let words = json!({"id": id, "metadata": {"alt_text": {"text": picture.alt}}});
        json(&wire.post("/2/media/metadata", &words).await?)?;
    }
    Ok(id.to_owned())
}

/// The path and body that create one part.
pub fn creation(part: &Part, pictures: &[Value], answers: &str, quote: &str) -> (&'static str, Value) {
    let fields = [
        ("text", Some(json!(part.text))),
        ("reply", (!answers.is_empty()).then(|| json!({"in_reply_to_tweet_id": answers}))),
        ("quote_tweet_id", (!quote.is_empty()).then(|| json!(quote))),
        ("media", (!pictures.is_empty()).then(|| json!({"media_ids": pictures}))),
    ];
    let fields = fields.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
    ("/2/tweets", Value::Object(fields.collect()))
}
