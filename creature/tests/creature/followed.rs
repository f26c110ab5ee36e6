//! The owner's settings in the course of a life: what is handed over anew counts before the next word is heard.

use crate::answers::told;
use crate::broker::loopback;
use crate::house::{Script, TempHouse, thought, wait_for};
use crate::lived::Lived;
use creature::paths::House;
use creature::senses::watch::Watch;
use creature::store::caller::Caller;
use mind::thought::ToolCall;
use serde_json::{Value, json};
use std::time::Duration;

/// What the guardian hands over to a life.
fn hand_over(house: &TempHouse, zone: &str, permissions: Value) {
    let rest = json!({"shortest_s": 1, "longest_s": 300, "quiet_s": 1_800});
    let settings = json!({"rest": rest, "agenda": {"time_zone": zone}, "permissions": permissions});
    let handed = json!({"life": 1, "told": [], "settings": settings});
    house.write(".self/settings.json", handed.to_string());
}

async fn call(lived: &mut Lived, tool: &str, args: Value) -> Value {
    let Value::Object(args) = args else { panic!("no object") };
    let call = ToolCall { tool: tool.to_owned(), args, ..ToolCall::default() };
    lived.life.lend(Caller::own()).call(&call).await.result
}

async fn append(lived: &mut Lived) -> Value {
    call(lived, "notes.append", json!({"name": "diary", "text": "a heron"})).await
}

/// What the heartbeat says of the settings.
fn odd(house: &TempHouse) -> String {
    let beat = std::fs::read(house.path(".self/heartbeat")).unwrap_or_default();
    let beat: Value = serde_json::from_slice(&beat).unwrap_or_default();
    beat["odd"].as_str().unwrap_or_default().to_owned()
}

/// Found: settings that could not be read were at their defaults, which allow all that the owner forbids, and only
/// some such files were told of.
#[tokio::test]
async fn settings_missing_at_birth_are_told_and_nothing_outward_is_done_until_some_are_read() {
    for spoilt in [None, Some(""), Some("{"), Some("[]"), Some("a folder")] {
        let house = TempHouse::new();
        let file = house.path(".self/settings.json");
        std::fs::remove_file(&file).unwrap();
        match spoilt {
            None => {}
            Some("a folder") => std::fs::create_dir(&file).unwrap(),
            Some(text) => house.write(".self/settings.json", text),
        }
        let mut lived = Lived::born(&house, "2026-05-28T12:00:00Z", 1).await;
        for _ in 0..2 {
            lived.stay().await;
        }
        let told = || house.records().into_iter().filter(|record| record.data["about"] == "settings").count();
        assert_eq!(told(), 1, "{spoilt:?}: it is told once");
        wait_for("the heartbeat to say so", || odd(&house).contains("are refused").then_some(()));
        let refused = call(&mut lived, "repo.run", json!({"command": "true"})).await;
        assert!(refused["error"].to_string().contains("settings cannot be read"), "{spoilt:?}: {refused}");
        assert_eq!(append(&mut lived).await["ok"], true, "within the house it goes on");
        let _ = std::fs::remove_dir(&file);
        hand_over(&house, "UTC", json!({"notes.append": "never"}));
        lived.stay().await;
        let ran = call(&mut lived, "repo.run", json!({"command": "true"})).await;
        assert!(!ran["error"].to_string().contains("is locked"), "{spoilt:?}: {ran}");
        assert_eq!(append(&mut lived).await["ok"], false, "what is read counts");
        wait_for("the heartbeat to forget it", || odd(&house).is_empty().then_some(()));
    }
}

#[test]
fn a_rehearsal_needs_no_settings_and_tells_nothing_of_them() {
    let house = TempHouse::new();
    std::fs::remove_file(house.path(".self/settings.json")).unwrap();
    let status = house.command(1).arg("rehearse").env("FERAL_REHEARSAL", "1").status().unwrap();
    assert!(status.success(), "{}", house.log());
    assert!(house.records().iter().any(|record| record.kind == "thought"));
    assert!(!house.records().iter().any(|record| record.data["about"] == "settings"), "{}", house.log());
}

/// Found: a file spoilt in the middle of a life stood in memory alone; the status said nothing of it.
#[tokio::test]
async fn settings_spoilt_in_mid_life_stand_in_the_heartbeat_until_they_can_be_read() {
    let house = TempHouse::new();
    hand_over(&house, "UTC", json!({"notes.append": "never"}));
    let mut lived = Lived::born(&house, "2026-05-28T12:00:00Z", 1).await;
    let file = house.path(".self/settings.json");
    let whole = std::fs::read(&file).unwrap();
    for spoilt in [None, Some("{")] {
        match spoilt {
            None => std::fs::remove_file(&file).unwrap(),
            Some(text) => std::fs::write(&file, text).unwrap(),
        }
        lived.stay().await;
        wait_for("the heartbeat to say so", || {
            odd(&house).contains("what it said before counts").then_some(())
        });
        assert_eq!(append(&mut lived).await["ok"], false, "what they forbade is forbidden still");
        let ran = call(&mut lived, "repo.run", json!({"command": "true"})).await;
        assert!(!ran["error"].to_string().contains("is locked"), "they were read in this life: {ran}");
        std::fs::write(&file, &whole).unwrap();
        lived.stay().await;
        wait_for("the heartbeat to forget it", || odd(&house).is_empty().then_some(()));
    }
}

/// Found: `[agenda] time_zone` and `[permissions]` counted from the next life on, and times said until then were UTC.
#[tokio::test]
async fn a_change_of_the_settings_counts_in_the_life_that_runs() {
    let house = TempHouse::new();
    hand_over(&house, "UTC", json!({}));
    let mut lived = Lived::born(&house, "2026-05-28T12:00:00Z", 1).await;
    lived.wake().await;
    assert_eq!(append(&mut lived).await["ok"], true);
    let mut watch = Watch::start(&House::new(house.path("")));
    watch.know();
    hand_over(&house, "Europe/Berlin", json!({"notes.append": "never"}));
    assert_eq!(watch.changed().as_deref(), Some("settings.json"), "it ends a rest");
    house.say("remind me at 18:00 to call mum");
    for _ in 0..2 {
        lived.stay().await;
    }
    let said = told(&house);
    assert!(said.iter().any(|text| text.contains("\"call mum\" today at 18:00")), "{said:?}");
    let refused = append(&mut lived).await;
    assert!(
        refused["error"].as_str().is_some_and(|error| error.contains("may not be used here")),
        "{refused}"
    );
    // A file that cannot be read changes nothing; that is told, and so is what cannot be followed, each once.
    house.write(".self/settings.json", "{");
    lived.stay().await;
    assert_eq!(lived.life.store.rules.time_zone.iana_name(), Some("Europe/Berlin"));
    assert_eq!(append(&mut lived).await["ok"], false, "a tool that may not be used may not be used still");
    hand_over(&house, "Atlantis/Centre", json!({}));
    for _ in 0..3 {
        lived.stay().await;
    }
    let odd = house.records().into_iter().filter(|record| record.data["about"] == "settings");
    let odd: Vec<Value> = odd.map(|record| record.data["text"].clone()).collect();
    assert!(odd.len() == 2 && odd[0].to_string().contains("cannot be read"), "{odd:?}");
    assert!(odd[1].to_string().contains("Atlantis/Centre"), "{odd:?}");
    assert_eq!(append(&mut lived).await["ok"], true);
}

/// Found: looks at the checklist had no switch, and their interval was a constant.
#[tokio::test]
async fn the_checklist_is_looked_at_as_the_owner_says_or_not_at_all() {
    loopback!();
    let script = Script::new(vec![thought("rest", json!([]), 2)]);
    let house = TempHouse::with_model("openai", &script, 300);
    let settings = |checklist: bool, seconds: u64| {
        let rest = json!({"shortest_s": 1, "longest_s": 1_000, "quiet_s": 3_600});
        let agenda = json!({"checklist": checklist, "checklist_s": seconds});
        let model = json!({"tools": "json"});
        house.write(
            ".self/settings.json",
            json!({"life": 1, "told": [], "settings": {"rest": rest, "agenda": agenda, "model": model}})
                .to_string(),
        );
    };
    settings(true, 120);
    house.write("self/HEARTBEAT.md", "- [ ] every 30d: count the herons\n");
    let mut lived = Lived::born(&house, "2026-05-28T12:00:00Z", 1).await;
    for _ in 0..6 {
        lived.wake().await;
    }
    assert_eq!(lived.wake().await, Duration::from_secs(120), "while it has open items");
    settings(false, 120);
    lived.stay().await;
    let asked = script.asked.lock().unwrap().len();
    house.write("self/HEARTBEAT.md", "- [ ] every 30d: count the herons\n- [ ] paint the door\n");
    assert!(lived.wake().await > Duration::from_secs(600), "nothing there is looked at");
    assert_eq!(script.asked.lock().unwrap().len(), asked);
    settings(true, 120);
    lived.wake().await;
    assert!(script.asked.lock().unwrap().len() > asked, "what was added meanwhile is seen");
}
