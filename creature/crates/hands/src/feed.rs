//! Feeds in RSS, Atom and JSON, as plain items.

use crate::Error;
use crate::broker::Body;
use crate::decode;
use crate::readable;
use crate::web::printable;
use feed_rs::model::{Entry, Feed as Parsed, Text};
use feed_rs::parser::Builder;
use reqwest::Url;

const MOST_SUMMARY_CHARS: usize = 600;
const MOST_TITLE_CHARS: usize = 300;

/// One feed, its items in the publisher's order.
#[derive(Clone, Debug, PartialEq)]
pub struct Feed {
    pub title: String,
    pub items: Vec<Item>,
}

/// One item of a feed.
#[derive(Clone, Debug, PartialEq)]
pub struct Item {
    /// The same for the same item in every reading: as published, else its link, title or first words.
    pub id: String,
    pub title: String,
    /// Empty where the item has no link.
    pub url: String,
    /// RFC 3339, UTC, with milliseconds.
    pub published: Option<String>,
    /// Plain text, at most 600 characters.
    pub summary: String,
}

/// The feed in an answer, or why there is none.
pub(crate) fn read(body: &Body, most_items: usize) -> Result<Feed, Error> {
    let parsed = parse(&body.bytes, &body.url).or_else(|cause| {
        // Two mendable faults: a wrong encoding in the first line, and an end cut off at the size limit.
        let text = decode::text(&body.content_type, &body.bytes);
        let text = match text.split_once("?>") {
            Some((head, rest)) if head.trim_start().starts_with("<?xml") => rest,
            _ => &text,
        };
        let whole = parse(text.as_bytes(), &body.url);
        whole.or_else(|_| parse(closed(text).as_bytes(), &body.url)).map_err(|_| cause)
    });
    let feed = parsed.map_err(|cause| no_feed(body, &cause))?;
    let title = text_line(feed.title.as_ref(), MOST_TITLE_CHARS);
    let items = feed.entries.iter().take(most_items).map(item).collect();
    Ok(Feed { title, items })
}

fn parse(bytes: &[u8], url: &Url) -> Result<Parsed, String> {
    let parser = Builder::new()
        .base_uri(Some(url.as_str()))
        // The parser's own last resort is a random number, which would make old items look new.
        .id_generator(|links, title, _| match (links.first(), title) {
            (Some(link), _) => link.href.clone(),
            (None, Some(title)) => title.content.clone(),
            (None, None) => String::new(),
        })
        .build();
    parser.parse(bytes).map_err(|cause| cause.to_string())
}

/// A feed cut off in the middle, ended after its last whole item.
fn closed(text: &str) -> String {
    let ends = [
        ("</entry>", "</feed>"),
        ("</item>", if text.contains("<rdf:RDF") { "</rdf:RDF>" } else { "</channel></rss>" }),
    ];
    for (item, rest) in ends {
        if let Some(at) = text.rfind(item) {
            return format!("{}{item}{rest}", text.get(..at).unwrap_or_default());
        }
    }
    String::new()
}

fn item(entry: &Entry) -> Item {
    let title = text_line(entry.title.as_ref(), MOST_TITLE_CHARS);
    let content = entry.content.as_ref().and_then(|content| content.body.as_deref());
    let summary = match (&entry.summary, content) {
        (Some(summary), _) if !summary.content.is_empty() => summary.content.as_str(),
        (_, content) => content.unwrap_or_default(),
    };
    let summary = readable::line(summary, MOST_SUMMARY_CHARS);
    let page = entry.links.iter().find(|link| link.rel.as_deref().is_none_or(|rel| rel == "alternate"));
    let url = page.or(entry.links.first()).map(|link| link.href.clone()).unwrap_or_default();
    let id = if entry.id.is_empty() { summary.chars().take(80).collect() } else { entry.id.clone() };
    let at = entry.published.or(entry.updated);
    let published = at.and_then(|at| jiff::Timestamp::from_millisecond(at.timestamp_millis()).ok());
    let published = published.map(|at| at.strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string());
    Item { id, title, url, published, summary }
}

fn text_line(text: Option<&Text>, most_chars: usize) -> String {
    text.map(|text| readable::line(&text.content, most_chars)).unwrap_or_default()
}

fn no_feed(body: &Body, cause: &str) -> Error {
    let name = printable(&body.url);
    if body.bytes.iter().all(u8::is_ascii_whitespace) {
        return Error::new(format!("read {name} as a feed: it is empty"), "try again later, or another feed");
    }
    let media = body.content_type.to_ascii_lowercase();
    if !media.starts_with("text/html") && !decode::looks_like_html(&body.bytes) {
        let cut = if body.cut { ", cut off at the size limit" } else { "" };
        let message = format!("read {name} as a feed{cut}: {cause}");
        return Error::new(message, "the feed is broken; try again later, or fetch the site's page instead");
    }
    let page = decode::text(&body.content_type, &body.bytes);
    let feeds = readable::feeds_of(&page, &body.url);
    let hint = if feeds.is_empty() {
        "the page names no feed; fetch it as a page instead".to_owned()
    } else {
        format!("the page names its feed: {}", feeds.join(" or "))
    };
    Error::new(format!("read {name} as a feed: it is an html page"), hint)
}
