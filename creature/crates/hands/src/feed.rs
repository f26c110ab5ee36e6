//! Feeds in RSS, Atom and JSON, as plain items, the newest first.

use crate::Error;
use crate::body::{Body, printable};
use crate::decode;
use crate::json_feed;
use crate::readable;
use feed_rs::model::{Entry, Feed as Parsed, Text};
use feed_rs::parser::Builder;
use jiff::Timestamp;
use reqwest::Url;
use std::collections::{HashMap, HashSet};

pub(crate) const MOST_SUMMARY_CHARS: usize = 600;
pub(crate) const MOST_TITLE_CHARS: usize = 300;
const MOST_CAUSE_CHARS: usize = 200;

/// Items of a feed that are looked at; of those beyond, which are the oldest, nothing is known.
pub const MOST_ITEMS: usize = 200;

/// Feed: dated items first, the newest before the others, then those without a date in the publisher's order.
#[derive(Clone, Debug, PartialEq)]
pub struct Feed {
    pub title: String,
    pub items: Vec<Item>,
    /// Seconds for which it says that it stays as it is; 0 where it does not say.
    pub fresh_s: u64,
}

/// Item of a feed.
#[derive(Clone, Debug, PartialEq)]
pub struct Item {
    /// Id that is the same in every reading of the item: as published, else its link, title or first words.
    pub id: String,
    pub title: String,
    /// The page about the item, else what is attached to it; empty where the item has neither.
    pub url: String,
    /// Whether the link leads to an attachment: a sound, a film.
    pub enclosure: bool,
    /// RFC 3339, UTC, with milliseconds.
    pub published: Option<String>,
    /// Plain text, at most 600 characters.
    pub summary: String,
}

/// The feed in an answer, or why there is none.
pub(crate) fn read(body: &Body) -> Result<Feed, Error> {
    let read = json_feed::read(&body.bytes, &body.url).map_or_else(|| xml(body), Ok);
    let mut feed = read.map_err(|cause| no_feed(body, &cause))?;
    feed.items = apart(std::mem::take(&mut feed.items));
    // None is before any date, and the sort is stable.
    feed.items.sort_by(|one, other| other.published.cmp(&one.published));
    feed.items.truncate(MOST_ITEMS);
    Ok(feed)
}

fn xml(body: &Body) -> Result<Feed, String> {
    let parsed = parse(&body.bytes, &body.url).or_else(|cause| {
        // What can be mended: a wrong encoding in the first line, words before it, another such line further on,
        // characters that XML has other names for, and an end cut off at the size limit.
        let text = decode::text(&body.content_type, &body.bytes);
        let text = from_the_root(&text);
        let whole = parse(text.as_bytes(), &body.url);
        let mended = mended(text);
        let whole = whole.or_else(|_| parse_plain(mended.as_bytes(), &body.url));
        whole.or_else(|_| parse_plain(closed(&mended).as_bytes(), &body.url)).map_err(|_| cause)
    });
    let feed = parsed?;
    let title = text_line(feed.title.as_ref(), MOST_TITLE_CHARS);
    let fresh_s = u64::from(feed.ttl.unwrap_or(0)) * 60;
    Ok(Feed { title, items: feed.entries.iter().map(item).collect(), fresh_s })
}

/// Beginning of an XML declaration.
const DECLARATION: &str = "<?xml ";

/// Drops the declaration, and what a broken program printed, before the feed's own element.
fn from_the_root(text: &str) -> &str {
    let roots = ["<rss", "<feed", "<rdf:RDF", "<RDF", "<channel"];
    let at = roots.iter().filter_map(|root| text.find(root)).min();
    at.and_then(|at| text.get(at..)).unwrap_or(text)
}

/// The text with each `&` that begins no entity of XML as `&amp;`, so that names of HTML reach its reader, and
/// without declarations of an encoding and characters that XML forbids.
fn mended(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 64);
    let mut rest = text;
    while let Some(at) = rest.find(['&', '<']) {
        let (before, here) = rest.split_at(at);
        out.push_str(before);
        let data = here.starts_with("<![CDATA[").then(|| here.find("]]>").map_or(here.len(), |end| end + 3));
        let taken = match data {
            Some(end) => end,
            None if here.starts_with(DECLARATION) => {
                rest = here.split_once('>').map_or("", |(_, after)| after);
                continue;
            }
            None if here.starts_with('<') || is_entity(here) => 1,
            None => {
                out.push_str("&amp;");
                rest = here.get(1..).unwrap_or_default();
                continue;
            }
        };
        let (taken, left) = here.split_at(taken);
        out.push_str(taken);
        rest = left;
    }
    out.push_str(rest);
    out.retain(|c| !c.is_control() || matches!(c, '\t' | '\n' | '\r'));
    out
}

/// Whether an entity of XML begins here: one of its five names, or the number of a character that it allows.
fn is_entity(text: &str) -> bool {
    let Some((name, _)) = text.get(1..).and_then(|text| text.split_once(';')) else { return false };
    let number = |digits: &str, base| u32::from_str_radix(digits, base).ok().and_then(char::from_u32);
    match name.strip_prefix('#') {
        Some(digits) => {
            let found = match digits.strip_prefix(['x', 'X']) {
                Some(digits) => number(digits, 16),
                None => number(digits, 10),
            };
            found.is_some_and(|c| !c.is_control() || matches!(c, '\t' | '\n' | '\r'))
        }
        None => matches!(name, "amp" | "lt" | "gt" | "quot" | "apos"),
    }
}

/// Reads what has one declaration at most, at its beginning: quick-xml 0.42 panics over one further on that names another
/// encoding. One in UTF-16 would not be seen, so that is left to `decode`.
fn parse(bytes: &[u8], url: &Url) -> Result<Parsed, String> {
    let mut further = bytes.get(1..).unwrap_or_default().windows(DECLARATION.len());
    match further.any(|part| part == DECLARATION.as_bytes()) || bytes.contains(&0) {
        true => Err("it declares its encoding in its middle, or is not in UTF-8".to_owned()),
        false => parse_plain(bytes, url),
    }
}

fn parse_plain(bytes: &[u8], url: &Url) -> Result<Parsed, String> {
    let parser = Builder::new()
        .base_uri(Some(url.as_str()))
        // The parser's own last resort is a random number, which would make old items look new; ours is in `item`.
        .id_generator(|_, _, _| String::new())
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

/// Drops an item that stands twice; tells different items under one id apart by their links and titles. In time in
/// proportion to the items, of which a feed may hold any number.
fn apart(mut items: Vec<Item>) -> Vec<Item> {
    let mut known = HashSet::new();
    items.retain(|item| known.insert((item.id.clone(), item.title.clone(), item.url.clone())));
    let mut shared: HashMap<String, usize> = HashMap::new();
    items.iter().for_each(|item| *shared.entry(item.id.clone()).or_default() += 1);
    for item in &mut items {
        if shared.get(&item.id).is_some_and(|count| *count > 1) {
            item.id = format!("{} {} {}", item.id, item.url, item.title);
        }
    }
    items
}

fn item(entry: &Entry) -> Item {
    let title = text_line(entry.title.as_ref(), MOST_TITLE_CHARS);
    let content = entry.content.as_ref().and_then(|content| content.body.as_deref());
    let attached =
        entry.media.iter().flat_map(|media| &media.content).find_map(|content| content.url.as_ref());
    let described = entry.media.iter().find_map(|media| media.description.as_ref());
    let summary = match (&entry.summary, content, described) {
        (Some(summary), ..) if !summary.content.is_empty() => summary.content.as_str(),
        (_, Some(content), _) => content,
        (_, None, described) => described.map_or("", |text| text.content.as_str()),
    };
    let summary = readable::line(summary, MOST_SUMMARY_CHARS);
    let of = |rel: &str| entry.links.iter().find(|link| link.rel.as_deref() == Some(rel));
    let page = entry
        .links
        .iter()
        .find(|link| link.rel.is_none() && link.target.is_none())
        .or_else(|| of("alternate"));
    let page = page.map(|link| link.href.clone());
    // A guid is the item's address unless it says otherwise; where it is no address, it cannot be one.
    let permanent = Some(&entry.id).filter(|id| id.starts_with("http://") || id.starts_with("https://"));
    let page = page.or_else(|| permanent.cloned());
    let other = entry.links.iter().find(|link| link.rel.as_deref() != Some("enclosure"));
    let page = page.or_else(|| other.map(|link| link.href.clone()));
    let attached = of("enclosure").map(|link| link.href.clone()).or(attached.map(ToString::to_string));
    let enclosure = page.is_none() && attached.is_some();
    let url = page.or(attached).unwrap_or_default();
    let own: String = format!("{title} {summary}").trim().chars().take(80).collect();
    let id = [&entry.id, &url, &own].into_iter().find(|id| !id.is_empty()).cloned().unwrap_or_default();
    let at = entry.published.or(entry.updated);
    let published = at.and_then(|at| Timestamp::from_millisecond(at.timestamp_millis()).ok()).map(shown);
    Item { id, title, url, enclosure, published, summary }
}

pub(crate) fn shown(at: Timestamp) -> String {
    at.strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string()
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
        // The parser quotes what it cannot read, whole.
        let cause: String = cause.chars().take(MOST_CAUSE_CHARS).collect();
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
