//! X: the signature against known vectors, and the API v2 against a local stand-in.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

mod server;

use hands::oauth1::{Keys, authorization, encode};
use hands::x::{Credentials, X, weight};
use server::{Heard, Site, answer, json};
use std::io::Write;

fn four() -> Credentials {
    Credentials::OAuth1 {
        consumer_key: "ck".into(),
        consumer_secret: "cs-hush".into(),
        token: "tk".into(),
        token_secret: "ts-hush".into(),
    }
}

fn x(site: &Site) -> X {
    X::new(Some(&site.url("")), four()).unwrap()
}

/// The example in X's own "Creating a signature".
#[test]
fn signature_of_the_documentation() {
    let keys = Keys {
        consumer_key: "xvz1evFS4wEEPTGEFPHBog",
        consumer_secret: "kAcSOqF21Fu85e7zjz7ZN2U4ZRhfV3WpwPAoE3Z7kBw",
        token: "370773112-GmHxMAgYyLbNEtIKZeRNFsMKPR9EyMZeS9weJAEb",
        token_secret: "LswwdoUaIvS8ltyTt5jkRh4J50vUPVVHtR2YPi5kE",
    };
    let query =
        [("status", "Hello Ladies + Gentlemen, a signed OAuth request!"), ("include_entities", "true")];
    let nonce = "kYjzVBB8Y0ZFabxSWbWovY3uYSQ2pTgmZeNu2VS4cg";
    for (url, signature) in [
        ("https://api.twitter.com/1.1/statuses/update.json", "hCtSmYh%2BiHYCEqBWrE7C7hYmtUk%3D"),
        ("https://api.twitter.com/1/statuses/update.json", "tnnArxj06cWHq44gCs1OSKk%2FjLY%3D"),
    ] {
        let header = authorization(keys, "post", url, &query, nonce, 1_318_622_958);
        let expected = format!(
            "OAuth oauth_consumer_key=\"xvz1evFS4wEEPTGEFPHBog\", oauth_nonce=\"{nonce}\", \
             oauth_signature=\"{signature}\", oauth_signature_method=\"HMAC-SHA1\", \
             oauth_timestamp=\"1318622958\", \
             oauth_token=\"370773112-GmHxMAgYyLbNEtIKZeRNFsMKPR9EyMZeS9weJAEb\", oauth_version=\"1.0\""
        );
        assert_eq!(header, expected);
    }
}

#[test]
fn percent_encoding_as_data() {
    for (plain, encoded) in [
        ("Ladies + Gentlemen", "Ladies%20%2B%20Gentlemen"),
        ("Dogs, Cats & Mice", "Dogs%2C%20Cats%20%26%20Mice"),
        ("☃", "%E2%98%83"),
        ("a-Z_0.~", "a-Z_0.~"),
        ("*!'()", "%2A%21%27%28%29"),
    ] {
        assert_eq!(encode(plain), encoded);
    }
}

#[test]
fn credentials_from_variables() {
    let from =
        |set: &[&str]| Credentials::from_variables(|name| set.contains(&name).then(|| "value".to_owned()));
    let all = ["X_API_KEY", "X_API_SECRET", "X_ACCESS_TOKEN", "X_ACCESS_TOKEN_SECRET"];
    assert!(matches!(from(&all), Some(Credentials::OAuth1 { .. })));
    assert!(from(&all[..3]).is_none());
    assert!(matches!(from(&["X_API_KEY", "X_USER_TOKEN"]), Some(Credentials::Bearer(_))));
    assert!(Credentials::from_variables(|_| Some(" ".into())).is_none());
    assert!(!format!("{:?}", four()).contains("hush"));
}

fn field(heard: &Heard, name: &str) -> Option<String> {
    let header = heard.header("authorization")?.strip_prefix("OAuth ")?.to_owned();
    let found =
        header.split(", ").find_map(|pair| pair.strip_prefix(&format!("{name}=\"")).map(str::to_owned));
    found.map(|value| value.trim_end_matches('"').to_owned())
}

#[tokio::test]
async fn posts_and_replies() {
    let site = Site::new(|_| json("201 Created", r#"{"data":{"id":"1445880548472328192","text":"x"}}"#));
    assert_eq!(x(&site).post("Hello \"wörld\"").await.unwrap().id, "1445880548472328192");
    x(&site).reply("Yes", " 99 ").await.unwrap();
    let heard = site.heard();
    assert_eq!((heard[0].method.as_str(), heard[0].target.as_str()), ("POST", "/2/tweets"));
    assert_eq!(heard[0].header("content-type"), Some("application/json"));
    assert_eq!(heard[0].body, r#"{"text":"Hello \"wörld\""}"#);
    assert_eq!(heard[1].body, r#"{"text":"Yes","reply":{"in_reply_to_tweet_id":"99"}}"#);
    let keys = Keys { consumer_key: "ck", consumer_secret: "cs-hush", token: "tk", token_secret: "ts-hush" };
    for heard in &heard {
        let (nonce, at) = (field(heard, "oauth_nonce").unwrap(), field(heard, "oauth_timestamp").unwrap());
        let again = authorization(keys, "POST", &site.url("/2/tweets"), &[], &nonce, at.parse().unwrap());
        assert_eq!(heard.header("authorization"), Some(again.as_str()));
    }
    assert_ne!(field(&heard[0], "oauth_nonce"), field(&heard[1], "oauth_nonce"));
}

const POSTS: &str = r#"{"data":[
    {"id":"3","author_id":"7","text":"three","created_at":"2025-01-01T00:00:00.000Z"},
    {"id":"2","author_id":"8","text":"two"},{"text":"no id"},{"id":"1","text":"one"}],"meta":{"result_count":3}}"#;

#[tokio::test]
async fn searches_with_the_query_as_it_was_signed() {
    let site = Site::new(|_| json("200 OK", POSTS));
    let found = x(&site).search("rust lang -is:retweet \"a+b\" 🦀", 2).await.unwrap();
    assert_eq!(found.len(), 2);
    assert_eq!(
        (found[0].id.as_str(), found[0].author_id.as_str(), found[0].text.as_str()),
        ("3", "7", "three")
    );
    assert_eq!(
        (found[0].created_at.as_str(), found[1].created_at.as_str()),
        ("2025-01-01T00:00:00.000Z", "")
    );
    let heard = &site.heard()[0];
    let spelt = "query=rust%20lang%20-is%3Aretweet%20%22a%2Bb%22%20%F0%9F%A6%80";
    assert_eq!(
        heard.target,
        format!("/2/tweets/search/recent?{spelt}&max_results=10&tweet.fields=author_id%2Ccreated_at")
    );
    let keys = Keys { consumer_key: "ck", consumer_secret: "cs-hush", token: "tk", token_secret: "ts-hush" };
    let query = [
        ("query", "rust lang -is:retweet \"a+b\" 🦀"),
        ("max_results", "10"),
        ("tweet.fields", "author_id,created_at"),
    ];
    let at = field(heard, "oauth_timestamp").unwrap().parse().unwrap();
    let url = site.url("/2/tweets/search/recent");
    let again = authorization(keys, "GET", &url, &query, &field(heard, "oauth_nonce").unwrap(), at);
    assert_eq!(heard.header("authorization"), Some(again.as_str()));
    assert!(x(&site).search("  ", 2).await.is_err());
}

#[tokio::test]
async fn mentions_ask_once_who_it_is() {
    let site = Site::new(|heard| match heard.target.as_str() {
        "/2/users/me" => json("200 OK", r#"{"data":{"id":"42","name":"n","username":"u"}}"#),
        target if target.contains("since_id=5") => json("200 OK", r#"{"meta":{"result_count":0}}"#),
        _ => json("200 OK", POSTS),
    });
    let x = X::new(Some(&site.url("/")), Credentials::Bearer("user-token".into())).unwrap();
    assert_eq!(x.mentions(None).await.unwrap().len(), 3);
    assert_eq!(x.mentions(Some("5")).await.unwrap(), vec![]);
    let heard = site.heard();
    let targets: Vec<&str> = heard.iter().map(|heard| heard.target.split('?').next().unwrap()).collect();
    assert_eq!(targets, ["/2/users/me", "/2/users/42/mentions", "/2/users/42/mentions"]);
    assert_eq!(heard[1].header("authorization"), Some("Bearer user-token"));
    assert!(x.mentions(Some("5&x=1")).await.is_err());
    let odd = Site::new(|_| json("200 OK", r#"{"data":{"id":"../1"}}"#));
    let error = X::new(Some(&odd.url("")), four()).unwrap().mentions(None).await.unwrap_err();
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
    let site = Site::new(|_| json("201 Created", r#"{"data":{"id":"1"}}"#));
    for text in ["", " \n", &"x".repeat(281), &"日".repeat(141)] {
        assert!(x(&site).post(text).await.is_err());
        assert!(x(&site).reply(text, "1").await.is_err());
    }
    for id in ["", "abc", "1/2", "12345678901234567890", "-1"] {
        assert!(x(&site).reply("fine", id).await.is_err());
    }
    let error = x(&site).post(&"x".repeat(300)).await.unwrap_err();
    assert!(
        error.message.contains("300") && error.message.contains("280") && error.hint.contains("20"),
        "{error:?}"
    );
    assert!(site.heard().is_empty());
    assert!(x(&site).post(&"x".repeat(280)).await.is_ok());
}

#[tokio::test]
async fn refusals_say_what_to_do() {
    for (line, headers, body, status, message, hint) in [
        ("401 Unauthorized", "", r#"{"title":"Unauthorized"}"#, 401, "Unauthorized", "renew"),
        (
            "403 Forbidden",
            "",
            r#"{"detail":"You are not allowed to create a duplicate."}"#,
            403,
            "duplicate",
            "posted before",
        ),
        (
            "429 Too Many Requests",
            "x-rate-limit-reset: 1893456000\r\n",
            "{}",
            429,
            "429",
            "2030-01-01T00:00:00Z",
        ),
        ("429 Too Many Requests", "", "slow down", 429, "429", "quarter of an hour"),
        ("400 Bad Request", "", r#"{"errors":[{"message":"bad field"}]}"#, 400, "bad field", "change it"),
        ("402 Payment Required", "", "", 402, "402", "credits"),
        ("503 Service Unavailable", "", "<html>", 503, "503", "may have gone through"),
    ] {
        let site = Site::new(move |_| answer(line, headers, body.as_bytes()));
        let error = x(&site).post("hi").await.unwrap_err();
        assert_eq!(error.status, Some(status));
        assert!(error.message.contains(message) && error.hint.contains(hint), "{error:?}");
        assert!(error.message.contains(&site.url("/2/tweets")) && !format!("{error:?}").contains("hush"));
        assert_eq!(site.heard().len(), 1, "no second try");
    }
    let site = Site::new(|_| answer("503 Service Unavailable", "", b""));
    assert!(x(&site).search("q", 1).await.unwrap_err().hint.contains("try again later"));
}

#[tokio::test]
async fn a_post_that_may_have_gone_through_is_not_sent_again() {
    for half in [
        "",
        "HTTP/1.1 201 Created\r\nContent-Length: 100\r\n\r\n{\"data\"",
        "HTTP/1.1 201 Created\r\nContent-Length: 4\r\n\r\nokay",
    ] {
        let site = Site::raw(move |_, stream| drop(stream.write_all(half.as_bytes())));
        let error = x(&site).post("hi").await.unwrap_err();
        assert!(error.hint.contains("may have gone through"), "{half}: {error:?}");
        assert_eq!(site.heard().len(), 1);
    }
    let nobody = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let x = X::new(Some(&format!("http://{nobody}")), four()).unwrap();
    let error = x.post("hi").await.unwrap_err();
    assert!(!error.hint.contains("may have gone through"), "nothing was sent: {error:?}");
}
