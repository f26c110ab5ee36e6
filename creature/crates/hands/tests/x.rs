//! X: what is asked of the API v2, and what is made of its answers, behind the broker.
#![allow(clippy::disallowed_methods, clippy::unwrap_used, clippy::indexing_slicing)]

#[macro_use]
mod server;

use hands::Deferred;
use hands::posts::publish;
use hands::x::{mentions, search};
use hands::{bluesky, posts::Post};
use serde_json::{Value, json};
use server::{Site, json as answered, passed};
use std::io::Write;

fn requests(site: &Site) -> Vec<Value> {
    site.heard().iter().map(|heard| serde_json::from_str(&heard.body).unwrap()).collect()
}

#[tokio::test]
async fn a_thread_is_one_request_and_its_parts_are_named() {
    loopback!();
    let site = Site::new(|_| passed(200, r#"{"posted":["91","92"]}"#));
    let thread =
        json!({"service": "x", "parts": [{"text": "Hello \"wörld\""}, {"text": "two"}], "quote": "99"});
    assert_eq!(publish(&site.broker(), &thread).await.unwrap(), ["91", "92"]);
    assert_eq!(requests(&site), [thread]);
}

fn hi() -> Value {
    json!({"service": "x", "parts": [{"text": "hi"}]})
}

const POSTS: &str = r#"{"data":[
    {"id":"3","author_id":"7","text":"three","created_at":"2025-01-01T00:00:00.000Z"},
    {"id":"2","author_id":"8","text":"two"},{"text":"no id"},{"id":"1","text":"one"}],"meta":{"result_count":3}}"#;

#[tokio::test]
async fn searches() {
    loopback!();
    let site = Site::new(|_| passed(200, POSTS));
    let found = search(&site.broker(), " rust lang \"a+b\" 🦀", 2).await.unwrap();
    assert_eq!(found.len(), 2);
    assert_eq!(
        (found[0].id.as_str(), found[0].author_id.as_str(), found[0].text.as_str()),
        ("3", "7", "three")
    );
    assert_eq!(
        (found[0].created_at.as_str(), found[1].created_at.as_str()),
        ("2025-01-01T00:00:00.000Z", "")
    );
    let query = json!({
        "query": "rust lang \"a+b\" 🦀", "max_results": "10", "tweet.fields": "author_id,created_at"
    });
    assert_eq!(requests(&site)[0]["query"], query);
    assert!(search(&site.broker(), "  ", 2).await.is_err());
}

#[tokio::test]
async fn mentions_ask_who_it_is() {
    loopback!();
    let site = Site::new(|heard| match &heard.body {
        body if body.contains("/2/users/me") => passed(200, r#"{"data":{"id":"42","name":"n"}}"#),
        body if body.contains("since_id") => passed(200, r#"{"meta":{"result_count":0}}"#),
        _ => passed(200, POSTS),
    });
    assert_eq!(mentions(&site.broker(), None).await.unwrap().len(), 3);
    assert_eq!(mentions(&site.broker(), Some("5")).await.unwrap(), vec![]);
    let paths: Vec<Value> = requests(&site).iter().map(|request| request["path"].clone()).collect();
    assert_eq!(paths, ["/2/users/me", "/2/users/42/mentions", "/2/users/me", "/2/users/42/mentions"]);
    assert!(mentions(&site.broker(), Some("5&x=1")).await.is_err());
    let odd = Site::new(|_| passed(200, r#"{"data":{"id":"../1"}}"#));
    let error = mentions(&odd.broker(), None).await.unwrap_err();
    assert!(error.message.contains("holds no id"), "{error:?}");
}

#[tokio::test]
async fn refusals_of_x_say_what_to_do() {
    loopback!();
    for (status, body, message, hint) in [
        (401, r#"{"title":"Unauthorized"}"#, "Unauthorized", "renew"),
        (403, r#"{"detail":"You may not look."}"#, "may not look", "lack permission"),
        (429, "slow down", "429", "quarter of an hour"),
        (400, r#"{"errors":[{"message":"bad field"}]}"#, "bad field", "change it"),
        (402, "", "402", "credits"),
        (503, "<html>", "503", "try again later"),
        (400, r#"{"error":"InvalidRequest","message":"bad cursor"}"#, "bad cursor", "change it"),
    ] {
        let site = Site::new(move |_| passed(status, body));
        let error = search(&site.broker(), "hi", 10).await.unwrap_err();
        assert_eq!(error.status, Some(status));
        assert!(error.message.contains(message) && error.hint.contains(hint), "{error:?}");
        assert_eq!(site.heard().len(), 1, "no second try");
    }
}

#[tokio::test]
async fn what_the_broker_decides_is_told_apart() {
    loopback!();
    let asked = Some(Deferred::Asked("12".to_owned()));
    let draft = Some(Deferred::Draft("self/drafts/a.md".to_owned()));
    for (said, deferred) in [
        (r#"{"ok":false,"asked":"12","error":"the post waits for the owner","hint":"go on"}"#, asked.clone()),
        (r#"{"ok":false,"asked":12,"error":"the post waits for the owner","hint":"go on"}"#, asked),
        (
            r#"{"ok":false,"draft":true,"path":"self/drafts/a.md","error":"kept as a draft","hint":"go on"}"#,
            draft,
        ),
        (r#"{"ok":false,"asked":null,"error":"outside its rules","hint":"go on"}"#, None),
        (r#"{"ok":false,"error":"post at x: not now","hint":"go on"}"#, None),
        (r#"{"hint":"go on"}"#, None),
    ] {
        let site = Site::new(move |_| answered("200 OK", said));
        let error = publish(&site.broker(), &hi()).await.unwrap_err();
        assert_eq!((error.deferred, error.hint.as_str()), (deferred, "go on"));
        let named = error.message.matches("post at x: ").count();
        assert_eq!(named, 1, "{}", error.message);
    }
}

#[tokio::test]
async fn a_post_that_may_have_gone_through_is_not_sent_again() {
    loopback!();
    for half in ["", "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{\"ok\""] {
        let site = Site::raw(move |_, stream| drop(stream.write_all(half.as_bytes())));
        let error = publish(&site.broker(), &hi()).await.unwrap_err();
        assert!(error.hint.contains("may have been done"), "{half}: {error:?}");
        assert_eq!(site.heard().len(), 1);
    }
    let nobody = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let broker = hands::Broker::new(&format!("http://{nobody}"), server::TOKEN).unwrap();
    let error = publish(&broker, &hi()).await.unwrap_err();
    assert!(!error.hint.contains("may have been done"), "nothing was sent: {error:?}");
}

#[tokio::test]
async fn bluesky_answers_in_the_same_form() {
    loopback!();
    let post = json!({"uri": "at://did:plc:a/app.bsky.feed.post/k2", "author": {"handle": "ann.test"},
        "record": {"text": "seven", "createdAt": "2026-01-01T00:00:00.000Z"}});
    let older = json!({"uri": "at://did:plc:a/app.bsky.feed.post/k1", "author": {}, "record": {}});
    let said = json!({"posts": [post, older, {"no": "uri"}], "notifications": [post, older]}).to_string();
    let site = Site::new(move |_| passed(200, &said));
    let first = Post {
        id: "at://did:plc:a/app.bsky.feed.post/k2".into(),
        author_id: "ann.test".into(),
        text: "seven".into(),
        created_at: "2026-01-01T00:00:00.000Z".into(),
    };
    let found = bluesky::search(&site.broker(), "bluesky", " herons ", 5).await.unwrap();
    assert_eq!((found.len(), &found[0]), (2, &first));
    let since = Some("at://did:plc:a/app.bsky.feed.post/k1");
    assert_eq!(bluesky::mentions(&site.broker(), "mine", since).await.unwrap(), [first]);
    let asked = requests(&site);
    assert_eq!(asked[0]["query"], json!({"q": "herons", "sort": "latest", "limit": "5"}));
    assert_eq!((&asked[0]["service"], &asked[1]["service"]), (&json!("bluesky"), &json!("mine")));
    assert!(asked[1]["path"].as_str().unwrap().contains("reasons=mention&reasons=reply"), "{asked:?}");
}
