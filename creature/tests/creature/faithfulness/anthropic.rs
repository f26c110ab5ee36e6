//! Anthropic Messages: every rule is broken once and kept once.

use super::client::{events, post, raw};
use crate::faithful::{Faithful, Rules, Say, Wire};
use serde_json::{Value, json};

const PATH: &str = "/llm/anthropic/v1/messages";

/// Thinks, says a word and reads a file, whatever it is told.
fn server() -> Faithful {
    Faithful::start(Wire::Anthropic, Rules::default(), |_| {
        Say::new().thinks("hm").says("I look.").calls("repo.read", json!({"path": "a"}))
    })
}

fn tool(name: &str) -> Value {
    json!({"name": name, "description": "d", "input_schema": {"type": "object", "properties": {"path": {"type": "string"}}}})
}

fn body(messages: Value) -> Value {
    json!({
        "model": "claude-sonnet-5-5", "max_tokens": 900, "system": [{"type": "text", "text": "You are."}],
        "tools": [tool("repo_read")], "messages": messages,
    })
}

fn result(reply: &Value) -> Value {
    let calls = reply["content"].as_array().unwrap().iter().filter(|block| block["type"] == "tool_use");
    let results =
        calls.map(|call| json!({"type": "tool_result", "tool_use_id": call["id"], "content": "lines"}));
    json!({"role": "user", "content": results.collect::<Vec<_>>()})
}

/// A request with one round behind it.
fn second(server: &Faithful) -> Value {
    let mut body = body(json!([{"role": "user", "content": "go"}]));
    let (status, reply) = post(server, PATH, &body);
    assert_eq!(status, 200, "{reply}");
    let messages = body["messages"].as_array_mut().unwrap();
    messages.push(json!({"role": "assistant", "content": reply["content"]}));
    messages.push(result(&reply));
    body
}

#[track_caller]
fn refused(server: &Faithful, body: &Value, words: &str) {
    let (status, reply) = post(server, PATH, body);
    let message = reply["error"]["message"].as_str().unwrap_or_default();
    assert!(message.contains(words), "{status} {reply}");
    assert_eq!(
        (status, &reply["type"], &reply["error"]["type"]),
        (400, &json!("error"), &json!("invalid_request_error"))
    );
    assert!(server.violations().last().unwrap().message.contains(words));
}

#[track_caller]
fn taken(server: &Faithful, body: &Value) -> Value {
    let (status, reply) = post(server, PATH, body);
    assert_eq!(status, 200, "{reply}");
    reply
}

#[test]
fn a_conversation_that_keeps_the_rules_is_taken() {
    let server = server();
    let mut body = second(&server);
    for _ in 0..5 {
        let reply = taken(&server, &body);
        let messages = body["messages"].as_array_mut().unwrap();
        messages.push(json!({"role": "assistant", "content": reply["content"]}));
        messages.push(result(&reply));
        messages.push(json!({"role": "system", "content": "news"}));
    }
    server.assert_no_violations();
    let seen = server.seen().pop().unwrap();
    assert_eq!(seen.last_results(), [("repo.read".to_owned(), "lines".to_owned())]);
    assert_eq!((seen.last_said().as_str(), seen.thoughts()), ("news", 5));
}

#[test]
fn every_call_has_its_result_right_after_and_every_result_its_call() {
    let server = server();
    let good = second(&server);
    let mut bad = good.clone();
    bad["messages"][2]["content"] = json!("no result");
    refused(&server, &bad, "`tool_use` ids were found without `tool_result` blocks immediately after");
    bad = good.clone();
    bad["messages"].as_array_mut().unwrap().insert(2, json!({"role": "system", "content": "news"}));
    refused(&server, &bad, "role 'system' must follow a user message");
    bad = good.clone();
    let twice = bad["messages"][2]["content"][0].clone();
    bad["messages"][2]["content"].as_array_mut().unwrap().push(twice);
    refused(&server, &bad, "each tool_use must have a single result");
    bad = good.clone();
    bad["messages"][2]["content"].as_array_mut().unwrap().insert(0, json!({"type": "text", "text": "first"}));
    refused(&server, &bad, "tool_result blocks must come first");
    bad = good.clone();
    let stray = json!({"type": "tool_result", "tool_use_id": "toolu_x", "content": ""});
    bad["messages"][2]["content"].as_array_mut().unwrap().push(stray);
    refused(&server, &bad, "unexpected `tool_use_id` found in `tool_result` blocks: toolu_x");
    taken(&server, &good);
}

#[test]
fn thinking_goes_back_only_behind_what_it_was_made_behind() {
    let server = server();
    let good = second(&server);
    let bound = "Invalid `signature` in `thinking` block. The block is bound to a different conversation";
    let mut changes: Vec<Value> = vec![good.clone(); 5];
    changes[0]["messages"][0]["content"] = json!("gone");
    changes[1]["system"][0]["text"] = json!("You were.");
    changes[2]["tools"].as_array_mut().unwrap().push(tool("more"));
    changes[3]["messages"][0]["content"] =
        json!([{"type": "text", "text": "go"}, {"type": "text", "text": "on"}]);
    changes[4]["messages"][1]["content"][0]["signature"] = json!("forged");
    for change in &changes {
        refused(&server, change, bound);
    }
    let mut marked = good.clone();
    marked["system"][0]["cache_control"] = json!({"type": "ephemeral"});
    marked["max_tokens"] = json!(10);
    taken(&server, &marked);
    let mut bare = good.clone();
    bare["messages"][1]["content"].as_array_mut().unwrap().remove(0);
    taken(&server, &bare);
}

#[test]
fn an_assistants_turn_goes_back_as_it_came() {
    let server = Faithful::start(Wire::Anthropic, Rules::default(), |_| {
        Say::new()
            .thinks("a")
            .says("one")
            .unknown_block(json!({"type": "later_invention", "x": [1]}))
            .thinks("b")
            .calls("repo.read", json!({}))
    });
    let good = second(&server);
    let mut bad = good.clone();
    bad["messages"][1]["content"][1]["text"] = json!("two");
    refused(&server, &bad, "bound to a different conversation");
    bad = good.clone();
    bad["messages"][1]["content"].as_array_mut().unwrap().remove(2);
    refused(&server, &bad, "bound to a different conversation");
    bad = good.clone();
    bad["messages"][1]["content"].as_array_mut().unwrap().remove(3);
    refused(&server, &bad, "blocks in the latest assistant message cannot be modified");
    bad = good.clone();
    bad["messages"][1]["content"][4]["input"] = json!({"path": "b"});
    refused(&server, &bad, "not as it was given out");
    taken(&server, &good);
}

#[test]
fn thinking_is_left_out_from_the_oldest_on_only() {
    let server = server();
    let mut body = second(&server);
    for _ in 0..2 {
        let reply = taken(&server, &body);
        let messages = body["messages"].as_array_mut().unwrap();
        messages.push(json!({"role": "assistant", "content": reply["content"]}));
        messages.push(result(&reply));
    }
    let without = |body: &Value, at: usize| {
        let mut body = body.clone();
        body["messages"][at]["content"].as_array_mut().unwrap().remove(0);
        body
    };
    let oldest = without(&body, 1);
    taken(&server, &oldest);
    taken(&server, &without(&oldest, 3));
    refused(&server, &without(&body, 3), "bound to a different conversation");
    refused(&server, &without(&body, 5), "latest assistant message cannot be modified");
}

#[test]
fn messages_have_their_order_and_are_not_empty() {
    let server = server();
    let user = |content: Value| json!({"role": "user", "content": content});
    let cases = [
        (json!([]), "at least one message is required"),
        (json!([{"role": "assistant", "content": "I"}]), "first message must use the \"user\" role"),
        (
            json!([{"role": "system", "content": "I"}, user(json!("go"))]),
            "role 'system' must follow a user message",
        ),
        (
            json!([user(json!("go")), {"role": "system", "content": "I"}, user(json!("go"))]),
            "must be last or followed",
        ),
        (json!([user(json!(""))]), "text content blocks must be non-empty"),
        (json!([user(json!(" \n"))]), "must contain non-whitespace text"),
        (json!([user(json!([]))]), "must have non-empty content"),
        (json!([user(json!("go")), {"role": "assistant", "content": "I"}]), "prefill"),
        (
            json!([user(json!([{"type": "tool_use", "id": "a", "name": "b", "input": {}}]))]),
            "can only be in assistant",
        ),
        (json!([user(json!([{"type": "text", "text": "a", "of": 1}]))]), "Extra inputs are not permitted"),
    ];
    for (messages, words) in cases {
        refused(&server, &body(messages), words);
    }
    let mut old = body(json!([user(json!("go")), {"role": "system", "content": "news"}]));
    taken(&server, &old);
    old["model"] = json!("claude-haiku-4-5");
    refused(&server, &old, "role 'system' is not supported on this model");
    taken(&server, &body(json!([user(json!("go")), user(json!("on"))])));
}

#[test]
fn settings_of_older_models_are_refused() {
    let server = server();
    let good = body(json!([{"role": "user", "content": "go"}]));
    let cases = [
        ("tool_choice", json!({"type": "any"}), "\"any\" are not supported"),
        ("tool_choice", json!({"type": "tool", "name": "repo_read"}), "\"any\" are not supported"),
        ("thinking", json!({"type": "disabled"}), "\"disabled\" is not supported"),
        ("thinking", json!({"type": "enabled", "budget_tokens": 2_000}), "\"enabled\" is not supported"),
        ("thinking", json!({"type": "adaptive", "display": "updates"}), "beta"),
        ("temperature", json!(0.3), "sampling parameters"),
        ("top_p", json!(0.3), "sampling parameters"),
        ("top_k", json!(3), "sampling parameters"),
        ("max_tokens", json!(null), "max_tokens: Field required"),
        ("colour", json!(1), "colour: Extra inputs are not permitted"),
        ("context_management", json!({}), "Extra inputs are not permitted"),
        ("output_config", json!({"effort": "huge"}), "effort"),
        (
            "output_config",
            json!({"format": {"type": "json_schema", "schema": {"type": "object"}}}),
            "additionalProperties",
        ),
    ];
    for (name, value, words) in cases {
        let mut bad = good.clone();
        bad[name] = value;
        refused(&server, &bad, words);
    }
    let mut fine = good.clone();
    fine["thinking"] = json!({"type": "between_tools", "display": "summarized"});
    fine["tool_choice"] = json!({"type": "auto"});
    fine["output_config"] = json!({"effort": "low"});
    taken(&server, &fine);
    fine["model"] = json!("claude-never");
    assert_eq!(post(&server, PATH, &fine).0, 404);
}

#[test]
fn tools_have_names_and_closed_schemas_and_few_are_strict() {
    let server = server();
    let with = |tools: Vec<Value>| {
        let mut body = body(json!([{"role": "user", "content": "go"}]));
        body["tools"] = json!(tools);
        body
    };
    let strict = |name: &str, schema: Value| json!({"name": name, "description": "Does it.", "strict": true, "input_schema": schema});
    let closed =
        json!({"type": "object", "properties": {"n": {"type": "integer"}}, "additionalProperties": false});
    let numbered =
        |count: usize| (0..count).map(|at| strict(&format!("t{at}"), closed.clone())).collect::<Vec<_>>();
    refused(&server, &with(vec![tool("repo.read")]), "String should match pattern '^[a-zA-Z0-9_-]{1,64}$'");
    refused(&server, &with(vec![tool(&"x".repeat(65))]), "String should match pattern");
    refused(&server, &with(vec![tool("a"), tool("a")]), "Tool names must be unique");
    refused(
        &server,
        &with(vec![strict("a", json!({"type": "object"}))]),
        "'additionalProperties' must be explicitly set",
    );
    let mut bounded = closed.clone();
    bounded["properties"]["n"]["minimum"] = json!(1);
    refused(&server, &with(vec![strict("a", bounded)]), "property 'minimum' is not supported");
    refused(&server, &with(numbered(21)), "at most 20 strict tools");
    taken(&server, &with(numbered(20)));
}

#[test]
fn marks_are_four_and_the_long_ones_first() {
    let server = server();
    let text = |mark: Value| json!({"type": "text", "text": "go", "cache_control": mark});
    let (short, long) = (json!({"type": "ephemeral"}), json!({"type": "ephemeral", "ttl": "1h"}));
    let with = |marks: &[&Value]| {
        let content: Vec<Value> = marks.iter().map(|mark| text((*mark).clone())).collect();
        body(json!([{"role": "user", "content": content}]))
    };
    refused(
        &server,
        &with(&[&short; 5]),
        "A maximum of 4 blocks with cache_control may be provided. Found 5.",
    );
    let mut automatic = with(&[&short; 4]);
    automatic["cache_control"] = short.clone();
    refused(&server, &automatic, "Found 5.");
    refused(&server, &with(&[&short, &long]), "a ttl='1h' cache_control block must not come after");
    taken(&server, &with(&[&long, &long, &short, &short]));
}

#[test]
fn a_stream_joins_to_the_whole_reply() {
    let server = server();
    let mut body = body(json!([{"role": "user", "content": "go"}]));
    body["thinking"] = json!({"type": "adaptive", "display": "summarized"});
    let whole = taken(&server, &body);
    body["stream"] = json!(true);
    let (_, stream) = raw(&server, PATH, body.to_string().as_bytes());
    let events = events(&stream);
    let all = |kind: &str, name: &str| -> String {
        let deltas = events.iter().map(|event| &event["delta"]).filter(|delta| delta["type"] == kind);
        deltas.map(|delta| delta[name].as_str().unwrap()).collect()
    };
    assert_eq!(all("thinking_delta", "thinking"), "hm");
    assert_eq!(all("signature_delta", "signature"), whole["content"][0]["signature"]);
    assert_eq!(all("text_delta", "text"), "I look.");
    assert_eq!(all("input_json_delta", "partial_json"), r#"{"path":"a"}"#);
    assert_eq!(
        (&events[0]["type"], &events.last().unwrap()["type"]),
        (&json!("message_start"), &json!("message_stop"))
    );
}

mod probation {
    use super::*;

    #[test]
    fn torn_letters_and_too_much_are_refused() {
        let server = server();
        let good = body(json!([{"role": "user", "content": "go"}])).to_string();
        let lone = good.replace("\"go\"", "\"go \\ud83d\"");
        let (status, reply) = raw(&server, PATH, lone.as_bytes());
        assert!(status == 400 && String::from_utf8_lossy(&reply).contains("surrogate"), "{status}");
        assert_eq!(
            raw(&server, PATH, good.replace("\"go\"", "\"go \\ud83d\\ude00 \\\\ud83d\"").as_bytes()).0,
            200
        );
        let huge = body(json!([{"role": "user", "content": "x".repeat(32 << 20)}]));
        assert_eq!(post(&server, PATH, &huge).0, 413);
    }
}
