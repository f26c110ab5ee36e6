//! A rest is what it says: what was made, seen or noted before it ends it no sooner, and its result tells when.

use crate::broker::loopback;
use crate::faithful::{Rules, Say, Seen, Wire};
use crate::lived::Lived;
use crate::probation::sight::world::{NATIVE, World};
use serde_json::json;
use std::time::Duration;

const BEGAN: &str = "2026-05-28T12:00:00Z";

fn world(mind: impl FnMut(&Seen) -> Say + Send + 'static) -> World {
    let world = World::new(Wire::Anthropic, Rules::default(), NATIVE, mind);
    let toml = std::fs::read_to_string(world.house.path("owner.toml")).unwrap();
    world.house.owner(&toml.replace("longest_s = 300", "longest_s = 3600"));
    world
}

/// Lets a life go on for so many seconds; how often its model was asked.
async fn passes(world: &World, lived: &mut Lived, seconds: u64) -> usize {
    let before = world.server.seen().len();
    let mut left = Duration::from_secs(seconds);
    while !left.is_zero() {
        let rest = lived.stay().await;
        lived.pass(rest.min(left));
        left = left.saturating_sub(rest);
    }
    world.server.seen().len() - before
}

#[tokio::test]
async fn neither_a_goal_made_before_a_rest_nor_a_reminder_in_it_brings_a_thought() {
    loopback!();
    let world = world(|seen| match seen.thoughts() {
        0 => Say::new()
            .says("I plan.")
            .calls("goal.add", json!({"title": "count the herons"}))
            .calls("reminder.add", json!({"text": "tea", "when": "in 2 min"}))
            .calls("rest", json!({"sleep_s": 3_600})),
        _ => Say::new().rests(3_600),
    });
    let mut lived = Lived::born(&world.house, BEGAN, 1).await;
    assert_eq!(passes(&world, &mut lived, 3_590).await, 1, "the rest was not kept");
    world.house.record("message", |data| data["kind"] == "reminder");
    assert_eq!(passes(&world, &mut lived, 30).await, 1, "it goes on after its rest");
}

#[tokio::test]
async fn a_rest_chosen_in_a_wake_for_the_owner_is_kept_and_a_word_within_a_rest_does_not_end_it() {
    loopback!();
    let world = world(|seen| match seen.last_results().pop() {
        _ if seen.last_said().contains("what is the time") => Say::new().says("Noon."),
        Some((name, _)) if name.contains("owner") => Say::new().says("").rests(1_800),
        _ if seen.last_said().contains("count the herons") => Say::new()
            .says("I note it.")
            .calls("goal.add", json!({"title": "count the herons"}))
            .calls("owner.message", json!({"text": "It is a goal now."})),
        _ => Say::new().rests(1_800),
    });
    world.house.say(&json!({"at": BEGAN, "text": "make a goal of it: count the herons"}).to_string());
    let mut lived = Lived::born(&world.house, BEGAN, 1).await;
    assert_eq!(passes(&world, &mut lived, 1_700).await, 2, "an answer and a rest");
    world.house.say(r#"{"at": "2026-05-28T12:28:20Z", "text": "what is the time?"}"#);
    assert_eq!(passes(&world, &mut lived, 60).await, 1, "the word is answered, and the rest goes on");
    assert!(passes(&world, &mut lived, 120).await > 0, "then its goal is next");
}

#[tokio::test]
async fn the_result_of_a_rest_tells_when_it_will_wake_and_for_what() {
    loopback!();
    let world = world(|seen| match seen.thoughts() {
        0 => Say::new()
            .says("I plan.")
            .calls("task.add", json!({"text": "look at the kettle", "in_s": 1_200}))
            .calls("rest", json!({"sleep_s": 90_000})),
        _ => Say::new().rests(3_600),
    });
    let mut lived = Lived::born(&world.house, BEGAN, 1).await;
    assert_eq!(passes(&world, &mut lived, 1_190).await, 1);
    assert_eq!(passes(&world, &mut lived, 20).await, 1, "the task is due");
    let rested = world.house.record("action", |data| data["tool"] == "rest" && data["thought"] == 1);
    let result = rested.data["result"].to_string();
    assert!(result.contains("2026-05-28T12:20:00Z") && result.contains("look at the kettle"), "{result}");
    assert!(result.contains("1 to 3600 s"), "the bound in force: {result}");
}

#[tokio::test]
async fn a_goal_that_is_not_to_be_worked_on_before_a_time_waits_for_it() {
    loopback!();
    let world = world(|seen| match seen.thoughts() {
        0 => Say::new()
            .says("I plan.")
            .calls("goal.add", json!({"title": "water the ferns", "not_before": "2026-05-28T14:00"}))
            .calls("rest", json!({"sleep_s": 60})),
        _ => Say::new().rests(600),
    });
    let mut lived = Lived::born(&world.house, BEGAN, 1).await;
    assert_eq!(passes(&world, &mut lived, 7_190).await, 1);
    assert_eq!(passes(&world, &mut lived, 20).await, 1, "its time has come");
}
