//! Conversations that a server refuses: one that is too long or filtered begins anew, whether the server says so or not.

use super::world::{NATIVE, World};
use crate::broker::{TOKEN, loopback};
use crate::faithful::{Rules, Say, Seen, Wire};
use crate::lived::Lived;
use creature::paths::House;
use creature::tools::catalogue::LIST;
use hands::Broker;
use mind::llm::{Reach, offered};
use mind::{ModelSettings, Outcome};
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

const NOON: &str = "2026-03-02T12:00:00Z";

/// Bytes by which a request may be longer than the first.
const ROOM: usize = 40_000;

/// Attempts of one call at a server that is busy.
const ATTEMPTS: usize = 3;

/// Tells pages read so far, as the mind sees them.
fn pages(seen: &Seen) -> usize {
    seen.all_text().matches("page <").count()
}

/// A mind that reads pages until its conversation was begun anew, and a server that answers `refusal` to what it does not
/// take; how often it did so.
async fn refused(
    wire: Wire,
    rules: Rules,
    refusal: Say,
    takes: impl Fn(&Seen, usize) -> bool + Send + 'static,
) -> usize {
    let refusals = Arc::new(AtomicUsize::new(0));
    let (counting, mut first) = (Arc::clone(&refusals), None);
    let world = World::new(wire, rules, NATIVE, move |seen: &Seen| {
        let answered = seen.last_results().iter().any(|(name, _)| name.contains("owner"));
        if seen.autonomous || answered {
            return Say::new().rests(300);
        }
        let bytes = seen.body.to_string().len();
        if !takes(seen, bytes.saturating_sub(*first.get_or_insert(bytes))) {
            counting.fetch_add(1, Ordering::Relaxed);
            return refusal.clone();
        }
        let anew = ["Handover of your last", "How your last conversation ended"];
        if anew.iter().any(|begins| seen.all_text().contains(begins)) {
            return Say::new().says("On.").calls("owner.message", json!({"text": "counted"}));
        }
        Say::new().says("On.").calls("files.read", json!({"path": format!("{}.txt", pages(seen))}))
    });
    for page in 0..40 {
        let words = "words \n".repeat(350);
        let text = format!("page <{page}>\n{words}of badgers\n{words}");
        world.house.write(&format!(".self/workspace/{page}.txt"), text);
    }
    world.house.say(&json!({"at": NOON, "text": "count the pages"}).to_string());
    let mut life = Lived::born(&world.house, NOON, 1).await;
    let counted = || {
        world
            .house
            .records()
            .iter()
            .any(|record| record.kind == "message" && record.data["text"] == "counted")
    };
    for _ in 0..12 {
        if counted() {
            break;
        }
        life.wake().await;
    }
    assert!(
        counted(),
        "{wire:?}: {} refusals, {:#?}",
        refusals.load(Ordering::Relaxed),
        world.house.records()
    );
    world.server.assert_no_violations();
    refusals.load(Ordering::Relaxed)
}

fn ways() -> [(Wire, Rules); 3] {
    [(Wire::Anthropic, Rules::default()), (Wire::Responses, Rules::default()), (Wire::Chat, Rules::local())]
}

#[tokio::test]
async fn a_conversation_that_is_said_to_be_too_long_is_refused_once() {
    loopback!();
    let said = [
        (
            400,
            json!({"error": {"message": "The input token count (9) exceeds the maximum number of tokens"}}),
        ),
        (
            500,
            json!({"error": {"code": 500, "message": "Context size has been exceeded.", "type": "server_error"}}),
        ),
        (
            429,
            json!({"error": {"message": "Request too large for m on tokens per min (TPM): Limit 9, Requested 12."}}),
        ),
    ];
    for ((wire, rules), (status, body)) in ways().into_iter().zip(said) {
        let refusal = Say::new().status(status, &body.to_string());
        assert_eq!(refused(wire, rules, refusal, |_, more| more < ROOM).await, 1, "{wire:?}");
    }
}

#[tokio::test]
async fn a_conversation_that_is_refused_twice_without_a_word_after_it_grew_begins_anew() {
    loopback!();
    let cases = [
        (Say::new().status(400, ""), 2),
        (Say::new().plainly(""), 2),
        (Say::new().status(500, ""), 2 * ATTEMPTS),
    ];
    for ((wire, rules), (refusal, most)) in ways().into_iter().zip(cases) {
        assert_eq!(refused(wire, rules, refusal, |_, more| more < ROOM).await, most, "{wire:?}");
    }
}

#[tokio::test]
async fn a_conversation_that_a_filter_refuses_begins_anew_without_what_it_held() {
    loopback!();
    let body =
        json!({"error": {"code": 403, "message": "Your input was flagged", "metadata": {"reasons": ["x"]}}});
    for (wire, rules) in ways() {
        let refusal = Say::new().status(403, &body.to_string());
        let is_clean = |seen: &Seen, _| !seen.body.to_string().contains("of badgers");
        assert_eq!(refused(wire, rules, refusal, is_clean).await, 1, "{wire:?}");
    }
}

#[tokio::test]
async fn a_sub_sessions_conversation_that_is_refused_begins_anew_at_its_next_turn() {
    loopback!();
    let filtered =
        json!({"error": {"code": 403, "message": "Your input was flagged", "metadata": {"reasons": ["x"]}}});
    let refusals =
        [(400, "prompt is too long".to_owned()), (400, String::new()), (403, filtered.to_string())];
    for (status, body) in refusals {
        let world = World::new(Wire::Anthropic, Rules::default(), NATIVE, move |seen: &Seen| {
            match seen.all_text().contains("a long result") {
                true => Say::new().status(status, &body),
                false => Say::new().says("On.").calls("files.read", json!({"path": "0.txt"})),
            }
        });
        let broker = Broker::new(world.house.broker.as_ref().unwrap(), TOKEN).unwrap();
        let (house, settings) = (House::new(world.house.path("")), ModelSettings::default());
        let (base, token) = (broker.base(), broker.token());
        let reach = Reach {
            base,
            token,
            settings: &settings,
            house: &house,
            tools: &LIST,
            commit: "c0ffee",
            configured: &[],
            outside: "",
        };
        let status_page = world.door.status.lock().unwrap().clone();
        let mind = offered(&reach, &status_page).unwrap().unwrap();
        let now: jiff::Timestamp = NOON.parse().unwrap();
        let apart =
            |known| mind.apart(&mind.frame, "s1", known, || "Your task.".to_owned(), "Noon.", (1, now));
        let mut talk = apart(None).unwrap();
        let thought = mind.turn(&mind.frame, &mut talk, true, now, &|| ()).await;
        let Outcome::Thought { thought, .. } = thought else { panic!("{thought:?}") };
        talk.done(&thought.tool_calls[0].id, "a long result", false).unwrap();
        let refused = mind.turn(&mind.frame, &mut talk, true, now, &|| ()).await;
        assert!(matches!(refused, Outcome::Down(_)), "{refused:?}");
        let mut anew = apart(Some(talk)).unwrap();
        assert_eq!(anew.turns.len(), 2, "{:?}", anew.turns);
        let thought = mind.turn(&mind.frame, &mut anew, true, now, &|| ()).await;
        assert!(matches!(thought, Outcome::Thought { .. }), "{thought:?}");
    }
}

#[tokio::test]
async fn a_wait_that_a_server_names_in_its_words_is_waited_and_told_in_words() {
    loopback!();
    let body = json!([{"error": {"code": 429, "message": "Your quota is used up", "status": "RESOURCE_EXHAUSTED",
        "details": [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "37s"}]}}]);
    for (wire, rules) in ways() {
        let refusal = Say::new().status(429, &body.to_string());
        let world = World::new(wire, rules, NATIVE, move |_: &Seen| refusal.clone());
        world.house.say(&json!({"at": NOON, "text": "count the pages"}).to_string());
        let mut life = Lived::born(&world.house, NOON, 1).await;
        // Until one word more than what was told in whole seconds has passed, nothing is asked.
        assert_eq!(life.wake().await.as_secs(), 38, "{wire:?}");
        assert_eq!(world.server.seen().len(), 1, "{wire:?}");
        let records = world.house.records();
        let told =
            records.iter().find(|record| record.kind == "message" && record.data["from"] == "creature");
        let text = told.unwrap_or_else(|| panic!("{records:#?}")).data["text"].as_str().unwrap();
        assert!(
            text.contains("429 Too Many Requests: Your quota is used up") && !text.contains('{'),
            "{text}"
        );
    }
}
