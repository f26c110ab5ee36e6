//! Self-change: one edit, for a reason with numbers, within bounds, told after the rebirth and measured.

use super::world::{PACE, World, failing, said};
use instinct::Pace;
use instinct::change::{Evidence, propose};
use instinct::state::State;
use serde_json::json;

const IDLE: Evidence =
    Evidence { wakes: 15, idle: 13, eventful: 0, each_s: 80, failed_looks: 0, failing_s: 0 };

#[test]
fn an_idle_hour_leads_to_exactly_one_edit_with_a_reason_in_numbers() {
    let mut world = World::new();
    let end_s = world.clock_s + 3600;
    let mut all = String::new();
    while world.clock_s < end_s {
        all += &said(&world.wake());
    }
    let edits = world.called("repo.edit");
    assert_eq!(edits.len(), 1, "{all}");
    let edit = &edits[0].args["edits"][0];
    assert_eq!(edit["path"], "creature/src/pace.rs");
    assert_eq!(edit["old"], "pub const IDLE_REST_S: u64 = 40;");
    assert_eq!(edit["new"], "pub const IDLE_REST_S: u64 = 60;");
    let summary = edits[0].args["summary"].as_str().unwrap();
    assert!(summary.contains("IDLE_REST_S from 40 to 60"), "{summary}");
    assert!(summary.contains("of the last 15 wakes") && summary.contains("one every"), "{summary}");
    assert!(all.contains("my next life runs"), "{all}");
}

#[test]
fn after_the_rebirth_it_says_what_it_changed_and_later_what_that_came_to() {
    let mut world = World::kept();
    while world.called("repo.edit").is_empty() {
        world.wake();
    }
    world.reborn(Pace { idle_rest_s: 60, ..PACE });
    let first = said(&world.wake());
    assert!(first.contains("I changed myself, IDLE_REST_S from 40 to 60, for"), "{first}");
    let rest: String = (0..16).map(|_| said(&world.wake())).collect();
    assert!(rest.contains("it did what it was for"), "{rest}");
    let diary = &world.papers["diary"];
    assert!(diary.contains("I changed myself") && diary.contains("I measured my edit"), "{diary}");
    assert_eq!(world.called("repo.edit").len(), 1);
}

/// Found by living with it: its one edit judged itself unhelpful and stayed in.
#[test]
fn an_edit_without_effect_is_taken_back_once_and_not_repeated() {
    let mut world = World::kept();
    world.moment.rest_s = (2, 5);
    let mut first = String::new();
    while world.called("repo.edit").is_empty() {
        first = said(&world.wake());
    }
    assert!(first.contains("The owner's longest rest, 5 s, still goes first."), "{first}");
    let slower = Pace { idle_rest_s: 60, ..PACE };
    world.reborn(slower);
    let rest: String = (0..20).map(|_| said(&world.wake())).collect();
    assert!(rest.contains("it did not do what it was for"), "{rest}");
    let edits = world.called("repo.edit");
    assert_eq!(edits.len(), 2, "{rest}");
    let back = &edits[1].args;
    assert_eq!(back["edits"][0]["old"], "pub const IDLE_REST_S: u64 = 60;");
    assert_eq!(back["edits"][0]["new"], "pub const IDLE_REST_S: u64 = 40;");
    let why = back["summary"].as_str().unwrap();
    assert!(why.contains("IDLE_REST_S from 40 to 60 was measured") && why.contains("did not help"), "{why}");
    world.reborn(PACE);
    let rest: String = (0..80).map(|_| said(&world.wake())).collect();
    assert!(rest.contains("I took my edit back: IDLE_REST_S from 60 to 40"), "{rest}");
    assert_eq!(rest.matches("I measured").count(), 0, "what is taken back is not measured");
    let diary = &world.papers["diary"];
    assert!(diary.contains("I took my edit back: IDLE_REST_S from 60 to 40"), "{diary}");
    assert_eq!(world.called("repo.edit").len(), 2, "never back and forth");
}

/// Another's hand changed it meanwhile: there is nothing to take back.
#[test]
fn an_edit_that_was_changed_by_another_is_not_taken_back() {
    let mut world = World::kept();
    world.moment.rest_s = (2, 5);
    while world.called("repo.edit").is_empty() {
        world.wake();
    }
    world.reborn(Pace { idle_rest_s: 60, ..PACE });
    let measured = |world: &World| State::read(&world.house.instinct()).change.back.is_some();
    while !measured(&world) {
        world.wake();
    }
    world.reborn(Pace { idle_rest_s: 240, ..PACE });
    (0..60).for_each(|_| drop(world.wake()));
    assert_eq!(world.called("repo.edit").len(), 1);
}

#[test]
fn a_failed_edit_is_remembered_by_the_state_and_by_memory() {
    let mut world = World::kept().answering(|call| match call.tool.as_str() {
        "repo.edit" => failing("cargo test: 1 failed"),
        _ => None,
    });
    let all: String = (0..200).map(|_| said(&world.wake())).collect();
    assert_eq!(world.called("repo.edit").len(), 1);
    assert!(all.contains("cargo test: 1 failed"));
    world.reborn(PACE);
    (0..60).for_each(|_| drop(world.wake()));
    assert_eq!(world.called("repo.edit").len(), 1, "nor in the next life");

    // With the state lost, the record alone keeps it from trying again.
    let mut world = World::kept();
    let summary = "IDLE_REST_S from 40 to 60: because";
    for _ in 0..60 {
        world.wake();
        world.calls.retain(|call| call.tool != "repo.edit" || world.wakes > 1);
        if world.wakes == 1 {
            world.record("self_change", json!({"ok": false, "stage": "test", "summary": summary}));
            world.moment.life += 1;
        }
    }
    assert!(world.called("repo.edit").is_empty());
}

#[test]
fn an_edit_that_fell_is_not_repeated() {
    let mut world = World::kept();
    while world.called("repo.edit").is_empty() {
        world.wake();
    }
    world.reborn(PACE);
    world.moment.news =
        vec!["After 3 death(s) the guardian put creature/ back from commit a to b".to_owned()];
    let first = said(&world.wake());
    assert!(first.contains("put creature/ back") && first.contains("is not in what I run"), "{first}");
    (0..80).for_each(|_| drop(world.wake()));
    assert_eq!(world.called("repo.edit").len(), 1);
}

#[test]
fn no_edit_soon_after_a_death_nor_in_the_first_wakes_of_a_life() {
    let mut world = World::kept();
    (0..13).for_each(|_| drop(world.wake()));
    world.reborn(PACE);
    world.record("death", json!({"told": "Life 1 ended"}));
    (0..9).for_each(|_| drop(world.wake()));
    assert!(world.called("repo.edit").is_empty(), "a death in the last 20 records");
    (0..3).for_each(|_| drop(world.wake()));
    assert_eq!(world.called("repo.edit").len(), 1, "once it is quiet");
}

#[test]
fn proposals_keep_to_the_bounds_and_name_their_numbers() {
    let with = |idle_rest_s: u64| Pace { idle_rest_s, ..PACE };
    let longer = propose(&IDLE, &with(200)).unwrap();
    assert_eq!((longer.to, longer.more), (PACE.idle_rest_bounds_s.1, true));
    assert_eq!(propose(&IDLE, &with(PACE.idle_rest_bounds_s.1)), None);
    assert_eq!(propose(&IDLE, &with(5000)), None, "beyond the bounds by another's hand: left alone");
    assert_eq!(propose(&Evidence { idle: 11, ..IDLE }, &PACE), None);
    assert_eq!(propose(&Evidence { wakes: 14, ..IDLE }, &PACE), None);

    let busy = Evidence { idle: 1, eventful: 14, ..IDLE };
    let shorter = propose(&busy, &with(90)).unwrap();
    assert_eq!((shorter.to, shorter.more), (60, false));
    assert!(shorter.why.contains("14 of the last 15 wakes brought something"), "{}", shorter.why);
    assert_eq!(propose(&busy, &with(60)), None, "it is not long");

    let refused = Evidence { failed_looks: 6, failing_s: 7200, idle: 0, ..IDLE };
    let wait = propose(&refused, &PACE).unwrap();
    assert_eq!(
        (wait.name.as_str(), wait.from, wait.to, wait.before_s),
        ("SOURCE_BACKOFF_S", 900, 1350, 1200)
    );
    assert!(wait.why.contains("6 looks at sources failed within 2 h"), "{}", wait.why);
    let most = Pace { source_backoff_s: PACE.source_backoff_bounds_s.1, ..PACE };
    assert_eq!(propose(&refused, &most), None);
}

/// An idle wake leaves no record: what is counted stands in the state.
#[test]
fn a_wake_is_idle_without_calls_and_eventful_with_a_note_among_them() {
    let mut world = World::kept();
    world.wake();
    world.moment.checklist = "- [ ] note a thing\n".to_owned();
    world.wake();
    world.wake();
    world.reborn(PACE);
    world.wake();
    let seen = State::read(&world.house.instinct()).change.wakes;
    let seen: Vec<(u64, bool, bool)> =
        seen.iter().map(|wake| (wake.life, wake.idle, wake.eventful)).collect();
    assert_eq!(seen, [(1, true, false), (1, false, true), (1, true, false), (2, true, false)]);
}
