//! Feeds as publishers write them, one file a case: read as meant, the newest first, or refused with a way on.
#![allow(clippy::disallowed_methods, clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

#[macro_use]
mod server;

use hands::{Feed, MOST_ITEMS, fetch_feed};
use server::{Site, answer, refusal};
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What stands beside a feed.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    title: Option<String>,
    /// Title and link of each item, in order.
    items: Option<Vec<(String, String)>>,
    /// All links are of what is attached.
    #[serde(default)]
    enclosures: bool,
    /// What the refusal says.
    refused: Option<Vec<String>>,
}

fn wrong(case: &Case, read: Result<Feed, hands::Error>) -> Option<String> {
    let said = |error: hands::Error| format!("{}; {}", error.message, error.hint);
    match (read, &case.items, &case.refused) {
        (Ok(feed), Some(items), None) => {
            let shown: Vec<(String, String)> =
                feed.items.iter().map(|item| (item.title.clone(), item.url.clone())).collect();
            let ids: BTreeSet<&str> = feed.items.iter().map(|item| item.id.as_str()).collect();
            let flags = feed.items.iter().all(|item| item.enclosure == case.enclosures);
            let title = case.title.clone().unwrap_or_default();
            match &shown == items && feed.title == title && flags {
                false => Some(format!("read {:?} {shown:?} enclosures {flags}", feed.title)),
                true if ids.len() < items.len() || ids.contains("") => Some(format!("ids {ids:?}")),
                true => None,
            }
        }
        (Err(error), None, Some(words)) if !words.is_empty() => {
            let said = said(error);
            words
                .iter()
                .find(|word| !said.contains(*word))
                .map(|word| format!("said nothing of {word}: {said}"))
        }
        (read, ..) => Some(format!("came to {:?}", read.map_err(said))),
    }
}

#[tokio::test]
async fn every_feed_of_the_corpus_is_read_as_meant() {
    loopback!();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/cases/feeds");
    let (mut cases, mut bad) = (0, Vec::new());
    for entry in std::fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|ends| ends == "toml") {
            continue;
        }
        let right = std::fs::read_to_string(path.with_extension("toml"));
        let right = right.unwrap_or_else(|_| panic!("{} has no right outcome beside it", path.display()));
        let case: Case = toml::from_str(&right).unwrap_or_else(|cause| panic!("{}: {cause}", path.display()));
        let body = std::fs::read(&path).unwrap();
        let html = path.extension().is_some_and(|ends| ends == "html");
        let kind = if html { "text/html" } else { "application/xml" };
        let site = Site::new(move |_| answer("200 OK", &format!("Content-Type: {kind}\r\n"), &body));
        let read = fetch_feed(&site.broker(), "https://news.example/feed", MOST_ITEMS).await;
        cases += 1;
        bad.extend(wrong(&case, read).map(|why| format!("{}: {why}", path.file_name().unwrap().display())));
    }
    assert!(cases >= 30, "only {cases} cases in {}", folder.display());
    assert!(bad.is_empty(), "{} of {cases} wrong:\n{}", bad.len(), bad.join("\n"));
}

const FEED: &str =
    "<rss version=\"2.0\"><channel><title>N</title><item><title>One</title></item></channel></rss>";

/// A server that counts what it is asked, answers by what it is told is known, and sends these headers.
fn counting(headers: &'static str, body: &'static str) -> (Site, std::sync::Arc<AtomicUsize>) {
    let whole = std::sync::Arc::new(AtomicUsize::new(0));
    let count = whole.clone();
    let site = Site::new(move |heard| {
        if heard.target.contains("etag=%22v1%22") && heard.target.contains("modified=Mon") {
            return answer("200 OK", "x-feral-status: 304\r\n", b"");
        }
        count.fetch_add(1, Ordering::SeqCst);
        answer("200 OK", headers, body.as_bytes())
    });
    (site, whole)
}

#[tokio::test]
async fn a_feed_is_fetched_whole_once_while_it_stays_as_it_is() {
    loopback!();
    let (site, whole) = counting("etag: \"v1\"\r\nlast-modified: Mon, 02 Nov 2026 10:00:00 GMT\r\n", FEED);
    let broker = site.broker();
    let first = fetch_feed(&broker, "https://news.example/feed", 5).await.unwrap();
    for copy in [broker.clone(), broker] {
        assert_eq!(fetch_feed(&copy, "https://news.example/feed", 5).await.unwrap(), first);
    }
    assert_eq!((site.heard().len(), whole.load(Ordering::SeqCst)), (3, 1), "asked thrice, sent once");
}

#[tokio::test]
async fn a_feed_that_says_how_long_it_stays_is_not_asked_for_before() {
    loopback!();
    const TTL: &str = "<rss version=\"2.0\"><channel><title>N</title><ttl>60</ttl><item><title>One</title></item></channel></rss>";
    for (headers, body, asked) in [
        ("cache-control: public, max-age=3600\r\n", FEED, 1),
        ("", TTL, 1),
        ("cache-control: no-cache, max-age=3600\r\n", FEED, 2),
        ("", FEED, 2),
    ] {
        let (site, _) = counting(headers, body);
        let broker = site.broker();
        for _ in 0..2 {
            fetch_feed(&broker, "https://news.example/feed", 5).await.unwrap();
        }
        assert_eq!(site.heard().len(), asked, "{headers} {body}");
    }
}

#[tokio::test]
async fn an_address_that_asks_to_be_left_alone_is() {
    loopback!();
    let site = Site::new(|_| {
        refusal("502 Bad Gateway", "upstream_status", "x-feral-status: 429\r\nretry-after: 86400\r\n")
    });
    let broker = site.broker();
    let asked = fetch_feed(&broker, "https://news.example/feed", 5).await.unwrap_err();
    assert_eq!((asked.status, asked.after_s), (Some(429), Some(86_400)));
    let held = fetch_feed(&broker, "https://news.example/feed", 5).await.unwrap_err();
    assert!(held.message.contains("asked to be left alone") && held.after_s > Some(86_000), "{held:?}");
    assert_eq!(site.heard().len(), 1);
    let other = fetch_feed(&broker, "https://news.example/other", 5).await.unwrap_err();
    assert!(site.heard().len() == 2 && other.status == Some(429), "{other:?}");
}
