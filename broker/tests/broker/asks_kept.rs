//! Asks on disk: what a kill, a torn line, an earlier broker or a forged line leaves there is read right at the next start.

use crate::asks::{ASK, events, post};
use crate::home::{BEARER, Home, Stub, it};
use serde_json::{Value, json};
use std::time::Duration;

/// As a kill leaves it between the ask's file and its line, and as an earlier broker wrote the file, with `told`.
#[tokio::test]
async fn a_state_that_was_not_announced_is_at_the_next_start_and_no_other_twice() {
    let stub = Stub::ok();
    let home = Home::new(&it(&stub, BEARER, ASK));
    let open = home.open().await;
    for text in ["done", "denied", "waits"] {
        open.call(post(text)).await;
    }
    home.answer("1", "approve");
    home.until("1", &["executed"]).await;
    home.answer("2", "deny");
    home.until("2", &["denied"]).await;
    open.end().await;
    let lines = home.text(".self/asks.jsonl");
    let without: String =
        lines.split_inclusive('\n').filter(|line| !line.contains("\"event\":\"denied\"")).collect();
    assert_ne!(lines, without);
    std::fs::write(home.path(".self/asks.jsonl"), without).unwrap();
    for (id, told) in [("1", json!("executed")), ("2", json!("asked")), ("3", Value::Null)] {
        let mut ask = home.ask(id);
        ask["told"] = told;
        std::fs::write(home.path(&format!(".self/broker/asks/{id}.json")), ask.to_string()).unwrap();
    }
    for _ in 0..2 {
        let open = home.open().await;
        home.until("2", &["denied"]).await;
        home.until("3", &["asked"]).await;
        open.end().await;
    }
    let all = ["1 asked", "2 asked", "3 asked", "1 approved", "1 executed", "2 denied"];
    assert_eq!(events(&home), all);
    assert_eq!(stub.seen().len(), 1);
    // What waits in the old file is carried out by its yes.
    let _open = home.open().await;
    home.answer("3", "approve");
    home.until("3", &["executed"]).await;
    assert_eq!(stub.seen().len(), 2);
}

#[tokio::test]
async fn a_line_the_creature_wrote_itself_uses_up_no_numbers() {
    let stub = Stub::ok();
    let home = Home::new(&it(&stub, BEARER, ASK));
    std::fs::create_dir_all(home.path(".self")).unwrap();
    let forged = format!("{{\"id\":\"{}\",\"event\":\"asked\"}}\n", u64::MAX);
    std::fs::write(home.path(".self/asks.jsonl"), forged).unwrap();
    let open = home.open().await;
    assert_eq!(open.call(post("x")).await["asked"], "1");
}

#[tokio::test]
async fn a_line_that_a_crash_tore_takes_no_other_line_with_it() {
    let stub = Stub::ok();
    let home = Home::new(&it(&stub, BEARER, ASK));
    std::fs::create_dir_all(home.path(".self")).unwrap();
    std::fs::write(home.path(".self/asks.jsonl"), "{\"id\":\"41\",\"event\":\"asked\"}\n{\"id\":\"9")
        .unwrap();
    let open = home.open().await;
    assert_eq!(open.call(post("x")).await["asked"], "42", "a number is never given twice");
    assert_eq!(events(&home), ["41 asked", "42 asked"]);
}

#[tokio::test]
async fn answers_that_were_there_before_the_ask_are_not_for_it() {
    let stub = Stub::ok();
    let home = Home::new(&it(&stub, BEARER, ASK));
    // The digest can be foreseen; a yes cannot be given in advance.
    let first = home.open().await;
    first.call(post("x")).await;
    let digest = home.ask("1")["digest"].as_str().unwrap().to_owned();
    first.end().await;
    std::fs::remove_dir_all(home.path(".self/broker/asks")).unwrap();
    for id in 1..4 {
        home.answer_with(&id.to_string(), "approve", &digest);
    }
    let open = home.open().await;
    assert_eq!(open.call(post("x")).await["asked"], "2", "a number is never given twice");
    tokio::time::sleep(Duration::from_millis(800)).await;
    assert!(stub.seen().is_empty());
    // A file that became shorter counts from its end.
    std::fs::write(home.path(".self/broker/answers.jsonl"), "").unwrap();
    let noticed = || home.ask("2")["answers_from"] == 0;
    assert!(crate::outside::happens_beside(noticed).await, "{}", home.ask("2"));
    home.answer("2", "approve");
    home.until("2", &["executed"]).await;
}
