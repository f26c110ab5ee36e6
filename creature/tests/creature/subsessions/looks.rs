//! Looks of its own: thought by the quick model, silent where there is nothing, else told once to the next thought.

use super::{Scene, calls, objective, says, work, work_off};
use crate::broker::{self, loopback};
use agenda::Change;
use agenda::own::{Kind, OwnChange};
use agenda::reasons::ReasonChange;
use agenda::sessions::{Mode, Origin, Request, Sessions};
use agenda::waking;
use creature::life::Life;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};

fn with_quick() -> Value {
    let mut offer = broker::offer("openai");
    offer["quick"] = json!({"wire": "openai", "name": "nimble", "path": "/llm/openai/v1"});
    offer
}

/// Looks into the paper it is told of, and finds in it what stands there.
fn looks(text: &str) -> Value {
    match text {
        text if text.contains("the well is dry") => says("The well is dry. Worth a walk there."),
        text if text.contains("all is well") => says("**NOTHING** is new."),
        text if text.contains("Look into well") => calls("notes.read", json!({"name": "notes/well"})),
        _ => calls("notes.read", json!({"name": "notes/field"})),
    }
}

#[tokio::test]
async fn a_look_of_its_own_is_quick_silent_without_worth_and_told_once() {
    loopback!();
    let names = Arc::new(Mutex::new(Vec::new()));
    let noted = Arc::clone(&names);
    let scene = Scene::offering(with_quick(), move |name, text| {
        noted.lock().unwrap().push(name.to_owned());
        assert!(text.contains("quick look of your own") && text.contains("`NOTHING`"), "{text}");
        looks(text)
    });
    scene.house.write("self/notes/well.md", "the well is dry");
    scene.house.write("self/notes/field.md", "all is well");
    let mut life = scene.born(1).await;
    for (kind, paper, mode) in [("water", "well", Mode::Minimal), ("grain", "field", Mode::Full)] {
        let origin = Origin::Own(kind.to_owned());
        let text = format!("Look into {paper}");
        life.spawn_session(Request { mode, ..objective(origin, &text) }).unwrap();
    }
    work(&mut life).await;
    work(&mut life).await;
    let told = ["your quick look (water) found: The well is dry. Worth a walk there."];
    assert_eq!(life.cursors.events.news, told);
    assert!(names.lock().unwrap().iter().all(|name| name == "nimble"), "{names:?}");
    drop(life);
    let mut life = scene.born(2).await;
    assert!(work(&mut life).await.is_none());
    assert_eq!(life.cursors.events.news, told, "told again");
}

#[test]
fn what_an_older_self_kept_is_read_and_a_look_is_kept_with_its_kind() {
    let older = r#"{"next":2,"all":[{"id":"session-1","origin":{"pulse":"pulse-1"}},{"id":"session-2","origin":"dream"}]}"#;
    let read: Sessions = serde_json::from_str(older).unwrap();
    assert_eq!(read.all[0].origin, Origin::Pulse("pulse-1".to_owned()));
    assert_eq!(read.all[1].origin, Origin::Dream);
    let own = Origin::Own("feeds".to_owned());
    let kept = serde_json::to_string(&own).unwrap();
    assert_eq!((kept.as_str(), serde_json::from_str::<Origin>(&kept).unwrap()), (r#"{"own":"feeds"}"#, own));
}

/// Found by running: a look whose calls were all refused, each with other arguments, had sixty thoughts a leg.
#[tokio::test]
async fn a_look_has_eight_thoughts_and_calls_that_are_all_refused_end_any_session() {
    loopback!();
    for (origin, why) in [
        (Origin::Own("water".to_owned()), "8 thoughts"),
        (Origin::Dream, "each call of its last 8 thoughts was refused or failed"),
    ] {
        let mut nth = 0;
        let scene = Scene::offering(with_quick(), move |_, _| {
            nth += 1;
            calls("x.post", json!({"text": format!("the {nth}th heron")}))
        });
        let mut life = scene.born(1).await;
        life.spawn_session(objective(origin.clone(), "Look into the well")).unwrap();
        work_off(&mut life).await;
        let session = life.store.sessions.get("session-1").unwrap();
        assert!(session.answer.contains(why), "{origin:?}: {session:?}");
        assert_eq!(scene.asked().len(), 8, "{origin:?}");
    }
}

/// A quick look as a wake begins it, which waits for so many seconds.
fn begin_look(life: &mut Life, wait_s: i64) {
    life.change(&Change::Own(OwnChange::Began { look: Kind::Sources })).unwrap();
    let not_before = life.told.clock.now().checked_add(jiff::SignedDuration::from_secs(wait_s)).ok();
    life.spawn_session(Request {
        not_before,
        ..objective(Origin::Own(Kind::Sources.name()), "Look into well")
    })
    .unwrap();
    life.change(&Change::Reason(ReasonChange::Asked { reason: waking::OWN.to_owned() })).unwrap();
}

/// Found by reading: what it left counted for the reason that a model was asked for last, and so did its use.
#[tokio::test]
async fn what_a_quick_look_leaves_is_its_own_though_a_thought_of_another_reason_comes_between() {
    loopback!();
    let scene = Scene::offering(with_quick(), move |_, text| match text.contains("self/notes/well.md") {
        true => says("NOTHING is new."),
        false => calls("notes.write", json!({"name": "notes/well", "text": "dry"})),
    });
    let mut life = scene.born(1).await;
    begin_look(&mut life, 0);
    life.change(&Change::Reason(ReasonChange::Asked { reason: "work".to_owned() })).unwrap();
    work_off(&mut life).await;
    let what = life.store.agenda.reasons.left[0].what.clone();
    life.change(&Change::Reason(ReasonChange::Used { what })).unwrap();
    let lines = ["own: 1 of 1 were used", "work: 0 of 1 were used"];
    assert_eq!(life.store.agenda.reasons.lines(), lines);
    assert_eq!(life.store.agenda.own.idle, 0, "it left something");
}

/// Found by reading: while a look ran, a thought about any event counted for it, as the one that takes up what it found.
#[tokio::test]
async fn a_thought_about_an_event_is_counted_as_such_while_a_quick_look_goes_on() {
    loopback!();
    let is_told = |text: &str| text.contains("the post came") && !text.contains("self/notes/post.md");
    let scene = Scene::offering(with_quick(), move |_, text| match is_told(text) {
        true => calls("notes.write", json!({"name": "notes/post", "text": "a letter came"})),
        false => calls("rest", json!({"sleep_s": 300})),
    });
    let mut life = scene.born(1).await;
    life.wake(&mut super::After(None)).await.unwrap();
    begin_look(&mut life, 3_600);
    life.cursors.events.tell("the post came");
    scene.later(600);
    life.wake(&mut super::After(None)).await.unwrap();
    let of = |reason: &str| life.store.agenda.reasons.by_reason.get(reason).map_or(0, |one| one.asked);
    assert_eq!((of(waking::EVENTS), of(waking::OWN)), (1, 1));
    let left = &life.store.agenda.reasons.left;
    assert!(left.iter().all(|left| left.reason == waking::EVENTS) && !left.is_empty(), "{left:?}");
}
