//! A model and a web site on loopback: real HTTP, the two wire formats, replies from a script.

use serde_json::{Value, json};
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};

/// What a scripted model costs, in USD per million tokens, and what may be spent on it.
pub const MONEY: &str = "[budget]\ndaily_usd = 1000\nweekly_usd = 1000\nautonomous_percent = 100\n[prices.scripted]\ninput = 1\noutput = 5\n";

/// No hour of its own time is near: a script of thoughts in a row must not be used up by looks nobody asked for.
pub fn asleep() -> String {
    let hour = jiff::Timestamp::now().as_second().div_euclid(3_600);
    format!("[autonomy]\nwaking_hours = \"{:02}:00-{:02}:00\"\n", (hour + 11) % 24, (hour + 12) % 24)
}

/// What the site serves.
pub const ARTICLE: &str = "<!doctype html><html><head><title>On small tools</title></head><body><article><h1>On small tools</h1>\
<p>A small tool does one thing and can be read in an evening by one person who has never seen it before.</p>\
<p>It starts in ten years as it starts today, because it asks for nothing but the system it runs on, and says what it does.</p>\
<p>The people who build such tools keep them small on purpose, and delete more than they add with every release they make.</p>\
</article></body></html>";

#[derive(Default)]
struct Script {
    /// Thoughts to answer with, in order; after them the model only rests.
    thoughts: VecDeque<String>,
    /// Bodies of what was asked.
    asked: Vec<Value>,
    /// Answers that are refused, with these statuses, before any thought is given.
    refusals: VecDeque<u16>,
}

#[derive(Clone)]
pub struct Model {
    script: Arc<Mutex<Script>>,
    pub address: String,
}

impl Model {
    pub fn start() -> Self {
        let server = tiny_http::Server::http("127.0.0.1:0").unwrap();
        let address = format!("http://{}", server.server_addr());
        let model = Self { script: Arc::default(), address };
        let serving = model.clone();
        std::thread::spawn(move || {
            for request in server.incoming_requests() {
                // A creature that asks nonsense must not leave the others without a model.
                let _ = catch_unwind(AssertUnwindSafe(|| serving.serve(request)));
            }
        });
        model
    }

    /// Queues a thought: its monologue and its calls.
    pub fn will_think(&self, monologue: &str, calls: Value, sleep_s: u64) {
        let thought =
            json!({"monologue": monologue, "intent": monologue, "tool_calls": calls, "sleep_s": sleep_s});
        self.will_say(&thought.to_string());
    }

    /// Queues a reply as it stands.
    pub fn will_say(&self, text: &str) {
        self.script.lock().unwrap().thoughts.push_back(text.to_owned());
    }

    pub fn will_refuse(&self, status: u16) {
        self.script.lock().unwrap().refusals.push_back(status);
    }

    /// Drops what was queued and forgets what was asked.
    pub fn forget(&self) {
        let mut script = self.script.lock().unwrap();
        script.thoughts.clear();
        script.asked.clear();
    }

    pub fn is_done(&self) -> bool {
        self.script.lock().unwrap().thoughts.is_empty()
    }

    /// Everything the mind was told in any call, as one text.
    pub fn was_told(&self, text: &str) -> bool {
        self.script.lock().unwrap().asked.iter().any(|body| body.to_string().contains(text))
    }

    pub fn asked(&self) -> Vec<Value> {
        self.script.lock().unwrap().asked.clone()
    }

    fn serve(&self, mut request: tiny_http::Request) {
        let url = request.url().to_owned();
        let mut body = String::new();
        let _ = request.as_reader().read_to_string(&mut body);
        let (status, kind, text) = match url.as_str() {
            "/article" => (200, "text/html; charset=utf-8", ARTICLE.to_owned()),
            "/v1/messages" | "/v1/chat/completions" => {
                let (status, reply) = self.answer(&url, &body, &request);
                (status, "application/json", reply.to_string())
            }
            _ => (404, "text/plain", "no such page".into()),
        };
        let header = tiny_http::Header::from_bytes("Content-Type", kind).unwrap();
        let _ = request
            .respond(tiny_http::Response::from_string(text).with_status_code(status).with_header(header));
    }

    fn answer(&self, url: &str, body: &str, request: &tiny_http::Request) -> (u16, Value) {
        let header = |name: &'static str| {
            request
                .headers()
                .iter()
                .find(|header| header.field.equiv(name))
                .map(|header| header.value.as_str().to_owned())
        };
        let anthropic = url == "/v1/messages";
        let key = if anthropic { header("x-api-key") } else { header("authorization") };
        if key.is_none_or(|key| key.trim_start_matches("Bearer ") != "test-key-of-the-house") {
            return (
                401,
                json!({"type": "error", "error": {"type": "authentication_error", "message": "invalid key"}}),
            );
        }
        let asked: Value = serde_json::from_str(body).unwrap();
        let well_formed = if anthropic {
            header("anthropic-version").is_some()
                && asked["max_tokens"].is_u64()
                && asked["messages"][0]["role"] == "user"
        } else {
            asked["messages"][0]["role"] == "system" && asked["response_format"]["type"] == "json_schema"
        };
        assert!(well_formed, "not a request of this wire: {body}");
        let mut script = self.script.lock().unwrap();
        script.asked.push(asked);
        if let Some(status) = script.refusals.pop_front() {
            return (
                status,
                json!({"type": "error", "error": {"type": "overloaded_error", "message": "busy"}}),
            );
        }
        let rest = json!({"monologue": "nothing to do", "intent": "rest", "tool_calls": [], "sleep_s": 1})
            .to_string();
        let text = script.thoughts.pop_front().unwrap_or(rest);
        drop(script);
        if anthropic {
            let usage = json!({"input_tokens": 12, "output_tokens": 34, "cache_read_input_tokens": 7000, "cache_creation_input_tokens": 5});
            (
                200,
                json!({"id": "m", "type": "message", "role": "assistant", "model": "scripted", "stop_reason": "end_turn",
                "content": [{"type": "text", "text": text}], "usage": usage}),
            )
        } else {
            let usage = json!({"prompt_tokens": 7012, "completion_tokens": 34, "total_tokens": 7046, "prompt_tokens_details": {"cached_tokens": 7000}});
            (
                200,
                json!({"id": "c", "object": "chat.completion", "model": "scripted", "usage": usage,
                "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}]}),
            )
        }
    }
}
