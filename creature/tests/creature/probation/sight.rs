//! Sight: on every wire, a mind that can only go on from what it was shown gets where it wants to.

mod apart;
mod begun_anew;
mod beside;
mod course;
mod grown;
mod heard;
mod job;
mod journal;
mod odd_replies;
mod owners_day;
mod refused;
mod several;
mod storm;
mod summed;
pub mod world;

use crate::broker::loopback;
use crate::faithful::{Rules, Say, Seen, Wire};
use serde_json::json;
use world::{AUTO, JSON, NATIVE, World};

/// Every wire, the thought as JSON, and local servers with and without tools.
fn ways() -> Vec<(Wire, Rules, &'static str)> {
    vec![
        (Wire::Anthropic, Rules::default(), NATIVE),
        (Wire::Responses, Rules::default(), NATIVE),
        (Wire::Chat, Rules::odd(), NATIVE),
        (Wire::Chat, Rules { drops_tools: true, ..Rules::local() }, AUTO),
        (Wire::Chat, Rules::local(), AUTO),
        (Wire::Anthropic, Rules::default(), JSON),
    ]
}

/// Looks for the bird in a file and tells the owner; the question whether it has tools is answered as it can.
fn seeker(seen: &Seen) -> Say {
    let came = |tool: &str| seen.last_results().into_iter().find(|(name, _)| name.contains(tool));
    if seen.last_said().starts_with("Call the tool echo") {
        return Say::new().plainly("I have no such tool.");
    }
    if let Some((_, text)) = came("files") {
        let word = text.split("the bird is a ").nth(1).and_then(|rest| rest.split('.').next());
        let text = format!("It is a {}", word.unwrap_or_default());
        return Say::new().says("I tell it.").calls("owner.message", json!({"text": text}));
    }
    if came("owner").is_none() && seen.all_text().contains("which bird is it") {
        let look = Say::new().thinks("Where may it be?").says("I look.");
        return look.calls("files.read", json!({"path": "notes.txt"}));
    }
    Say::new().says("Nothing to do.").rests(300)
}

#[test]
fn a_word_of_the_owners_is_answered_from_what_a_file_says() {
    loopback!();
    for (wire, rules, form) in ways() {
        println!("{wire:?} {form}");
        let world = World::new(wire, rules, form, seeker);
        world.house.write(".self/workspace/notes.txt", "Nobody knows\nthe bird is a heron-41.\n");
        world.house.say(r#"{"text": "which bird is it?"}"#);
        let living = world.live(1);
        world.house.record("message", |data| data["text"] == "It is a heron-41");
        assert!(living.leave().success());
        world.server.assert_no_violations();
    }
}
