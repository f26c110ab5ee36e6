//! Rebirth: asked for once this life is blessed, given up where nobody is there to ask.

use crate::house::TempHouse;
use creature::config::Told;
use creature::life::Leaving;
use creature::life::birth::birth;
use creature::lifeline::Lifeline;
use creature::paths::House;
use serde_json::{Value, json};
use std::os::fd::OwnedFd;
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

fn lives(house: &TempHouse, leaving: After, life: u64, lifeline: Lifeline) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let told = Told {
            house: House::new(house.path("")),
            life,
            commit: "c0ffee".to_owned(),
            safe: false,
            rehearsal: false,
            broker: None,
            lifeline,
            clock: creature::clock::Clock::default(),
        };
        let mut life = birth(told).await.unwrap();
        // As a call of its first thought leaves it.
        life.toolbox.left.rebirth = Some("rest longer".to_owned());
        let mut leaving = leaving;
        // It waits for its blessing, and an edit may make it wait for ever.
        life.live(&mut leaving).await.unwrap();
    });
}

/// What stands in for a guardian: the other end of the pipe.
fn guardian() -> (Lifeline, OwnedFd) {
    let (lifeline, held) = nix::unistd::pipe().unwrap();
    (Lifeline::held_by(lifeline), held)
}

fn standing(house: &TempHouse, life: u64, blessed: bool) {
    let text = json!({"guardian_pid": 1, "life": life, "blessed": blessed}).to_string();
    house.write(".self/guardian.json", text);
}

#[test]
fn a_blessed_life_asks_and_ends_with_its_thought_in_memory() {
    let house = TempHouse::new();
    standing(&house, 5, true);
    let (lifeline, _guardian) = guardian();
    lives(&house, After(None), 5, lifeline);
    let request: Value =
        serde_json::from_slice(&std::fs::read(house.path(".self/mind/request.json")).unwrap()).unwrap();
    assert_eq!((&request["life"], &request["kind"]), (&5.into(), &"rebirth".into()));
    assert_eq!(request["summary"], "rest longer");
    assert!(house.records().iter().any(|r| r.kind == "thought" && r.life == 5));
}

#[test]
fn an_unblessed_life_waits_and_may_be_asked_to_leave_meanwhile() {
    let house = TempHouse::new();
    standing(&house, 5, false);
    let (lifeline, _guardian) = guardian();
    lives(&house, After(Some(Duration::from_millis(900))), 5, lifeline);
    assert_eq!(house.records().pop().unwrap().data["about"], "leave");
    // What passed its rehearsal is not left lying uncommitted.
    assert!(house.path(".self/mind/request.json").exists());
}

/// Found in a container: a guardian that is process 1 was taken for one that no longer runs, and no self-edit was born.
#[test]
fn a_guardian_is_known_by_its_pipe_whatever_its_number() {
    let (lifeline, guardian) = guardian();
    assert!(lifeline.holds());
    drop(guardian);
    assert!(!lifeline.holds(), "it holds nothing any more");
    assert!(!Lifeline::default().holds(), "nobody started this life");
}

mod probation {
    use super::*;

    #[test]
    fn without_a_guardian_it_says_so_and_lives_on() {
        let house = TempHouse::new();
        lives(&house, After(Some(Duration::from_millis(1_500))), 5, Lifeline::default());
        let told = house.records().into_iter().find(|r| r.data["about"] == "rebirth").unwrap();
        assert!(told.data["text"].as_str().unwrap().contains("rest longer"));
        assert!(!house.path(".self/mind/request.json").exists());
    }
}
