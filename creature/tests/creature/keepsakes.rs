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
        let (mut records, mut taken, mut count, mut covered): (Vec<Record>, Vec<usize>, usize, usize) = (Vec::new(), Vec::new(), 0, 0);
        for step in steps {
            match step {
                0 => {
                    let fresh: Vec<usize> = fresh(&records, 10).iter().filter(|r| r.kind == "thought")
                        .map(|r| r.data["n"].as_u64().unwrap() as usize).collect();
                    let left = records.len().saturating_sub(10);
                    let intact = records[left..].iter().filter(|r| r.kind == "thought").count();
                    prop_assert!(fresh.iter().all(|n| *n < count - intact), "the last ten stay whole");
                    prop_assert!(fresh.is_empty() || fresh[0] == covered, "{:?} after {}", fresh, covered);
                    if fresh.is_empty() { continue; }
                    covered += fresh.len();
                    taken.extend(fresh);
                    let mut snapshot = record("snapshot", 0);
                    snapshot.data = json!({"kept": 10.min(records.len())});
                    records.push(snapshot);
                }
                _ => {
                    records.push(record("thought", count));
                    count += 1;
                }
            }
        }
        prop_assert_eq!(taken, (0..covered).collect::<Vec<_>>());
    }
}

#[test]
fn a_snapshot_of_an_older_self_took_in_all() {
    let records = [record("thought", 0), record("snapshot", 0), record("thought", 1)];
    assert_eq!(fresh(&records, 0), &records[2..]);
    assert!(fresh(&records, 10).is_empty());
    assert!(fresh(&[], 10).is_empty());
}

#[tokio::test]
async fn snapshots_stand_on_one_another() {
    let mut yard = Yard::new();
    let note = async |yard: &mut Yard, from: usize, to: usize| {
        for n in from..to {
            let data = json!({"ok": true, "stage": "born", "summary": format!("change{n}.")});
            yard.tools.memory.append(&Record { data, ..record("self_change", n) }).unwrap();
        }
    };
    note(&mut yard, 0, 12).await;
    let first = yard.call("memory.snapshot", json!({})).await;
    let text = yard.text(first["path"].as_str().unwrap());
    assert!(text.contains("change1.") && !text.contains("change2."), "{text}");
    let again = yard.call("memory.snapshot", json!({})).await;
    assert_eq!((&again["unchanged"], &again["path"]), (&json!(true), &first["path"]));
    note(&mut yard, 12, 15).await;
    let second = yard.call("memory.snapshot", json!({})).await;
    let text = yard.text(second["path"].as_str().unwrap());
    for n in 0..5 {
        assert_eq!(text.matches(&format!("change{n}.")).count(), 1, "change{n} in\n{text}");
    }
    assert!(!text.contains("change5."), "{text}");
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
