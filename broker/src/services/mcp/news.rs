//! News of MCP servers for the creature, a line each in `.self/news.jsonl`: resources that the owner has watched, late calls.
//!
//! Invariant: that a server's words are text of others is noted before they are written. A server has a line in two
//! minutes at most; what comes meanwhile is told together.

use super::server::Server;
use crate::ground::files;
use crate::services::Services;
use anyhow::{Result, bail};
use house::House;
use house::bounds::brief;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, sleep};

const LOOK: Duration = Duration::from_secs(1);
/// Time between two news of a server.
const BETWEEN: Duration = Duration::from_secs(120);
/// Time after which a call is late.
const LATE: Duration = Duration::from_secs(10);
/// Characters of the address of a resource.
const MOST_ADDRESS: usize = 200;
/// Resources that are named; more are counted.
const MOST_NAMED: usize = 8;
/// Bytes of the file, and of those that are kept where it is longer.
const MOST_BYTES: u64 = 256 << 10;
const KEPT_BYTES: u64 = 64 << 10;

/// Tells news for as long as there are servers.
pub async fn tell(services: Arc<Services>) {
    // When it was told of each, and how far its call was.
    let mut last: BTreeMap<&str, (Instant, String)> = BTreeMap::new();
    while !services.mcp.servers.is_empty() {
        for (name, server) in &services.mcp.servers {
            let before = last.get(name.as_str());
            if before.is_some_and(|(at, _)| at.elapsed() < BETWEEN) {
                continue;
            }
            let words = server.progress().unwrap_or_default();
            let goes_on = before.is_none_or(|(_, before)| *before != words);
            let late = goes_on.then(|| late(server, &words)).flatten();
            for news in changed(&services, server).into_iter().chain(late) {
                last.insert(name, (Instant::now(), words.clone()));
                if let Err(error) = told(&services, name, server, news) {
                    tracing::warn!("news of MCP server {name} are not told: {error:#}");
                }
            }
        }
        sleep(LOOK).await;
    }
}

/// Resources that are watched and not as they were.
fn changed(services: &Services, server: &Server) -> Option<Value> {
    let changed = server.watched().take();
    let shown = |address: &String| {
        brief(&house::printable::flat(&services.handles.secrets.scrub(address)), MOST_ADDRESS)
    };
    let named: Vec<String> = changed.iter().take(MOST_NAMED).map(shown).collect();
    let more = changed.len() - named.len();
    (!named.is_empty()).then(|| json!({"event": "changed", "resources": named, "more": more}))
}

/// How far a call is that takes long, where its server says so.
fn late(server: &Server, words: &str) -> Option<Value> {
    let (tool, since) = server.under_way().filter(|(_, since)| *since >= LATE && !words.is_empty())?;
    Some(json!({"event": "progress", "tool": tool, "for_s": since.as_secs(), "text": words}))
}

fn told(services: &Services, name: &str, server: &Server, news: Value) -> Result<()> {
    let handles = &services.handles;
    if server.start.settings.untrusted && handles.taint.try_read_untrusted(0).is_err() {
        bail!("that text of others is read could not be written down");
    }
    let mut line = json!({"at": handles.clock.stamp(), "server": name});
    if let (Some(line), Value::Object(news)) = (line.as_object_mut(), news) {
        line.extend(news);
    }
    append(&handles.house, &line)
}

/// Adds a line; of a long file only the end is kept.
fn append(house: &House, line: &Value) -> Result<()> {
    let path = house.news();
    if files::mark(&path).is_some_and(|mark| mark.bytes > MOST_BYTES) {
        let end = house::files::tail(&path, KEPT_BYTES);
        let whole = end.split_once('\n').map_or("", |(_, whole)| whole);
        files::replace(&path, whole.as_bytes())?;
    }
    files::append_line(&path, &line.to_string())
}
