//! What a dream leans on: papers changed by another hand are known, and an undoing keeps what came after.

use crate::house::TempHouse;
use creature::dream::{changed, note_seen, three_way};
use creature::paths::House;
use proptest::prelude::*;
use serde_json::{Value, json};

#[test]
fn papers_changed_by_another_hand_are_named() {
    let temp = TempHouse::new();
    temp.write("self/notes/old.md", "old");
    temp.write(".self/mind/x", "");
    let house = House::new(temp.path(""));
    assert!(changed(&house).is_empty(), "what was there before is no change");
    temp.write("self/notes/new.md", "new");
    temp.write("self/facts.md", "- One");
    temp.write("self/skills/post.md", "How to post");
    assert_eq!(changed(&house), ["self/facts.md", "self/notes/new.md", "self/skills/post.md"]);
    note_seen(&house, "self/notes/new.md");
    note_seen(&house, "self/facts.md");
    note_seen(&house, "self/notes/never.md");
    assert_eq!(changed(&house), ["self/skills/post.md"]);
    temp.write("self/notes/old.md", "changed");
    assert_eq!(changed(&house), ["self/notes/old.md", "self/skills/post.md"]);
    temp.write(".self/mind/looked.json", "garbage");
    assert!(changed(&house).is_empty());
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
