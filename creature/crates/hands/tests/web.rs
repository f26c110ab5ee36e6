//! Pages over a real server: text, charsets, redirects, limits, and every way a page can be bad.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

mod server;

use hands::{Reach, Web};
use server::{Site, answer, html};
use std::io::Write;
use std::time::{Duration, Instant};

fn web() -> Web {
    Web::new(Reach { allow_private: true, ..Reach::default() }).unwrap()
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
    let site = Site::new(|_| html(&article()));
    let page = web().fetch_text(&site.url("/a#part"), 10_000).await.unwrap();
    assert_eq!(page.title, "The Keeper & the Gulls");
    assert!(page.text.starts_with("The lighthouse keeper wrote"), "{}", page.text);
    assert!(!page.text.contains("Shop now") && !page.text.contains("tracked"), "{}", page.text);
    assert_eq!(page.content_type, "text/html; charset=utf-8");
    assert_eq!((page.chars_total, page.truncated), (page.text.chars().count(), false));
    let heard = &site.heard()[0];
    assert_eq!(heard.header("user-agent"), Some("feral/0.1 (+a self-editing program; its owner runs it)"));
    assert_eq!(
        (heard.header("cookie"), heard.header("authorization"), heard.header("referer")),
        (None, None, None)
    );
}

#[tokio::test]
async fn the_text_is_cut_by_characters() {
    let site =
        Site::new(|_| answer("200 OK", "Content-Type: text/plain\r\n", "äöü🦀".repeat(100).as_bytes()));
    let page = web().fetch_text(&site.url("/"), 7).await.unwrap();
    assert_eq!((page.text.as_str(), page.chars_total, page.truncated), ("äöü🦀äöü", 400, true));
    let none = web().fetch_text(&site.url("/"), 0).await.unwrap();
    assert_eq!((none.text.as_str(), none.truncated), ("", true));
}

#[tokio::test]
async fn a_page_without_an_article_keeps_its_links() {
    let site =
        Site::new(|_| html("<html><title>Index</title><body><ul><li><a href='/one'>One</a><li>Two</ul>"));
    let page = web().fetch_text(&site.url("/"), 1000).await.unwrap();
    assert_eq!(page.title, "Index");
    assert!(page.text.contains("Two") && page.text.contains("/one"), "{}", page.text);
}

#[tokio::test]
async fn charsets_by_header_mark_and_meta() {
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
        let page = web().fetch_text(&site.url("/"), 1000).await.unwrap();
        assert_eq!(page.text, "Café € 5", "page {number}, {content_type}");
    }
}

#[tokio::test]
async fn invalid_utf_8_is_replaced_not_refused() {
    let site = Site::new(|_| {
        answer("200 OK", "Content-Type: text/plain; charset=utf-8\r\n", b"good \xff\xfe\xc3 end")
    });
    let page = web().fetch_text(&site.url("/"), 1000).await.unwrap();
    assert!(page.text.starts_with("good \u{fffd}") && page.text.ends_with(" end"), "{}", page.text);
}

#[tokio::test]
async fn text_json_and_markdown_pass_as_they_are() {
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
        let page = web().fetch_text(&site.url("/"), 1000).await.unwrap();
        assert_eq!(page.text, body, "{content_type}");
    }
    let untyped = Site::new(|_| answer("200 OK", "", b"<!DOCTYPE html><p>bare</p>"));
    assert_eq!(web().fetch_text(&untyped.url("/"), 1000).await.unwrap().text, "bare");
}

#[tokio::test]
async fn binary_and_empty_answers_are_refused_clearly() {
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
        let error = web().fetch_text(&site.url("/x"), 1000).await.unwrap_err();
        assert!(error.message.contains(says) && error.message.contains(&site.url("/x")), "{error:?}");
        assert!(!error.hint.is_empty());
    }
}

#[tokio::test]
async fn bad_statuses_are_errors_that_name_them() {
    for (line, code, says) in [
        ("404 Not Found", 404, "not there"),
        ("500 Internal Server Error", 500, "try again later"),
        ("403 Forbidden", 403, "refuses programs"),
        ("429 Too Many Requests", 429, "retry after 120"),
        ("304 Not Modified", 304, "another address"),
    ] {
        let site = Site::new(move |_| answer(line, "Retry-After: 120\r\n", b"<html>oops"));
        let error = web().fetch_text(&site.url("/gone"), 1000).await.unwrap_err();
        assert_eq!(error.status, Some(code));
        assert!(error.message.contains(&site.url("/gone")) && error.hint.contains(says), "{error:?}");
    }
}

#[tokio::test]
async fn redirects_are_followed_five_times() {
    let site = Site::new(|heard| {
        let step: usize = heard.target.trim_start_matches('/').parse().unwrap();
        let next = format!("Location: /{}\r\n", step.max(1) - 1);
        if step == 0 { html("<p>arrived") } else { answer("302 Found", &next, b"") }
    });
    let page = web().fetch_text(&site.url("/5"), 100).await.unwrap();
    assert_eq!((page.text.as_str(), page.url), ("arrived", site.url("/0")));
    let error = web().fetch_text(&site.url("/6"), 100).await.unwrap_err();
    assert!(error.message.contains("more than 5 redirects"), "{error:?}");
    let circle = Site::new(|_| answer("301 Moved", "Location: /\r\n", b""));
    assert!(web().fetch_text(&circle.url("/"), 100).await.is_err());
    assert_eq!(circle.heard().len(), 6);
}

#[tokio::test]
async fn redirects_elsewhere_are_refused() {
    for (location, says) in [
        ("file:///etc/passwd", "not http"),
        ("http://me:secret@example.org/", "user name or password"),
        ("http://[broken/", "redirect of"),
    ] {
        let site = Site::new(move |_| answer("302 Found", &format!("Location: {location}\r\n"), b""));
        let error = web().fetch_text(&site.url("/"), 100).await.unwrap_err();
        assert!(error.message.contains(says) && !error.message.contains("secret"), "{error:?}");
    }
}

fn gzipped(bytes: &[u8]) -> Vec<u8> {
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    packer.write_all(bytes).unwrap();
    packer.finish().unwrap()
}

#[tokio::test]
async fn a_gzip_bomb_stops_at_the_cap() {
    let bomb = gzipped(&vec![b'a'; 40 * 1024 * 1024]);
    assert!(bomb.len() < 100_000);
    let site =
        Site::new(move |_| answer("200 OK", "Content-Type: text/plain\r\nContent-Encoding: gzip\r\n", &bomb));
    let web = Web::new(Reach { allow_private: true, most_bytes: 100_000, ..Reach::default() }).unwrap();
    let page = web.fetch_text(&site.url("/"), 50).await.unwrap();
    assert_eq!((page.text.len(), page.chars_total, page.truncated), (50, 100_000, true));
}

#[tokio::test]
async fn a_cut_page_is_read_as_far_as_it_goes() {
    let site =
        Site::new(|_| html(&format!("<p>{}", "many words are here, é, and more of them. ".repeat(1000))));
    let web = Web::new(Reach { allow_private: true, most_bytes: 5_000, ..Reach::default() }).unwrap();
    let page = web.fetch_text(&site.url("/"), 100_000).await.unwrap();
    assert!(page.truncated && page.text.len() > 4_000 && page.text.len() < 6_000, "{}", page.text.len());
}

#[tokio::test]
async fn the_deadline_holds_for_slow_heads_and_slow_bodies() {
    for head in ["", "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 1000\r\n\r\n"] {
        let site = Site::raw(move |_, stream| {
            let _ = stream.write_all(head.as_bytes());
            for _ in 0..30 {
                std::thread::sleep(Duration::from_millis(50));
                if !head.is_empty() && stream.write_all(b"x").is_err() {
                    return;
                }
            }
        });
        let web =
            Web::new(Reach { allow_private: true, deadline: Duration::from_millis(400), ..Reach::default() });
        let started = Instant::now();
        let error = web.unwrap().fetch_text(&site.url("/"), 100).await.unwrap_err();
        assert!(started.elapsed() < Duration::from_secs(2));
        assert!(error.message.contains("took longer than 400ms"), "{error:?}");
        assert!(error.message.contains(&site.url("/")), "{error:?}");
    }
}

#[tokio::test]
async fn connections_that_break_or_refuse_are_errors() {
    let site = Site::raw(|_, stream| {
        let _ = stream
            .write_all(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 1000\r\n\r\nhalf");
    });
    let error = web().fetch_text(&site.url("/"), 100).await.unwrap_err();
    assert!(error.message.starts_with("read http://127.0.0.1"), "{error:?}");
    let nobody = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let error = web().fetch_text(&format!("http://{nobody}/"), 100).await.unwrap_err();
    assert!(error.message.contains("refused"), "{error:?}");
    let plain = Site::new(|_| html("<p>no tls"));
    let error = web().fetch_text(&plain.url("/").replace("http:", "https:"), 100).await.unwrap_err();
    assert!(error.message.contains("fetch https://127.0.0.1"), "{error:?}");
    let garbage = Site::raw(|_, stream| drop(stream.write_all(b"\x00\x01 not http\r\n\r\n")));
    assert!(web().fetch_text(&garbage.url("/"), 100).await.is_err());
}

#[tokio::test]
async fn hostile_pages_are_read_or_refused_in_time() {
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
        let started = Instant::now();
        let page = web().fetch_text(&site.url("/"), 1000).await;
        assert!(started.elapsed() < Duration::from_secs(15), "page {number} took {:?}", started.elapsed());
        assert!(page.is_ok_and(|page| page.text.contains("deep words")), "page {number}");
    }
}
