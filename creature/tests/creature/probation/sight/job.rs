//! A job of the owner's that reads source round after round, and what a model's server has counted of it.

use super::world::{NATIVE, World};
use crate::faithful::{Entry, Prices, Rules, Say, Seen, Wire};
use crate::house::wait_for;
use serde_json::json;

/// What a creature may spend by itself in a day where its owner has set nothing, in dollars.
pub const DAY_USD: f64 = 0.75;

/// Each request as it was shown, and what it came to.
pub struct Job {
    pub seen: Vec<Seen>,
    pub ledger: Vec<Entry>,
}

/// Reads 60 lines a round, no span twice, and answers in the last of them.
pub fn job(wire: Wire, rounds: usize) -> Job {
    let world = World::new(wire, Rules::default(), NATIVE, move |seen| match seen.number - 1 {
        at if at + 1 < rounds => Say::new().thinks("What follows from this?").says("I read on.").calls(
            "repo.read",
            json!({"path": "creature/src/life.rs", "from": 1 + at * 15 % 300, "lines": 60 + at / 20}),
        ),
        _ if seen.history().iter().any(|(name, ..)| name.contains("owner")) => Say::new().rests(300),
        _ => Say::new().says("Done.").calls("owner.message", json!({"text": "read"})),
    })
    .with_source();
    // Papers of a usual length, so that the standing part is one.
    world.house.write("self/scratch.md", "a line of scratch about what is under way\n".repeat(60));
    world.house.write("self/HEARTBEAT.md", "- look whether anything waits for an answer\n".repeat(8));
    let Prices { input, cache_read, output } = Prices::MIDDLE;
    let prices = json!({"input": input, "cache_read": cache_read, "output": output});
    world.offer(json!({"window": 1_000_000, "cap_usd": DAY_USD, "prices": prices}));
    world.house.say(r#"{"text": "read your life"}"#);
    let living = world.house.live(1);
    world.house.record("message", |data| data["text"] == "read");
    // Asked to leave in the middle of its next thought, it would leave a request that comes to nothing.
    wait_for("it to rest", || {
        let beat = std::fs::read_to_string(world.house.path(".self/heartbeat")).unwrap_or_default();
        beat.contains("\"resting\"").then_some(())
    });
    assert!(living.leave().success());
    world.server.assert_no_violations();
    Job { seen: world.server.seen(), ledger: world.server.ledger() }
}
