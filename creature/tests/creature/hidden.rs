//! One redaction for everything that goes into a request to a model: secrets planted in every part of one.

use crate::broker::loopback;
use crate::house::{Script, TempHouse, thought};
use crate::lived::Lived;
use agenda::Change;
use agenda::goals::GoalChange;
use agenda::sessions::{Origin, Request};
use creature::tools::catalogue::LIST;
use mind::prompt;
use serde_json::json;

/// A password and a key of its own for each place.
fn planted(place: usize) -> (String, String) {
    (format!("the password is swordfish{place}x"), format!("sk-ant-api03-Q{place}abcdefgh12345678"))
}

/// What stands in every part of a request; ids, refs, paths and numbers that must stay.
const STAYS: [&str; 4] = [
    "creature/src/tools/repo_edit.rs:57",
    "refs/guardian/rescued/20261122T130501.123Z",
    "commit 4f3c2b1a09f8e7d6c5b4a39281706f5e4d3c2b1a",
    "1764000000000 ms",
];

fn text(place: usize) -> String {
    let (said, key) = planted(place);
    format!("place{place}: {said}, {key}; {}", STAYS.join(", "))
}

#[tokio::test]
async fn a_secret_in_any_part_of_a_request_is_not_sent() {
    loopback!();
    // What came of a call is put to it word for word, and loses its secrets too.
    let script = Script::sighted(|shown| {
        let looked = !shown.new.contains("place11:");
        let look = json!([{"tool": "notes.read", "args": {"name": "scratch"}}]);
        thought("look", if looked { json!([]) } else { look }, if looked { 300 } else { 0 })
    });
    let house = TempHouse::with_model("openai", &script, 300);
    house.write("PURPOSE.md", text(0));
    house.write("self/HEARTBEAT.md", format!("- [ ] {}\n", text(1)));
    house.write("self/scratch.md", text(2));
    house.write(".self/snapshots/20260302T120000.000Z.md", text(3));
    let mut lived = Lived::born(&house, "2026-05-28T12:00:00Z", 1).await;
    let life = &mut lived.life;
    let goal = GoalChange::Add { title: text(4), checkpoints: vec![text(5)], cost_usd: 0.0 };
    life.change(&Change::Goal(goal)).unwrap();
    life.store.record("observation", json!({"about": "page", "text": text(6)})).unwrap();
    // A line of a record has 600 characters: each place a record of its own.
    for (args, result) in [
        (json!({"path": text(7)}), json!({"ok": true})),
        (json!({}), json!({"ok": false, "error": text(8), "password": "plainword"})),
        (json!({}), json!({"ok": true, "text": format!("a\n{}", text(9))})),
    ] {
        let record = json!({"thought": 1, "tool": "files.read", "args": args, "result": result});
        life.store.record("action", record).unwrap();
    }
    life.cursors.events.tell(text(10));
    lived.wake().await;
    house.say(&text(11));
    lived.wake().await;
    let life = &mut lived.life;
    life.spawn_session(Request { origin: Origin::Dream, objective: text(12), ..Request::default() }).unwrap();
    lived.wake().await;
    let asked = script.asked.lock().unwrap().clone();
    let sent: String = asked.iter().map(|body| format!("{body}\n")).collect();
    for place in 0..=12 {
        assert!(sent.contains(&format!("place{place}:")), "place {place} was never sent");
        let (said, key) = planted(place);
        let said = said.rsplit(' ').next().unwrap();
        assert!(!sent.contains(said) && !sent.contains(&key), "place {place} went out raw");
    }
    assert!(!sent.contains("plainword"));
    assert!(sent.contains("## notes.read"), "no result was put to it");
    let times: usize = (0..=12).map(|place| sent.matches(&format!("place{place}:")).count()).sum();
    for stays in STAYS {
        let in_all = sent.matches(stays).count();
        assert!(in_all * 2 > times, "{stays} was struck: {in_all} of {times}");
    }
}

#[test]
fn what_a_mind_is_told_of_its_tools_passes_as_it_is() {
    for wire in [model::Wire::Anthropic, model::Wire::Chat] {
        let system = prompt::system(prompt::MIND, &prompt::in_json(wire, &LIST.lines(&|_| true)), 35_000);
        assert_eq!(agenda::standing::redact(&system), system);
    }
}
