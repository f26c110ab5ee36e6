//! Pictures and documents: each rule of each wire is broken once and kept once.

use super::client::post;
use crate::faithful::{Faithful, Rules, Say, Wire};
use serde_json::{Value, json};

const PNG: &str = "iVBORw0KGgoAAAAN";
const PDF: &str = "JVBERi0xLjcK";

fn refused(wire: Wire, content: Value, words: &str) {
    let (server, body) = asked(wire, content);
    let (status, reply) = post(&server, path(wire), &body);
    assert!(status == 400 && reply.to_string().contains(words), "{wire:?} {words}: {status} {reply}");
}

fn taken(wire: Wire, content: Value) {
    let (server, body) = asked(wire, content);
    let (status, reply) = post(&server, path(wire), &body);
    assert_eq!(status, 200, "{wire:?}: {reply}");
}

fn path(wire: Wire) -> &'static str {
    match wire {
        Wire::Anthropic => "/llm/anthropic/v1/messages",
        Wire::Responses => "/llm/openai/v1/responses",
        Wire::Chat => "/llm/openai/v1/chat/completions",
    }
}

fn asked(wire: Wire, content: Value) -> (Faithful, Value) {
    let server = Faithful::start(wire, Rules::default(), |_| Say::new().says("Seven herons."));
    let said = json!([{"role": "user", "content": content}]);
    let body = match wire {
        Wire::Responses => {
            json!({"model": wire.model(), "max_output_tokens": 900, "store": false, "input": said})
        }
        Wire::Anthropic => json!({"model": wire.model(), "max_tokens": 900, "messages": said}),
        Wire::Chat => json!({"model": wire.model(), "max_completion_tokens": 900, "messages": said}),
    };
    (server, body)
}

#[test]
fn anthropic_takes_data_of_the_type_it_is_called() {
    let source = |media: &str, data: &str| json!({"type": "base64", "media_type": media, "data": data});
    let block = |kind: &str, source: Value| json!([{"type": kind, "source": source}, {"type": "text", "text": "what is it?"}]);
    taken(Wire::Anthropic, block("image", source("image/png", PNG)));
    taken(Wire::Anthropic, block("document", source("application/pdf", PDF)));
    for (kind, source, words) in [
        ("image", source("image/tiff", PNG), "media_type"),
        ("image", source("application/pdf", PDF), "media_type"),
        ("image", source("image/jpeg", PNG), "does not match the provided media type"),
        ("image", source("image/png", "data:image/png;base64,AAAA"), "invalid base64 data"),
        ("image", source("image/png", "iVBORw0KGgo"), "invalid base64 data"),
        ("image", source("image/png", &format!("{PNG}{}", "A".repeat(5 << 20))), "exceeds 5 MB"),
        (
            "image",
            json!({"type": "base64", "mime_type": "image/png", "data": PNG}),
            "mime_type: Extra inputs",
        ),
        ("image", json!({"type": "bytes"}), "Input tag 'bytes'"),
        ("document", source("image/png", PNG), "media_type"),
        ("document", source("application/pdf", PNG), "does not match"),
    ] {
        refused(Wire::Anthropic, block(kind, source), words);
    }
    refused(
        Wire::Anthropic,
        json!([{"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}]),
        "image_url",
    );
}

#[test]
fn chat_takes_addresses_of_data_and_names_of_files() {
    let image = |url: &str| json!([{"type": "image_url", "image_url": {"url": url}}, {"type": "text", "text": "what?"}]);
    let file = |file: Value| json!([{"type": "file", "file": file}, {"type": "text", "text": "what?"}]);
    let (png, pdf) = (format!("data:image/png;base64,{PNG}"), format!("data:application/pdf;base64,{PDF}"));
    taken(Wire::Chat, image(&png));
    taken(Wire::Chat, file(json!({"filename": "a.pdf", "file_data": pdf})));
    refused(Wire::Chat, image(PNG), "Expected a base64-encoded data URL");
    refused(Wire::Chat, image(&pdf), "Invalid MIME type");
    refused(Wire::Chat, image(&format!("data:image/gif;base64,{PNG}")), "does not match");
    refused(Wire::Chat, json!([{"type": "image", "source": {}}]), "Supported values are");
    refused(Wire::Chat, file(json!({"file_data": pdf})), "file.filename");
    refused(Wire::Chat, file(json!({"filename": "a.png", "file_data": png})), "Invalid MIME type");
    let (server, mut body) = asked(Wire::Chat, json!("hello"));
    body["messages"].as_array_mut().unwrap().insert(0, json!({"role": "system", "content": image(&png)}));
    let (status, reply) = post(&server, path(Wire::Chat), &body);
    assert!(
        status == 400 && reply.to_string().contains("only allowed in messages with role 'user'"),
        "{reply}"
    );
}

#[test]
fn responses_takes_parts_of_its_own_names() {
    let part = |part: Value| json!([part, {"type": "input_text", "text": "what?"}]);
    let (png, pdf) = (format!("data:image/png;base64,{PNG}"), format!("data:application/pdf;base64,{PDF}"));
    taken(Wire::Responses, part(json!({"type": "input_image", "image_url": png, "detail": "auto"})));
    taken(Wire::Responses, part(json!({"type": "input_file", "filename": "a.pdf", "file_data": pdf})));
    for (odd, words) in [
        (json!({"type": "input_image", "image_url": png}), "detail"),
        (json!({"type": "input_image", "image_url": {"url": png}, "detail": "auto"}), "data URL"),
        (json!({"type": "input_file", "file_data": pdf}), "filename"),
        (json!({"type": "input_file", "filename": "a.pdf", "file_data": PDF}), "data URL"),
        (json!({"type": "image_url", "image_url": {"url": png}}), "image_url"),
    ] {
        refused(Wire::Responses, part(odd), words);
    }
}
