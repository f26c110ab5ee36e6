//! One script on every wire: what it is shown, how it answers, and what may go wrong on the way.

use super::client::{post, raw};
use crate::faithful::{Faithful, Rules, Say, Seen, Shown, Wire};
use serde_json::{Value, json};

fn path(wire: Wire) -> &'static str {
    match wire {
        Wire::Anthropic => "/v1/messages",
        Wire::Responses => "/v1/responses",
        Wire::Chat => "/v1/chat/completions",
    }
}

fn body(wire: Wire, said: &str, tool: Option<&str>) -> Value {
    let schema = json!({"type": "object", "properties": {"word": {"type": "string"}}});
    let (messages, model) = (json!([{"role": "user", "content": said}]), wire.model());
    let mut body = match wire {
        Wire::Anthropic => json!({"model": model, "max_tokens": 900, "messages": messages}),
        Wire::Responses => json!({"model": model, "store": false, "input": messages}),
        Wire::Chat => json!({"model": model, "messages": messages}),
    };
    if let Some(name) = tool {
        body["tools"] = match wire {
            Wire::Anthropic => json!([{"name": name, "description": "Does it.", "input_schema": schema}]),
            Wire::Responses => {
                json!([{"type": "function", "name": name, "description": "Does it.", "strict": false, "parameters": schema}])
            }
            Wire::Chat => {
                json!([{"type": "function", "function": {"name": name, "description": "Does it.", "parameters": schema}}])
            }
        };
    }
    body
}

fn text(wire: Wire, reply: &Value) -> String {
    let text = match wire {
        Wire::Anthropic => reply.pointer("/content/0/text"),
        Wire::Responses => reply.pointer("/output/0/content/0/text"),
        Wire::Chat => reply.pointer("/choices/0/message/content"),
    };
    text.and_then(Value::as_str).unwrap_or_else(|| panic!("{reply}")).to_owned()
}

#[test]
fn without_tools_the_same_words_are_a_json_thought() {
    for wire in Wire::ALL {
        let server = Faithful::start(wire, Rules::default(), |seen: &Seen| {
            assert!(seen.json_mode);
            Say::new().says("I look.").calls("repo.read", json!({"path": "a"})).rests(300).intends("look")
        });
        let (_, reply) = post(&server, path(wire), &body(wire, "answer with args", None));
        let thought: Value = serde_json::from_str(&text(wire, &reply)).unwrap();
        let calls = json!([{"tool": "repo.read", "args": {"path": "a"}}]);
        let expected = json!({"monologue": "I look.", "intent": "look", "tool_calls": calls, "sleep_s": 300});
        assert_eq!(thought, expected, "{wire:?}");
        let (_, reply) = post(&server, path(wire), &body(wire, "answer with args_json", None));
        let thought: Value = serde_json::from_str(&text(wire, &reply)).unwrap();
        assert_eq!(thought["tool_calls"][0]["args_json"], r#"{"path":"a"}"#, "{wire:?}");
    }
}

#[test]
fn a_question_whether_tools_are_had_is_answered_without_the_mind() {
    for wire in Wire::ALL {
        let server = Faithful::start(wire, Rules::default(), |_| panic!("asked"));
        let said = "Call the tool `echo` with the word `k7f-2`, and say nothing else.";
        let (_, reply) = post(&server, path(wire), &body(wire, said, Some("echo")));
        assert!(reply.to_string().contains("k7f-2") && server.seen().is_empty(), "{reply}");
    }
}

#[test]
fn a_mind_that_falls_is_told_as_a_violation() {
    let server = Faithful::start(Wire::Chat, Rules::default(), |_| panic!("no such line"));
    assert_eq!(post(&server, path(Wire::Chat), &body(Wire::Chat, "go", Some("a"))).0, 500);
    assert!(server.violations()[0].message.contains("no such line"));
}

#[test]
fn a_stream_is_cut_where_it_is_told() {
    for wire in Wire::ALL {
        let server =
            Faithful::start(wire, Rules::default(), |_| Say::new().says("half of it").cut_after(100));
        let mut body = body(wire, "go", Some("a"));
        body["stream"] = json!(true);
        let (status, stream) = raw(&server, path(wire), body.to_string().as_bytes());
        assert_eq!((status, stream.len()), (200, 100), "{wire:?}");
        assert!(!server.ledger()[0].whole);
    }
}

#[test]
fn a_status_is_said_and_nothing_is_billed() {
    let server = Faithful::start(Wire::Anthropic, Rules::default(), |_| Say::new().status(529, "overloaded"));
    let (status, said) =
        raw(&server, "/v1/messages", body(Wire::Anthropic, "go", None).to_string().as_bytes());
    assert_eq!((status, said.as_slice()), (529, b"overloaded".as_slice()));
    assert!(server.ledger().is_empty() && server.violations().is_empty());
}

#[test]
fn a_client_that_hangs_up_is_noticed() {
    use std::io::{Read, Write};
    for fault in [Say::new().says("x").silent_after(50), Say::new().says("x").pings_after(50)] {
        let server = Faithful::start(Wire::Anthropic, Rules::default(), move |_| fault.clone());
        let mut stream = std::net::TcpStream::connect(server.origin().trim_start_matches("http://")).unwrap();
        let body = body(Wire::Anthropic, "go", None).to_string();
        let head = format!(
            "POST /v1/messages HTTP/1.1\r\nanthropic-version: 2023-06-01\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        stream.write_all((head + &body).as_bytes()).unwrap();
        stream.read_exact(&mut [0; 60]).unwrap();
        drop(stream);
        server.wait_for_hung_up(1);
    }
}

#[test]
fn a_lone_surrogate_comes_as_its_escape() {
    for wire in Wire::ALL {
        let server = Faithful::start(wire, Rules::default(), |_| Say::new().plainly("x").lone_surrogate());
        let (_, reply) = raw(&server, path(wire), body(wire, "go", Some("a")).to_string().as_bytes());
        assert!(String::from_utf8_lossy(&reply).contains(r"\ud83d is all"), "{wire:?}");
        assert!(serde_json::from_slice::<Value>(&reply).is_err(), "{wire:?}");
    }
}

#[test]
fn calls_may_share_an_id_or_have_none() {
    let both = |say: Say| say.calls("a", json!({})).calls("b", json!({}));
    let server = Faithful::start(Wire::Anthropic, Rules::default(), move |seen| match seen.number {
        1 => both(Say::new()).duplicate_ids(),
        _ => both(Say::new()).no_ids(),
    });
    let mut body = body(Wire::Anthropic, "go", Some("a"));
    let (_, reply) = post(&server, "/v1/messages", &body);
    assert_eq!(reply["content"][0]["id"], reply["content"][1]["id"]);
    let mut content = reply["content"].clone();
    content[0]["id"] = json!("mine_1");
    content[1]["id"] = json!("mine_2");
    let result = |id: &str| json!({"type": "tool_result", "tool_use_id": id, "content": "x"});
    let messages = body["messages"].as_array_mut().unwrap();
    messages.push(json!({"role": "assistant", "content": content}));
    messages.push(json!({"role": "user", "content": [result("mine_1"), result("mine_2")]}));
    let (status, reply) = post(&server, "/v1/messages", &body);
    assert_eq!((status, &reply["content"][0]["id"]), (200, &Value::Null), "{reply}");
}

#[test]
fn a_mind_sees_every_part() {
    let server = Faithful::start(Wire::Anthropic, Rules::default(), |_| Say::new().thinks("t").says("s"));
    let mut body = body(Wire::Anthropic, "first", Some("a_b"));
    body["system"] = json!("head");
    let (_, reply) = post(&server, "/v1/messages", &body);
    let messages = body["messages"].as_array_mut().unwrap();
    messages.push(json!({"role": "assistant", "content": reply["content"]}));
    messages.push(json!({"role": "user", "content": "second"}));
    post(&server, "/v1/messages", &body);
    let seen = server.seen().pop().unwrap();
    assert!(seen.tool("a.b").is_some() && seen.last_results().is_empty());
    assert_eq!((seen.all_text().as_str(), seen.last_said().as_str()), ("head\nfirst\n\ns\nsecond", "second"));
    assert_eq!(seen.messages[1].parts[1], Shown::Text("s".to_owned()));
}

#[test]
fn over_the_window_is_no_fault_of_form() {
    for wire in Wire::ALL {
        let server =
            Faithful::start(wire, Rules { window: 500, ..Rules::default() }, |_| Say::new().says("s"));
        let (status, reply) = post(&server, path(wire), &body(wire, &"x".repeat(4_000), None));
        assert_eq!((status, server.violations().len(), server.refusals().len()), (400, 0, 1), "{reply}");
    }
}
