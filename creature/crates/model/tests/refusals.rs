//! Refusals of a request's form, a file each: what the next request leaves out, or what the error is.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

#[macro_use]
mod server;

use std::fs;
use std::path::Path;

use model::Wire;
use serde_json::{Value, json};
use server::{Asked, Seen, Server, Step, good, talk};

/// Twenty tools; the fourth is strict, the eighteenth is called `spawn`.
fn twenty() -> Asked {
    let mut asked = talk();
    let one = asked.tools[0].clone();
    asked.tools = (0..20).map(|at| model::Tool { name: format!("t{at:02}"), ..one.clone() }).collect();
    asked.tools[3].name = "repo_edit".to_owned();
    asked.tools[3].strict = true;
    asked.tools[17].name = "spawn".to_owned();
    asked
}

fn names(seen: &Seen) -> Vec<String> {
    let tools = seen.body["tools"].as_array().unwrap();
    let name = |tool: &Value| tool["name"].as_str().or(tool["function"]["name"].as_str()).unwrap().to_owned();
    tools.iter().map(name).collect()
}

#[tokio::test]
async fn each_refusal_has_the_outcome_that_its_file_says() {
    loopback!();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/cases/refusals");
    let mut count = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|kind| kind != "http") {
            continue;
        }
        let case = path.file_stem().unwrap().to_string_lossy().into_owned();
        let right = fs::read_to_string(path.with_extension("right.json")).unwrap_or_default();
        let right: Value = serde_json::from_str(&right).unwrap_or_else(|why| panic!("{case}: {why}"));
        let wire = match right["wire"].as_str() {
            Some("messages") => Wire::Anthropic,
            Some("responses") => Wire::Responses,
            Some("chat") => Wire::Chat,
            other => panic!("{case}: no wire {other:?}"),
        };
        let text = fs::read_to_string(&path).unwrap().replacen('\n', "\r\n", 3);
        let server = Server::new(vec![Step::Raw(text.into_bytes()), good(wire)]);
        outcome(&case, wire, &server, &right).await;
        count += 1;
    }
    assert!(count >= 28, "{count} cases");
}

async fn outcome(case: &str, wire: Wire, server: &Server, right: &Value) {
    let asked = twenty();
    let client = server.client(wire);
    if let Some(kind) = right["error"].as_str() {
        // A server that is busy is asked again, and answers.
        let said = asked.to(&client).await;
        let found = said.as_ref().map_or_else(|error| format!("{:?}", error.kind), |_| "Busy".to_owned());
        assert_eq!((found.as_str(), server.asked()), (kind, 1 + usize::from(kind == "Busy")), "{case}");
        return;
    }
    let reply = asked.to(&client).await.unwrap_or_else(|error| panic!("{case}: {error}"));
    asked.to(&client).await.unwrap();
    assert_eq!((reply.attempts, server.asked()), (2, 3), "{case}: it is remembered");
    let left_out: Vec<&str> =
        right["leaves_out"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    for (at, seen) in server.seen().iter().enumerate() {
        let all = asked.tools.iter().map(|tool| tool.name.clone());
        let expected: Vec<String> =
            all.filter(|name| at == 0 || !left_out.contains(&name.as_str())).collect();
        assert_eq!(names(seen), expected, "{case}, request {at}");
        let strict = seen.body.to_string().contains("\"strict\":true");
        let wanted = wire != Wire::Chat && (at == 0 || right["without"] != json!("strict"));
        assert_eq!(strict, wanted, "{case}, request {at}");
    }
    let kept: model::Accepted =
        serde_json::from_str(&serde_json::to_string(&client.accepted()).unwrap()).unwrap();
    let later = server.client(wire);
    later.accept(kept);
    asked.to(&later).await.unwrap();
    assert_eq!((names(&server.seen()[3]), server.asked()), (names(&server.seen()[2]), 4), "{case}: and kept");
}

/// A list of which one tool after the other is refused is refused as a list.
#[tokio::test]
async fn no_more_than_four_tools_are_left_out_of_one_list() {
    loopback!();
    let refused = |at: usize| {
        let body = json!({"error": {"message": format!("tools[{at}].parameters: odd")}});
        Step::Answer(400, "", body.to_string())
    };
    let server = Server::new(vec![refused(0)]);
    let error = twenty().to(&server.client(Wire::Chat)).await.unwrap_err();
    assert_eq!((error.kind, server.asked()), (model::Kind::Form, 5));
    let last = names(server.seen().last().unwrap());
    assert_eq!((last.len(), last[0].as_str()), (16, "t04"), "{last:?}");
}

/// A server that says a word it knows of one part, whatever is sent to it.
#[tokio::test]
async fn no_request_that_was_refused_for_its_form_is_sent_again() {
    loopback!();
    let words = [
        "role 'system'",
        "stream_options",
        "parallel_tool_calls",
        "strict",
        "Encrypted content is not supported",
        "summary",
        "adaptive",
        "effort",
        "prompt_cache_key",
        "reasoning",
        "max_tokens",
        "function 'spawn'",
        "tools are refused",
    ];
    for wire in server::WIRES {
        for words in words {
            let body = json!({"error": {"message": format!("{words} is not taken")}});
            let server = Server::new(vec![Step::Answer(400, "", body.to_string())]);
            twenty().to(&server.client(wire)).await.unwrap_err();
            let seen: Vec<String> = server.seen().iter().map(|seen| seen.body.to_string()).collect();
            let each: std::collections::BTreeSet<&String> = seen.iter().collect();
            assert_eq!(each.len(), seen.len(), "{wire:?}, {words}");
        }
    }
}
