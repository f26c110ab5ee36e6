//! When what ran apart is told: together, once over ends of lives, by plain code; and what a leg may use.

use super::{After, Scene, answering, calls, objective, says, spawn, work, work_off};
use crate::broker::{self, StandIn, loopback};
use agenda::sessions::{HOP_S, Origin, Request};
use memory::Record;
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Found by living with it: one that waited for its hour withheld the results of twelve others.
#[tokio::test]
async fn what_is_done_is_told_though_another_waits_for_its_hour() {
    loopback!();
    let scene = Scene::new(|text| match text {
        text if text.contains("Sum up") && text.contains("high at nine") && text.contains("rain") => {
            says("stay in")
        }
        text if text.contains("Ask the tide") => says("high at nine"),
        _ => says("rain"),
    });
    let mut life = scene.born(1).await;
    let graph = json!({"graph": [
        {"objective": "Ask the tide", "not_before": 600},
        {"objective": "Ask the sky"},
        {"objective": "Sum up", "depends_on_previous": "all"},
    ]});
    assert_eq!(spawn(&mut life, graph).await["ok"], true);
    work_off(&mut life).await;
    assert_eq!(life.cursors.events.news, ["sub-session: session-2 done: rain"]);
    drop(life);
    let mut life = scene.born(2).await;
    assert!(work(&mut life).await.is_none());
    assert_eq!(life.cursors.events.news.len(), 1, "told again: {:?}", life.cursors.events.news);
    scene.later(600);
    work_off(&mut life).await;
    let late =
        "sub-sessions: 2 have ended, 2 done:\n- session-1 done: high at nine\n- session-3 done: stay in";
    assert_eq!(life.cursors.events.news[1..], [late]);
}

/// Found by living with it: only sessions of mode full had a shell, then only those and the usual ones.
#[tokio::test]
async fn a_session_of_any_mode_has_a_shell() {
    loopback!();
    let scene = Scene::new(|text| match text {
        text if text.contains("not among the tools") => says("no shell here"),
        text if text.contains("stdout") && text.contains("forty-two") => says("it prints forty-two"),
        _ => calls("repo.run", json!({"command": "printf 'forty-%s' two"})),
    });
    let mut life = scene.born(1).await;
    let graph = json!({"graph": [{"objective": "count"}, {"objective": "count", "mode": "base_only"},
        {"objective": "count", "mode": "none"}]});
    assert_eq!(spawn(&mut life, graph).await["ok"], true);
    work_off(&mut life).await;
    let answers: Vec<&str> = life.store.sessions.all.iter().map(|it| it.answer.as_str()).collect();
    assert_eq!(answers, ["it prints forty-two"; 3]);
}

#[tokio::test]
async fn a_full_session_knows_how_its_owner_wants_things_done() {
    loopback!();
    let scene = Scene::new(|_| says("done"));
    scene.house.write("skills/count/SKILL.md", "---\nname: count\ndescription: Counts herons at dusk\n---\n");
    let mut life = scene.born(1).await;
    let graph = json!({"graph": [{"objective": "Xylem-one", "mode": "full"}, {"objective": "Xylem-two"}]});
    assert_eq!(spawn(&mut life, graph).await["ok"], true);
    work_off(&mut life).await;
    let asked = scene.asked();
    let of = |objective: &str| asked.iter().find(|text| text.contains(objective)).unwrap();
    assert!(of("Xylem-one").contains("- skills/count: Counts herons at dusk"), "{}", of("Xylem-one"));
    assert!(!of("Xylem-two").contains("skills/count"), "{}", of("Xylem-two"));
}

#[tokio::test]
async fn a_leg_ends_when_its_money_is_spent() {
    loopback!();
    // A thought costs more than a fiftieth of a dollar.
    let mut offer = broker::offer("openai");
    offer["prices"] = json!({"input": 1_000, "cache_read": 100, "output": 2_000});
    offer["cap_usd"] = json!(1);
    let scene = Scene::offering(offer, |_, _| calls("notes.read", json!({"name": "scratch"})));
    let mut life = scene.born(1).await;
    spawn(&mut life, json!({"objective": "turn in a circle"})).await;
    work_off(&mut life).await;
    let session = life.store.sessions.get("session-1").unwrap();
    assert!(session.answer.contains("not done within 4 hops: 8 thoughts cost "), "{session:?}");
    assert_eq!(scene.asked().len(), 32);
}

/// For the owner, on their thread: said once by plain code, whoever thinks then.
#[tokio::test]
async fn what_ran_for_the_owner_is_told_to_them_once_also_without_a_model() {
    loopback!();
    let offered = Arc::new(AtomicBool::new(true));
    let has_model = Arc::clone(&offered);
    let broker = StandIn::new(move |request| match request.path.as_str() {
        "/status" if !has_model.load(Ordering::Relaxed) => broker::status(Value::Null, &[]),
        _ => answering(|text| match text.contains("Ask the sky") {
            true => says("rain"),
            false => calls("web.fetch_text", json!({"url": "https://example.org"})),
        })(request),
    });
    let scene = Scene { broker, ..Scene::new(|_| Value::Null) };
    let mut life = scene.born(1).await;
    for text in ["Ask the sky", "Ask the tide"] {
        let origin = Origin::Tool { parent: "thought-7".to_owned() };
        let request = Request { owner: true, ..objective(origin, text) };
        life.store.spawn(vec![request], false).unwrap();
    }
    // The one is done; the other waits for a page that never comes when the model goes.
    while !life.store.sessions.all.iter().any(|session| session.answer == "rain") {
        life.rest(Some(Duration::from_millis(50)), &mut After(None)).await.unwrap();
    }
    assert!(life.cursors.events.news.is_empty(), "told before all had ended: {:?}", life.cursors.events.news);
    drop(life);
    offered.store(false, Ordering::Relaxed);
    for number in 2..7 {
        let mut life = scene.born(number).await;
        scene.later(HOP_S);
        assert!(work(&mut life).await.is_none());
    }
    let said = |record: &Record| record.data["kind"] == "sub-sessions";
    let told: Vec<Value> = scene.house.records().into_iter().filter(said).map(|record| record.data).collect();
    let [message] = told.as_slice() else { panic!("not told once: {told:#?}") };
    assert_eq!(message["thread"], "garden");
    let text = message["text"].as_str().unwrap();
    assert!(text.starts_with("2 sub-sessions have ended, 1 done, but not session-2:"), "{text}");
    for line in ["- session-1 done: rain", "- session-2 failed: "] {
        assert!(text.contains(line), "{text}");
    }
}
