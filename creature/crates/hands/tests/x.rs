//! X: what is asked of the API v2, and what is made of its answers, behind the broker.
#![allow(clippy::disallowed_methods, clippy::unwrap_used, clippy::indexing_slicing)]

#[macro_use]
mod server;

use hands::Deferred;
use hands::x::{mentions, post, search, weight};
use serde_json::{Value, json};
use server::{Site, json as answered, passed};
use std::io::Write;

fn requests(site: &Site) -> Vec<Value> {
    site.heard().iter().map(|heard| serde_json::from_str(&heard.body).unwrap()).collect()
}

#[tokio::test]
async fn posts_and_replies() {
    loopback!();
    let site = Site::new(|_| passed(201, r#"{"data":{"id":"1445880548472328192","text":"x"}}"#));
    assert_eq!(post(&site.broker(), "Hello \"wörld\"", None).await.unwrap().id, "1445880548472328192");
    post(&site.broker(), "Yes", Some(" 99 ")).await.unwrap();
    let (first, reply) = (json!({"text": "Hello \"wörld\""}), json!({"in_reply_to_tweet_id": "99"}));
    let request = |body: Value| json!({"service": "x", "method": "POST", "path": "/2/tweets", "body": body});
    assert_eq!(requests(&site), [request(first), request(json!({"text": "Yes", "reply": reply}))]);
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

#[test]
fn weights_as_data() {
    for (text, expected) in [
        ("", 0),
        ("hello", 5),
        ("grüße", 5),
        ("日本", 4),
        ("🦀", 2),
        ("see https://example.org/a/very/long/path/that/goes/on/and/on?and=on ok", 4 + 23 + 3),
        ("http://a.b\n", 24),
    ] {
        assert_eq!(weight(text), expected, "{text}");
    }
}

#[tokio::test]
async fn texts_that_do_not_fit_are_never_sent() {
    loopback!();
    let site = Site::new(|_| passed(201, r#"{"data":{"id":"1"}}"#));
    for text in ["", " \n", &"x".repeat(281), &"日".repeat(141)] {
        assert!(post(&site.broker(), text, None).await.is_err());
    }
    for id in ["", "abc", "1/2", "12345678901234567890", "-1"] {
        assert!(post(&site.broker(), "fine", Some(id)).await.is_err());
    }
    let error = post(&site.broker(), &"x".repeat(300), None).await.unwrap_err();
    assert!(error.message.contains("300") && error.hint.contains("20"), "{error:?}");
    assert!(site.heard().is_empty());
    assert!(post(&site.broker(), &"x".repeat(280), None).await.is_ok());
}

#[tokio::test]
async fn refusals_of_x_say_what_to_do() {
    loopback!();
    for (status, body, message, hint) in [
        (401, r#"{"title":"Unauthorized"}"#, "Unauthorized", "renew"),
        (403, r#"{"detail":"You are not allowed to create a duplicate."}"#, "duplicate", "posted before"),
        (429, "slow down", "429", "quarter of an hour"),
        (400, r#"{"errors":[{"message":"bad field"}]}"#, "bad field", "change it"),
        (402, "", "402", "credits"),
        (503, "<html>", "503", "may have gone through"),
    ] {
        let site = Site::new(move |_| passed(status, body));
        let error = post(&site.broker(), "hi", None).await.unwrap_err();
        assert_eq!(error.status, Some(status));
        assert!(error.message.contains(message) && error.hint.contains(hint), "{error:?}");
        assert_eq!(site.heard().len(), 1, "no second try");
    }
    let site = Site::new(|_| passed(503, ""));
    assert!(search(&site.broker(), "q", 1).await.unwrap_err().hint.contains("try again later"));
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
        (r#"{"ok":false,"error":"POST /2/tweets at x: not now","hint":"go on"}"#, None),
        (r#"{"hint":"go on"}"#, None),
    ] {
        let site = Site::new(move |_| answered("200 OK", said));
        let error = post(&site.broker(), "hi", None).await.unwrap_err();
        assert_eq!((error.deferred, error.hint.as_str()), (deferred, "go on"));
        let named = error.message.matches("POST /2/tweets at x: ").count();
        assert_eq!(named, 1, "{}", error.message);
    }
}

#[tokio::test]
async fn a_post_that_may_have_gone_through_is_not_sent_again() {
    loopback!();
    for half in ["", "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{\"ok\""] {
        let site = Site::raw(move |_, stream| drop(stream.write_all(half.as_bytes())));
        let error = post(&site.broker(), "hi", None).await.unwrap_err();
        assert!(error.hint.contains("may have been done"), "{half}: {error:?}");
        assert_eq!(site.heard().len(), 1);
    }
    let nobody = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let broker = hands::Broker::new(&format!("http://{nobody}"), server::TOKEN).unwrap();
    let error = post(&broker, "hi", None).await.unwrap_err();
    assert!(!error.hint.contains("may have been done"), "nothing was sent: {error:?}");
}
