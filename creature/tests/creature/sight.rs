//! Sight: on every wire, a mind that can only go on from what it was shown gets where it wants to.

mod world;

use crate::broker::loopback;
use crate::faithful::{Rules, Say, Seen, Wire};
use serde_json::json;
use std::sync::{Arc, Mutex};
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

/// Lives until the mind says that it has what it wanted.
fn live_until_found(
    way: (Wire, Rules, &'static str),
    mut mind: impl FnMut(&Seen) -> Result<String, Say> + Send + 'static,
    prepare: impl FnOnce(&World),
) -> String {
    let (wire, rules, form) = way;
    let found = Arc::new(Mutex::new(None));
    let noting = Arc::clone(&found);
    let world = World::new(wire, rules, form, move |seen| match mind(seen) {
        Ok(end) => {
            noting.lock().unwrap().get_or_insert(end);
            Say::new().says("I have it.").rests(300)
        }
        Err(say) => say,
    })
    .with_source();
    prepare(&world);
    let living = world.house.live(1);
    let end = crate::house::wait_for("the mind to find it", || {
        assert!(world.server.violations().is_empty(), "{wire:?} {form}: {:#?}", world.server.violations());
        found.lock().unwrap().clone()
    });
    assert!(living.leave().success());
    end
}

#[test]
fn a_word_of_the_owners_is_answered_from_what_a_file_says() {
    loopback!();
    for way in ways() {
        let name = format!("{:?} {}", way.0, way.2);
        println!("{name}");
        let said = live_until_found(
            way,
            |seen| {
                if let Some((_, text)) =
                    seen.last_results().into_iter().find(|(name, _)| name.contains("files"))
                {
                    let word = text
                        .split("the bird is a ")
                        .nth(1)
                        .unwrap_or_default()
                        .split('.')
                        .next()
                        .unwrap_or_default();
                    return Err(Say::new()
                        .says("I tell it.")
                        .calls("owner.message", json!({"text": format!("It is a {word}")})));
                }
                if let Some((_, text)) =
                    seen.last_results().into_iter().find(|(name, _)| name.contains("owner"))
                {
                    return Ok(text);
                }
                match seen.all_text().contains("which bird is it") {
                    true => Err(Say::new()
                        .thinks("Where may it be?")
                        .says("I look.")
                        .calls("files.read", json!({"path": "notes.txt"}))),
                    false => Err(Say::new().says("Nothing to do.").rests(1)),
                }
            },
            |world| {
                world.house.write(".self/workspace/notes.txt", "Nobody knows\nthe bird is a heron-41.\n");
                world.house.say(r#"{"text": "which bird is it?"}"#);
            },
        );
        assert!(!said.contains("failed"), "{name}: {said}");
    }
}
