//! Taint: how long it lasts, what it outlives, and which recipients are known.

use crate::home::Home;
use broker::ground::clock::Clock;
use broker::ground::taint::{Taint, WINDOW_S};
use house::House;
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

const START_MS: i64 = 1_800_000_000_000;

fn house() -> (tempfile::TempDir, House, Clock, Arc<AtomicI64>) {
    let folder = tempfile::tempdir().unwrap();
    let house = House::new(folder.path());
    std::fs::create_dir_all(house.broker()).unwrap();
    let (clock, told) = Clock::told(START_MS);
    (folder, house, clock, told)
}

fn after(told: &AtomicI64, seconds: i64) {
    told.fetch_add(seconds * 1_000, Ordering::SeqCst);
}

#[test]
fn it_lasts_its_window_from_the_last_read() {
    let (_folder, house, clock, told) = house();
    let taint = Taint::open(&house, clock);
    assert!(!taint.is_tainted(1));
    taint.read_untrusted(1);
    after(&told, 800);
    taint.read_untrusted(1);
    after(&told, WINDOW_S - 1);
    assert!(taint.is_tainted(1));
    after(&told, 1);
    assert!(!taint.is_tainted(1));
}

#[test]
fn death_and_a_restart_do_not_wash_it_off() {
    let (_folder, house, clock, told) = house();
    Taint::open(&house, clock.clone()).read_untrusted(1);
    after(&told, 500);
    let restarted = Taint::open(&house, clock.clone());
    assert!(restarted.is_tainted(1) && restarted.is_tainted(2));
    after(&told, WINDOW_S);
    assert!(!Taint::open(&house, clock).is_tainted(2));
}

#[test]
fn the_file_is_never_behind_and_seldom_written() {
    let (_folder, house, clock, told) = house();
    let taint = Taint::open(&house, clock.clone());
    let mut writes = 0;
    let mut last = Vec::new();
    for _ in 0..600 {
        taint.try_read_untrusted(1).unwrap();
        let now = std::fs::read(house.taint()).unwrap();
        writes += usize::from(now != last);
        last = now;
        after(&told, 1);
    }
    assert!((5..=12).contains(&writes), "{writes}");
    after(&told, WINDOW_S - 2);
    assert!(taint.is_tainted(1) && Taint::open(&house, clock).is_tainted(1));
}

#[test]
fn damage_counts_as_tainted_and_a_clock_set_back_does_not_last() {
    let (_folder, house, clock, told) = house();
    std::fs::write(house.taint(), b"\0{").unwrap();
    let taint = Taint::open(&house, clock.clone());
    assert!(taint.is_tainted(1));
    after(&told, WINDOW_S + 1);
    assert!(!taint.is_tainted(1));
    taint.read_untrusted(1);
    after(&told, -86_400);
    assert!(taint.is_tainted(1));
    after(&told, WINDOW_S + 61);
    assert!(!taint.is_tainted(1), "a day's leap back is not a day of taint");
}

#[test]
fn a_read_that_cannot_be_written_down_is_an_error() {
    let (_folder, house, clock, _) = house();
    let taint = Taint::open(&house, clock);
    std::fs::remove_dir(house.broker()).unwrap();
    assert!(taint.try_read_untrusted(1).is_err());
    assert!(taint.is_tainted(1), "and tainted all the same");
}

#[test]
fn recipients_are_known_over_restarts() {
    let (_folder, house, clock, _) = house();
    let taint = Taint::open(&house, clock.clone());
    let long = "x".repeat(10_000);
    assert!(taint.is_new("x:@owner") && taint.is_new(&long));
    taint.know(" x:@owner ").unwrap();
    taint.know("x:@owner").unwrap();
    taint.know(&long).unwrap();
    let again = Taint::open(&house, clock);
    assert!(!again.is_new("x:@owner") && !again.is_new(&long) && again.is_new("x:@other"));
    let text = std::fs::read_to_string(house.recipients()).unwrap();
    assert_eq!(text.lines().count(), 2);
    assert!(text.len() < 400);
}

#[test]
fn the_list_is_bounded_and_mends_itself() {
    let (_folder, house, clock, _) = house();
    let mut lines = String::from("garbage\n\0\0\n");
    for number in 0..4_000 {
        lines += &format!("{{\"at\":\"2026-01-01T00:00:00Z\",\"recipient\":\"r{number}\"}}\n");
    }
    std::fs::write(house.recipients(), lines).unwrap();
    let taint = Taint::open(&house, clock.clone());
    assert!(!taint.is_new("r0") && !taint.is_new("r3999"));
    taint.know("one more").unwrap();
    for taint in [taint, Taint::open(&house, clock)] {
        assert!(taint.is_new("r0") && !taint.is_new("r3999") && !taint.is_new("one more"));
    }
    assert_eq!(std::fs::read_to_string(house.recipients()).unwrap().lines().count(), 2_001);
}

/// A skill of the creature's own may say what others wrote: it says so before it reads one.
#[tokio::test]
async fn the_creature_may_taint_itself_and_nobody_else_may() {
    let home = Home::new("");
    let open = home.open().await;
    assert_eq!(open.get("/status").await["tainted"], false);
    let refused =
        crate::home::client().post(format!("{}/taint", open.url)).json(&json!({})).send().await.unwrap();
    assert_eq!((refused.status().as_u16(), &open.get("/status").await["tainted"]), (401, &json!(false)));
    assert_eq!(open.post("/taint", json!({})).await, (200, json!({"ok": true})));
    assert_eq!(open.get("/status").await["tainted"], true);
    assert!(std::fs::read_to_string(home.path(".self/broker/taint.json")).unwrap().contains("until_s"));
}
