//! The tools of the agenda as a mind calls them: few arguments, plain answers, every change remembered.

use crate::yard::Yard;
use agenda::Agenda;
use creature::clock::Clock;
use creature::tools::catalogue::TOOLS;
use creature::tools::tool::Tool;
use memory::state;
use serde_json::{Value, json};

/// A yard whose clock stands still.
fn yard() -> Yard {
    let mut yard = Yard::new();
    yard.store.clock = Clock::told(|| "2026-05-28T12:00:00Z".parse().unwrap());
    yard
}

async fn fine(yard: &mut Yard, tool: &str, args: Value) -> Value {
    let result = yard.call(tool, args).await;
    assert_eq!(result["ok"], json!(true), "{tool}: {result}");
    result
}

async fn refused(yard: &mut Yard, tool: &str, args: Value) -> String {
    let result = yard.call(tool, args).await;
    assert!(result["ok"] == json!(false) && result["hint"].as_str().is_some_and(|hint| !hint.is_empty()));
    result["error"].as_str().unwrap().to_owned()
}

#[test]
fn the_catalogue_tells_of_them_in_few_words() {
    let families = ["goal", "opportunity", "task", "gap", "presence", "agenda"];
    let ours = TOOLS.iter().filter(|tool| families.contains(&tool.name.split('.').next().unwrap()));
    let text: String = ours.map(Tool::line).collect();
    assert!(text.chars().count() <= 1_400, "{}", text.chars().count());
}

#[tokio::test]
async fn a_goal_from_its_making_to_its_end() {
    let mut yard = yard();
    let steps = json!(["find leaves", "pack"]);
    let made = fine(&mut yard, "goal.add", json!({"title": "sell tea", "checkpoints": steps})).await;
    assert_eq!(made["id"], "goal-1");
    fine(&mut yard, "goal.extend", json!({"id": "goal-1", "checkpoints": "post\nrest"})).await;
    let failed = json!({"id": "goal-1", "status": "failed", "reason": "rain", "checkpoint": "1"});
    assert_eq!(fine(&mut yard, "goal.checkpoint", failed).await["status"], "failed");
    let done = json!({"id": "goal-1", "status": "done", "checkpoint": 1});
    assert_eq!(fine(&mut yard, "goal.checkpoint", done).await["next"], json!({"number": 2, "text": "pack"}));
    let stack = fine(&mut yard, "agenda.list", json!({})).await;
    assert_eq!((&stack["of"], &stack["stack"][0]["next"]), (&json!(1), &json!("pack")), "{stack}");
    let goals = fine(&mut yard, "agenda.list", json!({"kind": "goals"})).await;
    assert!(goals["goals"][0].as_str().unwrap().starts_with("goal-1 (open) sell tea; 1 done"), "{goals}");
    fine(&mut yard, "agenda.close", json!({"id": "goal-1", "outcome": "done", "reason": "sold out"})).await;
    let booked = yard.booked();
    assert_eq!(booked.last().unwrap().data["change"]["goal"]["do"], "close");
    assert_eq!((booked.len(), yard.kinds()), (5, Vec::new()), "every change is booked, nothing else");
    let (kept, odd): (Agenda, _) = state::kept(&yard.store.house.agenda());
    assert_eq!((kept, odd), (yard.store.agenda.clone(), None), "and written down");
}

#[tokio::test]
async fn money_is_told_in_the_feed_and_much_of_it_needs_a_yes() {
    let mut yard = yard();
    fine(&mut yard, "opportunity.add", json!({"title": "a festival", "amount_usd": "$1,200"})).await;
    let to = |stage: &str| json!({"id": "opportunity-1", "stage": stage});
    fine(&mut yard, "opportunity.move", to("evaluate")).await;
    let proposed = fine(&mut yard, "opportunity.move", to("propose")).await;
    assert!(proposed["note"].as_str().unwrap().contains("owner.message"), "{proposed}");
    let why = refused(&mut yard, "opportunity.move", to("execute")).await;
    assert_eq!(why, "opportunity-1 of 1200 USD waits for your owner's yes");
    yard.caller.owner = true;
    yard.lent().change(&agenda::Change::approve("opportunity-1")).unwrap();
    yard.caller.owner = false;
    fine(&mut yard, "opportunity.move", to("execute")).await;
    fine(&mut yard, "opportunity.move", to("collect")).await;
    let earned = json!({"id": "opportunity-1", "earned_usd": 1_000, "wait_s": 3_600});
    let totals = fine(&mut yard, "opportunity.move", earned).await["totals"].clone();
    assert_eq!(totals, json!({"pipeline_usd": 0.0, "pending_usd": 200.0, "earned_usd": 1_000.0}));
    let feed = yard.text(".self/mind/feed.jsonl");
    assert!(feed.contains(r#""event":"revenue""#) && feed.contains(r#""earned_usd":1000.0"#), "{feed}");
    let listed = fine(&mut yard, "agenda.list", json!({"kind": "opportunities"})).await;
    assert_eq!(listed["list"][0]["not_before"], "2026-05-28T13:00:00Z");
}

#[tokio::test]
async fn tasks_gaps_and_places() {
    let mut yard = yard();
    yard.store.rules.time_zone = jiff::tz::TimeZone::get("Europe/Berlin").unwrap();
    for (args, at) in [
        (json!({"text": "a"}), "2026-05-28T12:00:00Z"),
        (json!({"text": "b", "in_s": "90"}), "2026-05-28T12:01:30Z"),
        (json!({"text": "c", "at": "2026-05-29T09:00"}), "2026-05-29T07:00:00Z"),
        (json!({"text": "d", "at": "2026-05-29T09:00:00Z", "every_s": 600}), "2026-05-29T09:00:00Z"),
    ] {
        assert_eq!(fine(&mut yard, "task.add", args).await["at"], at);
    }
    for args in [
        json!({"text": "e", "at": "soon"}),
        json!({"text": "e", "at": "2026-05-29T09:00", "in_s": 1}),
        json!({"text": "e", "every_s": 1}),
        json!({"text": " "}),
    ] {
        refused(&mut yard, "task.add", args).await;
    }
    assert_eq!(
        fine(&mut yard, "task.done", json!({"id": "task-4"})).await["next_at"],
        "2026-05-29T09:10:00Z"
    );
    assert_eq!(fine(&mut yard, "task.done", json!({"id": "task-1"})).await["next_at"], Value::Null);
    assert_eq!(
        fine(&mut yard, "agenda.list", json!({"kind": "tasks"})).await["list"].as_array().unwrap().len(),
        3
    );
    fine(&mut yard, "gap.note", json!({"what": "read PDFs"})).await;
    assert_eq!(fine(&mut yard, "gap.note", json!({"what": "Read  pdfs"})).await["times"], 2);
    let seen = fine(&mut yard, "presence.note", json!({"place": "X", "every_days": 2})).await;
    assert_eq!((seen["place"].as_str(), seen["next_at"].as_str()), (Some("x"), Some("2026-05-30T12:00:00Z")));
}

#[tokio::test]
async fn what_makes_no_sense_is_refused_and_changes_nothing() {
    let mut yard = yard();
    for (tool, args) in [
        ("goal.add", json!({})),
        ("goal.add", json!({"title": "x", "checkpoints": [1]})),
        ("goal.add", json!({"title": "x", "cost_usd": "much"})),
        ("goal.add", json!({"title": "x", "cost_usd": -1})),
        ("goal.checkpoint", json!({"id": "goal-1"})),
        ("goal.checkpoint", json!({"id": "goal-1", "status": "finished"})),
        ("goal.checkpoint", json!({"id": "goal-1", "status": "done"})),
        ("opportunity.move", json!({"id": "opportunity-1", "stage": "party"})),
        ("agenda.close", json!({"id": "moon-1", "reason": "x"})),
        ("agenda.close", json!({"id": "gap-1"})),
        ("agenda.list", json!({"kind": "wishes"})),
    ] {
        refused(&mut yard, tool, args).await;
    }
    assert_eq!(yard.records().len(), 0);
    let mut safe = Yard::with(true, false);
    assert!(refused(&mut safe, "goal.add", json!({"title": "x"})).await.contains("safe mode"));
}
