//! What the guardian takes of `owner.toml`, and hands to the creature; which mistakes there are is the house's to test.

use guardian::limits::Limits;
use guardian::settings;
use serde_json::{Value, json};
use trials::House;
use walls::Choice;

#[test]
fn what_is_valid_is_taken() {
    let none = settings::read("").unwrap();
    assert_eq!((none.limits, none.asked), (Limits::default(), house::settings::Settings::default().asked()));
    let text = "walls = \"required\"\ntaint = \"allow\"\n[limits]\nbeat_s = 3\nprocesses = 64\nfile_mib = 16\n\
                [sandbox]\nread = [\"/opt/tools\"]\n[rest]\nlongest_s = 9999999\n[self_edit]\nbuild_s = 1\n";
    let settings = settings::read(text).unwrap();
    assert_eq!((settings.asked.choice, settings.asked.more.len()), (Choice::Required, 1));
    assert_eq!(settings.limits, Limits { beat_ms: 3_000, processes: 64, file_mib: 16, ..Limits::default() });
}

/// What is wrong in the creature's own section depends on what its tree declares, so it keeps no guardian from its start.
#[test]
fn the_creature_is_handed_its_settings_before_it_lives_and_when_they_change() {
    let house = House::new("cp .self/settings.json .self/workspace/born_with; think alive; live");
    house.write(
        "creature/settings.toml",
        "[naps]\nkind = \"number\"\ndefault = 3\nmost = 9\nmeaning = \"naps a day\"\n",
    );
    house.commit("a setting of its own");
    house.settings("[rest]\nlongest_s = 99\n[creature]\nnaps = 5\nnasp = 5\n");
    let guardian = house.start();
    house.until("a thought", || !house.thoughts().is_empty());
    let born_with: Value = serde_json::from_str(&house.read(".self/workspace/born_with")).unwrap();
    assert_eq!(born_with["life"], 1);
    assert_eq!(born_with["settings"]["rest"]["longest_s"], 99);
    assert_eq!(born_with["settings"]["creature"], json!({"naps": 5}));
    let told = born_with["told"].to_string();
    assert!(told.contains("[creature] nasp: no such setting; did you mean naps?"), "{told}");
    let handed = || serde_json::from_str::<Value>(&house.read(".self/settings.json")).unwrap_or_default();
    house.settings("[creature]\nnaps = 7\n");
    house.until("the change", || handed()["settings"]["creature"] == json!({"naps": 7}));
    assert_eq!((&handed()["life"], &handed()["told"]), (&json!(1), &json!([])));
    house.settings("[creature]\nnaps = 8\n[limits]\nbaet_s = 1\n");
    house.until("the mistake to be told", || house.told("settings_refused").len() == 1);
    assert_eq!(handed()["settings"]["creature"], json!({"naps": 7}), "what was valid before goes on");
    guardian.stop();
}

/// Found: a failure to hand the settings over was a line in the log, though the creature then does without what its
/// owner forbids.
#[test]
fn settings_that_cannot_be_handed_over_stand_in_the_status_until_they_can() {
    let house = House::new("think alive; live");
    let guardian = house.start();
    house.until("a thought", || !house.thoughts().is_empty());
    std::fs::remove_file(house.path(".self/settings.json")).unwrap();
    std::fs::create_dir_all(house.path(".self/settings.json/kept")).unwrap();
    house.settings("[rest]\nlongest_s = 99\n");
    let told = || house.status()["note"].to_string().contains("not handed its settings");
    house.until("the status to say so", told);
    std::fs::remove_dir_all(house.path(".self/settings.json")).unwrap();
    house.until("the settings to be handed over", || house.path(".self/settings.json").is_file());
    house.until("the status to forget it", || !told());
    guardian.stop();
}
