//! An unfinished draft in the course of a life: it wakes, is told, and is put away when nobody touched it for a week.

use crate::broker::loopback;
use crate::guardian_post::answer;
use crate::house::{Script, TempHouse, thought};
use creature::paths::House;
use jiff::{SignedDuration, Timestamp};
use patch::draft::Draft;
use serde_json::json;

/// A draft of one file that was last touched so long ago.
fn drafted(house: &TempHouse, ago: SignedDuration) {
    house.write("creature/a.txt", "a\n");
    let (home, then) = (House::new(house.path("")), (Timestamp::now() - ago).to_string());
    let mut draft = Draft::begin(&home, &then).unwrap();
    let texts = [("creature/a.txt".to_owned(), Some("b\n".to_owned()))];
    draft.write(texts.into_iter().collect(), &then).unwrap();
    draft.came_to("check", &then, Some("at src/a.rs:1:1: error: no".to_owned())).unwrap();
}

#[test]
fn an_unfinished_draft_is_a_reason_to_wake_and_is_told() {
    loopback!();
    let script = Script::new(vec![thought("rest", json!([]), 300)]);
    let house = TempHouse::with_model("anthropic", &script, 300);
    drafted(&house, SignedDuration::from_mins(20));
    let living = house.live(1);
    let told = script.situation(0);
    assert!(
        told.contains("a draft since ") && told.contains("1 file, check fails, at src/a.rs:1:1"),
        "{told}"
    );
    let why = |data: &serde_json::Value| data["why"].to_string().contains("unfinished: a draft since ");
    house.record("heartbeat", why);
    assert!(living.leave().success());
}

#[test]
fn what_fell_before_it_could_put_its_draft_aside_is_no_draft_of_the_next_life() {
    let house = TempHouse::new();
    drafted(&house, SignedDuration::from_mins(1));
    let home = House::new(house.path(""));
    let mut draft = Draft::open(&home).unwrap().unwrap();
    draft.came_to("proof", &Timestamp::now().to_string(), None).unwrap();
    let golden = include_str!("../golden/guardian.json");
    house.write(".self/guardian.json", golden);
    let living = house.live(1);
    house.record("death", |data| data["fallen_ref"].is_string());
    assert!(!house.path(".self/workspace/draft").exists(), "it would be born and die again");
    assert!(house.path(".self/workspace/draft.aside/creature/a.txt").exists());
    assert!(living.leave().success());
}

#[test]
fn a_draft_nobody_touched_for_a_week_is_kept_by_the_guardian_and_put_away() {
    let house = TempHouse::new();
    drafted(&house, SignedDuration::from_hours(8 * 24));
    let asked = answer(&house.path(""), json!({"ok": true, "commit": "c0ffee"}));
    let living = house.live(1);
    let told = house.record("observation", |data| data["about"] == "draft");
    assert!(
        told.data["text"].as_str().unwrap().contains("kept as c0ffee under refs/guardian/rescued"),
        "{told:?}"
    );
    assert_eq!(asked.join().unwrap()["kind"], json!("draft"));
    assert!(!house.path(".self/workspace/draft").exists());
    assert!(house.path(".self/workspace/draft.aside/creature/a.txt").exists());
    assert!(living.leave().success());
}
