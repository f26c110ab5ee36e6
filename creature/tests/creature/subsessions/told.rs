//! When what ran apart is told: each at its end while others go on or wait, once over ends of lives; and what a leg may use.

use super::{Scene, calls, says, spawn, work, work_off};
use crate::broker::{self, loopback};
use serde_json::json;

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
    assert_eq!(life.cursors.news, ["sub-session: session-2 done: rain"]);
    drop(life);
    let mut life = scene.born(2).await;
    assert!(work(&mut life).await.is_none());
    assert_eq!(life.cursors.news.len(), 1, "told again: {:?}", life.cursors.news);
    scene.later(600);
    work_off(&mut life).await;
    let last =
        "sub-session: session-3 done: stay in (That was the last: all that thought-0 spawned are done.)";
    assert_eq!(life.cursors.news[1..], ["sub-session: session-1 done: high at nine", last]);
}

/// Found by living with it: only sessions of mode full had a shell.
#[tokio::test]
async fn a_usual_session_has_a_shell_and_one_that_only_looks_has_none() {
    loopback!();
    let scene = Scene::new(|text| match text {
        text if text.contains("not among the tools") => says("no shell here"),
        text if text.contains("stdout") && text.contains("forty-two") => says("it prints forty-two"),
        _ => calls("repo.run", json!({"command": "printf 'forty-%s' two"})),
    });
    let mut life = scene.born(1).await;
    let graph = json!({"graph": [{"objective": "count"}, {"objective": "count", "mode": "base_only"}]});
    assert_eq!(spawn(&mut life, graph).await["ok"], true);
    work_off(&mut life).await;
    let answers: Vec<&str> = life.store.sessions.all.iter().map(|it| it.answer.as_str()).collect();
    assert_eq!(answers, ["it prints forty-two", "no shell here"]);
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
    for leg in 1..5 {
        let session = life.store.sessions.get("session-1").unwrap();
        assert!(session.hop < leg + 1, "{session:?}");
        assert!(work(&mut life).await.is_none());
    }
    let session = life.store.sessions.get("session-1").unwrap();
    assert!(session.answer.contains("not done within 4 hops: 8 thoughts cost "), "{session:?}");
    assert_eq!(scene.asked().len(), 32);
}
