//! Search by a SearXNG of the owner's: its own answers and refusals pass, nothing but a search is asked, and what it finds taints.
//!
//! The server answers as SearXNG 2026.8 does (its `docs/dev/search_api.rst` and what it was seen to send): `scripts/trials
//! searxng` puts the real one in its place.

use crate::home::{Home, Reply, Seen, Stub, reply};
use reqwest::Url;
use serde_json::{Value, json};

/// A SearXNG with JSON on or off, whose one engine finds herons, and falls at the word `broken`.
fn searxng(gives_json: bool) -> Stub {
    Stub::start(move |seen: &Seen| {
        let asked = Url::parse(&format!("http://searxng{}", seen.target)).unwrap();
        let of = |name: &str| {
            let found = asked.query_pairs().filter(|(key, _)| key == name).last();
            found.map_or_else(String::new, |(_, value)| value.into_owned())
        };
        let wrong = |text: &str| json_reply(400, &json!({"error": text}));
        let spans = ["", "day", "week", "month", "year"];
        match (of("q").as_str(), of("format").as_str()) {
            (_, "json") if !gives_json => reply(403, "<!doctype html>\n<title>403 Forbidden</title>"),
            ("", _) => wrong("No query"),
            _ if !spans.contains(&of("time_range").as_str()) => {
                wrong("Invalid value for parameter time_range")
            }
            (query, "json") => {
                let hit = json!({"url": "https://example.org/herons", "title": "Grey <b>herons</b>", "content": "At dawn",
                    "engine": "pages", "engines": ["pages"], "positions": [1], "score": 1.0, "category": "general"});
                let (results, silent) = match query.contains("broken") {
                    true => (json!([]), json!([["pages", "HTTP error"]])),
                    false => (json!([hit]), json!([])),
                };
                json_reply(
                    200,
                    &json!({"query": query, "results": results, "answers": [], "corrections": [],
                    "infoboxes": [], "suggestions": [], "unresponsive_engines": silent}),
                )
            }
            _ => reply(200, "<!doctype html>"),
        }
    })
}

fn json_reply(status: u16, body: &Value) -> Reply {
    Reply { headers: vec![("content-type", "application/json".into())], ..reply(status, body.to_string()) }
}

fn home(stub: &Stub) -> Home {
    Home::new(&format!("[search]\nprovider = \"searxng\"\nbase_url = \"{}\"\n", stub.url))
}

fn search(query: Value) -> Value {
    json!({"service": "search", "method": "GET", "path": "/search", "query": query})
}

#[tokio::test]
async fn a_search_without_a_key_at_a_private_address() {
    let stub = searxng(true);
    let home = home(&stub);
    let open = home.open().await;
    let found = open.call(search(json!({"q": "grey herons & co", "format": "json"}))).await;
    assert_eq!((&found["ok"], &found["status"]), (&json!(true), &json!(200)), "{found}");
    let body: Value = serde_json::from_str(found["body"].as_str().unwrap()).unwrap();
    assert_eq!(body["results"][0]["title"], "Grey <b>herons</b>");
    assert_eq!(body["query"], "grey herons & co", "asked as it was meant");
    assert_eq!(open.get("/status").await["tainted"], true, "what is found others wrote");
    assert!(stub.last().header("authorization").is_none());
    let silent = open.call(search(json!({"q": "broken", "format": "json"}))).await;
    assert!(silent["body"].as_str().unwrap().contains("unresponsive_engines"), "{silent}");
    let wrong = open.call(search(json!({"q": "x", "format": "json", "time_range": "bogus"}))).await;
    assert_eq!(wrong["status"], 400, "{wrong}");
    let asked = stub.seen().len();
    for (method, path) in [("POST", "/search"), ("GET", "/"), ("GET", "/config"), ("GET", "/preferences")] {
        let refused = open.call(json!({"service": "search", "method": method, "path": path})).await;
        assert_eq!(refused["ok"], false, "{method} {path}: {refused}");
    }
    assert_eq!(stub.seen().len(), asked, "nothing but a search is asked");
}

#[tokio::test]
async fn one_that_gives_no_json_or_is_away_says_so() {
    let stub = searxng(false);
    let home = home(&stub);
    let open = home.open().await;
    let refused = open.call(search(json!({"q": "herons", "format": "json"}))).await;
    assert_eq!(refused["status"], 403, "{refused}");
    let gone = Home::new("[search]\nprovider = \"searxng\"\nbase_url = \"http://127.0.0.1:9\"\n");
    let away = gone.open().await.call(search(json!({"q": "herons", "format": "json"}))).await;
    assert_eq!(away["ok"], false, "{away}");
}
