//! Killed for real: lives in processes of their own under a virtual clock, each ended by SIGKILL at any moment.

use crate::broker::TOKEN;
use crate::clock::{Chance, Time};
use crate::house::TempHouse;
use crate::world::time;
use crate::world::{Never, World};
use agenda::Change;
use agenda::goals::GoalChange;
use creature::config::Told;
use creature::life::Next;
use creature::life::birth::birth;
use creature::paths::House;
use serde_json::json;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Where the hour is kept between such lives.
const HOUR: &str = "hour";

/// A life in a process of its own: from the house's hour on, until the told one or its death.
#[test]
fn a_life_to_be_killed() {
    let Ok(until) = std::env::var("FERAL_WEEK_UNTIL") else { return };
    let told = Told::from_env().unwrap();
    let hour = told.house.root().join(HOUR);
    let clock = Time::at(&std::fs::read_to_string(&hour).unwrap());
    let told = Told { clock: clock.clock(), ..told };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let mut life = birth(told).await.unwrap();
        while clock.now() < time(&until) {
            match life.wake(&mut Never).await {
                Ok(Next::Rest(rest)) => {
                    // What runs apart goes on in the rest.
                    assert!(life.rest(None, &mut Never).await.unwrap().is_none());
                    clock.pass(rest);
                }
                Ok(Next::Reborn(_) | Next::Leave) => panic!("nobody asked it to leave"),
                Err(fault) => panic!("failed to {} ({})", fault.error, fault.hint),
            }
            memory::replace(&hour, clock.now().to_string().as_bytes()).unwrap();
        }
    });
}

/// Lives until this hour, killed after every so many milliseconds; how many lives it took.
pub fn live_and_die(world: &World, until: &str, chance: &mut Chance) -> u64 {
    world.house.write(HOUR, world.time.now().to_string());
    let mut ends = Vec::new();
    for number in 1..400 {
        let mut life = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "crash::a_life_to_be_killed", "--nocapture"])
            .env("FERAL_WEEK_UNTIL", until)
            .env("FERAL_HOUSE", world.house.path(""))
            .env("FERAL_LIFE", number.to_string())
            .env("FERAL_BROKER", world.outside.broker.base())
            .env("FERAL_BROKER_TOKEN", TOKEN)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        // Most die young, some before they were born; on a slow machine they get older, or none would come to its day.
        let patience = Duration::from_millis(chance.below(90 + number * number / 4));
        let began = Instant::now();
        let status = loop {
            match life.try_wait().unwrap() {
                Some(status) => break status,
                None if began.elapsed() > patience => life.kill().unwrap(),
                None => std::thread::sleep(Duration::from_millis(2)),
            }
        };
        let hour = std::fs::read_to_string(world.house.path(HOUR)).unwrap();
        if time(&hour) >= time(until) {
            return number;
        }
        assert!(!status.success() && status.code().is_none(), "life {number} ended by itself: {status}");
        ends.push(
            json!({"life": number, "at": hour, "ended": "killed", "cause": "signal 9", "blame": "world"}),
        );
        let told = &ends[ends.len().saturating_sub(8)..];
        let standing = json!({"version": 1, "life": number + 1, "guardian_pid": 0, "ends": told});
        world.house.write(".self/guardian.json", standing.to_string());
    }
    panic!("400 lives did not come to {until}");
}

/// A death between the record of a change and the file of the agenda costs nothing.
#[tokio::test]
async fn what_memory_says_was_changed_is_changed() {
    let house = TempHouse::in_memory();
    let told = |life| Told {
        house: House::new(house.path("")),
        life,
        commit: String::new(),
        safe: false,
        rehearsal: false,
        broker: None,
        lifeline: creature::lifeline::Lifeline::default(),
        clock: Time::at("2026-10-20T06:00:00Z").clock(),
    };
    let mut life = birth(told(1)).await.unwrap();
    let add = |title: &str| {
        Change::Goal(GoalChange::Add { title: title.to_owned(), checkpoints: Vec::new(), cost_usd: 0.0 })
    };
    life.change(&add("first")).unwrap();
    let before = std::fs::read(house.path(".self/mind/agenda.json")).unwrap();
    for title in ["second", "third"] {
        life.change(&add(title)).unwrap();
    }
    let expected = life.store.agenda.clone();
    drop(life);
    house.write(".self/mind/agenda.json", before);
    for number in 2..4 {
        let life = birth(told(number)).await.unwrap();
        assert_eq!(life.store.agenda, expected, "life {number}");
    }
}
