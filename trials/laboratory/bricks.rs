//! A failed row over a house that lives is no brick; a house that no guardian brings back is one.

use crate::survival::matrix::{Killed, Row, Variant, one};
use crate::survival::outcome::Verdict;
use crate::survival::trial::Trial;
use std::time::Duration;

fn outcome_of(run: fn(&mut Trial)) -> (bool, String) {
    let row = Row::new("laboratory", "a row that fails", "nothing", run);
    let outcome = one(Variant { row, killed: Killed::Nobody, is_sample: false });
    match outcome.verdict {
        Verdict::Failed(why) => (outcome.brick, why),
        _ => panic!("the row did not fail: {}", outcome.happened),
    }
}

#[test]
fn a_failed_row_whose_house_lives_is_no_brick() {
    let (brick, why) = outcome_of(|trial| {
        trial.shell("think x; live");
        trial.begin();
        trial.inject(|_| {});
        panic!("the row's own claim");
    });
    assert!(why.contains("the row's own claim"), "{why}");
    assert!(!brick, "the house lives");
}

#[test]
fn a_failed_row_whose_house_was_left_paused_is_no_brick() {
    let (brick, why) = outcome_of(|trial| {
        trial.shell("think x; live");
        trial.begin();
        trial.inject(|_| {});
        trial.order(&["pause"]);
        panic!("the row's own claim");
    });
    assert!(why.contains("the row's own claim"), "{why}");
    assert!(!brick, "an owner can resume it");
}

#[test]
fn a_house_that_no_guardian_brings_back_is_a_brick() {
    let (brick, _) = outcome_of(|trial| {
        trial.shell("think x; live");
        trial.begin();
        trial.inject(|_| {});
        assert_eq!(trial.stop(), 0);
        trial.house().write("owner.toml", "no settings\n");
        trial.patience = Duration::from_secs(3);
        trial.start();
        trial.recovers();
    });
    assert!(brick, "nothing lives there");
}

#[test]
fn an_order_after_a_kill_waits_for_the_guardian_that_listens() {
    let (brick, why) = outcome_of(|trial| {
        trial.shell("think x; live");
        trial.begin();
        trial.inject(|_| {});
        trial.order(&["pause"]);
        trial.until("the pause", |house| house.status()["phase"] == "paused");
        // The page still says "paused", of a guardian that is gone.
        trial.kill_guardian();
        trial.order(&["resume"]);
        trial.recovers();
        panic!("all went well");
    });
    assert_eq!((brick, why.as_str()), (false, "all went well"));
}
