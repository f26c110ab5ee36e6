//! What a rule keeps at home, and what setting a key gives.

use crate::home::{BEARER, Home, Stub, it};
use serde_json::{Value, json};

#[tokio::test]
async fn drafts_stay_at_home_and_follow_no_link() {
    let stub = Stub::ok();
    let home = Home::new(&it(&stub, BEARER, r#"{ method = "POST", path = "/2/tweets", do = "draft" }"#));
    let open = home.open().await;
    let body = json!({"service": "it", "method": "POST", "path": "/2/tweets",
        "body": {"text": "Hello, wide World!", "reply": {"in_reply_to_tweet_id": "12"}}});
    let draft = open.call(body.clone()).await;
    assert_eq!((&draft["ok"], &draft["draft"]), (&json!(false), &json!(true)), "{draft}");
    let path = draft["path"].as_str().unwrap();
    assert!(path.starts_with("self/drafts/2") && path.ends_with("-hello-wide-world.md"), "{path}");
    let text = home.text(path);
    assert!(text.starts_with("---\nfor: it\n") && text.contains("reply_to: 12\n"), "{text}");
    assert!(text.ends_with("---\n\nHello, wide World!\n"), "{text}");
    std::fs::rename(home.path("self/drafts"), home.path("elsewhere")).unwrap();
    std::os::unix::fs::symlink(home.path("elsewhere"), home.path("self/drafts")).unwrap();
    let refused = open.call(body).await;
    assert_eq!((&refused["ok"], &refused["draft"]), (&json!(false), &Value::Null), "{refused}");
    assert_eq!(std::fs::read_dir(home.path("elsewhere")).unwrap().count(), 1);
    assert!(stub.seen().is_empty());
}

#[tokio::test]
async fn services_come_from_keys_where_the_owner_set_them() {
    let stub = Stub::ok();
    let settings =
        format!("[search]\nprovider = \"brave\"\nbase_url = \"{0}\"\n[x]\nbase_url = \"{0}\"\n", stub.url);
    let names = |answer: &Value| -> Vec<String> {
        answer["services"]
            .as_array()
            .unwrap()
            .iter()
            .map(|one| one["name"].as_str().unwrap().to_owned())
            .collect()
    };
    let bare = Home::new(&settings);
    assert!(names(&bare.open().await.get("/service").await).is_empty());
    let home = Home::new(&settings)
        .with("BRAVE_API_KEY", "brave-key-12345")
        .with("X_USER_TOKEN", "x-user-token-123");
    let open = home.open().await;
    assert_eq!(names(&open.get("/service").await), ["search", "x"]);
    let search =
        json!({"service": "search", "path": "/res/v1/web/search", "query": {"q": "a b", "count": 3}});
    assert_eq!(open.call(search).await["ok"], true);
    let seen = stub.last();
    assert_eq!(seen.header("x-subscription-token"), Some("brave-key-12345"));
    assert_eq!(seen.target, "/res/v1/web/search?q=a%20b&count=3");
    assert_eq!(open.call(json!({"service": "x", "path": "/2/users/me"})).await["ok"], true);
    assert_eq!(stub.last().header("authorization"), Some("Bearer x-user-token-123"));
    let delete = open.call(json!({"service": "x", "method": "DELETE", "path": "/2/tweets/1"})).await;
    assert_eq!(delete["asked"], "1");
    let searxng = Home::new(&settings.replace("brave", "searxng"));
    assert_eq!(names(&searxng.open().await.get("/service").await), ["search"]);
}
