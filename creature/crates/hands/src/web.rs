//! The web: pages and feeds, fetched by the broker, read here.

use crate::broker::{Body, Broker};
use crate::{Error, Feed, feed, readable};
use reqwest::Url;
use std::time::Duration;

const PAGES: &str = "text/html,application/xhtml+xml,text/plain;q=0.9,application/json;q=0.9,*/*;q=0.5";
const FEEDS: &str =
    "application/atom+xml,application/rss+xml,application/feed+json,application/xml;q=0.9,*/*;q=0.5";

/// Longest a page may take, fetching and reading.
const DEADLINE: Duration = Duration::from_secs(75);

/// One page as readable text.
#[derive(Clone, Debug, PartialEq)]
pub struct Page {
    /// Where the text came from, after redirects.
    pub url: String,
    /// Empty where the page has none.
    pub title: String,
    pub text: String,
    /// Characters of readable text there were before the cut to `most_chars`.
    pub chars_total: usize,
    /// True when `text` is not all of it: cut here, or the answer was over the size limit.
    pub truncated: bool,
    /// As the server sent it; empty when it sent none.
    pub content_type: String,
}

/// The readable text of a page, its first `most_chars` characters.
pub async fn fetch_text(broker: &Broker, url: &str, most_chars: usize) -> Result<Page, Error> {
    let read = |body: Body| async move {
        let (url, content_type, cut) = (body.url.clone(), body.content_type.clone(), body.cut);
        let read = readable::apart(&url, move || readable::read(&body)).await??;
        let text: String = read.text.chars().take(most_chars).collect();
        let chars_total = read.text.chars().count();
        let truncated = cut || text.len() < read.text.len();
        Ok(Page { url: url.into(), title: read.title, text, chars_total, truncated, content_type })
    };
    fetched(broker, url, PAGES, read).await
}

/// A feed in RSS, Atom or JSON, its first `most_items` items.
pub async fn fetch_feed(broker: &Broker, url: &str, most_items: usize) -> Result<Feed, Error> {
    let read = |body: Body| async move {
        let from = body.url.clone();
        readable::apart(&from, move || feed::read(&body, most_items)).await?
    };
    fetched(broker, url, FEEDS, read).await
}

async fn fetched<T, F: Future<Output = Result<T, Error>>>(
    broker: &Broker,
    url: &str,
    accept: &str,
    read: impl FnOnce(Body) -> F,
) -> Result<T, Error> {
    let url = Url::parse(url.trim()).map_err(|cause| {
        let url: String = url.chars().take(200).collect();
        Error::new(
            format!("read `{url}` as a url: {cause}"),
            "give a whole URL, like https://example.org/page",
        )
    })?;
    let name = printable(&url);
    let work = async { read(broker.page(&url, &name, accept).await?).await };
    tokio::time::timeout(DEADLINE, work).await.unwrap_or_else(|_| {
        let message = format!("fetch {name}: took longer than {DEADLINE:?}");
        Err(Error::new(message, "try again later, or another source"))
    })
}

/// `url` for messages: no user name, password or fragment, at most 200 characters.
pub(crate) fn printable(url: &Url) -> String {
    let mut url = url.clone();
    // Both fail only for URLs that cannot hold credentials, where there is nothing to hide.
    let _ = url.set_username("");
    let _ = url.set_password(None);
    url.set_fragment(None);
    let mut kept: String = url.as_str().chars().take(200).collect();
    if kept.len() < url.as_str().len() {
        kept.push('…');
    }
    kept
}
