//! A model server of the three wires that does what a prompt tells it, and counts what its answers really cost.
//!
//! The first message's content is a JSON object: `do` (plain, stream, silent, broken, error, portal, slow, echo), `input`,
//! `output`, `cache_read`, `cache_write`, `status`, `wait_ms`.

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Path, State};
use axum::response::Response;
use futures_util::stream;
use http::{HeaderMap, Method};
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// USD per million tokens of the model the tests ask for, `claude-sonnet-5-5` and `gpt-6.1-terra`.
pub const SONNET: [f64; 4] = [2.0, 10.0, 0.2, 2.5];
pub const TERRA: [f64; 4] = [1.0, 5.0, 0.05, 1.25];

#[derive(Default)]
pub struct Counted {
    /// What the answers really cost, in micro-dollars; of those that broke off, what was made.
    pub cost: AtomicU64,
    pub calls: AtomicU64,
    /// Head and body of the last request.
    pub last: Mutex<Option<(HeaderMap, Value)>>,
    /// Paths that were asked for.
    pub paths: Mutex<Vec<String>>,
}

pub struct Upstream {
    pub at: SocketAddr,
    pub counted: Arc<Counted>,
}

impl Upstream {
    pub fn start() -> Self {
        let counted = Arc::new(Counted::default());
        let app = Router::new().route("/{*path}", axum::routing::any(answer)).with_state(counted.clone());
        let at = crate::served::routes(app);
        Self { at, counted }
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.at)
    }

    pub fn cost(&self) -> u64 {
        self.counted.cost.load(Ordering::SeqCst)
    }

    pub fn calls(&self) -> u64 {
        self.counted.calls.load(Ordering::SeqCst)
    }
}

/// What the prompt tells.
pub fn told(body: &Value) -> Value {
    let said = body.pointer("/messages/0/content").or(body.pointer("/input/0/content"));
    let text = said.and_then(Value::as_str).unwrap_or("{}");
    serde_json::from_str(text).unwrap_or_else(|_| json!({}))
}

async fn answer(
    State(counted): State<Arc<Counted>>,
    Path(path): Path<String>,
    method: Method,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    counted.paths.lock().unwrap().push(format!("{method} /{path}"));
    let body: Value = serde_json::from_slice(&body).unwrap_or_default();
    *counted.last.lock().unwrap() = Some((headers.clone(), body.clone()));
    if path.ends_with("models") {
        return whole(
            200,
            json!({"object": "list", "data": [{"id": "text-embedding-9"}, {"id": "the-first-that-talks"}]}),
        );
    }
    if path.ends_with("count_tokens") {
        return whole(200, json!({"input_tokens": 42}));
    }
    if path.ends_with("api/tags") {
        return whole(404, json!({}));
    }
    counted.calls.fetch_add(1, Ordering::SeqCst);
    let told = told(&body);
    let number = |key: &str| told[key].as_u64().unwrap_or(0);
    if number("wait_ms") > 0 {
        tokio::time::sleep(Duration::from_millis(number("wait_ms"))).await;
    }
    let is_anthropic = path.ends_with("messages");
    let is_responses = path.ends_with("responses");
    let what = told["do"].as_str().unwrap_or("plain").to_owned();
    if what == "portal" {
        let page = Response::builder().status(403).header("content-type", "text/html");
        return page.body(Body::from("\n<!doctype html><p>Log in first</p>")).unwrap();
    }
    if what == "error" {
        let status = told["status"].as_u64().unwrap_or(500) as u16;
        let key = headers.get("x-api-key").or(headers.get("authorization")).cloned();
        let key = key.map(|key| key.to_str().unwrap_or_default().to_owned()).unwrap_or_default();
        return whole(
            status,
            json!({"error": {"type": "some_error", "message": format!("said with {key}")}}),
        );
    }
    count_cost(&counted, is_anthropic, &number);
    let usage = usage(is_anthropic, is_responses, &number);
    let echo = told["text"].as_str().unwrap_or("well").to_owned();
    match what.as_str() {
        "silent" => whole(200, json!({"content": [{"type": "text", "text": "no word of cost"}]})),
        "plain" if is_anthropic => whole(
            200,
            json!({"type": "message", "content": [{"type": "text", "text": echo}], "stop_reason": "end_turn", "usage": usage}),
        ),
        "plain" if is_responses => whole(
            200,
            json!({"object": "response", "status": "completed", "usage": usage,
                "output": [{"type": "message", "content": [{"type": "output_text", "text": echo}]}]}),
        ),
        "plain" => whole(
            200,
            json!({"choices": [{"message": {"role": "assistant", "content": echo}}], "usage": usage}),
        ),
        "endless" if told["ping"].is_string() => {
            flowing(vec![told["ping"].as_str().unwrap_or_default().to_owned()], &what, 0)
        }
        _ if is_responses => flowing(responses_events(&usage, &echo), &what, number("pause_ms")),
        _ => streamed(is_anthropic, &what, &usage, &echo, number("pause_ms")),
    }
}

fn count_cost(counted: &Counted, is_anthropic: bool, number: &dyn Fn(&str) -> u64) {
    let [input, output, read, write] = if is_anthropic { SONNET } else { TERRA };
    let cost = number("input") as f64 * input
        + number("output") as f64 * output
        + number("cache_read") as f64 * read
        + number("cache_write") as f64 * write;
    counted.cost.fetch_add(cost.ceil() as u64, Ordering::SeqCst);
}

fn usage(is_anthropic: bool, is_responses: bool, number: &dyn Fn(&str) -> u64) -> Value {
    match is_anthropic {
        true => json!({
            "input_tokens": number("input"), "output_tokens": number("output"),
            "cache_read_input_tokens": number("cache_read"),
            "cache_creation_input_tokens": number("cache_write"),
            "cache_creation": {"ephemeral_5m_input_tokens": number("cache_write"), "ephemeral_1h_input_tokens": 0},
        }),
        false if is_responses => json!({
            "input_tokens": number("input") + number("cache_read") + number("cache_write"),
            "output_tokens": number("output"), "output_tokens_details": {"reasoning_tokens": 0},
            "input_tokens_details": {"cached_tokens": number("cache_read"), "cache_write_tokens": number("cache_write")},
        }),
        false => json!({
            "prompt_tokens": number("input") + number("cache_read") + number("cache_write"),
            "completion_tokens": number("output"),
            "prompt_tokens_details": {"cached_tokens": number("cache_read"), "cache_write_tokens": number("cache_write")},
        }),
    }
}

fn whole(status: u16, body: Value) -> Response {
    Response::builder()
        .status(status)
        .header("content-type", "application/json")
        .header("request-id", "req_1")
        .header("retry-after", "7")
        .header("set-cookie", "nobody=needs-this")
        .body(Body::from(body.to_string()))
        .unwrap()
}

/// Events of a wire; `broken` and `client` streams never come to their end.
fn streamed(is_anthropic: bool, what: &str, usage: &Value, text: &str, pause_ms: u64) -> Response {
    let mut events: Vec<String> = Vec::new();
    if is_anthropic {
        let mut start = usage.clone();
        start["output_tokens"] = json!(1);
        events.push(format!(
            "event: message_start\ndata: {}\n\n",
            json!({"type": "message_start", "message": {"usage": start}})
        ));
        for word in text.split_inclusive(' ') {
            let delta = json!({"type": "content_block_delta", "delta": {"type": "text_delta", "text": word}});
            events.push(format!("event: content_block_delta\ndata: {delta}\n\n"));
        }
        events.push(format!("event: message_delta\ndata: {}\n\n", json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": usage["output_tokens"]}})));
        events.push("event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n".into());
    } else {
        for word in text.split_inclusive(' ') {
            events.push(format!(
                "data: {}\n\n",
                json!({"choices": [{"delta": {"content": word}}], "usage": null})
            ));
        }
        events.push(format!("data: {}\n\n", json!({"choices": [], "usage": usage})));
        events.push("data: [DONE]\n\n".into());
    }
    flowing(events, what, pause_ms)
}

/// As OpenAI's own wire streams.
fn responses_events(usage: &Value, text: &str) -> Vec<String> {
    let event = |kind: &str, more: Value| {
        let mut data = json!({"type": kind});
        data.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        format!("event: {kind}\ndata: {data}\n\n")
    };
    let begun = json!({"response": {"status": "in_progress", "usage": null}});
    let mut events = vec![event("response.created", begun)];
    for word in text.split_inclusive(' ') {
        events.push(event("response.output_text.delta", json!({"item_id": "msg_1", "delta": word})));
    }
    let ended = json!({"response": {"status": "completed", "usage": usage}});
    events.push(event("response.completed", ended));
    events
}

/// Sends events; those that are not to come to their end stop after two.
fn flowing(mut events: Vec<String>, what: &str, pause_ms: u64) -> Response {
    if what != "stream" {
        events.truncate(2);
    }
    let is_broken = what == "broken";
    let is_endless = what == "endless";
    // Cut in the middle of events, as networks do.
    let bytes = events.concat().into_bytes();
    let pieces: Vec<Vec<u8>> = bytes.chunks(if pause_ms > 0 { 7 } else { 97 }).map(<[u8]>::to_vec).collect();
    let body = stream::unfold((pieces.into_iter(), false), move |(mut pieces, mut ended)| async move {
        if pause_ms > 0 {
            tokio::time::sleep(Duration::from_millis(pause_ms)).await;
        }
        match pieces.next() {
            Some(piece) => Some((Ok(piece), (pieces, ended))),
            None if is_endless => {
                tokio::time::sleep(Duration::from_secs(3_600)).await;
                None
            }
            None if is_broken && !ended => {
                ended = true;
                // What was sent is let go first.
                tokio::time::sleep(Duration::from_millis(5)).await;
                Some((Err(std::io::Error::other("pulled")), (pieces, ended)))
            }
            None => None,
        }
    });
    Response::builder().header("content-type", "text/event-stream").body(Body::from_stream(body)).unwrap()
}
