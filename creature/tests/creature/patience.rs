//! Patience with a mind that is down or babbles: what each failure is waited for, how that grows, and when it is told.

use creature::config::RestSettings;
use creature::mind::patience::{Patience, first_s};
use mind::{Down, Outcome, Why, llm};
use model::{Error, Kind};
use std::time::Duration;

/// A model that is down, and what it says; `asked_s` as it is heard in its answer.
fn fails(kind: Kind, said: &str, asked_s: Option<u64>) -> Outcome {
    let (message, retry_after) = (said.to_owned(), asked_s.map(Duration::from_secs));
    let (cause, hint) = (message.clone(), String::new());
    llm::failed(&Error {
        kind,
        message,
        cause,
        hint,
        status: None,
        retry_after,
        fits_tokens: None,
        affords: None,
        is_empty: false,
    })
}

fn down(kind: Kind, said: &str, asked_s: Option<u64>) -> Down {
    match fails(kind, said, asked_s) {
        Outcome::Down(down) => down,
        other => panic!("{other:?}"),
    }
}

/// The wait of a sub-session, and the first three of the life.
type Waits = (u64, [u64; 3]);

fn waits(down: &Down) -> Waits {
    let mut patience = Patience::default();
    (first_s(down.why, down.asked_s), std::array::from_fn(|_| patience.down(down).0))
}

#[test]
fn each_failure_has_its_first_wait_and_the_one_that_is_asked_for_is_obeyed() {
    let (minute, ten, hour): (Waits, Waits, Waits) =
        ((60, [60, 120, 240]), (600, [600, 1_200, 2_400]), (3_600, [3_600; 3]));
    let (seconds, long, day): (Waits, Waits, Waits) =
        ((10, [10, 20, 40]), (2_000, [2_000, 3_600, 3_600]), (80_000, [3_600; 3]));
    // A budget that says when it resets is asked again then, however often that was wrong.
    let reset = [(10, [10; 3]), (2_000, [2_000; 3]), hour];
    for (kind, why, usual, asked) in [
        (Kind::Withheld, Why::Budget, hour, reset),
        (Kind::Stopped, Why::Stopped, hour, [seconds, long, hour]),
        (Kind::UnknownLife, Why::UnknownLife, hour, [hour; 3]),
        (Kind::Refused, Why::Key, hour, [hour, hour, day]),
        (Kind::OutOfMoney, Why::Money, hour, [hour, hour, day]),
        (Kind::Settings, Why::Settings, hour, [hour, hour, day]),
        (Kind::BadRequest, Why::Unfit, ten, [ten, long, day]),
        (Kind::Signature, Why::Unfit, ten, [ten, long, day]),
        (Kind::TooLong, Why::Unfit, ten, [ten, long, day]),
        (Kind::Filtered, Why::Filtered, ten, [ten, long, day]),
        (Kind::Region, Why::Settings, hour, [hour, hour, day]),
        (Kind::Blocked, Why::Away, minute, [seconds, long, day]),
        (Kind::Busy, Why::Away, minute, [seconds, long, day]),
        (Kind::Unreachable, Why::Away, minute, [seconds, long, day]),
        (Kind::Deadline, Why::Away, minute, [seconds, long, day]),
    ] {
        let none = down(kind, "no", None);
        assert_eq!((none.why, waits(&none)), (why, usual), "{kind:?}");
        // Asked again a second later than what is told in whole seconds.
        for (asked_s, wanted) in [9, 1_999, 79_999].into_iter().zip(asked) {
            assert_eq!(waits(&down(kind, "no", Some(asked_s))), wanted, "{kind:?} {asked_s}");
        }
    }
    assert!(matches!(fails(Kind::Garbled, "no", None), Outcome::Garbled { .. }));
    assert_eq!(waits(&Down { why: Why::Unkept, ..Down::default() }), minute);
    assert_eq!(first_s(Why::Garbled, None), 5);
}

#[test]
fn rests_double_up_to_an_hour_and_honour_what_is_asked() {
    let (mut patience, busy) = (Patience::default(), down(Kind::Busy, "busy", None));
    let rests: Vec<u64> = (0..8).map(|_| patience.down(&busy).0).collect();
    assert_eq!(rests, [60, 120, 240, 480, 960, 1_920, 3_600, 3_600]);
    assert!(patience.over());
    assert_eq!(patience.down(&busy).0, 60);
    assert_eq!(patience.down(&down(Kind::Busy, "busy", Some(999))).0, 1_000);
    assert_eq!(patience.down(&down(Kind::Busy, "busy", Some(99_998))).0, 3_600);
}

#[test]
fn a_reason_is_told_when_it_changes_and_not_for_ever() {
    let mut patience = Patience::default();
    let mut tells = |said: &str| patience.down(&down(Kind::Busy, said, None)).1;
    assert!(tells("refused (401): request 17"));
    assert!(!tells("refused (401): request 18"));
    assert!(tells("unreachable"));
    let told = (0..50).filter(|n| tells(&"x".repeat(n + 1))).count();
    assert_eq!(told, 3);
    assert!(patience.over() && !patience.over());
}

#[test]
fn garbled_replies_cost_longer_and_longer_rests() {
    let mut patience = Patience::default();
    assert_eq!((patience.garbled(), patience.garbled(), patience.garbled()), (5, 10, 20));
    assert!((0..100).map(|_| patience.garbled()).max() < Some(5_000));
    assert!(!patience.over());
    assert_eq!(patience.garbled(), 5);
}

/// Tries in six hours of it, the first one counted, when each is followed by a rest.
fn tries(mut rest_s: impl FnMut() -> u64) -> usize {
    let mut now_s = 0;
    std::iter::from_fn(|| {
        let at = now_s;
        now_s += rest_s();
        (at < 6 * 3_600).then_some(at)
    })
    .count()
}

#[test]
fn hours_of_an_outage_cost_a_handful_of_calls() {
    let tries_of = |down: Down| {
        let mut patience = Patience::default();
        tries(|| patience.down(&down).0)
    };
    assert_eq!(tries_of(down(Kind::Refused, "the key is refused (401)", None)), 6);
    assert_eq!(tries_of(down(Kind::Busy, "busy (429)", Some(900))), 8);
    // Each of these is up to three calls: what may pass is asked twice more.
    assert_eq!(tries_of(down(Kind::Busy, "busy (529)", None)), 11);
    let (mut garbled, longest_s) = (Patience::default(), RestSettings::default().longest_s);
    assert_eq!(tries(|| garbled.garbled().min(longest_s)), 77);
}
