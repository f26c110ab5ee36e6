//! The web: pages and feeds, fetched by the broker, read here.

use crate::body::{Age, Body, printable};
use crate::broker::Broker;
use crate::known::Remembered;
use crate::{Error, Feed, feed, readable};
use reqwest::Url;
use serde::Serialize;
use std::time::Duration;

const PAGES: &str = "text/html,application/xhtml+xml,text/plain;q=0.9,application/json;q=0.9,*/*;q=0.5";
const FEEDS: &str =
    "application/atom+xml,application/rss+xml,application/feed+json,application/xml;q=0.9,*/*;q=0.5";

/// Longest a page may take, fetching and reading.
const DEADLINE: Duration = Duration::from_secs(75);

/// Page as readable text.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Page {
    /// Address the text came from, after redirects.
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
    let url = parsed(url)?;
    fetched(broker, &url, PAGES, &Age::default(), read).await
}

/// Reads a feed in RSS, Atom or JSON, its newest `most_items` items. A feed read before in this life is used again
/// while the feed or its server says that it stays as it is.
pub async fn fetch_feed(broker: &Broker, url: &str, most_items: usize) -> Result<Feed, Error> {
    let url = parsed(url)?;
    let before = broker.known.feed(url.as_str());
    let had = before.as_ref().map(|before| before.age.clone()).unwrap_or_default();
    let feed = match before {
        Some(before) if before.is_fresh() => Ok(before.feed),
        before => fetched(broker, &url, FEEDS, &had, |body| anew(broker, &url, body, before)).await,
    };
    feed.map(|mut feed| {
        feed.items.truncate(most_items);
        feed
    })
}

/// The feed in an answer, or the one known before; it is remembered.
async fn anew(broker: &Broker, url: &Url, body: Body, before: Option<Remembered>) -> Result<Feed, Error> {
    let mut age = body.age.clone();
    let feed = match before.filter(|_| body.unchanged) {
        Some(before) => {
            (age.etag, age.modified) = (age.etag.or(before.age.etag), age.modified.or(before.age.modified));
            before.feed
        }
        None => {
            let from = body.url.clone();
            readable::apart(&from, move || feed::read(&body)).await??
        }
    };
    age.fresh_s = age.fresh_s.max(feed.fresh_s);
    broker.known.remember(url.as_str(), feed.clone(), age);
    Ok(feed)
}

fn parsed(url: &str) -> Result<Url, Error> {
    Url::parse(url.trim()).map_err(|cause| {
        let url: String = url.chars().take(200).collect();
        Error::new(
            format!("read `{url}` as a url: {cause}"),
            "give a whole URL, like https://example.org/page",
        )
    })
}

async fn fetched<T, F: Future<Output = Result<T, Error>>>(
    broker: &Broker,
    url: &Url,
    accept: &str,
    had: &Age,
    read: impl FnOnce(Body) -> F,
) -> Result<T, Error> {
    let name = printable(url);
    if let Some(after_s) = broker.known.held_s(url.as_str()) {
        let message = format!("fetch {name}: its server asked to be left alone for {after_s} s more");
        let held = Error::new(message, "wait as long, or use another source");
        return Err(Error { after_s: Some(after_s), ..held });
    }
    let work = async { read(broker.page(url, &name, accept, had).await?).await };
    let done = tokio::time::timeout(DEADLINE, work).await.unwrap_or_else(|_| {
        let message = format!("fetch {name}: took longer than {DEADLINE:?}");
        Err(Error::new(message, "try again later, or another source"))
    });
    if let Some(after_s) = done.as_ref().err().and_then(|error| error.after_s) {
        broker.known.hold(url.as_str(), after_s);
    }
    done
}
