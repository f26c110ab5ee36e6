//! The owner's word while sub-sessions are at work: it cuts the rest at once, and no thought under way is lost for it.

use super::{After, Scene, calls, objective, says, work};
use crate::broker::loopback;
use agenda::sessions::Origin;
use serde_json::json;
use std::sync::{Arc, Mutex};
use std::time::Duration;

#[tokio::test]
async fn the_owners_word_cuts_the_rest_and_costs_a_session_nothing() {
    loopback!();
    let inbox = Arc::new(Mutex::new(None::<std::path::PathBuf>));
    let spoken = Arc::clone(&inbox);
    let scene = Scene::new(move |text| {
        if let Some(path) = spoken.lock().unwrap().take() {
            std::fs::write(path, "{\"at\":\"2030-01-01T00:00:00Z\",\"text\":\"look at me\"}\n").unwrap();
        }
        match text.contains("Fetch a page") {
            true => calls("web.fetch_text", json!({"url": "https://example.org"})),
            false => says("read"),
        }
    });
    let mut life = scene.born(1).await;
    // Its call never ends.
    life.spawn_session(objective(Origin::Checklist, "Fetch a page")).unwrap();
    *inbox.lock().unwrap() = Some(scene.house.path(".self/inbox.jsonl"));
    assert!(work(&mut life).await.is_none(), "the rest was not cut");
    life.spawn_session(objective(Origin::Dream, "Read the scratch")).unwrap();
    let _ = work(&mut life).await;
    life.sense(0).unwrap();
    assert_eq!(life.cursors.words.len(), 1);
    while life.cursors.news.is_empty() {
        life.rest(Some(Duration::from_secs(1)), &mut After(None)).await.unwrap();
    }
    assert_eq!(life.cursors.news, ["[thread garden] dream: session-2 done: read"]);
    assert_eq!(scene.asked().len(), 2, "the word cost one its thought");
}
