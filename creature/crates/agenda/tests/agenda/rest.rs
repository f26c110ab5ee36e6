//! Rests as data: the situation's own, the thought's within bounds, and never past what comes due.

use agenda::rest::{Bounds, Situation, cut};
use jiff::{SignedDuration, Timestamp};
use proptest::prelude::*;
use std::time::Duration;

const BOUNDS: Bounds = Bounds { shortest_s: 2, longest_s: 300, chosen_s: 300, quiet_s: 1_800 };

#[test]
fn each_situation_has_its_rest() {
    let rest_s = |situation: Situation, said: Option<u64>| situation.rest_s(said, BOUNDS);
    for (situation, said, wanted_s) in [
        (Situation::Checkpoint, None, 60),
        (Situation::Lead, None, 120),
        (Situation::Normal, None, 300),
        (Situation::Quiet(0), None, 900),
        (Situation::Quiet(1), None, 1_200),
        (Situation::Quiet(3), None, 1_800),
        (Situation::Quiet(u64::MAX), None, 1_800),
        (Situation::Poor, None, 3_600),
        (Situation::Poor, Some(5), 3_600),
        (Situation::Checkpoint, Some(1), 2),
        (Situation::Normal, Some(45), 45),
        (Situation::Quiet(4), Some(9_000), 300),
    ] {
        assert_eq!(rest_s(situation, said), wanted_s, "{situation:?} {said:?}");
    }
    let short = Bounds { shortest_s: 1, longest_s: 5, chosen_s: 5, quiet_s: 30 };
    assert_eq!(Situation::Quiet(9).rest_s(None, short), 30);
    assert_eq!(Situation::Checkpoint.rest_s(None, short), 5);
}

proptest! {
    #[test]
    fn a_rest_ends_when_something_is_due_to_the_millisecond(rest_s in 1..4_000_u64, due_ms in -5_000_i64..8_000_000) {
        let now = "2026-03-29T00:59:59.500Z".parse::<Timestamp>().unwrap();
        let due = now.checked_add(SignedDuration::from_millis(due_ms)).unwrap();
        let rest = cut(rest_s, Some(due), now, BOUNDS);
        let whole = Duration::from_secs(rest_s);
        prop_assert!(rest <= whole && !rest.is_zero());
        match u64::try_from(due_ms) {
            Ok(wait_ms) if wait_ms > 0 => prop_assert_eq!(rest, whole.min(Duration::from_millis(wait_ms))),
            _ => prop_assert_eq!(rest, whole.min(Duration::from_secs(2))),
        }
        prop_assert_eq!(cut(rest_s, None, now, BOUNDS), whole);
    }
}
