//! The owner's settings: errors name line and key, and a broken section costs only itself.

use agenda::stack::Category;
use creature::config::{self, Settings};
use creature::paths::House;
use patch::Limits;
use serde_json::{Value, json};
use std::fs;
use tempfile::TempDir;

/// What the guardian writes where the owner says nothing; its tests hold the same bytes.
const HANDED: &str = include_str!("../golden/settings.json");

#[test]
fn settings_are_read_and_strange_sections_are_the_guardians() {
    let text = "walls = \"on\"\n[limits]\nboot_s = 3\n[model]\nprovider = \"openai\"\ndeadline_s = 9\n[web]\nallow = [\"*\"]\n[rest]\nshortest_s = 5\nlongest_s = 60\n";
    let (settings, said) = Settings::read(text);
    assert_eq!(said, None);
    assert_eq!(
        (settings.model.deadline_s, settings.rest.shortest_s, settings.rest.longest_s),
        (Some(9), 5, 60)
    );
    let (settings, said) = Settings::read("");
    assert_eq!((said, settings.rest.shortest_s, settings.rest.longest_s), (None, 2, 300));
}

#[test]
fn a_broken_section_is_named_and_costs_only_itself() {
    let (settings, said) =
        Settings::read("[model]\nmax_tokens = 7\n\n[self_edit]\ntest_s = \"long\"\n[rest]\nshortest_s = 9\n");
    let said = said.unwrap();
    for part in ["owner.toml line 5", "long"] {
        assert!(said.contains(part), "{part} is not in: {said}");
    }
    assert_eq!((settings.model.max_tokens, settings.rest.shortest_s), (Some(7), 9));
    let (settings, said) = Settings::read("[model\nprovider = \"instinct\"\n");
    assert!(said.unwrap().contains("line 1"));
    assert_eq!(settings.model.max_tokens, None);
}

#[test]
fn the_agendas_rules_are_the_owners() {
    let text = "[agenda]\norder = [\"tasks\", \"goals\"]\nask_above_usd = 7\ngoal_cost_usd = 8\nmessages_per_hour = 9\n\
        time_zone = \"Europe/Berlin\"\n";
    let (settings, said) = Settings::read(text);
    assert_eq!(said, None);
    let (rules, odd) = settings.rules();
    assert_eq!((odd, rules.ask_above_usd, rules.goal_cost_usd, rules.messages_per_hour), (None, 7.0, 8.0, 9));
    assert_eq!(rules.time_zone.iana_name(), Some("Europe/Berlin"));
    assert_eq!(rules.order[..2], [Category::Tasks, Category::Goals], "what it names goes first");
    assert_eq!(rules.order.len(), Category::ALL.len(), "and nothing is left out");
    let (settings, _) = Settings::read("[agenda]\ntime_zone = \"Nowhere/Land\"\n");
    assert!(settings.rules().1.is_some_and(|odd| odd.contains("Nowhere/Land")));
}

#[test]
fn rests_out_of_bounds_are_bounded_and_told() {
    for (shortest, longest) in [(0, 300), (10, 5), (2, 999_999)] {
        let (settings, said) =
            Settings::read(&format!("[rest]\nshortest_s = {shortest}\nlongest_s = {longest}\n"));
        let rest = settings.rest;
        assert!(1 <= rest.shortest_s && rest.shortest_s <= rest.longest_s && rest.longest_s <= 3_600);
        assert!(said.unwrap().contains("taken as"));
    }
}

#[test]
fn the_steps_of_a_self_edit_have_the_owners_deadlines_within_bounds() {
    let limits = |text: &str| {
        let (settings, said) = Settings::read(text);
        let Limits { build, test, rehearsal } = Limits::from(&settings.self_edit);
        (build.as_secs(), test.as_secs(), rehearsal.as_secs(), said)
    };
    assert_eq!(limits(""), (900, 600, 60, None));
    assert_eq!(limits("[self_edit]\ntest_s = 45\n"), (900, 45, 60, None));
    let all = |seconds: u64| {
        format!("[self_edit]\nbuild_s = {seconds}\ntest_s = {seconds}\nrehearsal_s = {seconds}\n")
    };
    assert_eq!(limits(&all(0)), (1, 1, 1, None));
    assert_eq!(limits(&all(99_999)), (1_200, 1_200, 120, None));
}

/// A house with an owner's file and one of the guardian's.
fn house(owners: &str, handed: &str) -> (TempDir, House) {
    let folder = TempDir::new().unwrap();
    fs::create_dir(folder.path().join(".self")).unwrap();
    fs::write(folder.path().join("owner.toml"), owners).unwrap();
    fs::write(folder.path().join(".self/settings.json"), handed).unwrap();
    let house = House::new(folder.path());
    (folder, house)
}

#[test]
fn what_the_guardian_hands_over_is_taken_before_the_owners_file() {
    let mut file: Value = serde_json::from_str(HANDED).unwrap();
    file["settings"]["rest"]["longest_s"] = json!(77);
    file["settings"]["rest"]["of_a_newer_guardian"] = json!("x");
    file["settings"]["creature"] = json!({"thoughts_between_snapshots": 9});
    file["told"] = json!(["one thing", "another"]);
    let (_folder, house) = house("[rest]\nlongest_s = 5\n", &file.to_string());
    let (settings, said) = Settings::load(&house, 1);
    assert_eq!((settings.rest.longest_s, said.as_deref()), (77, Some("one thing; another")));
    assert_eq!(settings.own.number("thoughts_between_snapshots"), 9);
}

/// An older guardian leaves the file of a newer one lie, and writes none itself.
#[test]
fn a_file_of_another_life_is_not_taken_and_none_is_needed() {
    for handed in [HANDED, "", "{", "[]", "{\"life\": 2}"] {
        let (_folder, house) =
            house("[rest]\nlongest_s = 5\n[creature]\nthoughts_between_snapshots = 7\n", handed);
        let (settings, said) = Settings::load(&house, 2);
        assert_eq!((settings.rest.longest_s, said), (5, None), "{handed}");
        assert_eq!(settings.own.number("thoughts_between_snapshots"), 7);
    }
}

#[test]
fn the_guardians_defaults_are_the_creatures() {
    let (_folder, house) = house("", HANDED);
    let (handed, said) = Settings::load(&house, 1);
    assert_eq!(said, None);
    assert_eq!(format!("{handed:?}"), format!("{:?}", Settings::default()));
}

#[test]
fn each_setting_of_its_own_says_what_it_is() {
    let declared = config::declared();
    assert!(declared.contains_key("thoughts_between_snapshots"), "the file can be read");
    for (name, declaration) in declared {
        for part in ["kind", "default", "meaning"] {
            assert!(!declaration[part].is_null(), "settings.toml [{name}] has no {part}");
        }
    }
}
