//! Services, X and PURPOSE.md behind the broker: what is asked of it, and what its decisions become.

use crate::broker::{Answer, Asked, StandIn, TOKEN, answer, loopback, passed, refusal, status, waiting};
use crate::yard::Yard;
use serde_json::{Value, json};

/// A broker with the services x and search that answers `POST /service` so.
fn broker(decide: impl Fn(&Value) -> Answer + Send + 'static) -> StandIn {
    StandIn::new(move |asked: &Asked| match (asked.method.as_str(), asked.path.as_str()) {
        ("GET", "/status") => status(Value::Null, &["x", "search"]),
        ("POST", "/service" | "/post") => decide(&asked.body),
        ("POST", "/purpose") if asked.body["reason"] == "asked" => waiting("7"),
        ("POST", "/purpose") => answer(200, &json!({"ok": true})),
        _ => refusal(404, "not_found", None),
    })
}

#[tokio::test]
async fn a_service_is_called_by_name_and_its_answer_comes_back() {
    loopback!();
    let broker = broker(|request| match request["path"].as_str() {
        Some("/issues") => passed(201, &json!({"id": 5})),
        _ => answer(
            200,
            &json!({"ok": false, "error": "GET /x is outside its rules", "hint": "POST /issues is allowed"}),
        ),
    });
    let mut yard = Yard::behind(&broker);
    let args = json!({"service": "forge", "method": "post", "path": "/issues", "query": {"a": "b"},
        "body": {"title": "t"}, "reason": "the owner asked"});
    let result = yard.call("service.execute", args).await;
    assert_eq!((&result["ok"], &result["status"]), (&json!(true), &json!(201)), "{result}");
    assert_eq!(result["body"], json!("{\"id\":5}"));
    let sent = json!({"service": "forge", "method": "POST", "path": "/issues", "query": {"a": "b"},
        "body": {"title": "t"}, "reason": "the owner asked"});
    assert_eq!(broker.heard("/service")[0].body, sent);
    let refused =
        yard.call("service.execute", json!({"service": "forge", "method": "GET", "path": "/x"})).await;
    assert_eq!((&refused["ok"], &refused["hint"]), (&json!(false), &json!("POST /issues is allowed")));
    assert!(refused["error"].as_str().unwrap().contains("outside its rules"), "{refused}");
    let listed = yard.call("service.list", json!({})).await;
    assert_eq!(listed["services"][0]["name"], json!("x"), "{listed}");
}

#[tokio::test]
async fn what_waits_for_the_owner_is_no_failure() {
    loopback!();
    let broker = broker(|_| waiting("12"));
    let mut yard = Yard::behind(&broker);
    for (tool, args) in [
        ("x.post", json!({"text": "tea?"})),
        ("service.execute", json!({"service": "x", "method": "POST", "path": "/2/tweets"})),
    ] {
        let result = yard.call(tool, args).await;
        assert_eq!((&result["ok"], &result["asked"]), (&json!(true), &json!("12")), "{result}");
        assert!(result["note"].as_str().unwrap().contains("go on with something else"), "{result}");
    }
    let rewrite = |reason: &str| json!({"text": "Be bold.\n", "reason": reason});
    let waits = yard.call("purpose.rewrite", rewrite("asked")).await;
    assert_eq!(waits["asked"], json!("7"), "{waits}");
    assert!(!yard.kinds().contains(&"self_change".to_owned()), "nothing has changed yet");
    let done = yard.call("purpose.rewrite", rewrite("grown")).await;
    assert_eq!(done["ok"], json!(true), "{done}");
    assert_eq!(yard.last("self_change")["summary"], json!("grown"));
    assert_eq!(yard.last("observation")["previous"], json!("Be curious.\n"));
    assert_eq!(yard.text("PURPOSE.md"), "Be curious.\n", "the broker writes it, not the creature");
    let edits = json!([{"path": "PURPOSE.md", "old": "curious", "new": "bold"}]);
    let refused = yard.call("repo.edit", json!({"edits": edits, "summary": "s", "hold": true})).await;
    assert!(refused["hint"].as_str().unwrap().contains("purpose.rewrite"), "{refused}");
}

#[tokio::test]
async fn posts_go_out_become_drafts_or_are_refused() {
    loopback!();
    let posts = broker(|request| match request["parts"][0]["text"].as_str() {
        Some("draft") => answer(
            200,
            &json!({"ok": false, "draft": true, "path": "self/drafts/a.md", "error": "drafts only", "hint": "h"}),
        ),
        Some("no") => {
            answer(200, &json!({"ok": false, "error": "the post is not out: duplicate", "hint": "h"}))
        }
        _ => passed(200, &json!({"posted": ["99", "100"]})),
    });
    let mut yard = Yard::behind(&posts);
    std::fs::create_dir_all(yard.root().join(".self/workspace")).unwrap();
    std::fs::write(yard.root().join(".self/workspace/a.png"), "herons").unwrap();
    std::os::unix::fs::symlink("a.png", yard.root().join(".self/workspace/link.png")).unwrap();
    let pictures = json!([{"path": "a.png", "alt": "seven", "part": 2}]);
    let args = json!({"to": "12", "text": "tea?", "thread": ["or milk?"], "pictures": pictures});
    let result = yard.call("x.reply", args).await;
    assert_eq!((&result["ok"], &result["id"]), (&json!(true), &json!("99")), "{result}");
    assert_eq!((&result["to"], &result["thread"]), (&json!("12"), &json!(["100"])));
    let picture = json!({"name": ".self/workspace/a.png", "alt": "seven", "data": "aGVyb25z"});
    let sent = json!({"service": "x", "in_reply_to": "12",
        "parts": [{"text": "tea?", "pictures": []}, {"text": "or milk?", "pictures": [picture]}]});
    assert_eq!(posts.heard("/post")[0].body, sent);
    for (picture, why) in [
        (json!({"path": "../../owner.toml"}), "climbs"),
        (json!({"path": "link.png"}), "symbolic link"),
        (json!({"path": "none.png"}), "none.png"),
        (json!({"path": "a.png", "part": 3}), "no part 3"),
    ] {
        let refused = yard.call("x.post", json!({"text": "t", "pictures": [picture]})).await;
        assert!(refused["error"].as_str().unwrap().contains(why), "{refused}");
    }
    let elsewhere =
        yard.call("x.reply", json!({"to": "at://did:plc:a/app.bsky.feed.post/k", "text": "there"})).await;
    assert!(elsewhere["drafted"].is_string(), "there is no such account: {elsewhere}");
    std::fs::remove_dir_all(yard.root().join("self/drafts")).unwrap();
    assert!(!yard.root().join("self/drafts").exists());
    let draft = yard.call("x.post", json!({"text": "draft"})).await;
    assert!(draft["ok"] == json!(true) && draft["drafted"] == json!("self/drafts/a.md"), "{draft}");
    let refused = yard.call("x.post", json!({"text": "no"})).await;
    assert!(refused["error"].as_str().unwrap().contains("duplicate"), "{refused}");
    let found = yard.call("web.search", json!({"query": "tea"})).await;
    assert_eq!(found["hits"], json!([]), "{found}");
    let bare = StandIn::new(|_| status(Value::Null, &[]));
    let mut yard = Yard::behind(&bare);
    let draft = yard.call("x.post", json!({"text": "no account"})).await;
    assert!(draft["drafted"].is_string(), "{draft}");
    for (tool, args) in [("x.search", json!({"query": "tea"})), ("web.search", json!({"query": "tea"}))] {
        let result = yard.call(tool, args).await;
        assert!(result["error"].as_str().unwrap().contains("not configured"), "{result}");
    }
}

#[tokio::test]
async fn the_token_stands_in_no_result_no_spill_and_no_record() {
    loopback!();
    let broker = broker(|_| passed(200, &json!({"echo": TOKEN})));
    let mut yard = Yard::behind(&broker);
    let command = format!("echo {TOKEN}; yes token={TOKEN} | head -c 60000");
    let said = yard.call("repo.run", json!({"command": command})).await;
    let whole = yard.text(said["whole"]["stdout"].as_str().unwrap());
    let echoed =
        yard.call("service.execute", json!({"service": "s", "method": "GET", "path": "/"})).await.to_string();
    yard.call("memory.append", json!({"text": format!("I found {TOKEN}")})).await;
    assert!(whole.starts_with("[hidden]\ntoken=[hidden]") && echoed.contains("[hidden]"), "{echoed}");
    let kept = format!("{said}{whole}{echoed}{}", yard.text(".self/memory.jsonl"));
    assert!(!kept.contains(TOKEN) && kept.contains("I found [hidden]"));
}
