//! Which mind the broker offers, and what cannot be used of an offer.

use creature::paths::House;
use creature::tools::catalogue::LIST;
use hands::Broker;
use mind::ModelSettings;
use mind::llm::{Reach, offered};
use serde_json::{Value, json};
use std::time::Duration;

fn mind(model: Value, settings: &ModelSettings) -> Result<Option<(String, Duration)>, String> {
    let broker = Broker::new("http://127.0.0.1:9/", "a-token-of-this-life").unwrap();
    let house = &House::new("/nowhere");
    let reach = Reach {
        base: broker.base(),
        token: broker.token(),
        settings,
        house,
        tools: &LIST,
        commit: "",
        configured: &[],
        outside: "",
    };
    let mind = offered(&reach, &json!({"model": model}))?;
    Ok(mind.map(|mind| (mind.name(), mind.patience())))
}

#[test]
fn the_offer_is_taken_with_the_owners_patience() {
    let usual = ModelSettings::default();
    let anthropic = json!({"wire": "anthropic", "name": "m", "path": "/llm/anthropic", "of_tomorrow": 1});
    assert_eq!(mind(anthropic, &usual), Ok(Some(("anthropic m".to_owned(), Duration::from_secs(300)))));
    let openai = json!({"wire": "openai", "name": "n", "path": "/llm/openai/v1"});
    for (deadline_s, taken) in [(7, 7), (0, 5), (99_999, 1_800)] {
        let settings = ModelSettings { deadline_s: Some(deadline_s), max_tokens: Some(0), ..usual.clone() };
        let expected = ("openai n".to_owned(), Duration::from_secs(taken));
        assert_eq!(mind(openai.clone(), &settings), Ok(Some(expected)));
    }
    assert_eq!(mind(Value::Null, &usual), Ok(None));
}

#[test]
fn an_offer_that_cannot_be_used_is_said() {
    for (offer, says) in [
        (json!({"wire": "smoke", "name": "m", "path": "/x"}), "wire `smoke`"),
        (json!({"wire": "openai", "path": "/x"}), "no name"),
        (json!({"wire": "openai", "name": "m", "path": "/x?y"}), "address"),
        (json!("claude"), "wire ``"),
        (json!([]), "wire ``"),
    ] {
        let said = mind(offer, &ModelSettings::default()).unwrap_err();
        assert!(said.contains(says), "{said}");
    }
}
