//! A busy hour, read as its owner would: what stands in memory of it, and how much of that is not of the life.

use crate::broker::loopback;
use crate::house::{Script, TempHouse, thought};
use crate::lived::Lived;
use serde_json::json;
use std::collections::BTreeMap;
use std::time::Duration;

fn kinds(house: &TempHouse) -> BTreeMap<String, usize> {
    let mut kinds = BTreeMap::new();
    for record in house.last_records(10_000) {
        let about = record.data["about"].as_str().unwrap_or_default();
        *kinds.entry(format!("{} {about}", record.kind).trim().to_owned()).or_default() += 1;
    }
    kinds
}

#[tokio::test]
async fn busy_model() {
    loopback!();
    let mut at = 0;
    let script = Script::sighted(move |shown| {
        at += 1;
        let new = &shown.new;
        if new.contains("Your owner's words, not yet answered") && new.contains("greenhouse") {
            return thought("take it on", json!([
                {"tool": "goal.add", "args": {"title": format!("greenhouse {at}"), "checkpoints": ["look", "write", "tell"]}},
                {"tool": "owner.message", "args": {"text": "I begin.", "done": true}}]), 0);
        }
        if new.contains("Your owner's words, not yet answered") {
            return thought("answer", json!([{"tool": "owner.message", "args": {"text": "Yes.", "done": true}}]), 60);
        }
        if let Some((_, rest)) = shown.new.split_once("goal-") {
            let id: String = rest.chars().take_while(char::is_ascii_digit).collect();
            return thought("work on it", json!([
                {"tool": "notes.append", "args": {"name": "diary", "text": format!("step {at}\n")}},
                {"tool": "goal.checkpoint", "args": {"id": format!("goal-{id}"), "status": "done"}}]), 60);
        }
        thought("rest", json!([]), 300)
    });
    let house = TempHouse::with_model("openai", &script, 300);
    house.write("self/HEARTBEAT.md", "- [ ] look at the pump\n- [ ] every 10 min: look at the mail\n");
    let mut lived = Lived::born(&house, "2026-11-22T10:00:00Z", 1).await;
    let mut left = Duration::from_secs(3_600);
    let mut next = 0;
    while !left.is_zero() {
        if left.as_secs() / 400 != next {
            next = left.as_secs() / 400;
            house.say(if next % 3 == 0 { "please plan the greenhouse" } else { "are you there?" });
            if next == 5 { house.say("remind me in 10 min to stretch"); }
        }
        let rest = lived.wake().await;
        left = left.saturating_sub(rest);
    }
    println!("MODEL memory {:#?} of {} booked {}", kinds(&house), house.last_records(10_000).len(), house.booked().len());
    for record in house.last_records(10_000).iter().take(60) { println!("{} {} {}", record.at, record.kind, record.data.to_string().chars().take(150).collect::<String>()); }
}

#[tokio::test]
async fn busy_keyless() {
    let house = TempHouse::new();
    house.write("self/HEARTBEAT.md", "- [ ] note the pump works\n- [ ] every 10 min: note the hour\n");
    let mut lived = Lived::born(&house, "2026-11-22T10:00:00Z", 1).await;
    let mut left = Duration::from_secs(3_600);
    let mut next = 0;
    while !left.is_zero() {
        if left.as_secs() / 600 != next {
            next = left.as_secs() / 600;
            house.say(["status", "note the tea is cold", "remind me in 10 min to stretch", "water it", "map", "focus on tea this week", "status"][next as usize % 7]);
        }
        let rest = lived.wake().await;
        left = left.saturating_sub(rest);
    }
    println!("KEYLESS memory {:#?} of {} booked {}", kinds(&house), house.last_records(10_000).len(), house.booked().len());
    for record in house.last_records(10_000).iter().take(60) { println!("{} {} {}", record.at, record.kind, record.data.to_string().chars().take(150).collect::<String>()); }
}
