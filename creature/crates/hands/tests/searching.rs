//! Both search providers over a real server, and what can be wrong with them.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

mod server;

use hands::search::{Hit, Provider, search};
use hands::{Reach, Web};
use server::{Site, answer, html, json};

fn provider(kind: &str, base_url: &str, key: Option<&str>) -> Provider {
    Provider { kind: kind.into(), base_url: base_url.into(), key: key.map(Into::into) }
}

/// Guarded: the provider's own address may be private all the same.
fn web() -> Web {
    Web::new(Reach::default()).unwrap()
}

#[tokio::test]
async fn brave() {
    let site = Site::new(|_| {
        json(
            "200 OK",
            r#"{"web":{"results":[
            {"title":"<b>Gulls</b> &amp; co","url":"https://example.org/g","description":"All about <strong>gulls</strong>"},
            {"title":"No address"},
            {"title":"Two","url":"https://example.org/2"},
            {"title":"Three","url":"https://example.org/3"}]}}"#,
        )
    });
    let brave = provider("brave", &site.url("/"), Some("the-key"));
    let hits = search(&web(), &brave, " gulls & ships ", 2).await.unwrap();
    let first = Hit {
        title: "Gulls & co".into(),
        url: "https://example.org/g".into(),
        snippet: "All about gulls".into(),
    };
    assert_eq!((hits.len(), &hits[0], hits[1].snippet.as_str()), (2, &first, ""));
    let heard = &site.heard()[0];
    assert_eq!(heard.target, "/res/v1/web/search?q=gulls+%26+ships&count=2");
    assert_eq!(heard.header("x-subscription-token"), Some("the-key"));
}

#[tokio::test]
async fn searxng() {
    let site =
        Site::new(|_| json("200 OK", r#"{"results":[{"title":"T","url":"https://e.org/","content":"C"}]}"#));
    let hits = search(&web(), &provider("searxng", &site.url("/sx/"), None), "ü", 5).await.unwrap();
    assert_eq!((hits[0].title.as_str(), hits[0].snippet.as_str()), ("T", "C"));
    assert_eq!(site.heard()[0].target, "/sx/search?q=%C3%BC&format=json");
}

#[tokio::test]
async fn what_is_not_configured_says_so() {
    for (provider, says, hint) in [
        (provider("", "", None), "web search is not configured", "[search] in owner.toml"),
        (provider("bing", "", None), "`bing`", "brave"),
        (provider("searxng", "", None), "no address", "base_url"),
        (provider("brave", "", None), "needs a key", "key_env"),
        (provider("brave", "", Some("  ")), "needs a key", "key_env"),
        (provider("brave", "ftp://x/", Some("k")), "not http", "web addresses"),
    ] {
        let error = search(&web(), &provider, "q", 3).await.unwrap_err();
        assert!(error.message.contains(says) && error.hint.contains(hint), "{error:?}");
    }
    assert!(
        search(&web(), &provider("", "", None), " ", 3).await.unwrap_err().message.contains("query is empty")
    );
}

#[tokio::test]
async fn bad_answers_are_errors_without_the_key() {
    for (kind, reply, status, hint) in [
        ("brave", answer("401 Unauthorized", "", b""), Some(401), "refuses the key"),
        ("brave", answer("422 Unprocessable Entity", "", b""), Some(422), "refuses the key"),
        ("brave", answer("429 Too Many Requests", "", b""), Some(429), "quota"),
        ("brave", answer("500 Oops", "", b""), Some(500), "try again later"),
        ("brave", answer("302 Found", "Location: https://evil.example/\r\n", b""), Some(302), ""),
        ("searxng", answer("403 Forbidden", "", b""), Some(403), "allow json"),
        ("searxng", html("<html>results"), None, "allow json"),
    ] {
        let site = Site::new(move |_| reply.clone());
        let error = search(&web(), &provider(kind, &site.url(""), Some("hush")), "q", 3).await.unwrap_err();
        assert_eq!(error.status, status);
        assert!(error.hint.contains(hint) && !format!("{error:?}").contains("hush"), "{error:?}");
        assert_eq!(site.heard().len(), 1);
    }
    let site = Site::new(|_| json("200 OK", "{}"));
    assert_eq!(search(&web(), &provider("searxng", &site.url(""), None), "q", 3).await.unwrap(), vec![]);
}
