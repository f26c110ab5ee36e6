//! `feed.*`: the newest items of RSS, Atom and JSON feeds.

use super::arguments::Arguments;
use super::tool_context::{ToolContext, fault, with};
use crate::fault::Fault;
use ground::text::first;
use hands::Item;
use instinct::feeds;
use serde_json::{Value, json};

/// Characters of an item's summary, so that twenty items fit a result.
const MOST_SUMMARY: usize = 200;

/// The same, and of its title, where the keys of all items stand beside: then five items and 200 keys fit.
const MOST_BESIDE_KEYS: usize = 140;

pub async fn read(tools: &mut ToolContext<'_>, args: &Arguments) -> Result<Value, Fault> {
    let (url, most) = (args.text("url").trim(), args.number("most").unwrap_or(10));
    let keys = args.maybe_flag("keys") == Some(true);
    let feed = hands::fetch_feed(tools.way_out()?, url, hands::MOST_ITEMS).await.map_err(fault)?;
    let items = feed.items.iter().skip(args.number("skip").unwrap_or(0)).take(most);
    let items: Vec<Value> = items.map(|item| if keys { brief(item) } else { full(item) }).collect();
    let read = json!({"url": url, "title": feed.title, "items": items, "items_total": feed.items.len()});
    let keys = keys.then(|| feed.items.iter().map(key).collect::<Vec<_>>().join(" "));
    Ok(with(read, json!({"keys": keys})))
}

fn full(item: &Item) -> Value {
    json!({
        "id": item.id,
        "title": item.title,
        "url": item.url,
        "published": item.published,
        "summary": first(&item.summary, MOST_SUMMARY),
    })
}

fn brief(item: &Item) -> Value {
    json!({
        "key": key(item),
        "title": first(&item.title, MOST_BESIDE_KEYS),
        "url": item.url,
        "kind": if item.enclosure { "enclosure" } else { "page" },
        "summary": first(&item.summary, MOST_BESIDE_KEYS),
    })
}

fn key(item: &Item) -> String {
    format!("{:08x}", feeds::key(&item.id))
}
