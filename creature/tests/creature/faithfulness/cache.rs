//! The caches' arithmetic as it is documented: marks, least length, look-back, life, and steps.

use super::client::post;
use crate::faithful::{Entry, Faithful, Prices, Rules, Say, Wire, ledger};
use serde_json::{Value, json};

const MESSAGES: &str = "/v1/messages";

fn server(wire: Wire) -> Faithful {
    Faithful::start(wire, Rules::default(), |_| Say::new().says("yes"))
}

fn marked(text: &str) -> Value {
    json!({"type": "text", "text": text, "cache_control": {"type": "ephemeral"}})
}

/// A system of about `tokens` with a mark at its end, and a user's word.
fn body(tokens: usize) -> Value {
    let system = "abcdefg".repeat(tokens / 2);
    json!({
        "model": "claude-sonnet-5-5", "max_tokens": 900, "system": [marked(&system)],
        "messages": [{"role": "user", "content": [{"type": "text", "text": "go"}]}],
    })
}

/// Read, written and uncached tokens of the request.
fn counts(server: &Faithful, path: &str, body: &Value) -> (usize, usize, usize) {
    let (status, reply) = post(server, path, body);
    assert_eq!(status, 200, "{reply}");
    let tokens = server.ledger().last().unwrap().tokens;
    let usage = &reply["usage"];
    let count = |value: &Value| value.as_u64().unwrap_or(0) as usize;
    if path == MESSAGES {
        assert_eq!(count(&usage["cache_read_input_tokens"]), tokens.read);
        assert_eq!(count(&usage["cache_creation_input_tokens"]), tokens.written);
        assert_eq!(count(&usage["input_tokens"]), tokens.uncached);
    }
    (tokens.read, tokens.written, tokens.uncached)
}

#[test]
fn a_marked_prefix_is_written_once_and_read_until_it_has_not_been_used_for_five_minutes() {
    let server = server(Wire::Anthropic);
    let body = body(2_000);
    let (read, written, uncached) = counts(&server, MESSAGES, &body);
    assert!(read == 0 && (2_000..2_030).contains(&written) && uncached < 15, "{read} {written} {uncached}");
    server.forward(299);
    assert_eq!(counts(&server, MESSAGES, &body), (written, 0, uncached));
    server.forward(299);
    assert_eq!(counts(&server, MESSAGES, &body), (written, 0, uncached), "a read keeps it alive");
    server.forward(300);
    assert_eq!(counts(&server, MESSAGES, &body), (0, written, uncached), "its life is over");
}

#[test]
fn an_hour_is_an_hour_and_costs_twice() {
    let server = server(Wire::Anthropic);
    let mut body = body(2_000);
    body["system"][0]["cache_control"]["ttl"] = json!("1h");
    let (_, written, _) = counts(&server, MESSAGES, &body);
    let first = server.ledger()[0].clone();
    assert_eq!(first.tokens.written_hour, written);
    let prices = Prices { input: 1.0, cache_read: 0.1, output: 0.0 };
    let expected = (first.tokens.uncached + 2 * written) as f64 / 1e6;
    assert!((first.cost_usd(&prices) - expected).abs() < 1e-9);
    server.forward(3_599);
    assert_eq!(counts(&server, MESSAGES, &body).0, written);
}

#[test]
fn what_is_too_short_is_silently_not_cached() {
    let server = server(Wire::Anthropic);
    let short = body(400);
    assert_eq!(counts(&server, MESSAGES, &short).1, 0);
    assert_eq!(counts(&server, MESSAGES, &short).0, 0);
    let mut old = body(2_000);
    old["model"] = json!("claude-haiku-4-5");
    assert_eq!(counts(&server, MESSAGES, &old).1, 0, "4,096 there");
}

#[test]
fn nothing_is_written_without_a_mark() {
    let server = server(Wire::Anthropic);
    let mut body = body(2_000);
    body["system"][0].as_object_mut().unwrap().remove("cache_control");
    assert_eq!(counts(&server, MESSAGES, &body).1, 0);
    body["cache_control"] = json!({"type": "ephemeral"});
    let (_, written, uncached) = counts(&server, MESSAGES, &body);
    assert!(written > 2_000 && uncached == 0, "the automatic mark stands at the end");
}

#[test]
fn a_read_looks_back_twenty_positions_from_a_mark() {
    for (added, hit) in [(19, true), (20, false)] {
        let server = server(Wire::Anthropic);
        let mut body = body(2_000);
        let text = |at: usize| json!({"type": "text", "text": format!("block {at}")});
        body["system"][0].as_object_mut().unwrap().remove("cache_control");
        body["messages"][0]["content"] = json!([marked("first")]);
        let (_, written, _) = counts(&server, MESSAGES, &body);
        let mut content: Vec<Value> = vec![json!({"type": "text", "text": "first"})];
        content.extend((1..added).map(text));
        content.push(marked("last"));
        body["messages"][0]["content"] = json!(content);
        let read = counts(&server, MESSAGES, &body).0;
        assert_eq!(read, if hit { written } else { 0 }, "{added} blocks later");
    }
}

#[test]
fn tools_lose_all_and_settings_lose_the_messages() {
    let server = server(Wire::Anthropic);
    let mut body = body(2_000);
    body["messages"][0]["content"] = json!([marked(&"abcdefg".repeat(500))]);
    body["tools"] = json!([{
        "name": "a", "description": "d", "input_schema": {"type": "object", "properties": {"n": {"type": "string"}}},
    }]);
    let (_, written, _) = counts(&server, MESSAGES, &body);
    body["max_tokens"] = json!(77);
    assert_eq!(counts(&server, MESSAGES, &body).0, written);
    body["output_config"] = json!({"effort": "low"});
    let (read, rewritten, _) = counts(&server, MESSAGES, &body);
    assert!((2_000..2_060).contains(&read) && (1_000..1_030).contains(&rewritten), "{read} {rewritten}");
    body["system"][0]["text"] = json!("abcdefg".repeat(1_100));
    assert_eq!(counts(&server, MESSAGES, &body).0, 0, "the tools alone are too short to be held");
    body["tools"][0]["description"] = json!("other");
    assert_eq!(counts(&server, MESSAGES, &body).0, 0);
    body["model"] = json!("claude-opus-5-5");
    assert_eq!(counts(&server, MESSAGES, &body).0, 0);
}

#[test]
fn the_other_wires_hold_steps_of_a_common_beginning_for_half_an_hour() {
    for (wire, path) in [(Wire::Responses, "/v1/responses"), (Wire::Chat, "/v1/chat/completions")] {
        let server = server(wire);
        let said = |text: &str| match wire {
            Wire::Responses => json!({"model": "gpt-6.1-sol", "store": false, "input": text}),
            _ => json!({"model": "local-test", "messages": [{"role": "user", "content": text}]}),
        };
        let long = "abcdefg".repeat(1_000);
        let (read, written, uncached) = counts(&server, path, &said(&long));
        assert_eq!((read, written), (0, 1_920), "{wire:?} steps of 128 in {}", written + uncached);
        let longer = format!("{long}{}", "more of it ".repeat(100));
        let (read, written, _) = counts(&server, path, &said(&longer));
        assert_eq!((read, written), (1_920, 384), "{wire:?}");
        server.forward(1_800);
        assert_eq!(counts(&server, path, &said(&longer)).0, 0, "{wire:?}");
        assert_eq!(
            counts(&server, path, &said("abcdefg")),
            (0, 0, counts(&server, path, &said("abcdefg")).2)
        );
    }
}

#[test]
fn a_conversation_marked_at_its_end_reads_all_but_the_last_delta() {
    let server = server(Wire::Anthropic);
    let mut body = body(4_000);
    for round in 0..12 {
        let messages = body["messages"].as_array_mut().unwrap();
        let last = messages.last_mut().unwrap();
        last["content"][0]["cache_control"] = json!({"type": "ephemeral"});
        let (_, reply) = post(&server, MESSAGES, &body);
        let messages = body["messages"].as_array_mut().unwrap();
        messages.last_mut().unwrap()["content"][0].as_object_mut().unwrap().remove("cache_control");
        messages.push(json!({"role": "assistant", "content": reply["content"]}));
        let said = format!("round {round}: {}", "words ".repeat(60));
        messages.push(json!({"role": "user", "content": [{"type": "text", "text": said}]}));
    }
    server.assert_no_violations();
    let entries: Vec<Entry> = server.ledger();
    for pair in entries.windows(2) {
        assert_eq!(pair[1].tokens.read, pair[0].tokens.read + pair[0].tokens.written, "{pair:#?}");
    }
    assert!(ledger::read_share(&entries) > 0.85, "{}", ledger::table(&entries, &Prices::MIDDLE));
}
