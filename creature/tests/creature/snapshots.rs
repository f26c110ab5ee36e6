//! Compaction: snapshots stand on one another, the last ten records stay as they are, and none is taken in twice or never.

use crate::yard::Yard;
use creature::digest::fresh;
use memory::Record;
use proptest::prelude::*;
use serde_json::json;

fn record(kind: &str, number: usize) -> Record {
    Record {
        at: "2026-01-02T03:04:05.000Z".to_owned(),
        life: 1,
        kind: kind.to_owned(),
        data: json!({"n": number}),
    }
}

proptest! {
    /// Any mix of records and snapshots, by a mind's own words or drawn: what is drawn is each record once, in order.
    #[test]
    fn each_record_is_taken_in_once(steps in prop::collection::vec(0u8..12, 0..120)) {
        let (mut records, mut next, mut count): (Vec<Record>, usize, usize) = (Vec::new(), 0, 0);
        for step in steps {
            let kept = match step {
                // In a mind's own words: it had all of it before its eyes.
                0 => {
                    next = count;
                    0
                }
                1 | 2 => {
                    let (fresh, left) = fresh(&records, 10);
                    let intact: Vec<_> = records.iter().rev().take(10).filter(|record| record.kind == "thought").collect();
                    prop_assert!(fresh.iter().all(|record| !intact.contains(&record)), "the last ten stay whole");
                    prop_assert!(left <= 10);
                    for record in fresh.iter().filter(|record| record.kind == "thought") {
                        prop_assert_eq!(&record.data["n"], next, "each once and in order");
                        next += 1;
                    }
                    prop_assert!(next >= count - intact.len(), "none is passed by");
                    left
                }
                _ => {
                    records.push(record("thought", count));
                    count += 1;
                    continue;
                }
            };
            records.push(Record { data: json!({"kept": kept}), ..record("snapshot", 0) });
        }
    }
}

#[test]
fn a_snapshot_of_an_older_self_took_in_all() {
    let records = [record("thought", 0), record("snapshot", 0), record("thought", 1)];
    assert_eq!(fresh(&records, 0), (&records[2..], 0));
    assert_eq!(fresh(&records, 10), (&[][..], 1));
    assert_eq!(fresh(&[], 10), (&[][..], 0));
}

#[tokio::test]
async fn snapshots_stand_on_one_another() {
    let mut yard = Yard::new();
    let note = async |yard: &mut Yard, from: usize, to: usize| {
        for n in from..to {
            let data = json!({"ok": true, "stage": "born", "summary": format!("change{n}.")});
            yard.store.memory.append(&Record { data, ..record("self_change", n) }).unwrap();
        }
    };
    note(&mut yard, 0, 12).await;
    yard.put("PURPOSE.md", "# Count the swifts\n");
    let first = yard.call("memory.snapshot", json!({})).await;
    let text = yard.text(first["path"].as_str().unwrap());
    assert!(text.contains("what I am for: Count the swifts"), "{text}");
    assert!(text.contains("change1.") && !text.contains("change2."), "{text}");
    note(&mut yard, 12, 15).await;
    let second = yard.call("memory.snapshot", json!({})).await;
    let text = yard.text(second["path"].as_str().unwrap());
    for n in 0..6 {
        assert_eq!(text.matches(&format!("change{n}.")).count(), 1, "change{n} in\n{text}");
    }
    assert!(!text.contains("change6."), "a snapshot is a record too:\n{text}");
    let own = yard.call("memory.snapshot", json!({"text": "I saw it all."})).await;
    assert_eq!(own["ok"], true);
    note(&mut yard, 15, 30).await;
    let third = yard.call("memory.snapshot", json!({})).await;
    let text = yard.text(third["path"].as_str().unwrap());
    assert!(
        text.contains("I saw it all.") && text.contains("change19.") && !text.contains("change14."),
        "{text}"
    );
}

#[tokio::test]
async fn a_mind_cannot_write_a_dream_that_would_count_as_cost() {
    let mut yard = Yard::new();
    let forged = json!({"kind": "dream", "data": {"usage": {"cost_usd": 9}}});
    let refused = yard.call("memory.append", forged).await;
    assert!(refused["error"].as_str().unwrap_or_default().contains("kind `dream`"), "{refused}");
}
