//! Limits on calls of a server's tool: nothing beyond them reaches it, and only what never left is given back.

use crate::home::{Home, Open};
use crate::mcp::{call, home_with, set};
use serde_json::{Value, json};

const RULES: &str = "[[mcp.like.rules]]\ntool = \"look\"\ndo = \"allow\"\nlooks = true\n\
    [[mcp.like.rules]]\ntool = \"send\"\nwith = { to = \"ask\" }\ndo = \"ask\"\n\
    limit = [{ of = [\"amount\"], each = \"6\", day = \"10\", sum = \"all\" }]\n\
    [[mcp.like.rules]]\ntool = \"send\"\ndo = \"allow\"\n\
    limit = [{ of = [\"amount\", \"fee\"], each = \"4\", day = \"10\", sum = \"all\" }]\n";

fn home(mode: &str) -> Home {
    home_with(mode, "untrusted = false\n", RULES)
}

async fn send(open: &Open, amount: &str) -> Value {
    call(open, "send", json!({"to": "ann", "amount": amount, "fee": "0"})).await
}

fn sent(home: &Home) -> usize {
    home.lines("like/calls").iter().filter(|call| call["name"] == "send").count()
}

fn error(answer: &Value) -> &str {
    answer["error"].as_str().unwrap_or_else(|| panic!("{answer}"))
}

#[tokio::test]
async fn beyond_a_limit_nothing_reaches_the_server_whoever_restarts() {
    let home = home("");
    let open = home.open().await;
    assert_eq!(send(&open, "4").await["ok"], true);
    assert!(error(&send(&open, "4.000000000000000001").await).contains("a single call may come to 4"));
    let with_fee = call(&open, "send", json!({"to": "ann", "amount": "3", "fee": "1.1"})).await;
    assert!(error(&with_fee).contains("comes to 4.1"), "{with_fee}");
    let without = call(&open, "send", json!({"to": "ann", "amount": "1"})).await;
    assert!(error(&without).contains("the argument fee is missing"), "{without}");
    assert_eq!(send(&open, "3.5").await["ok"], true);
    open.end().await;
    let open = home.open().await;
    let refused = send(&open, "2.51").await;
    assert!(error(&refused).contains("of the 10 that 24 hours may come to 2.5 are left"), "{refused}");
    assert!(refused["hint"].as_str().unwrap().contains("it fits in 8"), "in 24 hours: {refused}");
    assert_eq!(send(&open, "2.5").await["ok"], true);
    assert!(error(&send(&open, "0.000000000000000001").await).contains("0 are left"));
    assert_eq!(sent(&home), 3);
    let described = open.post("/mcp/describe", json!({"server": "like", "tool": "send"})).await.1;
    let words = described["rules"].as_str().unwrap();
    assert!(words.contains("send allow, amount + fee at most 4 a call and 10 in 24 hours"), "{words}");
    let ledger = home.lines(".self/ledger.jsonl");
    let notes = ledger.iter().filter(|line| line["event"] == "refuse").count();
    assert_eq!(notes, 5, "each refusal is in the ledger");
}

#[tokio::test]
async fn two_calls_at_once_do_not_share_what_is_left_for_one() {
    let home = home("");
    let open = home.open().await;
    assert_eq!(call(&open, "look", json!({})).await["ok"], true);
    let calls = futures_util::future::join_all((0..12).map(|_| send(&open, "1.5"))).await;
    assert_eq!(calls.iter().filter(|answer| answer["ok"] == true).count(), 6);
    assert_eq!(sent(&home), 6);
}

#[tokio::test]
async fn an_ask_counts_when_it_is_carried_out() {
    let home = home("");
    let open = home.open().await;
    let ask = |amount: &'static str| call(&open, "send", json!({"to": "ask", "amount": amount}));
    assert!(error(&ask("6.1").await).contains("may come to 6"), "beyond any day it is not even asked");
    let [first, second] = [ask("6").await, ask("5.5").await];
    let id = |answer: &Value| answer["asked"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned();
    assert_eq!(send(&open, "4").await["ok"], true, "what waits does not count yet");
    home.answer(&id(&first), "approve");
    home.until(&id(&first), &["executed"]).await;
    home.answer(&id(&second), "approve");
    let failed = home.until(&id(&second), &["failed", "executed"]).await;
    assert_eq!(failed["state"], "failed", "{failed}");
    assert!(failed["result"].as_str().unwrap().contains("0 are left"), "{failed}");
    assert_eq!(sent(&home), 2);
}

#[tokio::test]
async fn only_what_never_left_is_given_back() {
    let home = home("");
    let open = home.open().await;
    let asked = call(&open, "send", json!({"to": "ask", "amount": "2"})).await;
    let id = asked["asked"].as_str().unwrap_or_else(|| panic!("{asked}")).to_owned();
    set(&home, "fails");
    assert_eq!(send(&open, "4").await["status"], 422, "it says that it failed, which nobody can check");
    set(&home, "dies");
    assert_eq!(send(&open, "4").await["unsure"], true);
    // Without its folder it does not start: the yes comes, and the call never leaves.
    std::fs::rename(home.path("like"), home.path("away")).unwrap();
    home.answer(&id, "approve");
    let failed = home.until(&id, &["failed", "executed"]).await;
    assert_eq!(
        (&failed["state"], &failed["may_have_happened"]),
        (&json!("failed"), &json!(false)),
        "{failed}"
    );
    open.end().await;
    std::fs::rename(home.path("away"), home.path("like")).unwrap();
    set(&home, "");
    let open = home.open().await;
    assert!(error(&send(&open, "2.1").await).contains("2 are left"));
    assert_eq!(send(&open, "2").await["ok"], true);
    assert!(error(&send(&open, "0.1").await).contains("0 are left"));
}
