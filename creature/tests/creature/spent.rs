//! Its own money is spent: it sleeps an hour at a time, says so once, and answers its owner meanwhile.

use crate::broker::loopback;
use crate::house::{Line, Script, Shown, TempHouse, thought};
use crate::lived::Lived;
use crate::wakes::MORNING;
use agenda::Change;
use agenda::goals::GoalChange;
use serde_json::{Value, json};
use std::time::Duration;

/// Has money for its owner's words alone, until the purpose it is shown says that there is more.
fn poor(shown: &Shown) -> Line {
    if shown.new.contains("Your owner's words, not yet answered") {
        let answer = json!([{"tool": "owner.message", "args": {"kind": "answer", "text": "I am here."}}]);
        return thought("answer", answer, 300);
    }
    match shown.contains("the purse is full") {
        true => thought("rest", json!([]), 300),
        false => Line::Refuses(429, "budget_cap", Some(40_000)),
    }
}

fn events(house: &TempHouse, kind: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(house.path(".self/mind/feed.jsonl")).unwrap();
    let all = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    all.filter(|event| event["event"] == kind).map(|event| event["data"].clone()).collect()
}

fn asked(script: &Script) -> usize {
    script.asked.lock().unwrap().len()
}

/// Found: every event and every answer tried a call again, and each refusal was told as a model that is down.
#[tokio::test]
async fn it_sleeps_an_hour_at_a_time_says_spent_and_answers_its_owner() {
    loopback!();
    let script = Script::sighted(poor);
    let house = TempHouse::with_model("openai", &script, 300);
    let mut lived = Lived::born(&house, MORNING, 1).await;
    assert_eq!(lived.wake().await, Duration::from_secs(3_600));
    assert_eq!(asked(&script), 1);
    // An event and a goal are no reason to ask again before that; a word of the owner's is answered.
    lived.pass(Duration::from_secs(10));
    let goal = GoalChange::Add { title: "dig".to_owned(), checkpoints: Vec::new(), cost_usd: 0.0 };
    lived.stay().await;
    let refused = asked(&script);
    lived.life.change(&Change::Goal(goal)).unwrap();
    lived.life.cursors.events.tell("a letter came");
    house.say("are you there?");
    let rest = lived.stay().await;
    assert!(house.records().iter().any(|record| record.data["text"] == "I am here."), "it is answered");
    assert!(asked(&script) <= refused + 2, "the answer, and nothing of its own");
    let after = asked(&script);
    lived.pass(rest);
    let rest = lived.stay().await;
    assert!(rest > Duration::from_secs(3_000), "{rest:?}");
    assert_eq!(asked(&script), after, "an event and a goal were tried");
    let sleep = events(&house, "sleep").pop().unwrap();
    assert_eq!(sleep["why"], "its own money is spent");
    let observed: Vec<Value> =
        house.records().into_iter().filter(|one| one.kind == "observation").map(|one| one.data).collect();
    let of = |about: &str| observed.iter().filter(|data| data["about"] == about).collect::<Vec<_>>();
    assert!(of("model").is_empty(), "{observed:?}");
    let spent = of("budget");
    assert!(
        spent.len() == 1 && spent[0]["text"].as_str().unwrap().starts_with("its own money is spent"),
        "{spent:?}"
    );
    assert_eq!(spent[0]["rest_s"], 3_600);
    let error = events(&house, "error").pop().unwrap();
    assert!(error["recovery"].as_str().unwrap().contains("it asks again at"), "{error}");
    // Once there is money its own work goes on.
    house.write("PURPOSE.md", "# Purpose\n\nthe purse is full\n");
    lived.pass(Duration::from_secs(3_600));
    lived.wake().await;
    assert!(house.records().iter().any(|record| record.kind == "thought" && record.data["owner"] == false));
}

/// Found by reading: a clock that was set back by a day kept its own work still for a day.
#[tokio::test]
async fn a_clock_that_is_set_back_keeps_it_spent_for_no_longer_than_an_hour() {
    loopback!();
    let script = Script::sighted(poor);
    let house = TempHouse::with_model("openai", &script, 300);
    let mut lived = Lived::born(&house, MORNING, 1).await;
    lived.wake().await;
    assert_eq!(asked(&script), 1);
    let hand = lived.hand();
    let yesterday = hand.lock().unwrap().checked_sub(jiff::SignedDuration::from_hours(24)).unwrap();
    *hand.lock().unwrap() = yesterday;
    lived.stay().await;
    lived.pass(Duration::from_secs(3_601));
    lived.stay().await;
    assert_eq!(asked(&script), 2, "it asks again when there may be money");
}
