//! Looks of its own: thought by the quick model, silent where there is nothing, else told once to the next thought.

use super::{Scene, calls, objective, says, work, work_off};
use crate::broker::{self, loopback};
use agenda::sessions::{Mode, Origin, Request, Sessions};
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
