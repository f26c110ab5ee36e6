//! Fields of single blocks, messages and items: each is missing or wrong once.

use super::client::post;
use crate::faithful::{Faithful, Rules, Say, Wire};
use serde_json::{Value, json};

#[track_caller]
fn refused(server: &Faithful, path: &str, body: &Value, words: &str) {
    let (status, reply) = post(server, path, body);
    let message = reply["error"]["message"].as_str().unwrap_or_default();
    assert!(status == 400 && message.contains(words), "{status} {reply}, not {words:?} for {body}");
}

fn server(wire: Wire) -> Faithful {
    Faithful::start(wire, Rules::default(), |_| Say::new().says("yes"))
}

#[test]
fn blocks_of_the_messages_wire() {
    let server = server(Wire::Anthropic);
    let call = |id: Value, name: &str, input: Value| json!({"type": "tool_use", "id": id, "name": name, "input": input});
    let result = |more: Value| {
        let mut block = json!({"type": "tool_result", "tool_use_id": "a"});
        block.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        block
    };
    let cases = [
        ("assistant", call(json!(null), "a", json!({})), "tool_use.id"),
        ("assistant", call(json!("a.b"), "a", json!({})), "tool_use.id"),
        ("assistant", call(json!("a"), "a.b", json!({})), "tool_use.name"),
        ("assistant", call(json!("a"), "a", json!("{}")), "tool_use.input"),
        ("assistant", json!({"type": "thinking", "signature": "s"}), "thinking.thinking: Field required"),
        ("assistant", json!({"type": "thinking", "thinking": ""}), "thinking.signature: Field required"),
        (
            "assistant",
            json!({"type": "thinking", "thinking": "", "signature": "s"}),
            "final block in an assistant",
        ),
        ("assistant", result(json!({})), "can only be in user messages"),
        ("user", result(json!({"tool_use_id": ""})), "tool_use_id: Field required"),
        ("user", result(json!({"is_error": "no"})), "is_error: Input should be a boolean"),
        ("user", result(json!({"content": 7})), "content: Input should be a valid string or list"),
        (
            "user",
            result(json!({"content": [{"type": "text", "text": ""}]})),
            "text content blocks must be non-empty",
        ),
        ("user", result(json!({"colour": 7})), "colour: Extra inputs are not permitted"),
        ("user", json!({"type": "never"}), "Input tag 'never'"),
        (
            "user",
            json!({"type": "text", "text": "a", "cache_control": {"type": "lasting"}}),
            "neither ephemeral",
        ),
        ("tool", json!({"type": "text", "text": "a"}), "is not one of user, assistant, system"),
    ];
    for (role, block, words) in cases {
        let first = json!({"role": "user", "content": "go"});
        let messages = json!([first, {"role": role, "content": [block]}]);
        let body = json!({"model": "claude-sonnet-5-5", "max_tokens": 9, "messages": messages});
        refused(&server, "/v1/messages", &body, words);
    }
}

#[test]
fn fields_of_the_messages_wire() {
    let server = server(Wire::Anthropic);
    let with = |name: &str, value: Value| {
        let mut body = json!({
            "model": "claude-sonnet-5-5", "max_tokens": 9, "messages": [{"role": "user", "content": "go"}],
        });
        body[name] = value;
        body
    };
    let cases = [
        with("system", json!([{"type": "text", "text": ""}])),
        with("system", json!([{"type": "image"}])),
        with("tool_choice", json!({"type": "auto"})),
        with("tools", json!([{"name": "a", "input_schema": {}}])),
        with("tools", json!([{"name": "a", "input_schema": {"type": "object", "anyOf": []}}])),
        with("messages", json!("go")),
    ];
    let words = [
        "must be non-empty",
        "Input should be 'text'",
        "while providing tools",
        "Field required",
        "anyOf",
        "messages",
    ];
    for (body, words) in cases.iter().zip(words) {
        refused(&server, "/v1/messages", body, words);
    }
}

#[test]
fn messages_of_the_chat_wire() {
    let server = server(Wire::Chat);
    let call = |call: Value| json!({"role": "assistant", "content": null, "tool_calls": [call]});
    let function = json!({"name": "a", "arguments": "{}"});
    let cases = [
        (json!({"role": "user", "content": null}), "expected a string, got null"),
        (json!({"role": "assistant", "content": null}), "expected a string, got null"),
        (json!({"role": "assistant", "content": "a", "tool_calls": []}), "tool_calls': empty array"),
        (json!({"role": "tool", "content": "a"}), "must have a 'tool_call_id'"),
        (json!({"role": "judge", "content": "a"}), "Invalid value: 'judge'"),
        (call(json!({"type": "function", "function": function})), "tool_calls[0].id'"),
        (call(json!({"id": "a", "function": function})), "tool_calls[0].type'"),
        (
            call(json!({"id": "a", "type": "function", "function": {"name": "a.b", "arguments": "{}"}})),
            "does not match",
        ),
        (
            call(json!({"id": "a", "type": "function", "function": {"name": "a", "arguments": {}}})),
            "not a JSON object",
        ),
    ];
    for (message, words) in cases {
        let messages = json!([{"role": "user", "content": "go"}, message]);
        refused(
            &server,
            "/v1/chat/completions",
            &json!({"model": "local-test", "messages": messages}),
            words,
        );
    }
    let twice = call(json!({"id": "a", "type": "function", "function": function}));
    let mut answer = json!({"role": "tool", "tool_call_id": "a", "content": "x"});
    let nameless = json!({
        "model": "local-test", "messages": [{"role": "user", "content": "go"}, twice, answer],
    });
    refused(&server, "/v1/chat/completions", &nameless, "Name cannot be empty");
    answer["name"] = json!("a");
    let messages = json!([{"role": "user", "content": "go"}, twice, answer, twice, answer]);
    refused(
        &server,
        "/v1/chat/completions",
        &json!({"model": "local-test", "messages": messages}),
        "Duplicate value",
    );
    let body = json!({"model": "local-test", "messages": [{"role": "user", "content": "go"}], "parallel_tool_calls": true});
    refused(&server, "/v1/chat/completions", &body, "only allowed when 'tools' are specified");
}

#[test]
fn items_of_the_responses_wire() {
    let server = server(Wire::Responses);
    let call = |id: &str, name: &str, args: &str| json!({"type": "function_call", "call_id": id, "name": name, "arguments": args});
    let long = "x".repeat(65);
    let cases = [
        (call(&long, "a", "{}"), "call_id': string too long"),
        (call("", "a", "{}"), "Missing required parameter: 'input[1].call_id'"),
        (call("a", "a.b", "{}"), "name': string does not match pattern"),
        (call("a", "a", "{\"pa"), "not a JSON object"),
        (json!({"type": "function_call_output", "call_id": "a"}), "'input[1].output'"),
        (json!({"type": "reasoning", "encrypted_content": "e"}), "'input[1].summary'"),
        (json!({"role": "judge", "content": "a"}), "Invalid value: 'judge'"),
        (json!({"role": "user", "content": null}), "'input[1].content'"),
        (json!({"role": "user", "content": "a", "id": long}), "id': string too long"),
    ];
    for (item, words) in cases {
        let input = json!([{"role": "user", "content": "go"}, item]);
        refused(
            &server,
            "/v1/responses",
            &json!({"model": "gpt-6.1-sol", "store": false, "input": input}),
            words,
        );
    }
}
