//! Pages over a real server: text, charsets, redirects, limits, and every way a page can be bad.
#![allow(clippy::disallowed_methods, clippy::unwrap_used, clippy::indexing_slicing)]

#[macro_use]
mod server;

use hands::{Error, Page, fetch_text};
use server::{Site, answer, html, refusal};
use std::io::Write;
use std::sync::atomic::{AtomicUsize, Ordering};

const URL: &str = "https://example.org/a";

async fn read(site: &Site, most_chars: usize) -> Result<Page, Error> {
    fetch_text(&site.broker(), URL, most_chars).await
}

fn article() -> String {
    let words = "The lighthouse keeper wrote down every ship, and in winter, when none came, she wrote down the gulls. ";
    format!(
        "<!doctype html><html><head><title>The Keeper &amp; the Gulls</title></head><body>\
         <nav><a href=/>Home</a> <a href=/shop>Shop now</a></nav>\
         <article><h1>The Keeper &amp; the Gulls</h1><p>{a}</p><p>{a}</p><p>{a}</p></article>\
         <script>var secret = 'tracked';</script><footer>Cookie settings</footer></body></html>",
        a = words.repeat(4)
    )
}

#[tokio::test]
async fn an_article_is_read_without_its_surroundings() {
    loopback!();
    let site = Site::new(|_| html(&article()));
    let page = read(&site, 10_000).await.unwrap();
    assert_eq!(page.title, "The Keeper & the Gulls");
    assert!(page.text.starts_with("The lighthouse keeper wrote"), "{}", page.text);
    assert!(!page.text.contains("Shop now") && !page.text.contains("tracked"), "{}", page.text);
    assert_eq!(page.content_type, "text/html; charset=utf-8");
    assert_eq!((page.chars_total, page.truncated), (page.text.chars().count(), false));
    assert_eq!(page.url, URL);
    let heard = &site.heard()[0];
    assert!(
        heard.target.starts_with("/web?url=https%3A%2F%2Fexample.org%2Fa&accept=text%2Fhtml"),
        "{heard:?}"
    );
}

#[tokio::test]
async fn the_text_is_cut_by_characters() {
    loopback!();
    let site =
        Site::new(|_| answer("200 OK", "Content-Type: text/plain\r\n", "äöü🦀".repeat(100).as_bytes()));
    let page = read(&site, 7).await.unwrap();
    assert_eq!((page.text.as_str(), page.chars_total, page.truncated), ("äöü🦀äöü", 400, true));
    let none = read(&site, 0).await.unwrap();
    assert_eq!((none.text.as_str(), none.truncated), ("", true));
}

#[tokio::test]
async fn a_page_without_an_article_keeps_its_links() {
    loopback!();
    let site =
        Site::new(|_| html("<html><title>Index</title><body><ul><li><a href='/one'>One</a><li>Two</ul>"));
    let page = read(&site, 1000).await.unwrap();
    assert_eq!(page.title, "Index");
    assert!(
        page.text.contains("Two") && page.text.contains("example.org/one") || page.text.contains("/one"),
        "{}",
        page.text
    );
}

#[tokio::test]
async fn charsets_by_header_mark_and_meta() {
    loopback!();
    let latin: &[u8] = b"<html><body><p>Caf\xe9 \x80 5";
    let meta: &[u8] = b"<html><head><meta http-equiv=Content-Type content='text/html; charset=windows-1252'></head><p>Caf\xe9 \x80 5";
    let wide = |text: &str| text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>();
    let marked = [b"\xff\xfe".to_vec(), wide("<html><p>Café € 5")].concat();
    let utf8 = "\u{feff}<html><p>Café € 5".as_bytes();
    let pages: Vec<(&str, Vec<u8>)> = vec![
        ("text/html; charset=windows-1252", latin.to_vec()),
        ("text/html; charset=\"ISO-8859-1\"", latin.to_vec()),
        ("text/html", meta.to_vec()),
        ("text/html", latin.to_vec()),
        ("text/html", marked.clone()),
        ("text/html; charset=windows-1252", marked),
        ("text/html; charset=utf-16le", wide("<html><p>Café € 5")),
        ("text/html", wide("<html><p>Café € 5")),
        ("text/html; charset=windows-1252", utf8.to_vec()),
        ("text/html; charset=nonsense", "<p>Café € 5".as_bytes().to_vec()),
        (
            "text/plain; charset=utf-16",
            [b"\xfe\xff".to_vec(), "Café € 5".encode_utf16().flat_map(u16::to_be_bytes).collect()].concat(),
        ),
    ];
    for (number, (content_type, body)) in pages.into_iter().enumerate() {
        let site = Site::new(move |_| answer("200 OK", &format!("Content-Type: {content_type}\r\n"), &body));
        let page = read(&site, 1000).await.unwrap();
        assert_eq!(page.text, "Café € 5", "page {number}, {content_type}");
    }
}

#[tokio::test]
async fn invalid_utf_8_is_replaced_not_refused() {
    loopback!();
    let site = Site::new(|_| {
        answer("200 OK", "Content-Type: text/plain; charset=utf-8\r\n", b"good \xff\xfe\xc3 end")
    });
    let page = read(&site, 1000).await.unwrap();
    assert!(page.text.starts_with("good \u{fffd}") && page.text.ends_with(" end"), "{}", page.text);
}

#[tokio::test]
async fn text_json_and_markdown_pass_as_they_are() {
    loopback!();
    for (content_type, body) in [
        ("text/plain", "a <b> c"),
        ("application/json", "{\"a\": [1, 2]}"),
        ("application/vnd.api+json", "{}"),
        ("text/markdown", "# Head\n\n* one"),
        ("application/xml", "<?xml version=\"1.0\"?><a/>"),
        ("application/octet-stream", "fn main() {}"),
    ] {
        let site = Site::new(move |_| {
            answer("200 OK", &format!("Content-Type: {content_type}\r\n"), body.as_bytes())
        });
        let page = read(&site, 1000).await.unwrap();
        assert_eq!(page.text, body, "{content_type}");
    }
    let untyped = Site::new(|_| answer("200 OK", "", b"<!DOCTYPE html><p>bare</p>"));
    assert_eq!(read(&untyped, 1000).await.unwrap().text, "bare");
}

#[tokio::test]
async fn binary_and_empty_answers_are_refused_clearly() {
    loopback!();
    for (content_type, body, says) in [
        ("image/png", b"\x89PNG\r\n".as_slice(), "it is image/png, not text"),
        ("application/pdf", b"%PDF-1.7", "it is application/pdf, not text"),
        ("text/html", b"\x00\x01\x02 elf", "not text"),
        ("text/plain", b"ab\x00cd", "not text"),
        ("application/octet-stream", b"\xff\xd8\xff\xe0", "not text"),
        ("text/html", b"", "there is no text on it"),
        ("text/html", b"<html><script>render()</script></html>", "there is no text on it"),
    ] {
        let site = Site::new(move |_| answer("200 OK", &format!("Content-Type: {content_type}\r\n"), body));
        let error = read(&site, 1000).await.unwrap_err();
        assert!(error.message.contains(says) && error.message.contains(URL), "{error:?}");
        assert!(!error.hint.is_empty());
    }
}

#[tokio::test]
async fn refusals_are_in_the_brokers_words() {
    loopback!();
    for (line, kind, headers, status) in [
        ("502 Bad Gateway", "upstream_status", "x-feral-status: 404\r\n", 404),
        ("403 Forbidden", "refused_address", "", 403),
        ("401 Unauthorized", "token_unknown", "", 401),
    ] {
        let site = Site::new(move |_| refusal(line, kind, headers));
        let error = read(&site, 100).await.unwrap_err();
        assert_eq!(error.status, Some(status));
        assert_eq!(
            (error.message.as_str(), error.hint.as_str()),
            (&*format!("fetch {URL}: no such luck"), "try elsewhere")
        );
        assert_eq!(site.heard().len(), 1, "what is refused is not asked again");
    }
    let odd = Site::new(|_| answer("500 Oops", "", b"<html>"));
    assert!(read(&odd, 100).await.unwrap_err().message.contains("answered 500"));
    let site = Site::new(|_| html("<p>x"));
    let error = fetch_text(&site.broker(), "example.org", 100).await.unwrap_err();
    assert!(error.message.contains("`example.org` as a url") && site.heard().is_empty(), "{error:?}");
}

#[tokio::test]
async fn a_cut_page_is_read_as_far_as_it_goes() {
    loopback!();
    let cut = "Content-Type: text/html\r\nx-feral-cut: true\r\nx-feral-url: https://moved.example/\r\n";
    let site = Site::new(move |_| answer("200 OK", cut, b"<p>many words are here, \xc3\xa9, and"));
    let page = read(&site, 100_000).await.unwrap();
    assert_eq!((page.truncated, page.url.as_str()), (true, "https://moved.example/"));
    assert!(page.text.starts_with("many words"), "{}", page.text);
}

#[tokio::test]
async fn a_broker_that_is_away_is_asked_once_more() {
    loopback!();
    let turn = AtomicUsize::new(0);
    let site = Site::raw(move |_, stream| {
        // The first connection breaks, as when the broker is killed in the middle.
        if turn.fetch_add(1, Ordering::SeqCst) > 0 {
            let _ = stream.write_all(&html("<p>back again"));
        }
    });
    assert_eq!(read(&site, 100).await.unwrap().text, "back again");
    assert_eq!(site.heard().len(), 2);
    let nobody = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let broker = hands::Broker::new(&format!("http://{nobody}"), server::TOKEN).unwrap();
    let error = fetch_text(&broker, URL, 100).await.unwrap_err();
    assert!(error.message.contains("the broker is away") && error.message.contains("refused"), "{error:?}");
    let shown = format!("{error:?} {broker:?}");
    assert!(!shown.contains(server::TOKEN), "{shown}");
}

#[tokio::test]
async fn hostile_pages_are_read_or_refused_in_time() {
    loopback!();
    let deep =
        |tag: &str, count: usize| format!("<html><body>{}deep words", format!("<{tag}>").repeat(count));
    let pages = [
        deep("div", 200_000),
        deep("div/", 200_000),
        deep("blockquote", 100_000),
        deep("svg", 100_000),
        format!("deep words {}", "<script>".repeat(100_000)),
        format!("deep words {}", "<!--".repeat(100_000)),
        format!("deep words {}", "<a ".repeat(100_000)),
        format!("deep words {}", "<".repeat(300_000)),
        format!("deep words {}", "&#x1F980;&bogus;".repeat(50_000)),
        format!("deep words {}", "a & b ".repeat(50_000)),
        format!("deep words <p {}>", (0..50_000).map(|n| format!("a{n}=1 ")).collect::<String>()),
        format!("<p>deep words{}", "<p>".repeat(20_000)),
    ];
    for (number, page) in pages.into_iter().enumerate() {
        let site = Site::new(move |_| html(&page));
        let page = read(&site, 1000).await;
        assert!(page.is_ok_and(|page| page.text.contains("deep words")), "page {number}");
    }
}
