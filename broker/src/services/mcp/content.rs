//! The result of a tool as text, within bounds, and its pictures; pure.

use crate::secrets::Secrets;
use crate::services::upstream;
use house::printable;
use rmcp::model::{CallToolResult, ContentBlock, ResourceContents};
use serde_json::{Value, json};

/// Most pictures of one result, and most bytes of one in base64.
const MOST_PICTURES: usize = 4;
const MOST_PICTURE: usize = 5 << 20;

const UNKNOWN: &str = "[a part of a kind that is not known here is left out]";

/// A result as the creature gets it.
#[derive(Debug, Default, PartialEq)]
pub struct Content {
    pub text: String,
    pub truncated: bool,
    /// `{"mime_type", "data"}`, in base64.
    pub pictures: Vec<Value>,
    /// The server says that the call failed.
    pub failed: bool,
}

/// Takes a result: texts in their order, a line for each part that is no text.
pub fn of(result: CallToolResult, secrets: &Secrets) -> Content {
    let mut content = Content { failed: result.is_error == Some(true), ..Content::default() };
    let mut texts = Vec::new();
    for block in result.content {
        match block {
            ContentBlock::Text(text) => texts.push(text.text.to_string()),
            ContentBlock::Image(image)
                if content.pictures.len() < MOST_PICTURES && image.data.len() <= MOST_PICTURE =>
            {
                texts.push(format!("[picture {}: {}]", content.pictures.len() + 1, image.mime_type));
                content.pictures.push(json!({"mime_type": image.mime_type, "data": image.data}));
            }
            ContentBlock::Image(image) => {
                texts.push(format!("[a picture ({}) is left out: too many, or too large]", image.mime_type));
            }
            ContentBlock::Audio(audio) => {
                texts.push(format!("[sound ({}) is left out]", audio.mime_type));
            }
            ContentBlock::Resource(embedded) => texts.push(match embedded.resource {
                ResourceContents::TextResourceContents { uri, text, .. } => format!("{uri}:\n{text}"),
                ResourceContents::BlobResourceContents { uri, mime_type, .. } => {
                    format!("[{uri} ({}) is left out]", mime_type.unwrap_or_default())
                }
                _ => UNKNOWN.to_owned(),
            }),
            ContentBlock::ResourceLink(link) => texts.push(format!("[see {}: {}]", link.uri, link.name)),
            _ => texts.push(UNKNOWN.to_owned()),
        }
    }
    // A server that gives structure repeats it as text (MCP 2025-06-18, server/tools, "Structured Content").
    if texts.is_empty() {
        texts.extend(result.structured_content.map(|structured| structured.to_string()));
    }
    let (text, truncated) = upstream::shown(secrets, texts.join("\n").into_bytes(), false);
    (content.text, content.truncated) = (printable::spelled(&text), truncated);
    content
}
