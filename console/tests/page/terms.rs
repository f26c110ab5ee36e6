//! The creature's own terms are said as its owner would.

use console::plain::{fate, kind, reason, reasons, version, words};
use serde_json::json;

#[test]
fn a_reason_is_said_plainly() {
    for (why, told) in [
        ("your owner's word waits", "your message"),
        ("2 words of your owner's wait", "2 messages of yours"),
        ("your owner asked: request-7 the roses", "your request: request-7 the roses"),
        ("ready: request-7 water the roses", "your request: water the roses"),
        ("ready: directive-6 be quiet", "your order: be quiet"),
        ("ready: goal-3 herons", "a goal: herons"),
        ("ready: own-sources look what is new", "an idea of its own: look what is new"),
        ("3 events wait", "3 new events"),
        ("an event waits", "something new"),
        ("due on the checklist: cook", "the checklist: cook"),
        ("unfinished: a draft of pace.rs", "a self-edit it has begun: a draft of pace.rs"),
        ("a reason nobody knows", "a reason nobody knows"),
    ] {
        assert_eq!(reason(why), told);
    }
    assert_eq!(reasons(&["your owner's word waits", "3 events wait"]), "your message; 3 new events");
}

#[test]
fn an_id_is_told_by_what_it_is() {
    assert_eq!((kind("directive-6"), kind("request-12")), (Some("your order"), Some("your request")));
    for none in ["directive", "directive-", "directive-x", "life-3", "x-directive-6", ""] {
        assert_eq!(kind(none), None, "{none}");
    }
    assert_eq!(words("thinks on: your owner's word waits"), "thinks on: your message");
    assert_eq!(words("next 18:00 reminder-5, then goal-3."), "next 18:00 a reminder, then a goal.");
    assert_eq!(words("version-7 of life-3 stays"), "version-7 of life-3 stays");
}

#[test]
fn what_the_guardian_says_of_a_version_is_said_plainly() {
    assert_eq!(fate("blessed 0c0470f"), "0c0470f has proved itself");
    assert_eq!(fate("blessed at 10:00:00"), "proved itself at 10:00:00");
    assert_eq!(fate("stands on the ladder as rung 4"), "kept to go back to, no. 4");
    assert_eq!(fate("lives 3 to 5"), "lives 3 to 5");
}

#[test]
fn a_version_says_whether_it_is_proved_and_sandboxed() {
    let told = |phase: &str, walls: &str| {
        version(&json!({"commit": "0c0470fabc", "phase": phase, "walls": walls})).unwrap()
    };
    assert_eq!(told("settled", "full"), "version 0c0470f · sandbox on");
    assert_eq!(told("probation", "full"), "version 0c0470f, on probation · sandbox on");
    assert_eq!(told("settled", "partial: no network"), "version 0c0470f · sandbox on in part");
    assert_eq!(told("settled", "off"), "version 0c0470f · sandbox off");
    assert_eq!(version(&json!({"phase": "settled"})), None);
}

#[test]
fn a_time_is_told_by_how_long_ago_it_was() {
    let now: jiff::Timestamp = "2026-03-10T12:00:00Z".parse().unwrap();
    let told = |seconds: i64| {
        let then = jiff::Timestamp::from_second(now.as_second() - seconds).unwrap();
        house::moments::since_then(then, now)
    };
    let near =
        [(0, "now"), (12, "12 s ago"), (300, "5 min ago"), (3 * 3_600, "3 h ago"), (-600, "in 10 min")];
    near.into_iter().for_each(|(seconds, ago)| assert_eq!(told(seconds), ago));
    // Farther back the owner's own clock says it, whatever that is here.
    assert!(told(86_400).starts_with("yesterday "), "{}", told(86_400));
    assert!(told(7 * 86_400).contains("Mar "), "{}", told(7 * 86_400));
    assert!(told(400 * 86_400).ends_with(" 2025"), "{}", told(400 * 86_400));
}
