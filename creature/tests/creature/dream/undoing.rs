//! A dream undone: what it did is taken back, and nothing that came after it.

use super::{Bed, ONCE, TWICE, asleep, call, concern};
use crate::house::TempHouse;
use agenda::Change;
use agenda::goals::{GoalChange, GoalStatus};
use creature::dream::three_way;
use creature::life::Life;
use jiff::ToSpan;
use proptest::prelude::*;
use serde_json::{Value, json};

#[tokio::test]
async fn undone_it_leaves_what_came_after() {
    let mut bed = Bed::new(TempHouse::new());
    let mut life = bed.born().await;
    asleep(&mut life).await;
    bed.house.write("self/facts.md", TWICE);
    let (first, again) = (concern(&mut life, "watch the swifts"), concern(&mut life, "Watch the swift."));
    let add =
        GoalChange::Add { title: "count the swifts".to_owned(), checkpoints: Vec::new(), cost_usd: 0.0 };
    let goal = life.toolbox.change(&Change::Goal(add)).unwrap()["id"].as_str().unwrap().to_owned();
    let (outcome, reason) = (GoalStatus::Done, "counted".to_owned());
    life.toolbox.change(&Change::Goal(GoalChange::Close { id: goal.clone(), outcome, reason })).unwrap();
    bed.wait((24 * 31).hours());
    asleep(&mut life).await;
    let open =
        |life: &Life| life.toolbox.desk.agenda.pulse.open().map(|it| it.id.clone()).collect::<Vec<_>>();
    assert_eq!((open(&life), bed.facts().as_str()), (vec![first.clone()], ONCE));
    let known = |life: &Life| serde_json::to_string(&life.toolbox.desk.agenda.goals).unwrap().contains(&goal);
    assert!(!known(&life), "what was finished thirty days ago is forgotten");
    let later = concern(&mut life, "watch the herons");
    call(&mut life, "fact.add", json!({"text": "Owls hoot", "source": "night"})).await;
    for turn in ["undone", "again"] {
        let name = bed.dreams()[0]["name"].clone();
        let args = if turn == "undone" { json!({}) } else { json!({"name": name}) };
        let undone = call(&mut life, "dream.undo", args).await;
        assert_eq!((&undone["ok"], &undone["undone"]), (&json!(true), &name), "{undone}");
        assert_eq!(open(&life), [first.clone(), again.clone(), later.clone()]);
        assert_eq!(bed.facts(), format!("{TWICE}- Owls hoot [night, 2026-04-01]\n"));
    }
    assert_eq!(call(&mut life, "dream.undo", json!({})).await["ok"], false);
    drop(life);
    let life = bed.born().await;
    assert_eq!(open(&life).len(), 3, "what was undone is written down");
    assert!(known(&life));
}

fn items() -> impl Strategy<Value = Vec<(u8, u8)>> {
    prop::collection::btree_map(0u8..8, 0u8..3, 0..8).prop_map(|items| items.into_iter().collect())
}

fn list(items: &[(u8, u8)]) -> Value {
    let item = |(id, state): &(u8, u8)| json!({"id": format!("goal-{id}"), "state": state});
    json!({"next": items.len(), "goals": {"all": items.iter().map(item).collect::<Vec<_>>()}})
}

proptest! {
    #[test]
    fn taking_back_touches_only_what_was_changed(before in items(), after in items(), now in items()) {
        let (old, dreamt, new) = (list(&before), list(&after), list(&now));
        let merged = three_way(Some(&old), Some(&dreamt), Some(&new)).unwrap();
        let find = |items: &[(u8, u8)], id: u8| items.iter().find(|item| item.0 == id).map(|item| item.1);
        for id in 0..8 {
            let (old, dreamt, new) = (find(&before, id), find(&after, id), find(&now, id));
            let want = if new == dreamt { old } else { new };
            let got = merged["goals"]["all"].as_array().unwrap().iter().find(|item| item["id"] == format!("goal-{id}"));
            // One that changed on both sides is mixed field by field; here it has one field.
            prop_assert_eq!(got.map(|item| item["state"].as_u64().unwrap() as u8), want, "goal-{}", id);
        }
        prop_assert_eq!(three_way(Some(&old), Some(&dreamt), Some(&dreamt)), Some(old.clone()));
        let again = three_way(Some(&old), Some(&dreamt), Some(&merged)).unwrap();
        prop_assert_eq!(three_way(Some(&old), Some(&dreamt), Some(&again)), Some(again));
    }
}
