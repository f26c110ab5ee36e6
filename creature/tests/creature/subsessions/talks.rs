//! Talks with the owner that are over: a long one is summed up once, by the quick model, and found by what comes later.

use super::{After, Scene, calls};
use crate::broker::{self, loopback};
use creature::life::Life;
use serde_json::{Value, json};
use std::path::PathBuf;

const DAY_S: i64 = 86_400;
const SUMMARY: &str = "My owner walked to the mill of heron-9 and wants to go again.";

fn with_quick() -> Value {
    let mut offer = broker::offer("openai");
    offer["window"] = json!(100_000);
    offer["quick"] = json!({"wire": "openai", "name": "nimble", "path": "/llm/openai/v1", "window": 100_000});
    offer
}

/// Reads what its owner speaks of and answers; the quick one sums up what it finds in a talk.
fn friend(name: &str, text: &str) -> Value {
    match text {
        _ if name == "nimble" => {
            assert!(text.contains("has ended. Sum it up") && text.contains("where did I walk?"));
            json!(if text.contains("the mill of heron-9") { SUMMARY } else { "Nothing was found." })
        }
        text if text.contains("## owner.message") => {
            json!({"monologue": "Said.", "intent": "i", "tool_calls": [], "sleep_s": 300})
        }
        text if text.contains("where did I walk?") && text.contains("the mill of heron-9") => {
            calls("owner.message", json!({"text": "to the mill of heron-9"}))
        }
        text if text.contains("where did I walk?") => calls("files.read", json!({"path": "walk.txt"})),
        text if text.contains("not yet answered") => calls("owner.message", json!({"text": "hello"})),
        _ => json!({"monologue": "Quiet.", "intent": "i", "tool_calls": [], "sleep_s": 300}),
    }
}

fn scene() -> Scene {
    let scene = Scene::offering(with_quick(), friend);
    let walk = format!("{}to the mill of heron-9\n", "a step along the river\n".repeat(700));
    scene.house.write(".self/workspace/walk.txt", walk);
    scene
}

async fn wake(life: &mut Life) {
    life.wake(&mut After(None)).await.unwrap();
}

/// What memory and the diary have of talks that are over.
fn kept(scene: &Scene) -> (Vec<String>, usize) {
    let records = scene.house.records().into_iter().filter(|record| record.data["about"] == "talk");
    let told = records.map(|record| record.data["text"].as_str().unwrap().to_owned()).collect();
    let diary = std::fs::read_to_string(scene.house.path("self/diary.md")).unwrap_or_default();
    (told, diary.matches(SUMMARY).count())
}

fn ended(scene: &Scene) -> Vec<PathBuf> {
    let folder = std::fs::read_dir(scene.house.path(".self/mind/conversations")).unwrap();
    folder
        .flatten()
        .map(|file| file.path())
        .filter(|path| path.to_string_lossy().contains("ended-"))
        .collect()
}

#[tokio::test]
async fn a_long_talk_that_is_over_is_summed_up_once() {
    loopback!();
    let scene = scene();
    let mut life = scene.born(1).await;
    scene.house.say(r#"{"text": "where did I walk?"}"#);
    wake(&mut life).await;
    assert!(life.cursors.owner.words.is_empty());
    scene.later(7_200);
    wake(&mut life).await;
    assert_eq!(kept(&scene), (vec![], 0), "it may still be gone on with");
    scene.later(DAY_S);
    wake(&mut life).await;
    assert_eq!(kept(&scene), (vec![SUMMARY.to_owned()], 1));
    // A life that died before it noted that, and one after it.
    drop(life);
    std::fs::remove_file(scene.house.path(".self/mind/talks.json")).unwrap();
    let mut life = scene.born(2).await;
    for _ in 0..2 {
        scene.later(601);
        wake(&mut life).await;
    }
    assert_eq!(kept(&scene), (vec![SUMMARY.to_owned()], 1), "summed up again");
    let quick = scene.asked().iter().filter(|text| text.contains("has ended. Sum it up")).count();
    assert_eq!(quick, 1);
    scene.house.say(r#"{"text": "and now?"}"#);
    wake(&mut life).await;
    let asked = scene.asked();
    let next = asked.iter().find(|text| text.contains("and now?")).unwrap();
    assert!(next.contains("Handover of your last conversation") && next.contains(SUMMARY));
}

#[tokio::test]
async fn a_short_talk_is_not_summed_up() {
    loopback!();
    let scene = scene();
    let mut life = scene.born(1).await;
    scene.house.say(r#"{"text": "good morning"}"#);
    for _ in 0..4 {
        wake(&mut life).await;
        scene.later(DAY_S);
    }
    assert!(scene.asked().iter().any(|text| text.contains("## owner.message")), "it was not answered");
    assert!(scene.asked().iter().all(|text| !text.contains("has ended. Sum it up")));
    assert_eq!(kept(&scene), (vec![], 0));
}

#[tokio::test]
async fn a_talk_whose_place_another_takes_is_kept_until_it_is_summed_up() {
    loopback!();
    let scene = scene();
    let mut life = scene.born(1).await;
    scene.house.say(r#"{"text": "where did I walk?"}"#);
    wake(&mut life).await;
    drop(life);
    // The house stood still for two days, and the owner speaks first.
    scene.later(2 * DAY_S);
    scene.house.say(r#"{"text": "good evening"}"#);
    let mut life = scene.born(2).await;
    for _ in 0..3 {
        wake(&mut life).await;
        scene.later(601);
    }
    assert_eq!(kept(&scene), (vec![SUMMARY.to_owned()], 1));
    assert!(ended(&scene).is_empty(), "what is summed up is kept all the same");
}

#[tokio::test]
async fn where_no_model_sums_up_plain_code_does_at_last() {
    loopback!();
    let scene = Scene::offering(with_quick(), |name, text| match text.contains("has ended. Sum it up") {
        true => Value::Null,
        false => friend(name, text),
    });
    scene.house.write(".self/workspace/walk.txt", "to the mill of heron-9\n".repeat(700));
    let mut life = scene.born(1).await;
    scene.house.say(r#"{"text": "where did I walk?"}"#);
    wake(&mut life).await;
    scene.later(DAY_S);
    for _ in 0..8 {
        wake(&mut life).await;
        scene.later(601);
    }
    let (told, _) = kept(&scene);
    assert_eq!(told.len(), 1);
    assert!(
        told[0].contains("## What you did\n- files.read: walk.txt\n- owner.message: to the mill"),
        "{}",
        told[0]
    );
    let asked = scene.asked().iter().filter(|text| text.contains("has ended. Sum it up")).count();
    assert_eq!(asked, 12, "each of two models is asked six times");
}
