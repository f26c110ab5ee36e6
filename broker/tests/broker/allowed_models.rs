//! Which models are passed on: those that the owner's settings name, and no other, each reserved, settled and counted.

use crate::paid::{Paid, request};
use crate::upstream::Upstream;
use serde_json::{Value, json};

const RICH: &str = "[budget]\ndaily_usd = 100\nweekly_usd = 400\nautonomous_percent = 100\n";

async fn asked(paid: &Paid, wire: &str, model: &str) -> (u16, String) {
    let mut body = request(wire, &json!({"do": "plain", "input": 100, "output": 10}), 10);
    body["model"] = json!(model);
    let answer = paid.post(wire, &body).send().await.unwrap();
    (answer.status().as_u16(), String::from_utf8(answer.bytes().await.unwrap().to_vec()).unwrap())
}

#[tokio::test]
async fn a_model_that_the_owner_did_not_name_is_not_reached() {
    let upstream = Upstream::start();
    let settings = format!(
        "{RICH}[model]\nmodel = \"opus\"\nothers = [\"sonnet\"]\n[model.quick]\nmodel = \"haiku\"\neffort = \"low\"\n\
         [dream]\nmodel = \"claude-fable-5\"\n"
    );
    let paid = Paid::start(&settings, &upstream.url());
    let names = ["claude-opus-5-5", "haiku", "sonnet", "claude-fable-5"];
    for name in names {
        assert_eq!(asked(&paid, "anthropic", name).await.0, 200, "{name}");
    }
    let ledger = paid.wait_for("settle", names.len());
    let settled = ledger.of("settle");
    assert!(settled.iter().all(|line| line.entry.cost_micro_usd.is_some_and(|cost| cost > 0)));
    let calls = upstream.calls();
    for name in ["claude-opus-5", "claude-mythos-5", "unheard-of"] {
        let (status, said) = asked(&paid, "anthropic", name).await;
        let said: Value = serde_json::from_str(&said).unwrap();
        assert_eq!((status, &said["error"]["type"]), (403, &json!("model_not_allowed")), "{name}");
        let hint = said["error"]["hint"].as_str().unwrap();
        assert!(
            hint.contains("claude-sonnet-5-5") && hint.contains(&format!("others = [\"{name}\"]")),
            "{hint}"
        );
    }
    assert_eq!((upstream.calls(), paid.ledger().of("reserve").len()), (calls, names.len()), "it was reached");
    let model = paid.status().await["model"].clone();
    let others: Vec<&str> =
        model["others"].as_array().unwrap().iter().filter_map(|one| one["name"].as_str()).collect();
    assert_eq!(others, ["claude-sonnet-5-5", "claude-fable-5"]);
    // What the owner set for the quick one was never told to the creature.
    assert_eq!((&model["quick"]["effort"], &model["effort"]), (&json!("low"), &Value::Null));
}

/// Of a server whose models the owner did not name, what it offers is asked.
#[tokio::test]
async fn where_the_owner_named_no_model_any_that_the_server_offers_is_passed_on() {
    let upstream = Upstream::start();
    let paid = Paid::start(&format!("{RICH}[model]\nprovider = \"openai\"\n"), &upstream.url());
    for name in ["gpt-6.1-terra", "gpt-6-luna"] {
        assert_eq!(asked(&paid, "openai", name).await.0, 200, "{name}");
    }
}
