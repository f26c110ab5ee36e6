//! What the owner asked for: what it waits for, and when it counts as stuck.

use agenda::requests::{RequestChange, Wait};
use agenda::{Agenda, Change, Rules, When};
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

fn at(minute: i64) -> Timestamp {
    let began: Timestamp = "2026-05-28T12:00:00Z".parse().unwrap();
    began.checked_add(SignedDuration::from_mins(minute)).unwrap()
}

fn tell(agenda: &mut Agenda, minute: i64, change: RequestChange) -> Value {
    let rules = Rules::default();
    let when = When { now: at(minute), thread: "main", owner: true, rules: &rules };
    agenda.apply(&Change::Request(change), when).unwrap()
}

#[test]
fn a_wait_for_a_job_is_over_when_the_job_is() {
    let wait = |what: &str| Wait::new(what, None, at(0));
    for what in ["job-3-12", "the end of job-3-12.", "job 3-12"] {
        let wait = wait(what);
        assert!(!wait.owner, "{what} is no word of the owner's");
        assert!(wait.is_for("job-3-12 ended well after 4 s: repo.run"), "{what}");
        assert!(!wait.is_for("job-3-1 ended") && !wait.is_for("job-3-120 ended"), "{what}");
    }
    assert!(wait("session-4-").is_for("Sub-session session-4 is done"));
    assert!(wait("the post").owner);
}

/// Wakes that each end with this wait, so many minutes apart; how many of them find the request stuck.
fn stuck(wait: impl Fn(i64) -> Option<Wait>, apart: i64) -> usize {
    let mut agenda = Agenda::default();
    tell(&mut agenda, 0, RequestChange::Heard { text: "mend it".into(), tools: vec![], word: "1".into() });
    let wake = |nth: i64| {
        let now = nth * apart;
        let answered =
            RequestChange::Answered { done: Some(false), id: None, said: "I wait".into(), wait: wait(now) };
        tell(&mut agenda, now, answered);
        let rested =
            RequestChange::Rested { since: at(now), next: String::new(), until: None, progress: false };
        let stuck = tell(&mut agenda, now, rested)["stuck"] != json!([]);
        tell(&mut agenda, now, RequestChange::Taken { id: "request-1".into() });
        stuck
    };
    (0..6).map(wake).filter(|stuck| *stuck).count()
}

#[test]
fn a_request_that_waits_for_a_thing_or_for_an_hour_is_not_stuck_however_often_it_does() {
    let until = |minutes: i64| move |now: i64| Some(Wait::new("the post", Some(at(now + minutes)), at(now)));
    assert_eq!(stuck(|now| Some(Wait::new("session-7", None, at(now))), 10), 0);
    assert_eq!(stuck(until(24 * 60), 24 * 60), 0, "a look a day");
    assert_eq!(stuck(until(60), 60), 0);
    assert!(stuck(until(2), 2) > 0, "a thought every two minutes");
    assert!(stuck(|_| None, 10) > 0);
}

/// Found: a mind that rested a second each time was asked sixty times a minute, and each of those minutes counted as one wake.
#[test]
fn a_mind_that_rests_a_second_and_does_nothing_is_told_stuck_after_few_thoughts() {
    let (mut agenda, rules) = (Agenda::default(), Rules::default());
    tell(&mut agenda, 0, RequestChange::Heard { text: "mend it".into(), tools: vec![], word: "1".into() });
    let mut now = at(0);
    let stuck_after = (1..200).find(|_| {
        now = now.checked_add(SignedDuration::from_secs(1)).unwrap();
        now = now.max(agenda.requests.open().next().unwrap().ready_at());
        let until = now.checked_add(SignedDuration::from_secs(1)).ok();
        let rested = RequestChange::Rested { since: now, next: "rest".into(), until, progress: false };
        let when = When { now, thread: "main", owner: true, rules: &rules };
        agenda.apply(&Change::Request(rested), when).unwrap()["stuck"] != json!([])
    });
    assert!(stuck_after.is_some_and(|thoughts| (3..=6).contains(&thoughts)), "{stuck_after:?}");
    assert!(now <= at(4), "{now}");
}

/// Found by reading: what was to wait for a day, or to rest for minutes, did so until the clock came to where it had been.
#[test]
fn after_a_clock_that_was_set_back_a_request_waits_for_a_day_at_most() {
    const YEAR: i64 = 365 * 24 * 60;
    let heard = || RequestChange::Heard { text: "mend it".into(), tools: vec![], word: "1".into() };
    let ready_after = |agenda: &mut Agenda, minute: i64| {
        assert!(agenda.set_back(&Rules::default(), at(minute)));
        agenda.requests.open().next().unwrap().ready_at().duration_since(at(minute)).as_hours()
    };
    let mut agenda = Agenda::default();
    tell(&mut agenda, YEAR, heard());
    let wait = Some(Wait::new("job-1-1", None, at(YEAR)));
    let answered = RequestChange::Answered { done: Some(false), id: None, said: "I wait".into(), wait };
    tell(&mut agenda, YEAR, answered);
    assert_eq!(ready_after(&mut agenda, 0), 24, "a wait");

    let mut agenda = Agenda::default();
    tell(&mut agenda, 0, heard());
    tell(&mut agenda, 0, RequestChange::Taken { id: "request-1".into() });
    let until = Some(at(YEAR + 5));
    let rested = RequestChange::Rested { since: at(0), next: String::new(), until, progress: true };
    tell(&mut agenda, YEAR, rested);
    assert_eq!(ready_after(&mut agenda, 1), 24, "a rest that began when the clock was wrong already");
}
