//! Uses counted by the hour: some are written ahead, and no end of the broker at any moment lets more through.

use broker::ground::clock::Clock;
use broker::ground::hours::{Full, Hours};
use house::House;
use proptest::prelude::*;
use std::collections::VecDeque;
use std::sync::atomic::Ordering;

const HOUR_MS: i64 = 3_600_000;

proptest! {
    /// Whatever is taken when, between however many ends: never more than the owner's number in any hour.
    #[test]
    fn never_more_than_there_are_in_any_hour(most in 1_u32..200, steps in prop::collection::vec((0_i64..600_000, 0_u8..20, 1_usize..60), 1..60)) {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(folder.path().join(".self/broker")).unwrap();
        let house = House::new(folder.path());
        let (clock, told) = Clock::told(1_800_000_000_000);
        let mut hours = Hours::open(&house, clock.clone());
        let mut taken: VecDeque<i64> = VecDeque::new();
        for (pause, ends, times) in steps {
            let now = told.fetch_add(pause, Ordering::SeqCst) + pause;
            if ends == 0 {
                hours = Hours::open(&house, clock.clone());
            }
            for _ in 0..times {
                if hours.take("rule", most).is_ok() {
                    taken.push_back(now);
                }
            }
            taken.retain(|at| *at > now - HOUR_MS);
            prop_assert!(taken.len() <= most as usize, "{} of {most}", taken.len());
        }
    }
}

#[test]
fn uses_written_ahead_cost_a_sync_for_many_and_count_after_an_end() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(folder.path().join(".self/broker")).unwrap();
    let house = House::new(folder.path());
    let (clock, told) = Clock::told(1_800_000_000_000);
    let hours = Hours::open(&house, clock.clone());
    let lines = || std::fs::read_to_string(house.hours()).unwrap().lines().count();
    assert_eq!(hours.take("it", 160), Ok(159));
    assert_eq!(lines(), 10);
    assert_eq!((hours.take("it", 160), lines()), (Ok(158), 10));
    assert_eq!(hours.left("it", 160), 158, "what is written ahead is not used yet");
    let again = Hours::open(&house, clock.clone());
    assert_eq!(again.left("it", 160), 150, "after an end it is");
    // As of the last moment at which they could have been taken.
    told.fetch_add(HOUR_MS, Ordering::SeqCst);
    assert_eq!(Hours::open(&house, clock.clone()).left("it", 160), 150);
    told.fetch_add(60_000, Ordering::SeqCst);
    assert_eq!(Hours::open(&house, clock).left("it", 160), 160);
    // Few are counted one by one.
    assert_eq!(hours.take("rare", 1), Ok(0));
    assert!(matches!(hours.take("rare", 1), Err(Full::Wait(_))));
}
