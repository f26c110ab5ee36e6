//! Feeds over a real server: the formats, their sloppy kinds, and what is no feed.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

mod server;

use hands::{Error, Feed, Reach, Web};
use server::{Site, answer, html};
use std::time::{Duration, Instant};

async fn read(content_type: &'static str, body: impl Into<Vec<u8>>) -> Result<Feed, Error> {
    let body = body.into();
    let site = Site::new(move |_| answer("200 OK", &format!("Content-Type: {content_type}\r\n"), &body));
    let web = Web::new(Reach { allow_private: true, ..Reach::default() }).unwrap();
    web.feed(&site.url("/feed"), 10).await
}

const RSS: &str = r#"<?xml version="1.0" encoding="UTF-8"?><rss version="2.0"><channel>
<title>News &amp; more</title><link>https://example.org/</link><description>d</description>
<item><title>First</title><link>https://example.org/1</link><guid isPermaLink="false">id-1</guid>
<pubDate>Tue, 10 Jun 2025 04:00:00 +0200</pubDate>
<description>&lt;p&gt;A &lt;b&gt;bold&lt;/b&gt; claim&amp;hellip; caf&amp;eacute;&lt;/p&gt;&lt;script&gt;x()&lt;/script&gt;</description></item>
<item><title>Second</title><link>/2</link><description><![CDATA[<ul><li>one</li><li>two</li></ul>]]></description></item>
<item><description>Only words here</description></item>
</channel></rss>"#;

const ATOM: &str = r#"<feed xmlns="http://www.w3.org/2005/Atom"><title type="html">Caf&amp;eacute;</title><id>urn:feed</id>
<updated>2025-01-02T03:04:05Z</updated>
<entry><title>One</title><id>urn:1</id><link rel="enclosure" href="https://example.org/a.mp3"/>
<link rel="alternate" href="https://example.org/1"/><updated>2025-01-02T03:04:05.678Z</updated>
<content type="html">&lt;p&gt;Body&lt;/p&gt;</content></entry></feed>"#;

const JSON: &str = r#"{"version":"https://jsonfeed.org/version/1.1","title":"J","items":[
{"id":"1","url":"https://example.org/j","title":"One","content_text":"Plain words","date_published":"2025-05-05T05:05:05Z"}]}"#;

#[tokio::test]
async fn rss() {
    let feed = read("application/rss+xml", RSS).await.unwrap();
    assert_eq!((feed.title.as_str(), feed.items.len()), ("News & more", 3));
    let first = &feed.items[0];
    assert_eq!(
        (first.id.as_str(), first.title.as_str(), first.url.as_str()),
        ("id-1", "First", "https://example.org/1")
    );
    assert_eq!(first.published.as_deref(), Some("2025-06-10T02:00:00.000Z"));
    assert_eq!(first.summary, "A bold claim… café");
    assert!(
        feed.items[1].url.ends_with("/2") && feed.items[1].url.starts_with("http://127.0.0.1"),
        "{:?}",
        feed.items[1]
    );
    assert_eq!(feed.items[1].published, None);
    assert!(feed.items[1].summary.contains("one") && !feed.items[1].summary.contains('<'));
    assert_eq!((feed.items[2].id.as_str(), feed.items[2].url.as_str()), ("Only words here", ""));
}

#[tokio::test]
async fn atom_and_json_and_the_wrong_content_type() {
    for content_type in ["application/atom+xml", "text/plain", "text/html"] {
        let feed = read(content_type, ATOM).await.unwrap();
        assert_eq!(feed.title, "Café");
        let one = &feed.items[0];
        assert_eq!(
            (one.id.as_str(), one.url.as_str(), one.summary.as_str()),
            ("urn:1", "https://example.org/1", "Body")
        );
        assert_eq!(one.published.as_deref(), Some("2025-01-02T03:04:05.678Z"));
    }
    let feed = read("application/json", JSON).await.unwrap();
    assert_eq!((feed.title.as_str(), feed.items[0].summary.as_str()), ("J", "Plain words"));
    assert_eq!(feed.items[0].published.as_deref(), Some("2025-05-05T05:05:05.000Z"));
}

#[tokio::test]
async fn ids_and_order_are_the_same_in_every_reading() {
    let once = read("application/xml", RSS).await.unwrap();
    let again = read("application/xml", RSS).await.unwrap();
    let ids = |feed: &Feed| feed.items.iter().map(|item| item.title.clone()).collect::<Vec<_>>();
    assert_eq!(ids(&once), ids(&again));
    assert_eq!(once.items[2].id, again.items[2].id);
    let site = Site::new(|_| answer("200 OK", "", RSS.as_bytes()));
    let web = Web::new(Reach { allow_private: true, ..Reach::default() }).unwrap();
    let feed = web.feed(&site.url("/"), 1).await.unwrap();
    assert_eq!(feed.items.len(), 1);
}

#[tokio::test]
async fn summaries_are_short_plain_lines() {
    let long = RSS.replace(
        "Only words here",
        &"<p>süße Wörter 🦀 &nbsp; ".replace('<', "&lt;").replace('&', "&amp;").repeat(3000),
    );
    let feed = read("application/rss+xml", long).await.unwrap();
    let summary = &feed.items[2].summary;
    assert!(summary.chars().count() <= 600 && summary.ends_with('…') && !summary.contains('\n'), "{summary}");
}

#[tokio::test]
async fn encodings_that_lie_are_mended() {
    let lies = RSS.replace("encoding=\"UTF-8\"", "encoding=\"utf-16\"").replace("First", "Fürst");
    assert_eq!(read("application/rss+xml", lies).await.unwrap().items[0].title, "Fürst");
    let latin = RSS.replace("UTF-8", "ISO-8859-1").replace("First", "Fürst");
    let latin: Vec<u8> = latin.chars().map(|letter| u8::try_from(u32::from(letter)).unwrap()).collect();
    assert_eq!(read("application/rss+xml", latin).await.unwrap().items[0].title, "Fürst");
}

#[tokio::test]
async fn a_feed_of_fifty_megabytes_gives_its_first_items() {
    let item = |n: usize| {
        let words = "words and more words ".repeat(40);
        format!("<item><title>Item {n}</title><guid>{n}</guid><description>{words}</description></item>")
    };
    let mut big = String::from("<rss version=\"2.0\"><channel><title>Big</title>");
    let mut count = 0;
    while big.len() < 50 * 1024 * 1024 {
        big.push_str(&item(count));
        count += 1;
    }
    let started = Instant::now();
    let feed = read("application/rss+xml", big).await.unwrap();
    assert_eq!((feed.items.len(), feed.items[0].title.as_str()), (10, "Item 0"));
    assert!(started.elapsed() < Duration::from_secs(15), "{:?}", started.elapsed());
}

#[tokio::test]
async fn broken_feeds_are_errors_that_say_so() {
    for body in [
        "<rss version=\"2.0\"><chan",
        "<rss><channel><title>x</wrong>",
        "{\"version\": 3",
        "<opml/>",
        "just words",
        "\u{0}\u{1}",
    ] {
        let error = read("application/rss+xml", body).await.unwrap_err();
        assert!(
            error.message.contains("/feed as a feed: ") && error.message.contains("127.0.0.1"),
            "{body}: {error:?}"
        );
        assert!(error.hint.contains("broken"), "{body}: {error:?}");
    }
    let error = read("application/rss+xml", " \n").await.unwrap_err();
    assert!(error.message.contains("it is empty"), "{error:?}");
}

#[tokio::test]
async fn an_html_page_tells_where_its_feed_is() {
    let page = "<!DOCTYPE html><html><head><link rel=stylesheet href=s.css>\
        <link rel='alternate' type='application/rss+xml' href='/news.xml'>\
        <link rel=alternate type=application/atom+xml href=https://example.org/atom>\
        <link rel=alternate hreflang=de href=/de></head><body><p>Hello</body></html>";
    let site = Site::new(move |_| html(page));
    let web = Web::new(Reach { allow_private: true, ..Reach::default() }).unwrap();
    let error = web.feed(&site.url("/blog/"), 10).await.unwrap_err();
    assert!(error.message.contains("it is an html page"), "{error:?}");
    assert_eq!(
        error.hint,
        format!("the page names its feed: {} or https://example.org/atom", site.url("/news.xml"))
    );
    let error = read("text/html", "<html><p>none").await.unwrap_err();
    assert!(error.hint.contains("names no feed"), "{error:?}");
    let gone = Site::new(|_| answer("410 Gone", "", b""));
    assert_eq!(web.feed(&gone.url("/"), 1).await.unwrap_err().status, Some(410));
}
