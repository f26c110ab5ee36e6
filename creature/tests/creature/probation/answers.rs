//! What takes its time until the mind answers again: what its owner mends, and errors by every name.

use crate::answers::{AFTERNOON, Sighted, Way, page, told};
use crate::broker::loopback;
use crate::house::wait_for;
use crate::lived::Lived;

/// Found by living with it: after a 401 or at the cap it slept an hour, whatever its owner mended meanwhile.
#[test]
fn what_mends_the_mind_wakes_it_and_the_waiting_word_is_answered() {
    loopback!();
    for (way, since, day) in [
        (Way::Shut(401, "authentication_error", "invalid x-api-key", None), "13:00", "2026-03-02"),
        (Way::Shut(403, "stopped_until_owner", "put a right key into .env", None), "13:00", "2026-03-02"),
        (Way::Shut(429, "budget_cap", "no room", Some(30_000)), "12:00", "2026-03-03"),
        (Way::Shut(429, "budget_cap", "a call of this size does not fit", None), "13:00", "2026-03-02"),
    ] {
        let sighted = Sighted::new();
        let house = sighted.house("");
        page(&house, "12:00", "2026-03-02");
        sighted.is(way.clone());
        let living = house.live(1);
        house.record("observation", |data| data["rest_s"].is_number());
        house.say("are you there?");
        house.record("message", |data| data["kind"] == "waiting");
        sighted.is(Way::Open);
        page(&house, since, day);
        house.record("message", |data| {
            data["text"]
                .as_str()
                .is_some_and(|said| said.starts_with("the model read:") && said.contains("are you there?"))
        });
        living.leave();
    }
}

/// Found by reading its errors: they named the broker's own port, never who had said so.
#[tokio::test]
async fn errors_name_the_upstream_and_never_the_brokers_port() {
    loopback!();
    let sighted = Sighted::new();
    let house = sighted.house("");
    let port = sighted.broker.base().rsplit(':').next().unwrap().to_owned();
    let mut lived = Lived::born(&house, AFTERNOON, 1).await;
    for way in [
        Way::Shut(503, "overloaded", "come back later", Some(60)),
        Way::Shut(401, "authentication_error", "no such key", None),
        Way::Shut(404, "not_found_error", "no such model", None),
        Way::Shut(429, "budget_cap", "no room", Some(3_600)),
        Way::Babble,
        Way::Babble,
    ] {
        sighted.is(way);
        house.say("are you there?");
        lived.wake().await;
    }
    drop(sighted);
    house.say("and without a broker?");
    lived.wake().await;
    let heard = told(&house).join("\n");
    assert!(heard.contains("upstream: the broker is away"), "{heard}");
    assert!(heard.contains("api.example.org: 404 Not Found: no such model"), "{heard}");
    for file in [".self/memory.jsonl", ".self/mind/feed.jsonl", ".self/mind/cursors.json"] {
        let text = std::fs::read_to_string(house.path(file)).unwrap();
        assert!(!text.contains(&format!(":{port}")) && !text.contains("127.0.0.1"), "{file}: {text}");
    }
    wait_for("the next try in the heartbeat", || {
        let beat = std::fs::read_to_string(house.path(".self/heartbeat")).unwrap_or_default();
        beat.contains("\"next_try\":\"2026-03-02T").then_some(())
    });
}
