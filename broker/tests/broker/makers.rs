//! The table of makers, held against sense: names, addresses, prices and windows.

use broker::llm::choice::{Chosen, pick};
use broker::makers::{Makers, Row, TABLE_OF_MAKERS};
use broker::money::prices::{Prices, Usage};
use broker::policy::Policy;
use reqwest::Url;
use std::collections::{BTreeMap, BTreeSet};

const TABLE: &str = include_str!("../../src/makers.toml");

#[test]
fn every_maker_has_a_row_and_every_row_a_maker() {
    let named: BTreeSet<&str> = house::makers::MAKERS.iter().map(|maker| maker.name).collect();
    assert_eq!(named, TABLE_OF_MAKERS.rows.keys().map(String::as_str).collect());
    assert_eq!(named.len(), house::makers::MAKERS.len(), "a maker twice");
    let keys: Vec<&str> = house::makers::keys().collect();
    assert_eq!(keys.len(), keys.iter().collect::<BTreeSet<_>>().len(), "a key of two makers");
    assert!(named.len() >= 24, "{}", named.len());
}

#[test]
fn addresses_are_safe_and_each_maker_has_its_own() {
    let mut hosts = BTreeSet::new();
    for (name, made) in &TABLE_OF_MAKERS.rows {
        let Some(address) = &made.address else {
            assert!(made.model.is_none() && made.models.is_empty(), "{name}: models without an address");
            continue;
        };
        let url = Url::parse(address).unwrap();
        let is_loopback = url.host_str() == Some("127.0.0.1");
        assert_eq!(url.scheme(), if made.local { "http" } else { "https" }, "{name}");
        assert_eq!(is_loopback, made.local, "{name}");
        assert!(!address.ends_with('/') && url.query().is_none() && url.username().is_empty(), "{name}");
        assert!(hosts.insert((url.host_str().unwrap().to_owned(), url.port())), "{name}: {address} twice");
        assert_eq!(made.model.is_some(), !made.local, "{name}: its usual model");
    }
}

fn is_sensible(row: &Row) -> bool {
    let prices = [row.read_usd, row.input_usd, row.output_usd];
    prices.is_sorted()
        && row.read_usd > 0.0
        && row.write_usd >= row.input_usd
        && row.output_usd < 1_000.0
        && (1..=row.window).contains(&row.output)
        && (4_000..=10_000_000).contains(&row.window)
        && row.long_tokens.is_some() == row.long_times.is_some()
        && row.long_times.is_none_or(|times| (1..=10).contains(&times))
        && row.sees.iter().all(|kind| ["image", "pdf", "audio", "video"].contains(&kind.as_str()))
}

#[test]
fn prices_rise_from_cached_to_reply_and_no_reply_is_larger_than_its_window() {
    let odd: Vec<_> = TABLE_OF_MAKERS.models().filter(|(_, row)| !is_sensible(row)).collect();
    assert!(odd.is_empty(), "{odd:?}");
    assert!(TABLE_OF_MAKERS.models().count() >= 150);
}

#[test]
fn names_stand_once_and_usual_models_and_short_names_are_known() {
    for (name, made) in &TABLE_OF_MAKERS.rows {
        let usual = made.model.iter().filter(|_| !made.router).chain(made.aliases.values());
        for model in usual {
            assert!(made.models.contains_key(model), "{name}: {model} has no row");
        }
        // TOML refuses a name twice in one table; it must not stand twice in different spelling either.
        let spelled: BTreeSet<String> = made.models.keys().map(|model| model.to_lowercase()).collect();
        assert_eq!(spelled.len(), made.models.len(), "{name}");
    }
    let short: Vec<&String> = TABLE_OF_MAKERS.rows.values().flat_map(|made| made.aliases.keys()).collect();
    assert_eq!(short.len(), short.iter().collect::<BTreeSet<_>>().len());
    assert!(
        Makers::read(&TABLE.replace("in = 2.0", "inn = 2.0")).rows.is_empty(),
        "a mistake makes no model free"
    );
}

fn chosen(settings: &str, keys: &[&str]) -> Chosen {
    let policy = Policy::read(settings).unwrap();
    pick(
        &policy.model,
        Makers::with_owners(&policy.makers),
        &|name: &str| keys.contains(&name).then(|| "a key".to_owned()),
        &|_| None,
    )
}

/// Found: a key of a maker besides the two thought nothing; the address, the model and its price had to be looked up.
#[test]
fn a_key_is_enough_for_a_known_maker() {
    for (key, told) in [
        ("GEMINI_API_KEY", "google: gemini-3.5-flash at generativelanguage.googleapis.com, with the key in"),
        ("XAI_API_KEY", "xai: grok-4.3 at api.x.ai, with the key in"),
        ("DEEPSEEK_API_KEY", "deepseek: deepseek-v4-flash at api.deepseek.com, with the key in"),
        ("MOONSHOT_API_KEY", "moonshot: kimi-k2.6 at api.moonshot.ai, with the key in"),
        ("ZHIPU_API_KEY", "zai: glm-4.7 at api.z.ai, with the key in"),
    ] {
        assert_eq!(chosen("", &[key]).told(), format!("{told} {key}"));
    }
    let google = chosen("", &["GEMINI_API_KEY"]).first.unwrap();
    assert_eq!(
        google.url("/chat/completions"),
        "https://generativelanguage.googleapis.com/v1beta/openai/chat/completions"
    );
    assert_eq!((google.wire.name(), google.wants_new_limit(), google.is_free()), ("openai", false, false));
    // The two that were always first stay so; a model of another maker goes to that maker.
    let both =
        chosen("[[model.fallback]]\nmodel = \"gemini-3.5-flash\"", &["ANTHROPIC_API_KEY", "GEMINI_API_KEY"]);
    assert_eq!((both.first.unwrap().name.as_str(), both.fallback[0].name.as_str()), ("anthropic", "google"));
    // What serves models of others keeps their names.
    let local =
        chosen("[model]\nprovider = \"ollama\"\nmodel = \"a\"\n[model.quick]\nmodel = \"qwen3:8b\"", &[]);
    assert_eq!(local.quick.unwrap().name, "ollama");
}

#[test]
fn tokens_that_are_there_for_other_things_choose_nothing() {
    let keys = ["GITHUB_TOKEN", "HF_TOKEN", "AWS_BEARER_TOKEN_BEDROCK", "AZURE_API_KEY"];
    assert_eq!(chosen("", &keys).first.unwrap().name, "ollama");
    let github = chosen("[model]\nprovider = \"github\"", &keys).first.unwrap();
    assert_eq!((github.name.as_str(), github.key_env.as_deref()), ("github", Some("GITHUB_TOKEN")));
    let azure = chosen("[model]\nprovider = \"azure\"\nmodel = \"m\"", &keys);
    assert!(azure.told().contains("base_url is missing"), "{}", azure.told());
    let azure =
        "[model]\nprovider = \"azure\"\nmodel = \"m\"\nbase_url = \"https://r.openai.azure.com/openai/v1\"";
    assert!(chosen(azure, &keys).first.unwrap().wants_new_limit());
}

#[test]
fn servers_on_this_machine_want_no_key_and_are_free_under_their_own_names() {
    for (name, port) in [("lmstudio", 1_234), ("llamacpp", 8_080), ("vllm", 8_000)] {
        let first = chosen(&format!("[model]\nprovider = \"{name}\""), &[]).first.unwrap();
        assert_eq!((first.base.port(), first.is_free()), (Some(port), true));
        let away = format!("[model]\nprovider = \"{name}\"\nbase_url = \"https://gpu.example/v1\"");
        assert!(!chosen(&away, &[]).first.unwrap().is_free(), "free on this machine only");
    }
}

#[test]
fn windows_are_the_models_own_else_the_smallest_of_their_family() {
    for (model, window) in [
        ("claude-sonnet-5-5", Some(1_000_000)),
        ("anthropic/claude-sonnet-4-5-20250929", Some(200_000)),
        ("claude-sonnet-9", Some(200_000)),
        ("gpt-6.1-terra", Some(922_000)),
        ("gpt-5-2025-08-07", Some(272_000)),
        ("gemini-3.5-flash", Some(1_048_576)),
        ("Kimi-K2.6", Some(262_144)),
        ("the-name-it-has-there", None),
    ] {
        let known = TABLE_OF_MAKERS.window(model);
        assert!(known == window || (model == "Kimi-K2.6" && known.is_some()), "{model}: {known:?}");
    }
}

#[test]
fn a_name_that_several_have_costs_the_dearer_price() {
    let prices = Prices::new(&Policy::default());
    let mut by_name: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    TABLE_OF_MAKERS.models().for_each(|(name, row)| by_name.entry(name).or_default().push(row.output_usd));
    let shared: Vec<_> = by_name.iter().filter(|(_, usd)| usd.len() > 1).collect();
    assert!(!shared.is_empty());
    for (name, usd) in by_name {
        let dearest = usd.into_iter().fold(0.0, f64::max);
        let million = Usage { output: 1_000_000, ..Usage::default() };
        assert!(prices.of(name).cost(&million) as f64 >= dearest * 1e6 - 1.0, "{name}");
    }
    for (unknown, family) in
        [("gemini-9-flash", "gemini-flash"), ("kimi-k9", "kimi"), ("Qwen/Qwen9-Max", "qwen")]
    {
        assert!(
            prices.guess(unknown).unwrap().contains(&format!("the dearest {family} there is")),
            "{unknown}"
        );
    }
}

/// Found: who runs a server of LM Studio, llama.cpp or vLLM was told of no model at all.
#[tokio::test]
async fn a_server_on_this_machine_is_offered_and_not_used() {
    use axum::{Router, routing::get};
    use broker::ground::hosts::Resolver;
    use broker::llm::nearby::offered;
    use broker::net::outward::Outward;
    let list = r#"{"data": [{"id": "text-embedding-x"}, {"id": "a-small-one"}]}"#;
    let url = crate::served::server(Router::new().route("/v1/models", get(move || async move { list })));
    let silent = crate::served::server(Router::new());
    let gone = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let at = |url: &str| Url::parse(&format!("{url}/v1")).unwrap();
    let servers =
        || vec![("lmstudio", at(&url)), ("vllm", at(&silent)), ("llamacpp", at(&format!("http://{gone}")))];
    let by_key = chosen("", &["ANTHROPIC_API_KEY"]);
    let said = offered(&Outward::new(Resolver::default()).unwrap(), &by_key, servers()).await;
    let place = url.trim_start_matches("http://");
    assert_eq!(
        said,
        [format!(
            "lmstudio runs at {place} with a-small-one, and is not used: owner.toml [model] provider = \"lmstudio\" uses it"
        )]
    );
    assert_eq!(by_key.first.unwrap().name, "anthropic");
    let used = chosen(&format!("[model]\nprovider = \"lmstudio\"\nbase_url = \"{url}\""), &[]);
    assert!(
        offered(&Outward::new(Resolver::default()).unwrap(), &used, servers()).await.is_empty(),
        "what is used is no offer"
    );
}

/// Found: `GEMINI_API_KEY` in `.env` was passed over; with a byte-order mark nothing at all was read.
#[test]
fn a_key_in_the_file_is_enough_with_a_mark_before_it_too() {
    for mark in ["", "\u{feff}"] {
        let folder = crate::paid::house("");
        std::fs::write(folder.path().join(".env"), format!("{mark}GEMINI_API_KEY=AIza-test-0123456789\n"))
            .unwrap();
        let output = std::process::Command::new(env!("CARGO_BIN_EXE_broker"))
            .args(["--check", "--house", folder.path().to_str().unwrap()])
            .env_clear()
            .output()
            .unwrap();
        let said = String::from_utf8(output.stdout).unwrap();
        let told =
            "google: gemini-3.5-flash at generativelanguage.googleapis.com, with the key in GEMINI_API_KEY";
        assert_eq!(said.lines().next(), Some(told), "{}", String::from_utf8_lossy(&output.stderr));
    }
}
