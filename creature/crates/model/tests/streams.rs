//! Streams as servers send them, split, noisy, cut and odd: the whole reply or an error, and never a part of one.
#![allow(clippy::disallowed_methods, clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing)]

#[macro_use]
mod server;

mod scripts;

use model::{Heard, Kind, Reply, Turn, Wire};
use scripts::{Dice, Part, Script};
use serde_json::{Value, json};
use server::{Server, Step, WIRES, bad, said, talk};

const SSE: &str = "text/event-stream";

async fn hears(wire: Wire, step: Step) -> (Result<Reply, model::Error>, Vec<String>, usize) {
    let server = Server::new(vec![step]);
    let mut heard = Vec::new();
    let mut hear = |what: Heard<'_>| match what {
        Heard::Byte => {}
        Heard::Thinking(text) => heard.push(format!("thinking {text}")),
        Heard::Text(text) => heard.push(format!("text {text}")),
        Heard::Call(name) => heard.push(format!("call {name}")),
    };
    let reply = talk().heard(&server.client(wire), &mut hear).await;
    (reply, heard, server.seen().len())
}

async fn whole(wire: Wire, bytes: &[u8]) -> Reply {
    hears(wire, Step::Pieces(SSE, vec![bytes.to_vec()], true)).await.0.unwrap()
}

/// What was said, by kind.
fn joined(heard: &[String], kind: &str) -> String {
    heard.iter().filter_map(|what| what.strip_prefix(kind)).collect()
}

#[tokio::test]
async fn a_stream_says_what_the_same_reply_says_whole() {
    loopback!();
    for wire in WIRES {
        for seed in 0..60 {
            let script = Script::random(seed);
            let (plain, told, _) = hears(wire, Step::Answer(200, "", script.plain(wire).to_string())).await;
            let mut dice = Dice(seed);
            let pieces = dice.pieces(&script.stream(wire, &mut dice.clone()));
            let (streamed, heard, _) = hears(wire, Step::Pieces(SSE, pieces, true)).await;
            let (plain, streamed) = (plain.unwrap(), streamed.unwrap());
            assert_eq!(plain, streamed, "{wire:?} {seed} {script:?}");
            script.check(wire, &plain);
            let called: Vec<&String> = heard.iter().filter(|what| what.starts_with("call ")).collect();
            let names: Vec<String> = plain.calls.iter().map(|call| format!("call {}", call.name)).collect();
            assert_eq!(called, names.iter().collect::<Vec<_>>());
            for kind in ["thinking ", "text "] {
                let (heard, told) = (joined(&heard, kind), joined(&told, kind));
                assert!(heard.trim() == told.trim() || wire != Wire::Chat, "{heard:?} {told:?}");
            }
        }
    }
}

#[tokio::test]
async fn it_may_be_split_anywhere() {
    loopback!();
    for wire in WIRES {
        let bytes = Script::every_part().stream(wire, &mut Dice(3));
        let expected = whole(wire, &bytes).await;
        let mut splits = vec![bytes.iter().map(|byte| vec![*byte]).collect::<Vec<_>>()];
        splits.extend((1..bytes.len()).map(|at| vec![bytes[..at].to_vec(), bytes[at..].to_vec()]));
        let steps: Vec<Step> = splits.into_iter().map(|pieces| Step::Pieces(SSE, pieces, true)).collect();
        let server = Server::new(steps.clone());
        let client = server.client(wire);
        for at in 0..steps.len() {
            assert_eq!(talk().to(&client).await.unwrap(), expected, "{wire:?} split at {at}");
        }
    }
}

#[tokio::test]
async fn cut_anywhere_it_is_no_reply_and_not_paid_for_twice() {
    loopback!();
    for wire in WIRES {
        let bytes = Script::every_part().stream(wire, &mut Dice(4));
        let expected = whole(wire, &bytes).await;
        let cut = |at: usize| Step::Pieces(SSE, vec![bytes[..at].to_vec()], at.is_multiple_of(2));
        let server = Server::new((1..bytes.len()).map(cut).collect());
        let client = server.client(wire);
        let mut replies = 0;
        for at in 1..bytes.len() {
            match talk().to(&client).await {
                // After the end, only what a server may leave out was cut.
                Ok(reply) => {
                    replies += 1;
                    assert_eq!(
                        (reply.raw, reply.calls),
                        (expected.raw.clone(), expected.calls.clone()),
                        "{at}"
                    );
                }
                Err(error) => {
                    assert_eq!((replies, error.kind), (0, Kind::Unreachable), "{wire:?} {at}: {error}");
                }
            }
            assert_eq!(server.asked(), at, "asked once each");
        }
        // Anthropic's and Responses' last event is their end; a chat's usage comes after it.
        assert!(replies <= if wire == Wire::Chat { 400 } else { 2 }, "{wire:?}: {replies}");
    }
}

#[tokio::test]
async fn ends_of_lines_comments_and_pings_change_nothing() {
    loopback!();
    for wire in WIRES {
        let bytes = Script::every_part().stream(wire, &mut Dice(5));
        let expected = whole(wire, &bytes).await;
        let text = String::from_utf8(bytes).unwrap();
        for end in ["\r\n", "\r", "\n"] {
            let noisy = text.replace(
                "\n\n",
                "\n\n: a comment\n\nid: 7\nretry: 10\nevent: ping\ndata: {\"type\": \"ping\"}\n\n:\n\n",
            );
            let noisy = format!("\u{feff}{}", noisy.replace('\n', end));
            let pieces = Dice(6).pieces(noisy.as_bytes());
            assert_eq!(hears(wire, Step::Pieces(SSE, pieces, true)).await.0.unwrap(), expected, "{end:?}");
        }
        // What it is decides, not what it says of itself.
        let (reply, ..) = hears(wire, Step::Pieces("application/json", vec![text.into_bytes()], true)).await;
        assert_eq!(reply.unwrap(), expected);
        let plain = format!("\n\n  {}", Script::every_part().plain(wire));
        assert_eq!(hears(wire, Step::Pieces(SSE, vec![plain.into_bytes()], true)).await.0.unwrap(), expected);
    }
}

#[tokio::test]
async fn a_reply_without_its_last_call_whole_says_so() {
    loopback!();
    for wire in WIRES {
        let mut script = Script::every_part();
        script.stop = "max_tokens";
        script.parts.push(Part::Broken("repo_read".to_owned(), "{\"path\": \"src/li".to_owned()));
        let reply = whole(wire, &script.stream(wire, &mut Dice(8))).await;
        assert_eq!(reply.stop, "max_tokens");
        let (last, before) = reply.calls.split_last().unwrap();
        assert!(last.cut && before.iter().all(|call| !call.cut), "{:?}", reply.calls);
        let said = last.args.as_ref().unwrap_err();
        assert!(said.contains("EOF") && said.contains("{\"path\": \"src/li"), "{said}");
    }
}

#[tokio::test]
async fn half_a_surrogate_pair_is_replaced_and_a_whole_one_kept() {
    loopback!();
    for wire in WIRES {
        let script = Script {
            parts: vec![Part::Text("HALF and HOLE, \\\\ud83d as words".to_owned())],
            stop: "end_turn",
        };
        for stream in [true, false] {
            let text = match stream {
                true => String::from_utf8(script.stream(wire, &mut Dice(u64::MAX))).unwrap(),
                false => script.plain(wire).to_string(),
            };
            let text = text.replace("HALF", "\\ud83d").replace("HOLE", "\\uD83D\\uDE00");
            let kind = if stream { SSE } else { "application/json" };
            let (reply, ..) = hears(wire, Step::Pieces(kind, vec![text.into_bytes()], true)).await;
            assert_eq!(reply.unwrap().text, "\u{fffd} and \u{1f600}, \\\\ud83d as words", "{wire:?}");
        }
    }
}

#[tokio::test]
async fn a_failure_told_in_the_stream_is_retried_only_where_nothing_was_heard() {
    loopback!();
    let told = |wire: Wire| match wire {
        Wire::Anthropic => {
            json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}})
        }
        Wire::Responses => {
            json!({"type": "response.failed", "response": {"error": {"code": "server_error", "message": "Overloaded"}}})
        }
        Wire::Chat => json!({"error": {"code": 503, "message": "Overloaded"}}),
    };
    for wire in WIRES {
        let failed = format!("data: {}\n\n", told(wire)).into_bytes();
        let good = Script::every_part().stream(wire, &mut Dice(1));
        let steps =
            vec![Step::Pieces(SSE, vec![failed.clone()], true), Step::Pieces(SSE, vec![good.clone()], true)];
        let server = Server::new(steps);
        assert_eq!(talk().to(&server.client(wire)).await.unwrap().attempts, 2);
        // After half a reply it is paid for.
        let mut half = good[..good.len() * 2 / 3].to_vec();
        let end = half.windows(2).rposition(|pair| pair == b"\n\n").unwrap();
        half.truncate(end + 2);
        half.extend(failed);
        let (reply, heard, asked) = hears(wire, Step::Pieces(SSE, vec![half], true)).await;
        let error = reply.unwrap_err();
        assert_eq!((error.kind, asked), (Kind::Busy, 1), "{error}");
        assert!(error.message.contains("Overloaded") && !heard.is_empty(), "{error}");
    }
}

#[tokio::test]
async fn a_stream_that_falls_silent_is_late_and_pings_keep_it_alive() {
    loopback!();
    let half = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n: ping\n\n";
    let server = Server::new(vec![Step::Stall(half.to_vec())]);
    let mut endpoint = server.endpoint(Wire::Anthropic);
    endpoint.silence = std::time::Duration::from_millis(300);
    let error = talk().to(&model::Client::new(endpoint).unwrap()).await.unwrap_err();
    assert_eq!((error.kind, server.seen().len()), (Kind::Deadline, 1), "{error}");
}

/// One call for `x` and one for `y`, as servers send them.
fn two_calls() -> [(&'static str, Vec<Value>); 6] {
    let args = |text: &str| json!({"arguments": text});
    let named = |text: &str| json!({"name": "repo_read", "arguments": text});
    [
        (
            "by index",
            vec![
                json!([{"index": 0, "id": "a", "function": named("")}]),
                json!([{"index": 0, "function": args("{\"path\":")}]),
                json!([{"index": 1, "id": "b", "function": named("{\"path\":\"y\"}")}]),
                json!([{"index": 0, "function": args("\"x\"}")}]),
            ],
        ),
        (
            "the name and the id repeated",
            vec![
                json!([{"index": 0, "id": "a", "function": named("{\"path\":")}]),
                json!([{"index": 0, "id": "a", "function": named("\"x\"}")}]),
                json!([{"index": 1, "id": "b", "function": named("{\"path\":\"y\"}")}]),
            ],
        ),
        (
            "one index for all",
            vec![
                json!([{"index": 0, "id": "a", "function": named("{\"path\":\"x\"}")}]),
                json!([{"index": 0, "id": "b", "function": named("{\"path\":\"y\"}")}]),
            ],
        ),
        (
            "by id alone",
            vec![
                json!([{"id": "a", "function": named("{\"path\":")}, {"id": "b", "function": named("{\"path\":")}]),
                json!([{"id": "a", "function": args("\"x\"}")}, {"id": "b", "function": args("\"y\"}")}]),
            ],
        ),
        (
            "neither, in pieces",
            vec![
                json!([{"function": named("{\"path\":")}]),
                json!([{"function": args("\"x\"}")}]),
                json!([{"function": named("{\"path\":\"y\"}")}]),
            ],
        ),
        (
            "neither, as objects",
            vec![json!([
                {"function": {"name": "repo_read", "arguments": {"path": "x"}}},
                {"function": {"name": "repo_read", "arguments": {"path": "y"}}},
            ])],
        ),
    ]
}

#[tokio::test]
async fn calls_of_chat_servers_are_put_together_however_they_come() {
    loopback!();
    let chunk = |calls: Value| json!({"choices": [{"delta": {"tool_calls": calls}}]});
    for (name, calls) in two_calls() {
        let mut bytes = String::new();
        for call in calls {
            bytes += &format!("data: {}\n\n", chunk(call));
        }
        // No usage, no [DONE], and a reason that says nothing of calls.
        bytes += &format!("data: {}\n\n", json!({"choices": [{"delta": {}, "finish_reason": "stop"}]}));
        let reply = whole(Wire::Chat, bytes.as_bytes()).await;
        let paths: Vec<Value> =
            reply.calls.iter().map(|call| call.args.clone().unwrap()["path"].clone()).collect();
        assert_eq!(paths, ["x", "y"], "{name}");
        assert_ne!(reply.calls[0].id, reply.calls[1].id, "{name}");
        assert_eq!(reply.stop, "tool_use");
        for (call, sent) in reply.calls.iter().zip(reply.raw["tool_calls"].as_array().unwrap()) {
            assert_eq!(sent["id"], call.id);
            assert!(
                sent["function"]["arguments"].is_string() && sent.get("index").is_none(),
                "{name}: {sent}"
            );
        }
    }
}

#[tokio::test]
async fn ids_that_are_missing_or_taken_are_made_unique() {
    loopback!();
    let call = |id: Value| json!({"type": "tool_use", "id": id, "name": "repo_read", "input": {}});
    let reply = |ids: &[Value]| {
        let content: Vec<Value> = ids.iter().cloned().map(call).collect();
        Step::Answer(200, "", json!({"content": content, "stop_reason": "tool_use"}).to_string())
    };
    let ids = [json!("same"), json!("same"), Value::Null, json!("a b"), json!("call_2_1"), json!("old")];
    let server = Server::new(vec![reply(&ids)]);
    let mut talk = talk();
    talk.turns.push(Turn::Thought { raw: json!([call(json!("old"))]) });
    let reply = talk.to(&server.client(Wire::Anthropic)).await.unwrap();
    let mut ids: Vec<&str> = reply.calls.iter().map(|call| call.id.as_str()).collect();
    let sent: Vec<&str> =
        reply.raw.as_array().unwrap().iter().map(|block| block["id"].as_str().unwrap()).collect();
    assert_eq!(ids, sent);
    assert_eq!(ids[0], "same");
    ids.push("old");
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), 7, "{ids:?}");
    assert!(ids.iter().all(|id| !id.is_empty() && !id.contains(' ')), "{ids:?}");
}

#[tokio::test]
async fn thinking_that_led_to_nothing_and_empty_words_do_not_go_back() {
    loopback!();
    let text = |text: &str| Part::Text(text.to_owned());
    let thinking = || Part::Thinking("hm".to_owned());
    for wire in WIRES {
        let kept = Script { parts: vec![thinking(), text("I look.")], stop: "max_tokens" };
        let parts = vec![thinking(), text("I look."), text(""), thinking()];
        let cut = Script { parts, stop: "max_tokens" };
        let nothing = Script { parts: vec![thinking(), text(" \n")], stop: "max_tokens" };
        let [kept, cut, nothing] = [kept, cut, nothing].map(|script| script.stream(wire, &mut Dice(1)));
        let (kept, cut, nothing) =
            (whole(wire, &kept).await, whole(wire, &cut).await, whole(wire, &nothing).await);
        match wire {
            Wire::Chat => assert_eq!(nothing.raw["content"], Value::Null),
            _ => assert_eq!((cut.raw, nothing.raw.clone()), (kept.raw, json!([]))),
        }
        assert!(cut.thinking.contains("hmhm") && nothing.calls.is_empty());
        // Nor does a turn of nothing: the talk goes on as if it had not been.
        let server = Server::new(vec![Step::Answer(200, "", Script::every_part().plain(wire).to_string())]);
        let mut talk = talk();
        talk.turns.extend([Turn::Thought { raw: nothing.raw }, said("And now?")]);
        talk.to(&server.client(wire)).await.unwrap();
        let body = &server.seen()[0].body;
        assert!(!body.to_string().contains("assistant") && body.to_string().contains("And now?"), "{body}");
    }
}

#[tokio::test]
async fn tools_are_had_where_the_word_comes_back() {
    loopback!();
    let echo = |word: &str| {
        let call = json!({"id": "a", "function": {"name": "echo", "arguments": format!("{{\"word\": \"{word}\"}}")}});
        let body = json!({"choices": [{"message": {"content": null, "tool_calls": [call]}, "finish_reason": "tool_calls"}]});
        Step::Answer(200, "", body.to_string())
    };
    let words = Step::Answer(200, "", json!({"choices": [{"message": {"content": "I would."}}]}).to_string());
    let refused = bad(400, "", "", "\"auto\" tool choice requires --enable-auto-tool-choice");
    let cases = [
        (vec![echo("otter7")], true, 1),
        (vec![words.clone(), echo("otter7")], true, 2),
        (vec![words.clone()], false, 2),
        (vec![echo("badger")], false, 2),
        (vec![refused], false, 1),
    ];
    for (steps, takes, asked) in cases {
        let server = Server::new(steps);
        assert_eq!(server.client(Wire::Chat).takes_tools("otter7", false).await.unwrap(), takes);
        assert_eq!(server.seen().len(), asked);
        assert!(server.seen()[0].body.to_string().contains("otter7"));
    }
    let server = Server::new(vec![bad(401, "", "", "no key")]);
    assert_eq!(server.client(Wire::Chat).takes_tools("otter7", false).await.unwrap_err().kind, Kind::Refused);
}
