//! `spawn` and `sessions.*` as tools: arguments, warnings, refusals, and what is kept.

use crate::yard::Yard;
use agenda::sessions::Sessions;
use memory::state;
use serde_json::{Value, json};

async fn refused(yard: &mut Yard, args: Value, why: &str) {
    let result = yard.call("spawn", args.clone()).await;
    assert_eq!(result["ok"], false, "{args}");
    assert!(result["error"].as_str().unwrap().contains(why), "{args}: {result}");
    assert!(!result["hint"].as_str().unwrap().is_empty());
}

#[tokio::test]
async fn what_is_spawned_is_kept_and_what_cannot_be_is_refused() {
    let mut yard = Yard::new();
    yard.facts.thoughts = 12;
    for (args, why) in [
        (json!({}), "objective"),
        (json!({"objective": " "}), "objective"),
        (json!({"objective": "x".repeat(2_001)}), "objective"),
        (json!({"objective": "x", "mode": "huge"}), "base_only"),
        (json!({"objective": "x", "not_before": "soon"}), "not_before"),
        (json!({"objective": "x", "not_before": "2999-01-01T00:00:00Z"}), "within a year"),
        (json!({"objective": "x", "tools": ["repo.edit"]}), "no tool that a session of this mode has"),
        (json!({"objective": "x", "graph": [{"objective": "y"}]}), "not both"),
        (json!({"graph": []}), "1 to 16"),
        (json!({"graph": [{"objective": "y", "colour": "red"}]}), "`colour`"),
        (
            json!({"graph": [
                {"objective": "a", "name": "a", "depends_on": ["b"]},
                {"objective": "b", "name": "b", "depends_on": ["a"]},
            ]}),
            "wait for each other",
        ),
        (json!({"objective": "x", "depends_on": ["session-1"]}), "wait for each other: session-1"),
    ] {
        refused(&mut yard, args, why).await;
    }
    assert!(yard.store.sessions.all.is_empty());
    let args = json!({"objective": "look", "graph": null, "mode": null, "depends_on": ["session-99"], "tools": ["web.search", "x.post"]});
    let result = yard.call("spawn", args).await;
    let spawned = &result["spawned"][0];
    assert_eq!(spawned["id"], "session-1");
    let warnings = spawned["warnings"].to_string();
    assert!(warnings.contains("session-99") && warnings.contains("x.post"), "{warnings}");
    let args = json!({"objective": "sum up", "mode": "none", "depends_on_previous": true, "not_before": 60});
    let result = yard.call("spawn", args).await;
    assert!(result["spawned"][0]["is"].as_str().unwrap().contains("waits for session-1"), "{result}");
    let kept = yard.text(".self/mind/sessions.json");
    assert!(kept.contains("thought-12") && kept.contains("sum up"), "{kept}");
    let listed = yard.call("sessions.list", json!({})).await;
    assert_eq!(listed["sessions"].as_array().unwrap().len(), 2);
    let ended = yard.call("sessions.cancel", json!({"id": "session-1"})).await;
    assert_eq!(ended["ended"], json!(["session-1", "session-2"]));
    let failed = yard.call("sessions.list", json!({"id": "session-2"})).await;
    assert!(failed["answer"].as_str().unwrap().contains("session-1, which it waits for, is cancelled"));
    assert_eq!(yard.call("sessions.cancel", json!({"id": "session-1"})).await["ok"], false);
    assert_eq!(yard.call("sessions.list", json!({"id": "session-9"})).await["ok"], false);
}

#[tokio::test]
async fn instinct_spawns_nothing_and_says_why() {
    let mut yard = Yard::new();
    yard.facts.mind = "instinct".to_owned();
    refused(&mut yard, json!({"objective": "look"}), "no model").await;
}

#[test]
fn what_is_kept_is_read_back_and_garbage_is_set_aside() {
    let yard = Yard::new();
    yard.put(
        ".self/mind/sessions.json",
        r#"{"next":3,"all":[{"id":"session-3","newer":1}],"later":{"a":1}}"#,
    );
    let (sessions, odd): (Sessions, _) = state::kept(&yard.store.house.sessions());
    assert!(odd.is_none() && sessions.all.len() == 1 && sessions.newer.contains_key("later"));
    yard.put(".self/mind/sessions.json", "{]");
    let (sessions, odd): (Sessions, _) = state::kept(&yard.store.house.sessions());
    assert!(sessions.all.is_empty() && odd.unwrap().contains("set aside"));
}

/// Found by living with it: a time as people write it was refused for want of a zone.
#[tokio::test]
async fn a_time_without_a_zone_is_the_owners() {
    let mut yard = Yard::new();
    yard.store.clock = creature::clock::Clock::told(|| "2026-05-28T12:00:00Z".parse().unwrap());
    yard.store.rules.time_zone = jiff::tz::TimeZone::get("Europe/Berlin").unwrap();
    for (said, at) in
        [("2026-05-29T09:00:00", "2026-05-29T07:00:00Z"), ("2026-05-29T09:00:00Z", "2026-05-29T09:00:00Z")]
    {
        let result = yard.call("spawn", json!({"objective": "look", "not_before": said})).await;
        assert_eq!(result["ok"], true, "{result}");
        let session = yard.store.sessions.all.last().unwrap();
        assert_eq!(session.not_before.unwrap().to_string(), at);
    }
}

/// Found by reading: a part of a name with capitals, as local servers have them, meant no model.
#[test]
fn a_model_is_meant_by_a_part_of_its_name_in_any_case() {
    let offer = json!({"name": "Qwen/Qwen3-32B", "others": [{"name": "gpt-6-luna"}]});
    let models = creature::models::Models::of(&offer, "");
    for (said, meant) in [("Qwen3", "Qwen/Qwen3-32B"), ("qwen", "Qwen/Qwen3-32B"), ("Luna", "gpt-6-luna")] {
        assert_eq!(models.named(said), Ok(meant.to_owned()), "{said}");
    }
    assert!(models.named("3").is_ok() && models.named("n").is_err(), "a part that two have means neither");
}
