//! The owner's settings in the course of a life: what is handed over anew counts before the next word is heard.

use crate::answers::told;
use crate::house::TempHouse;
use crate::lived::Lived;
use creature::paths::House;
use creature::senses::watch::Watch;
use creature::store::caller::Caller;
use mind::thought::ToolCall;
use serde_json::{Value, json};

/// What the guardian hands over to a life.
fn hand_over(house: &TempHouse, life: u64, zone: &str, permissions: Value) {
    let rest = json!({"shortest_s": 1, "longest_s": 300, "quiet_s": 1_800});
    let settings = json!({"rest": rest, "agenda": {"time_zone": zone}, "permissions": permissions});
    let handed = json!({"life": life, "told": [], "settings": settings});
    house.write(".self/settings.json", handed.to_string());
}

async fn append(lived: &mut Lived) -> Value {
    let Value::Object(args) = json!({"name": "diary", "text": "a heron"}) else { panic!("no object") };
    let call = ToolCall { tool: "notes.append".to_owned(), args, ..ToolCall::default() };
    lived.life.lend(Caller::own()).call(&call).await.result
}

/// Found: `[agenda] time_zone` and `[permissions]` counted from the next life on, and times said until then were UTC.
#[tokio::test]
async fn a_change_of_the_settings_counts_in_the_life_that_runs() {
    let house = TempHouse::new();
    hand_over(&house, 1, "UTC", json!({}));
    let mut lived = Lived::born(&house, "2026-05-28T12:00:00Z", 1).await;
    lived.wake().await;
    assert_eq!(append(&mut lived).await["ok"], true);
    let mut watch = Watch::start(&House::new(house.path("")));
    watch.know();
    hand_over(&house, 1, "Europe/Berlin", json!({"notes.append": "never"}));
    assert_eq!(watch.changed().as_deref(), Some("settings.json"), "it ends a rest");
    house.say("remind me at 18:00 to call mum");
    for _ in 0..2 {
        lived.stay().await;
    }
    let said = told(&house);
    assert!(said.iter().any(|text| text.contains("2026-05-28 18:00:00 Europe/Berlin")), "{said:?}");
    let refused = append(&mut lived).await;
    assert!(
        refused["error"].as_str().is_some_and(|error| error.contains("may not be used here")),
        "{refused}"
    );
    // Another life's file is not taken, and what cannot be followed is told once.
    hand_over(&house, 2, "UTC", json!({}));
    lived.stay().await;
    assert_eq!(lived.life.store.rules.time_zone.iana_name(), Some("Europe/Berlin"));
    hand_over(&house, 1, "Atlantis/Centre", json!({}));
    for _ in 0..3 {
        lived.stay().await;
    }
    let odd = house.records().into_iter().filter(|record| record.data["about"] == "settings");
    let odd: Vec<Value> = odd.map(|record| record.data["text"].clone()).collect();
    assert!(odd.len() == 1 && odd[0].to_string().contains("Atlantis/Centre"), "{odd:?}");
    assert_eq!(append(&mut lived).await["ok"], true);
}
