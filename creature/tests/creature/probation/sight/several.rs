//! Several models: one stands in for another that is down, and what is small is thought by the quick one.

use super::world::{NATIVE, World};
use crate::broker::loopback;
use crate::faithful::{Rules, Say, Seen, Wire};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

#[test]
fn another_model_takes_a_wake_on_while_the_first_is_down_and_the_first_goes_on_after() {
    loopback!();
    let down = Arc::new(AtomicUsize::new(1));
    let is_down = Arc::clone(&down);
    let world = World::new(Wire::Anthropic, Rules::default(), NATIVE, move |seen| {
        let first = seen.model == "claude-sonnet-5-5";
        let asked = |word: &str| seen.all_text().contains(word);
        let result = seen.last_results().pop();
        match (first, result) {
            (true, _) if is_down.load(Ordering::Relaxed) > 0 => Say::new().status(503, "{}"),
            (_, Some((name, _))) if name.contains("owner") => Say::new().rests(300),
            (false, _) => Say::new().says("I stand in.").calls("owner.message", json!({"text": "here I am"})),
            (true, _) if asked("and now") && asked("here I am") => Say::new()
                .says("I know.")
                .calls("owner.message", json!({"text": "I am back, and know of it"})),
            (true, _) => Say::new().rests(300),
        }
    });
    let other = json!({"wire": "anthropic", "name": "claude-opus-5-5", "path": "/llm/anthropic"});
    world.offer(json!({"fallback": [other]}));
    world.house.say(r#"{"text": "are you there?"}"#);
    let living = world.house.live(1);
    world.house.record("message", |data| data["text"] == "here I am");
    let told = world.house.record("observation", |data| data["about"] == "fallback");
    assert!(told.data["text"].as_str().unwrap().contains("claude-opus-5-5 takes over"), "{}", told.data);
    // Its wake ends with it.
    world.house.record("thought", |data| data["thought"] == 2);
    down.store(0, Ordering::Relaxed);
    world.house.say(r#"{"text": "and now?"}"#);
    world.house.record("message", |data| data["text"] == "I am back, and know of it");
    assert!(living.leave().success());
    world.server.assert_no_violations();
}

/// The first model spawns two sub-sessions and tells its owner what they found; what works on them reads a file.
fn parted(seen: &Seen, away: bool) -> Say {
    let quick = seen.model == "claude-haiku-5-5";
    if quick && away {
        return Say::new().status(503, "{}");
    }
    let text = seen.all_text();
    if text.contains("# Your objective") {
        return match seen.last_results().pop() {
            None => Say::new().says("I look.").calls("files.read", json!({"path": "bird.txt"})),
            Some((_, found)) => {
                let bird = found.split("it is a ").nth(1).unwrap_or("nothing").split('.').next().unwrap();
                Say::new()
                    .says(&format!("{} says: {bird}", if quick { "The quick one" } else { "The first" }))
            }
        };
    }
    let reports = text.split("says: heron-9").count() - 1;
    let graph = json!([
        {"name": "small", "objective": "which bird? look into bird.txt", "mode": "minimal"},
        {"name": "large", "objective": "which bird? look into bird.txt", "mode": "full"},
    ]);
    match seen.last_results().pop() {
        Some((name, _)) if name.contains("owner") => Say::new().rests(300),
        _ if reports > 1 => {
            let said: Vec<&str> = text.lines().filter(|line| line.contains("says: heron-9")).collect();
            // A thought of its own says which request it answers, as it is shown it.
            let id = text.split("request-").nth(1).map(|rest| rest.chars().take_while(char::is_ascii_digit));
            let id = format!("request-{}", id.unwrap().collect::<String>());
            Say::new()
                .says("They came.")
                .calls("owner.message", json!({"text": said.join(" "), "request": id}))
        }
        None if text.contains("have them look") => {
            Say::new().says("Apart.").calls("spawn", json!({"graph": graph}))
        }
        _ => Say::new().rests(300),
    }
}

#[test]
fn what_is_small_is_thought_by_the_quick_model_and_by_the_first_where_that_is_away() {
    loopback!();
    for away in [false, true] {
        let world = World::new(Wire::Anthropic, Rules::default(), NATIVE, move |seen| parted(seen, away));
        let quick = json!({"wire": "anthropic", "name": "claude-haiku-5-5", "path": "/llm/anthropic"});
        world.offer(json!({"quick": quick}));
        world.house.write(".self/workspace/bird.txt", "it is a heron-9.\n");
        world.house.say(r#"{"text": "have them look at the bird"}"#);
        let living = world.house.live(1);
        let told =
            world.house.record("message", |data| data["from"] == "creature" && data["kind"] != "waiting");
        let text = told.data["text"].as_str().unwrap();
        assert_eq!(text.contains("The quick one"), !away, "{text}");
        assert!(text.contains("The first"), "{text}");
        world.server.assert_no_violations();
        let seen = world.server.seen();
        let (quick, first): (Vec<_>, Vec<_>) = seen.iter().partition(|seen| seen.model == "claude-haiku-5-5");
        for seen in &quick {
            assert!(seen.system.contains("sub-session of Feral"), "{}", seen.system);
            assert!(seen.tool("files_read").is_some() && seen.tool("repo_edit").is_none());
        }
        let frames: Vec<(&str, usize)> =
            first.iter().map(|seen| (seen.system.as_str(), seen.tools.len())).collect();
        assert!(frames.windows(2).all(|two| two[0] == two[1]), "the first has one frame for all");
        assert!(living.leave().success());
    }
}

/// What is asked about the facts, answered in words; the facts are read off the request.
fn dreams(seen: &Seen) -> Say {
    let text = seen.all_text();
    let number = |what: &str| -> Option<Value> {
        let line = text.lines().find(|line| line.contains(what))?;
        Some(json!(line.split('.').next()?.trim().parse::<u64>().ok()?))
    };
    let (Some(opens), Some(closes)) = (number("The shop opens at 9"), number("It closes at 18")) else {
        return Say::new().rests(300);
    };
    let args = json!({"facts": [opens, closes], "text": "The shop is open from 9 to 18"});
    let call = json!({"tool": "facts.merge", "args_json": args.to_string()});
    let thought = json!({"monologue": "Two are one.", "intent": "merge", "tool_calls": [call], "sleep_s": 0});
    Say::new().plainly(&thought.to_string())
}

#[test]
fn a_dream_is_a_conversation_with_the_quick_model_or_within_the_frame_of_the_first() {
    loopback!();
    for has_quick in [true, false] {
        let world = World::new(Wire::Anthropic, Rules::default(), NATIVE, dreams);
        if has_quick {
            let quick = json!({"wire": "anthropic", "name": "claude-haiku-5-5", "path": "/llm/anthropic"});
            world.offer(json!({"quick": quick}));
        }
        world.house.write(
            "self/facts.md",
            "- The shop opens at 9 [sign, 2026-02-01]\n- It closes at 18 [mail, 2026-01-01]\n",
        );
        world.house.write(".self/mind/dream.json", r#"{"since": "2026-01-01T00:00:00Z", "wanted": true}"#);
        let living = world.house.live(1);
        let dreamt = world.house.record("dream", |data| data.get("done").is_some());
        assert_eq!(dreamt.data["done"].as_array().unwrap().len(), 1, "{}", dreamt.data);
        let facts = std::fs::read_to_string(world.house.path("self/facts.md")).unwrap();
        assert!(facts.contains("open from 9 to 18"), "{facts}");
        world.server.assert_no_violations();
        let seen = world.server.seen();
        let asked = seen.iter().find(|seen| seen.all_text().contains("# Facts, by number")).unwrap();
        assert_eq!(asked.model == "claude-haiku-5-5", has_quick);
        assert_eq!(asked.tools.is_empty(), has_quick);
        assert!(asked.autonomous, "a dream is paid from the creature's own share");
        assert!(living.leave().success());
    }
}
