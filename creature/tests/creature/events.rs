//! What the live feed says of each event, and what of the state is kept with a thought.

use crate::broker::loopback;
use crate::house::{Line, Script, Shown, TempHouse, thought};
use crate::lived::Lived;
use crate::wakes::MORNING;
use agenda::Change;
use agenda::goals::GoalChange;
use serde_json::{Value, json};
use std::sync::atomic::{AtomicBool, Ordering};

fn events(house: &TempHouse, kind: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(house.path(".self/mind/feed.jsonl")).unwrap();
    let all = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    all.filter(|event| event["event"] == kind).map(|event| event["data"].clone()).collect()
}

/// Begins an opportunity where it has none, is garbled once where it has one, and rests after that.
fn mind(garbled: &AtomicBool, shown: &Shown) -> Line {
    let lead = json!([{"tool": "opportunity.add", "args": {"title": "a festival", "amount_usd": 200}}]);
    match shown.contains("a festival") {
        false => thought("begin a lead", lead, 0),
        true if !garbled.swap(true, Ordering::Relaxed) => Line::Says("no thought at all".to_owned()),
        true => thought("rest", json!([]), 300),
    }
}

/// Found: a wake had neither priority nor action, an act no summary, a rest no last action, an error no recovery, and a
/// lead was no revenue.
#[tokio::test]
async fn each_event_carries_what_a_reader_needs() {
    loopback!();
    let garbled = AtomicBool::new(false);
    let script = Script::sighted(move |shown| mind(&garbled, shown));
    let house = TempHouse::with_model("openai", &script, 300);
    let mut lived = Lived::born(&house, MORNING, 1).await;
    let goal = GoalChange::Add { title: "dig the garden".to_owned(), checkpoints: Vec::new(), cost_usd: 0.0 };
    lived.life.change(&Change::Goal(goal)).unwrap();
    for _ in 0..6 {
        lived.wake().await;
    }
    let wakes = events(&house, "wakeup");
    assert_eq!((&wakes[0]["priority"], wakes[0]["action"].is_string()), (&json!("news"), true), "{wakes:?}");
    let work = wakes.iter().find(|wake| wake["priority"] == "work").unwrap();
    assert!(work["action"].as_str().unwrap().contains('-'), "{work}");
    let act = events(&house, "action").remove(0);
    assert_eq!(act["summary"], "opportunity.add: opportunity-2", "{act}");
    assert!(events(&house, "sleep").iter().any(|sleep| sleep["last_action"] == act["summary"]));
    let lead = events(&house, "revenue").remove(0);
    assert_eq!((&lead["lead"], &lead["id"]), (&json!("a festival"), &json!("opportunity-2")), "{lead}");
    let error = events(&house, "error").remove(0);
    assert!(error["recovery"].as_str().unwrap().starts_with("it is asked again in"), "{error}");
    // The owner pauses it: what is held up is told, and what waits when it goes on.
    house.say("pause");
    lived.wake().await;
    lived.life.cursors.events.tell("a letter came");
    house.say("resume");
    lived.stay().await;
    let paused = events(&house, "paused").pop().unwrap();
    assert!(paused["why"] == "your word" && !paused["what"].as_str().unwrap().is_empty(), "{paused}");
    let resumed = events(&house, "resumed").pop().unwrap();
    assert!(resumed["pending_events"].as_u64().unwrap() > 0 && resumed["what"].is_string(), "{resumed}");
}

/// Found: the state's structured form was computed and read by nobody.
#[tokio::test]
async fn the_state_is_kept_with_the_first_thought_of_a_wake() {
    loopback!();
    let script = Script::sighted(|shown| {
        let asked = shown.new.contains("Your owner's words, not yet answered");
        let answer = json!([{"tool": "owner.message", "args": {"kind": "answer", "text": "I will dig."}}]);
        thought("go on", if asked { answer } else { json!([]) }, 300)
    });
    let house = TempHouse::with_model("openai", &script, 300);
    let mut lived = Lived::born(&house, MORNING, 1).await;
    let goal = GoalChange::Add { title: "dig the garden".to_owned(), checkpoints: Vec::new(), cost_usd: 0.0 };
    lived.life.change(&Change::Goal(goal)).unwrap();
    for _ in 0..3 {
        lived.wake().await;
    }
    house.say("are you there?");
    lived.wake().await;
    let thoughts: Vec<Value> =
        house.records().into_iter().filter(|one| one.kind == "thought").map(|one| one.data).collect();
    let own = thoughts.iter().find(|one| one["owner"] == false).unwrap();
    let state = &own["state"];
    assert!(["high", "medium", "low"].contains(&state["confidence"].as_str().unwrap()), "{state}");
    assert!(state["pending_items"].to_string().contains("dig the garden"), "{state}");
    assert!(
        state["owner_summary"].is_string() && state["loop_summary"].is_string() && state["mode"].is_string()
    );
    assert!(state["text"].is_null(), "the conversation has that");
    let owners = thoughts.iter().find(|one| one["owner"] == true).unwrap();
    assert!(owners["state"].is_null(), "a thought that answers the owner is shown none");
}
