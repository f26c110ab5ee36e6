//! Each wire's thought in JSON against golden requests and replies, and what a client learns about its server.
#![allow(clippy::disallowed_methods, clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing)]

#[macro_use]
mod server;

use model::{Client, Kind, Usage, Wire};
use serde_json::{Value, json};
use server::{Asked, Server, Step, TOKEN, WIRES, ask, bad, good, said, talk};

fn ok(body: &Value) -> Step {
    Step::Answer(200, "", body.to_string())
}

#[tokio::test]
async fn anthropic_sends_and_reads_what_the_api_says() {
    loopback!();
    let server = Server::new(vec![good(Wire::Anthropic)]);
    let client = server.client(Wire::Anthropic);
    let reply = ask().to(&client).await.unwrap();
    let seen = &server.seen()[0];
    assert_eq!(seen.line, "POST /llm/anthropic/v1/messages HTTP/1.1");
    assert_eq!(seen.header("x-api-key"), Some(TOKEN));
    assert_eq!(seen.header("anthropic-version"), Some("2023-06-01"));
    assert_eq!(seen.header("content-type"), Some("application/json"));
    assert_eq!(seen.header("authorization"), None);
    let golden: Value = serde_json::from_str(include_str!("golden/anthropic_request.json")).unwrap();
    // As text, since an order that changes would cost the cache.
    assert_eq!(seen.body.to_string(), golden.to_string());
    assert_eq!(reply.text, "{\"intent\":\"look\"}");
    assert_eq!((reply.attempts, reply.stop.as_str()), (1, "end_turn"));
    assert_eq!(reply.model, "claude-test-20260101");
    let usage = Usage {
        input_tokens: 12,
        output_tokens: 44,
        cache_read_tokens: 7000,
        cache_write_tokens: 300,
        ..Usage::default()
    };
    assert_eq!(reply.usage, usage);
    assert_eq!(client.name(), "anthropic claude-test");
}

#[tokio::test]
async fn openai_sends_and_reads_what_the_api_says() {
    loopback!();
    let server = Server::new(vec![good(Wire::Chat)]);
    let client = server.client(Wire::Chat);
    let reply = ask().to(&client).await.unwrap();
    let seen = &server.seen()[0];
    assert_eq!(seen.line, "POST /llm/openai/v1/chat/completions HTTP/1.1");
    let bearer = format!("Bearer {TOKEN}");
    assert_eq!(seen.header("authorization"), Some(bearer.as_str()));
    assert_eq!(seen.header("x-api-key"), None);
    let golden: Value = serde_json::from_str(include_str!("golden/openai_request.json")).unwrap();
    assert_eq!(seen.body.to_string(), golden.to_string());
    assert_eq!(reply.text, "{\"intent\":\"look\"}");
    assert_eq!(reply.stop, "end_turn");
    let usage = Usage {
        input_tokens: 12,
        output_tokens: 44,
        cache_read_tokens: 7000,
        cache_write_tokens: 0,
        ..Usage::default()
    };
    assert_eq!(reply.usage, usage);
    assert_eq!(serde_json::to_value(reply.usage).unwrap()["input_tokens"], 12);
    assert_eq!(client.name(), "openai gpt-test");
}

#[tokio::test]
async fn responses_sends_and_reads_what_the_api_says() {
    loopback!();
    let server = Server::new(vec![good(Wire::Responses)]);
    let client = server.client(Wire::Responses);
    let reply = ask().to(&client).await.unwrap();
    let seen = &server.seen()[0];
    assert_eq!(seen.line, "POST /llm/openai/v1/responses HTTP/1.1");
    assert_eq!(seen.header("authorization"), Some(format!("Bearer {TOKEN}").as_str()));
    let mut golden: Value = serde_json::from_str(include_str!("golden/responses_request.json")).unwrap();
    golden["prompt_cache_key"] = seen.body["prompt_cache_key"].clone();
    assert!(golden["prompt_cache_key"].as_str().unwrap().len() == 22);
    assert_eq!(seen.body.to_string(), golden.to_string());
    assert_eq!((reply.text.as_str(), reply.thinking.as_str()), ("{\"intent\":\"look\"}", "hm"));
    assert_eq!(reply.stop, "end_turn");
    let usage = Usage {
        input_tokens: 12,
        output_tokens: 44,
        cache_read_tokens: 7000,
        cache_write_tokens: 300,
        ..Usage::default()
    };
    assert_eq!(reply.usage, usage);
    assert_eq!(
        reply.raw.to_string(),
        ok_value(include_str!("golden/responses_reply.json"))["output"].to_string()
    );
    assert_eq!(client.name(), "responses gpt-test");
}

fn ok_value(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

#[tokio::test]
async fn what_nobody_asked_for_says_so() {
    loopback!();
    for wire in WIRES {
        let server = Server::new(vec![bad(503, "", "overloaded_error", "busy"), good(wire)]);
        let client = server.client(wire);
        Asked { autonomous: true, ..ask() }.to(&client).await.unwrap();
        ask().to(&client).await.unwrap();
        let classes: Vec<_> =
            server.seen().iter().map(|seen| seen.header("x-feral-class").map(str::to_owned)).collect();
        let class = Some("autonomous".to_owned());
        assert_eq!(classes, [class.clone(), class, None], "a retry says it too");
    }
}

#[tokio::test]
async fn a_slash_at_the_end_of_an_address_changes_nothing() {
    loopback!();
    let server = Server::new(vec![good(Wire::Anthropic)]);
    let mut endpoint = server.endpoint(Wire::Anthropic);
    endpoint.base_url.push('/');
    ask().to(&Client::new(endpoint).unwrap()).await.unwrap();
    assert_eq!(server.seen()[0].line, "POST /llm/anthropic/v1/messages HTTP/1.1");
}

#[tokio::test]
async fn empty_parts_are_left_out() {
    loopback!();
    for wire in WIRES {
        let server = Server::new(vec![good(wire)]);
        let mut ask = ask();
        ask.system = String::new();
        ask.turns[0] = said(" \n");
        ask.schema = None;
        ask.to(&server.client(wire)).await.unwrap();
        let body = &server.seen()[0].body;
        let text = body.to_string();
        assert!(!text.contains("system") && !text.contains("\"\""), "{text}");
        assert!(!text.contains("json_schema") && text.contains("now"));
    }
}

#[tokio::test]
async fn a_refused_schema_is_left_out_and_that_is_remembered() {
    loopback!();
    for (wire, status) in [(Wire::Anthropic, 400), (Wire::Responses, 400), (Wire::Chat, 422)] {
        let refused = bad(status, "", "invalid_request_error", "unknown field: schema");
        let server = Server::new(vec![refused, good(wire)]);
        let client = server.client(wire);
        assert_eq!(ask().to(&client).await.unwrap().attempts, 2);
        assert_eq!(ask().to(&client).await.unwrap().attempts, 1);
        let sent = |seen: &server::Seen| seen.body.to_string().contains("json_schema");
        let sent: Vec<_> = server.seen().iter().map(sent).collect();
        assert_eq!(sent, [true, false, false]);
    }
}

#[tokio::test]
async fn a_server_that_falls_over_a_schema_is_asked_without_one() {
    loopback!();
    for wire in WIRES {
        let fallen = bad(500, "", "internal_error", "KeyError: 'json_schema'");
        let steps =
            vec![fallen.clone(), fallen.clone(), fallen.clone(), good(wire), good(wire), fallen, good(wire)];
        let server = Server::new(steps);
        let client = server.client(wire);
        for _ in 0..3 {
            ask().to(&client).await.unwrap();
        }
        let sent: Vec<bool> =
            server.seen().iter().map(|seen| seen.body.to_string().contains("json_schema")).collect();
        assert_eq!(sent, [true, true, true, false, false, false, false], "and that is remembered");
    }
    // Where a schema was answered before, it is not what the server fell over.
    let steps = vec![good(Wire::Chat), bad(500, "", "internal_error", "in trouble")];
    let server = Server::new(steps);
    let client = server.client(Wire::Chat);
    ask().to(&client).await.unwrap();
    assert_eq!(ask().to(&client).await.unwrap_err().status, Some(500));
    assert_eq!(server.seen().len(), 4);
}

#[tokio::test]
async fn a_chat_server_without_schemas_is_asked_for_an_object_and_one_without_either_for_nothing() {
    loopback!();
    // As DeepSeek refuses a schema, and LM Studio an object.
    let schema = bad(400, "", "invalid_request_error", "This response_format type is unavailable now");
    let object = bad(400, "", "", "'response_format.type' must be 'json_schema' or 'text'");
    let asks = |server: &Server| -> Vec<Value> {
        server.seen().iter().map(|seen| seen.body["response_format"]["type"].clone()).collect()
    };
    let server = Server::new(vec![schema.clone(), good(Wire::Chat)]);
    let client = server.client(Wire::Chat);
    for _ in 0..2 {
        ask().to(&client).await.unwrap();
    }
    assert_eq!(asks(&server), ["json_schema", "json_object", "json_object"]);
    assert_eq!(client.accepted().without(), ["a schema of the reply"]);
    let server = Server::new(vec![schema, object, good(Wire::Chat)]);
    let client = server.client(Wire::Chat);
    ask().to(&client).await.unwrap();
    let kept = serde_json::to_string(&client.accepted()).unwrap();
    let later = server.client(Wire::Chat);
    later.accept(serde_json::from_str(&kept).unwrap());
    ask().to(&later).await.unwrap();
    assert_eq!(asks(&server), [json!("json_schema"), json!("json_object"), Value::Null, Value::Null]);
    assert_eq!(later.accepted().without(), ["a schema of the reply", "a reply held to JSON"]);
}

#[tokio::test]
async fn a_refused_name_of_the_limit_is_swapped_and_the_schema_kept() {
    loopback!();
    let message = "Unsupported parameter: 'max_tokens' is not supported with this model.";
    let refused = bad(400, "", "unsupported_parameter", message);
    let server = Server::new(vec![refused, good(Wire::Chat)]);
    let client = server.client(Wire::Chat);
    assert_eq!(ask().to(&client).await.unwrap().attempts, 2);
    assert_eq!(ask().to(&client).await.unwrap().attempts, 1);
    for seen in &server.seen()[1..] {
        assert_eq!(seen.body["max_completion_tokens"], 900);
        assert!(seen.body.get("max_tokens").is_none());
        assert!(seen.body.get("response_format").is_some());
    }
}

#[tokio::test]
async fn a_request_refused_for_another_reason_costs_the_schema_once_only() {
    loopback!();
    let refused = bad(400, "", "invalid_request_error", "your words are odd");
    let steps = vec![refused.clone(), refused, good(Wire::Anthropic)];
    let server = Server::new(steps);
    let client = server.client(Wire::Anthropic);
    let error = ask().to(&client).await.expect_err("odd either way");
    assert_eq!((error.kind, error.status), (Kind::BadRequest, Some(400)));
    assert!(error.message.contains("your words are odd"), "{error}");
    ask().to(&client).await.unwrap();
    let last = server.seen().pop().unwrap();
    assert!(last.body.get("output_config").is_some(), "not forgotten");
}

#[tokio::test]
async fn how_a_reply_ended_is_said() {
    loopback!();
    let anthropic = [
        (json!([]), "refusal", "", "refusal"),
        (json!([{"type": "text", "text": "{\"a"}]), "max_tokens", "{\"a", "max_tokens"),
        (json!([{"type": "text", "text": "x"}]), "new_reason", "x", "new_reason"),
    ];
    for (content, reason, text, stop) in anthropic {
        let body = json!({"content": content, "stop_reason": reason, "usage": null});
        let server = Server::new(vec![ok(&body)]);
        let reply = ask().to(&server.client(Wire::Anthropic)).await.unwrap();
        assert_eq!((reply.text.as_str(), reply.stop.as_str()), (text, stop));
        assert_eq!((reply.usage, reply.model.as_str()), (Usage::default(), "claude-test"));
    }
    let openai = [
        (json!({"content": null, "refusal": "I cannot"}), "stop", "I cannot", "refusal"),
        (json!({"content": "<think>hm</think>\n\nx"}), "stop", "x", "end_turn"),
        (json!({"content": ""}), "content_filter", "", "refusal"),
        (json!({"content": "{\"a"}), "length", "{\"a", "max_tokens"),
        (json!({"content": [{"type": "text", "text": "x"}]}), "odd", "x", "odd"),
    ];
    for (message, reason, text, stop) in openai {
        let body = json!({"choices": [{"message": message, "finish_reason": reason}]});
        let server = Server::new(vec![ok(&body)]);
        let reply = ask().to(&server.client(Wire::Chat)).await.unwrap();
        assert_eq!((reply.text.as_str(), reply.stop.as_str()), (text, stop));
    }
    let incomplete = |reason: &str| json!({"reason": reason});
    let part = |kind: &str, key: &str| json!([{"type": "message", "content": [{"type": kind, key: "x"}]}]);
    let responses = [
        (part("output_text", "text"), "completed", Value::Null, "end_turn"),
        (part("refusal", "refusal"), "completed", Value::Null, "refusal"),
        (part("output_text", "text"), "incomplete", incomplete("max_output_tokens"), "max_tokens"),
        (part("output_text", "text"), "incomplete", incomplete("content_filter"), "refusal"),
        (part("output_text", "text"), "incomplete", incomplete("odd"), "odd"),
    ];
    for (output, status, details, stop) in responses {
        let body = json!({"output": output, "status": status, "incomplete_details": details});
        let server = Server::new(vec![ok(&body)]);
        let reply = ask().to(&server.client(Wire::Responses)).await.unwrap();
        assert_eq!((reply.text.as_str(), reply.stop.as_str()), ("x", stop));
    }
}

#[tokio::test]
async fn a_part_that_a_server_names_is_left_out_and_the_rest_kept() {
    loopback!();
    let cases = [
        (Wire::Chat, "/stream_options", "Unknown parameter: 'stream_options'"),
        (Wire::Chat, "/parallel_tool_calls", "parallel_tool_calls: extra fields not permitted"),
        (Wire::Responses, "/tools/1/parameters/additionalProperties", "Unknown parameter: 'tools[1].strict'"),
        (Wire::Anthropic, "/tools/1/strict", "tools.1.custom.strict: Extra inputs are not permitted"),
        (Wire::Anthropic, "/thinking", "adaptive thinking is not supported on this model"),
        (Wire::Responses, "/include", "Encrypted content is not supported with this model."),
        (Wire::Responses, "/reasoning/summary", "Unsupported parameter: 'reasoning.summary'"),
        (Wire::Responses, "/prompt_cache_key", "Unknown parameter: 'prompt_cache_key'."),
        (Wire::Responses, "/reasoning/effort", "Unsupported parameter: 'reasoning.effort'"),
        (Wire::Chat, "/reasoning_effort", "this model does not support reasoning_effort"),
        (Wire::Anthropic, "/output_config/effort", "This model does not support the effort parameter."),
    ];
    for (wire, part, message) in cases {
        let server = Server::new(vec![bad(400, "", "invalid_request_error", message), good(wire)]);
        let mut endpoint = server.endpoint(wire);
        endpoint.model = "claude-sonnet-5-5".to_owned();
        endpoint.effort = "high".to_owned();
        let client = Client::new(endpoint).unwrap();
        assert_eq!(talk().to(&client).await.unwrap().attempts, 2, "{message}");
        assert_eq!(talk().to(&client).await.unwrap().attempts, 1, "{message}");
        let sent: Vec<bool> = server.seen().iter().map(|seen| seen.body.pointer(part).is_some()).collect();
        assert_eq!(sent, [true, false, false], "{message}");
        assert_eq!(server.seen()[2].body["tools"].as_array().unwrap().len(), 2);
    }
}

/// A field that may be left out cannot be told to a wire that requires all without a list of types.
#[tokio::test]
async fn objects_are_closed_only_where_a_wire_holds_a_model_to_them() {
    loopback!();
    let text = json!({"type": "string"});
    let edit = json!({"type": "object", "properties": {"old": text, "new": text}, "required": ["old"]});
    let edits = json!({"edits": {"type": "array", "items": edit}});
    let mut asked = talk();
    asked.tools[1].schema = json!({"type": "object", "properties": edits, "required": ["edits"]});
    for (wire, at, is_strict) in [
        (Wire::Anthropic, "/tools/1/input_schema", true),
        (Wire::Responses, "/tools/1/parameters", false),
        (Wire::Chat, "/tools/1/function/parameters", false),
    ] {
        let server = Server::new(vec![good(wire)]);
        asked.to(&server.client(wire)).await.unwrap();
        let body = &server.seen()[0].body;
        let schema = body.pointer(at).unwrap();
        let inner = &schema["properties"]["edits"]["items"];
        let closed = [&schema["additionalProperties"], &inner["additionalProperties"]];
        assert_eq!(closed, [&if is_strict { json!(false) } else { json!(null) }; 2], "{wire:?}");
        assert_eq!(inner["required"], json!(["old"]), "{wire:?}");
        let words = body["tools"].to_string().matches("\"strict\":true").count();
        assert_eq!(words, usize::from(is_strict), "{wire:?}: {body}");
    }
}

#[tokio::test]
async fn what_does_not_fit_and_old_thinking_refused_are_errors_of_their_own() {
    loopback!();
    let signature = "messages.3.content.0: Invalid `signature` in `thinking` block. The block is bound to a different conversation";
    let cases = [
        (Wire::Anthropic, "invalid_request_error", signature, Kind::Signature),
        (
            Wire::Responses,
            "invalid_encrypted_content",
            "The encrypted content gAAA could not be verified.",
            Kind::Signature,
        ),
        (
            Wire::Responses,
            "",
            "Item 'rs_1' of type 'reasoning' was provided without its required following item.",
            Kind::Signature,
        ),
        (
            Wire::Anthropic,
            "invalid_request_error",
            "prompt is too long: 204198 tokens > 200000 maximum",
            Kind::TooLong,
        ),
        (Wire::Chat, "context_length_exceeded", "too many", Kind::TooLong),
        (Wire::Chat, "", "the request exceeds the available context size (4096 tokens)", Kind::TooLong),
        (Wire::Chat, "", "This model's maximum context length is 8192 tokens.", Kind::TooLong),
    ];
    for (wire, code, message, kind) in cases {
        let server = Server::new(vec![bad(400, "", code, message)]);
        let error = talk().to(&server.client(wire)).await.unwrap_err();
        assert_eq!((error.kind, server.seen().len()), (kind, 1), "{error}");
    }
}

#[test]
fn a_proxy_does_not_stand_before_the_broker() {
    let test = "anthropic_sends_and_reads_what_the_api_says";
    let mut command = std::process::Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", test]);
    for name in ["HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"] {
        command.env(name, "http://127.0.0.1:1");
    }
    let output = command.output().unwrap();
    assert!(output.status.success(), "{output:?}");
}
