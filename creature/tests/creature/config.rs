//! The owner's settings: errors name line and key, and a broken section costs only itself.

use agenda::stack::Category;
use creature::config::Settings;
use patch::Limits;

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
        Settings::read("[model]\nmax_tokens = 7\n\n[self_edit]\ntests_s = 9\n[rest]\nshortest_s = 9\n");
    let said = said.unwrap();
    for part in ["owner.toml line 5", "tests_s"] {
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
