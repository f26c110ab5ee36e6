//! OpenAI Responses: every rule is broken once and kept once.

use super::client::{events, post, raw};
use crate::faithful::{Faithful, Rules, Say, Wire};
use serde_json::{Value, json};

const PATH: &str = "/llm/openai/v1/responses";

fn server() -> Faithful {
    Faithful::start(Wire::Responses, Rules::default(), |_| {
        Say::new().thinks("hm").says("I look.").calls("repo.read", json!({"path": "a"}))
    })
}

fn tool(name: &str) -> Value {
    let schema = json!({"type": "object", "properties": {"path": {"type": "string"}}});
    json!({"type": "function", "name": name, "description": "Does it.", "strict": false, "parameters": schema})
}

fn body(input: Value) -> Value {
    json!({
        "model": "gpt-6.1-sol", "max_output_tokens": 900, "instructions": "You are.", "store": false,
        "include": ["reasoning.encrypted_content"], "tools": [tool("repo_read")], "input": input,
    })
}

fn grow(body: &mut Value, reply: &Value) {
    let input = body["input"].as_array_mut().unwrap();
    for item in reply["output"].as_array().unwrap() {
        let mut item = item.clone();
        if item["type"] == "reasoning" {
            item.as_object_mut().unwrap().remove("id");
        }
        input.push(item);
    }
    for item in reply["output"].as_array().unwrap().iter().filter(|item| item["type"] == "function_call") {
        input.push(json!({"type": "function_call_output", "call_id": item["call_id"], "output": "lines"}));
    }
}

/// A request with one round behind it: user, reasoning, message, call, output.
fn second(server: &Faithful) -> Value {
    let mut body = body(json!([{"role": "user", "content": "go"}]));
    let reply = taken(server, &body);
    grow(&mut body, &reply);
    body
}

#[track_caller]
fn refused(server: &Faithful, body: &Value, words: &str) {
    let (status, reply) = post(server, PATH, body);
    let message = reply["error"]["message"].as_str().unwrap_or_default();
    assert!(matches!(status, 400 | 404) && message.contains(words), "{status} {reply}");
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
    for _ in 0..4 {
        let reply = taken(&server, &body);
        grow(&mut body, &reply);
        body["input"].as_array_mut().unwrap().push(json!({"role": "user", "content": "news"}));
    }
    server.assert_no_violations();
    let seen = server.seen().pop().unwrap();
    assert_eq!(seen.last_results(), [("repo.read".to_owned(), "lines".to_owned())]);
    assert_eq!((seen.last_said().as_str(), seen.thoughts(), seen.system.as_str()), ("news", 4, "You are."));
}

#[test]
fn items_stand_in_pairs_and_go_back_as_they_came() {
    let server = server();
    let good = second(&server);
    let without = |at: usize| {
        let mut body = good.clone();
        body["input"].as_array_mut().unwrap().remove(at);
        body
    };
    refused(&server, &without(4), "No tool output found for function call call_");
    refused(&server, &without(3), "No tool call found for function call output");
    let mut bad = good.clone();
    bad["input"].as_array_mut().unwrap().insert(4, json!({"role": "user", "content": "news"}));
    refused(&server, &bad, "No tool output found");
    bad = good.clone();
    bad["input"].as_array_mut().unwrap().truncate(2);
    refused(&server, &bad, "of type 'reasoning' was provided without its required following item");
    bad = good.clone();
    bad["input"][1]["id"] = json!("rs_1");
    refused(&server, &bad, "Items are not persisted when `store` is set to false");
    bad = good.clone();
    bad["input"][3]["id"] = good["input"][2]["id"].clone();
    refused(&server, &bad, "Expected an ID that begins with 'fc'");
    bad = good.clone();
    bad["input"][2]["content"][0]["text"] = json!("changed");
    refused(&server, &bad, "not as they were given out");
    bad = good.clone();
    bad["input"][2].as_object_mut().unwrap().remove("phase");
    refused(&server, &bad, "not as they were given out");
    refused(&server, &without(1), "without its required 'reasoning' item");
    let mut bare = without(1);
    for item in bare["input"].as_array_mut().unwrap() {
        item.as_object_mut().unwrap().remove("id");
    }
    taken(&server, &bare);
    taken(&server, &good);
}

#[test]
fn an_id_stands_once() {
    let server = server();
    let mut body = second(&server);
    let reply = taken(&server, &body);
    grow(&mut body, &reply);
    let twice = body["input"][3]["id"].clone();
    body["input"][7]["id"] = twice;
    refused(&server, &body, "Duplicate item found with id fc_");
}

#[test]
fn sealed_reasoning_goes_back_only_behind_what_it_was_made_behind() {
    let server = server();
    let good = second(&server);
    let mut changes: Vec<Value> = vec![good.clone(); 4];
    changes[0]["model"] = json!("gpt-6-sol");
    changes[1]["input"][0]["content"] = json!("gone");
    changes[2]["instructions"] = json!("You were.");
    changes[3]["input"][1]["encrypted_content"] = json!("forged");
    for change in &changes {
        refused(&server, change, "The encrypted content for item");
    }
    let (_, reply) = post(&server, PATH, &changes[0]);
    assert_eq!(reply["error"]["code"], "invalid_encrypted_content");
}

#[test]
fn settings_that_are_not_taken_are_named() {
    let server = server();
    let good = body(json!([{"role": "user", "content": "go"}]));
    let strict =
        |schema: Value| json!([{"type": "function", "name": "a", "strict": true, "parameters": schema}]);
    let open = json!({"type": "object", "properties": {"n": {}}});
    let partly = json!({"type": "object", "properties": {"n": {}}, "additionalProperties": false});
    let cases = [
        ("colour", json!(1), "Unknown parameter: 'colour'"),
        ("temperature", json!(0.1), "'temperature' is not supported with this model"),
        ("max_output_tokens", json!(1), "Expected a value >= 16"),
        ("previous_response_id", json!("resp_1"), "not found"),
        ("reasoning", json!({"effort": "huge"}), "Supported values are"),
        ("tools", json!([tool("repo.read")]), "does not match pattern"),
        ("tools", json!([tool("a"), tool("a")]), "duplicate function name"),
        (
            "tools",
            json!([{"type": "function", "function": {"name": "a"}}]),
            "Unknown parameter: 'tools[0].function'",
        ),
        ("tools", strict(open), "'additionalProperties'"),
        ("tools", strict(partly), "Missing 'n'"),
        ("input", json!([]), "Missing required parameter: 'input'"),
        (
            "input",
            json!([{"role": "user", "content": [{"type": "text", "text": "go"}]}]),
            "Supported values are",
        ),
    ];
    for (name, value, words) in cases {
        let mut bad = good.clone();
        bad[name] = value;
        refused(&server, &bad, words);
    }
    let mut both = good.clone();
    both["prompt_cache_options"] = json!({"mode": "implicit", "ttl": "30m"});
    taken(&server, &both);
    both["prompt_cache_retention"] = json!("24h");
    refused(&server, &both, "cannot be used together");
}

#[test]
fn a_stream_joins_to_the_whole_reply_and_seals_only_what_is_done() {
    let server = server();
    let mut body = body(json!("go"));
    body["reasoning"] = json!({"summary": "auto"});
    body["stream"] = json!(true);
    let (_, stream) = raw(&server, PATH, body.to_string().as_bytes());
    let events = events(&stream);
    let of = |kind: &str| events.iter().filter(move |event| event["type"] == kind).collect::<Vec<_>>();
    let text = |kind: &str| of(kind).iter().map(|event| event["delta"].as_str().unwrap()).collect::<String>();
    assert_eq!(text("response.output_text.delta"), "I look.");
    assert_eq!(text("response.reasoning_summary_text.delta"), "hm");
    assert_eq!(text("response.function_call_arguments.delta"), r#"{"path":"a"}"#);
    let done: Vec<&Value> = of("response.output_item.done").iter().map(|event| &event["item"]).collect();
    let end = events.last().unwrap();
    assert_eq!(
        (end["type"].as_str(), json!(done)),
        (Some("response.completed"), end["response"]["output"].clone())
    );
    assert_ne!(
        of("response.output_item.added")[0]["item"]["encrypted_content"],
        done[0]["encrypted_content"]
    );
    let numbers: Vec<u64> = events.iter().map(|event| event["sequence_number"].as_u64().unwrap()).collect();
    assert!(numbers.iter().copied().eq(0..numbers.len() as u64), "{numbers:?}");
}
