//! Call to a model: judged, reserved, sent with the broker's key, and its answer passed on.

use super::Llm;
use super::answer::{self, Flow};
use super::bill::Bill;
use super::experience::Head;
use super::provider::Provider;
use super::refusals::not_allowed;
use super::request::{self, Judged};
use super::sent::Sent;
use super::wire::Wire;
use super::{again, allowed, data};
use crate::door::MOST_BODY_BYTES;
use crate::door::callers::Life;
use crate::ground::refusal::Refusal;
use crate::ledger::Entry;
use crate::money::budget::Reservation;
use crate::money::prices::Rate;
use crate::net;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::response::{IntoResponse, Response};
use axum::routing::{any, get, post};
use axum::{Extension, Router};
use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Method, header};
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Semaphore;

/// Longest call with all its streaming: the longest reply of any model at a slow pace.
const LONGEST_CALL: Duration = Duration::from_secs(7_200);

/// Most MiB of request bodies held at once; further requests wait.
const MOST_HELD_MIB: u32 = 48;
static HELD: Semaphore = Semaphore::const_new(MOST_HELD_MIB as usize);

/// Headers of the client that are passed on to the provider.
const PASSED: [&str; 3] = ["anthropic-version", "anthropic-beta", "accept"];
const ANTHROPIC_VERSION: &str = "2023-06-01";

/// A path that may be called.
#[derive(Clone, Copy)]
struct Call {
    wire: Wire,
    /// The path at the provider, after its base.
    path: &'static str,
    /// Whether it generates tokens.
    costs: bool,
}

type Received = (State<Arc<Llm>>, Extension<Life>, Request);

pub fn routes(llm: Arc<Llm>) -> Router {
    let at = |wire, path, costs| move |received: Received| answered(received, Call { wire, path, costs });
    Router::new()
        .route("/llm/anthropic/v1/messages", post(at(Wire::Anthropic, "/v1/messages", true)))
        .route(
            "/llm/anthropic/v1/messages/count_tokens",
            post(at(Wire::Anthropic, "/v1/messages/count_tokens", false)),
        )
        .route("/llm/openai/v1/chat/completions", post(at(Wire::OpenAi, "/chat/completions", true)))
        .route("/llm/openai/v1/responses", post(at(Wire::Responses, "/responses", true)))
        .route("/llm/openai/v1/models", get(at(Wire::OpenAi, "/models", false)))
        .route("/llm/{*other}", any(elsewhere))
        .with_state(llm)
}

async fn elsewhere() -> Refusal {
    let hint = "POST /llm/anthropic/v1/messages, POST /llm/anthropic/v1/messages/count_tokens, POST \
                /llm/openai/v1/chat/completions, POST /llm/openai/v1/responses, GET /llm/openai/v1/models";
    Refusal::new(404, "not_found_error", "nothing of this name is passed on", hint)
}

async fn answered((State(llm), Extension(Life(life)), request): Received, call: Call) -> Response {
    carried_out(&llm, life, request, call).await.unwrap_or_else(IntoResponse::into_response)
}

async fn carried_out(llm: &Arc<Llm>, life: u64, request: Request, call: Call) -> Result<Response, Refusal> {
    llm.providers.of(call.wire, "").ok_or_else(|| not_there(llm, call.wire))?;
    let (parts, body) = request.into_parts();
    let held = held(&parts.headers).await;
    let body = read(body).await?;
    let Asked { provider, judged, rate } = judged(llm, call, &parts.headers, &body)?;
    drop(body);
    let bill = Bill { rate, size: judged.size, like: llm.experience.of(&judged.model) };
    let entry = Entry {
        life,
        service: provider.label.clone(),
        method: parts.method.to_string(),
        path: call.path.to_owned(),
        bytes_out: judged.body.len() as u64,
        note: llm.handles.secrets.scrub(&judged.model),
        ..Entry::default()
    };
    let lowered = parts.headers.get("x-feral-class").is_some_and(|class| class == "autonomous");
    let reservation = reserved(llm, entry, lowered, &bill, &judged).await?;
    let head = if rate.is_free() { None } else { Head::of(&judged.body) };
    let sent = Sent {
        llm: llm.clone(),
        wire: call.wire,
        model: judged.model,
        bill,
        head,
        asks: call.costs,
        provider: provider.clone(),
    };
    let request = prepared(llm, &provider, call, parts.method, &parts.headers, judged.body);
    drop(held);
    let request = match request {
        Ok(request) => request,
        Err(refusal) => {
            reservation.settle(0, None, 0, "never left");
            return Err(refusal);
        }
    };
    // From here on the client may disconnect at any moment.
    let mut flow = Flow::new(reservation, sent, judged.is_stream);
    match again::sent(llm.handles.outward.client(&provider.base), request, provider.wire).await {
        Ok(answer) => answer::pass(flow, answer).await,
        Err(error) => Err(match flow.given_up() {
            Some((reservation, sent)) => no_answer(&error, reservation, &sent),
            None => not_there(llm, call.wire),
        }),
    }
}

/// Reserves a call. The refusal says what the price is based on, and how long a prompt would fit.
async fn reserved(
    llm: &Llm,
    entry: Entry,
    lowered: bool,
    bill: &Bill,
    judged: &Judged,
) -> Result<Reservation, Refusal> {
    let cost = bill.cost(llm.experience.cached_tokens(&judged.model, &judged.body));
    let guess = if bill.rate.is_free() { None } else { llm.prices.guess(&judged.model) };
    let guess = guess.map(|guess| llm.handles.secrets.scrub(&guess));
    guess.iter().for_each(|guess| llm.budget.tell_of_price(guess));
    llm.budget.reserve(entry, lowered, cost).await.map_err(|mut refusal| {
        if refusal.kind == "budget_cap" {
            let fits = || bill.fitting_tokens(llm.budget.room(lowered));
            refusal.fits_tokens = Some(refusal.fits_tokens.unwrap_or_else(fits));
            guess.iter().for_each(|guess| refusal.hint = format!("{guess}; {}", refusal.hint));
        }
        refusal
    })
}

/// Waits for room for the body; the permit holds it.
async fn held(headers: &HeaderMap) -> Option<tokio::sync::SemaphorePermit<'static>> {
    let bytes =
        headers.get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
    let bytes = bytes.unwrap_or(MOST_BODY_BYTES as u64).min(MOST_BODY_BYTES as u64);
    let mib = u32::try_from(bytes.div_ceil(1 << 20)).unwrap_or(MOST_HELD_MIB).clamp(1, MOST_HELD_MIB);
    HELD.acquire_many(mib).await.ok()
}

async fn read(body: Body) -> Result<Bytes, Refusal> {
    let most = MOST_BODY_BYTES;
    axum::body::to_bytes(body, most).await.map_err(|error| {
        let message = format!("the body could not be read, or is larger than {} MiB: {error}", most >> 20);
        Refusal::new(413, "request_too_large", message, "send less, and send it at once")
    })
}

/// A call, its provider and its price.
struct Asked {
    provider: Provider,
    judged: Judged,
    rate: Rate,
}

fn judged(llm: &Llm, call: Call, headers: &HeaderMap, body: &[u8]) -> Result<Asked, Refusal> {
    let of =
        |model: &str| llm.providers.of(call.wire, model).cloned().ok_or_else(|| not_there(llm, call.wire));
    if !call.costs && body.is_empty() {
        return Ok(Asked { provider: of("")?, judged: Judged::default(), rate: Rate::FREE });
    }
    let (mut model, mut fields) = match call.costs {
        true => request::parse(body)?,
        false => (String::new(), request::fields(body)?),
    };
    data::fetches_nothing(&fields)?;
    if let Some(Value::String(named)) = fields.get_mut("model") {
        *named = llm.providers.chosen().makers.meant(named.trim()).to_owned();
        model.clone_from(named);
    }
    let provider = of(&model)?;
    let instead = llm.providers.allowed_instead(&provider, &model);
    if !(model.is_empty() || instead.is_empty()) {
        return Err(not_allowed(&llm.handles.secrets.scrub(&model), &instead));
    }
    if !call.costs {
        return Ok(Asked { provider, judged: request::free(String::new(), &fields)?, rate: Rate::FREE });
    }
    let rate = llm.rate(&provider, &model);
    if rate.is_free() {
        return Ok(Asked { provider, judged: request::free(model, &fields)?, rate });
    }
    let betas = headers.get("anthropic-beta").filter(|_| call.wire == Wire::Anthropic);
    betas.map_or(Ok(()), |betas| allowed::betas(betas.to_str().unwrap_or("of no name")))?;
    let window = provider.window.or_else(|| llm.providers.chosen().makers.window(&model));
    let window = window.filter(|_| provider.takes_documents());
    let new_limit = provider.wants_new_limit() || llm.experience.wants_new_limit(provider.base.as_str());
    Ok(Asked { judged: request::judge(call.wire, model, fields, new_limit, window)?, provider, rate })
}

fn prepared(
    llm: &Llm,
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
    let key = provider.key_env.as_ref().and_then(|name| llm.handles.secrets.get(name));
    if let Some(key) = key {
        let (name, text) = match call.wire {
            Wire::Anthropic => (HeaderName::from_static("x-api-key"), key),
            Wire::OpenAi | Wire::Responses => (header::AUTHORIZATION, format!("Bearer {key}")),
        };
        let mut value = HeaderValue::from_str(&text).map_err(|_| {
            let hint = "the owner checks that the key was copied whole";
            Refusal::new(502, "key_unusable", "the provider's key has characters that fit no header", hint)
        })?;
        value.set_sensitive(true);
        headers.insert(name, value);
    }
    let url = provider.url(call.path);
    let request = llm.handles.outward.client(&provider.base).request(method.clone(), url);
    let request = if method == Method::GET { request } else { request.body(body) };
    request.headers(headers).timeout(LONGEST_CALL).build().map_err(|error| {
        let message = format!("no request can be made: {}", error.without_url());
        Refusal::new(502, "upstream_unreachable", message, "")
    })
}

/// The refusal when no answer came: a call that was not sent costs nothing; after a timeout its cost is unknown.
fn no_answer(error: &reqwest::Error, reservation: Reservation, sent: &Sent) -> Refusal {
    match (error.is_connect() || error.is_builder(), error.is_timeout()) {
        (true, _) => reservation.settle(0, None, 0, "no connection"),
        (_, true) => reservation.stands(0, None, 0, "stands: no answer in time"),
        _ => sent.unanswered(reservation, None, 0, "no answer"),
    }
    let why = format!("no answer: {}", deepest(error));
    sent.is_down(None, &why, None);
    let message = sent.llm.handles.secrets.scrub(&format!(
        "no answer from {}: {}",
        sent.provider.upstream(),
        deepest(error)
    ));
    let hint = "wait and ask again; the owner checks the network and base_url";
    Refusal::new(502, "upstream_unreachable", message, hint)
}

/// The innermost cause of an error, without the address, which may contain a password.
fn deepest(error: &reqwest::Error) -> String {
    let otherwise = if error.is_timeout() { "it took too long" } else { "it broke off" };
    net::causes(error).last().map_or_else(|| otherwise.to_owned(), ToString::to_string)
}

fn not_there(llm: &Llm, wire: Wire) -> Refusal {
    let message = match llm.providers.said() {
        Some(said) => said.to_owned(),
        None => format!("no provider of the {} wire is configured", wire.name()),
    };
    let hint = "GET /status says which model there is, if any; think by instinct";
    Refusal::new(404, "model_not_configured", message, hint)
}
