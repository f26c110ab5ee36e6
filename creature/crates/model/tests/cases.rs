//! Replies and errors as servers in the world send them, each a file beside what is right, through the client.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

#[macro_use]
mod server;

use std::path::{Path, PathBuf};

use std::time::Duration;

use model::{Client, Error, Reply, Wire};
use serde_json::{Value, json};
use server::{Server, Step, talk};

/// A case: its name, the file a server sends, and what is right.
struct Case {
    name: String,
    file: PathBuf,
    right: Value,
}

/// The cases of a kind; a file without its right outcome, or the reverse, fails.
fn cases(kind: &str) -> Vec<Case> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/cases").join(kind);
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let is_right = |file: &Path| file.to_string_lossy().ends_with(".right.json");
    let (rights, inputs): (Vec<_>, Vec<_>) = files.into_iter().partition(|file| is_right(file));
    assert_eq!(rights.len(), inputs.len(), "{kind}: each input has one right outcome");
    let case = |file: PathBuf| {
        let right = file.with_extension("right.json");
        let text = std::fs::read_to_string(&right).unwrap_or_else(|_| panic!("no {}", right.display()));
        let right: Value = serde_json::from_str(&text).unwrap();
        assert!(right["source"].is_string(), "{}: no source", file.display());
        let name = file.file_stem().unwrap().to_string_lossy().into_owned();
        Case { name, file, right }
    };
    inputs.into_iter().map(case).collect()
}

fn wire(right: &Value) -> Wire {
    match right["wire"].as_str().unwrap() {
        "chat" => Wire::Chat,
        "responses" => Wire::Responses,
        "messages" => Wire::Anthropic,
        other => panic!("no wire {other}"),
    }
}

/// What a server does for a case: a success with the file as its body, or the whole answer that the file holds.
fn step(case: &Case) -> Step {
    let bytes = std::fs::read(&case.file).unwrap();
    let kind = case.file.extension().unwrap().to_string_lossy().into_owned();
    if kind == "http" {
        let text = String::from_utf8(bytes).unwrap();
        let (head, body) = text.split_once("\n\n").unwrap();
        let (head, body) = (head.replace('\n', "\r\n"), body.trim_end_matches('\n'));
        let length = body.len();
        return Step::Raw(format!("{head}\r\ncontent-length: {length}\r\n\r\n{body}").into_bytes());
    }
    let told = case.right["type"].as_str().map(|told| &*told.to_owned().leak());
    let usual = if kind == "sse" { "text/event-stream" } else { "application/json" };
    let pieces = bytes.chunks(37).map(<[u8]>::to_vec).collect();
    Step::Pieces(told.unwrap_or(usual), pieces, true)
}

async fn answer(case: &Case) -> (Result<Reply, Error>, Server) {
    let server = Server::new(vec![step(case)]);
    let mut endpoint = server.endpoint(wire(&case.right));
    endpoint.max_tokens = case.right["max_tokens"].as_u64().unwrap_or(endpoint.max_tokens);
    let client = Client::new(endpoint).unwrap().with_first_wait(Duration::from_millis(1));
    (talk().to(&client).await, server)
}

/// What is wrong with a reply; nothing where it is right.
fn wrong(right: &Value, reply: &Reply) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut is = |what: &str, seen: Value, due: &Value| {
        if seen != *due {
            wrong.push(format!("{what} is {seen}, not {due}"));
        }
    };
    let call = |call: &model::Call| json!([call.name, call.args.clone().ok()]);
    let empty = json!("");
    let due = |key: &str| if right[key].is_null() { &empty } else { &right[key] };
    is("text", json!(reply.text.trim()), due("text"));
    is("thinking", json!(reply.thinking), due("thinking"));
    let none = json!([]);
    let calls = if right["calls"].is_null() { &none } else { &right["calls"] };
    is("calls", reply.calls.iter().map(call).collect(), calls);
    if right["stop"].is_string() {
        is("stop", json!(reply.stop), &right["stop"]);
    }
    if right["usage"].is_object() {
        is("usage", json!(reply.usage), &right["usage"]);
    }
    for (pointer, due) in right["back"].as_object().into_iter().flatten() {
        is(pointer, reply.raw.pointer(pointer).cloned().unwrap_or_default(), due);
    }
    wrong
}

#[tokio::test]
async fn replies_of_every_known_shape_are_read_or_refused_with_words() {
    loopback!();
    let mut failed = Vec::new();
    for case in cases("replies") {
        let (answer, server) = answer(&case).await;
        let wrong = match (&answer, case.right["error"].as_str()) {
            (Ok(reply), None) => wrong(&case.right, reply),
            (Err(error), Some(kind)) if format!("{:?}", error.kind) == kind => Vec::new(),
            (answer, due) => vec![format!("{answer:?}, not {}", due.unwrap_or("a reply"))],
        };
        failed.extend(wrong.into_iter().map(|wrong| format!("{}: {wrong}", case.name)));
        let asked = case.right["asked"].as_u64().unwrap_or(1);
        if server.asked() as u64 != asked {
            failed.push(format!("{}: asked {} times, not {asked}", case.name, server.asked()));
        }
    }
    assert!(failed.is_empty(), "{} wrong:\n{}", failed.len(), failed.join("\n"));
}

/// What is wrong with an error; nothing where it is right.
fn wrong_error(right: &Value, error: &Error, server: &Server) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut is = |is_right: bool, what: String| wrong.extend(Some(what).filter(|_| !is_right));
    let (kind, due) = (format!("{:?}", error.kind), right["kind"].as_str().unwrap());
    is(kind == due, format!("{kind}, not {due}: {error}"));
    let asked = right["asked"].as_u64().unwrap_or(1);
    is(server.asked() as u64 == asked, format!("asked {} times, not {asked}", server.asked()));
    let wait_ms = right["wait_ms"].as_f64().or(right["wait_s"].as_f64().map(|wait_s| wait_s * 1e3));
    let heard_ms = error.retry_after.map(|wait| wait.as_secs_f64() * 1e3);
    let is_near = match (heard_ms, wait_ms) {
        (Some(heard), Some(due)) => (heard - due).abs() < 1_000.0_f64.min(due / 2.0 + 1.0),
        (heard, due) => heard.is_none_or(|heard| heard == 0.0) && due.is_none(),
    };
    is(is_near, format!("a wait of {heard_ms:?} ms, not {wait_ms:?}"));
    let said = [&error.message, &error.cause, &error.hint];
    is(!said.iter().any(|said| said.contains(['{', '}'])), format!("raw JSON for people: {said:?}"));
    is(!error.hint.is_empty() && error.message.len() < 600, format!("no hint, or too long: {error}"));
    let says = right["says"].as_str().unwrap_or_default();
    is(
        error.cause.contains(says) && error.message.contains(says),
        format!("{:?} does not say {says:?}", error.cause),
    );
    if let Some(asks) = right["asks"].as_array() {
        let limits = ["max_tokens", "max_completion_tokens", "max_output_tokens"];
        let limit =
            |body: &Value| limits.iter().find_map(|limit| body.get(*limit).cloned()).unwrap_or_default();
        let seen: Vec<Value> = server.seen().iter().map(|seen| limit(&seen.body)).collect();
        is(seen == *asks, format!("asked for {seen:?} tokens, not {asks:?}"));
    }
    wrong
}

#[tokio::test]
async fn errors_are_told_by_what_they_mean_in_words_with_the_wait_they_name() {
    loopback!();
    let mut failed = Vec::new();
    for case in cases("errors") {
        let wrong = match answer(&case).await {
            (Ok(reply), _) => vec![format!("a reply: {reply:?}")],
            (Err(error), server) => wrong_error(&case.right, &error, &server),
        };
        failed.extend(wrong.into_iter().map(|wrong| format!("{}: {wrong}", case.name)));
    }
    assert!(failed.is_empty(), "{} wrong:\n{}", failed.len(), failed.join("\n"));
}
