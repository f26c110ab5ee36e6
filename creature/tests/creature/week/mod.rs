//! A week of life in seconds: a virtual clock, a scripted model over real HTTP, an owner, a feed and a mailbox.

mod checks;
mod clock;
mod crash;
mod outside;
mod owner;
mod script;
mod world;

use crate::broker::loopback;
use clock::Chance;
use world::{SETTINGS, World};

#[test]
fn a_week_of_life() {
    loopback!();
    let mut world = World::new(owner::FROM, SETTINGS, owner::week());
    let began = std::time::Instant::now();
    world.live(owner::TO, None);
    println!("{} wakes, {} lives, {} asks in {:?}", world.wakes.len(), world.lives, world.outside.seen().asks.len(), began.elapsed());
    let records = world.house.last_records(100_000);
    let asks = world.outside.seen().asks.clone();
    if let Ok(to) = std::env::var("KEEP") {
        std::fs::copy(world.house.path(".self/memory.jsonl"), to).unwrap();
    }
    for kind in ["thought", "message", "heartbeat", "agenda", "action"] {
        println!("{kind}: {}", checks::of(&records, kind).count());
    }
    checks::context_within_caps(&asks);
    for (at, text, kind) in checks::messages(&records) {
        println!("{at} {kind} {text}");
    }
    println!("{:?}", checks::goals_reached(&records));
    checks::tokens_within(&world, 2_000_000);
    checks::messages_within(&records, 5);
    checks::nothing_without_reason(&world, &records, 0);
}
