//! The course of a conversation: killed anywhere, interrupted, too long, cut short, and what it costs.

use super::job::{Job, job};
use super::world::{AUTO, NATIVE, World};
use crate::broker::loopback;
use crate::faithful::ledger::{cost, read_share, table};
use crate::faithful::{Prices, Rules, Say, Seen, Wire};
use crate::house::wait_for;
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

pub fn ways() -> [(Wire, Rules); 3] {
    [(Wire::Anthropic, Rules::default()), (Wire::Responses, Rules::default()), (Wire::Chat, Rules::local())]
}

/// Writes line after line, each once: where it does not know what came of a line it looks before it goes on.
fn writer(lines: usize) -> impl FnMut(&Seen) -> Say {
    move |seen| {
        let looks = || {
            Say::new().thinks("How far am I?").says("I look.").calls("notes.read", json!({"name": "diary"}))
        };
        let writes = |at: usize| {
            Say::new()
                .says("On.")
                .calls("notes.append", json!({"name": "diary", "text": format!("line <{at}>")}))
        };
        let results = seen.last_results();
        let unsure =
            results.iter().any(|(_, text)| text.contains("outcome unknown") || text.contains("not run"));
        match results.last() {
            Some((name, text)) if name.contains("read") && (unsure || text.contains("failed:")) => looks(),
            Some((name, text)) if name.contains("read") => match (0..lines)
                .find(|at| !text.contains(&format!("<{at}>")))
            {
                Some(at) => writes(at),
                None => Say::new().says("All is written.").calls("owner.message", json!({"text": "done"})),
            },
            Some((name, _)) if name.contains("owner") && !unsure => Say::new().rests(300),
            _ => looks(),
        }
    }
}

#[test]
fn killed_anywhere_nothing_is_done_twice_and_no_request_is_refused() {
    loopback!();
    for (wire, rules) in ways() {
        let world = World::new(wire, rules, NATIVE, writer(12));
        world.house.say(r#"{"text": "write twelve lines into the diary"}"#);
        let done = |world: &World| {
            world
                .house
                .last_records(10_000)
                .iter()
                .any(|record| record.kind == "message" && record.data["text"] == "done")
        };
        let mut life = 0;
        while !done(&world) {
            life += 1;
            assert!(life < 400, "it never gets there");
            let before = world.server.seen().len();
            let mut living = world.house.live(life);
            // One that is killed later and later, until it is done.
            let steps = life as usize % 4;
            wait_for("some steps", || {
                (world.server.seen().len() >= before + steps || done(&world)).then_some(())
            });
            std::thread::sleep(Duration::from_millis(u64::from(life as u32) * 7 % 40));
            let _ = living.child.kill();
            let _ = living.child.wait();
            world.server.assert_no_violations();
        }
        let diary = std::fs::read_to_string(world.house.path("self/diary.md")).unwrap();
        for at in 0..12 {
            assert_eq!(diary.matches(&format!("<{at}>")).count(), 1, "{wire:?} after {life} lives: {diary}");
        }
        println!("{wire:?}: {life} lives, {} requests", world.server.seen().len());
    }
}

#[test]
fn the_owners_word_is_heard_in_the_middle_of_its_own_thought() {
    loopback!();
    let answered = Arc::new(AtomicUsize::new(0));
    let counting = Arc::clone(&answered);
    let world = World::new(Wire::Anthropic, Rules::default(), NATIVE, move |seen| {
        if !seen.all_text().contains("are you there") {
            // Its own work: thinks without end.
            return Say::new().thinks("Long thoughts.").says(&"so much to say ".repeat(200)).pings_after(900);
        }
        counting.fetch_add(1, Ordering::Relaxed);
        match seen.last_results().is_empty() {
            true => Say::new().says("Yes.").calls("owner.message", json!({"text": "I am"})),
            false => Say::new().rests(300),
        }
    });
    let living = world.house.live(1);
    world.server.wait_for_seen(1);
    let live = world.house.path(".self/mind/thinking.txt");
    wait_for("the thought to be followed", || {
        std::fs::read_to_string(&live).ok().filter(|text| text.contains("Long"))
    });
    world.house.say(r#"{"text": "are you there?"}"#);
    world.house.record("message", |data| data["text"] == "I am");
    assert_eq!(world.server.hung_up(), 1, "the thought under way was not dropped");
    world.server.assert_no_violations();
    assert!(living.leave().success());
}

#[test]
fn a_reply_cut_at_its_limit_is_not_run_and_told_so() {
    loopback!();
    for (wire, rules) in ways() {
        let world = World::new(wire, rules, NATIVE, |seen| {
            let told = seen.last_results().pop().map(|(_, text)| text).unwrap_or_default();
            match (seen.thoughts(), told.contains("cut at its limit")) {
                (0, _) => Say::new()
                    .says("A long one.")
                    .calls("notes.write", json!({"name": "diary", "text": "x".repeat(4_000)}))
                    .stop("max_tokens"),
                (_, true) => {
                    Say::new().says("Shorter.").calls("owner.message", json!({"text": "it was cut"}))
                }
                (_, false) => Say::new().rests(300),
            }
        });
        world.house.say(r#"{"text": "write much"}"#);
        let living = world.house.live(1);
        world.house.record("message", |data| data["text"] == "it was cut");
        assert!(!world.house.path("self/diary.md").exists(), "{wire:?}: a cut call was run");
        world.server.assert_no_violations();
        assert!(living.leave().success());
    }
}

#[test]
fn a_job_of_twenty_rounds_is_read_from_cache() {
    loopback!();
    for wire in [Wire::Anthropic, Wire::Responses] {
        let (Job { seen, ledger }, prices) = (job(wire, 20), Prices::MIDDLE);
        assert_eq!(seen.len(), ledger.len(), "{wire:?}: a request beside the thoughts");
        println!("{wire:?}\n{}", table(&ledger, &prices));
        let (cost, bare) = cost(&ledger, &prices);
        assert!(ledger.len() >= 20 && read_share(&ledger) >= 0.85, "{wire:?}: {}", read_share(&ledger));
        assert!(cost * 3.0 <= bare, "{wire:?}: {cost} of {bare}");
        for two in ledger.windows(2) {
            let held = two[0].tokens.read + two[0].tokens.written;
            assert!(two[1].tokens.read >= held, "{wire:?}: {held} tokens were held: {:?}", two[1]);
        }
    }
}

/// What the owner was answered by a mind that says the first and ends its turn with the second.
fn answers(first: Option<&'static str>, last: &'static str) -> Vec<String> {
    let world =
        World::new(Wire::Anthropic, Rules::default(), NATIVE, move |seen| match (seen.thoughts(), first) {
            (0, Some(first)) => Say::new().says("I tell it.").calls("owner.message", json!({"text": first})),
            _ => Say::new().says(last),
        });
    world.house.say(r#"{"text": "how are you?"}"#);
    let living = world.house.live(1);
    world.house.record("thought", |data| data["monologue"] == last);
    assert!(living.leave().success());
    let records = world.house.records().into_iter();
    let said = records.filter(|record| record.kind == "message" && record.data["from"] == "creature");
    said.map(|record| record.data["text"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn the_words_that_end_a_talk_are_the_answer_where_none_was_given() {
    loopback!();
    assert_eq!(answers(Some("I am well"), "That is all."), ["I am well"]);
    assert_eq!(answers(None, "I am well, thank you."), ["I am well, thank you."]);
}

#[test]
fn the_owners_effort_goes_with_every_request() {
    loopback!();
    for (wire, path) in [(Wire::Anthropic, "/output_config/effort"), (Wire::Responses, "/reasoning/effort")] {
        let world = World::new(wire, Rules::default(), NATIVE, |_| Say::new().rests(300));
        world.house.owner("[model]\neffort = \"low\"\n[rest]\nshortest_s = 1\n");
        let living = world.house.live(1);
        world.server.wait_for_seen(1);
        assert_eq!(world.server.seen()[0].body.pointer(path), Some(&json!("low")), "{wire:?}");
        assert!(living.leave().success());
        world.server.assert_no_violations();
    }
}

#[test]
fn what_a_thought_cost_stands_in_its_record() {
    loopback!();
    let world =
        World::new(Wire::Anthropic, Rules::default(), NATIVE, |_| Say::new().says("Nothing.").rests(300));
    world.offer(json!({"prices": {"input": 2.0, "cache_read": 0.2, "output": 10.0}}));
    let living = world.house.live(1);
    let told = world.house.record("thought", |data| data["thought"] == 1);
    let cost = world.server.ledger()[0].cost_usd(&Prices { input: 2.0, cache_read: 0.2, output: 10.0 });
    let said = told.data["usage"]["cost_usd"].as_f64().unwrap();
    assert!((said - cost).abs() < 2e-6 && cost > 0.0, "{said} is not {cost}");
    assert!(living.leave().success());
}

#[test]
fn the_question_whether_tools_are_had_is_paid_as_the_thought_it_precedes() {
    loopback!();
    for by_itself in [true, false] {
        let world = World::new(Wire::Chat, Rules::local(), AUTO, |_| Say::new().rests(300));
        if !by_itself {
            world.house.say(r#"{"text": "are you there?"}"#);
        }
        let living = world.house.live(1);
        world.house.record("thought", |data| data["thought"] == 1);
        let ledger = world.server.ledger();
        assert_eq!(ledger.len() - world.server.seen().len(), 1, "one question before the first thought");
        assert!(ledger.iter().take(2).all(|entry| entry.autonomous == by_itself), "{ledger:#?}");
        assert!(living.leave().success());
    }
}

#[test]
fn a_new_build_of_a_server_is_asked_again_whether_it_takes_tools() {
    loopback!();
    let world = World::new(Wire::Chat, Rules::local(), AUTO, |_| Say::new().rests(300));
    let mut questions = 0;
    for (life, build, more) in [(1, "b1", 1), (2, "b1", 0), (3, "b2", 1)] {
        world.offer(json!({"window": 32_768, "build": build}));
        world.house.say(&format!(r#"{{"text": "are you there, life {life}?"}}"#));
        let living = world.house.live(life);
        world.house.record("thought", |data| data["wake"] == life);
        assert!(living.leave().success());
        questions += more;
        assert_eq!(
            world.server.ledger().len() - world.server.seen().len(),
            questions,
            "life {life}, {build}"
        );
    }
}

#[test]
fn another_effort_begins_another_conversation() {
    loopback!();
    let world =
        World::new(Wire::Anthropic, Rules::default(), NATIVE, |_| Say::new().says("Nothing.").rests(300));
    for (life, effort, thoughts) in [(1, "low", 0), (2, "low", 1), (3, "high", 0)] {
        let settings =
            format!("[model]\neffort = \"{effort}\"\ntools = \"native\"\n[rest]\nshortest_s = 1\n");
        world.house.owner(&settings);
        world.house.say(&format!(r#"{{"text": "are you there, life {life}?"}}"#));
        let living = world.house.live(life);
        world.house.record("thought", |data| data["wake"] == life);
        assert!(living.leave().success());
        assert_eq!(world.server.seen().last().unwrap().thoughts(), thoughts, "life {life}, {effort}");
    }
    world.server.assert_no_violations();
}
