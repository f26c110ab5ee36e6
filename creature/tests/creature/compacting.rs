//! Compacting: on the owner's word, with the last messages as they were; parts measured; conversations forgotten.

use crate::broker::loopback;
use crate::faithful::{Rules, Say, Seen, Wire};
use crate::lived::Lived;
use crate::probation::sight::world::{JSON, NATIVE, World};
use creature::tools::catalogue::LIST;
use mind::handover::last;
use model::{Answer, Turn};
use serde_json::{Value, json};
use std::time::{Duration, SystemTime};

const BEGAN: &str = "2026-05-28T12:00:00Z";

/// Counts stones for its owner, one look each, and sums up what it is asked to.
fn counts(seen: &Seen) -> Say {
    if seen.last_said().contains("ends here. Call no tool") {
        return Say::new().plainly("Goal: count stones. Done: some. Next: more. Files touched: none.");
    }
    match seen.last_results().pop() {
        Some((name, _)) if name.contains("owner") => Say::new().rests(300),
        Some(_) => {
            Say::new().says("Counted.").calls("owner.message", json!({"text": "So many stones lie there."}))
        }
        None if seen.last_said().contains("count the stones") => {
            Say::new().says("I look.").calls("files.list", json!({}))
        }
        None => Say::new().rests(300),
    }
}

fn world(form: &str) -> World {
    let world = World::new(Wire::Anthropic, Rules::default(), form, counts);
    world.house.write(".self/workspace/a-stone-of-granite.txt", "grey");
    world
}

/// Found: `compact` only said a sentence to the mind, which answered and compacted nothing; and a conversation that goes on
/// from a summary had none of its messages as they were.
#[tokio::test]
async fn compact_compacts_and_the_last_messages_stay_as_they_were() {
    loopback!();
    for form in [NATIVE, JSON] {
        let world = world(form);
        let say = |minute: u32, text: &str| {
            world
                .house
                .say(&json!({"at": format!("2026-05-28T12:{minute:02}:00Z"), "text": text}).to_string());
        };
        say(0, "count the stones");
        let mut lived = Lived::born(&world.house, BEGAN, 1).await;
        lived.stay().await;
        let asked = world.server.seen().len();
        say(1, "Take a snapshot now, please.");
        lived.stay().await;
        let answer = world.house.record("message", |data| {
            data["text"].as_str().is_some_and(|text| text.starts_with("Compacted: a snapshot of "))
        });
        assert_eq!(answer.data["kind"], "answer");
        world.house.record("snapshot", |_| true);
        assert!(world.server.seen().len() <= asked + 1, "the word itself is put to nobody");
        say(2, "count the stones once more");
        lived.stay().await;
        let seen = world.server.seen();
        let summed = seen.iter().filter(|seen| seen.last_said().contains("ends here. Call no tool")).count();
        assert!(summed >= 1, "{form}: nothing was summed up");
        let anew =
            seen.iter().rev().find(|seen| seen.all_text().contains("Handover of your last conversation"));
        let text = anew.unwrap().all_text();
        let (_, kept) = text.split_once("# Its last messages, as they were").unwrap();
        for part in [
            "== said ==\nI look.",
            "== called ==\nfiles.list",
            "a-stone-of-granite.txt",
            "So many stones lie there.",
        ] {
            assert!(kept.contains(part), "{form}: {part}: {kept}");
        }
        world.server.assert_no_violations();
    }
}

/// Ten messages at most, whole from the newest on, and none of what a conversation begins and ends with.
#[test]
fn the_last_ten_messages_are_whole_as_far_as_there_is_room() {
    let mut turns = vec![Turn::Said { text: "opening words".to_owned() }];
    for n in 0..12 {
        let raw = json!([{"type": "text", "text": format!("thought <{n}>")},
            {"type": "tool_use", "id": format!("c{n}"), "name": "files_read", "input": {"path": format!("{n}.txt")}}]);
        turns.push(Turn::Thought { raw });
        let text = format!("result <{n}> {}", "x".repeat(2_000));
        turns.push(Turn::Results { results: vec![Answer { id: format!("c{n}"), text, failed: false }] });
    }
    let asks = "This conversation has grown too long and ends here. Call no tool. Sum up.";
    turns.push(Turn::Said { text: asks.to_owned() });
    let told = last(&turns, 100_000, &LIST);
    let whole = |n: usize| {
        told.contains(&format!("thought <{n}>"))
            && told.contains(&format!("result <{n}> {}", "x".repeat(2_000)))
    };
    assert!((7..12).all(whole), "{told}");
    assert!(
        !told.contains("thought <6>") && !told.contains("opening words") && !told.contains("Sum up."),
        "{told}"
    );
    let little = last(&turns, 5_000, &LIST);
    assert!(little.chars().count() < 6_000, "{}", little.chars().count());
    assert!(
        little.contains(&format!("result <11> {}", "x".repeat(2_000))) && little.contains("left out"),
        "{little}"
    );
    assert_eq!(last(&turns[..1], 5_000, &LIST), "");
}

/// Found: what grew too long was looked at in a dream alone.
#[tokio::test]
async fn what_grew_too_long_is_told_with_the_next_thought_and_wakes_nobody() {
    loopback!();
    let world = World::new(Wire::Anthropic, Rules::default(), NATIVE, |seen| {
        match seen.all_text().contains("a letter came") {
            true => Say::new().rests(300),
            false => Say::new().rests(200),
        }
    });
    let mut lived = Lived::born(&world.house, BEGAN, 1).await;
    lived.wake().await;
    world.house.write("self/scratch.md", "a note\n".repeat(800));
    let asked = world.server.seen().len();
    for _ in 0..4 {
        lived.wake().await;
    }
    assert_eq!(world.server.seen().len(), asked, "its length wakes nobody");
    for letter in 1..3 {
        lived.life.cursors.events.tell(format!("a letter came, the {letter}."));
        lived.wake().await;
    }
    let told = world
        .server
        .seen()
        .iter()
        .filter(|seen| seen.last_said().contains("Upkeep: self/scratch.md has 5600 characters"))
        .count();
    assert_eq!(told, 1, "told once");
}

/// Found: conversations stayed for ever, up to a number; memory is never purged.
#[tokio::test]
async fn a_dream_forgets_conversations_of_a_month_ago_and_no_word_of_memory() {
    loopback!();
    let world = world(NATIVE);
    let mut lived = Lived::born(&world.house, BEGAN, 1).await;
    lived.wake().await;
    let ago = |days: u64| SystemTime::now() - Duration::from_secs(days * 86_400);
    let folder = ".self/mind/conversations";
    for (name, days) in
        [("talk-old", 31), ("talk-young", 29), ("ended-1-talk-old", 400), ("apart-session-9", 31)]
    {
        world.house.write(&format!("{folder}/{name}.jsonl"), "{}\n");
        let file = std::fs::File::options()
            .append(true)
            .open(world.house.path(&format!("{folder}/{name}.jsonl")))
            .unwrap();
        file.set_modified(ago(days)).unwrap();
    }
    let before = std::fs::read_to_string(world.house.path(".self/memory.jsonl")).unwrap();
    let dream = json!({"since": "2026-05-27T01:00:00Z", "wanted": true});
    world.house.write(".self/mind/dream.json", dream.to_string());
    lived.wake().await;
    let dreamt = world.house.record("dream", |data| data["parts"].is_array()).data;
    let purge = dreamt["parts"].as_array().unwrap().iter().find(|part| part["part"] == "purge").unwrap();
    assert!(purge["said"].as_str().unwrap().contains("3 old conversations"), "{purge}");
    let left = |name: &str| world.house.path(&format!("{folder}/{name}.jsonl")).exists();
    assert_eq!(
        ["talk-old", "talk-young", "ended-1-talk-old", "apart-session-9", "work"].map(left),
        [false, true, false, false, true]
    );
    let after = std::fs::read_to_string(world.house.path(".self/memory.jsonl")).unwrap();
    assert!(after.starts_with(&before), "memory keeps every word");
}

/// Found: the words of a dream were compiled in: to change them took a commit and a rebirth.
#[tokio::test]
async fn a_dream_follows_the_prompt_that_the_owner_writes() {
    loopback!();
    let script = crate::house::Script::sighted(|_| crate::house::thought("dream", json!([]), 0));
    let house = crate::house::TempHouse::with_model("openai", &script, 300);
    house.write("self/facts.md", "- Swifts sleep in the air [book, 2026-01-01]\n- Herons fish\n");
    let mut lived = Lived::born(&house, BEGAN, 1).await;
    for (written, part) in [
        ("", "You put in order what you hold for true"),
        ("Dream of the sea, and merge what is of water.\n", "Dream of the sea"),
    ] {
        house.write("self/prompts/dream.md", written);
        house.write("self/facts.md", format!("- Swifts sleep in the air\n- Herons fish\n- {part}\n"));
        let dream = json!({"since": "2026-05-27T01:00:00Z", "wanted": true});
        house.write(".self/mind/dream.json", dream.to_string());
        let before = script.asked.lock().unwrap().len();
        lived.wake().await;
        let asked: Vec<Value> = script.asked.lock().unwrap()[before..].to_vec();
        let dreams =
            asked.iter().map(Value::to_string).filter(|request| request.contains("facts.merge {facts"));
        let dreams: Vec<String> = dreams.collect();
        assert!(dreams.len() == 1 && dreams[0].contains(part), "{written}: {dreams:?}");
        assert_eq!(dreams[0].contains("You put in order"), written.is_empty());
    }
}
