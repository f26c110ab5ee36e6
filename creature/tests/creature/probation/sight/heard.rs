//! The owner is always heard: while a thought streams, while a command runs, while sub-sessions think; and a stop stops.

use super::course::ways;
use super::world::{NATIVE, World};
use crate::broker::loopback;
use crate::faithful::{Say, Seen};
use crate::house::wait_for;
use serde_json::{Value, json};

/// Says what it does, then waits for a file.
const WAITS: &str = "echo seven herons counted; touch .self/workspace/begun; while ! test -e .self/workspace/go; do sleep 0.05; done; echo the tide is $(cat .self/workspace/go)";

pub(super) fn world(mind: impl FnMut(&Seen) -> Say + Send + 'static) -> World {
    let (wire, rules) = ways()[0].clone();
    let world = World::new(wire, rules, NATIVE, mind);
    // A stream that stands still is not given up meanwhile.
    let settings = "[model]\ndeadline_s = 600\ntools = \"native\"\n[rest]\nshortest_s = 1\nlongest_s = 300\n";
    world.house.owner(settings);
    world
}

fn begun(world: &World) {
    wait_for("the command to run", || world.house.path(".self/workspace/begun").exists().then_some(()));
}

/// A text that goes on beyond where its stream stands still.
pub(super) fn endless(beginning: &str) -> String {
    format!("{beginning}{}", " and it stood in the reed".repeat(400))
}

pub(super) fn asks(seen: &Seen, text: &str) -> bool {
    seen.last_said().contains(text)
}

/// The text of the result of the tool, if the last thought called it.
pub(super) fn result(seen: &Seen, tool: &str) -> Option<String> {
    let results = seen.last_results().into_iter();
    results.filter(|(name, _)| name.replace('_', ".") == tool).map(|(_, text)| text).next_back()
}

pub(super) fn tells(text: &str) -> Say {
    Say::new().says("I tell it.").calls("owner.message", json!({"text": text, "done": true}))
}

pub(super) fn said(world: &World, text: &str) -> Value {
    world
        .house
        .record("message", |data| {
            data["from"] == "creature" && data["text"].as_str().is_some_and(|said| said.contains(text))
        })
        .data
}

#[test]
fn stop_ends_a_thought_for_the_owner_while_it_streams_and_what_it_said_is_kept() {
    loopback!();
    let world = world(|seen| {
        if asks(seen, "what were you at") {
            let text = seen.all_text();
            let cut = text.lines().find(|line| line.contains("It had said: ")).unwrap_or("nothing was cut");
            return Say::new().says(cut);
        }
        match asks(seen, "tell me a story") {
            true => Say::new().says(&endless("Once there was a heron")).silent_after(4_000),
            false => Say::new().says("Nothing to do.").rests(300),
        }
    });
    let living = world.house.live(1);
    world.house.say(r#"{"text": "tell me a story"}"#);
    wait_for("the story to begin", || {
        std::fs::read_to_string(world.house.path(".self/mind/thinking.txt"))
            .unwrap_or_default()
            .contains("heron")
            .then_some(())
    });
    world.house.say(r#"{"text": "stop that"}"#);
    assert!(said(&world, "Stopped: ")["text"].as_str().unwrap().contains("the thought under way"));
    world.server.wait_for_hung_up(1);
    let cut = world.house.record("observation", |data| data["about"] == "cut");
    assert!(cut.data["text"].as_str().unwrap().contains("Once there was a heron"), "{}", cut.data);
    let before = world.server.seen().len();
    // Nothing is asked again for what was stopped: the next request is of the next word.
    world.house.say(r#"{"text": "what were you at?"}"#);
    said(&world, "It had said: Once there was a heron");
    let later = world.server.seen().split_off(before);
    assert!(later.iter().all(|seen| asks(seen, "what were you at")), "it went on with what was stopped");
    world.server.assert_no_violations();
    assert!(living.leave().success());
}

#[test]
fn stop_ends_a_command_that_runs_for_the_owner_and_keeps_what_it_said() {
    loopback!();
    let world = world(|seen| match asks(seen, "measure the tide") {
        true => Say::new()
            .says("I measure.")
            .calls("repo.run", json!({"command": WAITS, "deadline_s": 600}))
            .calls("notes.append", json!({"name": "diary", "text": "measured"})),
        false => Say::new().says("Nothing to do.").rests(300),
    });
    let living = world.house.live(1);
    world.house.say(r#"{"text": "measure the tide"}"#);
    begun(&world);
    let before = world.server.seen().len();
    world.house.say(r#"{"text": "Stop."}"#);
    let text = said(&world, "Stopped: ")["text"].as_str().unwrap().to_owned();
    assert!(text.contains("repo.run"), "{text}");
    let run = world.house.record("action", |data| data["tool"] == "repo.run").data;
    assert!(run["result"]["error"].as_str().unwrap().contains("your owner said stop"), "{run}");
    assert!(run["result"]["stdout"].as_str().unwrap().contains("seven herons counted"), "{run}");
    let note = world.house.record("action", |data| data["tool"] == "notes.append").data;
    assert!(note["result"]["error"].as_str().unwrap().contains("not run"), "{note}");
    assert_eq!(world.server.seen().len(), before, "it went on paying");
    world.server.assert_no_violations();
    assert!(living.leave().success());
}

#[test]
fn a_word_during_a_command_for_the_owner_is_answered_and_the_command_is_waited_for() {
    loopback!();
    let world = world(|seen| {
        if let Some(text) = result(seen, "job") {
            assert!(text.contains("seven herons counted"), "the job does not show what it said: {text}");
            return match text.split_once("the tide is ") {
                Some((_, tide)) => tells(&format!("the tide is {}", tide.trim())),
                None => again(seen),
            };
        }
        if let Some(text) = result(seen, "owner.message") {
            assert!(!text.contains("failed"), "{text}");
            return if seen.all_text().contains("the tide is low") {
                Say::new().says("Done.")
            } else {
                again(seen)
            };
        }
        if asks(seen, "are you there") {
            return Say::new()
                .says("Yes.")
                .calls("owner.message", json!({"text": "I am, and measuring", "done": false}));
        }
        match asks(seen, "measure the tide") {
            true => {
                Say::new().says("I measure.").calls("repo.run", json!({"command": WAITS, "deadline_s": 600}))
            }
            false => Say::new().says("Nothing to do.").rests(300),
        }
    });
    let living = world.house.live(1);
    world.house.say(r#"{"text": "measure the tide"}"#);
    begun(&world);
    world.house.say(r#"{"text": "are you there?"}"#);
    said(&world, "I am, and measuring");
    world.house.write(".self/workspace/go", "low");
    said(&world, "the tide is low");
    world.server.assert_no_violations();
    assert!(living.leave().success());
}

/// Waits for the job that it was told of.
fn again(seen: &Seen) -> Say {
    let text = seen.all_text();
    let id = text
        .split("job-")
        .nth(1)
        .map(|rest| rest.chars().take_while(|c| c.is_ascii_digit() || *c == '-').collect::<String>());
    let id = format!("job-{}", id.unwrap_or_default());
    Say::new().says("I wait for it.").calls("job", json!({"id": id, "act": "wait", "most_s": 600}))
}

#[test]
fn a_command_in_the_background_is_news_when_it_ends_and_another_word_is_answered_meanwhile() {
    loopback!();
    let world = world(|seen| {
        if seen.last_said().contains("the tide is low") {
            return tells("the tide was low");
        }
        if let Some(text) = result(seen, "repo.run") {
            assert!(text.contains("job: job-1-"), "{text}");
            return Say::new()
                .says("It runs.")
                .calls("owner.message", json!({"text": "I measure it", "done": false}));
        }
        let answered = seen.history().iter().any(|(_, args, _)| args["text"] == "a heron");
        if asks(seen, "which bird") && !answered {
            return tells("a heron");
        }
        if result(seen, "owner.message").is_some() {
            return Say::new().says("I rest.").rests(300);
        }
        match asks(seen, "measure the tide") {
            true => {
                Say::new().says("I measure.").calls("repo.run", json!({"command": WAITS, "background": true}))
            }
            false => Say::new().says("Nothing to do.").rests(300),
        }
    });
    let living = world.house.live(1);
    world.house.say(r#"{"text": "measure the tide"}"#);
    begun(&world);
    said(&world, "I measure it");
    world.house.say(r#"{"text": "which bird is it?"}"#);
    said(&world, "a heron");
    world.house.write(".self/workspace/go", "low");
    said(&world, "the tide was low");
    world.server.assert_no_violations();
    assert!(living.leave().success());
}

#[test]
fn jobs_are_bounded_and_end_with_the_life() {
    loopback!();
    let world = world(|seen| {
        let begun =
            seen.last_results().into_iter().filter(|(name, _)| name.contains("run")).collect::<Vec<_>>();
        if !begun.is_empty() {
            let refused = begun
                .iter()
                .filter(|(_, text)| text.contains("4 commands run in the background already"))
                .count();
            return tells(&format!("{} begun, {refused} refused", begun.len() - refused));
        }
        match asks(seen, "begin") {
            true => (0..5).fold(Say::new().says("I begin."), |say, at| {
                say.calls("repo.run", json!({"command": format!("{WAITS} {at}"), "background": true}))
            }),
            false => Say::new().says("Nothing to do.").rests(300),
        }
    });
    let living = world.house.live(1);
    world.house.say(r#"{"text": "begin"}"#);
    said(&world, "4 begun, 1 refused");
    begun(&world);
    assert!(living.leave().success());
    let cursors = std::fs::read_to_string(world.house.path(".self/mind/cursors.json")).unwrap();
    assert_eq!(cursors.matches("it ended with the life that began it").count(), 4, "{cursors}");
    world.server.assert_no_violations();
}

#[test]
fn a_word_is_heard_while_sub_sessions_think_and_stop_ends_them() {
    loopback!();
    let world = world(|seen| {
        if result(seen, "spawn").is_some() {
            return Say::new().says("I told it to a session.");
        }
        if result(seen, "owner.message").is_some() {
            return Say::new().says("Said.").rests(300);
        }
        if asks(seen, "count the reeds apart") {
            return Say::new()
                .says("Apart.")
                .calls("spawn", json!({"objective": "count every reed", "mode": "none"}));
        }
        if asks(seen, "which bird") {
            return tells("a heron");
        }
        if seen.all_text().contains("count every reed") {
            return Say::new().says(&endless("One reed")).silent_after(4_000);
        }
        Say::new().says("Nothing to do.").rests(300)
    });
    let living = world.house.live(1);
    world.house.say(r#"{"text": "count the reeds apart"}"#);
    let thinks = || {
        let of = |seen: &&Seen| seen.all_text().contains("# Your objective\n\ncount every reed");
        world.server.seen().iter().filter(of).count()
    };
    wait_for("the session to think", || (thinks() > 0).then_some(()));
    world.house.say(r#"{"text": "which bird is it?"}"#);
    said(&world, "a heron");
    assert_eq!(thinks(), 1, "the word cost it its thought");
    world.house.say(r#"{"text": "stop that"}"#);
    let text = said(&world, "Stopped: ")["text"].as_str().unwrap().to_owned();
    assert!(text.contains("count every reed"), "{text}");
    world.server.assert_no_violations();
    assert!(living.leave().success());
}

#[test]
fn stop_that_ends_own_work_and_the_next_minutes_are_quiet() {
    loopback!();
    let world = world(|seen| match asks(seen, "are you there") {
        true => tells("I am"),
        false => {
            Say::new().says("I measure.").calls("repo.run", json!({"command": WAITS, "deadline_s": 600}))
        }
    });
    let living = world.house.live(1);
    begun(&world);
    let before = world.server.seen().len();
    world.house.say(r#"{"text": "/stop"}"#);
    let text = said(&world, "Stopped: ")["text"].as_str().unwrap().to_owned();
    assert!(text.contains("repo.run") && text.contains("10 minutes"), "{text}");
    world.house.say(r#"{"text": "are you there?"}"#);
    said(&world, "I am");
    assert!(
        world
            .server
            .seen()
            .split_off(before)
            .iter()
            .all(|seen| asks(seen, "are you there") || result(seen, "owner.message").is_some())
    );
    world.server.assert_no_violations();
    assert!(living.leave().success());
}

/// Runs a command in the background for the owner, says so, and rests until its end is told: then its closing words are
/// the tide. `waits`: it says that it waits for that job.
fn measurer(waits: bool) -> impl FnMut(&Seen) -> Say {
    move |seen| {
        let text = seen.all_text();
        if seen.last_said().contains("the tide is low") {
            return Say::new().says("It was low, the tide.");
        }
        if asks(seen, "are you there") {
            return Say::new().says("I am.");
        }
        if let Some(text) = result(seen, "repo.run") {
            let id = text.split("job-").nth(1).map_or(String::new(), |rest| {
                rest.chars().take_while(|c| c.is_ascii_digit() || *c == '-').collect()
            });
            let mut said = json!({"text": "I measure it", "done": false});
            if waits {
                said["waits_for"] = json!(format!("job-{id}"));
            }
            return Say::new().says("It runs.").calls("owner.message", said);
        }
        if result(seen, "owner.message").is_some() {
            return Say::new().says("").rests(300);
        }
        match text.contains("measure the tide") {
            true => {
                Say::new().says("I measure.").calls("repo.run", json!({"command": WAITS, "background": true}))
            }
            false => Say::new().says("").rests(300),
        }
    }
}

#[test]
fn the_closing_words_about_a_job_that_ended_are_the_answer_and_end_its_request() {
    loopback!();
    for waits in [true, false] {
        let world = world(measurer(waits));
        let living = world.house.live(1);
        world.house.say(r#"{"text": "measure the tide"}"#);
        begun(&world);
        said(&world, "I measure it");
        world.house.write(".self/workspace/go", "low");
        assert_eq!(said(&world, "It was low, the tide")["kind"], "answer", "waits: {waits}");
        world.house.say(r#"{"text": "are you there?"}"#);
        said(&world, "I am.");
        world.server.assert_no_violations();
        assert!(living.leave().success());
        let agenda = std::fs::read_to_string(world.house.path(".self/mind/agenda.json")).unwrap();
        let agenda: Value = serde_json::from_str(&agenda).unwrap();
        let requests = agenda["requests"]["list"].as_array().unwrap();
        assert!(requests.iter().all(|one| !one["ended_at"].is_null()), "waits: {waits}: {requests:?}");
    }
}

#[test]
fn stop_ends_a_job_and_its_request_and_no_thought_is_asked_about_its_end() {
    loopback!();
    let world = world(measurer(true));
    let living = world.house.live(1);
    world.house.say(r#"{"text": "measure the tide"}"#);
    begun(&world);
    said(&world, "I measure it");
    let rests = || world.server.seen().iter().filter(|seen| result(seen, "owner.message").is_some()).count();
    wait_for("it to rest", || (rests() == 1).then_some(()));
    world.house.say(r#"{"text": "stop that", "thread": "other"}"#);
    let text = said(&world, "Stopped: job-1-")["text"].as_str().unwrap().to_owned();
    assert!(text.contains("repo.run"), "{text}");
    // The thread that it was asked on is told too.
    assert_eq!(said(&world, "Stopped, as you said on thread other")["thread"], "main");
    let cut = world.house.record("observation", |data| data["about"] == "cut").data;
    assert!(cut["text"].as_str().unwrap().contains("seven herons counted"), "{cut}");
    let before = world.server.seen().len();
    world.house.say(r#"{"text": "are you there?"}"#);
    said(&world, "I am.");
    let later = world.server.seen().split_off(before);
    assert!(
        later.iter().all(|seen| asks(seen, "are you there")),
        "a thought was asked about what was stopped"
    );
    world.server.assert_no_violations();
    assert!(living.leave().success());
}
