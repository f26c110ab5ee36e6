//! Waking as data: a model is asked for a reason, paused only by the owner's word, and events wait until shown.

use agenda::waking::{Found, NEWS, NONE, OWNER, UNFINISHED, WORK, draft_due, priority, reasons, shown};
use jiff::{SignedDuration, Timestamp};
use proptest::prelude::*;

#[test]
fn nothing_is_no_reason_and_each_thing_is_one() {
    assert!(reasons(&Found::default()).is_empty());
    let table: [(Found, &str); 9] = [
        (Found { newborn: true, ..Found::default() }, "the first thought of this life"),
        (Found { words: 1, ..Found::default() }, "your owner's word waits"),
        (Found { words: 3, ..Found::default() }, "3 words of your owner's wait"),
        (Found { events: 1, ..Found::default() }, "an event waits"),
        (Found { purpose_changed: true, ..Found::default() }, "PURPOSE.md changed"),
        (Found { checklist_changed: true, ..Found::default() }, "the checklist changed"),
        (
            Found { items_due: vec!["a".to_owned(), "b".to_owned()], ..Found::default() },
            "due on the checklist: a; b",
        ),
        (Found { line: Some("goal-1 tea".to_owned()), ..Found::default() }, "ready: goal-1 tea"),
        (Found { draft: Some("a draft".to_owned()), ..Found::default() }, "unfinished: a draft"),
    ];
    for (found, why) in table {
        assert_eq!(reasons(&found), [why]);
    }
}

/// Found: a wake said neither for whom it was nor what it was to do.
#[test]
fn what_a_wake_is_for_first_is_named() {
    let some = || Some("goal-1 tea".to_owned());
    for (found, first) in [
        (Found::default(), NONE),
        (Found { events: 1, line: some(), ..Found::default() }, NEWS),
        (Found { events: 1, words: 1, ..Found::default() }, OWNER),
        (Found { request: some(), ..Found::default() }, OWNER),
        (Found { line: some(), unfinished: true, ..Found::default() }, WORK),
        (Found { unfinished: true, ..Found::default() }, UNFINISHED),
        (Found { line: some(), events: 2, spent: true, ..Found::default() }, NONE),
        (Found { request: some(), line: some(), spent: true, ..Found::default() }, OWNER),
    ] {
        assert_eq!(priority(&found), first, "{found:?}");
    }
}

#[test]
fn an_unfinished_draft_is_looked_at_the_more_rarely_the_longer_it_lies() {
    let touched: Timestamp = "2026-11-23T14:02:00Z".parse().unwrap();
    let (mut looked, mut waits) = (None, Vec::new());
    for _ in 0..6 {
        let due = draft_due(touched, looked);
        waits.push(due.duration_since(looked.unwrap_or(touched)).as_secs() / 60);
        looked = Some(due);
    }
    assert_eq!(waits, [5, 5, 10, 20, 40, 80]);
    // Seen before it was edited, it waits from the edit on.
    assert_eq!(
        draft_due(touched, Some(touched - SignedDuration::from_hours(9))),
        touched + SignedDuration::from_mins(5)
    );
}

fn any_found() -> impl Strategy<Value = Found> {
    let flags = prop::array::uniform7(any::<bool>());
    (flags, 0..3_usize, 0..3_usize, prop::option::of("[a-z]{1,5}"), prop::collection::vec("[a-z]{1,5}", 0..2))
        .prop_map(
            |(
                [newborn, purpose_changed, checklist_changed, unfinished, paused, down, spent],
                words,
                events,
                line,
                items_due,
            )| {
                Found {
                    newborn,
                    words,
                    events,
                    purpose_changed,
                    checklist_changed,
                    items_due,
                    request: line.clone().filter(|_| words == 1),
                    draft: line.clone().filter(|_| events == 2),
                    line,
                    unfinished,
                    paused,
                    down,
                    spent,
                }
            },
        )
}

proptest! {
    #[test]
    fn the_owner_is_always_heard_and_nothing_else_while_it_is_held(found in any_found()) {
        let why = reasons(&found);
        prop_assert_eq!(why.iter().any(|why| why.contains("your owner's")), found.words > 0);
        if found.down {
            prop_assert!(why.len() <= 1 && (found.words > 0) == (why.len() == 1));
        } else if found.spent {
            prop_assert_eq!(why.len(), usize::from(found.words > 0) + usize::from(found.request.is_some()));
        } else if found.paused {
            prop_assert_eq!(why.len(), usize::from(found.words > 0) + usize::from(found.newborn));
        } else {
            let all = [found.words > 0, found.newborn, found.events > 0, found.purpose_changed,
                found.checklist_changed, !found.items_due.is_empty(), found.line.is_some(), found.draft.is_some(),
                found.unfinished, found.request.is_some()];
            prop_assert_eq!(why.len(), all.into_iter().filter(|is| *is).count());
        }
    }

    #[test]
    fn what_is_shown_fits_and_is_all_that_fits(events in prop::collection::vec("[a-zü🦀]{0,900}", 0..12), most in 0..3_000_usize) {
        let count = shown(&events, most);
        let cost = |event: &String| event.chars().count() + 3;
        let newest = &events[events.len() - count..];
        prop_assert!(newest.iter().map(cost).sum::<usize>() <= most);
        if count < events.len() {
            let more = &events[events.len() - count - 1..];
            prop_assert!(more.iter().map(cost).sum::<usize>() > most);
        }
    }
}

#[test]
fn an_event_longer_than_its_room_is_shown_cut_and_blocks_nothing() {
    let long = "x".repeat(50_000);
    assert_eq!(shown(&[long.clone(), long], 1_800), 1);
}
