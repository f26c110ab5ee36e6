//! Pauses: by the owner's word, and by typing one.

use crate::broker::loopback;
use crate::house::{Script, TempHouse, thought};
use crate::lived::Lived;
use crate::wakes::{MORNING, asked, feed};
use serde_json::{Value, json};
use std::time::Duration;

#[tokio::test]
async fn pause_holds_all_but_the_owners_words_until_resume() {
    loopback!();
    let answer = json!([{"tool": "memory.append", "args": {"kind": "message", "data": {"text": "here"}}}]);
    let script = Script::new(vec![
        thought("rest", json!([]), 300),
        thought("answer", answer, 300),
        thought("look at what happened", json!([]), 300),
    ]);
    let house = TempHouse::with_model("openai", &script, 300);
    let mut lived = Lived::born(&house, MORNING, 1).await;
    lived.wake().await;
    house.say(r#"{"at":"2026-03-02T08:04:00Z","text":"pause","thread":"main"}"#);
    lived.wake().await;
    lived.life.cursors.events.tell("something happened");
    house.write("PURPOSE.md", "# Purpose\n\nOther things.\n");
    lived.day().await;
    assert_eq!(asked(&script), 1, "paused, it is not asked");
    house.say("are you there?");
    lived.wake().await;
    assert_eq!(asked(&script), 2);
    let situation = script.situation(1);
    assert!(situation.contains("are you there?") && !situation.contains("something happened"), "{situation}");
    lived.wake().await;
    assert_eq!(asked(&script), 2);
    house.say("resume");
    lived.wake().await;
    assert_eq!(asked(&script), 3);
    assert!(script.news(2).contains("something happened"));
    let answers: Vec<Value> = house
        .records()
        .into_iter()
        .filter(|record| record.kind == "message" && record.data["from"] == "creature")
        .map(|record| record.data["text"].clone())
        .collect();
    assert!(answers[0].as_str().unwrap().starts_with("Noted: I pause"), "{answers:?}");
    let events = feed(&house);
    assert_eq!(
        events.iter().filter(|event| *event == "paused" || *event == "resumed").count(),
        2,
        "{events:?}"
    );
}

#[tokio::test]
async fn typing_holds_all_but_words_until_its_end_and_never_longer_than_a_minute() {
    loopback!();
    let answer = json!([{"tool": "memory.append", "args": {"kind": "message", "data": {"text": "here"}}}]);
    let script = Script::new(vec![
        thought("rest", json!([]), 300),
        thought("answer", answer, 300),
        thought("look at what happened", json!([]), 300),
        thought("rest", json!([]), 300),
        thought("look at what else happened", json!([]), 300),
    ]);
    let house = TempHouse::with_model("openai", &script, 300);
    let mut lived = Lived::born(&house, MORNING, 1).await;
    lived.stay().await;
    house.write(".self/typing", "2026-03-02T08:00:40Z\n");
    lived.life.cursors.events.tell("something happened");
    assert_eq!(lived.stay().await, Duration::from_secs(40), "it waits for the word, no longer");
    house.say("are you there?");
    lived.stay().await;
    assert_eq!(asked(&script), 2, "another window's word is answered meanwhile");
    let situation = script.situation(1);
    assert!(situation.contains("are you there?") && !situation.contains("something happened"), "{situation}");
    lived.pass(Duration::from_secs(41));
    lived.stay().await;
    assert_eq!(asked(&script), 3);
    assert!(script.news(2).contains("something happened"));
    let events = feed(&house);
    let of_pause: Vec<&String> =
        events.iter().filter(|event| *event == "paused" || *event == "resumed").collect();
    assert_eq!(of_pause, ["paused", "resumed"]);
    // What no window says holds nothing: an hour ahead, the past, garbage, a folder.
    for said in ["2026-03-02T09:00:41Z", "2026-03-02T08:00:40Z", "soon", ""] {
        house.write(".self/typing", said);
        assert!(lived.life.typing_until().is_none(), "{said}");
    }
    std::fs::remove_file(house.path(".self/typing")).unwrap();
    std::fs::create_dir(house.path(".self/typing")).unwrap();
    lived.life.cursors.events.tell("something else happened");
    lived.stay().await;
    assert_eq!(asked(&script), 4);
}
