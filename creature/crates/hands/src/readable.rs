//! Pages to readable text: the article where there is one, else the whole page with its links.

use crate::Error;
use crate::body::{Body, printable};
use crate::decode::{self, Kind};
use crate::tags::{flatten, is_hard};
use dom_smoothie::{Config, Readability, TextMode};
use reqwest::Url;

/// Shorter articles than this are taken for a failure to find one.
const SHORTEST_ARTICLE_CHARS: usize = 200;
const WIDTH: usize = 100;

/// Feeds of a page that are named, and the bytes of each.
const MOST_FEEDS: usize = 8;
const MOST_LINK_BYTES: usize = 500;

/// Stack of a parsing thread: the parsers recurse, and the deepest page that `is_hard` lets through must fit.
const STACK_BYTES: usize = 32 * 1024 * 1024;

/// A page's title and text.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Readable {
    pub title: String,
    pub text: String,
}

/// Runs `work` on a thread of its own, so that a parser which panics or never ends stops nobody.
///
/// Not the runtime's blocking pool: that has small stacks, and a runtime waits for it when it ends.
pub(crate) async fn apart<T: Send + 'static>(
    url: &Url,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Error> {
    let (done, result) = tokio::sync::oneshot::channel();
    let thread = std::thread::Builder::new().name("reader".into()).stack_size(STACK_BYTES);
    let failed = |why: &str| {
        let message = format!("read {}: {why}", printable(url));
        Error::new(message, "the page is too odd to be read; try another source")
    };
    // Past the caller's deadline nobody receives the result, and it is dropped.
    let started = thread.spawn(move || drop(done.send(work())));
    started.map_err(|cause| failed(&format!("no thread to parse it: {cause}")))?;
    result.await.map_err(|_| failed("the parser crashed"))
}

/// The readable text of an answer, or why it has none.
pub(crate) fn read(body: &Body) -> Result<Readable, Error> {
    let name = printable(&body.url);
    let page = match decode::kind(&body.content_type, &body.bytes) {
        Kind::Html => html(&decode::text(&body.content_type, &body.bytes), &body.url),
        Kind::Text => Readable { title: String::new(), text: decode::text(&body.content_type, &body.bytes) },
        Kind::Binary => {
            let what = if body.content_type.is_empty() { "binary data" } else { &body.content_type };
            let message = format!("read {name}: it is {what}, not text");
            return Err(Error::new(message, "only pages and text can be read; look for an html version"));
        }
    };
    if page.text.trim().is_empty() {
        let message = format!("read {name}: there is no text on it");
        return Err(Error::new(
            message,
            "it may need scripts to show anything; look for a feed or another page",
        ));
    }
    Ok(page)
}

/// The article of an HTML page as text; the whole page where none is found.
pub fn html(html: &str, url: &Url) -> Readable {
    if is_hard(html) {
        return Readable { title: String::new(), text: whole(&flatten(html)) };
    }
    let config = Config { text_mode: TextMode::Formatted, ..Config::default() };
    let Ok(mut page) = Readability::new(html, Some(url.as_str()), Some(config)) else {
        return Readable { title: String::new(), text: whole(html) };
    };
    let title = page.get_article_title().to_string();
    let article = page.parse().ok();
    let (title, text) = match article {
        Some(found) => (found.title, found.text_content.trim().to_owned()),
        None => (title, String::new()),
    };
    if text.chars().count() >= SHORTEST_ARTICLE_CHARS {
        return Readable { title, text };
    }
    let all = whole(html);
    let text = if all.len() > text.len() { all } else { text };
    Readable { title, text }
}

/// A fragment of HTML as one line of plain text, at most `most_chars` long.
pub fn line(fragment: &str, most_chars: usize) -> String {
    let plain = if fragment.contains(['<', '&']) {
        // Enough to fill the line even when it is mostly markup.
        let start: String = fragment.chars().take(most_chars * 20).collect();
        let flat = flatten(&start);
        let config = html2text::config::plain_no_decorate().allow_width_overflow();
        config.string_from_read(flat.as_bytes(), WIDTH).unwrap_or(flat)
    } else {
        fragment.to_owned()
    };
    let words: Vec<&str> = plain.split_whitespace().collect();
    let line = words.join(" ");
    if line.chars().count() <= most_chars {
        return line;
    }
    let kept: String = line.chars().take(most_chars.saturating_sub(1)).collect();
    format!("{}…", kept.trim_end())
}

/// The first feeds a page links to, absolute.
pub(crate) fn feeds_of(html: &str, url: &Url) -> Vec<String> {
    if is_hard(html) {
        return Vec::new();
    }
    let Ok(page) = Readability::new(html, None, None) else { return Vec::new() };
    let links = page.doc.select("link[rel~=alternate][href]");
    let feeds = links.iter().filter(|link| {
        let kind = link.attr_or("type", "").to_ascii_lowercase();
        ["rss", "atom", "feed+json"].iter().any(|word| kind.contains(word))
    });
    let feeds = feeds.filter_map(|link| url.join(&link.attr_or("href", "")).ok()).map(String::from);
    feeds.filter(|feed| feed.len() <= MOST_LINK_BYTES).take(MOST_FEEDS).collect()
}

fn whole(html: &str) -> String {
    let config = html2text::config::plain().allow_width_overflow().no_table_borders();
    let text = config.string_from_read(html.as_bytes(), WIDTH).unwrap_or_default();
    text.trim().to_owned()
}
