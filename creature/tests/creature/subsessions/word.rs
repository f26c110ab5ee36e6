//! The owner's word while sub-sessions are at work: it cuts the rest at once, and no thought under way is lost for it.

use super::{After, Scene, calls, objective, says, work};
use crate::broker::loopback;
use crate::house::TempHouse;
use agenda::Change;
use agenda::requests::RequestChange;
use agenda::sessions::{Origin, Request};
use creature::life::Leaving;
use creature::store::caller::Caller;
use memory::Record;
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
    life.take_notice(None).unwrap();
    assert_eq!(life.cursors.owner.words.len(), 1);
    while life.cursors.events.news.is_empty() {
        life.rest(Some(Duration::from_secs(1)), &mut After(None)).await.unwrap();
    }
    assert_eq!(life.cursors.events.news, ["[thread garden] dream: session-2 done: read"]);
    assert_eq!(scene.asked().len(), 2, "the word cost one its thought");
}

/// Asks the life to leave once it has told of a stop.
struct Obeyed<'a>(&'a TempHouse);

impl Leaving for Obeyed<'_> {
    async fn asked(&mut self) {
        let is_told =
            |record: &Record| record.data["text"].as_str().is_some_and(|text| text.starts_with("Stopped: "));
        while !self.0.records().iter().any(is_told) {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
}

/// Found by reading: of two threads whose sub-sessions one stop ended, the request of the second was gone on with, and it was
/// told nothing.
#[tokio::test]
async fn stop_ends_the_requests_of_all_threads_whose_sessions_it_ends() {
    loopback!();
    let scene = Scene::new(|text| match text.contains("Fetch a page") {
        // A call that never ends.
        true => calls("web.fetch_text", json!({"url": "https://example.org"})),
        false => says("read"),
    });
    let mut life = scene.born(1).await;
    for thread in ["garden", "shed"] {
        life.caller = Caller::owner(thread);
        let text = format!("fetch it for the {thread}");
        let heard = RequestChange::Heard { text, tools: Vec::new(), word: String::new() };
        let said = "I have it fetched".to_owned();
        let answered = RequestChange::Answered { done: Some(false), id: None, said, wait: None };
        life.change(&Change::Request(heard)).unwrap();
        life.change(&Change::Request(answered)).unwrap();
        let origin = Origin::Tool { parent: format!("thought-{}", thread.len()) };
        let request = Request { owner: true, thread: thread.to_owned(), ..objective(origin, "Fetch a page") };
        life.store.spawn(vec![request], false).unwrap();
    }
    while scene.asked().len() < 2 {
        life.rest(Some(Duration::from_millis(50)), &mut After(None)).await.unwrap();
    }
    scene.house.say(r#"{"at": "2030-01-01T00:00:00Z", "text": "stop that"}"#);
    life.wake(&mut Obeyed(&scene.house)).await.unwrap();
    let all = scene.house.records();
    for thread in ["garden", "shed"] {
        let is_told = all.iter().any(|record| {
            record.data["thread"] == thread
                && record.data["text"].as_str().is_some_and(|text| text.starts_with("Stopped, as you said"))
        });
        assert!(is_told, "{thread} is told nothing");
    }
    let open: Vec<_> = life.store.agenda.requests.open().map(|one| one.about.clone()).collect();
    assert!(open.is_empty(), "gone on with: {open:?}");
    assert!(
        life.store.agenda.directives.paused(life.told.clock.now()).is_none(),
        "the owner's work alone was stopped"
    );
}
