//! Rebirth: asked for once this life is blessed, given up where nobody is there to ask.

use crate::house::{SOON, TempHouse};
use creature::birth::birth;
use creature::config::Told;
use creature::life::Leaving;
use creature::paths::House;
use creature::tools::Rebirth;
use serde_json::{Value, json};
use std::time::Duration;

/// Asks to leave after a while, or never.
struct After(Option<Duration>);

impl Leaving for After {
    async fn asked(&mut self) {
        match self.0 {
            Some(wait) => tokio::time::sleep(wait).await,
            None => std::future::pending().await,
        }
        self.0 = Some(Duration::ZERO);
    }
}

fn lives(house: &TempHouse, leaving: After, life: u64) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let told = Told {
            house: House::new(house.path("")),
            life,
            commit: "c0ffee".to_owned(),
            safe: false,
            rehearsal: false,
            broker: None,
            clock: creature::clock::Clock::default(),
        };
        let mut life = birth(told).await.unwrap();
        life.toolbox.rebirth = Some(Rebirth { summary: "rest longer".to_owned() });
        let mut leaving = leaving;
        // It waits for its blessing, and an edit may make it wait for ever.
        let living = tokio::time::timeout(SOON, life.live(&mut leaving)).await;
        living.expect("it ends").unwrap();
    });
}

fn standing(house: &TempHouse, pid: u32, life: u64, blessed: bool) {
    let text = json!({"guardian_pid": pid, "life": life, "blessed": blessed}).to_string();
    house.write(".self/guardian.json", text);
}

#[test]
fn a_blessed_life_asks_and_ends_with_its_thought_in_memory() {
    let house = TempHouse::new();
    standing(&house, std::process::id(), 5, true);
    lives(&house, After(None), 5);
    let request: Value =
        serde_json::from_slice(&std::fs::read(house.path(".self/mind/request.json")).unwrap()).unwrap();
    assert_eq!((&request["life"], &request["kind"]), (&5.into(), &"rebirth".into()));
    assert_eq!(request["summary"], "rest longer");
    assert!(house.records().iter().any(|r| r.kind == "thought" && r.life == 5));
}

#[test]
fn an_unblessed_life_waits_and_may_be_asked_to_leave_meanwhile() {
    let house = TempHouse::new();
    standing(&house, std::process::id(), 5, false);
    lives(&house, After(Some(Duration::from_millis(900))), 5);
    assert_eq!(house.records().pop().unwrap().data["about"], "leave");
    // What passed its rehearsal is not left lying uncommitted.
    assert!(house.path(".self/mind/request.json").exists());
}

#[test]
fn without_a_guardian_it_says_so_and_lives_on() {
    let house = TempHouse::new();
    lives(&house, After(Some(Duration::from_millis(1_500))), 5);
    let told = house.records().into_iter().find(|r| r.data["about"] == "rebirth").unwrap();
    assert!(told.data["text"].as_str().unwrap().contains("rest longer"));
    assert!(!house.path(".self/mind/request.json").exists());
}
