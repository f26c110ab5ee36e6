//! Passes an answer back: its body as it comes, without secrets, metered; and settles the call when it is over.
//!
//! Invariant: every reservation that comes in here is settled once, however the answer ends.

use super::Wire;
use super::meter::Meter;
use super::provider::Provider;
use super::scrub::Scrubber;
use crate::broker::{Broker, Shared};
use crate::budget::Reservation;
use crate::ledger::sums::Stopped;
use crate::prices::Rate;
use crate::refusal::Refusal;
use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use futures_util::stream;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use serde_json::Value;

/// Bytes of an answer at most; the longest reply of any model is a fraction of it.
const LARGEST_ANSWER: u64 = 64 << 20;
const LARGEST_ERROR: usize = 1 << 20;

/// Headers of the provider that a client can use.
const PASSED: [&str; 5] = ["content-type", "retry-after", "retry-after-ms", "request-id", "x-request-id"];
const PASSED_FAMILIES: [&str; 2] = ["anthropic-ratelimit-", "x-ratelimit-"];

pub async fn pass(
    broker: &Shared,
    provider: &Provider,
    answer: reqwest::Response,
    asked_stream: bool,
    reservation: Reservation,
    rate: Rate,
) -> Result<Response, Refusal> {
    let status = answer.status().as_u16();
    let headers = passed(broker, answer.headers());
    if (300..400).contains(&status) {
        reservation.settle(0, Some(status), 0, "redirected elsewhere");
        let message = format!("{} redirects elsewhere, which is not followed", provider.name);
        return Err(Refusal::new(
            502,
            "upstream_redirect",
            message,
            "the owner sets base_url to the final address",
        ));
    }
    if !(200..300).contains(&status) {
        return Ok(error(broker, provider, answer, headers, reservation, rate).await);
    }
    // What it is, not what was asked for, decides how it is read.
    let kind = headers.get("content-type").and_then(|kind| kind.to_str().ok());
    let is_stream = kind.map_or(asked_stream, |kind| kind.starts_with("text/event-stream"));
    let flow = Flow {
        meter: Meter::new(provider.wire, is_stream),
        scrubber: broker.scrubber(),
        reservation: Some(reservation),
        answer: Some(answer),
        rate,
        status,
        bytes: 0,
    };
    let body = Body::from_stream(stream::unfold(flow, |mut flow| async move {
        let piece = flow.next().await?;
        Some((piece, flow))
    }));
    Ok(response(status, headers, body))
}

/// A body on its way. Dropped before its end, its reservation stands, unless all that counts has passed.
struct Flow {
    answer: Option<reqwest::Response>,
    meter: Meter,
    scrubber: Scrubber,
    reservation: Option<Reservation>,
    rate: Rate,
    status: u16,
    bytes: u64,
}

impl Flow {
    async fn next(&mut self) -> Option<Result<Bytes, std::io::Error>> {
        loop {
            let read = self.answer.as_mut()?.chunk().await;
            match read {
                Ok(Some(piece)) => {
                    self.bytes += piece.len() as u64;
                    if self.bytes > LARGEST_ANSWER {
                        return Some(self.broke("stands: the answer was too large"));
                    }
                    self.meter.feed(&piece);
                    let clean = self.scrubber.push(&piece);
                    if !clean.is_empty() {
                        return Some(Ok(clean.into()));
                    }
                }
                Ok(None) => {
                    self.answer = None;
                    self.settle(true, "stands: no usage in the answer");
                    let rest = self.scrubber.finish();
                    return (!rest.is_empty()).then(|| Ok(rest.into()));
                }
                Err(_) => return Some(self.broke("stands: the answer broke off")),
            }
        }
    }

    fn broke(&mut self, why: &str) -> Result<Bytes, std::io::Error> {
        self.answer = None;
        self.settle(false, why);
        Err(std::io::Error::other("the provider's answer broke off"))
    }

    fn settle(&mut self, is_ended: bool, otherwise: &str) {
        let Some(reservation) = self.reservation.take() else { return };
        if self.rate.is_free() {
            return reservation.settle(0, Some(self.status), self.bytes, "free");
        }
        match self.meter.usage(is_ended) {
            Some(usage) => {
                reservation.settle(self.rate.cost(&usage), Some(self.status), self.bytes, "by usage");
            }
            None => reservation.stands(Some(self.status), self.bytes, otherwise),
        }
    }
}

impl Drop for Flow {
    fn drop(&mut self) {
        self.settle(false, "stands: the client left");
    }
}

/// An error is read whole: it may say that asking again will not help, and its body may repeat the key.
async fn error(
    broker: &Shared,
    provider: &Provider,
    mut answer: reqwest::Response,
    headers: HeaderMap,
    reservation: Reservation,
    rate: Rate,
) -> Response {
    let status = answer.status().as_u16();
    let mut body = Vec::new();
    while let Ok(Some(piece)) = answer.chunk().await {
        body.extend_from_slice(&piece);
        if body.len() > LARGEST_ERROR {
            body.truncate(LARGEST_ERROR);
            break;
        }
    }
    drop(answer);
    let mut meter = Meter::new(provider.wire, false);
    meter.feed(&body);
    let bytes = body.len() as u64;
    match meter.usage(true) {
        Some(usage) => reservation.settle(rate.cost(&usage), Some(status), bytes, "by usage"),
        None => reservation.settle(0, Some(status), bytes, "refused upstream"),
    }
    if let Some(stopped) = stopped(provider, status, &body) {
        broker.budget.stop(stopped).await;
    }
    let mut scrubber = broker.scrubber();
    let mut clean = scrubber.push(&body);
    clean.extend(scrubber.finish());
    response(status, headers, Body::from(clean))
}

/// Whether the owner must act first; some say so with another status than the usual ones.
fn stopped(provider: &Provider, status: u16, body: &[u8]) -> Option<Stopped> {
    let said: Value = serde_json::from_slice(body).unwrap_or_default();
    let word = |path: &str| said.pointer(path).and_then(Value::as_str).unwrap_or_default();
    let has_no_money = matches!(word("/error/code"), "insufficient_quota" | "billing_hard_limit_reached")
        || (provider.wire == Wire::Anthropic && word("/error/message").contains("credit balance is too low"));
    let hint = match status {
        402 => "no money or quota left: the owner tops up the account, then restarts the guardian",
        _ if has_no_money => {
            "no money or quota left: the owner tops up the account, then restarts the guardian"
        }
        401 => "the key is refused: the owner checks the key and restarts the guardian",
        403 => {
            "the key may not do this: the owner checks its rights and the model, and restarts the guardian"
        }
        _ => return None,
    };
    Some(Stopped { provider: provider.name.to_owned(), status, hint: hint.to_owned(), ..Stopped::default() })
}

fn passed(broker: &Broker, headers: &HeaderMap) -> HeaderMap {
    let is_passed = |name: &HeaderName| {
        PASSED.contains(&name.as_str())
            || PASSED_FAMILIES.iter().any(|family| name.as_str().starts_with(family))
    };
    let clean = |value: &HeaderValue| HeaderValue::from_str(&broker.scrub(value.to_str().ok()?)).ok();
    headers
        .iter()
        .filter(|(name, _)| is_passed(name))
        .filter_map(|(name, value)| Some((name.clone(), clean(value)?)))
        .collect()
}

fn response(status: u16, headers: HeaderMap, body: Body) -> Response {
    let mut response = Response::new(body);
    *response.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::BAD_GATEWAY);
    *response.headers_mut() = headers;
    response
}
