//! Several models: which one a request goes to, short names, windows, and what `/status` says of each.

use crate::home::Home;
use crate::paid::{OPENAI_KEY, Paid, house, request};
use crate::served::{pages, says, server};
use crate::upstream::Upstream;
use axum::Router;
use axum::routing::get;
use broker::ground::{clock::Clock, hosts::Resolver};
use broker::llm::choice::{Chosen, pick};
use broker::llm::offers::Providers;
use broker::net::outward::Outward;
use broker::policy::Policy;
use serde_json::{Value, json};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};

const RICH: &str = "[budget]\ndaily_usd = 100\nweekly_usd = 400\nautonomous_percent = 100\n";

fn chosen(settings: &str, keys: &[&str]) -> Chosen {
    let policy = Policy::read(settings).unwrap();
    let key = |name: &str| keys.contains(&name).then(|| "a key".to_owned());
    pick(&policy.model, broker::makers::Makers::with_owners(&policy.makers), &key, &|_| None)
}

fn told(settings: &str) -> String {
    chosen(settings, &["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "MINE"]).told()
}

#[test]
fn models_besides_the_first_are_resolved_and_told() {
    let (anthropic, openai) = ("with the key in ANTHROPIC_API_KEY", "with the key in OPENAI_API_KEY");
    let cases = [
        (
            "[model]\nmodel = \"opus\"",
            format!("anthropic: claude-opus-5-5 at api.anthropic.com, {anthropic}"),
        ),
        (
            "[model.quick]\nmodel = \"haiku\"",
            format!(
                "anthropic: claude-sonnet-5-5 at api.anthropic.com, {anthropic}; \
                 quick anthropic: claude-haiku-5-5 at api.anthropic.com, {anthropic}"
            ),
        ),
        // A name of the other maker's goes there; what names its own place goes to that.
        (
            "[[model.fallback]]\nmodel = \"sol\"\n[[model.fallback]]\nmodel = \"m\"\nbase_url = \"http://127.0.0.1:9\"\n\
             provider = \"openai\"\nkey_env = \"MINE\"",
            format!(
                "anthropic: claude-sonnet-5-5 at api.anthropic.com, {anthropic}; else openai: gpt-6.1-sol at \
                 api.openai.com, {openai}; else openai: m at 127.0.0.1:9, with the key in MINE"
            ),
        ),
        (
            "[model]\nprovider = \"openai\"\nmodel = \"terra\"\n[model.aliases]\nterra = \"mine\"\nsmall = \"gpt-6-luna\"\n\
             [model.quick]\nmodel = \"small\"",
            format!(
                "openai: mine at api.openai.com, {openai}; quick openai: gpt-6-luna at api.openai.com, {openai}"
            ),
        ),
        (
            "[model.quick]\nmodel = \"m\"\nprovider = \"openai\"\nkey_env = \"NOWHERE\"",
            format!(
                "anthropic: claude-sonnet-5-5 at api.anthropic.com, {anthropic}; owner.toml [model.quick] is left out: \
                 it names a provider, but no key is in OPENAI_API_KEY or key_env"
            ),
        ),
    ];
    for (settings, expected) in cases {
        assert_eq!(told(settings), expected, "{settings}");
    }
}

/// Found: a maker had to be entered in eight lists, and one that was missing in some had its key or its model ignored.
#[test]
fn every_maker_of_the_table_is_chosen_by_its_name_and_its_key() {
    let read = Policy::read("").unwrap().key_names();
    for maker in house::makers::MAKERS {
        let settings = |more: &str| format!("[model]\nmodel = \"m\"\n{more}");
        let mut named = format!("provider = \"{}\"\n", maker.name);
        if matches!(maker.name, "azure" | "bedrock") {
            named += "base_url = \"https://mine.example/v1\"\n";
        }
        for key in maker.keys {
            assert!(read.iter().any(|name| name == key), "its key is read");
            let by_key = maker.by_key.then_some(String::new());
            for more in by_key.into_iter().chain([named.clone()]) {
                let first = chosen(&settings(&more), &[key]).first.unwrap();
                let found = (first.name.as_str(), first.key_env.as_deref(), first.model.as_deref());
                assert_eq!(found, (maker.name, Some(*key), Some("m")), "{more}");
            }
        }
        if !maker.by_key {
            let first = chosen(&settings(""), maker.keys).first.unwrap();
            assert_eq!(first.name, "ollama", "{} is used unasked", maker.name);
        }
        if maker.keys.is_empty() {
            assert_eq!(chosen(&settings(&named), &[]).first.unwrap().name, maker.name);
        }
    }
}

#[test]
fn openais_own_address_is_offered_in_its_own_wire_unless_the_owner_says() {
    let wire = |settings: &str| {
        let chosen = chosen(settings, &["OPENAI_API_KEY"]);
        chosen.first.unwrap().wire.name()
    };
    assert_eq!(wire(""), "responses");
    assert_eq!(wire("[model]\nwire = \"chat\""), "openai");
    assert_eq!(wire("[model]\nbase_url = \"https://gateway.example/v1\""), "openai");
    assert_eq!(wire("[model]\nbase_url = \"http://127.0.0.1:1234\"\nwire = \"responses\""), "responses");
    assert_eq!(wire("[model]\nprovider = \"ollama\""), "openai");
}

#[test]
fn two_of_a_name_at_two_places_are_told_apart() {
    let other =
        "[[model.fallback]]\nmodel = \"m\"\nprovider = \"anthropic\"\nbase_url = \"https://g.example\"";
    let chosen = chosen(other, &["ANTHROPIC_API_KEY"]);
    assert_eq!(chosen.first.unwrap().label, "anthropic");
    assert_eq!(chosen.fallback[0].label, "anthropic at g.example");
}

#[tokio::test]
async fn a_window_is_asked_of_its_server() {
    let list = json!({"data": [{"id": "other", "max_model_len": 5}, {"id": "m"}]});
    let shown = json!({"model_info": {"general.architecture": "q", "q.context_length": 40_960}});
    let set = json!({"parameters": "stop \"x\"\nnum_ctx                        16384", "model_info": {"q.context_length": 40_960}});
    let cases = [
        ("openai", "/v1/models", json!({"data": [{"id": "m", "max_model_len": 65_536}]}), json!(65_536)),
        ("openai", "/v1/models", json!({"data": [{"id": "m", "context_length": 131_072}]}), json!(131_072)),
        ("openai", "/props", json!({"default_generation_settings": {"n_ctx": 8_192}}), json!(8_192)),
        ("openai", "/v1/models", list, Value::Null),
        ("openai", "/nothing", json!({}), Value::Null),
        ("ollama", "/api/show", shown, json!(40_960)),
        ("ollama", "/api/show", set, json!(16_384)),
    ];
    for (provider, path, page, window) in cases {
        let tags = json!({"models": [{"name": "m"}]});
        let url = server(Router::new().route(path, says(page)).route("/api/tags", says(tags)));
        let settings = format!("[model]\nprovider = \"{provider}\"\nmodel = \"m\"\nbase_url = \"{url}\"\n");
        let paid = Paid::start(&settings, &url);
        for _ in 0..2 {
            assert_eq!(paid.status().await["model"]["window"], window, "{provider} {path}");
        }
        let paid = Paid::start(&format!("{settings}context_tokens = 50000\n"), &url);
        assert_eq!(paid.status().await["model"]["window"], 50_000, "the owner's word: {provider} {path}");
    }
}

#[tokio::test]
async fn the_window_a_server_has_loaded_counts_not_the_one_of_the_models_card() {
    let card = || ("/api/show", json!({"model_info": {"q.context_length": 131_072}}));
    let set =
        || ("/api/show", json!({"parameters": "num_ctx 16384", "model_info": {"q.context_length": 131_072}}));
    let runs = |name: &str, window: u64| {
        ("/api/ps", json!({"models": [{"name": name, "model": name, "context_length": window}]}))
    };
    let studio = |state: &str, loaded: Value| {
        let other = json!({"id": "other", "loaded_context_length": 5});
        let model = json!({"id": "m", "state": state, "max_context_length": 131_072, "loaded_context_length": loaded});
        ("/api/v0/models", json!({"object": "list", "data": [other, model]}))
    };
    let cases = [
        ("ollama", vec![card(), runs("m", 4_096)], 4_096),
        ("ollama", vec![card(), runs("m:latest", 4_096)], 4_096),
        ("ollama", vec![set(), runs("m", 32_768)], 16_384),
        ("ollama", vec![card(), runs("other", 4_096)], 131_072),
        ("ollama", vec![card(), ("/api/ps", json!({"models": [{"name": "m"}]}))], 131_072),
        ("openai", vec![card(), runs("m", 4_096)], 4_096),
        ("openai", vec![studio("loaded", json!(4_096))], 4_096),
        ("openai", vec![studio("not-loaded", Value::Null)], 131_072),
    ];
    for (provider, told, window) in cases {
        let url = pages(&told);
        let settings = format!("[model]\nprovider = \"{provider}\"\nmodel = \"m\"\nbase_url = \"{url}\"\n");
        let paid = Paid::start(&settings, &url);
        assert_eq!(paid.status().await["model"]["window"], window, "{provider} {told:?}");
    }
}

#[tokio::test]
async fn a_model_that_is_not_loaded_yet_is_asked_about_again_until_it_is() {
    let running = Arc::new(Mutex::new(json!({"models": []}).to_string()));
    let runs = Arc::clone(&running);
    let says_what_runs = move || {
        let said = runs.lock().unwrap().clone();
        async move { said }
    };
    let card = json!({"model_info": {"q.context_length": 131_072}});
    let app = Router::new().route("/api/show", says(card)).route("/api/ps", get(says_what_runs));
    let url = server(app.route("/api/tags", says(json!({"models": [{"name": "m"}]}))));
    let chosen = format!("[model]\nprovider = \"ollama\"\nmodel = \"m\"\nbase_url = \"{url}\"\n");
    let paid = Paid::start(&chosen, &url);
    assert_eq!(paid.status().await["model"]["window"], 131_072);
    *running.lock().unwrap() = json!({"models": [{"name": "m", "context_length": 4_096}]}).to_string();
    assert_eq!(paid.status().await["model"]["window"], 4_096);
    // What was loaded stays known when the server puts the model away.
    *running.lock().unwrap() = json!({"models": []}).to_string();
    assert_eq!(paid.status().await["model"]["window"], 4_096);
}

/// Found: of a provider that is neither Anthropic nor OpenAI, the first model of its list was told, not the one named.
#[tokio::test]
async fn a_named_model_of_another_provider_is_told() {
    let url = server(Router::new().route("/v1/models", says(json!({"data": [{"id": "other"}]}))));
    let settings = format!("[model]\nprovider = \"openai\"\nmodel = \"m\"\nbase_url = \"{url}\"\n");
    let mut chosen = chosen(&settings, &[]);
    chosen.first.as_mut().unwrap().name = "acme".to_owned();
    let providers = Providers::new(chosen, Outward::new(Resolver::default()).unwrap(), Clock::default());
    let status = providers.status(|_| None, |_, _| Value::Null).await;
    assert_eq!(status["name"], "m");
}

#[tokio::test]
async fn a_new_build_of_a_server_is_noticed_and_one_that_is_away_forgets_nothing() {
    let page = |build: &str, window: u64| json!({"build_info": build, "default_generation_settings": {"n_ctx": window}});
    let props = Arc::new(Mutex::new(page("b1-old", 8_192).to_string()));
    let says = {
        let props = Arc::clone(&props);
        move || {
            let said = props.lock().unwrap().clone();
            async move { said }
        }
    };
    let url = server(Router::new().route("/props", get(says)));
    let home = Home::new(&format!("[model]\nprovider = \"openai\"\nmodel = \"m\"\nbase_url = \"{url}\"\n"));
    let (clock, told) = Clock::told(1_800_000_000_000);
    let open = home.open_at(clock).await;
    let mut later = 0;
    for (said, hours, window, build) in [
        (page("b1-old", 8_192).to_string(), 0, 8_192, "b1-old"),
        (page("b2-new", 4_096).to_string(), 0, 8_192, "b1-old"),
        (String::new(), 1, 8_192, "b1-old"),
        (page("b2-new", 4_096).to_string(), 1, 4_096, "b2-new"),
    ] {
        *props.lock().unwrap() = said;
        later += hours * 3_600_000;
        told.store(1_800_000_000_000 + later, Ordering::SeqCst);
        let model = open.get("/status").await["model"].clone();
        assert_eq!((&model["window"], &model["build"]), (&json!(window), &json!(build)), "{model}");
    }
    open.end().await;
}

#[tokio::test]
async fn status_says_of_each_model_what_the_creature_needs() {
    let (first, second) = (Upstream::start(), Upstream::start());
    let settings = format!(
        "{RICH}[model]\nmodel = \"opus\"\n[model.quick]\nmodel = \"haiku\"\n[[model.fallback]]\nmodel = \"m\"\n\
         provider = \"openai\"\nwire = \"responses\"\nbase_url = \"{}/v1\"\nkey_env = \"OPENAI_API_KEY\"\n\
         context_tokens = 9000\n[prices.m]\ninput = 3\noutput = 4\ncache_read = 1\n",
        second.url()
    );
    let paid = Paid::start(&settings, &first.url());
    let at = first.at.to_string();
    let model = paid.status().await["model"].clone();
    assert_eq!(
        model["quick"],
        json!({"wire": "anthropic", "name": "claude-haiku-5-5", "path": "/llm/anthropic", "address": at,
            "window": 1_000_000, "cap_usd": 100.0, "prices": {"input": 0.1, "cache_read": 0.01, "output": 0.5}, "sees": ["image", "pdf"]})
    );
    assert_eq!(
        model["fallback"],
        json!([{"wire": "responses", "name": "m", "path": "/llm/openai/v1", "address": second.at.to_string(),
            "window": 9_000, "cap_usd": 100.0, "prices": {"input": 3.0, "cache_read": 1.0, "output": 4.0}}])
    );
    assert_eq!((&model["name"], &model["address"]), (&json!("claude-opus-5-5"), &json!(at)));
}

#[tokio::test]
async fn a_request_goes_to_the_server_of_its_model() {
    let (first, second) = (Upstream::start(), Upstream::start());
    let settings = format!(
        "{RICH}[model]\nprovider = \"openai\"\nmodel = \"terra\"\nothers = [\"luna\"]\n[model.quick]\nmodel = \"tiny\"\nprovider = \"openai\"\n\
         base_url = \"{}\"\nkey_env = \"OPENAI_API_KEY\"\n[prices.tiny]\ninput = 0\noutput = 0\n",
        second.url()
    );
    let paid = Paid::start(&settings, &first.url());
    for (model, wire, calls, named) in [
        ("terra", "openai", (1, 0), "gpt-6.1-terra"),
        ("gpt-6.1-terra", "responses", (2, 0), "gpt-6.1-terra"),
        ("tiny", "openai", (2, 1), "tiny"),
        ("tiny", "responses", (2, 2), "tiny"),
        ("luna", "openai", (3, 2), "gpt-6-luna"),
    ] {
        let mut body = request(wire, &json!({"do": "plain", "input": 1, "output": 1}), 10);
        body["model"] = json!(model);
        let answer = paid.post(wire, &body).send().await.unwrap();
        assert_eq!(answer.status(), 200, "{model}");
        assert_eq!((first.calls(), second.calls()), calls, "{model}");
        let asked = if calls.1 > 0 && named == "tiny" { &second } else { &first };
        let (head, sent) = asked.counted.last.lock().unwrap().clone().unwrap();
        assert_eq!(
            (&sent["model"], &head["authorization"]),
            (&json!(named), &format!("Bearer {OPENAI_KEY}").parse().unwrap())
        );
    }
    let ledger = paid.wait_for("settle", 5);
    let notes: Vec<_> = ledger.of("settle").iter().map(|line| line.entry.note.clone()).collect();
    assert_eq!(
        notes,
        ["gpt-6.1-terra", "gpt-6.1-terra", "tiny", "tiny", "gpt-6-luna"],
        "every record says which"
    );
    let services: Vec<_> = ledger.of("settle").iter().map(|line| line.entry.service.clone()).collect();
    assert_eq!(services[2], format!("openai at {}", second.at));
}

/// A refused key stops its own provider: what is named besides answers on.
#[tokio::test]
async fn a_fallback_is_asked_while_the_first_is_stopped() {
    let (first, second) = (Upstream::start(), Upstream::start());
    let settings = format!(
        "{RICH}[[model.fallback]]\nmodel = \"m\"\nprovider = \"anthropic\"\nbase_url = \"{}\"\n[prices.m]\ninput = 1\noutput = 1\n",
        second.url()
    );
    let paid = Paid::start(&settings, &first.url());
    let refused = request("anthropic", &json!({"do": "error", "status": 401}), 10);
    assert_eq!(paid.post("anthropic", &refused).send().await.unwrap().status(), 401);
    let mut body = request("anthropic", &json!({"do": "plain"}), 10);
    assert_eq!(paid.post("anthropic", &body).send().await.unwrap().status(), 403);
    body["model"] = json!("m");
    assert_eq!(paid.post("anthropic", &body).send().await.unwrap().status(), 200);
    assert_eq!((first.calls(), second.calls()), (2, 1), "once more, before it is stopped");
}

#[test]
fn the_check_tells_the_resolved_models() {
    let folder = house("[model]\nmodel = \"opus\"\n[model.quick]\nmodel = \"haiku\"\n");
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_broker"))
        .args(["--check", "--house", folder.path().to_str().unwrap()])
        .env_clear()
        .env("ANTHROPIC_API_KEY", "k")
        .output()
        .unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(
        said.starts_with("anthropic: claude-opus-5-5 at")
            && said.contains("; quick anthropic: claude-haiku-5-5 at"),
        "{said}"
    );
}

/// What is refused for its size says how much of it would go, and that much does.
#[tokio::test]
async fn a_prompt_too_large_for_the_money_fits_once_it_is_cut() {
    let upstream = Upstream::start();
    let paid =
        Paid::start("[budget]\ndaily_usd = 0.1\nweekly_usd = 1\nautonomous_percent = 100\n", &upstream.url());
    let ask = |bytes: usize| {
        let mut body = request("anthropic", &json!({"do": "plain", "input": 9, "output": 9}), 1_000);
        body["system"] = json!("x".repeat(bytes));
        paid.post("anthropic", &body).send()
    };
    let answer = ask(300_000).await.unwrap();
    assert_eq!(
        (answer.status().as_u16(), &answer.headers()["x-feral-error"]),
        (429, &"budget_cap".parse().unwrap())
    );
    let error: Value = serde_json::from_slice(&answer.bytes().await.unwrap()).unwrap();
    let fits = error["error"]["fits_tokens"].as_u64().unwrap();
    assert!((1_000..100_000).contains(&fits), "{error}");
    // Three bytes a token are likely; beside the rest of the request.
    assert_eq!(ask(usize::try_from(fits).unwrap() * 3 - 500).await.unwrap().status(), 200);
}
