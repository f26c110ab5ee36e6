//! One call: judged, reserved, sent with the key of ours in place of the client's, and handed to who passes the answer.

use super::Wire;
use super::answer::{self, Sent};
use super::bill::Bill;
use super::data;
use super::provider::Provider;
use super::request::{self, Judged};
use crate::broker::{Broker, Shared};
use crate::budget::Reservation;
use crate::door::Life;
use crate::ledger::Entry;
use crate::prices::Rate;
use crate::refusal::Refusal;
use axum::Extension;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Method, header};
use std::time::Duration;
use tokio::sync::Semaphore;

/// One call with all its streaming; the longest deadline a creature may set is a minute less.
const LONGEST_CALL: Duration = Duration::from_secs(1_860);

/// MiB of request bodies held at once; more wait.
const MOST_HELD_MIB: u32 = 48;
static HELD: Semaphore = Semaphore::const_new(MOST_HELD_MIB as usize);

/// What a client may tell the provider besides its body.
const PASSED: [&str; 3] = ["anthropic-version", "anthropic-beta", "accept"];
const ANTHROPIC_VERSION: &str = "2023-06-01";

/// A path that may be called.
#[derive(Clone, Copy)]
struct Call {
    wire: Wire,
    /// At the provider, after its base.
    path: &'static str,
    /// Whether it makes tokens.
    costs: bool,
}

type Asked = (State<Shared>, Extension<Life>, Request);

pub async fn messages(asked: Asked) -> Response {
    answered(asked, Call { wire: Wire::Anthropic, path: "/v1/messages", costs: true }).await
}

pub async fn count_tokens(asked: Asked) -> Response {
    answered(asked, Call { wire: Wire::Anthropic, path: "/v1/messages/count_tokens", costs: false }).await
}

pub async fn chat(asked: Asked) -> Response {
    answered(asked, Call { wire: Wire::OpenAi, path: "/chat/completions", costs: true }).await
}

pub async fn models(asked: Asked) -> Response {
    answered(asked, Call { wire: Wire::OpenAi, path: "/models", costs: false }).await
}

pub async fn elsewhere() -> Refusal {
    let hint = "POST /llm/anthropic/v1/messages, POST /llm/anthropic/v1/messages/count_tokens, POST \
                /llm/openai/v1/chat/completions, GET /llm/openai/v1/models";
    Refusal::new(404, "not_found_error", "nothing of this name is passed on", hint)
}

async fn answered((State(broker), Extension(Life(life)), request): Asked, call: Call) -> Response {
    match carried_out(&broker, life, request, call).await {
        Ok(response) => response,
        Err(refusal) => refusal.into_response(),
    }
}

async fn carried_out(broker: &Shared, life: u64, request: Request, call: Call) -> Result<Response, Refusal> {
    let provider = broker.providers.of(call.wire).ok_or_else(|| not_there(broker, call.wire))?.clone();
    let (parts, body) = request.into_parts();
    let held = held(&parts.headers).await;
    let body = read(body).await?;
    let (judged, rate) = judged(broker, &provider, call, body)?;
    let bill = Bill::new(rate, &judged);
    let cost = bill.cost(broker.experience.of(&judged.model));
    let entry = Entry {
        life,
        service: provider.name.to_owned(),
        method: parts.method.to_string(),
        path: call.path.to_owned(),
        bytes_out: judged.body.len() as u64,
        note: broker.scrub(&judged.model),
        ..Entry::default()
    };
    let lowered = parts.headers.get("x-feral-class").is_some_and(|class| class == "autonomous");
    let guess = if rate.is_free() { None } else { broker.prices.guess(&judged.model) };
    let guess = guess.map(|guess| broker.scrub(&guess));
    guess.iter().for_each(|guess| broker.budget.tell_of_price(guess));
    let reservation = broker.budget.reserve(entry, lowered, cost).await.map_err(|mut refusal| {
        if let Some(guess) = guess.as_ref().filter(|_| refusal.kind == "budget_cap") {
            refusal.hint = format!("{guess}; {}", refusal.hint);
        }
        refusal
    })?;
    let is_stream = judged.is_stream;
    let (model, upstream) = (judged.model, provider.upstream());
    let asks = call.costs;
    let sent = Sent { wire: call.wire, model, bill, asks, provider: provider.name, upstream };
    let request = prepared(broker, &provider, call, parts.method, &parts.headers, judged.body);
    drop(held);
    let request = match request {
        Ok(request) => request,
        Err(refusal) => {
            reservation.settle(0, None, 0, "never left");
            return Err(refusal);
        }
    };
    match broker.outward.client(&provider.base).execute(request).await {
        Ok(answer) => answer::pass(broker, &provider, answer, is_stream, reservation, sent).await,
        Err(error) => Err(no_answer(broker, &error, reservation, &sent)),
    }
}

/// Room for the body, held while it is.
async fn held(headers: &HeaderMap) -> Option<tokio::sync::SemaphorePermit<'static>> {
    let bytes =
        headers.get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
    let bytes = bytes.unwrap_or(crate::door::MOST_BODY_BYTES as u64).min(crate::door::MOST_BODY_BYTES as u64);
    let mib = u32::try_from(bytes.div_ceil(1 << 20)).unwrap_or(MOST_HELD_MIB).clamp(1, MOST_HELD_MIB);
    HELD.acquire_many(mib).await.ok()
}

async fn read(body: Body) -> Result<Bytes, Refusal> {
    let most = crate::door::MOST_BODY_BYTES;
    axum::body::to_bytes(body, most).await.map_err(|error| {
        let message = format!("the body could not be read, or is larger than {} MiB: {error}", most >> 20);
        Refusal::new(413, "request_too_large", message, "send less, and send it at once")
    })
}

fn judged(broker: &Broker, provider: &Provider, call: Call, body: Bytes) -> Result<(Judged, Rate), Refusal> {
    if !call.costs && body.is_empty() {
        return Ok((Judged::default(), Rate::FREE));
    }
    if !call.costs {
        let fields = request::fields(&body)?;
        data::fetches_nothing(&fields)?;
        return Ok((Judged { is_stream: false, ..request::free(String::new(), &fields)? }, Rate::FREE));
    }
    let (model, fields) = request::parse(&body)?;
    data::fetches_nothing(&fields)?;
    let rate = match broker.prices.of_owner(&model) {
        Some(rate) => rate,
        None if provider.is_free() => Rate::FREE,
        None => broker.prices.of(&model),
    };
    if rate.is_free() {
        return Ok((request::free(model, &fields)?, rate));
    }
    let new_limit = provider.wants_new_limit() || broker.experience.wants_new_limit(call.wire);
    Ok((request::judge(call.wire, model, fields, new_limit)?, rate))
}

fn prepared(
    broker: &Broker,
    provider: &Provider,
    call: Call,
    method: Method,
    told: &HeaderMap,
    body: Vec<u8>,
) -> Result<reqwest::Request, Refusal> {
    let mut headers = HeaderMap::new();
    for name in PASSED {
        if let Some(value) = told.get(name) {
            headers.insert(HeaderName::from_static(name), value.clone());
        }
    }
    if call.wire == Wire::Anthropic && !headers.contains_key("anthropic-version") {
        headers.insert("anthropic-version", HeaderValue::from_static(ANTHROPIC_VERSION));
    }
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    let key = provider.key_env.as_ref().and_then(|name| broker.key(name));
    if let Some(key) = key {
        let (name, text) = match call.wire {
            Wire::Anthropic => (HeaderName::from_static("x-api-key"), key),
            Wire::OpenAi => (header::AUTHORIZATION, format!("Bearer {key}")),
        };
        let mut value = HeaderValue::from_str(&text).map_err(|_| {
            let hint = "the owner checks that the key was copied whole";
            Refusal::new(502, "key_unusable", "the provider's key has characters that fit no header", hint)
        })?;
        value.set_sensitive(true);
        headers.insert(name, value);
    }
    let url = provider.url(call.path);
    let request = broker.outward.client(&provider.base).request(method.clone(), url);
    let request = if method == Method::GET { request } else { request.body(body) };
    request.headers(headers).timeout(LONGEST_CALL).build().map_err(|error| {
        Refusal::new(
            502,
            "upstream_unreachable",
            format!("no request can be made: {}", error.without_url()),
            "",
        )
    })
}

/// No answer came: before it was sent that costs nothing, where we gave up waiting nobody knows.
fn no_answer(broker: &Broker, error: &reqwest::Error, reservation: Reservation, sent: &Sent) -> Refusal {
    match (error.is_connect() || error.is_builder(), error.is_timeout()) {
        (true, _) => reservation.settle(0, None, 0, "no connection"),
        (_, true) => reservation.stands(None, 0, "stands: no answer in time"),
        _ => sent.unanswered(broker, reservation, None, 0, "no answer"),
    }
    let why = format!("no answer: {}", deepest(error));
    sent.is_down(broker, None, &why, None);
    let message = broker.scrub(&format!("no answer from {}: {}", sent.upstream, deepest(error)));
    Refusal::new(
        502,
        "upstream_unreachable",
        message,
        "wait and ask again; the owner checks the network and base_url",
    )
}

/// What happened at the bottom, without the address, which may hold a password.
fn deepest(error: &reqwest::Error) -> String {
    let mut cause = std::error::Error::source(error);
    let mut text = if error.is_timeout() { "it took too long".to_owned() } else { "it broke off".to_owned() };
    while let Some(error) = cause {
        text = error.to_string();
        cause = error.source();
    }
    text
}

fn not_there(broker: &Broker, wire: Wire) -> Refusal {
    let message = match broker.providers.said() {
        Some(said) => said.to_owned(),
        None => format!("no provider of the {} wire is configured", wire.name()),
    };
    Refusal::new(
        404,
        "model_not_configured",
        message,
        "GET /status says which model there is, if any; think by instinct",
    )
}
