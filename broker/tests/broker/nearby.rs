//! Model servers on this machine: what is told of those that are not used, and of a window that is too small.

use crate::paid::{Paid, house};
use crate::served::{says, server};
use axum::Router;
use serde_json::{Value, json};

/// A server that answers each of these paths.
fn pages(told: &[(&'static str, Value)]) -> String {
    server(told.iter().fold(Router::new(), |app, (path, said)| app.route(path, says(said.clone()))))
}

fn checked(settings: &str) -> Vec<String> {
    let folder = house(settings);
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_broker"))
        .args(["--check", "--house", folder.path().to_str().unwrap()])
        .env_clear()
        .output()
        .unwrap();
    String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect()
}

/// Found: Ollama loads 4,096 tokens unless told more, and nothing but the papers said so.
#[test]
fn a_window_that_is_too_small_for_a_thought_is_told_with_what_to_do() {
    let runs = |window: u64| json!({"models": [{"name": "m", "model": "m", "context_length": window}]});
    let card = ("/api/show", json!({"model_info": {"q.context_length": 131_072}}));
    let studio = |window: u64| json!({"data": [{"id": "m", "max_context_length": 131_072, "loaded_context_length": window}]});
    let props = |window: u64| json!({"default_generation_settings": {"n_ctx": window}});
    let list = |window: u64| json!({"data": [{"id": "m", "max_model_len": window}]});
    for (name, told, mend) in [
        (
            "ollama",
            vec![card.clone(), ("/api/ps", runs(4_096))],
            "OLLAMA_CONTEXT_LENGTH=32000 ollama serve, or give m",
        ),
        ("lmstudio", vec![("/api/v0/models", studio(4_096))], "load m there with a context length of 32000"),
        ("llamacpp", vec![("/props", props(4_096))], "start it with -c 32000"),
        ("vllm", vec![("/v1/models", list(4_096))], "start it with --max-model-len 32000"),
    ] {
        let url = pages(&told);
        let chosen = format!("[model]\nprovider = \"{name}\"\nmodel = \"m\"\nbase_url = \"{url}\"\n");
        let said = checked(&chosen);
        let place = url.trim_start_matches("http://");
        let begins = format!(
            "window: {name} at {place} has loaded m with a window of 4096 tokens, and a thought with its tools needs 32000: "
        );
        assert!(said[1].starts_with(&begins) && said[1].contains(mend), "{name}: {said:?}");
        let owners_word = checked(&format!("{chosen}context_tokens = 9000\n"));
        assert!(!owners_word.iter().any(|said| said.starts_with("window")), "{owners_word:?}");
    }
    for told in [
        vec![card.clone(), ("/api/ps", runs(64_000))],
        // Not loaded yet: how it will be loaded is not known.
        vec![card.clone(), ("/api/ps", json!({"models": []}))],
        vec![],
    ] {
        let url = pages(&told);
        let said = checked(&format!("[model]\nprovider = \"ollama\"\nmodel = \"m\"\nbase_url = \"{url}\"\n"));
        assert!(!said.iter().any(|said| said.starts_with("window")), "{told:?}: {said:?}");
    }
}

/// Found: which servers run was told by the doctor alone.
#[tokio::test]
async fn a_running_broker_tells_of_servers_that_it_does_not_use_the_owners_own_among_them() {
    let url = pages(&[("/v1/models", json!({"data": [{"id": "a-small-one"}]}))]);
    let settings = format!("[makers.here]\nlocal = true\naddress = \"{url}/v1\"\n");
    let paid = Paid::start(&settings, "http://127.0.0.1:9");
    let told = || {
        let page: Value = serde_json::from_str(&paid.file(".self/budget.json")).unwrap_or_default();
        page["nearby"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    crate::outside::happens(|| told().iter().any(|told| told.starts_with("here runs at 127.0.0.1:")));
    let told = told().join("\n");
    assert!(
        told.contains("with a-small-one, and is not used: owner.toml [model] provider = \"here\" uses it"),
        "{told}"
    );
}
