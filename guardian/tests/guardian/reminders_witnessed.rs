//! Reminders as the guardian sees them: told in time, on their thread, with words.

use crate::witness::{AWAKE, LONGEST, RESTS, judged, record};
use guardian::decide::conduct::Invariant::{self, Reminded};
use guardian::decide::witness::{Claimed, Witness};
use serde_json::{Value, json};

/// Looks at a reminder that is due after ten minutes, with a rest before each.
struct Looked(Witness, u64);

impl Looked {
    fn at(&mut self, now: u64, agenda: &Value) -> Vec<(Invariant, bool)> {
        self.0.looked(AWAKE, LONGEST, now);
        [now + 100, now + 700].into_iter().for_each(|now| self.0.looked(RESTS, LONGEST, now));
        self.0.reminders(agenda, (now + self.1) as i64, now);
        judged(&mut self.0, &[Reminded])
    }
}

fn reminder(next: Option<&str>, last: Option<&str>) -> Value {
    json!({"reminders": {"list": [{"id": "r1", "next": next, "last": last, "thread": "main"}]}})
}

const DUE: Option<&str> = Some("1970-01-01T00:10:00Z");
const NEXT_DAY: Option<&str> = Some("1970-01-02T00:10:00Z");
const TOLD: Option<&str> = Some("1970-01-01T00:10:01Z");
const AT: u64 = 600_000;

fn tells(thread: &str) -> Value {
    record(
        "message",
        json!({"from": "creature", "kind": "reminder", "thread": thread, "text": "water", "reminder": "r1"}),
    )
}

#[test]
fn a_reminder_is_told_in_time_and_on_its_thread() {
    for (said, expected) in [(Some("main"), true), (Some("work"), false), (None, false)] {
        let mut looked = Looked(Witness::of(7, false), 0);
        assert_eq!(looked.at(AT - 5_000, &reminder(DUE, None)), []);
        said.iter().for_each(|thread| looked.0.recorded(&tells(thread), AWAKE, AT));
        assert_eq!(looked.at(AT + 5_000, &reminder(NEXT_DAY, TOLD)), [(Reminded, expected)], "{said:?}");
    }
    // Found: a self that told reminders without their words kept it.
    let mut looked = Looked(Witness::of(7, false), 0);
    assert_eq!(looked.at(AT - 5_000, &reminder(DUE, None)), []);
    let silent = record(
        "message",
        json!({"from": "creature", "kind": "reminder", "thread": "main", "text": " ", "reminder": "r1"}),
    );
    looked.0.recorded(&silent, AWAKE, AT);
    assert_eq!(looked.at(AT + 5_000, &reminder(NEXT_DAY, TOLD)), [(Reminded, false)], "without words");
    let mut looked = Looked(Witness::of(7, false), 0);
    assert_eq!(looked.at(AT - 5_000, &reminder(DUE, None)), []);
    assert_eq!(looked.at(AT + 60_000, &reminder(DUE, None)), [], "it still may come");
    assert_eq!(looked.at(AT + 121_000, &reminder(DUE, None)), [], "perhaps it is at work");
    assert_eq!(looked.at(AT + 140_000, &reminder(DUE, None)), []);
    assert_eq!(looked.at(AT + 160_000, &reminder(DUE, None)), [(Reminded, false)], "two rests went by");
    assert_eq!(looked.at(AT + 180_000, &reminder(DUE, None)), [], "once");
}

#[test]
fn a_reminder_that_was_taken_back_or_came_due_before_this_life_is_not_missed() {
    let mut looked = Looked(Witness::of(7, false), 0);
    assert_eq!(looked.at(AT - 5_000, &reminder(DUE, None)), []);
    let finished = json!({"reminders": {"list": [{"id": "r1", "next": DUE, "finished": DUE}]}});
    assert_eq!(looked.at(AT + 5_000, &finished), []);
    let mut looked = Looked(Witness::of(7, false), 0);
    for later in [5_000, 200_000, 300_000, 400_000] {
        assert_eq!(looked.at(AT + later, &reminder(DUE, None)), []);
    }
}

#[test]
fn a_reminder_waits_while_a_long_proof_runs() {
    let mut witness = Witness::of(7, false);
    witness.reminders(&reminder(DUE, None), AT as i64 - 5_000, AT - 5_000);
    for minute in 0..30 {
        let now = AT + minute * 60_000;
        witness.looked(Claimed { acts: true, ..AWAKE }, LONGEST, now);
        witness.reminders(&reminder(DUE, None), now as i64, now);
    }
    assert_eq!(judged(&mut witness, &[Reminded]), []);
}

#[test]
fn a_clock_that_is_set_forward_makes_no_reminder_late() {
    let mut looked = Looked(Witness::of(7, false), 0);
    assert_eq!(looked.at(1_000, &reminder(DUE, None)), []);
    looked.1 = 7_200_000;
    for now in (1..10).map(|at| at * 20_000) {
        assert_eq!(looked.at(now, &reminder(DUE, None)), []);
    }
}
