//! What a look at a watch comes to where the world misbehaves: clocks that are set back, pages that never hold still.

use creature::watches::task::judged;
use creature::watches::{Looked, Watch};
use serde_json::{Value, json};

fn watched(more: Value) -> Watch {
    let mut watch = json!({
        "id": "watch-1", "source": {"url": "http://a.example/"}, "every_s": 600, "when": "changed", "say": "It is",
        "thread": "main", "owner": true, "made_at": "2026-05-28T12:00:00Z", "next": "2026-05-28T12:00:00Z",
    });
    watch.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    serde_json::from_value(watch).unwrap()
}

/// Found by reading: whatever changed was held back until the clock came to where it had been.
#[test]
fn a_watch_that_told_before_the_clock_was_set_back_tells_what_changes_after() {
    let mut watch =
        watched(json!({"find": r"(\d+)", "seen": {"value": "1"}, "told_at": "2026-05-29T12:00:00Z"}));
    let now = "2026-05-28T12:00:00Z".parse().unwrap();
    let said = judged(&mut watch, Ok(Looked::Text("2".to_owned())), now);
    assert_eq!(said.as_deref(), Some("It is: 1 → 2 (http://a.example/)"));
}

/// Found by reading: a page with the hour in it was fetched every ten seconds for ever, and nobody was told.
#[test]
fn a_page_that_differs_at_each_look_is_looked_at_as_often_as_was_said_and_that_is_told_once() {
    let mut watch = watched(json!({}));
    let (mut now, mut told, mut waits): (jiff::Timestamp, _, _) =
        ("2026-05-28T12:00:00Z".parse().unwrap(), Vec::new(), Vec::new());
    for nth in 0..12 {
        let text = format!("a heron, at {nth} o'clock");
        told.extend(judged(&mut watch, Ok(Looked::Text(text)), now));
        waits.push(watch.next.duration_since(now).as_secs());
        now = watch.next;
    }
    assert_eq!(waits.iter().filter(|wait_s| **wait_s < 600).count(), 1, "{waits:?}");
    assert!(told.len() == 1 && told[0].contains("it differs at each look"), "{told:?}");
    // Once it holds still it is told.
    let look = |watch: &mut _| judged(watch, Ok(Looked::Text("a heron, and no clock".to_owned())), now);
    assert_eq!(look(&mut watch), None);
    assert!(look(&mut watch).unwrap().starts_with("It is: "), "the change");
}
