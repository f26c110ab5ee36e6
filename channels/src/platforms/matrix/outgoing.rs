//! Messages as events: their content, and HTML as the plain text that stands beside it; pure.
//!
//! Matrix client-server API, "m.room.message msgtypes", "Event replacements", "Threading".

use super::events::{BUTTONS, KEYS};
use crate::channel::{Form, Message};
use crate::format::escape;
use serde_json::{Value, json};
use std::fmt::Write;

/// Most bytes of an event's content: a whole event has at most 65,536 ("Size limits"), some of them the homeserver's own.
pub const CONTENT_BYTES: usize = 62_000;

/// Content of a message: its text twice, in HTML and plain; plain alone where both are too long.
pub fn content(message: &Message, media: Option<&str>) -> Value {
    let mut whole = text(message, media, true);
    if whole.to_string().len() > CONTENT_BYTES {
        whole = text(message, media, false);
    }
    if let (Some(root), Some(content)) = (&message.chat.thread, whole.as_object_mut()) {
        // For programs that show no threads it answers the first message of its own.
        let relation = json!({ "rel_type": "m.thread", "event_id": root, "is_falling_back": true,
            "m.in_reply_to": { "event_id": root } });
        content.insert("m.relates_to".to_owned(), relation);
    }
    whole
}

/// Content that replaces that of an earlier message.
pub fn replacement(sent: &str, message: &Message) -> Value {
    let whole = |is_rich| {
        let new = text(message, None, is_rich);
        // Who cannot show edits shows this instead.
        let shown = format!("* {}", new.get("body").and_then(Value::as_str).unwrap_or_default());
        let of = json!({ "rel_type": "m.replace", "event_id": sent });
        json!({ "msgtype": "m.text", "body": shown, "m.new_content": new, "m.relates_to": of })
    };
    let rich = whole(true);
    if rich.to_string().len() > CONTENT_BYTES { whole(false) } else { rich }
}

fn text(message: &Message, media: Option<&str>, is_rich: bool) -> Value {
    let is_html = message.form == Form::MatrixHtml;
    let mut body = if is_html { plain(&message.text) } else { message.text.clone() };
    let mut html = (is_html && is_rich).then(|| message.text.clone());
    for (key, button) in KEYS.iter().zip(&message.buttons) {
        let _ = write!(body, "\n{key} {}", button.label);
        if let Some(html) = &mut html {
            let _ = write!(html, "<br>{key} ");
            escape::html(&button.label, html);
        }
    }
    let mut content = match (&message.file, media) {
        (Some(file), Some(url)) => {
            // Without a caption the body is the name ("Media captions").
            let shown = if body.is_empty() { file.name.clone() } else { body };
            let (kind, mime) = kind(&file.name);
            json!({ "msgtype": kind, "body": shown, "filename": file.name, "url": url,
                "info": { "size": file.bytes.len(), "mimetype": mime } })
        }
        _ => json!({ "msgtype": "m.text", "body": body }),
    };
    let Some(fields) = content.as_object_mut() else { return content };
    if let Some(html) = html.filter(|html| !html.is_empty()) {
        fields.insert("format".to_owned(), json!("org.matrix.custom.html"));
        fields.insert("formatted_body".to_owned(), json!(html));
    }
    if !message.buttons.is_empty() {
        fields.insert(BUTTONS.to_owned(), json!(message.buttons));
    }
    content
}

/// Kind of a file by its name: a picture that every program shows, else a file.
fn kind(name: &str) -> (&'static str, &'static str) {
    let ending = name.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase()).unwrap_or_default();
    match ending.as_str() {
        "png" => ("m.image", "image/png"),
        "jpg" | "jpeg" => ("m.image", "image/jpeg"),
        "gif" => ("m.image", "image/gif"),
        "webp" => ("m.image", "image/webp"),
        _ => ("m.file", "application/octet-stream"),
    }
}

/// HTML of ours as plain text: tags away, ends of blocks as ends of lines.
pub fn plain(html: &str) -> String {
    let mut text = String::with_capacity(html.len());
    let mut rest = html;
    while let Some((before, tag)) = rest.split_once('<') {
        text.push_str(before);
        let Some((name, after)) = tag.split_once('>') else {
            text.push('<');
            rest = tag;
            break;
        };
        match name.trim_end_matches('/').split_whitespace().next().unwrap_or_default() {
            "br" | "/li" | "/tr" | "/h1" | "/h2" | "/h3" | "/h4" | "/h5" | "/h6" | "/blockquote" => {
                text.push('\n')
            }
            "/p" | "/pre" | "/ul" | "/ol" | "/table" => text.push_str("\n\n"),
            "li" => text.push_str("- "),
            "/td" | "/th" => text.push(' '),
            _ => {}
        }
        rest = after;
    }
    text.push_str(rest);
    while text.contains("\n\n\n") {
        text = text.replace("\n\n\n", "\n\n");
    }
    let read = text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&#39;", "'");
    read.replace("&amp;", "&").trim().to_owned()
}
