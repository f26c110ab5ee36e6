//! Repeats as data: three times the same warns, a fourth is not made; progress and time forgive.

use agenda::repeat::Repeats;
use jiff::{SignedDuration, Timestamp};

fn at(minute: i64) -> Timestamp {
    Timestamp::UNIX_EPOCH.checked_add(SignedDuration::from_mins(minute)).unwrap()
}

#[test]
fn the_third_warns_and_the_fourth_is_blocked() {
    let mut repeats = Repeats::default();
    for (minute, warns) in [(0, false), (1, false), (2, true)] {
        assert!(repeats.blocked("look", at(minute)).is_none());
        // Other calls in between hide nothing.
        repeats.note("other", &minute.to_string(), false, at(minute));
        assert_eq!(repeats.note("look", "nothing", false, at(minute)).is_some(), warns, "{minute}");
    }
    assert!(repeats.blocked("look", at(3)).is_some());
    assert!(repeats.blocked("look closer", at(3)).is_none());
    assert!(repeats.blocked("look", at(2 + 60)).is_none(), "an hour later it may be tried again");
}

#[test]
fn another_result_and_a_changed_house_begin_anew() {
    let mut repeats = Repeats::default();
    for minute in 0..9 {
        assert!(repeats.note("clock", &minute.to_string(), false, at(minute)).is_none());
    }
    for round in 0..9 {
        assert!(repeats.blocked("build", at(round)).is_none(), "{round}");
        assert!(repeats.note("build", "ok", false, at(round)).is_none());
        repeats.note(&format!("edit {round}"), "ok", true, at(round));
    }
    // The same change over and over is none.
    for round in 10..13 {
        repeats.note("edit", "ok", true, at(round));
    }
    assert!(repeats.blocked("edit", at(13)).is_some());
}

#[test]
fn it_is_bounded_and_remembers_what_is_repeated() {
    let mut repeats = Repeats::default();
    for call in 0..10_000 {
        repeats.note(&call.to_string(), "x", false, at(0));
    }
    for _ in 0..3 {
        repeats.note("loop", "x", false, at(0));
    }
    assert!(repeats.blocked("loop", at(0)).is_some());
    assert!(repeats.blocked("5", at(0)).is_none());
}
