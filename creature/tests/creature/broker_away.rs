//! A life behind the broker: budgets that end, models that come and go, a broker that dies, and the owner's decisions.

use crate::broker::{Asked, StandIn, TOKEN, answer, loopback, offer, refusal};
use crate::house::{Line, Script, TempHouse, thought, wait_for};
use crate::yard::Yard;
use serde_json::{Value, json};
use std::time::Duration;

#[test]
fn a_model_that_appears_is_thought_with_in_the_same_life() {
    loopback!();
    let script = Script::new(vec![thought("with a model", json!([]), 300)]);
    let house = TempHouse::with_model("openai", &script, 300);
    script.offer(Value::Null);
    let living = house.live(1);
    house.record("thought", |data| data["mind"] == "instinct");
    script.offer(offer("anthropic"));
    house.say("wake up");
    house.record("thought", |data| data["mind"] == "anthropic scripted");
    let changed = house.record("observation", |data| data["about"] == "mind");
    assert!(changed.data["text"].as_str().unwrap().contains("no longer with instinct"), "{}", changed.data);
    script.offer(Value::Null);
    house.say("status");
    house.record("message", |data| data["text"].as_str().is_some_and(|text| text.contains("on instinct")));
    living.leave();
}

/// The first life begins before its broker is built: it waits for nobody, and takes the broker up when it is there.
#[test]
fn a_broker_that_has_not_begun_is_not_asked_and_is_taken_up_in_the_same_life() {
    loopback!();
    let script = Script::new(vec![thought("with a model", json!([]), 300)]);
    let house = TempHouse::with_model("openai", &script, 300);
    house.write(".self/guardian.json", r#"{"broker": {"running": false, "restarts": 0}}"#);
    let living = house.live(1);
    house.record("thought", |data| data["mind"] == "instinct");
    assert!(script.broker.heard("/status").is_empty(), "nobody is asked who cannot answer");
    let odd = |record: &memory::Record| record.data["about"] == "broker";
    assert!(!house.records().iter().any(odd), "and that is nothing odd");
    house.write(".self/guardian.json", r#"{"broker": {"running": true, "restarts": 0}}"#);
    house.write(".self/budget.json", r#"{"since": "2026-01-02T03:04:05Z", "day": "2026-01-02"}"#);
    let changed = house.record("observation", |data| data["about"] == "mind");
    assert!(changed.data["text"].as_str().unwrap().contains("openai scripted"), "{}", changed.data);
    living.leave();
}

/// Found in a first life: a post waited seconds for a broker that was still being built.
#[tokio::test]
async fn a_broker_that_has_not_begun_is_no_way_out_yet() {
    loopback!();
    let broker = StandIn::new(|_: &Asked| answer(200, &json!({"services": []})));
    let mut yard = Yard::behind(&broker);
    yard.put(".self/guardian.json", r#"{"broker": {"running": false, "restarts": 0}}"#);
    let result = yard.call("service.list", json!({})).await;
    assert!(result["error"].as_str().unwrap().contains("no way out yet"), "{result}");
    assert!(broker.heard("/status").is_empty());
    // One that fell and is started again is waited for, as ever.
    for begun in [r#"{"running": true, "restarts": 0}"#, r#"{"running": false, "restarts": 1}"#] {
        yard.put(".self/guardian.json", &format!("{{\"broker\": {begun}}}"));
        assert_eq!(yard.call("service.list", json!({})).await["ok"], true, "{begun}");
    }
}

#[test]
fn the_owners_decision_cuts_the_rest_short_and_is_told_once() {
    loopback!();
    let script = Script::new(vec![thought("rest", json!([]), 300)]);
    let house = TempHouse::with_model("openai", &script, 300);
    let asked = json!({"at": "t", "id": "12", "event": "asked", "kind": "service", "service": "x",
        "method": "POST", "path": "/2/tweets", "summary": "tea?", "digest": "d"});
    house.write(".self/asks.jsonl", format!("{asked}\n"));
    let living = house.live(1);
    house.record("thought", |data| data["thought"] == 1);
    assert!(!script.situation(0).contains("Ask 12"), "an ask is no outcome");
    let mut done = asked.clone();
    done["event"] = json!("executed");
    done["status"] = json!(201);
    done["result"] = json!("{\"data\":{}}\u{1b}[2J");
    house.write(".self/asks.jsonl", format!("{asked}\n{done}\n"));
    let situation = script.situation(1);
    assert!(
        situation.contains("Ask 12: your owner approved it") && situation.contains("status 201"),
        "{situation}"
    );
    let told = house.record("observation", |data| data["about"] == "ask");
    assert_eq!((&told.data["id"], &told.data["event"]), (&json!("12"), &json!("executed")));
    living.leave();
    // Lost cursors tell nothing twice.
    std::fs::remove_file(house.path(".self/mind/cursors.json")).unwrap();
    let living = house.live(2);
    wait_for("a thought of the second life", || {
        house.records().into_iter().find(|record| record.kind == "thought" && record.life == 2)
    });
    living.leave();
    assert_eq!(house.records().iter().filter(|record| record.data["about"] == "ask").count(), 1);
}

#[test]
fn news_of_a_server_cut_the_rest_short_and_are_told_once() {
    loopback!();
    let script = Script::new(vec![thought("rest", json!([]), 300)]);
    let house = TempHouse::with_model("openai", &script, 300);
    let living = house.live(1);
    house.record("thought", |data| data["thought"] == 1);
    let line = json!({"at": "2026-11-29T02:00:00Z", "server": "mail", "event": "changed", "resources": ["mail://inbox"], "more": 0});
    house.write(".self/news.jsonl", format!("{line}\n"));
    let situation = script.situation(1);
    assert!(
        situation.contains("News of the server mail") && situation.contains("text of others"),
        "{situation}"
    );
    house.record("observation", |data| data["about"] == "server");
    living.leave();
    // The broker kept the end of a long file, as another file.
    std::fs::remove_file(house.path(".self/news.jsonl")).unwrap();
    let newer = json!({"at": "2026-11-29T02:05:00Z", "server": "mail", "event": "changed", "resources": ["mail://inbox"], "more": 0});
    house.write(".self/news.jsonl", format!("{line}\n{newer}\n"));
    let living = house.live(2);
    wait_for("a thought of the second life", || {
        house.records().into_iter().find(|record| record.kind == "thought" && record.life == 2)
    });
    living.leave();
    assert_eq!(house.records().iter().filter(|record| record.data["about"] == "server").count(), 2);
}

#[test]
fn neither_its_shell_nor_its_log_knows_the_token() {
    loopback!();
    let run = json!([
        {"tool": "repo.run", "args": {"command": "env; echo and mine; tr '\\0' '\\n' </proc/$PPID/environ"}},
        {"tool": "repo.status", "args": {}},
    ]);
    let script = Script::new(vec![thought(&format!("look at {TOKEN}"), run, 300)]);
    let house = TempHouse::with_model("openai", &script, 300);
    // The owner's settings of git may be unreadable, and are none of the creature's business.
    house.write(".gitconfig", "[broken");
    let repo = git2::Repository::init(house.path("")).unwrap();
    let tree = repo.find_tree(repo.index().unwrap().write_tree().unwrap()).unwrap();
    let who = git2::Signature::now("a", "a@example.org").unwrap();
    repo.commit(Some("HEAD"), &who, &who, "first", &tree, &[]).unwrap();
    let living = house.live(1);
    let ran = house.record("action", |data| data["tool"] == "repo.run");
    let said = ran.data["result"]["stdout"].as_str().unwrap().to_owned();
    assert!(said.contains("CARGO_HTTP_PROXY=http://life:[hidden]@127.0.0.1"), "{said}");
    let own = said.split("and mine").next().unwrap();
    assert!(!own.contains("FERAL_BROKER"), "the shell is not given the broker: {own}");
    let git = house.record("action", |data| data["tool"] == "repo.status");
    assert_eq!(git.data["result"]["ok"], json!(true), "{}", git.data);
    living.leave();
    let (log, memory) = (house.log(), std::fs::read_to_string(house.path(".self/memory.jsonl")).unwrap());
    assert!(log.contains("look at [hidden]") && !log.contains(TOKEN), "{log}");
    assert!(!memory.contains(TOKEN));
}

mod probation {
    use super::*;

    #[test]
    fn at_the_end_of_the_budget_it_rests_until_the_owner_speaks() {
        loopback!();
        let script = Script::new(vec![
            Line::Refuses(429, "budget_cap", Some(40_000)),
            Line::Refuses(429, "budget_cap", Some(40_000)),
            thought("on the owner's behalf", json!([]), 300),
        ]);
        let house = TempHouse::with_model("openai", &script, 300);
        let living = house.live(1);
        let down = house.record("observation", |data| data["about"] == "budget");
        assert_eq!(
            (&down.data["rest_s"], &down.data["hint"]),
            (&json!(3_600), &json!("look at budget.json"))
        );
        std::thread::sleep(Duration::from_millis(1_500));
        assert_eq!(script.asked.lock().unwrap().len(), 1, "neither the client nor the loop asks again");
        house.say("are you there?");
        script.request(1);
        // Two words within the same moment are one wake.
        house.record("heartbeat", |data| data["wake"] == 2);
        house.say("please");
        house.record("thought", |data| data["intent"] == "on the owner's behalf");
        house.record("observation", |data| {
            data["about"] == "budget" && data["text"].as_str().is_some_and(|text| text.contains("again"))
        });
        let of = |about: &str| house.records().iter().filter(|one| one.data["about"] == about).count();
        assert_eq!(
            of("budget"),
            3,
            "once that its own ended, once that the owner's did, once that this is over"
        );
        assert_eq!(of("model"), 0, "it is no failure of the model");
        living.leave();
    }

    #[test]
    fn a_broker_that_is_away_ends_no_life() {
        loopback!();
        let refused = StandIn::new(|_| refusal(503, "starting", None));
        let mut house = TempHouse::new();
        house.broker = Some(refused.base());
        drop(refused);
        let mut living = house.live(1);
        let told = house.record("observation", |data| data["about"] == "broker");
        assert!(told.data["text"].as_str().unwrap().contains("the broker is away"), "{}", told.data);
        house.record("thought", |data| data["mind"] == "instinct");
        assert!(living.ended().is_none());
        living.leave();
        let (log, memory) = (house.log(), std::fs::read_to_string(house.path(".self/memory.jsonl")).unwrap());
        assert!(!log.contains(TOKEN) && !memory.contains(TOKEN));
    }
}
