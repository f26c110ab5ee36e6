//! Every version has its fate: what runs, what proved itself, what fell, what the owner rolled back, what never proved.

use console::edits::{Edit, Fate, list};
use serde_json::{Value, json};

fn event(second: u64, what: &str, more: Value) -> Value {
    let mut event = json!({"at": format!("2026-01-02T03:04:{second:02}.000Z"), "what": what});
    event.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    event
}

/// The tree of a commit: its first letter, so that `b1` and `b2` are of one version; none of one that is gone.
fn tree_of(commit: &str) -> Option<String> {
    (!commit.starts_with('x')).then(|| commit.chars().take(1).collect())
}

fn fates(edits: &[Edit], head: &str) -> Vec<(String, Fate)> {
    edits.iter().map(|edit| (edit.commit.clone(), edit.fate(head))).collect()
}

fn of_a_life() -> Vec<Value> {
    let commit = |second, commit: &str| {
        event(
            second,
            "commit",
            json!({"by": "self", "commit": commit, "summary": format!("change {commit}"), "files": 1, "added": 3, "removed": 1}),
        )
    };
    let life =
        |second, life: u64, commit: &str| event(second, "life", json!({"life": life, "commit": commit}));
    let blessed = |second, commit: &str| event(second, "blessed", json!({"life": 1, "commit": commit}));
    let fall = |second, from: &str, cause: &str| {
        event(
            second,
            "fall",
            json!({"life": 3, "from_commit": from, "to_commit": "b1", "cause": cause, "told": "guardian: put creature back"}),
        )
    };
    vec![
        life(0, 1, "a1"),
        blessed(1, "a1"),
        commit(2, "b1"),
        life(3, 2, "b1"),
        event(
            4,
            "examined",
            json!({"life": 2, "commit": "b1", "outcome": "passed", "told": "passed", "seconds": 41.5}),
        ),
        blessed(5, "b1"),
        // Papers alone: the same version.
        commit(6, "b9"),
        commit(7, "c1"),
        life(8, 3, "c1"),
        life(9, 4, "c1"),
        fall(10, "c1", "tries_spent"),
        life(11, 5, "b2"),
        commit(12, "d1"),
        life(13, 6, "d1"),
        blessed(14, "d1"),
        fall(15, "d1", "owner"),
        life(16, 7, "b3"),
        commit(17, "x1"),
        commit(18, "e1"),
        life(19, 8, "e1"),
    ]
}

#[test]
fn each_version_is_there_once_with_what_became_of_it() {
    let edits = list(of_a_life().into_iter(), tree_of);
    assert_eq!(
        fates(&edits, "e"),
        [
            ("a1".into(), Fate::Proved),
            ("b1".into(), Fate::Proved),
            ("c1".into(), Fate::Fell),
            ("d1".into(), Fate::RolledBack),
            ("x1".into(), Fate::NotProved),
            ("e1".into(), Fate::OnProbation),
        ]
    );
    assert_eq!(fates(&edits, "b")[1].1, Fate::Runs);
    let proved = &edits[1];
    assert_eq!(
        (proved.by.as_str(), proved.summary.as_str(), proved.added, proved.removed),
        ("self", "change b1", 3, 1)
    );
    assert_eq!((proved.tests.as_str(), proved.tests_s, proved.lives), ("passed", Some(41.5), Some((2, 7))));
    assert_eq!(proved.proved_at, "2026-01-02T03:04:05.000Z");
    assert_eq!(edits[0].by, "", "the owner's own is not said to be its own");
    assert_eq!(edits[2].fell.as_ref().unwrap().told, "put creature back");
}

#[test]
fn one_that_fell_and_is_tried_again_has_not_fallen() {
    let mut events = of_a_life();
    events.push(event(20, "life", json!({"life": 9, "commit": "c2"})));
    let edits = list(events.into_iter(), tree_of);
    assert_eq!(edits[2].fate("c"), Fate::OnProbation);
    assert_eq!(edits.len(), 6);
}

#[test]
fn a_history_that_says_nothing_makes_nothing() {
    let odd =
        [json!({}), json!({"what": "life"}), json!({"what": "fall", "from_commit": "q"}), json!({"what": 7})];
    assert!(list(odd.into_iter(), tree_of).is_empty());
}
