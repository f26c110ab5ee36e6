//! Pictures and documents, as each wire carries them in a message of ours. Pure.
//!
//! Sources: Anthropic, `base64_image_source_param.py` and `document_block_param.py` of its SDK, and its guide to vision, which
//! puts pictures before words; OpenAI, guides `images-vision` and `pdf-files`, and `ChatCompletionRequestMessageContentPart…`
//! of openapi.yaml, which Google's, xAI's and Ollama's compatible addresses take for pictures.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

/// Beginnings of files, by the type they are.
const BEGINNINGS: [(&[u8], &str); 6] = [
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"RIFF", "image/webp"),
    (b"%PDF-", PDF),
];

pub(crate) const PDF: &str = "application/pdf";

/// A picture or a document.
#[derive(Clone, Debug, PartialEq)]
pub struct Medium {
    pub name: String,
    pub kind: &'static str,
    /// In base64.
    data: String,
}

impl Medium {
    /// Takes a file's bytes; none where they are of no kind that a model can be shown.
    pub fn of(name: &str, bytes: &[u8]) -> Option<Self> {
        let (_, kind) = BEGINNINGS.iter().find(|(begins, _)| bytes.starts_with(begins))?;
        let is_other = *kind == "image/webp" && bytes.get(8..12) != Some(b"WEBP");
        (!is_other).then(|| Self { name: name.to_owned(), kind, data: STANDARD.encode(bytes) })
    }

    /// Names the sense that a model needs for it, in the words of the table of makers.
    pub fn sense(&self) -> &'static str {
        if self.kind == PDF { "pdf" } else { "image" }
    }

    fn address(&self) -> String {
        format!("data:{};base64,{}", self.kind, self.data)
    }

    pub(crate) fn block(&self) -> Value {
        let kind = if self.kind == PDF { "document" } else { "image" };
        json!({"type": kind, "source": {"type": "base64", "media_type": self.kind, "data": self.data}})
    }

    pub(crate) fn chat_part(&self) -> Value {
        match self.kind {
            PDF => json!({"type": "file", "file": {"filename": self.name, "file_data": self.address()}}),
            _ => json!({"type": "image_url", "image_url": {"url": self.address()}}),
        }
    }

    pub(crate) fn responses_part(&self) -> Value {
        match self.kind {
            PDF => json!({"type": "input_file", "filename": self.name, "file_data": self.address()}),
            _ => json!({"type": "input_image", "image_url": self.address(), "detail": "auto"}),
        }
    }
}
