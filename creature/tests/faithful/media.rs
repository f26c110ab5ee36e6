//! What the wires refuse of pictures and documents: types, data that is none, addresses, and places they may not stand in.
//!
//! Sources: `base64_image_source_param.py`, `base64_pdf_source_param.py` and `document_block_param.py` of
//! github.com/anthropics/anthropic-sdk-python, and platform.claude.com/docs, vision and PDF support, for limits; OpenAI's
//! `ChatCompletionRequestMessageContentPart…`, `InputImageContent` and `InputFileContent` of openapi.yaml, and
//! developers.openai.com, guide to file inputs.

use super::rules::{Checked, known, must, refuse, text};
use serde_json::Value;

/// Types of pictures, and how their data begins in base64.
const PICTURES: [(&str, &str); 4] =
    [("image/png", "iVBORw0KGg"), ("image/jpeg", "/9j/"), ("image/gif", "R0lGOD"), ("image/webp", "UklGR")];
const PDF: (&str, &str) = ("application/pdf", "JVBERi");

/// Characters of one picture in base64: Anthropic, vision, limits of size.
const MOST_PICTURE: usize = 5 << 20;

/// A block of Anthropic's.
pub fn block(at: &str, block: &Value) -> Checked {
    let kind = text(block, "type");
    let fields: &[&str] = match kind {
        "image" => &["type", "source", "cache_control"],
        _ => &["type", "source", "cache_control", "citations", "context", "title"],
    };
    known(block, &format!("{at}.{kind}."), fields)?;
    let source = &block["source"];
    let place = format!("{at}.{kind}.source");
    match text(source, "type") {
        "base64" => {
            known(source, &format!("{place}.base64."), &["type", "media_type", "data"])?;
            let (media, data) = (text(source, "media_type"), text(source, "data"));
            let types: &[(&str, &str)] = if kind == "image" { &PICTURES } else { &[PDF] };
            must(types.iter().any(|(known, _)| *known == media), || {
                format!("{place}.base64.media_type: Input should be one of {types:?}")
            })?;
            must(kind != "image" || data.len() <= MOST_PICTURE, || {
                format!("{place}.base64: image exceeds 5 MB maximum: {} bytes > 5242880 bytes", data.len())
            })?;
            is_data(&format!("{place}.base64.data"), media, data)
        }
        "url" => must(text(source, "url").starts_with("http"), || format!("{place}.url.url: Field required")),
        "text" | "content" if kind == "document" => Ok(()),
        other => refuse(format!("{place}: Input tag '{other}' does not match any of the expected tags")),
    }
}

/// A part of a chat message of this role.
pub fn chat_part(at: &str, role: &str, part: &Value) -> Checked {
    let kind = text(part, "type");
    must(kind == "text" || role == "user", || {
        format!("Invalid '{at}.type': '{kind}' is only allowed in messages with role 'user'.")
    })?;
    match kind {
        "text" => must(part["text"].is_string(), || format!("Missing required parameter: '{at}.text'.")),
        "image_url" => {
            let image = &part["image_url"];
            known(image, &format!("{at}.image_url."), &["url", "detail"])?;
            address(&format!("{at}.image_url.url"), text(image, "url"), &PICTURES)
        }
        "file" => {
            let file = &part["file"];
            known(file, &format!("{at}.file."), &["filename", "file_data", "file_id"])?;
            must(!text(file, "filename").is_empty(), || {
                format!("Missing required parameter: '{at}.file.filename'.")
            })?;
            address(&format!("{at}.file.file_data"), text(file, "file_data"), &[PDF])
        }
        "input_audio" => Ok(()),
        other => refuse(format!(
            "Invalid value: '{other}'. Supported values are: 'text', 'image_url', 'input_audio', 'refusal', and 'file'."
        )),
    }
}

/// A part of a message of Responses that is no text.
pub fn responses_part(at: &str, part: &Value) -> Checked {
    match text(part, "type") {
        "input_image" => {
            known(part, &format!("{at}."), &["type", "image_url", "file_id", "detail"])?;
            let detail = text(part, "detail");
            must(matches!(detail, "low" | "high" | "auto" | "original"), || {
                format!("Invalid value: '{detail}' for '{at}.detail'.")
            })?;
            address(&format!("{at}.image_url"), text(part, "image_url"), &PICTURES)
        }
        "input_file" => {
            known(
                part,
                &format!("{at}."),
                &["type", "filename", "file_data", "file_id", "file_url", "detail"],
            )?;
            must(!text(part, "filename").is_empty(), || {
                format!("Missing required parameter: '{at}.filename'.")
            })?;
            address(&format!("{at}.file_data"), text(part, "file_data"), &[PDF])
        }
        other => refuse(format!("Invalid value: '{other}' at '{at}'.")),
    }
}

fn address(at: &str, address: &str, types: &[(&str, &str)]) -> Checked {
    if address.starts_with("https://") {
        return Ok(());
    }
    let parts = address.strip_prefix("data:").and_then(|rest| rest.split_once(";base64,"));
    let Some((media, data)) = parts else {
        return refuse(format!(
            "Invalid '{at}'. Expected a base64-encoded data URL with a MIME type, but got none."
        ));
    };
    must(types.iter().any(|(known, _)| *known == media), || {
        format!("Invalid MIME type at '{at}': {media}.")
    })?;
    is_data(at, media, data)
}

/// Base64 of what the type says.
fn is_data(at: &str, media: &str, data: &str) -> Checked {
    let letters = data.trim_end_matches('=');
    let is_base64 = letters.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'+' || byte == b'/');
    let is_whole = data.len().is_multiple_of(4) && data.len() - letters.len() <= 2 && !letters.is_empty();
    must(is_base64 && is_whole, || format!("{at}: invalid base64 data"))?;
    let begins = PICTURES.iter().chain([&PDF]).find(|(known, _)| *known == media).map(|(_, begins)| *begins);
    must(begins.is_some_and(|begins| data.starts_with(begins)), || {
        format!("{at}: the data does not match the provided media type {media}")
    })
}
