//! Both search providers behind the broker, and what can be wrong with them.
#![allow(clippy::disallowed_methods, clippy::unwrap_used, clippy::indexing_slicing)]

#[macro_use]
mod server;

use hands::search::{Asked, Hit};
use hands::{Broker, Error};
use serde_json::{Value, json};
use server::{Site, json as answered, passed};

async fn search(broker: &Broker, service: &Value, query: &str, most: usize) -> Result<Vec<Hit>, Error> {
    hands::search::search(broker, service, Asked { query, most, ..Asked::default() }).await
}

/// The service as the broker's status shows it.
fn service(path: &str) -> Value {
    json!({"name": "search", "about": "", "rules": [{"method": "GET", "path": path, "do": "allow"}]})
}

fn request(site: &Site) -> Value {
    let heard = &site.heard()[0];
    assert_eq!((heard.method.as_str(), heard.target.as_str()), ("POST", "/service"));
    serde_json::from_str(&heard.body).unwrap()
}

#[tokio::test]
async fn brave() {
    loopback!();
    let site = Site::new(|_| {
        passed(
            200,
            r#"{"web":{"results":[
            {"title":"<b>Gulls</b> &amp; co","url":"https://example.org/g","description":"All about <strong>gulls</strong>"},
            {"title":"No address"},
            {"title":"Two","url":"https://example.org/2"},
            {"title":"Three","url":"https://example.org/3"}]}}"#,
        )
    });
    let hits = search(&site.broker(), &service("/res/v1/web/search"), " gulls & ships ", 2).await.unwrap();
    let first = Hit {
        title: "Gulls & co".into(),
        url: "https://example.org/g".into(),
        snippet: "All about gulls".into(),
    };
    assert_eq!((hits.len(), &hits[0], hits[1].snippet.as_str()), (2, &first, ""));
    let query = json!({"q": "gulls & ships", "count": "2"});
    let wanted = json!({"service": "search", "method": "GET", "path": "/res/v1/web/search", "query": query});
    assert_eq!(request(&site), wanted);
}

#[tokio::test]
async fn searxng() {
    loopback!();
    let site =
        Site::new(|_| passed(200, r#"{"results":[{"title":"T","url":"https://e.org/","content":"C"}]}"#));
    let hits = search(&site.broker(), &service("/search"), "ü", 5).await.unwrap();
    assert_eq!((hits[0].title.as_str(), hits[0].snippet.as_str()), ("T", "C"));
    assert_eq!(request(&site)["query"], json!({"q": "ü", "format": "json"}));
}

#[tokio::test]
async fn what_is_new_and_later_pages_are_asked_in_each_providers_words() {
    loopback!();
    for (path, within, page, wanted) in [
        ("/res/v1/web/search", "week", 3, json!({"q": "q", "count": "5", "freshness": "pw", "offset": "2"})),
        ("/search", "week", 3, json!({"q": "q", "format": "json", "time_range": "week", "pageno": "3"})),
        ("/res/v1/web/search", "", 1, json!({"q": "q", "count": "5"})),
        ("/search", "", 1, json!({"q": "q", "format": "json"})),
    ] {
        let site = Site::new(|_| passed(200, "{}"));
        let asked = Asked { query: "q", most: 5, within, page, ..Asked::default() };
        hands::search::search(&site.broker(), &service(path), asked).await.unwrap();
        assert_eq!(request(&site)["query"], wanted, "{path}");
    }
}

#[tokio::test]
async fn the_language_and_what_is_left_out_are_asked_in_each_providers_words() {
    loopback!();
    for (path, wanted) in [
        ("/res/v1/web/search", json!({"q": "q", "count": "5", "search_lang": "de", "safesearch": "strict"})),
        ("/search", json!({"q": "q", "format": "json", "language": "de-CH", "safesearch": "2"})),
    ] {
        let site = Site::new(|_| passed(200, "{}"));
        let asked = Asked { query: "q", most: 5, language: "de-CH", safe: "strict", ..Asked::default() };
        hands::search::search(&site.broker(), &service(path), asked).await.unwrap();
        assert_eq!(request(&site)["query"], wanted, "{path}");
    }
}

#[tokio::test]
async fn bad_answers_are_errors_that_say_what_to_do() {
    loopback!();
    for (path, status, body, hint) in [
        ("/res/v1/web/search", 401, "", "refuses the key"),
        ("/res/v1/web/search", 422, "", "refuses the key"),
        ("/res/v1/web/search", 429, "", "quota"),
        ("/res/v1/web/search", 500, "", "try again later"),
        ("/search", 403, "", "must allow json"),
        ("/search", 429, "", "limiter: false"),
        (
            "/search",
            200,
            r#"{"results": [], "unresponsive_engines": [["a", "timeout"], ["b", "CAPTCHA"]]}"#,
            "refuse it",
        ),
        ("/search", 200, "<html>results", "must allow json"),
    ] {
        let site = Site::new(move |_| passed(status, body));
        let error = search(&site.broker(), &service(path), "q", 3).await.unwrap_err();
        assert!(error.hint.contains(hint), "{error:?}");
        assert_eq!(site.heard().len(), 1);
    }
    let refused = r#"{"ok": false, "error": "not in the rules", "hint": "GET /search is allowed"}"#;
    let site = Site::new(move |_| answered("200 OK", refused));
    let error = search(&site.broker(), &service("/search"), "q", 3).await.unwrap_err();
    assert!(error.message.contains("not in the rules") && error.hint.contains("is allowed"), "{error:?}");
    assert!(search(&site.broker(), &service("/search"), " ", 3).await.is_err());
    let site = Site::new(|_| passed(200, "{}"));
    assert_eq!(search(&site.broker(), &service("/search"), "q", 3).await.unwrap(), vec![]);
}
