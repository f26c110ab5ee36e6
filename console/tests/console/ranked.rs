//! The order in which `mind` tells what the creature means to do: the owner's focus first, then the owner's settings.

use serde_json::{Value, json};
use trials::{House, SOUND};

fn order(house: &House) -> Vec<String> {
    let facts = console::mind::facts(&house::House::new(&house.root));
    let ids = facts["stack"].as_array().unwrap().iter().map(|item| item["id"].as_str().unwrap().to_owned());
    ids.collect()
}

fn means(house: &House, directives: Value) {
    let agenda = json!({
        "requests": {"list": [{"id": "request-1", "text": "what is new?", "ended_at": null}]},
        "goals": {"list": [{"id": "goal-2", "title": "count the herons", "status": "open"},
            {"id": "goal-3", "title": "publish on GitHub", "status": "open"}]},
        "opportunities": {"list": [{"id": "opportunity-4", "title": "sell eggs", "stage": "scan", "ended_at": null}]},
        "tasks": {"list": [{"id": "task-5", "text": "sweep", "at": "2026-01-01T00:00:00Z", "ended_at": null}]},
        "directives": {"list": directives},
    });
    house.write(".self/mind/agenda.json", &agenda.to_string());
}

/// Found: after "focus on revenue" it listed goals before opportunities, and the creature worked the other way round.
#[test]
fn the_stack_is_told_in_the_order_of_the_owners_focus_and_settings() {
    let house = House::new(SOUND);
    let usual = ["request-1", "goal-2", "goal-3", "opportunity-4", "task-5"];
    means(&house, json!([]));
    assert_eq!(order(&house), usual);
    let focus = |id: &str, topic: &str, first: Value, ended: Value| json!({"id": id, "wish": {"kind": "focus", "topic": topic}, "first": first, "text": topic, "until": null, "ended": ended});
    let revenue = focus("directive-6", "revenue", json!(["opportunities"]), Value::Null);
    means(&house, json!([revenue]));
    assert_eq!(order(&house), ["request-1", "opportunity-4", "goal-2", "goal-3", "task-5"]);
    // A later one takes its place; a topic of its own goes before its kind.
    let ended = focus("directive-6", "revenue", json!(["opportunities"]), json!("2026-01-01T00:00:00Z"));
    means(&house, json!([ended, focus("directive-7", "goals", json!(["goals"]), Value::Null)]));
    assert_eq!(order(&house), usual);
    means(&house, json!([ended, focus("directive-8", "GitHub", json!([]), Value::Null)]));
    assert_eq!(order(&house), ["request-1", "goal-3", "goal-2", "opportunity-4", "task-5"]);
    // The owner's settings as they were handed over; an older creature names no kinds.
    means(&house, json!([]));
    let handed = json!({"life": 1, "settings": {"agenda": {"order": ["tasks", "opportunities"]}}});
    house.write(".self/settings.json", &handed.to_string());
    assert_eq!(order(&house), ["request-1", "task-5", "opportunity-4", "goal-2", "goal-3"]);
}

/// Found: the state's structured form was shown by nobody.
#[test]
fn why_shows_the_state_that_a_thought_was_shown() {
    let house = House::new(SOUND);
    let state = json!({"mode": "continue", "owner_summary": "Your owner:", "loop_summary": "Your work:", "pending_items": ["goal-2"], "confidence": "high"});
    let data = json!({"mind": "m", "thought": 1, "wake": 1, "round": 0, "monologue": "I think.", "owner": false, "state": state});
    let record = json!({"at": "2026-01-02T03:04:05.000Z", "life": 1, "kind": "thought", "data": data});
    house.write(".self/memory.jsonl", &format!("{record}\n"));
    let own = house::House::new(&house.root);
    let found = console::why::found::thought(&own, 1).unwrap();
    assert_eq!(console::why::facts(&own, 1, &found)["state"], state);
}
