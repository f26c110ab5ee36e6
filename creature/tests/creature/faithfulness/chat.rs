//! Chat Completions: the rules of OpenAI's own address, and the habits of local servers.

use super::client::{events, post, raw};
use crate::faithful::{Faithful, Rules, Say, Wire};
use serde_json::{Value, json};

const PATH: &str = "/llm/openai/v1/chat/completions";

fn server(rules: Rules) -> Faithful {
    Faithful::start(Wire::Chat, rules, |_| {
        Say::new().says("I look.").calls("repo.read", json!({"path": "a"})).calls("repo.map", json!({}))
    })
}

fn tool(name: &str) -> Value {
    let schema = json!({"type": "object", "properties": {"path": {"type": "string"}}});
    json!({"type": "function", "function": {"name": name, "description": "Does it.", "parameters": schema}})
}

fn body(messages: Value) -> Value {
    json!({"model": "local-test", "max_tokens": 900, "tools": [tool("repo_read")], "messages": messages})
}

fn first() -> Value {
    body(json!([{"role": "system", "content": "You are."}, {"role": "user", "content": "go"}]))
}

fn second(server: &Faithful) -> Value {
    let mut body = first();
    let (status, reply) = post(server, PATH, &body);
    assert_eq!(status, 200, "{reply}");
    let message = &reply["choices"][0]["message"];
    let messages = body["messages"].as_array_mut().unwrap();
    messages.push(message.clone());
    for call in message["tool_calls"].as_array().unwrap() {
        messages.push(json!({
            "role": "tool", "tool_call_id": call["id"], "name": call["function"]["name"], "content": "lines",
        }));
    }
    body
}

#[track_caller]
fn refused(server: &Faithful, body: &Value, words: &str) {
    let (status, reply) = post(server, PATH, body);
    let message = reply["error"]["message"].as_str().unwrap_or_default();
    assert!(status == 400 && message.contains(words), "{status} {reply}");
}

#[test]
fn calls_are_answered_right_after_each_by_its_id() {
    let server = server(Rules::default());
    let good = second(&server);
    assert_eq!(post(&server, PATH, &good).0, 200);
    server.assert_no_violations();
    let names: Vec<String> =
        server.seen().pop().unwrap().last_results().into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["repo.read", "repo.map"]);
    let followed = "An assistant message with 'tool_calls' must be followed by tool messages";
    let mut bad = good.clone();
    bad["messages"].as_array_mut().unwrap().pop();
    refused(&server, &bad, followed);
    bad = good.clone();
    bad["messages"].as_array_mut().unwrap().insert(3, json!({"role": "user", "content": "news"}));
    refused(&server, &bad, followed);
    bad = good.clone();
    bad["messages"].as_array_mut().unwrap().remove(2);
    refused(&server, &bad, "must be a response to a preceeding message");
    bad = good.clone();
    bad["messages"][2]["content"] = json!("changed");
    refused(&server, &bad, "not as it was given out");
    bad = good.clone();
    bad["messages"][2]["tool_calls"][0]["function"]["arguments"] = json!("{\"pa");
    refused(&server, &bad, "not a JSON object");
}

#[test]
fn the_houses_own_models_refuse_what_they_do_not_take() {
    let server = server(Rules::default());
    let mut good = body(json!([{"role": "user", "content": "go"}]));
    good["model"] = json!("gpt-6.1-sol");
    good.as_object_mut().unwrap().remove("max_tokens");
    refused(&server, &good, "Function tools with reasoning_effort are not supported for gpt-6.1-sol");
    good["reasoning_effort"] = json!("none");
    assert_eq!(post(&server, PATH, &good).0, 200);
    let cases = [
        ("max_tokens", json!(9), "Use 'max_completion_tokens' instead"),
        ("temperature", json!(0.2), "does not support this value"),
        ("colour", json!(1), "Unrecognized request argument supplied: colour"),
        ("stream_options", json!({"include_usage": true}), "only allowed when 'stream' is enabled"),
        ("tools", json!([tool("repo.read")]), "does not match pattern"),
        ("tools", json!([]), "empty array"),
        ("tools", json!([tool("a"), tool("a")]), "duplicate function name 'a'"),
        ("messages", json!([]), "empty array"),
    ];
    for (name, value, words) in cases {
        let mut bad = good.clone();
        bad[name] = value;
        refused(&server, &bad, words);
    }
    let mut strict = tool("a");
    strict["function"]["strict"] = json!(true);
    strict["function"]["parameters"] = json!({"type": "object", "properties": {"n": {"type": "string"}}, "additionalProperties": false, "required": []});
    good["tools"] = json!([strict]);
    refused(&server, &good, "Missing 'n'");
    good["tools"][0]["function"]["parameters"]["required"] = json!(["n"]);
    assert_eq!(post(&server, PATH, &good).0, 200);
    good["model"] = json!("never");
    assert_eq!(post(&server, PATH, &good).0, 404);
}

#[test]
fn a_local_template_wants_its_roles_in_turn() {
    let server = server(Rules { refuses_format: true, ..Rules::local() });
    let user = json!({"role": "user", "content": "go"});
    let system = json!({"role": "system", "content": "You are."});
    refused(&server, &body(json!([user, system])), "System message must be at the beginning");
    refused(&server, &body(json!([system, user, user])), "conversation roles must alternate");
    let mut formed = first();
    formed["response_format"] = json!({"type": "json_object"});
    let before = server.violations().len();
    refused(&server, &formed, "response_format is not supported");
    assert_eq!(server.violations().len(), before, "a form may be tried");
    assert_eq!(post(&server, PATH, &second(&server)).0, 200);
}

#[test]
fn a_reply_is_held_to_an_object_where_the_request_names_json_and_to_no_schema() {
    let server = server(Rules { refuses_schema: true, ..Rules::local() });
    let mut asked = first();
    let schema = json!({"name": "thought", "schema": {"type": "object"}});
    asked["response_format"] = json!({"type": "json_schema", "json_schema": schema});
    refused(&server, &asked, "This response_format type is unavailable now");
    assert!(server.violations().is_empty(), "a schema may be tried");
    asked["response_format"] = json!({"type": "json_object"});
    refused(&server, &asked, "'messages' must contain the word 'json' in some form");
    assert_eq!(server.violations().len(), 1);
    asked["messages"][0]["content"] = json!("You answer in JSON.");
    assert_eq!(post(&server, PATH, &asked).0, 200);
}

#[test]
fn a_server_that_drops_the_tools_answers_in_words() {
    let server = server(Rules { drops_tools: true, ..Rules::local() });
    let (status, reply) = post(&server, PATH, &first());
    assert_eq!((status, &reply["choices"][0]["message"]["tool_calls"]), (200, &Value::Null));
    assert!(server.seen()[0].tools.is_empty() && !server.seen()[0].json_mode);
}

#[test]
fn a_server_that_cuts_says_nothing_but_counts_fewer_tokens() {
    let server = server(Rules { cuts_at: Some(4_096), ..Rules::local() });
    let long = "word ".repeat(2_000);
    let user = |text: &str| json!({"role": "user", "content": text});
    let mut body =
        body(json!([{"role": "system", "content": "You are."}, user(&long), user(&long), user("last")]));
    body["messages"] = json!([{"role": "system", "content": "You are."}, user(&format!("{long}{long}last"))]);
    let (_, reply) = post(&server, PATH, &body);
    assert!(server.seen()[0].system.is_empty(), "{reply}");
    assert!(reply["usage"]["prompt_tokens"].as_u64().unwrap() < 6_000);
}

#[test]
fn an_odd_servers_calls_have_objects_and_no_ids() {
    let server = server(Rules::odd());
    let mut body = first();
    let (_, reply) = post(&server, PATH, &body);
    let call = &reply["choices"][0]["message"]["tool_calls"][0];
    assert_eq!((&call["id"], &call["function"]["arguments"]), (&Value::Null, &json!({"path": "a"})));
    assert_eq!(reply["usage"], Value::Null);
    let mut message = reply["choices"][0]["message"].clone();
    for (at, call) in message["tool_calls"].as_array_mut().unwrap().iter_mut().enumerate() {
        call["id"] = json!(format!("mine-{at}"));
        call["function"]["arguments"] = json!(call["function"]["arguments"].to_string());
    }
    let messages = body["messages"].as_array_mut().unwrap();
    messages.push(message);
    for (at, name) in ["repo_read", "repo_map"].into_iter().enumerate() {
        let id = format!("mine-{at}");
        messages.push(json!({"role": "tool", "tool_call_id": id, "name": name, "content": "lines"}));
    }
    assert_eq!(post(&server, PATH, &body).0, 200);
    body["stream"] = json!(true);
    let (_, stream) = raw(&server, PATH, body.to_string().as_bytes());
    assert!(!String::from_utf8_lossy(&stream).contains("[DONE]"));
}

#[test]
fn a_stream_joins_to_the_whole_reply() {
    let server = server(Rules::default());
    let mut body = first();
    body["stream"] = json!(true);
    body["stream_options"] = json!({"include_usage": true});
    let (_, stream) = raw(&server, PATH, body.to_string().as_bytes());
    let events = events(&stream);
    let deltas: Vec<&Value> = events.iter().map(|event| &event["choices"][0]["delta"]).collect();
    let words: String = deltas.iter().filter_map(|delta| delta["content"].as_str()).collect();
    let of_first = deltas.iter().map(|delta| &delta["tool_calls"][0]).filter(|call| call["index"] == 0);
    let args: String = of_first.filter_map(|call| call["function"]["arguments"].as_str()).collect();
    assert_eq!((words.as_str(), args.as_str()), ("I look.", r#"{"path":"a"}"#));
    assert_eq!(events.last().unwrap(), &json!("[DONE]"));
    let usage = &events[events.len() - 2]["usage"];
    assert!(usage["prompt_tokens"].as_u64().unwrap() > 10, "{usage}");
}
