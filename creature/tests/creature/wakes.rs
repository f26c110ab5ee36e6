//! Wakes by hand, on a clock of their own: what calls a model and what does not, events, reminders, sources.

use crate::broker::loopback;
use crate::house::{Line, Script, TempHouse, thought};
use crate::lived::Lived;
use agenda::Change;
use agenda::reminder::{ReminderChange, Schedule};
use creature::senses::cursors::Waiting;
use jiff::{SignedDuration, Timestamp};
use mind::moment::Word;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

pub fn feed(house: &TempHouse) -> Vec<String> {
    let text = std::fs::read_to_string(house.path(".self/mind/feed.jsonl")).unwrap();
    let event =
        |line: &str| serde_json::from_str::<Value>(line).unwrap()["event"].as_str().unwrap().to_owned();
    text.lines().map(event).collect()
}

pub fn asked(script: &Script) -> usize {
    script.asked.lock().unwrap().len()
}

pub const MORNING: &str = "2026-03-02T08:00:00Z";

#[tokio::test]
async fn a_day_with_nothing_to_do_calls_no_model_after_the_first_thought() {
    loopback!();
    let script = Script::new(vec![thought("rest", json!([]), 300)]);
    let house = TempHouse::with_model("openai", &script, 300);
    let mut lived = Lived::born(&house, MORNING, 1).await;
    assert_eq!(lived.wake().await, Duration::from_secs(300));
    assert_eq!(lived.wake().await, Duration::from_secs(1_200), "a quiet rest stretches");
    lived.day().await;
    assert_eq!(asked(&script), 1);
    let beats: Vec<Value> = house
        .booked()
        .into_iter()
        .filter(|r| r.kind == "heartbeat")
        .map(|record| record.data["why"].clone())
        .collect();
    assert_eq!(beats[0], json!(["the first thought of this life"]));
    assert!(beats[1..].iter().all(|why| why == &json!([])), "{beats:?}");
    assert!((40..110).contains(&beats.len()), "{} wakes", beats.len());
    assert!(house.records().iter().any(|record| record.kind == "dream"), "the night has its dream");
    let events = feed(&house);
    assert!(events.starts_with(&["wakeup".to_owned(), "sleep".to_owned()]), "{events:?}");
}

#[tokio::test]
async fn a_word_interrupts_work_is_answered_and_the_work_goes_on() {
    loopback!();
    let word = "echo '{\"at\":\"2026-03-02T08:00:01Z\",\"text\":\"what is the time?\"}' >> .self/inbox.jsonl";
    let answer = json!([{"tool": "memory.append", "args": {"kind": "message", "data": {"text": "eight"}}}]);
    let script = Script::new(vec![
        thought("dig the garden", json!([{"tool": "repo.run", "args": {"command": word}}]), 0),
        thought("answer", answer, 300),
        thought("dig on", json!([]), 300),
    ]);
    let house = TempHouse::with_model("openai", &script, 300);
    let mut lived = Lived::born(&house, MORNING, 1).await;
    lived.life.cursors.events.tell("a letter came");
    let rest = lived.wake().await;
    assert_eq!(
        (asked(&script), rest),
        (2, Duration::from_secs(1)),
        "what was interrupted waits no longer than it must"
    );
    let answering = script.situation(1);
    assert!(
        answering.contains("what is the time?") && !answering.contains("dig the garden while"),
        "{answering}"
    );
    assert!(lived.life.caller.owner);
    lived.wake().await;
    let resumed = script.news(2);
    assert!(resumed.contains("interrupted you") && resumed.contains("dig the garden"), "{resumed}");
    assert!(!lived.life.caller.owner);
    let events = feed(&house);
    let of_pause: Vec<&String> =
        events.iter().filter(|event| *event == "paused" || *event == "resumed").collect();
    assert_eq!(of_pause, ["paused", "resumed"]);
    assert_eq!(lived.wake().await, Duration::from_secs(1_200), "then nothing is left");
    assert_eq!(asked(&script), 3);
}

#[tokio::test]
async fn the_checklist_wakes_it_when_it_changes_and_when_an_item_is_due() {
    loopback!();
    let tick = json!([{"tool": "notes.append", "args": {"name": "heartbeat", "text": "looked\n"}}]);
    let script = Script::new(vec![thought("write progress back", tick, 300)]);
    let house = TempHouse::with_model("openai", &script, 300);
    house.write("self/HEARTBEAT.md", "- [ ] every 6h: look at the mail\n");
    let mut lived = Lived::born(&house, MORNING, 1).await;
    lived.wake().await;
    for _ in 0..11 {
        assert!(
            lived.wake().await <= Duration::from_secs(300),
            "the checklist is looked at every five minutes"
        );
    }
    assert_eq!(asked(&script), 1, "unchanged, and nothing due");
    for _ in 0..62 {
        lived.wake().await;
    }
    assert_eq!(asked(&script), 2);
    assert!(script.news(1).contains("due on the checklist: look at the mail"));
    house.write("self/HEARTBEAT.md", "- [ ] paint the door\n");
    lived.wake().await;
    assert!(script.news(2).contains("the checklist changed; ready: item-"), "{}", script.news(2));
    house.write("self/HEARTBEAT.md", "");
    lived.wake().await;
    assert_eq!(asked(&script), 4, "that nothing is left of it is news too");
}

#[tokio::test]
async fn reminders_come_to_the_second_and_missed_ones_once() {
    loopback!();
    let script = Script::new(vec![thought("rest", json!([]), 300)]);
    let house = TempHouse::with_model("openai", &script, 300);
    let mut lived = Lived::born(&house, MORNING, 1).await;
    let schedule = Schedule::Daily { time: "09:00".parse().unwrap() };
    let add =
        ReminderChange::Add { text: "tea".to_owned(), prompt: None, schedule, zone: Some("UTC".to_owned()) };
    lived.life.change(&Change::Reminder(add)).unwrap();
    lived.day().await;
    lived.pass(Duration::from_secs(3 * 86_400));
    lived.wake().await;
    let told: Vec<String> = house
        .records()
        .into_iter()
        .filter(|record| record.data["kind"] == "reminder")
        .map(|record| record.at)
        .collect();
    assert_eq!(told.len(), 2, "{told:?}");
    assert_eq!(told[0], "2026-03-02T09:00:00.000Z");
    assert_eq!(asked(&script), 1, "no model is needed to remind");
}

#[tokio::test]
async fn the_same_call_over_and_over_is_warned_of_and_then_not_made() {
    loopback!();
    let look = json!([{"tool": "notes.read", "args": {"name": "scratch"}}]);
    let done = json!([{"tool": "complete_run", "args": {"summary": "enough"}}]);
    let mut lines: Vec<_> = (0..4).map(|_| thought("look again", look.clone(), 0)).collect();
    lines.push(thought("end", done, 0));
    lines.push(thought("never in this wake", json!([]), 0));
    let script = Script::new(lines);
    let house = TempHouse::with_model("openai", &script, 300);
    house.write("self/scratch.md", "nothing\n");
    let mut lived = Lived::born(&house, MORNING, 1).await;
    lived.wake().await;
    assert_eq!(asked(&script), 5, "complete_run ends the wake");
    let results: Vec<Value> = house
        .records()
        .into_iter()
        .filter(|record| record.data["tool"] == "notes.read")
        .map(|record| record.data["result"].clone())
        .collect();
    assert!(results[1].get("warning").is_none() && results[2]["warning"].is_string(), "{results:?}");
    assert_eq!(results[3]["ok"], json!(false), "{results:?}");
    assert!(results[3]["error"].as_str().unwrap().contains("was not run"), "{results:?}");
}

#[tokio::test]
async fn words_heard_by_a_life_that_ended_at_once_are_neither_lost_nor_remembered_twice() {
    loopback!();
    let answer = json!([{"tool": "memory.append", "args": {"kind": "message", "data": {"text": "yes"}}}]);
    let script = Script::new(vec![thought("rest", json!([]), 300), thought("answer", answer, 300)]);
    let house = TempHouse::with_model("openai", &script, 300);
    let mut lived = Lived::born(&house, MORNING, 1).await;
    lived.wake().await;
    let before = std::fs::read(house.path(".self/mind/cursors.json")).unwrap();
    house.say(r#"{"at":"2026-03-02T08:04:00Z","text":"still there?"}"#);
    // It heard the word, remembered it, and ended before its cursors were written.
    let said =
        json!({"from": "owner", "at": "2026-03-02T08:04:00Z", "text": "still there?", "thread": "main"});
    lived.life.store.record("message", said).unwrap();
    drop(lived);
    std::fs::write(house.path(".self/mind/cursors.json"), before).unwrap();
    let mut lived = Lived::born(&house, "2026-03-02T08:05:00Z", 2).await;
    lived.wake().await;
    assert!(script.situation(1).contains("still there?"));
    let words = || house.records().iter().filter(|record| record.data["from"] == "owner").count();
    assert_eq!(words(), 1);
    // The same where the answer was given and not written down.
    let text = json!({"words": [{"at": "2026-03-02T08:04:00Z", "text": "still there?", "thread": "main", "seen": 1}]});
    drop(lived);
    house.write(".self/mind/cursors.json", text.to_string());
    let lived = Lived::born(&house, "2026-03-02T08:06:00Z", 3).await;
    assert!(lived.life.cursors.owner.words.is_empty());
}

#[tokio::test]
async fn a_mind_that_fails_rests_longer_and_longer_though_a_word_waits() {
    loopback!();
    for line in
        [Line::Says(r#"{"monologue": "cut sh"#.to_owned()), Line::Refuses(429, "budget_cap", Some(40_000))]
    {
        let script = Script::new(vec![thought("rest", json!([]), 300), line]);
        let house = TempHouse::with_model("openai", &script, 300);
        let mut lived = Lived::born(&house, MORNING, 1).await;
        lived.wake().await;
        house.say("are you there?");
        lived.life.cursors.events.tell("an event");
        let mut passed = Duration::ZERO;
        while passed < Duration::from_secs(3_000) {
            passed += lived.wake().await;
        }
        assert!(asked(&script) < 20, "{} calls", asked(&script));
        assert_eq!(lived.life.cursors.owner.words.len(), 1, "the word waits on");
    }
}

/// A line of plain text has no hour: said again, it looked like one that was said before.
#[tokio::test]
async fn what_is_said_or_happens_again_in_the_same_words_is_heard_again() {
    loopback!();
    let answer = json!([{"tool": "memory.append", "args": {"kind": "message", "data": {"text": "more"}}}]);
    let script = Script::sighted(move |shown| match shown.new.contains("not yet answered") {
        true => thought("answer", answer.clone(), 300),
        false => thought("rest", json!([]), 300),
    });
    let house = TempHouse::with_model("openai", &script, 300);
    let mut lived = Lived::born(&house, MORNING, 1).await;
    for times in 1..3 {
        house.say("tell me  - one -  more");
        lived.wake().await;
        let said = |what: &str| (0..asked(&script)).filter(|at| script.news(*at).contains(what)).count();
        assert_eq!(
            said("not yet answered\\n\\n- tell me  - one -  more"),
            times,
            "the owner's words, as they are"
        );
        lived.life.cursors.events.tell("the bell rang");
        lived.wake().await;
        assert_eq!(said("# Events\\n\\n- the bell rang"), times, "the bell");
    }
}

#[tokio::test]
async fn words_of_two_threads_are_answered_each_on_its_own() {
    loopback!();
    let answer =
        |text: &str| json!([{"tool": "memory.append", "args": {"kind": "message", "data": {"text": text}}}]);
    let script = Script::new(vec![
        thought("rest", json!([]), 300),
        thought("think", json!([]), 300),
        thought("answer", answer("two"), 300),
        thought("answer", answer("one"), 300),
    ]);
    let house = TempHouse::with_model("openai", &script, 300);
    let mut lived = Lived::born(&house, MORNING, 1).await;
    lived.wake().await;
    let word = |text: &str, thread: &str| {
        Waiting::new(Word { at: String::new(), text: text.to_owned(), thread: thread.to_owned() })
    };
    lived.life.cursors.owner.words = vec![word("how is the tea?", "main"), word("how is the mail?", "mail")];
    for _ in 0..3 {
        lived.wake().await;
    }
    let shown: Vec<bool> = (1..4).map(|at| script.situation(at).contains("the mail?\\n")).collect();
    assert_eq!(shown, [false, true, false], "the thread that waited longest is next");
    assert!(lived.life.cursors.owner.words.is_empty());
    let threads: Vec<Value> = house
        .records()
        .into_iter()
        .filter(|record| record.kind == "message")
        .map(|record| record.data["thread"].clone())
        .collect();
    assert_eq!(threads, ["mail", "main"]);
}

#[tokio::test]
async fn a_reminder_that_comes_due_between_two_rounds_is_told_before_the_next_thought() {
    loopback!();
    let hand = Arc::new(OnceLock::<Arc<Mutex<Timestamp>>>::new());
    let moves = Arc::clone(&hand);
    let mut at = 0;
    let script = Script::sighted(move |_| {
        at += 1;
        match at {
            1 => {
                let remind =
                    json!([{"tool": "reminder.add", "args": {"text": "look up", "when": "in 20 min"}}]);
                thought("remind", remind, 0)
            }
            2 => {
                let mut now = moves.get().unwrap().lock().unwrap();
                *now += SignedDuration::from_mins(21);
                let dig = json!([{"tool": "notes.append", "args": {"name": "diary", "text": "dug"}}]);
                thought("dig", dig, 0)
            }
            _ => thought("after", json!([]), 300),
        }
    });
    let house = TempHouse::with_model("openai", &script, 300);
    let mut lived = Lived::born(&house, MORNING, 1).await;
    hand.set(lived.hand()).unwrap();
    lived.stay().await;
    let records = house.records();
    let place = |what: &str, wanted: &dyn Fn(&Value) -> bool| {
        records.iter().position(|record| record.kind == what && wanted(&record.data)).unwrap()
    };
    let told = place("message", &|data| data["kind"] == "reminder" && data["text"] == "look up");
    let dug = place("thought", &|data| data["intent"] == "dig");
    let after = place("thought", &|data| data["intent"] == "after");
    assert!(dug < told && told < after, "{dug} {told} {after}");
}

mod probation {
    use super::*;

    #[tokio::test]
    async fn what_needs_more_than_its_rounds_goes_on_at_later_wakes_that_become_rare() {
        loopback!();
        let dig = json!([{"tool": "notes.append", "args": {"name": "diary", "text": "dug"}}]);
        let script = Script::new(vec![thought("again", dig, 0)]);
        let house = TempHouse::with_model("openai", &script, 300);
        let mut lived = Lived::born(&house, MORNING, 1).await;
        let mut rests = Vec::new();
        for _ in 0..20 {
            rests.push(lived.wake().await.as_secs());
        }
        assert_eq!(asked(&script), 20 * 8, "eight rounds of every wake");
        assert_eq!(rests[0], 1, "the first time it goes on at once");
        assert!(rests[1..].iter().all(|rest| *rest >= 60), "{rests:?}");
        assert!(rests[11..].iter().all(|rest| *rest >= 300), "work without end is slowed: {rests:?}");
        let goes_on = (1..asked(&script)).all(|at| script.situation(at).contains("What came of your calls"));
        assert!(goes_on, "its conversation is kept");
        let why = house.booked().into_iter().rfind(|record| record.kind == "heartbeat").unwrap();
        assert!(why.data["why"].to_string().contains("ended before its work did"), "{}", why.data);
    }

    #[tokio::test]
    async fn every_event_is_shown_once_and_those_without_room_wait() {
        loopback!();
        let script = Script::new(vec![thought("read", json!([]), 300)]);
        let house = TempHouse::with_model("openai", &script, 300);
        let mut lived = Lived::born(&house, MORNING, 1).await;
        for number in 0..300 {
            lived.life.cursors.events.tell(format!("event <{number:03}> {}", "x".repeat(180)));
        }
        for _ in 0..80 {
            lived.wake().await;
        }
        let all: String = (0..asked(&script)).map(|at| script.news(at)).collect();
        for number in 0..300 {
            let times = all.matches(&format!("event <{number:03}>")).count();
            assert_eq!(times, usize::from(number >= 44), "event {number}");
        }
        assert!(all.contains("44 more were too many to keep"));
        assert!(asked(&script) < 60, "{} thoughts for what fits in thirty", asked(&script));
    }
}
