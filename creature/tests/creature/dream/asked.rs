//! A dream that asks a model: it acts within bounds, and one that is away costs only its part.

use super::{Bed, ONCE, TWICE, Wish, asleep, call, came, concern};
use crate::broker::loopback;
use crate::house::{Line, Script, TempHouse, thought};
use jiff::ToSpan;
use serde_json::{Value, json};
use std::fs;

/// What the model wants: three of these may be done.
fn acts() -> Value {
    json!([
        {"tool": "facts.merge", "args": {"facts": [1, 2], "text": "The shop is open from 9 to 18"}},
        {"tool": "facts.merge", "args": {"facts": [3, 4], "text": "Herons and owls are birds, all 7"}},
        {"tool": "facts.merge", "args": {"facts": [2, 3], "text": "taken"}},
        {"tool": "facts.merge", "args": {"facts": [3, 4, 5, 6], "text": "Too many at once"}},
        {"tool": "pulse.close", "args": {"id": "pulse-1", "why": "settled"}},
        {"tool": "pulse.close", "args": {"id": "pulse-2", "why": "also"}},
        {"tool": "pulse.update", "args": {"id": "pulse-2", "text": "see whether the herons came"}},
        {"tool": "pulse.close", "args": {"id": "pulse-99", "why": "who?"}},
        {"tool": "pulse.close", "args": {"id": "pulse-2", "why": "x", "all": true}},
        {"tool": "repo.run", "args": {"command": "touch pwned"}},
    ])
}

#[tokio::test]
async fn a_model_acts_within_bounds() {
    loopback!();
    let script = Script::new(vec![thought("tidy up", acts(), 0)]);
    let mut bed = Bed::new(TempHouse::with_model("openai", &script, 60));
    let settings = fs::read_to_string(bed.house.path("owner.toml")).unwrap();
    bed.house.write("owner.toml", settings + "[dream]\nat = \"03:00\"\nmodel = \"dreamer\"\n");
    let mut life = bed.born().await;
    asleep(&mut life).await;
    let facts = "- The shop opens at 9 [sign, 2026-02-01]\n- It closes at 18 [mail, 2026-01-01]\n- Herons are birds\n\
        - Owls are birds\n- Swifts sleep\n- Wrens sing\n";
    bed.house.write("self/facts.md", facts);
    let ids = [concern(&mut life, "the swifts"), concern(&mut life, "the herons")];
    assert_eq!(ids, ["pulse-1", "pulse-2"]);
    bed.wait(2.hours());
    asleep(&mut life).await;
    assert!(bed.dreams().is_empty(), "it is not three o'clock");
    bed.wait(1.hour());
    life.dream_if_due(&mut Wish(true)).await.unwrap();
    assert!(
        bed.dreams().is_empty() && script.asked.lock().unwrap().is_empty(),
        "it was asked to leave first"
    );
    asleep(&mut life).await;
    let asked = script.request(0);
    assert_eq!(asked["model"], "dreamer");
    assert!(
        asked.to_string().contains("1. The shop opens at 9") && asked.to_string().contains("pulse-2"),
        "{asked}"
    );
    assert!(
        bed.facts().starts_with(
            "- The shop is open from 9 to 18 [mail, 2026-01-01]\n- Herons are birds\n- Owls are birds\n"
        ),
        "{}",
        bed.facts()
    );
    let open: Vec<String> =
        life.toolbox.desk.agenda.pulse.open().map(|it| format!("{} {}", it.id, it.text)).collect();
    assert_eq!(open, ["pulse-2 see whether the herons came"]);
    let told = bed
        .house
        .records()
        .into_iter()
        .find(|record| record.kind == "dream" && record.data.get("refused").is_some())
        .unwrap()
        .data;
    assert_eq!(
        (told["done"].as_array().unwrap().len(), told["refused"].as_array().unwrap().len()),
        (3, 7),
        "{told:#}"
    );
    bed.wait(24.hours());
    asleep(&mut life).await;
    assert_eq!(
        (bed.dreams().len(), script.asked.lock().unwrap().len()),
        (2, 1),
        "the same is not asked twice"
    );
    let undone = call(&mut life, "dream.undo", json!({"name": bed.dreams()[0]["name"]})).await;
    assert_eq!((undone["ok"].as_bool(), bed.facts().as_str()), (Some(true), facts));
    assert_eq!(life.toolbox.desk.agenda.pulse.open().count(), 2);
}

#[tokio::test]
async fn a_model_that_is_away_costs_only_its_part() {
    loopback!();
    for line in [
        Line::Fails(500),
        Line::Says("what a night".to_owned()),
        Line::Refuses(402, "budget_exhausted", Some(60)),
    ] {
        let script = Script::new(vec![line]);
        let mut bed = Bed::new(TempHouse::with_model("anthropic", &script, 60));
        bed.house.write("self/facts.md", TWICE);
        let mut life = bed.born().await;
        asleep(&mut life).await;
        bed.wait(1.hour());
        asleep(&mut life).await;
        let dream = bed.dreams().remove(0);
        assert_eq!(
            (came(&dream, "thought")["ok"].as_bool(), came(&dream, "purge")["ok"].as_bool()),
            (Some(false), Some(true))
        );
        assert_eq!(bed.facts(), ONCE);
    }
}
