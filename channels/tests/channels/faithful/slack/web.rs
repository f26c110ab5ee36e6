//! The Web API of the faithful Slack: "Using the Web API", "Rate limits", and the page of each method.

use super::{BOT, BOT_ID, Fault, State, blocks};
use axum::body::Body;
use axum::http::{Response, request::Parts};
use serde_json::{Map, Value, json};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

type Answer = Response<Body>;

pub const SCOPES: [&str; 6] =
    ["chat:write", "im:history", "app_mentions:read", "files:read", "files:write", "commands"];
/// Rate limits: one message a second and channel; "short bursts >1 allowed".
const BURST: u32 = 5;

fn with(status: u16, body: &Value) -> Answer {
    Response::builder()
        .status(status)
        .header("content-type", "application/json; charset=utf-8")
        .body(Body::from(body.to_string()))
        .unwrap()
}

fn error(name: &str) -> Value {
    json!({"ok": false, "error": name})
}

pub fn answer(state: &Mutex<State>, parts: &Parts, body: &[u8]) -> Answer {
    let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
    let header =
        |name: &str| parts.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let (path, token) =
        (parts.uri.path().to_owned(), header("authorization").trim_start_matches("Bearer ").to_owned());
    if let Some(name) = path.strip_prefix("/files-pri/") {
        return file(&state, name, &token);
    } else if let Some(id) = path.strip_prefix("/upload/") {
        return uploaded(&mut state, id, body);
    } else if path.starts_with("/actions/") {
        // Handling user interaction, response_url: JSON, without a token.
        let said = serde_json::from_slice(body).unwrap_or_default();
        if !token.is_empty() {
            state.broken.push("a token to a response_url".into());
        }
        state.replies.push(said);
        return with(200, &json!({"ok": true}));
    }
    let Some(method) = path.strip_prefix("/api/") else { return with(404, &json!({})) };
    let what = arguments(header("content-type"), body);
    state.requests.push((method.to_owned(), what.clone()));
    // Authentication: apps.connections.open takes the app-level token alone, by the header; the others the bot's.
    let wanted = if method == "apps.connections.open" { &state.app_token } else { &state.bot_token };
    let refused = if token.is_empty() {
        Some("not_authed")
    } else if token.get(..5) != wanted.get(..5) {
        Some("not_allowed_token_type")
    } else {
        (token != *wanted).then_some("invalid_auth")
    };
    if let Some(refused) = refused {
        return with(200, &error(refused));
    }
    let fault = state.faults.iter().position(|(of, _)| of == method).and_then(|at| state.faults.remove(at));
    match fault.map(|(_, fault)| fault) {
        Some(Fault::Status(status)) => return with(status, &json!({})),
        Some(Fault::Limited(seconds)) => return limited(seconds),
        Some(Fault::Error(error)) => return with(200, &error),
        Some(Fault::Forgets) => {
            call(&mut state, method, &what);
            drop(state);
            // Not a panic that is told: the connection ends.
            std::panic::resume_unwind(Box::new(()));
        }
        None => {}
    }
    if method == "chat.postMessage" && !may_post(&mut state, what["channel"].as_str().unwrap_or_default()) {
        return limited(1);
    }
    let mut answer = with(200, &call(&mut state, method, &what));
    answer.headers_mut().insert("x-oauth-scopes", state.scopes.join(",").parse().unwrap());
    answer
}

fn limited(seconds: u64) -> Answer {
    let mut answer = with(429, &error("ratelimited"));
    answer.headers_mut().insert("retry-after", seconds.into());
    answer
}

/// "POST bodies": a form, or JSON; what is JSON within a form is read.
fn arguments(kind: &str, body: &[u8]) -> Value {
    if kind.starts_with("application/json") {
        return serde_json::from_slice(body).unwrap_or_default();
    }
    let mut whole = Map::new();
    for (key, value) in
        reqwest::Url::parse(&format!("http://x/?{}", String::from_utf8_lossy(body))).unwrap().query_pairs()
    {
        let read = matches!(&*key, "blocks" | "files").then(|| serde_json::from_str(&value).ok()).flatten();
        whole.insert(key.into_owned(), read.unwrap_or_else(|| Value::from(value.into_owned())));
    }
    whole.into()
}

fn may_post(state: &mut State, chat: &str) -> bool {
    let (when, count) = state.posted.entry(chat.to_owned()).or_insert((Instant::now(), 0));
    let passed = when.elapsed().as_secs() as u32;
    if passed > 0 {
        (*when, *count) = (Instant::now(), count.saturating_sub(passed));
    }
    let may = *count < BURST;
    *count += u32::from(may);
    may
}

/// The scope that a method needs.
fn scope(method: &str, chat: &str) -> Option<&'static str> {
    Some(match method {
        "chat.postMessage" | "chat.update" | "assistant.threads.setStatus" => "chat:write",
        "conversations.history" | "conversations.replies" if chat.starts_with('D') => "im:history",
        "conversations.history" | "conversations.replies" => "channels:history",
        "files.getUploadURLExternal" | "files.completeUploadExternal" => "files:write",
        _ => return None,
    })
}

fn call(state: &mut State, method: &str, what: &Value) -> Value {
    let text = |key: &str| what[key].as_str().unwrap_or_default().to_owned();
    let chat = text("channel");
    if let Some(needed) = scope(method, &chat)
        && !state.scopes.contains(&needed)
    {
        return json!({"ok": false, "error": "missing_scope", "needed": needed, "provided": state.scopes.join(",")});
    }
    match method {
        "auth.test" => json!({
            "ok": true, "url": state.base, "team": "House", "user": "feral", "team_id": "T1", "user_id": BOT, "bot_id": BOT_ID,
        }),
        "apps.connections.open" => {
            let ticket = format!("/link/?ticket={}&app_id=A1", state.id("t"));
            let url = format!("{}{ticket}", state.socket_url);
            state.tickets.push(ticket);
            json!({"ok": true, "url": url})
        }
        "chat.postMessage" => posted(state, &chat, what),
        "chat.update" => updated(state, &chat, what),
        "conversations.history" => history(state, &chat, what),
        "conversations.replies" => replies(state, &chat, what),
        "assistant.threads.setStatus" if text("thread_ts").is_empty() => error("invalid_thread_ts"),
        "assistant.threads.setStatus" => json!({"ok": true}),
        "files.getUploadURLExternal" => {
            let (id, length) = (state.id("F"), text("length").parse::<usize>().unwrap_or(0));
            if length == 0 || text("filename").is_empty() {
                return error("invalid_arguments");
            }
            state.files.insert(id.clone(), (format!("{length}"), vec![]));
            json!({"ok": true, "upload_url": format!("{}/upload/{id}", state.base), "file_id": id})
        }
        "files.completeUploadExternal" => completed(state, what),
        _ => error("unknown_method"),
    }
}

fn posted(state: &mut State, chat: &str, what: &Value) -> Value {
    if !state.messages.contains_key(chat) {
        return error("channel_not_found");
    }
    if let Some(wrong) = wrong(what) {
        return error(wrong);
    }
    let said = what["blocks"][0]["text"]["text"].as_str().unwrap_or_default();
    if state.may_come.as_ref().is_some_and(|may_come| !may_come(said)) {
        state.broken.push(format!("{said:?} came"));
    }
    // "text": longer than 40,000 characters is cut.
    let text: String = what["text"].as_str().unwrap_or_default().chars().take(40_000).collect();
    let mut more = json!({"bot_id": BOT_ID, "blocks": what["blocks"]});
    for key in ["thread_ts", "unfurl_links", "unfurl_media"] {
        if !what[key].is_null() {
            more[key] = what[key].clone();
        }
    }
    let made = state.written(chat, BOT, &text, more);
    json!({"ok": true, "channel": chat, "ts": made["ts"], "message": made})
}

fn wrong(what: &Value) -> Option<&'static str> {
    let text = what["text"].as_str().unwrap_or_default();
    if text.is_empty() && what["blocks"].is_null() {
        return Some("no_text");
    }
    if what["blocks"].is_null() { None } else { blocks::wrong(&what["blocks"]) }
}

fn updated(state: &mut State, chat: &str, what: &Value) -> Value {
    // Errors, msg_too_long: "cannot exceed 4,000 characters".
    if what["text"].as_str().unwrap_or_default().chars().count() > 4_000 {
        return error("msg_too_long");
    }
    if let Some(wrong) = wrong(what) {
        return error(wrong);
    }
    let messages = state.messages.get_mut(chat).map_or(&mut [][..], Vec::as_mut_slice);
    let Some(message) = messages.iter_mut().find(|message| message["ts"] == what["ts"]) else {
        return error("message_not_found");
    };
    if message["user"] != BOT {
        return error("cant_update_message");
    }
    message["text"] = what["text"].clone();
    message["blocks"] = what["blocks"].clone();
    json!({"ok": true, "channel": chat, "ts": message["ts"]})
}

/// conversations.history: behind `oldest`, the newest first, at most 999 at once, further by `next_cursor`; no replies of threads.
fn history(state: &State, chat: &str, what: &Value) -> Value {
    let Some(messages) = state.messages.get(chat) else { return error("channel_not_found") };
    let is_reply = |said: &Value| said["thread_ts"].is_string() && said["thread_ts"] != said["ts"];
    let oldest = what["oldest"].as_str().unwrap_or_default();
    let behind = |said: &&Value| said["ts"].as_str().unwrap() > oldest && !is_reply(said);
    let mut found: Vec<&Value> = messages.iter().filter(behind).collect();
    found.reverse();
    paged(&found, what)
}

/// conversations.replies: the parent, then the replies in order.
fn replies(state: &State, chat: &str, what: &Value) -> Value {
    let Some(messages) = state.messages.get(chat) else { return error("channel_not_found") };
    let oldest = what["oldest"].as_str().unwrap_or_default();
    let of_thread = |said: &&Value| {
        said["ts"] == what["ts"] || (said["thread_ts"] == what["ts"] && said["ts"].as_str().unwrap() > oldest)
    };
    let found: Vec<&Value> = messages.iter().filter(of_thread).collect();
    if found.is_empty() { error("thread_not_found") } else { paged(&found, what) }
}

fn paged(found: &[&Value], what: &Value) -> Value {
    let limit = what["limit"].as_str().and_then(|limit| limit.parse().ok()).unwrap_or(100_usize).min(999);
    let begin = what["cursor"]
        .as_str()
        .and_then(|cursor| cursor.strip_prefix("at-")?.parse().ok())
        .unwrap_or(0_usize);
    let page: Vec<&&Value> = found.iter().skip(begin).take(limit).collect();
    let end = begin + page.len();
    let next = if end < found.len() { format!("at-{end}") } else { String::new() };
    json!({"ok": true, "messages": page, "has_more": end < found.len(), "response_metadata": {"next_cursor": next}})
}

fn completed(state: &mut State, what: &Value) -> Value {
    let id = what["files"][0]["id"].as_str().unwrap_or_default().to_owned();
    let chat = what["channel_id"].as_str().unwrap_or_default().to_owned();
    match state.files.get(&id) {
        Some((length, bytes)) if *length == bytes.len().to_string() => {}
        Some(_) | None => return error("file_not_found"),
    }
    if !state.messages.contains_key(&chat) {
        return error("channel_not_found");
    }
    let files = json!([{"id": id, "name": what["files"][0]["title"]}]);
    let comment = what["initial_comment"].as_str().unwrap_or_default().to_owned();
    state.written(&chat, BOT, &comment, json!({"bot_id": BOT_ID, "subtype": "file_share", "files": files}));
    json!({"ok": true, "files": files})
}

/// files.getUploadURLExternal, "Usage": the bytes are posted to the address, as many as were told.
fn uploaded(state: &mut State, id: &str, body: &[u8]) -> Answer {
    match state.files.get_mut(id) {
        Some((length, bytes)) if *length == body.len().to_string() => {
            *bytes = body.to_vec();
            with(200, &json!("OK"))
        }
        Some(_) | None => with(400, &json!({})),
    }
}

/// Working with files, "Access": the token with files:read; else the page to sign in.
fn file(state: &State, name: &str, token: &str) -> Answer {
    let page = || Response::builder().status(200).header("content-type", "text/html; charset=utf-8");
    if token != state.bot_token || !state.scopes.contains(&"files:read") {
        return page().body(Body::from("<html>Sign in</html>")).unwrap();
    }
    match state.files.get(name) {
        Some((kind, bytes)) => Response::builder()
            .status(200)
            .header("content-type", kind.as_str())
            .body(Body::from(bytes.clone()))
            .unwrap(),
        None => with(404, &json!({})),
    }
}
