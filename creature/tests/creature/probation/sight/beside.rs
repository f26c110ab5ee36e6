//! While a long call of its own work runs, the owner is answered, reminders come, and a pause stops it.

use super::course::ways;
use super::world::{NATIVE, World};
use crate::broker::loopback;
use crate::faithful::{Say, Seen};
use crate::house::wait_for;
use agenda::reminder::{ReminderChange, Schedule};
use agenda::{Agenda, Change, Rules, When};
use serde_json::json;

/// Waits for a file before it ends.
const WAITS: &str = "touch .self/workspace/begun; while ! test -e .self/workspace/go; do sleep 0.05; done; echo the tide is $(cat .self/workspace/go)";

/// Of its own it runs one long command and tells what it said; asked, it answers from the question.
fn mind(seen: &Seen) -> Say {
    let (text, result) = (seen.all_text(), seen.last_results().pop());
    match result {
        Some((name, _)) if name.contains("owner") || name.contains("notes") => Say::new().rests(300),
        Some((name, said)) if name.contains("run") => {
            let tide = said
                .lines()
                .find_map(|line| line.split_once("the tide is "))
                .map_or("stopped", |(_, tide)| tide);
            Say::new()
                .says("It ended.")
                .calls("notes.append", json!({"name": "diary", "text": format!("tide: {tide}")}))
        }
        _ if text.contains("are you there") => {
            assert!(!text.contains("deadline_s"), "the owner's talk has the own work's calls in it");
            Say::new().says("Yes.").calls("owner.message", json!({"text": "I am, and busy"}))
        }
        _ if text.contains("answered:") => Say::new().rests(300),
        _ => Say::new().says("I measure.").calls("repo.run", json!({"command": WAITS, "deadline_s": 600})),
    }
}

fn noted(world: &World, text: &str) {
    let diary = || std::fs::read_to_string(world.house.path("self/diary.md")).unwrap_or_default();
    wait_for("the note", || diary().contains(text).then_some(()));
}

fn begun(world: &World) {
    wait_for("the command to run", || world.house.path(".self/workspace/begun").exists().then_some(()));
}

#[test]
fn the_owner_is_answered_while_a_long_call_runs_and_the_call_comes_to_its_end() {
    loopback!();
    for (wire, rules) in ways() {
        let world = World::new(wire, rules, NATIVE, mind);
        let living = world.house.live(1);
        begun(&world);
        world.house.say(r#"{"text": "are you there?"}"#);
        world.house.record("message", |data| data["text"] == "I am, and busy");
        assert!(
            !world
                .house
                .records()
                .iter()
                .any(|record| record.kind == "action" && record.data["tool"] == "repo.run"),
            "the answer waited for the call"
        );
        world.house.write(".self/workspace/go", "low");
        noted(&world, "tide: low");
        world.server.assert_no_violations();
        assert!(living.leave().success());
    }
}

#[test]
fn a_reminder_comes_while_a_long_call_runs() {
    loopback!();
    let (wire, rules) = ways()[0].clone();
    let world = World::new(wire, rules, NATIVE, mind);
    let now = jiff::Timestamp::now();
    let schedule = Schedule::Once { at: now + jiff::SignedDuration::from_secs(4) };
    let add = ReminderChange::Add { text: "water the plants".to_owned(), prompt: None, schedule, zone: None };
    let (mut agenda, rules) = (Agenda::default(), Rules::default());
    let when = When { now, thread: "main", owner: true, rules: &rules };
    agenda.apply(&Change::Reminder(add), when).unwrap();
    world.house.write(".self/mind/agenda.json", agenda.to_json());
    let living = world.house.live(1);
    begun(&world);
    world.house.record("message", |data| data["kind"] == "reminder" && data["text"] == "water the plants");
    assert!(!world.house.path(".self/workspace/go").exists());
    world.house.write(".self/workspace/go", "high");
    noted(&world, "tide: high");
    world.server.assert_no_violations();
    assert!(living.leave().success());
}

#[test]
fn a_pause_stops_a_long_call() {
    loopback!();
    let (wire, rules) = ways()[0].clone();
    let world = World::new(wire, rules, NATIVE, mind);
    let living = world.house.live(1);
    begun(&world);
    world.house.say(r#"{"text": "pause"}"#);
    let stopped = world.house.record("action", |data| data["tool"] == "repo.run");
    assert!(
        stopped.data["result"]["error"].as_str().unwrap().contains("your owner paused you"),
        "{}",
        stopped.data
    );
    // The shell is gone, and says nothing any more.
    world.house.write(".self/workspace/go", "low");
    world.house.say(r#"{"text": "go on"}"#);
    world.server.assert_no_violations();
    assert!(living.leave().success());
    assert!(!world.house.path("self/diary.md").exists());
}

#[test]
fn a_word_that_finds_the_mind_away_beside_a_long_call_is_told_so_and_costs_one_question() {
    loopback!();
    let (wire, rules) = ways()[0].clone();
    let world =
        World::new(wire, rules, NATIVE, move |seen| match seen.all_text().contains("are you there") {
            true => Say::new().status(401, "{}"),
            false => mind(seen),
        });
    let now = jiff::Timestamp::now();
    // Late by the time the word comes: the hour is looked at again and again.
    let schedule = Schedule::Once { at: now + jiff::SignedDuration::from_secs(1) };
    let add = ReminderChange::Add {
        text: "water".to_owned(),
        prompt: Some("look".to_owned()),
        schedule,
        zone: None,
    };
    let (mut agenda, rules) = (Agenda::default(), Rules::default());
    agenda.apply(&Change::Reminder(add), When { now, thread: "main", owner: true, rules: &rules }).unwrap();
    world.house.write(".self/mind/agenda.json", agenda.to_json());
    let living = world.house.live(1);
    begun(&world);
    world.house.say(r#"{"text": "are you there?"}"#);
    let told = world.house.record("message", |data| data["kind"] == "waiting");
    assert!(told.data["text"].as_str().unwrap().contains("the key is refused"), "{}", told.data);
    let asked =
        || world.server.seen().iter().filter(|seen| seen.all_text().contains("are you there")).count();
    let before = asked();
    std::thread::sleep(std::time::Duration::from_secs(3));
    assert_eq!(asked(), before, "the mind was asked again while it was known to be away");
    world.house.write(".self/workspace/go", "low");
    world.house.record("action", |data| data["tool"] == "repo.run");
    assert!(living.leave().success());
}
