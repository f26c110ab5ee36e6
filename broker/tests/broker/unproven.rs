//! A life on probation: it thinks and reads, and acts on nothing until the guardian says that its tests are through.

use crate::home::{ALL, BEARER, Home, Stub, TOKEN, it};
use serde_json::{Value, json};

fn told(home: &Home, life: Value) {
    let (aside, tokens) = (home.path(".self/broker/aside"), home.path(".self/broker/tokens.json"));
    std::fs::write(&aside, json!({"life": life}).to_string()).unwrap();
    std::fs::rename(aside, tokens).unwrap();
}

#[tokio::test]
async fn a_newborn_whose_tests_still_run_acts_on_nothing_and_acts_when_they_are_through() {
    let stub = Stub::ok();
    let home = Home::new(&it(&stub, BEARER, ALL));
    let open = home.open().await;
    let post = || json!({"service": "it", "method": "POST", "path": "/a", "body": {"k": 1}});
    let purpose = || json!({"text": "# Live\n", "reason": "grown"});
    let before = home.text("PURPOSE.md");
    told(&home, json!({"number": 7, "token": TOKEN, "unproven": true}));
    let refused = open.call(post()).await;
    assert_eq!((&refused["ok"], refused["retry_after_s"].is_u64()), (&json!(false), true), "{refused}");
    assert!(refused["error"].as_str().unwrap().contains("on probation"), "{refused}");
    let (_, refused) = open.post("/purpose", purpose()).await;
    assert_eq!((&refused["ok"], home.text("PURPOSE.md")), (&json!(false), before), "{refused}");
    assert_eq!(stub.seen().len(), 0, "nothing went out");
    let read = open.call(json!({"service": "it", "method": "GET", "path": "/a"})).await;
    assert_eq!(read["ok"], json!(true), "{read}");
    // Of another life it says nothing, and once they are through it is as ever.
    for through in
        [json!({"number": 7, "token": TOKEN, "unproven": false}), json!({"number": 7, "token": TOKEN})]
    {
        told(&home, through);
        assert_eq!(open.call(post()).await["ok"], json!(true));
    }
    assert_eq!(open.post("/purpose", purpose()).await, (200, json!({"ok": true})));
    let refusals = home.lines(".self/ledger.jsonl");
    assert_eq!(refusals.iter().filter(|line| line["event"] == "refuse").count(), 2, "{refusals:?}");
}
