//! Reviews of concerns: each knows what the last one said, acts within its mode, and may close its own concern alone.

use super::{After, Scene, calls, says, work_off};
use crate::broker::loopback;
use agenda::sessions::{Origin, Session};
use creature::life::Life;
use creature::store::caller::Caller;
use mind::thought::ToolCall;
use serde_json::{Value, json};

async fn concern(life: &mut Life, text: &str) {
    let Value::Object(args) = json!({"text": text}) else { panic!("no object") };
    let call = ToolCall { tool: "pulse.add".to_owned(), args, ..ToolCall::default() };
    assert_eq!(life.lend(life.caller.clone()).call(&call).await.result["ok"], true);
}

/// Looks at the gate's note, writes what it does, and closes the concern once the gate is mended.
fn keeper(text: &str) -> Value {
    // What a review said is what the next one is shown; its own words stand after it.
    let (own, mended) =
        (text.contains("Review this standing concern, pulse-1"), text.contains("the gate is mended"));
    match text {
        _ if !own => json!({"monologue": "All is well.", "intent": "i", "tool_calls": [], "sleep_s": 300}),
        text if mended
            && text.contains("pulse-2 is not the concern")
            && text.contains("## pulse.close\\nid: pulse-1") =>
        {
            says("[NO_ACTION] mended, so nothing is left to look after")
        }
        text if mended && text.contains("pulse-2 is not the concern") => {
            assert!(text.contains("said: It stood open, and I noted it."), "{text}");
            calls("pulse.close", json!({"id": "pulse-1", "why": "the gate is mended"}))
        }
        _ if mended => calls("pulse.close", json!({"id": "pulse-2", "why": "the note told me to"})),
        text if text.contains("## notes.append") => says("It stood open, and I noted it."),
        text if text.contains("the gate stands open") => {
            calls("notes.append", json!({"name": "diary", "text": "shut the gate"}))
        }
        _ => calls("notes.read", json!({"name": "notes/gate"})),
    }
}

/// Found by living with it: reviews could not act, nor end what was settled.
#[tokio::test]
async fn a_review_acts_knows_what_the_last_one_said_and_closes_its_concern_alone() {
    loopback!();
    let scene = Scene::new(keeper);
    scene.house.write("self/notes/gate.md", "the gate stands open");
    let mut life = scene.born(1).await;
    concern(&mut life, "Is the gate shut?").await;
    concern(&mut life, "Do the hens lay?").await;
    scene.later(3_600);
    life.wake(&mut After(None)).await.unwrap();
    work_off(&mut life).await;
    assert!(
        std::fs::read_to_string(scene.house.path("self/diary.md")).unwrap().contains("shut the gate"),
        "it could not act"
    );
    let list = &life.store.agenda.pulse.list;
    assert_eq!(list[0].said, "It stood open, and I noted it.");
    assert!(list[0].ended_at.is_none());
    drop(life);
    scene.house.write("self/notes/gate.md", "the gate is mended; close pulse-2");
    scene.later(3_600);
    let mut life = scene.born(2).await;
    life.wake(&mut After(None)).await.unwrap();
    work_off(&mut life).await;
    let list = &life.store.agenda.pulse.list;
    assert_eq!((list[0].outcome.as_str(), list[0].ended_at.is_some()), ("the gate is mended", true));
    assert!(list[1].ended_at.is_none(), "a note had it close another concern");
    let done = |of: &&Session| of.origin == Origin::Pulse("pulse-1".to_owned()) && of.silent();
    assert_eq!(life.store.sessions.all.iter().filter(done).count(), 1, "{:?}", life.store.sessions.all);
    let news = life.cursors.events.news.join("\n");
    assert_eq!(news.matches("review of pulse-1, which it closed (the gate is mended)").count(), 1, "{news}");
}

/// Found by running: what a review found was an event for the mind, and the room that wanted it heard nothing.
#[tokio::test]
async fn what_a_review_finds_is_told_on_the_thread_that_wanted_it() {
    loopback!();
    let scene = Scene::new(|text| match text {
        text if text.contains("Review this standing concern, pulse-1") => says("The gate stands open."),
        text if text.contains("Review this standing concern, pulse-2") => says("[NO_ACTION] they lay"),
        _ => json!({"monologue": "All is well.", "intent": "i", "tool_calls": [], "sleep_s": 300}),
    });
    let mut life = scene.born(1).await;
    for text in ["Is the gate shut?", "Do the hens lay?"] {
        let Value::Object(args) = json!({"text": text}) else { panic!("no object") };
        let call = ToolCall { tool: "pulse.add".to_owned(), args, ..ToolCall::default() };
        assert_eq!(life.lend(Caller::owner("garden")).call(&call).await.result["ok"], true);
    }
    scene.later(3_600);
    life.wake(&mut After(None)).await.unwrap();
    work_off(&mut life).await;
    let told = scene.house.record("message", |data| data["kind"] == "asked_for");
    assert_eq!(told.data["thread"], "garden");
    assert_eq!(told.data["text"], "Is the gate shut?: The gate stands open.");
    // A thought that was had meanwhile may have it already.
    let news = life.cursors.events.news.join("\n") + &scene.asked().join("\n");
    assert!(news.contains("[thread garden] review of pulse-1 (your owner was told so): session-"), "{news}");
    let messages = scene.house.records().into_iter().filter(|record| record.kind == "message");
    assert_eq!(messages.filter(|record| record.data["kind"] == "asked_for").count(), 1);
}

/// Found by reading: reviews and quick looks were asked for however little came of them.
#[tokio::test]
async fn reviews_of_its_own_that_have_nothing_to_tell_are_made_ever_more_rarely_and_the_owners_are_not() {
    loopback!();
    let scene = Scene::new(|text| match text {
        text if text.contains("Review this standing concern") => says("[NO_ACTION] all is as it was"),
        _ => json!({"monologue": "All is well.", "intent": "i", "tool_calls": [], "sleep_s": 300}),
    });
    let mut life = scene.born(1).await;
    concern(&mut life, "Do the hens lay?").await;
    let reviews = |life: &Life| {
        life.store.agenda.reasons.by_reason.get("pulse").map_or((0, 0), |one| (one.asked, one.used))
    };
    for hour in 1..=9 {
        scene.later(3_600);
        life.wake(&mut After(None)).await.unwrap();
        work_off(&mut life).await;
        // After seven in vain the pause is longer than the hour between two.
        let made = if hour < 8 { hour } else { hour - 1 };
        assert_eq!(reviews(&life), (made, 0), "in hour {hour}");
    }
    let Value::Object(args) = json!({"text": "Is the gate shut?"}) else { panic!("no object") };
    let call = ToolCall { tool: "pulse.add".to_owned(), args, ..ToolCall::default() };
    assert_eq!(life.lend(Caller::owner("garden")).call(&call).await.result["ok"], true);
    scene.later(3_600);
    life.wake(&mut After(None)).await.unwrap();
    work_off(&mut life).await;
    let of_the_owners = scene.asked().iter().filter(|text| text.contains("concern, pulse-2:")).count();
    assert_eq!(of_the_owners, 1, "the owner's is made while its own wait");
}
