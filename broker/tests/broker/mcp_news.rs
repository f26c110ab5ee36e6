//! News of MCP servers: resources that the owner has watched, and calls that take long.

use crate::mcp::{TOKEN, call, home, met, set};
use crate::outside::happens_beside;
use serde_json::{Value, json};

const WATCH: &str = "watch = [\"like://b*\"]\n";

fn news(home: &crate::home::Home) -> Vec<Value> {
    home.lines(".self/news.jsonl")
}

#[tokio::test]
async fn a_watched_resource_that_changes_is_news_and_no_other() {
    let home = home("news", WATCH);
    let open = home.open().await;
    // Nothing was asked of the server.
    assert!(happens_beside(|| !news(&home).is_empty()).await, "{:?}", home.lines("like/requests"));
    let told = news(&home);
    assert_eq!(told.len(), 1, "{told:?}");
    assert_eq!(
        (&told[0]["server"], &told[0]["event"], &told[0]["resources"]),
        (&json!("like"), &json!("changed"), &json!(["like://birds"]))
    );
    assert_eq!(open.get("/status").await["tainted"], true, "an address is text of others");
    let asked: Vec<Value> = home.lines("like/requests");
    let subscribed: Vec<&Value> =
        asked.iter().filter(|asked| asked["method"] == "resources/subscribe").collect();
    assert_eq!((subscribed.len(), &subscribed[0]["params"]["uri"]), (1, &json!("like://birds")));
}

#[tokio::test]
async fn a_server_with_something_watched_is_started_again_when_it_dies() {
    let home = home("news", WATCH);
    let open = home.open().await;
    let subscriptions = || {
        home.lines("like/requests").iter().filter(|asked| asked["method"] == "resources/subscribe").count()
    };
    assert!(happens_beside(|| subscriptions() == 1).await);
    set(&home, "news dies");
    call(&open, "look", json!({})).await;
    set(&home, "news");
    assert!(happens_beside(|| subscriptions() == 2).await, "{:?}", home.lines("like/requests"));
}

#[tokio::test]
async fn nothing_is_subscribed_to_unless_the_owner_names_it() {
    let home = home("news", "");
    let open = home.open().await;
    met(&open).await;
    assert_eq!(call(&open, "look", json!({})).await["ok"], true);
    assert!(!home.lines("like/requests").iter().any(|asked| asked["method"] == "resources/subscribe"));
    assert!(news(&home).is_empty());
}

#[tokio::test]
async fn how_far_a_late_call_is_is_news_before_its_end_and_tells_no_secret() {
    let home = home("slow", "deadline_s = 25\n");
    let open = home.open().await;
    met(&open).await;
    std::fs::write(home.path("like/words"), format!("reading \u{1b}[31m{TOKEN}")).unwrap();
    let looks = call(&open, "look", json!({}));
    tokio::pin!(looks);
    let told = async {
        while news(&home).is_empty() {
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        }
        news(&home)
    };
    let told = tokio::select! {
        answer = &mut looks => panic!("it ended first: {answer}"),
        told = told => told,
    };
    assert_eq!((&told[0]["event"], &told[0]["tool"]), (&json!("progress"), &json!("look")), "{told:?}");
    let text = told[0]["text"].as_str().unwrap();
    assert!(
        text.starts_with("3 of 5: reading") && !text.contains(TOKEN) && !text.contains('\u{1b}'),
        "{text}"
    );
    // Found: what the server had told stood in the answer as it was, secrets too.
    let late = looks.await.to_string();
    assert!(late.contains("the last it told of its progress: 3 of 5") && !late.contains(TOKEN), "{late}");
    assert!(!home.text(".self/budget.json").contains(TOKEN));
}
