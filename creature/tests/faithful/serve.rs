//! One connection: the request judged, put to the mind, and answered as it is told.

use super::cache::Plan;
use super::events::Dice;
use super::http::{self, Chunks, Request};
use super::models::{self, Model};
use super::reply::{Asked, Reply};
use super::rules::{MOST_BYTES, Refusal, Why, is_torn, list, refusal, text};
use super::say::{Fault, HALF, Part, Say};
use super::seen::Seen;
use super::{Entry, Shared, Wire, anthropic, anthropic_rules, anthropic_turns, chat, chat_rules};
use super::{responses, responses_items, responses_rules};
use serde_json::{Value, json};
use std::io::{ErrorKind, Read};
use std::net::TcpStream;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::PoisonError;
use std::sync::atomic::Ordering;
use std::time::Duration;

const JSON: &str = "application/json";

/// Between two looks whether the client is still there.
const LOOK: Duration = Duration::from_millis(20);

pub fn serve(shared: &Shared, stream: &TcpStream) {
    let Some(request) = Request::read(stream) else { return };
    let path = request.path.split('?').next().unwrap_or_default();
    let end = match shared.wire {
        Wire::Anthropic => "/v1/messages",
        Wire::Responses => "/responses",
        Wire::Chat => "/chat/completions",
    };
    if request.method != "POST" || !path.ends_with(end) {
        let (status, body) = looked_up(shared, path);
        shared.state().looked.push(path.to_owned());
        let _ = http::whole(stream, status, JSON, body.to_string().as_bytes());
        return;
    }
    let number = {
        let mut state = shared.state();
        state.requests += 1;
        state.requests
    };
    if let Some((status, body)) = shared.rules.refuses.as_ref().and_then(|refuses| (refuses.0)(&request.body))
    {
        let refusal = Refusal { number, status, why: Why::Taste, ..refusal(body.clone()) };
        shared.state().refusals.push(refusal);
        shared.changed.notify_all();
        let _ = http::whole(stream, status, JSON, body.as_bytes());
        return;
    }
    let answer = judge(shared, &request, number).and_then(|judged| think(shared, &request, number, judged));
    match answer {
        Ok((say, reply)) => {
            if write(shared, stream, &request, number, &say, &reply).is_err() {
                hang_up(shared, number);
            }
        }
        Err(refusal) => {
            let refusal = Refusal { number, ..refusal };
            let (status, body) = (refusal.status, error(shared.wire, number, &refusal));
            shared.state().refusals.push(refusal);
            shared.changed.notify_all();
            let _ = http::whole(stream, status, JSON, body.to_string().as_bytes());
        }
    }
}

/// A good request: the model, what it sees, and what it does to the cache.
struct Judged {
    model: Model,
    body: Value,
    plan: Plan,
}

fn judge(shared: &Shared, request: &Request, number: usize) -> Result<Judged, Refusal> {
    let (rules, body) = (&shared.rules, &request.body);
    if request.raw.len() > MOST_BYTES {
        let message = "Request exceeds the maximum size";
        return Err(Refusal { status: 413, why: Why::Size, ..refusal(message) });
    }
    if is_torn(&request.raw) || !body.is_object() {
        return Err(refusal(
            "The request body is not valid JSON: no low surrogate in string, or no JSON at all",
        ));
    }
    let name = text(body, "model");
    let known = models::model(shared.wire, name, &rules.models);
    let model = known.ok_or_else(|| Refusal { status: 404, ..refusal(format!("model: {name}")) })?;
    let mut body = body.clone();
    if rules.drops_tools {
        body.as_object_mut().map(|body| body.remove("tools"));
    }
    let state = shared.state();
    match shared.wire {
        Wire::Anthropic => {
            anthropic_rules::check(request, &model)?;
            anthropic_turns::check(&body, &model, &state.given)?;
        }
        Wire::Responses => {
            responses_rules::check(&body, &model)?;
            responses_items::check(&body, &state.given)?;
        }
        Wire::Chat => chat_rules::check(&request.body, &model, rules, &state.given)?,
    }
    if let Some(most) = rules.cuts_at {
        body = chat::cut_to_fit(&body, most);
    }
    let plan = match shared.wire {
        Wire::Anthropic => state.cache.marked(&anthropic::pieces(&body), model.least_cached, state.now_s),
        Wire::Responses => {
            let salt = format!("{name} {}", body["text"]["format"]);
            state.cache.automatic(&salt, &responses::prompt(&body), state.now_s)
        }
        Wire::Chat => {
            let salt = format!("{name} {}", body["response_format"]);
            state.cache.automatic(&salt, &chat::prompt(&body), state.now_s)
        }
    };
    let (total, most) = (plan.tokens.total(), rules.window);
    if total > most {
        let message = match shared.wire {
            Wire::Anthropic => format!("prompt is too long: {total} tokens > {most} maximum"),
            _ if rules.local => format!("the request exceeds the available context size ({most} tokens)"),
            _ => format!("Your input exceeds the context window of this model ({total} of {most} tokens)."),
        };
        return Err(Refusal { why: Why::Size, number, ..refusal(message) });
    }
    Ok(Judged { model, body, plan })
}

fn think(shared: &Shared, request: &Request, number: usize, judged: Judged) -> Result<(Say, Reply), Refusal> {
    let Judged { model, body, plan } = judged;
    let seen = see(shared, request, &body, number);
    let probe = shared.rules.probe.then(|| probed(&seen)).flatten();
    let say = match probe {
        Some(say) => say,
        None => {
            shared.state().seen.push(seen.clone());
            shared.changed.notify_all();
            let mut mind = shared.mind.lock().unwrap_or_else(PoisonError::into_inner);
            catch_unwind(AssertUnwindSafe(|| mind(&seen))).map_err(|panic| {
                let why = panic.downcast_ref::<String>().cloned();
                let why = why.or_else(|| panic.downcast_ref::<&str>().map(|why| (*why).to_owned()));
                let why = why.unwrap_or_default();
                Refusal { status: 500, ..refusal(format!("the scripted mind fell: {why}")) }
            })?
        }
    };
    let say = match (seen.json_mode, shared.rules.drops_tools) {
        (true, _) => say.into_thought(String::from_utf8_lossy(&request.raw).contains("args_json")),
        (false, true) => wordy(say),
        (false, false) => say.native(),
    };
    let seed = shared.rules.seed.wrapping_add(number as u64);
    let asked = Asked {
        request,
        model,
        number,
        seed,
        rules: &shared.rules,
        tokens: plan.tokens,
        noise: shared.rules.noise,
    };
    let reply = match shared.wire {
        Wire::Anthropic => anthropic::reply(&asked, &say),
        Wire::Responses => responses::reply(&asked, &say),
        Wire::Chat => chat::reply(&asked, &say),
    };
    if !matches!(say.fault, Some(Fault::Status(..))) {
        keep(shared, &seen, &say, &reply, plan);
    }
    Ok((say, reply))
}

fn see(shared: &Shared, request: &Request, body: &Value, number: usize) -> Seen {
    let state = shared.state();
    let (system, tools, messages) = match shared.wire {
        Wire::Anthropic => {
            (anthropic::system(body), anthropic::tools(body), anthropic::messages(body, &state.given))
        }
        Wire::Responses => {
            (responses::system(body), responses::tools(body), responses::messages(body, &state.given))
        }
        Wire::Chat => (chat::system(body), chat::tools(body), chat::messages(body, &state.given)),
    };
    Seen {
        number,
        wire: shared.wire,
        model: text(body, "model").to_owned(),
        system,
        tools: tools.into_iter().collect(),
        messages,
        json_mode: list(&request.body, "tools").is_empty(),
        autonomous: request.header("x-feral-class") == Some("autonomous"),
        body: request.body.clone(),
    }
}

/// The answer to a question whether tools are had: one tool that is to echo a word.
fn probed(seen: &Seen) -> Option<Say> {
    let (name, schema) = seen.tools.iter().next().filter(|_| seen.tools.len() == 1)?;
    let field = schema["properties"].as_object()?.keys().next()?;
    if !name.contains("echo") {
        return None;
    }
    let said = seen.last_said();
    if let Some(word) = said.rsplit('`').nth(1) {
        return Some(Say::new().calls(name, json!({field: word})));
    }
    let word = said.split_whitespace().next_back()?;
    Some(Say::new().calls(name, json!({field: word})))
}

/// A model that was shown no tools has nothing but words.
fn wordy(mut say: Say) -> Say {
    say.parts.retain(|part| matches!(part, Part::Text(_) | Part::Thinking(_)));
    say.sleep_s = None;
    if say.text().is_empty() { say.says("I would, had I the means.") } else { say }
}

fn keep(shared: &Shared, seen: &Seen, say: &Say, reply: &Reply, plan: Plan) {
    let mut state = shared.state();
    for part in &say.parts {
        if let Part::Call(name, _) | Part::Broken(name, _) = part {
            state.given.name(name);
        }
    }
    let is_loose = say.is_loose() || shared.rules.no_ids;
    state.given.keep(&reply.parts, reply.seals.clone(), is_loose);
    let entry = Entry {
        number: seen.number,
        model: seen.model.clone(),
        tokens: plan.tokens,
        output: reply.output,
        at_s: state.now_s,
        autonomous: seen.autonomous,
        whole: !matches!(say.fault, Some(Fault::Cut(_) | Fault::Silence(_) | Fault::Pings(_))),
    };
    state.ledger.push(entry);
    state.cache.keep(plan);
}

fn hang_up(shared: &Shared, number: usize) {
    let mut state = shared.state();
    state.hung_up += 1;
    if let Some(entry) = state.ledger.iter_mut().find(|entry| entry.number == number) {
        entry.whole = false;
    }
    drop(state);
    shared.changed.notify_all();
}

fn write(
    shared: &Shared,
    stream: &TcpStream,
    request: &Request,
    number: usize,
    say: &Say,
    reply: &Reply,
) -> std::io::Result<()> {
    if let Some(Fault::Status(status, body)) = &say.fault {
        return http::whole(stream, *status, JSON, body.as_bytes());
    }
    let streams = request.body["stream"] == true && !say.whole;
    let (kind, bytes) = match streams {
        true => ("text/event-stream; charset=utf-8", reply.stream.clone()),
        false => (JSON, reply.whole.to_string().into_bytes()),
    };
    let bytes = halved(&bytes);
    let end = match say.fault {
        Some(Fault::Cut(end) | Fault::Silence(end) | Fault::Pings(end)) => end.min(bytes.len()),
        _ => bytes.len(),
    };
    let mut chunks = Chunks::begin(stream, kind)?;
    let mut dice = Dice(shared.rules.seed ^ number as u64);
    let mut rest = &bytes[..end];
    while !rest.is_empty() {
        let length = if shared.rules.split { dice.between(1, 900) } else { rest.len() };
        let (piece, left) = rest.split_at(length.min(rest.len()));
        chunks.write(piece)?;
        rest = left;
    }
    match say.fault {
        Some(Fault::Cut(_)) => Ok(()),
        Some(Fault::Silence(_)) => wait(shared, stream, &mut chunks, b""),
        Some(Fault::Pings(_)) => wait(shared, stream, &mut chunks, b": ping\n\n"),
        _ => chunks.end(),
    }
}

/// Holds the connection until the client hangs up, which is an error as any other write would say, or the server ends.
fn wait(shared: &Shared, stream: &TcpStream, chunks: &mut Chunks, ping: &[u8]) -> std::io::Result<()> {
    stream.set_read_timeout(Some(LOOK))?;
    while !shared.closed.load(Ordering::Relaxed) {
        chunks.write(ping)?;
        match (&mut &*stream).read(&mut [0; 64]) {
            Ok(0) => return Err(ErrorKind::BrokenPipe.into()),
            Err(error) if !matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                return Err(error);
            }
            _ => {}
        }
    }
    Ok(())
}

/// Puts the escape of half a pair where its mark stands.
fn halved(bytes: &[u8]) -> Vec<u8> {
    std::str::from_utf8(bytes).unwrap().replace(HALF, "\\ud83d").into_bytes()
}

fn error(wire: Wire, number: usize, refusal: &Refusal) -> Value {
    let kind = match refusal.status {
        404 => "not_found_error",
        413 => "request_too_large",
        500 => "api_error",
        _ => "invalid_request_error",
    };
    let message = &refusal.message;
    match wire {
        Wire::Anthropic => {
            json!({"type": "error", "error": {"type": kind, "message": message}, "request_id": format!("req_{number:06}")})
        }
        Wire::Responses | Wire::Chat => {
            let code = match (refusal.status, refusal.why) {
                (404, _) if message.starts_with("model: ") => json!("model_not_found"),
                (400, Why::Size) => json!("context_length_exceeded"),
                _ if refusal.code.is_empty() => Value::Null,
                _ => json!(refusal.code),
            };
            json!({"error": {"message": message, "type": "invalid_request_error", "param": null, "code": code}})
        }
    }
}

/// Pages about the server itself.
fn looked_up(shared: &Shared, path: &str) -> (u16, Value) {
    let (rules, window) = (&shared.rules, shared.rules.cuts_at.unwrap_or(shared.rules.window));
    let names = || models::names(shared.wire).map(str::to_owned).chain(rules.models.clone());
    let has_tools = !rules.drops_tools;
    match (shared.wire, path) {
        (Wire::Anthropic, path) if path.ends_with("/models") => {
            let model = |id: String| json!({"type": "model", "id": id, "display_name": id, "max_input_tokens": window});
            (200, json!({"data": names().map(model).collect::<Vec<_>>(), "has_more": false}))
        }
        (_, path) if path.ends_with("/models") => {
            let model = |id: String| match rules.local {
                true => json!({"id": id, "object": "model", "owned_by": "local", "max_model_len": window}),
                false => json!({"id": id, "object": "model", "owned_by": "openai", "shutdown_date": null}),
            };
            (200, json!({"object": "list", "data": names().map(model).collect::<Vec<_>>()}))
        }
        (Wire::Chat, path) if rules.local && path.ends_with("/props") => {
            let caps = json!({"supports_tools": has_tools, "supports_tool_calls": has_tools});
            let settings = json!({"n_ctx": window});
            (
                200,
                json!({"default_generation_settings": settings, "chat_template_caps": caps, "build_info": "b1-test"}),
            )
        }
        (Wire::Chat, path) if rules.local && path.ends_with("/api/show") => {
            let capabilities = if has_tools { json!(["completion", "tools"]) } else { json!(["completion"]) };
            let info = json!({"general.architecture": "test", "test.context_length": window});
            (200, json!({"capabilities": capabilities, "model_info": info}))
        }
        _ => (404, json!({"error": {"type": "not_found_error", "message": format!("no page {path}")}})),
    }
}
