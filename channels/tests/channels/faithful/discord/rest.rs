//! The HTTP API of the faithful Discord: Reference, Rate Limits, Message resource, Component Reference, Receiving and Responding.

use super::{BOT, Fault, State};
use axum::body::Body;
use axum::http::{Response, request::Parts};
use serde_json::{Value, json};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

type Answer = Response<Body>;

/// Reference, Uploading Files: the default limit of each file; Create Message: of the whole request.
const FILE_BYTES: usize = 10 << 20;
const REQUEST_BYTES: usize = 25 << 20;

fn with(status: u16, body: Value) -> Answer {
    let body = if status == 204 { Body::empty() } else { Body::from(body.to_string()) };
    Response::builder().status(status).header("content-type", "application/json").body(body).unwrap()
}

fn error(status: u16, code: u64, message: &str) -> Answer {
    with(status, json!({"code": code, "message": message}))
}

/// Error Messages: 50035 with the field that is wrong.
fn invalid(field: &str, message: &str) -> Answer {
    let errors = json!({field: {"_errors": [{"code": "BASE_TYPE_BAD_LENGTH", "message": message}]}});
    with(400, json!({"code": 50_035, "message": "Invalid Form Body", "errors": errors}))
}

pub fn answer(state: &Mutex<State>, base: &str, parts: &Parts, body: &[u8]) -> Answer {
    let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
    let header =
        |name: &str| parts.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let (path, method) = (parts.uri.path().to_owned(), parts.method.as_str().to_owned());
    if let Some(file) = path.strip_prefix("/attachments/") {
        return attachment(&mut state, file, header("authorization"));
    }
    let Some(path) = path.strip_prefix("/api/v10") else { return error(404, 0, "404: Not Found") };
    let said = payload(header("content-type"), body);
    let what = said.as_ref().map(|(what, _)| what.clone()).unwrap_or_default();
    state.requests.push((method.clone(), path.to_owned(), what.clone()));
    // User Agent: "Client requests that do not have a valid User Agent specified may be blocked".
    let agent = header("user-agent");
    if !agent.starts_with("DiscordBot (http") || !agent.contains(", ") {
        return error(403, 40_333, "internal network error");
    }
    let steps: Vec<&str> = path.trim_start_matches('/').split('/').collect();
    let is_open = matches!(steps.first(), Some(&("interactions" | "webhooks")));
    // Authentication: `Bot TOKEN`.
    if !is_open && header("authorization") != format!("Bot {}", state.token) {
        return error(401, 0, "401: Unauthorized");
    }
    if method != "GET" && !body.is_empty() && said.is_none() {
        return error(400, 50_035, "Invalid Form Body");
    }
    let named = format!("{method} {path}");
    let fault =
        state.faults.iter().position(|(part, _)| named.contains(part)).and_then(|at| state.faults.remove(at));
    match fault.map(|(_, fault)| fault) {
        Some(Fault::Status(status)) => return error(status, 0, "misfortune"),
        Some(Fault::Code(status, code)) => return error(status, code, "misfortune"),
        Some(Fault::Limited(seconds, is_global)) => return limited(seconds, is_global),
        Some(Fault::Drops) => {
            drop(state);
            // Not a panic that is told: the connection ends.
            std::panic::resume_unwind(Box::new(()));
        }
        Some(Fault::Forgets) => {
            let _ = route(
                &mut state,
                base,
                (&method, &steps, parts.uri.query()),
                &what,
                said.map_or(0, |(_, size)| size),
            );
            drop(state);
            std::panic::resume_unwind(Box::new(()));
        }
        None => {}
    }
    if body.len() > REQUEST_BYTES {
        return error(413, 40_005, "Request entity too large");
    }
    route(&mut state, base, (&method, &steps, parts.uri.query()), &what, said.map_or(0, |(_, size)| size))
}

/// The JSON of a body, and how large its file is. Uploading Files: `payload_json` and `files[n]` with a filename.
fn payload(kind: &str, body: &[u8]) -> Option<(Value, usize)> {
    if kind.starts_with("application/json") {
        return Some((serde_json::from_slice(body).ok()?, 0));
    }
    let boundary = kind.strip_prefix("multipart/form-data; boundary=")?;
    let text = String::from_utf8_lossy(body);
    let mut whole = (None, 0);
    for part in text.split(&format!("--{boundary}")) {
        let Some((head, content)) = part.split_once("\r\n\r\n") else { continue };
        if head.contains("name=\"payload_json\"") {
            whole.0 = serde_json::from_str(content.trim()).ok();
        } else if head.contains("name=\"files[0]\"") && head.contains("filename=") {
            whole.1 = content.len() - 2;
        }
    }
    Some((whole.0?, whole.1))
}

/// Exceeding A Rate Limit.
fn limited(seconds: f64, is_global: bool) -> Answer {
    let mut answer = with(
        429,
        json!({"message": "You are being rate limited.", "retry_after": seconds, "global": is_global}),
    );
    let headers = answer.headers_mut();
    headers.insert("retry-after", (seconds.ceil() as u64).into());
    headers.insert("x-ratelimit-scope", if is_global { "global" } else { "user" }.parse().unwrap());
    if is_global {
        headers.insert("x-ratelimit-global", "true".parse().unwrap());
    }
    answer
}

fn route(
    state: &mut State,
    base: &str,
    asked: (&str, &[&str], Option<&str>),
    what: &Value,
    size: usize,
) -> Answer {
    let (method, steps, query) = asked;
    match (method, steps) {
        ("GET", ["users", "@me"]) => with(200, super::person(BOT)),
        // Get Gateway Bot.
        ("GET", ["gateway", "bot"]) => with(
            200,
            json!({
                "url": state.gateway.url, "shards": 1,
                "session_start_limit": {"total": 1000, "remaining": state.starts_left, "reset_after": 3_600_000, "max_concurrency": 1},
            }),
        ),
        ("GET", ["channels", chat, "messages"]) => page(state, chat, query.unwrap_or_default()),
        ("GET", ["channels", chat, "messages", id]) => match find(state, chat, id) {
            Some(message) => with(200, message.clone()),
            None => error(404, 10_008, "Unknown Message"),
        },
        ("POST", ["channels", chat, "typing"]) if state.messages.contains_key(*chat) => with(204, json!({})),
        ("POST", ["channels", chat, "messages"]) => {
            bucketed(state, chat, |state| create(state, base, chat, what, size))
        }
        ("PATCH", ["channels", chat, "messages", id]) => {
            if let Some(refused) = wrong(what, size, false) {
                return refused;
            }
            let Some(message) = find(state, chat, id) else { return error(404, 10_008, "Unknown Message") };
            if message["author"]["id"] != BOT {
                return error(403, 50_005, "Cannot edit a message authored by another user");
            }
            message["content"] = what["content"].clone();
            message["components"] = what["components"].clone();
            with(200, message.clone())
        }
        ("POST", ["interactions", _, token, "callback"]) => called_back(state, token, what),
        ("POST", ["webhooks", _, token]) => match state.interactions.get(*token) {
            // Followup Messages: behind the first response, within 15 minutes.
            Some((_, true)) => {
                state.answered.push(what.clone());
                with(200, json!({"id": "1"}))
            }
            Some(_) | None => error(404, 10_015, "Unknown Webhook"),
        },
        _ => error(404, 10_003, "Unknown Channel"),
    }
}

fn find<'a>(state: &'a mut State, chat: &str, id: &str) -> Option<&'a mut Value> {
    state.messages.get_mut(chat)?.iter_mut().find(|message| message["id"] == id)
}

/// Get Channel Messages: `after`, `limit` 1-100; the newest first.
fn page(state: &State, chat: &str, query: &str) -> Answer {
    let asked = |name: &str| query.split('&').find_map(|pair| pair.strip_prefix(&format!("{name}=")));
    let number = |text: &str| text.parse::<u64>().unwrap_or(0);
    let (after, limit) = (asked("after").map_or(0, number), asked("limit").map_or(50, number));
    if !(1..=100).contains(&limit) {
        return invalid("limit", "Value must be between 1 and 100.");
    }
    let Some(messages) = state.messages.get(chat) else { return error(404, 10_003, "Unknown Channel") };
    let behind = messages.iter().filter(|message| number(message["id"].as_str().unwrap()) > after);
    let mut page: Vec<&Value> = behind.take(limit as usize).collect();
    page.reverse();
    with(200, json!(page))
}

/// Header Format: each answer says its bucket's.
fn bucketed(state: &mut State, chat: &str, act: impl FnOnce(&mut State) -> Answer) -> Answer {
    let (now, window, limit) = (Instant::now(), state.window, state.limit);
    let bucket = state.buckets.entry(chat.to_owned()).or_insert((now, 0));
    if bucket.0.elapsed() >= window {
        *bucket = (now, 0);
    }
    bucket.1 += 1;
    let (left, rest) = (limit.checked_sub(bucket.1), window.saturating_sub(bucket.0.elapsed()));
    let mut answer = match left {
        Some(_) => act(state),
        None => {
            state.broken.push("a request on an exhausted bucket".into());
            limited(rest.as_secs_f64(), false)
        }
    };
    let headers = answer.headers_mut();
    headers.insert("x-ratelimit-limit", limit.into());
    headers.insert("x-ratelimit-remaining", left.unwrap_or(0).into());
    headers.insert("x-ratelimit-reset-after", format!("{:.3}", rest.as_secs_f64()).parse().unwrap());
    headers.insert("x-ratelimit-bucket", "abcd1234".parse().unwrap());
    answer
}

fn create(state: &mut State, base: &str, chat: &str, what: &Value, size: usize) -> Answer {
    if !state.messages.contains_key(chat) {
        return error(404, 10_003, "Unknown Channel");
    }
    if let Some(refused) = wrong(what, size, true) {
        return refused;
    }
    // `nonce`, `enforce_nonce`: "that message will be returned and no new message will be created".
    let nonce = what["nonce"].as_str().unwrap_or_default().to_owned();
    if nonce.chars().count() > 25 {
        return invalid("nonce", "Must be 25 or fewer in length.");
    }
    if what["enforce_nonce"] == true
        && let Some(id) = state.nonces.get(&nonce).cloned()
    {
        return with(200, find(state, chat, &id).unwrap().clone());
    }
    let file = what["attachments"][0]["filename"].as_str().unwrap_or_default();
    let attachments = if size > 0 {
        json!([{"id": "77", "filename": file, "size": size, "url": format!("{base}/attachments/{chat}/{file}?ex=ffffffff")}])
    } else {
        json!([])
    };
    let more = json!({"components": what["components"], "attachments": attachments, "flags": what["flags"]});
    let content = what["content"].as_str().unwrap_or_default();
    if state.may_come.as_ref().is_some_and(|may_come| !may_come(content)) {
        state.broken.push(format!("{content:?} came"));
    }
    let made = state.written(chat, BOT, content, more);
    if !nonce.is_empty() {
        state.nonces.insert(nonce, made["id"].as_str().unwrap().to_owned());
    }
    state.dispatch("MESSAGE_CREATE", made.clone());
    with(200, made)
}

/// Limits of a message and its components.
fn wrong(what: &Value, size: usize, is_new: bool) -> Option<Answer> {
    let content = what["content"].as_str().unwrap_or_default();
    let rows = what["components"].as_array().cloned().unwrap_or_default();
    if content.chars().count() > 2_000 {
        return Some(invalid("content", "Must be 2000 or fewer in length."));
    } else if size > FILE_BYTES {
        return Some(error(413, 40_005, "Request entity too large"));
    } else if content.is_empty() && rows.is_empty() && size == 0 && is_new {
        return Some(error(400, 50_006, "Cannot send an empty message"));
    } else if rows.len() > 5 {
        return Some(invalid("components", "Must be 5 or fewer in length."));
    }
    // Allowed Mentions: not a rule of the platform, but of this channel.
    if what["allowed_mentions"] != json!({"parse": []}) {
        return Some(invalid("allowed_mentions", "mentions would ping"));
    }
    let mut seen = Vec::new();
    for row in &rows {
        let buttons = row["components"].as_array().cloned().unwrap_or_default();
        if row["type"] != 1 || buttons.is_empty() || buttons.len() > 5 {
            return Some(invalid("components", "an action row has one to five buttons"));
        }
        for button in &buttons {
            let (id, label) = (
                button["custom_id"].as_str().unwrap_or_default(),
                button["label"].as_str().unwrap_or_default(),
            );
            let fits = (1..=100).contains(&id.chars().count()) && (1..=80).contains(&label.chars().count());
            if button["type"] != 2 || !fits || seen.contains(&id.to_owned()) {
                return Some(invalid("components", "a button of the wrong form"));
            }
            seen.push(id.to_owned());
        }
    }
    None
}

/// Interaction Callback: within three seconds, and once.
fn called_back(state: &mut State, token: &str, what: &Value) -> Answer {
    let Some((when, is_answered)) = state.interactions.get_mut(token) else {
        return error(404, 10_062, "Unknown interaction");
    };
    if when.elapsed() > Duration::from_secs(3) {
        return error(404, 10_062, "Unknown interaction");
    }
    if std::mem::replace(is_answered, true) {
        return error(400, 40_060, "Interaction has already been acknowledged.");
    }
    if what["type"] != 6 {
        return invalid("type", "only a deferred update is known here");
    }
    with(204, json!({}))
}

/// Signed Attachment CDN URLs: they expire; a token has no business there.
fn attachment(state: &mut State, file: &str, authorization: &str) -> Answer {
    if !authorization.is_empty() {
        state.broken.push("the token went along to the files".into());
    }
    match state.files.get(file) {
        Some((bytes, true)) => Response::builder().status(200).body(Body::from(bytes.clone())).unwrap(),
        Some((_, false)) | None => {
            Response::builder().status(404).body(Body::from("This content is no longer available.")).unwrap()
        }
    }
}
