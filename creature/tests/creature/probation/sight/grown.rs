//! Conversations that grow: summed up at a length, not for ever, and shorter where the day's money says so.

use super::course::ways;
use super::world::{NATIVE, World};
use crate::broker::loopback;
use crate::faithful::{Rules, Say, Seen, Wire};
use mind::grown::{Length, length};
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

#[test]
fn what_is_too_long_goes_on_from_a_summary() {
    loopback!();
    for (wire, rules) in ways() {
        let sums = Arc::new(AtomicUsize::new(0));
        let counting = Arc::clone(&sums);
        let world = World::new(wire, Rules { window: 24_000, ..rules }, NATIVE, move |seen| {
            if seen.last_said().contains("has grown too long") {
                counting.fetch_add(1, Ordering::Relaxed);
                let at = seen
                    .last_results()
                    .last()
                    .map(|(_, text)| text.lines().next().unwrap_or_default().to_owned());
                return Say::new().says(&format!(
                    "Goal: count the pages.\nDone: up to {}\nNext: the next page",
                    at.unwrap_or_default()
                ));
            }
            let page = seen
                .messages
                .iter()
                .flat_map(|message| &message.parts)
                .filter(|part| format!("{part:?}").contains("page"))
                .count();
            match counting.load(Ordering::Relaxed) {
                0 | 1 => Say::new()
                    .says(&format!("Page after {page}."))
                    .calls("files.read", json!({"path": format!("{page}.txt")})),
                _ => Say::new().says("Enough.").calls("owner.message", json!({"text": "counted"})),
            }
        });
        world.offer(json!({"window": 24_000}));
        for page in 0..60 {
            world.house.write(
                &format!(".self/workspace/{page}.txt"),
                format!("page {page}\n{}", "words \n".repeat(700)),
            );
        }
        world.house.say(r#"{"text": "count the pages, heron by heron"}"#);
        let living = world.house.live(1);
        world.house.record("message", |data| data["text"] == "counted");
        world.server.assert_no_violations();
        let seen = world.server.seen();
        let after: Vec<&Seen> =
            seen.iter().filter(|seen| seen.all_text().contains("Handover of your last")).collect();
        assert!(!after.is_empty(), "{wire:?}: no conversation began from a summary");
        for seen in after {
            let text = seen.all_text();
            assert!(text.contains("Goal: count the pages.") && text.contains("heron by heron"), "{wire:?}");
        }
        assert!(living.leave().success());
    }
}

#[test]
fn a_conversation_is_summed_up_when_it_is_long_and_has_grown_by_a_tenth_of_the_window() {
    for (now, first, round, expected) in [
        (60_000, Some(20_000), None, Length::Fits),
        (71_000, Some(20_000), None, Length::TooLong),
        (71_000, Some(65_000), None, Length::Fits),
        (75_000, Some(65_000), None, Length::TooLong),
        (71_000, None, None, Length::Fits),
        (91_000, None, None, Length::Hopeless),
        (40_000, Some(20_000), Some(35_000), Length::TooLong),
        // None is too long for its money that is shorter than this.
        (31_000, Some(20_000), Some(1_000), Length::Fits),
        (33_000, Some(20_000), Some(1_000), Length::TooLong),
    ] {
        assert_eq!(length(now, first, 100_000, round), expected, "{now} {first:?} {round:?}");
    }
}

/// Reads page after page; what it is asked to sum up it does in few words.
fn reads_on(seen: &Seen, asked: &AtomicUsize) -> Say {
    if seen.last_said().contains("has grown too long") {
        asked.fetch_add(1, Ordering::Relaxed);
        return Say::new().says("Goal: read on.");
    }
    let page = seen.all_text().matches("page <").count();
    Say::new().says("On.").calls("files.read", json!({"path": format!("{page}.txt")}))
}

fn pages(world: &World) {
    for page in 0..40 {
        let text = format!("page <{page}>\n{}", "words \n".repeat(300));
        world.house.write(&format!(".self/workspace/{page}.txt"), text);
    }
}

/// Tokens of the first request of an owner's word.
fn first_tokens(wire: Wire, rules: &Rules) -> usize {
    let world = World::new(wire, rules.clone(), NATIVE, |_| Say::new().rests(300));
    pages(&world);
    world.house.say(r#"{"text": "read on"}"#);
    let living = world.house.live(1);
    // Seen is not counted yet: a life that left between the two would leave an empty ledger.
    world.server.wait_for_counted(1);
    assert!(living.leave().success());
    world.server.ledger()[0].tokens.total()
}

#[test]
fn two_summaries_in_a_row_without_gain_end_the_wake() {
    loopback!();
    let (wire, rules) = (Wire::Anthropic, Rules::default());
    // Where a conversation begins it already is as long as one may be.
    let window = first_tokens(wire, &rules) * 100 / 78;
    let asked = Arc::new(AtomicUsize::new(0));
    let counting = Arc::clone(&asked);
    let world = World::new(wire, rules, NATIVE, move |seen| reads_on(seen, &counting));
    world.offer(json!({"window": window}));
    pages(&world);
    world.house.say(r#"{"text": "read on"}"#);
    let living = world.house.live(1);
    let told = world.house.record("observation", |data| data["about"] == "model");
    assert!(told.data["text"].as_str().unwrap().contains("failed to fit into the window"), "{}", told.data);
    assert_eq!(asked.load(Ordering::Relaxed), 2);
    let thoughts = world.house.records().iter().filter(|record| record.kind == "thought").count();
    assert!(thoughts > 2, "nothing was thought between the two: {thoughts}");
    assert!(living.leave().success());
    world.server.assert_no_violations();
}

#[test]
fn a_summary_that_was_cut_off_is_asked_for_once() {
    loopback!();
    for (wire, rules) in ways() {
        let asked = Arc::new(AtomicUsize::new(0));
        let counting = Arc::clone(&asked);
        let world = World::new(wire, rules, NATIVE, move |seen| {
            let first = !seen.all_text().contains("Handover of your last");
            match seen.last_said().contains("has grown too long") {
                true if counting.fetch_add(1, Ordering::Relaxed) == 0 => {
                    Say::new().says("Goal: read on.").cut_after(40)
                }
                true => Say::new().says("Goal: read on."),
                false if first => reads_on(seen, &counting),
                false => Say::new().says("Enough.").calls("owner.message", json!({"text": "read"})),
            }
        });
        world.offer(json!({"window": 24_000}));
        pages(&world);
        world.house.say(r#"{"text": "read on"}"#);
        let living = world.house.live(1);
        world.house.record("observation", |data| data["about"] == "model");
        world.house.say(r#"{"text": "and on"}"#);
        world.house.record("message", |data| data["text"] == "read");
        world.server.assert_no_violations();
        for seen in world.server.seen() {
            let times = seen.all_text().matches("has grown too long").count();
            assert!(times < 2, "{wire:?}: asked {times} times in one conversation");
        }
        assert!(living.leave().success());
    }
}

#[test]
fn what_the_days_money_has_no_room_for_is_taken_up_again_shorter() {
    loopback!();
    for (wire, rules) in ways() {
        let fits = first_tokens(wire, &rules) + 6_000;
        let refused = Arc::new(AtomicUsize::new(0));
        let refusing = Arc::clone(&refused);
        let world = World::new(wire, rules, NATIVE, move |seen| {
            let (text, tokens) = (seen.all_text(), seen.body.to_string().len() * 2 / 7);
            if text.contains("How your last conversation ended") {
                assert!(text.contains("page <"), "what it had read last is not handed over");
                return match seen.last_results().pop() {
                    Some((name, _)) if name.contains("owner") => Say::new().rests(300),
                    _ => Say::new().says("Enough.").calls("owner.message", json!({"text": "read"})),
                };
            }
            if tokens > fits {
                refusing.fetch_add(1, Ordering::Relaxed);
                let error =
                    json!({"type": "budget_cap", "message": "no room", "hint": "wait", "fits_tokens": fits});
                return Say::new().status(429, &json!({"type": "error", "error": error}).to_string());
            }
            reads_on(seen, &refusing)
        });
        world.offer(json!({"window": 200_000}));
        pages(&world);
        world.house.say(r#"{"text": "read on"}"#);
        let living = world.house.live(1);
        world.house.record("message", |data| data["text"] == "read");
        assert_eq!(refused.load(Ordering::Relaxed), 1, "{wire:?}");
        world.server.assert_no_violations();
        assert!(living.leave().success());
    }
}
