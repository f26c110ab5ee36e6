//! A week of life in seconds: a virtual clock, a scripted model over real HTTP, an owner, a feed and a mailbox.

mod clock;
mod outside;
mod script;
mod world;

use crate::broker::loopback;
use clock::Chance;
use world::{Event, SETTINGS, World};

#[test]
fn an_idle_day() {
    loopback!();
    let mut world = World::new("2026-10-20T06:00:00Z", SETTINGS, vec![("2026-10-20T08:00:00Z", Event::Says("hello".to_owned()))]);
    let began = std::time::Instant::now();
    let mut chance = Chance::new();
    world.live("2026-10-21T06:00:00Z", Some(&mut chance));
    println!("{} wakes, {} lives, {} asks in {:?}", world.wakes.len(), world.lives, world.outside.seen().asks.len(), began.elapsed());
}
