//! What a stop ends stays ended, and what a request waits for comes to it: over rests, deaths and too many words.

use crate::broker::loopback;
use crate::faithful::{Rules, Say, Seen, Wire};
use crate::lived::Lived;
use crate::probation::sight::world::{NATIVE, World};
use creature::life::{Leaving, Next};
use serde_json::json;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

const BEGAN: &str = "2026-05-28T12:00:00Z";

fn world(mind: impl FnMut(&Seen) -> Say + Send + 'static) -> World {
    World::new(Wire::Anthropic, Rules::default(), NATIVE, mind)
}

fn say(world: &World, second: u32, text: &str) {
    let at = format!("2026-05-28T12:{:02}:{:02}Z", second / 60, second % 60);
    world.house.say(&json!({"at": at, "text": text, "thread": "main"}).to_string());
}

/// What was said to the owner.
fn told(world: &World) -> Vec<String> {
    let records = world.house.records().into_iter().filter(|record| record.kind == "message");
    let mine = records.filter(|record| record.data["from"] == "creature");
    mine.map(|record| record.data["text"].as_str().unwrap_or_default().to_owned()).collect()
}

fn called(seen: &Seen, tool: &str) -> bool {
    seen.history().iter().any(|(name, _, _)| name.replace('_', ".") == tool)
}

fn writes(seen: &Seen) -> Say {
    match called(seen, "files.write") {
        true => Say::new().says("").rests(300),
        false => Say::new().says("I do it.").calls("files.write", json!({"path": "a.txt", "text": "a"})),
    }
}

/// Found by reading: "Nothing was under way", and the request went on at the next wake.
#[tokio::test]
async fn stop_ends_a_request_that_rests_between_two_wakes() {
    loopback!();
    let world = world(|seen| match seen.last_results().pop() {
        _ if seen.last_said().contains("This wake is for it") => writes(seen),
        Some((name, _)) if name.contains("owner") => Say::new().says("").rests(90),
        _ if seen.last_said().contains("mend the lamp") => {
            Say::new().says("Hm.").calls("owner.message", json!({"text": "I am at it.", "done": false}))
        }
        _ => Say::new().says("").rests(300),
    });
    say(&world, 0, "mend the lamp");
    let mut lived = Lived::born(&world.house, BEGAN, 1).await;
    lived.stay().await;
    assert_eq!(told(&world), ["I am at it."]);
    say(&world, 1, "stop that");
    for _ in 0..4 {
        lived.wake().await;
    }
    assert!(told(&world)[1].starts_with("Stopped: request-1 (\"mend the lamp\")"), "{:?}", told(&world));
    assert!(lived.life.store.agenda.requests.open().next().is_none());
    assert!(!world.house.path(".self/workspace/a.txt").exists(), "it was gone on with");
}

/// Found by reading: the stop was known to the life alone that heard it, and the next one took up what it had ended.
#[tokio::test]
async fn a_stop_that_was_heard_and_not_obeyed_before_a_death_still_ends_what_waited() {
    loopback!();
    let world = world(|seen| match seen.last_said().contains("Open request") {
        true => writes(seen),
        false => Say::new().says("").rests(300),
    });
    let mut lived = Lived::born(&world.house, BEGAN, 1).await;
    lived.wake().await;
    say(&world, 0, "write the program");
    say(&world, 1, "stop that");
    lived.life.take_notice(None).unwrap();
    drop(lived);
    let mut lived = Lived::born(&world.house, BEGAN, 2).await;
    for _ in 0..4 {
        lived.wake().await;
    }
    assert!(lived.life.store.agenda.requests.open().next().is_none(), "it is taken up again");
    assert!(!world.house.path(".self/workspace/a.txt").exists(), "it was worked on");
}

/// Asks to leave as soon as the owner's stop was heard.
struct OnceStopped<'a>(&'a World);

impl Leaving for OnceStopped<'_> {
    async fn asked(&mut self) {
        let is_stop = |record: &memory::Record| record.data["text"] == "stop that";
        while !self.0.house.records().iter().any(is_stop) {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
}

/// Found by reading: a life that was asked to leave before the stopped call had ended told nobody of the stop.
#[tokio::test]
async fn a_stop_is_answered_though_the_life_is_asked_to_leave_before_the_call_has_ended() {
    loopback!();
    let world = world(|seen| match seen.last_said().contains("mend the lamp") {
        true => Say::new().says("I am at it.").calls("repo.run", json!({"command": "touch begun; sleep 50"})),
        false => Say::new().says("").rests(300),
    });
    let mut lived = Lived::born(&world.house, BEGAN, 1).await;
    say(&world, 0, "mend the lamp");
    let mut leaving = OnceStopped(&world);
    let stop = async {
        while !world.house.path("begun").exists() {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        say(&world, 1, "stop that");
    };
    tokio::join!(lived.life.wake(&mut leaving), stop).0.unwrap();
    assert!(matches!(lived.life.rest(None, &mut leaving).await.unwrap(), None | Some(Next::Leave)));
    lived.life.leave().unwrap();
    assert!(told(&world)[0].starts_with("Stopped: `repo.run"), "{:?}", told(&world));
    assert!(lived.life.store.agenda.requests.open().next().is_none());
}

/// Tells the owner that it waits, and goes on when it is woken for it.
fn waits_for(seen: &Seen, what: &str) -> Option<Say> {
    match seen.last_results().pop() {
        _ if seen.last_said().contains("This wake is for it") => Some(Say::new().says("It is here.")),
        Some((name, _)) if name.contains("owner") => Some(Say::new().says("").rests(60)),
        _ if seen.last_said().contains("not yet answered") => {
            let args = json!({"text": "I wait for it.", "waits_for": what});
            Some(Say::new().says("I wait.").calls("owner.message", args))
        }
        _ => None,
    }
}

/// Found by reading: a life that is killed says nothing of its jobs, and the request slept for a day.
#[tokio::test]
async fn a_request_that_waits_for_a_job_of_a_life_that_was_killed_is_gone_on_with() {
    loopback!();
    let world = world(|seen| waits_for(seen, "job-1-1").unwrap_or_else(|| Say::new().says("").rests(300)));
    say(&world, 0, "tell me when the parcel is here");
    let mut lived = Lived::born(&world.house, BEGAN, 1).await;
    for _ in 0..3 {
        lived.wake().await;
    }
    assert_eq!(told(&world), ["I wait for it."]);
    drop(lived);
    let mut lived = Lived::born(&world.house, "2026-05-28T12:20:00Z", 2).await;
    for _ in 0..3 {
        lived.wake().await;
    }
    assert_eq!(told(&world), ["I wait for it.", "It is here."]);
    let is_told = |seen: &Seen| seen.last_said().contains("this came: job-1-1 ended with the life");
    assert!(world.server.seen().iter().any(is_told), "the thought was told what came");
}

/// Found by reading: as many events were struck off as a thought had been shown, the newest first: what came while it thought
/// was lost, and what it had been shown was told again.
#[tokio::test]
async fn what_happens_while_a_thought_goes_on_is_told_to_the_next_one() {
    loopback!();
    let house = Arc::new(OnceLock::<PathBuf>::new());
    let inside = Arc::clone(&house);
    let world = world(move |seen| {
        if seen.last_said().contains("a letter came")
            && !seen.last_said().contains("what you do next follows it")
        {
            let (inbox, memory) = (".self/inbox.jsonl", ".self/memory.jsonl");
            let at = |name: &str| inside.get().unwrap().join(name);
            let word = json!({"at": "2026-05-28T12:00:09Z", "text": "focus on the boat"});
            std::fs::write(at(inbox), format!("{word}\n")).unwrap();
            crate::house::wait_for("the word to be heard", || {
                std::fs::read_to_string(at(memory)).unwrap().contains("goes first").then_some(())
            });
        }
        Say::new().says("").rests(300)
    });
    house.set(world.house.path("")).unwrap();
    let mut lived = Lived::born(&world.house, BEGAN, 1).await;
    lived.wake().await;
    lived.life.cursors.events.tell("a letter came");
    for _ in 0..3 {
        lived.wake().await;
    }
    let shown =
        |text: &str| world.server.seen().iter().filter(|seen| seen.last_said().contains(text)).count();
    assert_eq!(shown("what you do next follows it"), 1, "the order was lost");
    assert_eq!(shown("a letter came"), 1, "the letter was told again");
}

/// Tests that take long, which run beside a newborn.
mod probation {
    use super::*;

    /// Found by reading: over a megabyte of words the file was garbage to the next life, which heard the inbox anew.
    #[tokio::test]
    async fn however_many_words_wait_the_next_life_knows_what_was_heard() {
        loopback!();
        let world = world(|_| Say::new().says("").rests(300));
        let mut lived = Lived::born(&world.house, BEGAN, 1).await;
        lived.wake().await;
        for batch in 0..5 {
            for nth in 0..50 {
                say(&world, batch * 50 + nth, &format!("{} {batch} {nth}", "reed ".repeat(980)));
            }
            lived.life.take_notice(None).unwrap();
        }
        let (inbox, waiting) = (lived.life.cursors.owner.inbox.clone(), lived.life.cursors.owner.words.len());
        assert!((150..250).contains(&waiting), "{waiting} words wait");
        let newest = lived.life.cursors.owner.words.last().unwrap().word.text.clone();
        assert!(newest.ends_with(" 4 49"), "the oldest are passed over");
        drop(lived);
        let lived = Lived::born(&world.house, BEGAN, 2).await;
        assert_eq!(lived.life.cursors.owner.inbox, inbox, "what was heard is not known any more");
        assert_eq!(lived.life.cursors.owner.words.len(), waiting);
    }

    /// Found by reading: a thought of its own that went on meanwhile took the news, and the request slept for a day.
    #[tokio::test]
    async fn a_request_hears_of_a_session_that_ends_while_a_thought_of_its_own_goes_on() {
        loopback!();
        let world = world(|seen| {
            let text = seen.all_text();
            if text.contains("# Your objective\n\ncount every reed") {
                return Say::new().says("seven reeds");
            }
            if let Some(say) = waits_for(seen, "session-1") {
                return say;
            }
            if !text.contains("a letter came") || text.contains("session-1 done") {
                return Say::new().says("").rests(300);
            }
            match called(seen, "spawn") {
                true => Say::new().says("I look.").calls("files.list", json!({})),
                false => Say::new().says("Apart.").calls("spawn", json!({"objective": "count every reed"})),
            }
        });
        say(&world, 0, "tell me when the parcel is here");
        let mut lived = Lived::born(&world.house, BEGAN, 1).await;
        for _ in 0..3 {
            lived.wake().await;
        }
        assert_eq!(told(&world), ["I wait for it."]);
        lived.life.cursors.events.tell("a letter came");
        for _ in 0..8 {
            lived.wake().await;
        }
        assert_eq!(told(&world), ["I wait for it.", "It is here."]);
    }
}
