//! Asks of the creature's own accord: what came of each is counted once, and a reason of little use is asked more rarely.

use agenda::reasons::ReasonChange::{self, Apart, Asked, Came, Left, Used};
use agenda::{Agenda, Change, Rules, When, waking};
use jiff::{SignedDuration, Timestamp};

fn at(minute: i64) -> Timestamp {
    let began: Timestamp = "2026-05-28T12:00:00Z".parse().unwrap();
    began.checked_add(SignedDuration::from_mins(minute)).unwrap()
}

fn tell(agenda: &mut Agenda, minute: i64, change: ReasonChange) {
    let rules = Rules::default();
    let when = When { now: at(minute), thread: "main", owner: false, rules: &rules };
    agenda.apply(&Change::Reason(change), when).unwrap();
}

fn asked(reason: &str) -> ReasonChange {
    Asked { reason: reason.to_owned() }
}

fn left(what: &str) -> ReasonChange {
    Left { what: what.to_owned(), ask: None }
}

fn used(what: &str) -> ReasonChange {
    Used { what: what.to_owned() }
}

#[test]
fn an_ask_counts_as_used_once_however_much_of_it_is() {
    let mut agenda = Agenda::default();
    for change in [
        asked("goal"),
        left("notes/a"),
        left("notes/b"),
        Came { ask: None },
        Came { ask: None },
        left("notes/c"),
        asked("gap"),
        left("notes/d"),
        left("notes/e"),
        used("notes/d"),
        used("notes/e"),
        used("notes/a"),
        used("never left"),
        asked("goal"),
    ] {
        tell(&mut agenda, 0, change);
    }
    assert_eq!(agenda.reasons.lines(), ["goal: 1 of 2 were used", "gap: 1 of 1 were used"]);
    assert!(
        agenda.reasons.summary().contains("asked 3 times unasked for, and 2 left something that was used")
    );
    assert_eq!(agenda.reasons.unused([None; 2]).count(), 0);
    assert_eq!(Agenda::default().reasons.summary(), "");
}

#[test]
fn what_ran_apart_counts_and_leaves_the_last_ask_as_it_is() {
    let mut agenda = Agenda::default();
    let apart = |used| Apart { reason: "pulse".to_owned(), used };
    tell(&mut agenda, 0, asked("goal"));
    for _ in 0..4 {
        tell(&mut agenda, 0, apart(false));
    }
    assert_eq!(agenda.reasons.due_at("pulse"), Some(at(10)));
    tell(&mut agenda, 0, left("notes/a"));
    tell(&mut agenda, 1, apart(true));
    assert_eq!(agenda.reasons.due_at("pulse"), None);
    tell(&mut agenda, 1, asked("gap"));
    tell(&mut agenda, 1, used("notes/a"));
    let lines = ["pulse: 1 of 5 were used", "gap: 0 of 1 were used", "goal: 1 of 1 were used"];
    assert_eq!(agenda.reasons.lines(), lines);
}

#[test]
fn what_the_last_ask_left_is_not_used_before_its_wake_is_over() {
    let mut agenda = Agenda::default();
    tell(&mut agenda, 0, asked("goal"));
    tell(&mut agenda, 0, left("notes/a"));
    assert_eq!(agenda.reasons.unused([Some(1), None]).count(), 0);
    assert_eq!(agenda.reasons.unused([None; 2]).collect::<Vec<_>>(), ["notes/a"]);
    tell(&mut agenda, 1, asked("gap"));
    assert_eq!(agenda.reasons.unused([Some(2), None]).collect::<Vec<_>>(), ["notes/a"]);
}

#[test]
fn a_reason_that_leaves_nothing_is_asked_ever_more_rarely_and_at_once_again_when_something_comes_of_it() {
    let mut agenda = Agenda::default();
    let mut pauses = Vec::new();
    for _ in 0..14 {
        tell(&mut agenda, 0, asked("gap"));
        let pause = agenda.reasons.due_at("gap").map(|due| due.duration_since(at(0)).as_secs());
        pauses.push(pause.unwrap_or(0));
    }
    assert_eq!(pauses[..7], [0, 0, 0, 600, 1_200, 2_400, 4_800]);
    assert_eq!(pauses[9..], [21_600; 5], "it is never given up");
    assert_eq!(agenda.reasons.due_at("goal"), None, "another reason");
    tell(&mut agenda, 0, left("notes/a"));
    tell(&mut agenda, 0, asked("goal"));
    tell(&mut agenda, 0, used("notes/a"));
    assert_eq!(agenda.reasons.due_at("gap"), None);
    // However many reasons and things there are, they are bounded.
    for number in 0..1_000 {
        tell(&mut agenda, 0, asked(&format!("reason {number}")));
        tell(&mut agenda, 0, left(&format!("notes/{number}")));
    }
    assert!(agenda.reasons.by_reason.len() <= 41 && agenda.reasons.left.len() <= 96);
}

#[test]
fn reasons_are_counted_by_their_kind_and_the_owners_are_not() {
    for (reason, kind) in [
        ("ready: goal-3 count the herons", Some("goal")),
        ("ready: item-0a1b2c map", Some("item")),
        ("ready: own-sources read what your sources say", Some("own")),
        ("ready: knowledge papers changed", Some("knowledge")),
        ("3 events wait", Some("events")),
        ("an event waits", Some("events")),
        ("due on the checklist: map; water", Some("checklist")),
        ("the checklist changed", Some("checklist")),
        ("unfinished: a draft since 12:00", Some("draft")),
        ("PURPOSE.md changed", Some("PURPOSE.md changed")),
        ("your owner's word waits", None),
        ("2 words of your owner's wait", None),
        ("your owner asked: request-1 mend it", None),
    ] {
        assert_eq!(waking::kind(reason), kind, "{reason}");
    }
}

#[test]
fn what_an_older_self_counted_by_kinds_of_looks_is_counted_as_own_time() {
    let kept = serde_json::json!({"reasons": {
        "asks": 9, "last": "own-goals",
        "by_reason": {
            "goal": {"asked": 1, "used": 1, "idle": 0},
            "own": {"asked": 2, "used": 0, "idle": 2, "last_at": at(1)},
            "own-goals": {"asked": 2, "used": 1, "idle": 1, "last_at": at(9)},
            "own-sources": {"asked": 4, "used": 0, "idle": 4, "last_at": at(5)},
        },
        "left": [{"what": "notes/a", "reason": "own-sources", "ask": 4}],
    }});
    let mut agenda: Agenda = serde_json::from_value(kept).unwrap();
    assert_eq!(agenda.reasons.lines(), ["own: 1 of 8 were used", "goal: 1 of 1 were used"]);
    let own = &agenda.reasons.by_reason["own"];
    assert_eq!((own.idle, own.last_at), (1, Some(at(9))));
    tell(&mut agenda, 10, used("notes/a"));
    tell(&mut agenda, 10, Came { ask: None });
    assert_eq!(agenda.reasons.line("own"), "own: 3 of 8 were used");
    let again: Agenda = serde_json::from_value(serde_json::to_value(&agenda).unwrap()).unwrap();
    assert_eq!(again.reasons, agenda.reasons);
}
