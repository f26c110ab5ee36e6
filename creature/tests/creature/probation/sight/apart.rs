//! Sub-sessions beside one another and beside the life: no slow call of one holds another, a thought or the owner's word.

use super::heard::{asks, endless, result, said, tells, world};
use super::world::{NATIVE, World};
use crate::broker::loopback;
use crate::faithful::{Rules, Say, Seen, Wire};
use crate::house::wait_for;
use serde_json::{Value, json};
use std::time::Instant;

/// Runs until a file is there.
const WAITS: &str = "touch .self/workspace/begun; while ! test -e .self/workspace/go; do sleep 0.05; done; echo the tide is low";

/// The objective of a session, where a request is of one.
fn objective(seen: &Seen) -> Option<String> {
    let text = seen.all_text();
    let (_, after) = text.split_once("# Your objective\n\n")?;
    Some(after.lines().next().unwrap_or_default().to_owned())
}

/// Where the last tool came to something, says what; else calls it.
fn once(seen: &Seen, tool: &str, args: Value) -> Say {
    match result(seen, tool) {
        Some(text) => Say::new().says(&format!("It came to: {text}")),
        None => Say::new().says("I look.").calls(tool, args),
    }
}

/// How a session ended, by what it was to do: its status and its answer.
fn ended(world: &World, objective: &str) -> Option<(String, String)> {
    let text = std::fs::read_to_string(world.house.path(".self/mind/sessions.json")).unwrap_or_default();
    let sessions: Value = serde_json::from_str(&text).unwrap_or_default();
    let of = |one: &&Value| one["objective"].as_str().is_some_and(|said| said.contains(objective));
    let one = sessions["all"].as_array()?.iter().find(of)?;
    let status = one["status"].as_str()?.to_owned();
    let answer = one["answer"].as_str()?.to_owned();
    ["done", "failed", "cancelled"].contains(&status.as_str()).then_some((status, answer))
}

fn asked_for(world: &World, what: &str) -> usize {
    world.server.seen().iter().filter(|seen| objective(seen).is_some_and(|said| said.contains(what))).count()
}

#[test]
fn a_slow_call_of_one_session_holds_no_other_no_thought_and_not_the_owners_word() {
    loopback!();
    let world = world(|seen| {
        if let Some(objective) = objective(seen) {
            return match objective.as_str() {
                "count every reed" => Say::new().says(&endless("One reed")).silent_after(4_000),
                "measure the tide" => once(seen, "repo.run", json!({"command": WAITS, "deadline_s": 600})),
                "fail at once" => Say::new().says("[FAILED] there is no boat"),
                _ => once(seen, "notes.read", json!({"name": "scratch"})),
            };
        }
        if result(seen, "spawn").is_some() {
            return Say::new().says("They are at it.").rests(300);
        }
        if asks(seen, "begin apart") {
            let graph = json!([
                {"objective": "count every reed", "mode": "none"}, {"objective": "measure the tide"},
            ]);
            return Say::new().says("Apart.").calls("spawn", json!({"graph": graph}));
        }
        if asks(seen, "and the boat") {
            let graph = json!([{"objective": "fail at once"}]);
            return Say::new().says("Apart.").calls("spawn", json!({"graph": graph}));
        }
        match asks(seen, "which bird") {
            true => tells("a heron"),
            false => Say::new().says("Nothing to do.").rests(300),
        }
    });
    let settings = "[model]\ndeadline_s = 600\ntools = \"native\"\n[rest]\nshortest_s = 1\nlongest_s = 300\n\
        [sessions]\nat_once = 8\n";
    world.house.owner(settings);
    let living = world.house.live(1);
    world.house.say(r#"{"text": "begin apart"}"#);
    wait_for("one to be asked for", || (asked_for(&world, "count every reed") > 0).then_some(()));
    wait_for("the command to run", || world.house.path(".self/workspace/begun").exists().then_some(()));
    // One call of a model and one of a command are open, and neither ends by itself.
    let began = Instant::now();
    world.house.say(r#"{"text": "which bird is it?"}"#);
    world.house.record("message", |data| data["from"] == "owner" && data["text"] == "which bird is it?");
    let heard = began.elapsed();
    said(&world, "a heron");
    world.house.say(r#"{"text": "and the boat?"}"#);
    let end = wait_for("the boat's session to end", || ended(&world, "fail at once"));
    assert_eq!(end, ("failed".to_owned(), "there is no boat".to_owned()));
    said(&world, "there is no boat");
    assert_eq!((ended(&world, "count every reed"), ended(&world, "measure the tide")), (None, None));
    assert_eq!(asked_for(&world, "count every reed"), 1, "the owner's word cost it its thought");
    world.house.write(".self/workspace/go", "");
    let end = wait_for("the command's session to end", || ended(&world, "measure the tide"));
    assert!(end.1.contains("the tide is low"), "{end:?}");
    assert_eq!(asked_for(&world, "count every reed"), 1);
    // Both calls were open all the while, and end by nothing but what comes after this.
    println!("heard after {heard:?}");
    world.server.assert_no_violations();
    assert!(living.leave().success());
}

#[test]
fn what_one_request_spawned_is_told_once_together_on_its_thread() {
    loopback!();
    let world = world(|seen| {
        if let Some(objective) = objective(seen) {
            return match objective.as_str() {
                "fail at once" => Say::new().says("[FAILED] there is no boat"),
                "have it counted" if result(seen, "spawn").is_none() => {
                    Say::new().says("Apart.").calls("spawn", json!({"objective": "count the herons"}))
                }
                "have it counted" => Say::new().says("It is being counted."),
                _ => Say::new().says("seven herons"),
            };
        }
        if result(seen, "spawn").is_some() {
            return Say::new().says("They are at it.").rests(300);
        }
        match asks(seen, "look apart") {
            true => Say::new().says("Apart.").calls(
                "spawn",
                json!({"graph": [
                    {"objective": "fail at once", "name": "boat"},
                    {"objective": "have it counted", "mode": "full"},
                    {"objective": "row it out", "depends_on": ["boat"]},
                ]}),
            ),
            false => Say::new().says("Nothing to do.").rests(300),
        }
    });
    let living = world.house.live(1);
    world.house.say(r#"{"text": "look apart", "thread": "garden"}"#);
    let message = said(&world, "sub-sessions have ended");
    let text = message["text"].as_str().unwrap();
    assert_eq!(message["thread"], "garden");
    for told in ["there is no boat", "seven herons", "It is being counted", "(of session-2)"] {
        assert!(text.contains(told), "{told} is missing: {text}");
    }
    assert!(text.contains("but not session-1, session-3"), "{text}");
    assert!(!text.contains("That was the last"), "{text}");
    wait_for("a thought to be told of all", || {
        let seen = world.server.seen();
        let told =
            |seen: &Seen| objective(seen).is_none() && seen.all_text().contains("4 have ended, 2 done");
        seen.iter().any(told).then_some(())
    });
    let all = world.house.records();
    let messages = all.iter().filter(|record| record.data["kind"] == "sub-sessions").count();
    assert_eq!(messages, 1, "{all:#?}");
    world.server.assert_no_violations();
    assert!(living.leave().success());
}

#[test]
fn sessions_of_every_mode_run_commands_and_reach_for_pages() {
    loopback!();
    for mode in ["base_only", "none", "minimal", "full"] {
        let world = world(move |seen| {
            if objective(seen).is_some() {
                return match (result(seen, "repo.run"), result(seen, "web.fetch.text")) {
                    (Some(ran), Some(page)) => Say::new().says(&format!("{ran} | {page}")),
                    _ => Say::new()
                        .says("I look.")
                        .calls("repo.run", json!({"command": "printf 'forty-%s' two"}))
                        .calls("web.fetch_text", json!({"url": "http://127.0.0.1:9/"})),
                };
            }
            match result(seen, "spawn").is_none() && asks(seen, "look apart") {
                true => Say::new().calls("spawn", json!({"objective": "look out", "mode": mode})),
                false => Say::new().says("They are at it.").rests(300),
            }
        });
        let living = world.house.live(1);
        world.house.say(r#"{"text": "look apart"}"#);
        let (status, answer) = wait_for("its end", || ended(&world, "look out"));
        assert_eq!(status, "done", "{mode}: {answer}");
        assert!(answer.contains("forty-two"), "{mode} runs no command: {answer}");
        assert!(!answer.contains("not among the tools"), "{mode} has no web: {answer}");
        world.server.assert_no_violations();
        assert!(living.leave().success());
    }
}

/// The name of a second model of each wire, and where a request says how much it thinks.
const WIRES: [(Wire, &str, &str); 3] = [
    (Wire::Anthropic, "claude-haiku-5-5", "/output_config/effort"),
    (Wire::Responses, "gpt-6-luna", "/reasoning/effort"),
    (Wire::Chat, "gpt-test", "/reasoning_effort"),
];

#[test]
fn a_session_has_the_model_and_the_effort_it_was_given_and_none_that_the_owner_did_not_allow() {
    loopback!();
    for (wire, other, place) in WIRES {
        let rules = if wire == Wire::Chat { Rules::local() } else { Rules::default() };
        let part = other.split('-').nth(1).unwrap_or(other).to_owned();
        let part = if wire == Wire::Anthropic { part } else { other.to_owned() };
        let world = World::new(wire, rules, NATIVE, move |seen| {
            if objective(seen).is_some() {
                return Say::new().says("looked");
            }
            let spawn = |model: &str, effort: &str| {
                let args = json!({"objective": "look well", "model": model, "effort": effort});
                Say::new().says("Apart.").calls("spawn", args)
            };
            match result(seen, "spawn") {
                Some(text) if text.contains("no model your owner allows") => spawn(&part, "max"),
                Some(text) if text.contains("at most") => spawn(&part, "low"),
                Some(_) => Say::new().says("It is at it.").rests(300),
                None if asks(seen, "look apart") => spawn("a-model-of-my-own", "low"),
                None => Say::new().says("Nothing to do.").rests(300),
            }
        });
        let settings =
            "[model]\ndeadline_s = 20\ntools = \"native\"\neffort = \"medium\"\n[rest]\nshortest_s = 1\n";
        world.house.owner(settings);
        let path = if wire == Wire::Anthropic { "/llm/anthropic" } else { "/llm/openai/v1" };
        let others = json!([{"wire": wire.name(), "name": other, "path": path, "window": 200_000}]);
        world.offer(json!({"window": 200_000, "others": others}));
        let living = world.house.live(1);
        world.house.say(r#"{"text": "look apart"}"#);
        assert_eq!(wait_for("its end", || ended(&world, "look well")).0, "done");
        let seen = world.server.seen();
        let apart: Vec<&Seen> = seen.iter().filter(|seen| objective(seen).is_some()).collect();
        assert_eq!(apart.len(), 1);
        assert_eq!(apart[0].model, other);
        assert_eq!(apart[0].body.pointer(place), Some(&json!("low")), "{wire:?}: {}", apart[0].body);
        let mine = seen.iter().find(|seen| objective(seen).is_none()).unwrap();
        assert_eq!(mine.body.pointer(place), Some(&json!("medium")), "{wire:?}: {}", mine.body);
        assert!(seen.iter().all(|seen| seen.model != "a-model-of-my-own"));
        world.server.assert_no_violations();
        assert!(living.leave().success());
    }
}
