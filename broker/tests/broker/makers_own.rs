//! Makers that the owner adds in `owner.toml`, or corrects there: chosen by their key, asked and paid as their rows say.

use crate::paid::{Paid, house, request};
use crate::upstream::Upstream;
use broker::llm::choice::{Chosen, pick};
use broker::makers::Makers;
use broker::money::prices::{Prices, Usage};
use broker::policy::Policy;
use serde_json::json;
use std::process::{Command, Output};

const ACME: &str = r#"
[makers.acme]
keys = ["ACME_API_KEY"]
address = "https://api.acme.example/v2"
model = "acme-large-2"
limit = "max_completion_tokens"
aliases = { small = "acme-small-2" }

[makers.acme.models]
"acme-large-2" = { window = 64000, output = 8000, in = 3, out = 12, cached = 0.3 }
"acme-small-2" = { window = 32000, in = 0.5, out = 2 }
"acme-new-3" = { window = 16000 }
"#;

fn chosen(settings: &str, keys: &[&str]) -> Chosen {
    let policy = Policy::read(settings).unwrap();
    let key = |name: &str| keys.contains(&name).then(|| "a key".to_owned());
    pick(&policy.model, Makers::with_owners(&policy.makers), &key, &|_| None)
}

/// What a million tokens of the prompt, of what was cached of it, and of the reply cost, in USD.
fn costs(settings: &str, model: &str) -> [f64; 3] {
    let prices = Prices::new(&Policy::read(settings).unwrap());
    // By parts of a tenth, below where long prompts cost more.
    let (million, none) = (100_000, Usage::default());
    let each = [
        Usage { input: million, ..none },
        Usage { cache_read: million, ..none },
        Usage { output: million, ..none },
    ];
    each.map(|usage| prices.of(model).cost(&usage) as f64 / 1e5)
}

fn checked(settings: &str, secrets: &str) -> Output {
    let folder = house(settings);
    std::fs::write(folder.path().join(".env"), secrets).unwrap();
    let mut check = Command::new(env!("CARGO_BIN_EXE_broker"));
    check.args(["--check", "--house", folder.path().to_str().unwrap()]).env_clear().output().unwrap()
}

#[test]
fn a_key_in_the_file_is_enough_for_a_maker_of_the_owners() {
    let output = checked(ACME, "ACME_API_KEY=acme-test-0123456789\n");
    let said = String::from_utf8(output.stdout).unwrap();
    let told = "acme: acme-large-2 at api.acme.example, with the key in ACME_API_KEY";
    assert_eq!(said.lines().next(), Some(told), "{}", String::from_utf8_lossy(&output.stderr));
    let first = chosen(ACME, &["ACME_API_KEY"]).first.unwrap();
    assert_eq!(first.url("/chat/completions"), "https://api.acme.example/v2/chat/completions");
    assert_eq!((first.wire.name(), first.wants_new_limit(), first.is_makers()), ("openai", true, true));
    // A row alone changes nothing of what is in use.
    let known = chosen(ACME, &["ACME_API_KEY", "MISTRAL_API_KEY"]);
    assert_eq!(known.first.unwrap().name, "mistral");
    let named = format!("[model]\nprovider = \"acme\"\nmodel = \"small\"{ACME}");
    let named = chosen(&named, &["ACME_API_KEY", "MISTRAL_API_KEY"]).first.unwrap();
    assert_eq!((named.name.as_str(), named.model.as_deref()), ("acme", Some("acme-small-2")));
    let without = chosen(&format!("[model]\nprovider = \"acme\"{ACME}"), &[]);
    assert!(without.told().contains("no key is in ACME_API_KEY"), "{}", without.told());
}

#[test]
fn a_model_of_its_name_as_a_fallback_goes_to_that_maker() {
    let settings = format!("[[model.fallback]]\nmodel = \"acme-small-2\"{ACME}");
    let both = chosen(&settings, &["ANTHROPIC_API_KEY", "ACME_API_KEY"]);
    assert_eq!((both.first.unwrap().name.as_str(), both.fallback[0].name.as_str()), ("anthropic", "acme"));
}

#[test]
fn every_wire_may_be_spoken_at_an_address_of_the_owners() {
    for (wire, name) in
        [("anthropic", "anthropic"), ("responses", "responses"), ("chat", "openai"), ("", "openai")]
    {
        let settings =
            format!("[makers.own]\naddress = \"https://own.example\"\nwire = \"{wire}\"\nkeys = [\"OWN\"]");
        let first = chosen(&settings, &["OWN"]).first.unwrap();
        assert_eq!((first.name.as_str(), first.wire.name()), ("own", name), "{wire}");
    }
}

#[test]
fn its_prices_and_windows_count_and_what_is_unknown_is_the_dearest_of_its_family_and_said() {
    assert_eq!(costs(ACME, "acme-large-2"), [3.0, 0.3, 12.0]);
    assert_eq!(costs(ACME, "acme-small-2"), [0.5, 0.5, 2.0]);
    let prices = Prices::new(&Policy::read(ACME).unwrap());
    for unknown in ["acme-new-3", "acme-huge-9", "acme/ACME-Other"] {
        assert_eq!(costs(ACME, unknown), [3.0, 0.5, 12.0], "{unknown}");
        let said = prices.guess(unknown).unwrap();
        assert!(said.contains("the dearest acme there is (3 USD"), "{said}");
    }
    assert_eq!(prices.guess("acme-large-2"), None);
    let makers = Makers::with_owners(&Policy::read(ACME).unwrap().makers);
    for (model, window) in [("acme-large-2", 64_000), ("acme-new-3", 16_000), ("acme-huge-9", 16_000)] {
        assert_eq!(makers.window(model), Some(window), "{model}");
    }
    // Without the row it is the worst of all, as ever.
    assert!(Prices::new(&Policy::default()).guess("acme-large-2").unwrap().contains("the worst"));
}

#[test]
fn a_row_of_a_known_maker_is_corrected_where_it_says_so_and_stays_as_it_is_elsewhere() {
    let corrected =
        "[makers.openai]\nmodel = \"gpt-6-luna\"\nmodels.\"gpt-6-luna\" = { in = 0.2, out = 0.9 }";
    assert_eq!(costs(corrected, "gpt-6-luna"), [0.2, 0.2, 0.9]);
    assert_eq!(costs(corrected, "gpt-6.1-sol"), costs("", "gpt-6.1-sol"));
    let makers = Makers::with_owners(&Policy::read(corrected).unwrap().makers);
    assert_eq!(makers.window("gpt-6-luna"), Some(922_000));
    let first = chosen(corrected, &["OPENAI_API_KEY"]).first.unwrap();
    assert_eq!((first.model.as_deref(), first.wire.name()), (Some("gpt-6-luna"), "responses"));
    let moved = "[makers.deepseek]\naddress = \"https://cn.deepseek.example/v1\"\nkeys = [\"DS_KEY\"]";
    let first = chosen(moved, &["DS_KEY"]).first.unwrap();
    assert_eq!((first.upstream().as_str(), first.is_makers()), ("cn.deepseek.example", true));
    assert_eq!(
        chosen(moved, &["DEEPSEEK_API_KEY"]).first.unwrap().name,
        "ollama",
        "its keys are those of the row"
    );
    let window = "[makers.openai.models.\"gpt-6-luna\"]\nwindow = 50000";
    let makers = Makers::with_owners(&Policy::read(window).unwrap().makers);
    assert_eq!(makers.window("gpt-6-luna"), Some(50_000));
    assert_eq!(costs(window, "gpt-6-luna"), costs("", "gpt-6-luna"));
    // [prices] is the last word.
    let both = format!("{corrected}\n[prices.\"gpt-6-luna\"]\ninput = 7\noutput = 8");
    assert_eq!(costs(&both, "gpt-6-luna"), [7.0, 7.0, 8.0]);
}

#[tokio::test]
async fn a_call_to_it_goes_to_its_address_with_its_key_and_costs_what_its_row_says() {
    let upstream = Upstream::start();
    let settings = format!(
        "[makers.acme]\nkeys = [\"ACME_API_KEY\"]\naddress = \"{}/v1\"\nmodel = \"acme-large-2\"\n\
         models.\"acme-large-2\" = {{ window = 64000, in = 3, out = 12 }}\n[model]\nprovider = \"acme\"\n",
        upstream.url()
    );
    let folder = house(&settings);
    std::fs::write(folder.path().join(".env"), "ACME_API_KEY=acme-test-0123456789\n").unwrap();
    let paid = Paid::start_in(folder, &upstream.url());
    let mut body = request("openai", &json!({"do": "plain", "input": 1000, "output": 100}), 500);
    body["model"] = json!("acme-large-2");
    let answer = paid.post("openai", &body).send().await.unwrap();
    assert_eq!(answer.status(), 200, "{}", answer.text().await.unwrap());
    let (head, _) = upstream.counted.last.lock().unwrap().clone().unwrap();
    assert_eq!(head["authorization"], "Bearer acme-test-0123456789");
    let settled = paid.wait_for("settle", 1);
    let line = &settled.of("settle")[0].entry;
    // 1000 tokens at 3 USD a million and 100 at 12.
    assert_eq!(line.cost_micro_usd, Some(4_200), "{line:?}");
}
