//! Feeds over a real server: the formats, their sloppy kinds, and what is no feed.
#![allow(clippy::disallowed_methods, clippy::unwrap_used, clippy::indexing_slicing)]

#[macro_use]
mod server;
#[path = "../../../tests/hostile/taken.rs"]
mod taken;

use hands::{Error, Feed, fetch_feed};
use server::{Site, answer, refusal};

async fn read(content_type: &'static str, body: impl Into<Vec<u8>>) -> Result<Feed, Error> {
    let body = body.into();
    let site = Site::new(move |_| answer("200 OK", &format!("Content-Type: {content_type}\r\n"), &body));
    fetch_feed(&site.broker(), "https://example.org/feed", 10).await
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
    loopback!();
    let feed = read("application/rss+xml", RSS).await.unwrap();
    assert_eq!((feed.title.as_str(), feed.items.len()), ("News & more", 3));
    let first = &feed.items[0];
    assert_eq!(
        (first.id.as_str(), first.title.as_str(), first.url.as_str()),
        ("id-1", "First", "https://example.org/1")
    );
    assert_eq!(first.published.as_deref(), Some("2025-06-10T02:00:00.000Z"));
    assert_eq!(first.summary, "A bold claim… café");
    assert!(feed.items[1].url == "https://example.org/2", "{:?}", feed.items[1]);
    assert_eq!(feed.items[1].published, None);
    assert!(feed.items[1].summary.contains("one") && !feed.items[1].summary.contains('<'));
    assert_eq!((feed.items[2].id.as_str(), feed.items[2].url.as_str()), ("Only words here", ""));
}

#[tokio::test]
async fn atom_and_json_and_the_wrong_content_type() {
    loopback!();
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
    loopback!();
    let once = read("application/xml", RSS).await.unwrap();
    let again = read("application/xml", RSS).await.unwrap();
    let ids = |feed: &Feed| feed.items.iter().map(|item| item.title.clone()).collect::<Vec<_>>();
    assert_eq!(ids(&once), ids(&again));
    assert_eq!(once.items[2].id, again.items[2].id);
    let site = Site::new(|_| answer("200 OK", "", RSS.as_bytes()));
    let feed = fetch_feed(&site.broker(), "https://example.org/", 1).await.unwrap();
    assert_eq!(feed.items.len(), 1);
}

#[tokio::test]
async fn summaries_are_short_plain_lines() {
    loopback!();
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
    loopback!();
    let lies = RSS.replace("encoding=\"UTF-8\"", "encoding=\"utf-16\"").replace("First", "Fürst");
    assert_eq!(read("application/rss+xml", lies).await.unwrap().items[0].title, "Fürst");
    let latin = RSS.replace("UTF-8", "ISO-8859-1").replace("First", "Fürst");
    let latin: Vec<u8> = latin.chars().map(|letter| u8::try_from(u32::from(letter)).unwrap()).collect();
    assert_eq!(read("application/rss+xml", latin).await.unwrap().items[0].title, "Fürst");
}

#[tokio::test]
async fn a_feed_cut_in_the_middle_gives_its_whole_items() {
    loopback!();
    let (whole, _) = RSS.split_at(RSS.find("Only words").unwrap());
    let feed = read("application/rss+xml", whole).await.unwrap();
    assert_eq!((feed.items.len(), feed.items[1].title.as_str()), (2, "Second"));
}

#[tokio::test]
async fn broken_feeds_are_errors_that_say_so() {
    loopback!();
    for body in [
        "<rss version=\"2.0\"><chan",
        "<rss><channel><title>x</wrong>",
        "{\"version\": 3",
        "<opml/>",
        "just words",
        "\u{0}\u{1}",
    ] {
        let error = read("application/rss+xml", body).await.unwrap_err();
        assert!(error.message.contains("https://example.org/feed as a feed: "), "{body}: {error:?}");
        assert!(error.hint.contains("broken"), "{body}: {error:?}");
    }
    let error = read("application/rss+xml", " \n").await.unwrap_err();
    assert!(error.message.contains("it is empty"), "{error:?}");
}

#[tokio::test]
async fn an_html_page_tells_where_its_feed_is() {
    loopback!();
    let page = "<!DOCTYPE html><html><head><link rel=stylesheet href=s.css>\
        <link rel='alternate' type='application/rss+xml' href='/news.xml'>\
        <link rel=alternate type=application/atom+xml href=https://example.org/atom>\
        <link rel=alternate hreflang=de href=/de></head><body><p>Hello</body></html>";
    let site = Site::new(move |_| {
        let headers = "Content-Type: text/html\r\nx-feral-url: https://moved.example/blog/\r\n";
        answer("200 OK", headers, page.as_bytes())
    });
    let error = fetch_feed(&site.broker(), "https://example.org/blog/", 10).await.unwrap_err();
    assert!(error.message.contains("it is an html page"), "{error:?}");
    assert_eq!(
        error.hint,
        "the page names its feed: https://moved.example/news.xml or https://example.org/atom"
    );
    let error = read("text/html", "<html><p>none").await.unwrap_err();
    assert!(error.hint.contains("names no feed"), "{error:?}");
    let gone = Site::new(|_| refusal("502 Bad Gateway", "upstream_status", "x-feral-status: 410\r\n"));
    let error = fetch_feed(&gone.broker(), "https://example.org/", 1).await.unwrap_err();
    assert_eq!(error.status, Some(410));
}

#[tokio::test]
async fn a_refusal_quotes_a_line_of_a_broken_feed_and_names_a_few_feeds_of_a_page() {
    loopback!();
    let broken = format!("<rss><channel><title>x</{}>", "long".repeat(20_000));
    let error = read("application/xml", broken).await.unwrap_err();
    assert!(error.message.len() < 400, "{} bytes", error.message.len());
    let link = "<link rel=alternate type=application/atom+xml href=/atom>";
    let error = read("text/html", format!("<html><head>{}", link.repeat(3_000))).await.unwrap_err();
    assert_eq!(error.hint.matches("/atom").count(), 8, "{}", error.hint);
}

#[tokio::test]
async fn a_feed_of_many_small_items_is_read_in_seconds() {
    loopback!();
    let item = |at: usize| format!("<item><guid>{at}</guid></item>");
    let items: String = (0..60_000).map(item).collect();
    let begun = taken::taken();
    let feed =
        read("application/xml", format!("<rss version=\"2.0\"><channel>{items}</channel></rss>")).await;
    assert_eq!(feed.unwrap().items.len(), 10);
    let took = taken::taken() - begun;
    assert!(took.as_secs() < 20, "took {took:?} of the processor");
}
