//! Content blocks of a conversation: counts images and documents, and refuses blocks whose tokens have no bound; pure.
//!
//! An unknown kind is accepted, since a model's own turns are sent back unchanged, unless it refers to content
//! elsewhere.

use super::data;
use super::refusals::{malformed, refused};
use super::wire::Wire;
use crate::ground::refusal::Refusal;
use house::bounds::{NAME_CHARS, brief};
use serde_json::{Map, Value};

/// Kinds whose tokens are in their bytes, whatever their fields are called: a tool's input may contain a `url`.
const PLAIN: &str = "text tool_use tool_result thinking redacted_thinking refusal function custom search_result input_text \
    output_text message function_call function_call_output custom_tool_call custom_tool_call_output reasoning";
const IMAGES: &[&str] = &["image", "image_url", "input_image"];
/// Kinds that the provider renders or looks up.
const UNBOUND: &str =
    "document input_file file input_audio audio video container_upload item_reference image_generation_call";
/// Fields of an unknown kind that refer to content elsewhere, or to media.
const ELSEWHERE: &str =
    "file file_id file_data container_id audio input_audio video image media_type mime_type source";
/// Fields of a message that are judged as blocks, or are a call's arguments.
const OF_MESSAGE: [&str; 3] = ["content", "tool_calls", "function_call"];

/// Images and documents of a request, which are seen and not read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Media {
    pub images: u64,
    /// Bytes of the images' data.
    pub image_bytes: u64,
    pub documents: u64,
    pub document_bytes: u64,
}

/// Counts the images and documents in a request.
pub fn judge(wire: Wire, fields: &Map<String, Value>) -> Result<Media, Refusal> {
    let mut media = Media::default();
    if wire == Wire::Responses {
        match fields.get("input") {
            Some(Value::String(_)) => {}
            Some(Value::Array(items)) => {
                // Without kind and role it is a reference to what the provider stores.
                let is_number =
                    |item: &&Value| item.get("type").is_none_or(Value::is_null) && item.get("role").is_none();
                if items.iter().any(|item| is_number(&item)) {
                    return Err(unknown("item_reference"));
                }
                items.iter().try_for_each(|item| block(item, &mut media))?;
            }
            _ => return Err(malformed("`input` must be text or a list")),
        }
        return Ok(media);
    }
    let Some(Value::Array(messages)) = fields.get("messages") else {
        return Err(malformed("`messages` must be a list"));
    };
    for message in messages {
        let besides = message.as_object().into_iter().flatten();
        for (name, value) in besides.filter(|(name, _)| !OF_MESSAGE.contains(&name.as_str())) {
            bound("message", name, value)?;
        }
        content(message.get("content"), &mut media)?;
    }
    content(fields.get("system"), &mut media)?;
    Ok(media)
}

fn content(content: Option<&Value>, media: &mut Media) -> Result<(), Refusal> {
    let Some(Value::Array(blocks)) = content else { return Ok(()) };
    blocks.iter().try_for_each(|each| block(each, media))
}

fn block(block: &Value, media: &mut Media) -> Result<(), Refusal> {
    let kind = block.get("type").and_then(Value::as_str).unwrap_or("text");
    let source = block.pointer("/source/type").and_then(Value::as_str);
    if IMAGES.contains(&kind) {
        media.images += 1;
        media.image_bytes += data_of_image(block);
    } else if let Some(bytes) = data_of_document(kind, block) {
        media.documents += 1;
        media.document_bytes += bytes;
    } else if kind == "document" && matches!(source, Some("text" | "content")) {
        content(block.pointer("/source/content"), media)?;
    } else if is_of(UNBOUND, kind) {
        return Err(unknown(kind));
    } else if !is_of(PLAIN, kind) {
        let fields = block.as_object().into_iter().flatten();
        let is_blocks = |name: &str, value: &Value| matches!(name, "content" | "output") && value.is_array();
        let besides = fields.filter(|(name, value)| !is_blocks(name, value));
        besides.into_iter().try_for_each(|(name, value)| bound(kind, name, value))?;
    }
    // Results of tools contain blocks too.
    content(block.get("content"), media)?;
    content(block.get("output"), media)
}

/// Bytes of an image's data, by whichever wire it comes.
fn data_of_image(block: &Value) -> u64 {
    let places = ["/source/data", "/image_url/url", "/image_url"];
    let found = places.iter().find_map(|place| block.pointer(place)?.as_str());
    found.map_or(0, |data| data.len() as u64)
}

/// Bytes of a document that is data, by whichever wire it comes; none of what the provider would look up.
fn data_of_document(kind: &str, block: &Value) -> Option<u64> {
    let word = |place: &str| block.pointer(place).and_then(Value::as_str);
    let (data, within) = match kind {
        "document" if word("/source/type") == Some("base64") => (word("/source/data")?, block.get("source")?),
        "file" => (word("/file/file_data")?, block.get("file")?),
        "input_file" => (word("/file_data")?, block),
        _ => return None,
    };
    let looked_up =
        ["file_id", "file_url", "url"].iter().any(|name| within.get(*name).is_some_and(|at| !at.is_null()));
    (!looked_up).then_some(data.len() as u64)
}

/// Refuses a field whose tokens are not in its bytes, at any depth.
fn bound(kind: &str, name: &str, value: &Value) -> Result<(), Refusal> {
    let stands_elsewhere = name.ends_with("url") || is_of(ELSEWHERE, name);
    match value {
        _ if data::WORDS.contains(&name) => Ok(()),
        Value::Null | Value::Bool(_) | Value::Number(_) => Ok(()),
        _ if stands_elsewhere => Err(unknown(kind)),
        Value::String(_) => Ok(()),
        Value::Array(all) => all.iter().try_for_each(|value| bound(kind, "", value)),
        Value::Object(fields) => {
            let is_medium = fields
                .get("type")
                .and_then(Value::as_str)
                .is_some_and(|inner| is_of(UNBOUND, inner) || IMAGES.contains(&inner));
            if is_medium {
                return Err(unknown(kind));
            }
            fields.iter().try_for_each(|(name, value)| bound(kind, name, value))
        }
    }
}

fn is_of(names: &str, name: &str) -> bool {
    names.split(' ').any(|known| known == name)
}

fn unknown(kind: &str) -> Refusal {
    let message = format!("how many tokens a block `{}` has is not in its bytes", brief(kind, NAME_CHARS));
    refused(message, "send it as text or as images")
}
