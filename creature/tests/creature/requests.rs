//! What the owner asked for is kept until it is done: over other words, threads, rests and ends of lives.

use crate::broker::loopback;
use crate::faithful::{Rules, Say, Seen, Wire};
use crate::lived::Lived;
use crate::probation::sight::world::{NATIVE, World};
use serde_json::{Value, json};
use std::time::Duration;

const BEGAN: &str = "2026-05-28T12:00:00Z";

fn world(mind: impl FnMut(&Seen) -> Say + Send + 'static) -> World {
    World::new(Wire::Anthropic, Rules::default(), NATIVE, mind)
}

/// What the owner says on a thread, so many seconds after the beginning.
fn say(world: &World, second: u32, thread: &str, text: &str) {
    let at = format!("2026-05-28T12:{:02}:{:02}Z", second / 60, second % 60);
    world.house.say(&json!({"at": at, "text": text, "thread": thread}).to_string());
}

/// What was said to the owner on a thread: kind and text.
fn told(world: &World, thread: &str) -> Vec<(String, String)> {
    let text = |data: &Value, key: &str| data[key].as_str().unwrap_or_default().to_owned();
    let records = world.house.records().into_iter().filter(|record| record.kind == "message");
    let mine = records.filter(|record| record.data["from"] == "creature" && record.data["thread"] == thread);
    mine.map(|record| (text(&record.data, "kind"), text(&record.data, "text"))).collect()
}

fn answer(text: &str) -> (String, String) {
    ("answer".to_owned(), text.to_owned())
}

/// The text without what was said on other threads, which is there to be known.
fn own(text: &str) -> String {
    text.split("\n# ").filter(|part| !part.contains("Said meanwhile")).collect::<Vec<_>>().join("\n# ")
}

/// Whether a tool was called in this conversation, by its name on the wire.
fn called(seen: &Seen, tool: &str) -> bool {
    seen.history().iter().any(|(name, _, _)| name.replace('_', ".") == tool)
}

/// Found in a house of harms: a thread that was answered chose a rest of minutes, in the middle of the work for another.
#[tokio::test]
async fn a_rest_chosen_on_one_thread_does_not_put_off_a_word_under_work_on_another() {
    loopback!();
    let world = world(|seen| {
        let noted: Vec<String> = seen.history().iter().map(|(_, args, _)| args["text"].to_string()).collect();
        let is_noted = |of: &str| noted.iter().any(|text| text.contains(of));
        // The newest request names the words of the thread that it is for.
        let last = own(&seen.last_said());
        match (last.contains("herons"), last.contains("reeds")) {
            (true, _) if !is_noted("herons") => Say::new()
                .says("I note it.")
                .calls("notes.append", json!({"name": "scratch", "text": "herons"})),
            (_, true) if !is_noted("reeds") => Say::new()
                .says("I note it.")
                .calls("notes.append", json!({"name": "scratch", "text": "reeds"})),
            (true, _) => Say::new().says("Nine herons.").rests(300),
            _ if last.contains("For your owner, thread work") => {
                assert!(last.contains("not yet answered"), "nothing says that a word waits: {last}");
                Say::new().says("Seven reeds.").rests(300)
            }
            _ => Say::new().says("").rests(300),
        }
    });
    say(&world, 0, "main", "how many herons are there?");
    say(&world, 0, "work", "how many reeds are there?");
    let mut lived = Lived::born(&world.house, BEGAN, 1).await;
    while told(&world, "work").is_empty() {
        let rest = lived.wake().await;
        let is_short = rest < Duration::from_secs(10) || !told(&world, "work").is_empty();
        assert!(is_short, "the second word waits: {:?}", told(&world, "main"));
    }
    let rests = world.house.records().into_iter().filter(|record| record.data["tool"] == "rest");
    let ends: Vec<String> = rests.map(|record| record.data["result"]["for"].to_string()).collect();
    assert!(ends[0].contains("a word of your owner's") && !ends[1].contains("a word"), "{ends:?}");
    assert_eq!(told(&world, "main"), [answer("Nine herons.")]);
    assert_eq!(told(&world, "work"), [answer("Seven reeds.")]);
}

#[tokio::test]
async fn a_request_told_to_go_on_is_finished_though_another_thread_was_answered_in_between() {
    loopback!();
    let house = std::sync::Arc::new(std::sync::OnceLock::<std::path::PathBuf>::new());
    let inbox = std::sync::Arc::clone(&house);
    let world = world(move |seen| {
        let text = own(&seen.all_text());
        if text.contains("how many legs has a dog") {
            return Say::new().says("Four.");
        }
        if !text.contains("write the program") {
            return Say::new().rests(300);
        }
        if called(seen, "files.write") {
            return Say::new().says("The program is ready.");
        }
        match seen.last_results().pop() {
            // Another word comes while it works, on another thread.
            Some((name, _)) if name.contains("owner") => {
                Say::new().says("I write it.").calls("files.write", json!({"path": "a.txt", "text": "a"}))
            }
            _ => {
                let word =
                    r#"{"at":"2026-05-28T12:00:09Z","text":"how many legs has a dog?","thread":"dogs"}"#;
                let path = inbox.get().unwrap().join(".self/inbox.jsonl");
                std::fs::write(&path, std::fs::read_to_string(&path).unwrap() + word + "\n").unwrap();
                Say::new()
                    .says("I begin.")
                    .calls("owner.message", json!({"text": "I begin with it.", "done": false}))
            }
        }
    });
    house.set(world.house.path("")).unwrap();
    say(&world, 0, "main", "write the program");
    let mut lived = Lived::born(&world.house, BEGAN, 1).await;
    for _ in 0..6 {
        lived.wake().await;
    }
    assert_eq!(told(&world, "dogs"), [answer("Four.")]);
    assert_eq!(told(&world, "main"), [answer("I begin with it."), answer("The program is ready.")]);
    let asked = world.server.seen().len();
    lived.day().await;
    let more = world.server.seen().len() - asked;
    assert!(more <= 2, "what is done costs no more: {more} requests");
    world.server.assert_no_violations();
}

#[tokio::test]
async fn the_closing_words_of_a_wake_are_the_answer_where_the_last_message_said_that_work_goes_on() {
    loopback!();
    let world = world(|seen| match seen.last_results().pop() {
        _ if !seen.all_text().contains("which part is") => Say::new().rests(300),
        Some((name, _)) if name.contains("owner") => {
            Say::new().says("I look.").calls("files.list", json!({}))
        }
        Some(_) => Say::new().says("The most complicated part is the gate."),
        None => Say::new()
            .says("A moment.")
            .calls("owner.message", json!({"text": "I look into it.", "done": false})),
    });
    say(&world, 0, "main", "which part is the most complicated?");
    let mut lived = Lived::born(&world.house, BEGAN, 1).await;
    for _ in 0..3 {
        lived.wake().await;
    }
    let said = [answer("I look into it."), answer("The most complicated part is the gate.")];
    assert_eq!(told(&world, "main"), said);
    assert!(lived.life.store.agenda.requests.open().next().is_none(), "the words ended it");
}

#[tokio::test]
async fn words_beside_a_rest_are_the_answer_where_the_owner_has_none() {
    loopback!();
    let world = world(|seen| match seen.all_text().contains("what is two and two") {
        true => Say::new().says("Four.").rests(200),
        false => Say::new().rests(300),
    });
    say(&world, 0, "main", "what is two and two?");
    let mut lived = Lived::born(&world.house, BEGAN, 1).await;
    for _ in 0..3 {
        lived.wake().await;
    }
    assert_eq!(told(&world, "main"), [answer("Four.")]);
}

#[tokio::test]
async fn a_remark_is_over_with_its_answer_and_costs_no_other_thought() {
    loopback!();
    let world = world(|seen| match seen.last_said().contains("thanks") {
        true => Say::new().says("You are welcome."),
        false => Say::new().rests(300),
    });
    let mut lived = Lived::born(&world.house, BEGAN, 1).await;
    lived.wake().await;
    let before = world.server.seen().len();
    say(&world, 1, "main", "thanks");
    for _ in 0..4 {
        lived.wake().await;
    }
    assert_eq!(told(&world, "main"), [answer("You are welcome.")]);
    assert_eq!(world.server.seen().len() - before, 1);
    assert!(lived.life.store.agenda.requests.open().next().is_none());
}

/// Tells the owner that it waits, and goes on when it is woken for it.
fn waiter(waits: Value) -> impl FnMut(&Seen) -> Say {
    move |seen| match seen.last_results().pop() {
        _ if seen.last_said().contains("This wake is for it") => Say::new().says("It is here."),
        Some((name, _)) if name.contains("owner") => Say::new().says("").rests(60),
        _ if seen.last_said().contains("tell me when the parcel") => {
            let mut args = json!({"text": "I wait for it."});
            args.as_object_mut().unwrap().extend(waits.as_object().unwrap().clone());
            Say::new().says("I wait.").calls("owner.message", args)
        }
        _ => Say::new().rests(300),
    }
}

#[tokio::test]
async fn a_request_that_waits_for_a_time_costs_no_thought_until_then() {
    loopback!();
    let world = world(waiter(json!({"waits_for": "the post", "until": "in 3 hours"})));
    say(&world, 0, "main", "tell me when the parcel is here");
    let mut lived = Lived::born(&world.house, BEGAN, 1).await;
    let mut left = Duration::from_secs(10_000);
    while !left.is_zero() {
        left = left.saturating_sub(lived.wake().await);
    }
    let before = world.server.seen().len();
    assert!(before <= 4, "{before} requests before its time");
    assert_eq!(told(&world, "main"), [answer("I wait for it.")]);
    for _ in 0..4 {
        lived.wake().await;
    }
    assert_eq!(told(&world, "main"), [answer("I wait for it."), answer("It is here.")]);
}

#[tokio::test]
async fn a_request_that_waits_for_something_by_name_is_gone_on_with_when_an_event_tells_of_it() {
    loopback!();
    let world = world(waiter(json!({"waits_for": "session-7"})));
    say(&world, 0, "main", "tell me when the parcel is here");
    let mut lived = Lived::born(&world.house, BEGAN, 1).await;
    for _ in 0..3 {
        lived.wake().await;
    }
    lived.pass(Duration::from_secs(7_000));
    lived.wake().await;
    assert_eq!(told(&world, "main").len(), 1, "it waits");
    lived.life.cursors.events.tell("Sub-session session-7 (look for the parcel) is done: the parcel is here");
    for _ in 0..3 {
        lived.wake().await;
    }
    assert_eq!(told(&world, "main"), [answer("I wait for it."), answer("It is here.")]);
    let shown =
        world.server.seen().iter().any(|seen| seen.last_said().contains("this came: Sub-session session-7"));
    assert!(shown, "the thought was told what came");
}

#[tokio::test]
async fn three_wakes_without_progress_are_told_to_the_owner_and_then_cost_nothing_until_the_owner_speaks() {
    loopback!();
    let world = world(|seen| match seen.last_results().pop() {
        _ if seen.last_said().contains("use the blue one") => Say::new().says("The blue one it is: done."),
        Some((name, _)) if name.contains("owner") => Say::new().says("").rests(90),
        _ if seen.all_text().contains("mend the lamp") => {
            Say::new().says("Hm.").calls("owner.message", json!({"text": "I am at it.", "done": false}))
        }
        _ => Say::new().rests(300),
    });
    say(&world, 0, "main", "mend the lamp");
    let mut lived = Lived::born(&world.house, BEGAN, 1).await;
    let mut left = Duration::from_secs(7_200);
    while !left.is_zero() {
        left = left.saturating_sub(lived.wake().await);
    }
    let said = told(&world, "main");
    let stuck: Vec<_> = said.iter().filter(|(kind, _)| kind == "stuck").collect();
    assert_eq!(stuck.len(), 1, "{said:?}");
    assert!(stuck[0].1.contains("mend the lamp") && stuck[0].1.contains("drop request-1"), "{}", stuck[0].1);
    assert_eq!(said.iter().filter(|(kind, _)| kind == "answer").count(), 3, "{said:?}");
    let at = format!("{:.0}", lived.hand().lock().unwrap());
    world.house.say(&json!({"at": at, "text": "use the blue one", "thread": "main"}).to_string());
    for _ in 0..5 {
        lived.wake().await;
    }
    assert_eq!(told(&world, "main").last().unwrap(), &answer("The blue one it is: done."));
}

#[tokio::test]
async fn a_request_outlives_the_life_that_heard_it_and_the_owners_word_drops_it() {
    loopback!();
    let world = world(|seen| match seen.last_results().pop() {
        Some((name, _)) if name.contains("owner") => Say::new().says("").rests(3_600),
        _ if seen.last_said().contains("paint the fence") => {
            Say::new().says("I begin.").calls("owner.message", json!({"text": "Tomorrow.", "done": false}))
        }
        _ => Say::new().rests(300),
    });
    say(&world, 0, "garden", "paint the fence");
    let mut lived = Lived::born(&world.house, BEGAN, 1).await;
    lived.wake().await;
    assert_eq!(told(&world, "garden"), [answer("Tomorrow.")]);
    drop(lived);
    let mut lived = Lived::born(&world.house, "2026-05-30T12:00:00Z", 2).await;
    lived.wake().await;
    let told_of =
        |seen: &Seen| seen.all_text().contains("Open request request-1 of your owner's, \"paint the fence\"");
    assert!(world.server.seen().iter().any(told_of), "the next life goes on with it");
    world.house.say(r#"{"at":"2026-05-30T13:00:00Z","text":"drop request-1","thread":"main"}"#);
    lived.wake().await;
    assert_eq!(told(&world, "main"), [answer("request-1 is dropped.")]);
    assert!(lived.life.store.agenda.requests.open().next().is_none());
}

#[tokio::test]
async fn a_word_that_is_stopped_before_a_thought_saw_it_is_not_worked_on() {
    loopback!();
    let world = world(|seen| {
        let text = seen.last_said();
        match text.contains("Open request") || text.contains("not yet answered") {
            true => {
                Say::new().says("I write it.").calls("files.write", json!({"path": "a.txt", "text": "a"}))
            }
            false => Say::new().says("").rests(300),
        }
    });
    let mut lived = Lived::born(&world.house, BEGAN, 1).await;
    lived.wake().await;
    say(&world, 0, "main", "write the program");
    say(&world, 1, "main", "stop that");
    for _ in 0..4 {
        lived.wake().await;
    }
    let said = told(&world, "main");
    assert!(said[0].1.starts_with("Stopped: what you asked, \"write the program\""), "{said:?}");
    assert_eq!(said.len(), 1, "{said:?}");
    assert!(lived.life.store.agenda.requests.open().next().is_none(), "it is taken up again");
    assert!(!world.house.path(".self/workspace/a.txt").exists(), "it was worked on");
}

#[tokio::test]
async fn closing_words_that_were_said_already_are_not_said_again() {
    loopback!();
    let world = world(|seen| match seen.last_results().pop() {
        _ if !seen.all_text().contains("mend the lamp") => Say::new().says("").rests(300),
        Some((name, _)) if name.contains("owner") => Say::new().says("I mend it  tomorrow."),
        _ => Say::new()
            .says("Hm.")
            .calls("owner.message", json!({"text": "I mend it tomorrow.", "done": false})),
    });
    say(&world, 0, "main", "mend the lamp");
    let mut lived = Lived::born(&world.house, BEGAN, 1).await;
    lived.stay().await;
    assert_eq!(told(&world, "main"), [answer("I mend it tomorrow.")]);
    assert_eq!(lived.life.store.agenda.requests.open().count(), 1, "it goes on");
}

/// Found by reading: the answer was sent, then refused for the number, and sent once more.
#[tokio::test]
async fn an_answer_to_a_request_that_is_not_open_is_refused_before_the_owner_hears_it() {
    loopback!();
    let world = world(|seen| match seen.last_results().pop() {
        Some((name, text)) if name.contains("owner") && text.contains("request-9") => {
            Say::new().says("It is mended.")
        }
        None if seen.all_text().contains("mend the lamp") => Say::new()
            .says("So.")
            .calls("owner.message", json!({"text": "It is mended.", "request": "request-9"})),
        _ => Say::new().says("").rests(300),
    });
    say(&world, 0, "main", "mend the lamp");
    let mut lived = Lived::born(&world.house, BEGAN, 1).await;
    for _ in 0..3 {
        lived.wake().await;
    }
    assert_eq!(told(&world, "main"), [answer("It is mended.")]);
    assert!(lived.life.store.agenda.requests.open().next().is_none());
}

/// Tests that take long, which run beside a newborn.
mod probation {
    use super::*;

    #[tokio::test]
    async fn while_a_command_runs_for_a_request_the_owner_is_not_told_that_it_is_stuck() {
        loopback!();
        const WAITS: &str =
            "while ! test -e .self/workspace/go; do sleep 0.05; done; touch .self/workspace/gone";
        let world = world(|seen| match seen.last_results().pop() {
            Some((name, _)) if name.contains("run") => Say::new()
                .says("It runs.")
                .calls("owner.message", json!({"text": "I mend it", "done": false})),
            _ if seen.last_said().contains("This wake is for it") => {
                Say::new().says("I look.").calls("files.list", json!({}))
            }
            Some(_) => Say::new().says("").rests(90),
            None if seen.all_text().contains("mend the lamp") => {
                Say::new().says("I mend.").calls("repo.run", json!({"command": WAITS, "background": true}))
            }
            None => Say::new().says("").rests(300),
        });
        say(&world, 0, "main", "mend the lamp");
        let mut lived = Lived::born(&world.house, BEGAN, 1).await;
        let mut left = Duration::from_secs(7_200);
        while !left.is_zero() {
            left = left.saturating_sub(lived.wake().await);
        }
        let said = told(&world, "main");
        let looked = world.server.seen().iter().filter(|seen| called(seen, "files.list")).count();
        assert!(looked >= 3, "it came back to it {looked} times only");
        assert_eq!(said, [answer("I mend it")], "while a command runs");
        world.house.write(".self/workspace/go", "");
        crate::house::wait_for("the command to end", || {
            world.house.path(".self/workspace/gone").exists().then_some(())
        });
    }
}
