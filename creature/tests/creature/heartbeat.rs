//! The heartbeat: beats within a stage, falls silent when it is overstayed.

use crate::house::wait_for;
use creature::heartbeat::{Heart, Stage};
use serde_json::Value;
use std::time::Duration;

/// The guardian reads 4,096 bytes of it: a model may have any name, and a life that is not understood is never blessed.
#[test]
fn a_mind_of_any_name_leaves_a_heartbeat_that_is_read() {
    let dir = tempfile::TempDir::new().unwrap();
    let path = dir.path().join("heartbeat");
    let heart = Heart::start(&path, 7, Duration::from_secs(60)).unwrap();
    heart.mind(&"\0".repeat(100_000));
    heart.stage(Stage::Thinking, Duration::from_secs(60));
    let beat = || serde_json::from_slice::<Value>(&std::fs::read(&path).ok()?).ok();
    wait_for("its beat", || beat().filter(|beat| beat["stage"] == "thinking"));
    assert!(std::fs::metadata(&path).unwrap().len() < 4_096);
}

#[test]
fn a_heartbeat_that_cannot_be_written_harms_nothing() {
    let dir = tempfile::TempDir::new().unwrap();
    let heart = Heart::start(dir.path(), 1, Duration::from_secs(60)).unwrap();
    heart.stage(Stage::Thinking, Duration::from_secs(60));
    drop(heart);
}

mod probation {
    use super::*;

    #[test]
    fn it_beats_in_time_and_falls_silent_past_it() {
        let dir = tempfile::TempDir::new().unwrap();
        let path = dir.path().join("heartbeat");
        let beat = || -> Option<Value> { serde_json::from_slice(&std::fs::read(&path).ok()?).ok() };
        let heart = Heart::start(&path, 7, Duration::from_secs(60)).unwrap();
        let first = wait_for("the first beat", beat);
        assert_eq!((&first["life"], &first["stage"]), (&Value::from(7), &Value::from("waking")));
        assert!(first["until"].as_str().unwrap().parse::<jiff::Timestamp>().is_ok());
        heart.mind("a mind with a name much longer than the one that comes after it");
        heart.stage(Stage::Thinking, Duration::from_secs(60));
        wait_for("the next stage", || beat().filter(|beat| beat["stage"] == "thinking"));
        heart.mind("short");
        heart.odd(&"no such tool; ".repeat(100));
        heart.thought();
        heart.turn();
        heart.stage(Stage::Resting, Duration::from_millis(1));
        std::thread::sleep(Duration::from_millis(1_300));
        // A shorter line over a longer one would leave an end that is no JSON.
        assert_eq!(beat().unwrap()["stage"], "thinking", "it beat past its stage");
        heart.stage(Stage::Acting, Duration::from_secs(60));
        let back =
            wait_for("a beat of the loop that came back", || beat().filter(|beat| beat["stage"] == "acting"));
        assert_eq!(
            (&back["turns"], &back["thoughts"], &back["mind"]),
            (&1.into(), &1.into(), &"short".into())
        );
        assert_eq!(back["odd"].as_str().unwrap().chars().count(), 200);
        heart.stage(Stage::Leaving, Duration::from_secs(10));
        drop(heart);
        assert_eq!(beat().unwrap()["stage"], "leaving");
    }
}
