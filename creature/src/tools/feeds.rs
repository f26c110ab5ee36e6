//! `feed.*`: the newest items of RSS and Atom feeds.

use super::arguments::Arguments;
use super::page::head;
use super::tool_context::{ToolContext, fault};
use crate::fault::Fault;
use serde_json::{Value, json};

/// Characters of an item's summary, so that twenty items fit a result.
const MOST_SUMMARY: usize = 200;

pub async fn read(tools: &mut ToolContext<'_>, args: &Arguments) -> Result<Value, Fault> {
    let (url, most) = (args.text("url").trim(), args.number("most").unwrap_or(10));
    let feed = hands::fetch_feed(tools.way_out()?, url, most).await.map_err(fault)?;
    let items = feed.items.iter().map(|item| {
        json!({
            "id": item.id,
            "title": item.title,
            "url": item.url,
            "published": item.published,
            "summary": head(&item.summary, MOST_SUMMARY),
        })
    });
    Ok(json!({"url": url, "title": feed.title, "items": items.collect::<Vec<_>>()}))
}
