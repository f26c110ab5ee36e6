//! Which mind is chosen, by settings and environment.

use creature::config::ModelSettings;
use creature::mind::llm::{ANTHROPIC_MODEL, Choice, OPENAI_MODEL, pick};
use model::Wire;

fn chosen(settings: &ModelSettings, env: &[(&str, &str)]) -> (Choice, Option<String>) {
    pick(settings, &|name| env.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned()))
}

fn provider(provider: &str) -> ModelSettings {
    ModelSettings { provider: provider.to_owned(), ..ModelSettings::default() }
}

/// Wire, address, model and key of a choice.
fn model(choice: Choice) -> (Wire, String, Option<String>, Option<String>) {
    match choice {
        Choice::Model { wire, base_url, model, key, .. } => (wire, base_url, model, key),
        other => panic!("{other:?} is no model"),
    }
}

#[test]
fn nothing_configured_asks_loopback() {
    for (host, base) in [
        ("", "http://127.0.0.1:11434"),
        ("0.0.0.0", "http://127.0.0.1:11434"),
        (":8000", "http://127.0.0.1:8000"),
        ("box:1234", "http://box:1234"),
        ("https://box:1234/", "https://box:1234"),
        ("http://box", "http://box:11434"),
    ] {
        let (choice, said) = chosen(&ModelSettings::default(), &[("OLLAMA_HOST", host)]);
        assert_eq!(choice, Choice::Ollama { base_url: base.to_owned(), model: None }, "{host}");
        assert_eq!(said, None);
    }
}

#[test]
fn keys_in_the_environment_choose_in_order() {
    let both = [("ANTHROPIC_API_KEY", "a"), ("OPENAI_API_KEY", "o")];
    let (wire, base, name, key) = model(chosen(&ModelSettings::default(), &both).0);
    assert_eq!((wire, base.as_str()), (Wire::Anthropic, "https://api.anthropic.com"));
    assert_eq!((name.as_deref(), key.as_deref()), (Some(ANTHROPIC_MODEL), Some("a")));
    let (wire, base, name, key) = model(chosen(&ModelSettings::default(), &both[1..]).0);
    assert_eq!((wire, base.as_str()), (Wire::OpenAi, "https://api.openai.com/v1"));
    assert_eq!((name.as_deref(), key.as_deref()), (Some(OPENAI_MODEL), Some("o")));
    let env = [("OPENAI_API_KEY", "o"), ("OPENAI_BASE_URL", "http://box/v1"), ("OPENAI_MODEL", "m")];
    let (_, base, name, _) = model(chosen(&ModelSettings::default(), &env).0);
    assert_eq!((base.as_str(), name.as_deref()), ("http://box/v1", Some("m")));
    let env = [("ANTHROPIC_API_KEY", "a"), ("ANTHROPIC_BASE_URL", "http://b"), ("ANTHROPIC_MODEL", "m")];
    let (_, base, name, _) = model(chosen(&ModelSettings::default(), &env).0);
    assert_eq!((base.as_str(), name.as_deref()), ("http://b", Some("m")));
}

#[test]
fn the_owners_settings_come_first() {
    let env = [("ANTHROPIC_API_KEY", "a"), ("MINE", "k")];
    assert_eq!(chosen(&provider("instinct"), &env), (Choice::Instinct, None));
    let settings = ModelSettings {
        model: "mine".to_owned(),
        base_url: "http://127.0.0.1:9/v1".to_owned(),
        key_env: "MINE".to_owned(),
        ..provider("openai")
    };
    let (wire, base, name, key) = model(chosen(&settings, &env).0);
    assert_eq!((wire, base.as_str()), (Wire::OpenAi, "http://127.0.0.1:9/v1"));
    assert_eq!((name.as_deref(), key.as_deref()), (Some("mine"), Some("k")));
    // A local server needs no key, and its models are its own.
    let local = ModelSettings { base_url: "http://127.0.0.1:9".to_owned(), ..provider("openai") };
    assert_eq!(model(chosen(&local, &[]).0).2, None);
}

#[test]
fn what_cannot_be_followed_is_instinct_and_said() {
    for (settings, says) in [
        (provider("gpt"), "gpt"),
        (provider("openai"), "OPENAI_API_KEY"),
        (provider("anthropic"), "ANTHROPIC_API_KEY"),
    ] {
        let (choice, said) = chosen(&settings, &[("OPENAI_API_KEY", "  ")]);
        assert_eq!(choice, Choice::Instinct);
        assert!(said.unwrap().contains(says));
    }
}
