//! The owner's settings as the guardian hands them over: a broken section is named and costs only itself.

use agenda::stack::Category;
use creature::config::{self, Settings};
use creature::paths::House;
use patch::Limits;
use serde_json::{Value, json};
use std::fs;
use tempfile::TempDir;

/// What the guardian writes where the owner says nothing; its tests hold the same bytes.
const HANDED: &str = include_str!("../golden/settings.json");

/// The settings of these sections, and what is told of them.
fn of(sections: Value) -> (Settings, Vec<String>) {
    let mut told = Vec::new();
    let settings = Settings::of(&sections, &mut told);
    (settings, told)
}

/// The settings of a house in which the guardian left this file.
fn handed(file: &str) -> Option<Result<(Settings, Option<String>), String>> {
    let folder = TempDir::new().unwrap();
    fs::create_dir(folder.path().join(".self")).unwrap();
    fs::write(folder.path().join(".self/settings.json"), file).unwrap();
    Settings::handed_anew(&House::new(folder.path()), &mut None)
}

#[test]
fn settings_are_read_and_strange_sections_are_the_guardians() {
    let model = json!({"provider": "openai", "deadline_s": 9});
    let (settings, told) =
        of(json!({"walls": "on", "model": model, "rest": {"shortest_s": 5, "longest_s": 60}}));
    assert_eq!(told, [""; 0]);
    assert_eq!(
        (settings.model.deadline_s, settings.rest.shortest_s, settings.rest.longest_s),
        (Some(9), 5, 60)
    );
    let (settings, told) = of(Value::Null);
    assert_eq!((told.len(), settings.rest.shortest_s, settings.rest.longest_s), (0, 2, 300));
}

#[test]
fn a_broken_section_is_named_and_costs_only_itself() {
    let sections =
        json!({"model": {"max_tokens": 7}, "self_edit": {"test_s": "long"}, "rest": {"shortest_s": 9}});
    let (settings, told) = of(sections);
    for part in ["[self_edit]", "long"] {
        assert!(told.len() == 1 && told[0].contains(part), "{part} is not in: {told:?}");
    }
    assert_eq!((settings.model.max_tokens, settings.rest.shortest_s), (Some(7), 9));
    assert_eq!(settings.self_edit.test_s, 600);
}

#[test]
fn the_agendas_rules_are_the_owners() {
    let (settings, told) = of(json!({"agenda": {
        "order": ["tasks", "goals"], "ask_above_usd": 7, "goal_cost_usd": 8, "messages_per_hour": 9,
        "time_zone": "Europe/Berlin",
    }}));
    assert_eq!(told, [""; 0]);
    let (rules, odd) = settings.rules();
    assert_eq!((odd, rules.ask_above_usd, rules.goal_cost_usd, rules.messages_per_hour), (None, 7.0, 8.0, 9));
    assert_eq!(rules.time_zone.iana_name(), Some("Europe/Berlin"));
    assert_eq!(rules.order[..2], [Category::Tasks, Category::Goals], "what it names goes first");
    assert_eq!(rules.order.len(), Category::ALL.len(), "and nothing is left out");
    let (settings, _) = of(json!({"agenda": {"time_zone": "Nowhere/Land"}}));
    assert!(settings.rules().1.is_some_and(|odd| odd.contains("Nowhere/Land")));
}

/// The guardian bounds each setting by itself.
#[test]
fn a_longest_rest_below_the_shortest_is_taken_as_that_and_told() {
    let (settings, told) = of(json!({"rest": {"shortest_s": 10, "longest_s": 5, "quiet_s": 7}}));
    let rest = settings.rest;
    assert_eq!((rest.shortest_s, rest.longest_s, rest.quiet_s), (10, 10, 10));
    assert!(told.len() == 1 && told[0].contains("taken as 10"), "{told:?}");
}

#[test]
fn the_steps_of_a_self_edit_have_the_owners_deadlines() {
    let limits = |sections: Value| {
        let Limits { build, test, rehearsal } = Limits::from(&of(sections).0.self_edit);
        (build.as_secs(), test.as_secs(), rehearsal.as_secs())
    };
    assert_eq!(limits(Value::Null), (900, 600, 60));
    assert_eq!(limits(json!({"self_edit": {"test_s": 45}})), (900, 45, 60));
}

#[test]
fn what_the_guardian_hands_over_is_taken_with_what_it_tells() {
    let mut file: Value = serde_json::from_str(HANDED).unwrap();
    file["settings"]["rest"]["longest_s"] = json!(77);
    file["settings"]["rest"]["of_a_newer_guardian"] = json!("x");
    file["settings"]["creature"] = json!({"thoughts_between_snapshots": 9});
    file["told"] = json!(["one thing", "another"]);
    let (settings, said) = handed(&file.to_string()).unwrap().unwrap();
    assert_eq!((settings.rest.longest_s, said.as_deref()), (77, Some("one thing; another")));
    assert_eq!(settings.own.number("thoughts_between_snapshots"), 9);
}

/// Found: with a missing file, or one without settings, all that the owner forbids was allowed, and nothing told of it.
#[test]
fn settings_that_are_not_there_are_an_error_and_no_defaults() {
    let mut known = None;
    let house = House::new("/nowhere");
    let missing = Settings::handed_anew(&house, &mut known).unwrap().unwrap_err();
    assert!(missing.contains("No such file"), "{missing}");
    assert!(Settings::handed_anew(&house, &mut known).is_none(), "it is told once");
    for file in
        ["", "{", "[]", "{\"life\": 2}", "{\"settings\": []}", "{\"settings\": {\"permissions\": []}}"]
    {
        let said = handed(file).unwrap().unwrap_err();
        assert!(!said.is_empty(), "{file:?}");
    }
    assert!(handed("{\"settings\": {}}").unwrap().is_ok());
}

#[test]
fn the_guardians_defaults_are_the_creatures() {
    let (handed, said) = handed(HANDED).unwrap().unwrap();
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
