//! Hostile feeds and pages: read as bounded text or refused in words, soon, and no parser crashes.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

#[path = "../../../tests/hostile/mod.rs"]
mod hostile;
#[macro_use]
mod server;

use hands::{Broker, Error, MOST_ITEMS, fetch_feed, fetch_text};
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use server::{Site, answer};
use std::sync::{Arc, Mutex};

const PIECES: [&str; 16] = [
    "<![CDATA[",
    "<!--",
    "<div>",
    "<table><tr><td>",
    "<svg><p>",
    "<p a=",
    "&amp;lt;script&gt;",
    "&nbsp;",
    "<script>",
    "<style>",
    "<br/>",
    "<item><guid>1</guid></item>",
    "<!DOCTYPE x [<!ENTITY e \"&e;&e;\">]>",
    "<?xml version=\"1.0\" encoding=\"utf-16\"?>",
    "<meta charset=\"iso-2022-jp\">",
    "<a href=\"javascript:x\">",
];

/// Puts bytes of one content type to a reader, each under an address of its own.
fn puts<T, Read>(
    seeds: Vec<Vec<u8>>,
    (kind, cases): (&'static str, u32),
    read: impl Fn(Broker, String) -> Read,
    right: impl Fn(&T) -> Result<(), TestCaseError>,
) where
    Read: Future<Output = Result<T, Error>>,
{
    let body = Arc::new(Mutex::new(Vec::new()));
    let served = body.clone();
    let headers = format!("Content-Type: {kind}\r\n");
    let site = Site::new(move |_| answer("200 OK", &headers, &served.lock().unwrap()));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    hostile::withstands(seeds, &PIECES, cases, |bytes| {
        *body.lock().unwrap() = bytes.to_vec();
        let came = runtime.block_on(read(site.broker(), "https://news.example/it".to_owned()));
        match came {
            Ok(came) => right(&came),
            Err(Error { message, hint, .. }) => {
                prop_assert!(!message.contains("crashed") && !hint.is_empty(), "{message}; {hint}");
                prop_assert!(message.len() + hint.len() < 4_000, "{message}; {hint}");
                Ok(())
            }
        }
    });
}

#[test]
fn hostile_feeds_are_read_within_bounds_or_refused() {
    loopback!();
    let seeds = hostile::seeds("feeds", &["xml", "atom", "json", "rss", "html"]);
    puts(
        seeds,
        ("application/xml", 250),
        |broker, url| async move { fetch_feed(&broker, &url, MOST_ITEMS).await },
        |feed| {
            prop_assert!(feed.items.len() <= MOST_ITEMS && feed.title.chars().count() <= 300);
            prop_assert!(feed.items.is_sorted_by(|one, other| one.published >= other.published));
            for item in &feed.items {
                prop_assert!(
                    item.title.chars().count() <= 300 && item.summary.chars().count() <= 600,
                    "{item:?}"
                );
                prop_assert!(
                    item.published.as_ref().is_none_or(|at| at.parse::<jiff::Timestamp>().is_ok()),
                    "{item:?}"
                );
                let is_empty = item.title.is_empty() && item.url.is_empty() && item.summary.is_empty();
                prop_assert!(is_empty || !item.id.is_empty(), "{item:?}");
            }
            let mut ids: Vec<(&str, &str, &str)> = feed
                .items
                .iter()
                .map(|item| (item.id.as_str(), item.url.as_str(), item.title.as_str()))
                .collect();
            ids.sort_unstable();
            prop_assert!(ids.windows(2).all(|pair| pair[0] != pair[1]), "twice: {ids:?}");
            Ok(())
        },
    );
}

#[test]
fn hostile_pages_are_read_within_bounds_or_refused() {
    loopback!();
    let seeds = hostile::seeds("pages", &["html"]);
    puts(
        seeds,
        ("text/html", 60),
        |broker, url| async move { fetch_text(&broker, &url, 5_000).await },
        |page| {
            prop_assert!(page.text.chars().count() <= 5_000 && page.text.chars().count() <= page.chars_total);
            prop_assert!(page.truncated || page.text.chars().count() == page.chars_total);
            prop_assert!(!page.text.trim().is_empty(), "a page without text is refused");
            Ok(())
        },
    );
}
