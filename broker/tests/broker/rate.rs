//! The rate as data: what time fills, what calls empty, days of every length, clocks that jump; and weeks of greedy calls.

use broker::ground::caps::Cost;
use broker::ground::clock::Clock;
use broker::ground::rate::{Bucket, Rate};
use broker::ground::waking::{self, Waking};
use broker::ledger::{Entry, Ledger};
use broker::money::budget::Budget;
use broker::policy;
use house::House;
use serde_json::Value;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

const MINUTE_MS: i64 = 60_000;
const HOUR_MS: i64 = 60 * MINUTE_MS;
const DAY_MS: i64 = 24 * HOUR_MS;
/// 2026-11-25 12:00 UTC, a Wednesday.
const NOON_MS: i64 = 1_795_608_000_000;
/// A dollar.
const USD: u64 = 1_000_000;

fn rate(per_day: u64, hours: &str, zone: &str) -> Rate {
    waking::judge(hours).unwrap();
    Rate { per_day, waking: Waking::new(hours, zone) }
}

fn ms(time: &str) -> i64 {
    time.parse::<jiff::Timestamp>().unwrap().as_millisecond()
}

/// What a span fills in, seen on a debt so deep that the bucket is never full.
fn filled(rate: &Rate, from: &str, to: &str) -> i64 {
    let debt = Bucket { at_ms: ms(from), level: -1_000_000_000 };
    rate.at(debt, ms(to)).level + 1_000_000_000
}

#[test]
fn a_day_brings_its_money_however_long_it_is() {
    for (hours, zone, from, to) in [
        ("", "", "2026-11-25T00:00:00Z", "2026-11-26T00:00:00Z"),
        // In Berlin the clocks go forward on 29 March, and back on 25 October.
        ("", "Europe/Berlin", "2026-03-28T23:00:00Z", "2026-03-29T22:00:00Z"),
        ("", "Europe/Berlin", "2026-10-24T22:00:00Z", "2026-10-25T23:00:00Z"),
        ("08:00-23:00", "Europe/Berlin", "2026-11-25T07:00:00Z", "2026-11-25T22:00:00Z"),
        ("00:00-06:00", "Europe/Berlin", "2026-03-28T23:00:00Z", "2026-03-29T04:00:00Z"),
        ("20:00-02:00", "Europe/Berlin", "2026-11-25T19:00:00Z", "2026-11-26T01:00:00Z"),
        // 02:00 comes twice in the first night, and not at all in the second.
        ("20:00-02:00", "Europe/Berlin", "2026-10-24T18:00:00Z", "2026-10-25T00:00:00Z"),
        ("20:00-02:30", "Europe/Berlin", "2026-03-28T19:00:00Z", "2026-03-29T01:30:00Z"),
        ("08:00-24:00", "", "2026-11-25T08:00:00Z", "2026-11-26T00:00:00Z"),
        ("22:00-07:00", "America/St_Johns", "2026-11-26T01:30:00Z", "2026-11-26T10:30:00Z"),
    ] {
        let rate = rate(USD, hours, zone);
        assert_eq!(filled(&rate, from, to), 1_000_000, "{hours} {zone} {from}");
        let half = format!("{from} - {to}");
        let middle = (ms(from) + ms(to)) / 2;
        assert_eq!(rate.at(Bucket { at_ms: ms(from), level: -1_000_000 }, middle).level, -500_000, "{half}");
        assert_eq!(rate.wakes_at(middle), None);
        assert_eq!(rate.turns_at(middle), Some(ms(to)), "{half}");
        if !hours.is_empty() {
            assert_eq!(rate.wakes_at(ms(from) - 1), Some(ms(from)), "{half}");
            assert!(rate.wakes_at(ms(to)).is_some_and(|at| at > ms(to)), "{half}");
            assert_eq!((rate.per_hour(ms(to)), rate.per_hour(ms(from) - 1)), (0, 0), "{half}");
        }
    }
    // Weeks bring as much as their days, with the nights between.
    let weeks =
        filled(&rate(USD, "20:00-02:00", "Europe/Berlin"), "2026-10-18T12:00:00Z", "2026-11-01T12:00:00Z");
    assert_eq!(weeks, 14_000_000);
    assert_eq!(rate(24 * USD, "", "").per_hour(NOON_MS), USD);
    // A day whose waking hours a change of the clocks leaves out brings nothing.
    let gone = rate(USD, "02:00-03:00", "Europe/Berlin");
    assert_eq!(filled(&gone, "2026-03-28T12:00:00Z", "2026-03-29T12:00:00Z"), 0);
}

#[test]
fn waking_hours_are_two_times_of_day() {
    for good in ["", "08:00-23:00", "20:00-02:00", "00:00-24:00", " 08:30 - 12:45 "] {
        assert_eq!(waking::judge(good), Ok(()), "{good}");
    }
    for bad in [
        "8-23",
        "08:00",
        "08:00-25:00",
        "24:00-08:00",
        "08:60-09:00",
        "08:00-08:00",
        "a:00-b:00",
        "+8:00-09:00",
    ] {
        assert!(waking::judge(bad).is_err(), "{bad}");
    }
    assert!(Waking::new("00:00-24:00", "").is_all_day() && Waking::new("", "Nowhere/Here").is_all_day());
    assert_eq!(Waking::new("08:00-24:00", "").told(), "08:00-24:00");
}

/// What is shown as the moment there is room is the first one, found here by looking at every minute.
#[test]
fn room_comes_when_it_is_said_to() {
    for hours in ["", "08:00-23:00", "20:00-02:00", "23:30-23:50"] {
        let rate = rate(USD, hours, "Europe/Berlin");
        for level in [200_000, 150_000, 10_000, -1, -70_000, -1_900_000] {
            for likely in [1, 20_000, 199_999, 200_000, 5_000_000] {
                let bucket = Bucket { at_ms: NOON_MS, level };
                let room_at = rate.room_at(bucket, likely).unwrap();
                assert!(rate.may(bucket, room_at, likely, 0).is_ok(), "{hours} {level} {likely}");
                assert!(
                    room_at == NOON_MS || rate.may(bucket, room_at - 1, likely, 0).is_err(),
                    "{hours} {level}"
                );
                let early = (0..).map(|minute| NOON_MS + minute * MINUTE_MS).take_while(|at| *at < room_at);
                assert!(
                    early.into_iter().all(|at| rate.may(bucket, at, likely, 0).is_err()),
                    "{hours} {level}"
                );
                // Shown later it is the same.
                let later = rate.may(bucket, NOON_MS, likely, 0).err();
                assert!(later.is_none_or(|short| short.room_at_ms == Some(room_at)));
            }
        }
    }
}

#[test]
fn a_call_dearer_than_the_bucket_passes_a_full_one_alone() {
    let rate = rate(USD, "", "");
    let full = rate.full(NOON_MS);
    assert_eq!(full.level, 200_000);
    assert!(rate.may(full, NOON_MS, 900_000, 0).is_ok());
    let beside = rate.may(full, NOON_MS, 900_000, 1).unwrap_err();
    assert!(beside.waits, "what is under way is not counted twice, and not forgotten");
    assert!(rate.may(full, NOON_MS, 100_000, 100_000).is_ok());
    assert!(rate.may(full, NOON_MS, 100_000, 100_001).unwrap_err().waits);
    // What it cost is paid by time.
    let debt = rate.spent(full, NOON_MS, 900_000);
    assert_eq!(debt.level, -700_000);
    let short = rate.may(debt, NOON_MS, 20_000, 0).unwrap_err();
    assert_eq!((short.level, short.waits), (-700_000, false));
    assert_eq!(short.room_at_ms, Some(NOON_MS + 720_000 * DAY_MS / 1_000_000));
    let given_nothing = Rate { per_day: 0, ..rate };
    let never = given_nothing.may(given_nothing.full(NOON_MS), NOON_MS, 1, 0).unwrap_err();
    assert_eq!((never.room_at_ms, never.waits), (None, false));
}

#[test]
fn a_clock_that_jumps_neither_fills_the_bucket_nor_empties_it_for_long() {
    let rate = rate(USD, "", "");
    let spent = rate.spent(rate.full(NOON_MS), NOON_MS, 200_000);
    // Ahead and back again: what was spent there is a debt here.
    let ahead = rate.spent(spent, NOON_MS + 400 * DAY_MS, 200_000);
    assert_eq!(ahead.level, 0);
    assert_eq!(rate.at(ahead, NOON_MS + MINUTE_MS).level, -200_000);
    assert_eq!(rate.at(rate.at(ahead, NOON_MS), NOON_MS + DAY_MS).level, 200_000, "and paid within a day");
    // Unspent: back where it was.
    assert_eq!(rate.at(rate.at(spent, NOON_MS + HOUR_MS), NOON_MS).level, 0);
    // Back and forth by seconds.
    let mut bucket = spent;
    for step in 0..1_000 {
        bucket = rate.at(bucket, NOON_MS + [0, 30_000][step % 2]);
    }
    assert!(bucket.level <= 347, "{bucket:?}");
    // Years back and years ahead.
    for years in [-30, 30] {
        let there = rate.at(spent, NOON_MS + years * 365 * DAY_MS);
        assert!((-200_000..=200_000).contains(&there.level), "{there:?}");
        assert_eq!(rate.at(there, there.at_ms + 2 * DAY_MS).level, 200_000);
    }
}

struct Place {
    _folder: tempfile::TempDir,
    house: House,
    clock: Clock,
    told: Arc<AtomicI64>,
    rate: Rate,
}

impl Place {
    fn new(rate: Rate) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (clock, told) = Clock::told(NOON_MS);
        let house = House::new(folder.path());
        std::fs::create_dir_all(house.broker()).unwrap();
        Self { _folder: folder, house, clock, told, rate }
    }

    /// The caps are wide, and a ledger of some lines is moved aside.
    fn open(&self) -> Budget {
        self.open_with_ledger().0
    }

    fn open_with_ledger(&self) -> (Budget, Ledger) {
        let policy = policy::Budget {
            daily_usd: 1_000.0,
            weekly_usd: 7_000.0,
            autonomous_percent: 100.0,
            ..policy::Budget::default()
        };
        let ledger = Ledger::open_with(&self.house, self.clock.clone(), 20_000);
        let (clock, rate) = (self.clock.clone(), self.rate.clone());
        (Budget::new(&self.house, clock, ledger.clone(), &policy, rate, String::new()), ledger)
    }

    fn at(&self, ms: i64) {
        self.told.store(ms, Ordering::SeqCst);
    }
}

fn likely(micros: u64) -> Cost {
    Cost { most: micros * 10, likely: micros }
}

async fn spend(budget: &Budget, cost: Cost, actual: u64) -> Result<(), broker::ground::refusal::Refusal> {
    let reservation = budget.reserve(Entry::default(), false, cost).await?;
    reservation.settle(actual, Some(200), 1, "by usage");
    Ok(())
}

fn own(budget: &Budget) -> Value {
    budget.view()["autonomy"].clone()
}

/// Eight days of a client that asks every seven minutes, restarted and its ledger moved aside every few hours.
#[tokio::test]
async fn a_greedy_week_spends_no_more_than_its_rate_and_hardly_less() {
    const DEAREST: u64 = 45_000;
    for (hours, zone) in [("", ""), ("20:00-02:00", "Europe/Berlin")] {
        let place = Place::new(rate(USD, hours, zone));
        let start = NOON_MS;
        let (mut budget, mut ledger) = place.open_with_ledger();
        let (mut seed, mut spent, mut lowest, mut calls) = (7_u64, 0_i64, 0_i64, 0);
        let mut came_in = Bucket { at_ms: start, level: -1_000_000_000 };
        for step in 0..8 * 24 * 60 / 7 {
            let now = start + step * 7 * MINUTE_MS;
            place.at(now);
            if step % 31 == 30 {
                drop((budget, ledger));
                (budget, ledger) = place.open_with_ledger();
            }
            // Some cost half of what is likely, some three times as much.
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let actual = 7_500 + (seed >> 33) % (DEAREST - 7_500);
            match spend(&budget, likely(15_000), actual).await {
                Ok(()) => {
                    (spent, calls) = (spent + i64::try_from(actual).unwrap(), calls + 1);
                    // The line has its time once it is written: no clock runs so fast.
                    ledger.append(Entry::note("written")).await.unwrap();
                }
                Err(refusal) => assert!(refusal.message.starts_with("too soon"), "{refusal:?}"),
            }
            // Over every span so far, not only over all of it.
            came_in = place.rate.at(came_in, now);
            let above = spent - (came_in.level + 1_000_000_000);
            assert!(
                above - lowest <= 200_000 + i64::try_from(DEAREST).unwrap(),
                "{hours}, step {step}: {above}"
            );
            lowest = lowest.min(above);
        }
        let came_in = came_in.level + 1_000_000_000;
        eprintln!("{hours:?}: {calls} calls, {spent} spent of {came_in} that came in");
        assert!(spent > came_in * 95 / 100, "{hours}: {spent} of {came_in}");
        let moved = std::fs::read_dir(place.house.root().join(".self")).unwrap().flatten();
        let moved = moved.filter(|file| file.file_name().to_string_lossy().starts_with("ledger-")).count();
        assert!(moved > 3, "{moved} ledgers were moved aside");
    }
}

#[tokio::test]
async fn the_first_hour_of_a_house_may_use_a_fifth_of_its_day() {
    let place = Place::new(rate(USD, "08:00-23:00", ""));
    let budget = place.open();
    let mut spent = 0;
    for second in 0..3_600 {
        place.at(NOON_MS + second * 1_000);
        spent += u64::from(spend(&budget, likely(10_000), 10_000).await.is_ok()) * 10_000;
        if second == 30 {
            assert_eq!(spent, 200_000);
        }
    }
    // And what comes in meanwhile: a fifteenth.
    assert_eq!(spent, 260_000);
}

#[tokio::test]
async fn what_was_spent_outlives_a_restart_and_a_clock_that_jumps() {
    let place = Place::new(rate(USD, "", ""));
    let budget = place.open();
    spend(&budget, likely(200_000), 250_000).await.unwrap();
    drop(budget);
    let refused = |refusal: broker::ground::refusal::Refusal| (refusal.kind, refusal.retry_after_s);
    // 70,000 are missing: 6,048 seconds.
    let budget = place.open();
    assert_eq!(refused(spend(&budget, likely(20_000), 1).await.unwrap_err()), ("budget_cap", Some(3_600)));
    place.at(NOON_MS + 6_000_000);
    assert_eq!(refused(spend(&budget, likely(20_000), 1).await.unwrap_err()), ("budget_cap", Some(49)));
    drop(budget);
    for back in [HOUR_MS, 300 * DAY_MS] {
        place.at(NOON_MS - back);
        let budget = place.open();
        assert!(spend(&budget, likely(20_000), 1).await.is_err(), "{back}");
        drop(budget);
    }
    place.at(NOON_MS + 6_050_000);
    let budget = place.open();
    spend(&budget, likely(20_000), 20_000).await.unwrap();
    assert!(spend(&budget, likely(20_000), 20_000).await.is_err());
    // Another rate holds from then on, and gives nothing at once.
    drop(budget);
    let place = Place { rate: rate(10 * USD, "", ""), ..place };
    let budget = place.open();
    assert!(spend(&budget, likely(20_000), 20_000).await.is_err());
    place.at(NOON_MS + 6_050_000 + HOUR_MS);
    assert!(spend(&budget, likely(400_000), 20_000).await.is_ok());
}

#[tokio::test]
async fn the_owners_calls_and_free_ones_neither_ask_for_it_nor_use_it() {
    let place = Place::new(rate(USD, "", ""));
    let budget = place.open();
    std::fs::write(place.house.inbox(), "a word\n").unwrap();
    place.at(NOON_MS + 1_000);
    let budget = {
        // The first look ever opens nothing.
        let _ = budget.room(false);
        std::fs::write(place.house.inbox(), "a word\nand another\n").unwrap();
        budget
    };
    for _ in 0..20 {
        spend(&budget, likely(150_000), 150_000).await.unwrap();
    }
    let lowered = async |cost| {
        budget.reserve(Entry::default(), true, cost).await.map(|it| it.settle(200_000, None, 0, ""))
    };
    lowered(likely(200_000)).await.expect("the bucket is full still");
    assert!(lowered(likely(200_000)).await.is_err());
    spend(&budget, likely(150_000), 150_000).await.expect("the owner's need none");
    place.at(NOON_MS + DAY_MS / 2);
    let nothing = Cost::at_most(0);
    drop(budget);
    let empty = Place { rate: rate(0, "", ""), ..place };
    let budget = empty.open();
    spend(&budget, nothing, 0).await.expect("free");
    let refusal = spend(&budget, likely(1), 1).await.unwrap_err();
    assert!(refusal.message.contains("usd_per_day is 0"), "{refusal:?}");
    assert_eq!(
        (refusal.kind, refusal.retry_after_s, refusal.fits_tokens),
        ("budget_cap", Some(3_600), Some(0))
    );
    assert_eq!((&own(&budget)["room_at"], &own(&budget)["usd_per_hour"]), (&Value::Null, &Value::from(0.0)));
}

/// Each may pass by itself; together they must not.
#[tokio::test]
async fn calls_at_once_do_not_each_have_the_whole_bucket() {
    let place = Place::new(rate(USD, "", ""));
    let budget = place.open();
    let first = budget.reserve(Entry::default(), false, likely(900_000)).await.unwrap();
    for cost in [900_000, 150_000, 1_000] {
        let refusal = budget.reserve(Entry::default(), false, likely(cost)).await.err().unwrap();
        assert_eq!(refusal.retry_after_s, Some(30), "{refusal:?}");
    }
    first.settle(10_000, Some(200), 0, "by usage");
    let held = budget.reserve(Entry::default(), false, likely(100_000)).await.unwrap();
    assert!(budget.reserve(Entry::default(), false, likely(90_000)).await.is_ok());
    drop(held);
}
