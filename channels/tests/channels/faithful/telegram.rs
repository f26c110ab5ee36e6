//! A Telegram server on loopback that holds to the Bot API, core.telegram.org/bots/api; each rule names its section, or the maker's server.
//!
//! It stands alone as `examples/telegram_server.rs` too.
#![allow(
    dead_code,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::disallowed_methods
)]

#[path = "telegram/asked.rs"]
mod asked;
#[path = "telegram/html.rs"]
pub mod html;
#[path = "telegram/methods.rs"]
mod methods;
#[path = "telegram/owner.rs"]
mod owner;
#[path = "telegram/state.rs"]
pub mod state;

use asked::Asked;
use methods::{Refusal, refuse};
use serde_json::{Value, json};
use state::State;
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};
use tiny_http::{Header, Request, Response};

/// Longest wait of a poll (`LONG_POLL_MAX_TIMEOUT`, tdlib/telegram-bot-api, Client.h).
const LONGEST_S: i64 = 50;
/// Most bytes of updates in an answer (`JsonUpdates`, Client.cpp).
const UPDATES_BYTES: usize = 1 << 22;
const PATIENCE: Duration = Duration::from_secs(60);

#[derive(Clone)]
pub struct Server {
    shared: Arc<Shared>,
    http: Arc<tiny_http::Server>,
}

struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

impl Server {
    pub fn start() -> Self {
        Self::at(0, None)
    }

    /// Serves on a port; what is kept in a journal is there again after a start.
    pub fn at(port: u16, journal: Option<&Path>) -> Self {
        let http = Arc::new(tiny_http::Server::http(("127.0.0.1", port)).expect("a port"));
        let shared = Shared { state: Mutex::new(State::new(journal)), changed: Condvar::new() };
        let server = Self { shared: Arc::new(shared), http };
        let serving = server.clone();
        thread::spawn(move || {
            // Ends when nobody listens any more.
            while let Ok(request) = serving.http.recv() {
                let serving = serving.clone();
                thread::spawn(move || serving.serve(request));
            }
        });
        server
    }

    pub fn port(&self) -> u16 {
        self.http.server_addr().to_ip().map(|address| address.port()).unwrap()
    }

    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port())
    }

    pub fn state(&self) -> MutexGuard<'_, State> {
        self.shared.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes something, and wakes whoever waits for that.
    pub fn change<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        let changed = change(&mut self.state());
        self.shared.changed.notify_all();
        changed
    }

    /// Waits until something is so.
    pub fn until(&self, what: &str, mut is_so: impl FnMut(&State) -> bool) {
        let (mut state, end) = (self.state(), Instant::now() + PATIENCE);
        while !is_so(&state) {
            assert!(Instant::now() < end, "not within {} s: {what}", PATIENCE.as_secs());
            let waited = self.shared.changed.wait_timeout(state, Duration::from_millis(100));
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn serve(&self, mut request: Request) {
        let Some(asked) = asked::read(&mut request) else {
            // What stands before the platform answers in HTML.
            let _ = request.respond(Response::from_string("<html>413</html>").with_status_code(413));
            return;
        };
        if let Some(file) = asked.path.strip_prefix("file/bot") {
            return self.give(request, file);
        }
        let answer = match asked.path.strip_prefix("owner/") {
            Some(deed) => owner::done(self, deed, &asked).ok_or_else(|| refuse(404, "Not Found")),
            None => self.answer(&asked),
        };
        let (code, body) = match answer {
            Ok(result) => (200, json!({ "ok": true, "result": result })),
            // Making requests: an unsuccessful one is explained, and may have parameters.
            Err(Refusal { code, description, parameters }) => {
                let mut body = json!({ "ok": false, "error_code": code, "description": description });
                if !parameters.is_null() {
                    body["parameters"] = parameters;
                }
                (code, body)
            }
        };
        self.shared.changed.notify_all();
        let kind = Header::from_bytes("Content-Type", "application/json").unwrap();
        let _ =
            request.respond(Response::from_string(body.to_string()).with_status_code(code).with_header(kind));
    }

    /// Authorizing your bot, Making requests: `/bot<token>/METHOD_NAME`, in any case.
    fn answer(&self, asked: &Asked) -> Result<Value, Refusal> {
        let (token, method) = asked
            .path
            .strip_prefix("bot")
            .and_then(|rest| rest.split_once('/'))
            .ok_or_else(|| refuse(404, "Not Found"))?;
        let is_token = token.split_once(':').is_some_and(|(id, _)| id.parse::<u64>().is_ok_and(|id| id > 0));
        if !is_token {
            return Err(refuse(401, "Unauthorized: invalid token specified"));
        }
        let method = method.to_lowercase();
        {
            let mut state = self.state();
            if token != state.token {
                return Err(refuse(401, "Unauthorized"));
            }
            if let Some(at) = state.scripted.iter().position(|(of, ..)| *of == method) {
                let (_, code, parameters) = state.scripted.remove(at);
                let description =
                    parameters["description"].as_str().unwrap_or("Internal Server Error").to_owned();
                return Err(Refusal {
                    parameters: parameters["parameters"].clone(),
                    ..refuse(code, &description)
                });
            }
        }
        match method.as_str() {
            "getupdates" => self.updates(asked),
            "deletewebhook" => {
                self.change(|state| state.webhook = false);
                Ok(json!(true))
            }
            _ => self
                .change(|state| methods::carried_out(state, &method, asked))
                .unwrap_or_else(|| Err(refuse(404, "Not Found: method not found"))),
        }
    }

    /// getUpdates, in its section's words and its server's: `process_get_updates_query`, `do_get_updates`.
    fn updates(&self, asked: &Asked) -> Result<Value, Refusal> {
        let offset = asked.integer("offset").unwrap_or(0);
        let limit = asked.integer("limit").unwrap_or(100).clamp(1, 100) as usize;
        let timeout = asked.integer("timeout").unwrap_or(0).clamp(0, LONGEST_S) as u64;
        let mut state = self.state();
        // "This method will not work if an outgoing webhook is set up."
        if state.webhook {
            return Err(refuse(
                409,
                "Conflict: can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first",
            ));
        }
        // "If not specified, the previous setting will be used."
        if let Some(kinds) =
            asked.json("allowed_updates").and_then(|kinds| serde_json::from_value(kinds).ok())
        {
            state.allowed = Some(kinds);
        }
        state.expire();
        // An offset from before a week's silence is in the future of numbers that begin anew, and is none: `TQueue::get`.
        let is_in_the_future = offset > state.next_update + 10;
        if offset < 0 {
            // "All previous updates will be forgotten."
            let from = state.queue.len().saturating_sub(offset.unsigned_abs() as usize);
            let first = state.queue.get(from).map(|(id, ..)| *id);
            let next = state.next_update;
            state.confirm(first.unwrap_or(next));
        } else if !is_in_the_future {
            state.confirm(offset);
        }
        if timeout == 0 || !state.queue.is_empty() {
            return Ok(batch(&state, limit));
        }
        // Only one waits: a later poll ends this one.
        state.poll += 1;
        let (mine, end) = (state.poll, Instant::now() + Duration::from_secs(timeout));
        self.shared.changed.notify_all();
        loop {
            if state.poll != mine {
                return Err(refuse(
                    409,
                    "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running",
                ));
            }
            let left = end.saturating_duration_since(Instant::now());
            if !state.queue.is_empty() || left.is_zero() {
                return Ok(batch(&state, limit));
            }
            let waited = self.shared.changed.wait_timeout(state, left.min(Duration::from_millis(500)));
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// getFile: `/file/bot<token>/<file_path>`.
    fn give(&self, request: Request, file: &str) {
        let found = {
            let state = self.state();
            let link = file.split_once('/').filter(|(token, _)| *token == state.token);
            let link =
                link.and_then(|(_, path)| state.links.get(path)).filter(|(_, until)| *until > state.now_s());
            link.and_then(|(file, _)| state.files.get(file).cloned())
        };
        let _ = match found {
            Some(bytes) => request.respond(Response::from_data(bytes)),
            None => request
                .respond(Response::from_string("{\"ok\":false,\"error_code\":404}").with_status_code(404)),
        };
    }
}

fn batch(state: &State, limit: usize) -> Value {
    let mut left = UPDATES_BYTES;
    let some = state.queue.iter().take(limit).map_while(|(_, _, update)| {
        left = left.checked_sub(update.to_string().len() + 50)?;
        Some(update.clone())
    });
    some.collect()
}
