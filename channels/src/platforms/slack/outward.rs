//! Messages out to Slack: blocks, files, and a look for one whose answer never came.

use super::text::escaped;
use super::web::{As, Web};
use crate::channel::{Button, Form, Message, Outgoing, Sent, Trouble};
use crate::platforms::calls::{at, put};
use serde_json::{Value, json};
use std::time::Duration;

/// Looks for a message whose fate is unknown, and how far apart.
const LOOKS: u32 = 2;
const BETWEEN_LOOKS: Duration = Duration::from_secs(1);
/// chat.update, Errors, msg_too_long; more than a message has.
const FALLBACK_CHARS: usize = 3_900;

/// Sends a message: its text and buttons, or its file with the text beside it.
pub async fn send(web: &Web, message: &Message) -> Result<Sent, Trouble> {
    let Some(file) = &message.file else { return post(web, message).await };
    if message.buttons.is_empty() {
        return upload(web, message, file, &fallback(message)).await;
    }
    upload(web, message, file, "").await?;
    // The file stands there by now: both again would show it twice.
    post(web, message).await.map_err(|trouble| {
        let is_half = matches!(trouble, Trouble::Away(_) | Trouble::Slower(_));
        if is_half {
            Trouble::Doubtful("Slack took the file, and not yet its text".to_owned())
        } else {
            trouble
        }
    })
}

/// chat.update: the text and buttons anew.
pub async fn edit(web: &Web, sent: &str, message: &Message) -> Result<(), Trouble> {
    let (blocks, text) = (blocks(message, None).to_string(), fallback(message));
    let what = [("channel", message.chat.id.as_str()), ("ts", sent), ("text", &text), ("blocks", &blocks)];
    web.ask("chat.update", &what).await.map(|_| ())
}

/// chat.postMessage; where the answer does not come, looks whether it stands there by the id of its block.
async fn post(web: &Web, message: &Message) -> Result<Sent, Trouble> {
    let (blocks, text) = (blocks(message, Some(&message.key)).to_string(), fallback(message));
    let mut what = vec![
        ("channel", message.chat.id.as_str()),
        ("text", &text),
        ("blocks", &blocks),
        // An address would be fetched from wherever a link leads.
        ("unfurl_links", "false"),
        ("unfurl_media", "false"),
    ];
    let thread = message.chat.thread.as_deref();
    what.extend(thread.map(|thread| ("thread_ts", thread)));
    match web.call(As::Bot, "chat.postMessage", &what).await {
        Ok(told) => Ok(Sent { message: at(&told, "/ts").as_str().unwrap_or_default().to_owned() }),
        Err(Trouble::Doubtful(why)) => found(web, message, thread).await.ok_or(Trouble::Doubtful(why)),
        Err(trouble) => Err(trouble),
    }
}

async fn found(web: &Web, message: &Message, thread: Option<&str>) -> Option<Sent> {
    let method = if thread.is_some() { "conversations.replies" } else { "conversations.history" };
    let mut what = vec![("channel", message.chat.id.as_str()), ("limit", "30")];
    what.extend(thread.map(|thread| ("ts", thread)));
    for look in 0..LOOKS {
        if look > 0 {
            tokio::time::sleep(BETWEEN_LOOKS).await;
        }
        let Ok(told) = web.ask(method, &what).await else { continue };
        let said = at(&told, "/messages").as_array().map_or(&[][..], Vec::as_slice);
        let ours = said.iter().find(|said| at(said, "/blocks/0/block_id") == message.key.as_str());
        if let Some(ts) = ours.and_then(|said| at(said, "/ts").as_str()) {
            return Some(Sent { message: ts.to_owned() });
        }
    }
    None
}

/// files.getUploadURLExternal, the bytes, files.completeUploadExternal: shown only by the last of them.
async fn upload(web: &Web, message: &Message, file: &Outgoing, comment: &str) -> Result<Sent, Trouble> {
    let length = file.bytes.len().to_string();
    let place =
        web.ask("files.getUploadURLExternal", &[("filename", &file.name), ("length", &length)]).await?;
    let text = |key: &str| at(&place, &format!("/{key}")).as_str().unwrap_or_default().to_owned();
    let (id, url) = (text("file_id"), text("upload_url"));
    web.upload(&url, file.bytes.clone()).await?;
    let files = json!([{"id": id, "title": file.name}]).to_string();
    let mut what = vec![("files", files.as_str()), ("channel_id", &message.chat.id)];
    what.extend(message.chat.thread.as_deref().map(|thread| ("thread_ts", thread)));
    if !comment.is_empty() {
        what.push(("initial_comment", comment));
    }
    web.call(As::Bot, "files.completeUploadExternal", &what).await?;
    Ok(Sent { message: id })
}

/// Section block and actions block. The text always whole: `expand`; a block's id returns with the message.
fn blocks(message: &Message, key: Option<&str>) -> Value {
    let kind = if message.form == Form::SlackMrkdwn { "mrkdwn" } else { "plain_text" };
    let mut section =
        json!({"type": "section", "expand": true, "text": {"type": kind, "text": message.text}});
    if let Some(key) = key {
        put(&mut section, "block_id", key);
    }
    let mut blocks = vec![section];
    if !message.buttons.is_empty() {
        let elements: Vec<Value> =
            message.buttons.iter().enumerate().map(|(at, shown)| button(at, shown)).collect();
        blocks.push(json!({"type": "actions", "elements": elements}));
    }
    blocks.into()
}

fn button(at: usize, button: &Button) -> Value {
    json!({
        "type": "button", "action_id": format!("button-{at}"), "value": button.data,
        "text": {"type": "plain_text", "text": button.label},
    })
}

/// Text for notifications, and beside a file: chat.postMessage, "text" with blocks.
fn fallback(message: &Message) -> String {
    if message.form == Form::SlackMrkdwn {
        return message.text.clone();
    }
    escaped(&message.text).chars().take(FALLBACK_CHARS).collect()
}
