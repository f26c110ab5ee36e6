//! News of the owner's MCP servers: reads what is new in `.self/news.jsonl`, which the broker writes.

use super::asks::word;
use super::inbox::{InboxCursor, fresh};
use ground::text::{keep_last, shorten};
use serde_json::Value;
use std::path::Path;

/// Characters of one, whose words are the server's.
const MOST_CHARS: usize = 700;

/// News taken at once; of more, the newest.
const MOST: usize = 16;

/// Reads the news after the cursor, each with its key in `Cursors::told` and a sentence, and moves it behind them; the last
/// sentence says what was odd. Of a file that was cut to its end all is read anew.
pub fn read_news(path: &Path, cursor: &mut InboxCursor) -> (Vec<(String, String)>, String) {
    let (bytes, odd) = fresh(path, cursor);
    let lines = bytes.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok());
    let mut news: Vec<(String, String)> = lines.filter_map(|line: Value| told(&line)).collect();
    keep_last(&mut news, MOST);
    (news, odd)
}

fn told(line: &Value) -> Option<(String, String)> {
    let [at, server, event] = ["at", "server", "event"].map(|name| word(line, name, 60));
    let told = match event.as_str() {
        "changed" => format!(
            "News of the server {server}: not as it was, by its own words (text of others): {}. mcp.call with its tool \
             resources/read and a `uri` reads it, where your owner's rules allow that.",
            word(line, "resources", 500)
        ),
        "progress" => format!(
            "The server {server} is still at work on {} after {} s and says (text of others): {}",
            word(line, "tool", 80),
            word(line, "for_s", 10),
            word(line, "text", 300)
        ),
        _ => return None,
    };
    (!server.is_empty()).then(|| (format!("news {at} {server} {event}"), shorten(&told, MOST_CHARS)))
}
