//! Block Kit as the faithful Slack takes it: Section block, Actions block, Button element.

use serde_json::Value;

/// The error of these blocks, if any.
pub fn wrong(blocks: &Value) -> Option<&'static str> {
    let Some(blocks) = blocks.as_array() else { return Some("invalid_blocks_format") };
    // Blocks: up to 50 in a message.
    if blocks.len() > 50 {
        return Some("invalid_blocks");
    }
    let mut ids = Vec::new();
    for block in blocks {
        // Blocks: `block_id` at most 255 characters, unique in its message.
        if let Some(id) = block["block_id"].as_str() {
            if id.chars().count() > 255 || ids.contains(&id) {
                return Some("invalid_blocks");
            }
            ids.push(id);
        }
        let is_right = match block["type"].as_str() {
            Some("section") => is_section(block),
            Some("actions") => is_actions(block),
            _ => false,
        };
        if !is_right {
            return Some("invalid_blocks");
        }
    }
    None
}

/// `text`: 1 to 3000 characters, mrkdwn or plain_text.
fn is_section(block: &Value) -> bool {
    let text = &block["text"];
    let length = text["text"].as_str().unwrap_or_default().chars().count();
    matches!(text["type"].as_str(), Some("mrkdwn" | "plain_text")) && (1..=3_000).contains(&length)
}

/// At most 25 elements; a button's text at most 75 characters, its value 2000, its action_id 255 and unique in its block.
fn is_actions(block: &Value) -> bool {
    let elements = block["elements"].as_array().cloned().unwrap_or_default();
    let mut ids = Vec::new();
    (1..=25).contains(&elements.len())
        && elements.iter().all(|element| {
            let length = |value: &Value| value.as_str().unwrap_or_default().chars().count();
            let id = element["action_id"].as_str().unwrap_or_default().to_owned();
            let is_new = !ids.contains(&id);
            ids.push(id);
            element["type"] == "button"
                && element["text"]["type"] == "plain_text"
                && (1..=75).contains(&length(&element["text"]["text"]))
                && length(&element["value"]) <= 2_000
                && length(&element["action_id"]) <= 255
                && is_new
        })
}
