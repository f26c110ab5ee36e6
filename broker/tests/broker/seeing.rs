//! Pictures and documents: what a call with them is reserved at, and which models are said to see them.

use crate::paid::Paid;
use crate::served::pages;
use broker::ground::clock::Clock;
use broker::ground::hosts::Resolver;
use broker::ground::refusal::Refusal;
use broker::llm::bill::Bill;
use broker::llm::choice::{Chosen, pick};
use broker::llm::offers::Providers;
use broker::llm::request::{self, Judged};
use broker::llm::wire::Wire::{self, Anthropic, OpenAi};
use broker::makers::Makers;
use broker::money::prices::{Prices, Usage};
use broker::net::outward::Outward;
use broker::policy::Policy;
use serde_json::{Value, json};

fn judge(wire: Wire, body: &Value) -> Result<Judged, Refusal> {
    let (model, fields) = request::parse(body.to_string().as_bytes())?;
    request::judge(wire, model, fields, true, Some(200_000))
}

fn message(more: Value) -> Value {
    json!({"model": "m", "messages": more["messages"]})
}

fn chosen(settings: &str) -> Chosen {
    let policy = Policy::read(settings).unwrap();
    pick(&policy.model, Makers::with_owners(&policy.makers), &|_| Some("a key".to_owned()), &|_| None)
}

/// Found: a picture of a megabyte was reserved as if its base64 were text, a third of a dollar at 1 USD a million tokens; a
/// document was refused.
#[test]
fn what_is_seen_is_reserved_by_what_it_can_have_and_not_by_its_bytes() {
    let data = "A".repeat(1 << 20);
    let address = format!("data:application/pdf;base64,{data}");
    let shown = |content: Value| json!({"messages": [{"role": "user", "content": [content]}]});
    let picture = [
        (
            Anthropic,
            shown(
                json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}}),
            ),
        ),
        (
            OpenAi,
            shown(
                json!({"type": "image_url", "image_url": {"url": format!("data:image/png;base64,{data}")}}),
            ),
        ),
    ];
    let document = [
        (
            Anthropic,
            shown(
                json!({"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": data}}),
            ),
        ),
        (OpenAi, shown(json!({"type": "file", "file": {"filename": "a.pdf", "file_data": address}}))),
    ];
    let rate = Prices::new(&Policy::default()).of("claude-sonnet-5-5");
    for (pictures, cases) in [(true, picture), (false, document)] {
        for (wire, more) in cases {
            let judged = judge(wire, &message(more.clone())).unwrap_or_else(|refusal| panic!("{refusal:?}"));
            let bill = Bill { rate, size: judged.size, like: None };
            let reserved = bill.reserved_tokens();
            let expected = if pictures { 51_000..=51_500 } else { 201_000..=201_500 };
            assert!(expected.contains(&reserved), "{wire:?}: {reserved}");
            // What the answer says is believed up to all that can be in it: the ledger is never below the bill.
            let usage = Usage { input: 200_000, output: 10, ..Usage::default() };
            assert_eq!(bill.by_usage(&usage, 100), (400_000 + 100, false), "{wire:?}");
            assert_eq!(bill.like(&usage).input_permille, None, "it teaches nothing of text");
            let said = Usage { input: 1_700, output: 10, ..Usage::default() };
            assert!(
                bill.cut(Some(said), 40, 1) < 10_000,
                "a prompt of a picture has few tokens for its bytes"
            );
        }
    }
    let small = shown(json!({"type": "document", "source": {"type": "base64", "data": "A".repeat(4_000)}}));
    let judged = judge(Anthropic, &message(small)).unwrap();
    let bill = Bill { rate, size: judged.size, like: None };
    assert!((5_000..=5_500).contains(&bill.reserved_tokens()), "{}", bill.reserved_tokens());
    let usage = Usage { input: 190_000, output: 10, ..Usage::default() };
    assert_eq!(bill.by_usage(&usage, 100), (380_000 + 100, false), "as many pages as the model holds");
    // Found by reading: a document of few bytes and many pages was billed by its bytes where its client left before the end.
    assert!(bill.cut(None, 0, 1) >= 380_000, "nobody told how many pages it has: {}", bill.cut(None, 0, 1));
    for odd in [
        json!({"type": "file", "file": {"file_id": "x", "file_data": "data:"}}),
        json!({"type": "input_file", "file_data": "data:", "file_url": "https://a.example"}),
        json!({"type": "document", "source": {"type": "file", "file_id": "x"}}),
    ] {
        let refusal = judge(OpenAi, &message(shown(odd.clone()))).unwrap_err();
        assert_eq!(refusal.kind, "cost_unknown", "{odd}");
    }
}

/// What is not known of a model is not said, and of what it sees only what can be sent there.
#[tokio::test]
async fn status_says_what_a_model_sees_by_its_row_or_by_its_servers_word() {
    let ollama =
        |all: Value| ("/api/show", json!({"model_info": {"q.context_length": 8_192}, "capabilities": all}));
    let llama =
        |vision: bool| ("/props", json!({"n_ctx": 8_192, "modalities": {"vision": vision, "audio": false}}));
    let studio = |kind: &str| {
        let model = json!({"id": "m", "type": kind, "state": "loaded", "loaded_context_length": 4_096});
        ("/api/v0/models", json!({"data": [model]}))
    };
    for (provider, told, sees) in [
        ("ollama", ollama(json!(["completion", "vision"])), json!(["image"])),
        ("ollama", ollama(json!(["completion", "tools"])), json!([])),
        ("ollama", ("/api/show", json!({"model_info": {"q.context_length": 8_192}})), Value::Null),
        ("openai", llama(true), json!(["image"])),
        ("openai", llama(false), json!([])),
        ("openai", studio("vlm"), json!(["image"])),
        ("openai", studio("llm"), json!([])),
        ("openai", ("/props", json!({"n_ctx": 8_192})), Value::Null),
    ] {
        let url = pages(std::slice::from_ref(&told));
        let settings = format!("[model]\nprovider = \"{provider}\"\nmodel = \"m\"\nbase_url = \"{url}\"\n");
        let paid = Paid::start(&settings, &url);
        assert_eq!(paid.status().await["model"]["sees"], sees, "{provider} {told:?}");
    }
    let providers = |settings: &str| {
        Providers::new(chosen(settings), Outward::new(Resolver::default()).unwrap(), Clock::default())
    };
    for (settings, sees) in [
        ("[model]\nprovider = \"openai\"\n", json!(["image", "pdf"])),
        ("[model]\nprovider = \"google\"\n", json!(["image", "audio", "video"])),
        (
            "[model]\nprovider = \"openai\"\nmodel = \"mine\"\n[makers.openai.models.mine]\nwindow = 9000\nsees = [\"image\"]\n",
            json!(["image"]),
        ),
    ] {
        let mut told = providers(settings).status(|_| None, |_, _| Value::Null).await["sees"].clone();
        if let Some(all) = told.as_array_mut() {
            all.sort_by_key(|kind| ["image", "pdf", "audio", "video"].iter().position(|known| kind == known));
        }
        assert_eq!(told, sees, "{settings}");
    }
}
