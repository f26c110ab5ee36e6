//! Tasks, gaps and presence as data, and the turns of a task against a simple model.

use agenda::gaps::GapChange;
use agenda::presence::PresenceChange;
use agenda::tasks::TaskChange;
use agenda::{Agenda, Change, Rules, When};
use jiff::{SignedDuration, Timestamp};
use proptest::prelude::*;
use serde_json::Value;

const START: Timestamp = Timestamp::constant(1_780_000_000, 0);

fn at(seconds: i64) -> Timestamp {
    START + SignedDuration::from_secs(seconds)
}

fn tell(agenda: &mut Agenda, seconds: i64, change: &Change) -> Result<Value, String> {
    let when = When { now: at(seconds), thread: "main", owner: false, rules: &Rules::default() };
    agenda.apply(change, when).map_err(|refused| refused.error)
}

fn add(text: &str, due_s: i64, every_s: Option<i64>) -> Change {
    Change::Task(TaskChange::Add { text: text.to_owned(), at: at(due_s), every_s })
}

fn done(failed: Option<&str>) -> Change {
    Change::Task(TaskChange::Done { id: "task-1".to_owned(), failed: failed.map(str::to_owned) })
}

fn seen(place: &str, every_days: Option<u32>) -> Change {
    let (place, last) = (place.to_owned(), "hello".to_owned());
    Change::Presence(PresenceChange::Note { place, last, every_days })
}

#[test]
fn a_task_that_fails_the_same_way_three_times_ends_and_says_so() {
    let mut agenda = Agenda::default();
    tell(&mut agenda, 0, &add("water the plants", 0, None)).unwrap();
    for (now_s, next_s) in [(0, 60), (60, 180)] {
        tell(&mut agenda, now_s, &done(Some("no water"))).unwrap();
        assert_eq!(agenda.tasks.next_due(), Some(at(next_s)));
    }
    tell(&mut agenda, 180, &done(Some("No water."))).unwrap();
    let task = &agenda.tasks.list[0];
    assert_eq!((task.ended_at, task.outcome.as_str()), (Some(at(180)), "No water."));
    assert_eq!(tell(&mut agenda, 181, &done(None)).unwrap_err(), "task-1 has ended");
}

#[test]
fn a_recurring_one_that_fails_waits_for_its_next_turn_and_ends_only_when_closed() {
    let mut agenda = Agenda::default();
    tell(&mut agenda, 0, &add("look", 0, Some(86_400))).unwrap();
    for _ in 0..3 {
        tell(&mut agenda, 200, &done(Some("no light"))).unwrap();
    }
    assert_eq!(agenda.tasks.list[0].at, at(86_400));
    let close = Change::Task(TaskChange::Close { id: "task-1".to_owned(), reason: "enough".to_owned() });
    tell(&mut agenda, 300, &close).unwrap();
    assert_eq!((agenda.tasks.next_due(), agenda.tasks.purge(at(301))), (None, 1));
}

#[test]
fn tasks_are_bounded_and_none_is_there_twice() {
    let mut agenda = Agenda::default();
    for (every_s, fits) in [(59, false), (60, true), (366 * 86_400 + 1, false)] {
        assert_eq!(tell(&mut agenda, 0, &add("x", 0, Some(every_s))).is_ok(), fits);
    }
    assert_eq!(tell(&mut agenda, 0, &add(" X ", 5, None)).unwrap_err(), "task-1 is about that already");
    tell(&mut agenda, 0, &add(&"long ".repeat(1_000), 0, None)).unwrap();
    assert_eq!(agenda.tasks.list[1].about.chars().count(), 300);
}

#[test]
fn a_gap_counts_how_often_it_was_missed() {
    let mut agenda = Agenda::default();
    let note = |what: &str| Change::Gap(GapChange::Note { what: what.to_owned() });
    tell(&mut agenda, 0, &note("read PDFs")).unwrap();
    assert_eq!(tell(&mut agenda, 1, &note("Read\npdfs")).unwrap()["times"], 2);
    let close = Change::Gap(GapChange::Close { id: "gap-1".to_owned(), reason: "learnt".to_owned() });
    tell(&mut agenda, 2, &close).unwrap();
    assert_eq!(
        tell(&mut agenda, 3, &note("read PDFs")).unwrap()["id"],
        "gap-2",
        "a new gap, for it came back"
    );
    assert_eq!(agenda.gaps.purge(at(3)), 1);
}

#[test]
fn the_place_left_alone_longest_makes_room() {
    let mut agenda = Agenda::default();
    for n in 0..65 {
        tell(&mut agenda, n, &seen(&format!("Place {n}"), (n == 64).then_some(2))).unwrap();
    }
    let places = &agenda.presence.places;
    assert_eq!((places.len(), places.contains_key("place 0")), (64, false));
    assert_eq!(places["place 64"].due_at(), Some(at(64 + 2 * 86_400)));
    tell(&mut agenda, 100, &seen("PLACE 64", None)).unwrap();
    assert_eq!(agenda.presence.places["place 64"].due_at(), Some(at(100 + 2 * 86_400)), "its pace stays");
    tell(&mut agenda, 101, &seen("place 64", Some(0))).unwrap();
    assert_eq!(agenda.presence.places["place 64"].due_at(), None);
}

#[test]
fn every_change_that_memory_may_hold_is_understood() {
    for text in [
        r#"{"goal":{"do":"add","title":"t","checkpoints":["a"],"cost_usd":1.5}}"#,
        r#"{"goal":{"do":"extend","id":"goal-1","checkpoints":["b"]}}"#,
        r#"{"goal":{"do":"checkpoint","id":"goal-1","checkpoint":2,"status":"blocked","reason":"r"}}"#,
        r#"{"goal":{"do":"approve","id":"goal-1"}}"#,
        r#"{"goal":{"do":"close","id":"goal-1","outcome":"dropped","reason":"r"}}"#,
        r#"{"opportunity":{"do":"add","title":"t","amount_usd":2.0,"next":"n"}}"#,
        r#"{"opportunity":{"do":"approve","id":"opportunity-1"}}"#,
        r#"{"opportunity":{"do":"close","id":"opportunity-1","reason":"r"}}"#,
        r#"{"task":{"do":"add","text":"t","at":"2026-05-28T20:26:40Z","every_s":60}}"#,
        r#"{"task":{"do":"done","id":"task-1","failed":"f"}}"#,
        r#"{"task":{"do":"close","id":"task-1","reason":"r"}}"#,
        r#"{"gap":{"do":"note","what":"w"}}"#,
        r#"{"gap":{"do":"close","id":"gap-1","reason":"r"}}"#,
        r#"{"presence":{"do":"note","place":"x","last":"l","every_days":2}}"#,
        r#"{"looked":{"do":"at","id":"goal-1","category":"goals","next":"n"}}"#,
        r#"{"purge":{"before":"2026-05-28T20:26:40Z"}}"#,
    ] {
        let change: Change = serde_json::from_str(text).unwrap();
        assert_eq!(serde_json::to_string(&change).unwrap(), text);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// The next turn is the first moment after now on the grid of turns, found by counting.
    #[test]
    fn a_recurring_task_keeps_to_its_grid_and_makes_up_for_nothing(
        due_s in -5_000..5_000_i64,
        every_s in 60..5_000_i64,
        rests in prop::collection::vec(0..20_000_i64, 1..20),
    ) {
        let mut agenda = Agenda::default();
        tell(&mut agenda, 0, &add("look", due_s, Some(every_s))).unwrap();
        let (mut now_s, mut turn_s) = (0, due_s);
        for rest_s in rests {
            now_s += rest_s;
            tell(&mut agenda, now_s, &done(None)).unwrap();
            turn_s += every_s;
            while turn_s <= now_s {
                turn_s += every_s;
            }
            prop_assert_eq!(agenda.tasks.list[0].at, at(turn_s));
        }
    }
}
