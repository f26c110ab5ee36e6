//! Passes an answer back: a stream as it comes, else whole; without secrets, metered; and settles the call once.
//!
//! Invariant: every reservation that comes in here is settled once, however the answer ends.

use super::Wire;
use super::bill::Bill;
use super::experience::Head;
use super::health::{self, Down};
use super::meter::Meter;
use super::provider::Provider;
use super::scrub::Lines;
use crate::broker::{Broker, Shared};
use crate::ground::refusal::Refusal;
use crate::ledger::sums::Stopped;
use crate::money::budget::Reservation;
use crate::money::prices::Usage;
use crate::secrets::patterns;
use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use futures_util::stream;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use jiff::Timestamp;
use serde_json::Value;
use std::sync::Arc;
use std::time::Instant;

/// Bytes of an answer at most; the longest reply of any model is a fraction of it.
const LARGEST_ANSWER: usize = 32 << 20;
const LARGEST_ERROR: usize = 1 << 20;

/// Headers of the provider that a client can use.
const PASSED: [&str; 5] = ["content-type", "retry-after", "retry-after-ms", "request-id", "x-request-id"];
const PASSED_FAMILIES: [&str; 2] = ["anthropic-ratelimit-", "x-ratelimit-"];

/// What was asked of whom, as far as its bill goes.
pub struct Sent {
    pub wire: Wire,
    pub model: String,
    pub bill: Bill,
    /// How it begins, by which the next one is known to go on from it.
    pub head: Option<Head>,
    /// Whether it asks a model anything.
    pub asks: bool,
    pub provider: Provider,
}

impl Sent {
    /// The model answered.
    fn is_up(&self, broker: &Broker) {
        self.tell(broker, None);
    }

    /// It did not, and why: what is said is nobody's secret.
    pub fn is_down(&self, broker: &Broker, status: Option<u16>, error: &str, next_try: Option<Timestamp>) {
        let error = patterns::scrub(broker.scrub(error));
        self.tell(broker, Some(Down { status, error, next_try }));
    }

    fn tell(&self, broker: &Broker, down: Option<Down>) {
        if self.asks {
            let (model, upstream) = (broker.scrub(&self.model), self.provider.upstream());
            broker.budget.tell_of_model(&model, self.provider.name, &upstream, down);
        }
    }

    /// Settles a call by what its answer says, where that can be.
    fn by_usage(&self, broker: &Broker, reservation: Reservation, usage: &Usage, status: u16, bytes: u64) {
        broker.experience.answered(self.provider.base.as_str());
        if (200..300).contains(&status) {
            self.is_up(broker);
        }
        let (cost, is_beyond) = self.bill.by_usage(usage, bytes);
        let (prompt, reserved) = (usage.prompt(), self.bill.reserved_tokens());
        if !is_beyond {
            broker.experience.learn(&self.model, self.bill.like(usage), self.head.as_ref(), usage);
            let how = match prompt > reserved {
                true => format!("by usage, beyond what was reserved: {prompt} tokens in of {reserved}"),
                false => "by usage".to_owned(),
            };
            return reservation.settle(cost, Some(status), bytes, &how);
        }
        let claimed = format!(
            "by usage, held at what it can have cost: the answer claims {prompt} tokens in and {} out",
            usage.output
        );
        broker.budget.tell_of_price(&broker.scrub(&format!(
            "answers of {:?} claim more tokens than their calls can have cost, and are counted at what they can",
            self.model
        )));
        reservation.settle(cost, Some(status), bytes, &claimed);
    }

    /// Settles a call that no model has answered: it may have been read, once, until one answers again.
    pub fn unanswered(
        &self,
        broker: &Broker,
        reservation: Reservation,
        status: Option<u16>,
        bytes: u64,
        what: &str,
    ) {
        let input = self.bill.input().min(reservation.amount());
        match input > 0 && broker.experience.is_newly_silent(self.provider.base.as_str()) {
            true => reservation.settle(input, status, bytes, &format!("{what}: its prompt counts")),
            false => reservation.settle(0, status, bytes, &format!("{what}: a prompt counts already")),
        }
    }
}

pub async fn pass(mut flow: Flow, answer: reqwest::Response) -> Result<Response, Refusal> {
    let (broker, status) = (flow.broker.clone(), answer.status().as_u16());
    let mut headers = passed(&broker, answer.headers());
    // Errors name who said them, not us.
    let upstream = flow.sent.provider.upstream();
    if let Ok(upstream) = HeaderValue::from_str(&upstream) {
        headers.insert("x-feral-upstream", upstream);
    }
    if !(200..300).contains(&status)
        && let Some((reservation, sent)) = flow.given_up()
    {
        if !(300..400).contains(&status) {
            return Ok(error(&broker, answer, headers, reservation, &sent).await);
        }
        let named = health::named(status, b"");
        sent.is_down(&broker, Some(status), &format!("{named}, not followed"), None);
        reservation.settle(0, Some(status), 0, "redirected elsewhere");
        let message = format!("{upstream} redirects elsewhere, which is not followed");
        let hint = "the owner sets base_url to the final address";
        return Err(Refusal::new(502, "upstream_redirect", message, hint));
    }
    // What it is, not what was asked for, decides how it is read.
    let kind = headers.get("content-type").and_then(|kind| kind.to_str().ok());
    flow.is_stream = kind.map_or(flow.is_stream, |kind| kind.starts_with("text/event-stream"));
    flow.meter = Meter::new(flow.sent.wire, flow.is_stream);
    (flow.status, flow.answer) = (Some(status), Some(answer));
    if !flow.is_stream {
        let mut whole = Vec::new();
        while let Some(piece) = flow.next().await {
            let broken =
                |_| Refusal::new(502, "upstream_broken", BROKEN, "what it cost is counted; ask again");
            whole.extend_from_slice(&piece.map_err(broken)?);
        }
        return Ok(response(status, headers, Body::from(broker.scrub_bytes(whole))));
    }
    let body = Body::from_stream(stream::unfold(flow, |mut flow| async move {
        let piece = flow.next().await?;
        Some((piece.map(|piece| Bytes::from(flow.broker.scrub_bytes(piece))), flow))
    }));
    Ok(response(status, headers, body))
}

const BROKEN: &str = "the provider's answer broke off";

/// A call on its way, from when it is sent to the last byte of its answer. Dropped before its end, a stream is settled
/// at the prompt and a bound on what it wrote, and what nobody saw any of stands.
pub struct Flow {
    broker: Shared,
    answer: Option<reqwest::Response>,
    meter: Meter,
    lines: Lines,
    reservation: Option<Reservation>,
    sent: Arc<Sent>,
    is_stream: bool,
    began: Instant,
    status: Option<u16>,
    bytes: usize,
    /// The client did not wait for the end.
    is_left: bool,
}

impl Flow {
    pub fn new(broker: &Shared, reservation: Reservation, sent: Sent, is_stream: bool) -> Self {
        Self {
            broker: broker.clone(),
            answer: None,
            meter: Meter::new(sent.wire, is_stream),
            lines: Lines::default(),
            reservation: Some(reservation),
            sent: Arc::new(sent),
            is_stream,
            began: broker.clock.instant(),
            status: None,
            bytes: 0,
            is_left: false,
        }
    }

    /// The call to whoever settles it otherwise.
    pub fn given_up(&mut self) -> Option<(Reservation, Arc<Sent>)> {
        Some((self.reservation.take()?, self.sent.clone()))
    }

    /// The next whole lines.
    async fn next(&mut self) -> Option<Result<Vec<u8>, std::io::Error>> {
        loop {
            let read = self.answer.as_mut()?.chunk().await;
            match read {
                Ok(Some(piece)) => {
                    self.bytes += piece.len();
                    self.meter.feed(&piece);
                    match self.lines.push(&piece) {
                        Ok(_) if self.bytes > LARGEST_ANSWER => return Some(self.broke("stands: too large")),
                        Ok(lines) if lines.is_empty() => {}
                        Ok(lines) => return Some(Ok(lines)),
                        Err(_) => return Some(self.broke("stands: a line without an end")),
                    }
                }
                Ok(None) => {
                    self.answer = None;
                    self.settle(true, "stands: no usage in the answer");
                    let rest = self.lines.finish();
                    return (!rest.is_empty()).then_some(Ok(rest));
                }
                Err(_) => return Some(self.broke("stands: the answer broke off")),
            }
        }
    }

    fn broke(&mut self, why: &str) -> Result<Vec<u8>, std::io::Error> {
        self.answer = None;
        self.settle(false, why);
        Err(std::io::Error::other(BROKEN))
    }

    /// No whole answer came, and not because the client left.
    fn lost(&self) {
        let what = if self.meter.is_page() { "no model's answer, but a page" } else { BROKEN };
        if !self.is_left {
            let error = format!("{}: {what}", health::named(self.status.unwrap_or_default(), b""));
            self.sent.is_down(&self.broker, self.status, &error, None);
        }
    }

    fn settle(&mut self, is_ended: bool, otherwise: &str) {
        let Some(reservation) = self.reservation.take() else { return };
        let (broker, status, bytes) = (&self.broker, self.status, self.bytes as u64);
        if self.sent.bill.rate.is_free() {
            match is_ended && !self.meter.is_page() {
                true => self.sent.is_up(broker),
                false => self.lost(),
            }
            return reservation.settle(0, status, bytes, "free");
        }
        if let Some(usage) = self.meter.usage(is_ended) {
            return self.sent.by_usage(broker, reservation, &usage, status.unwrap_or_default(), bytes);
        }
        if self.is_left && self.is_stream {
            let (said, written) = self.meter.so_far();
            let cost = self.sent.bill.cut(said, written, self.began.elapsed().as_secs() + 1);
            return reservation.settle(
                cost,
                status,
                bytes,
                "cut: the client left; its prompt and what was written",
            );
        }
        // Where the client left, an answer may have been on its way.
        let is_none = (bytes == 0 && !self.is_left) || (is_ended && self.meter.is_page());
        match is_none {
            true => {
                self.lost();
                self.sent.unanswered(broker, reservation, status, bytes, "no model's answer");
            }
            false => {
                match is_ended {
                    true => self.sent.is_up(broker),
                    false => self.lost(),
                }
                broker.experience.answered(self.sent.provider.base.as_str());
                reservation.stands(status, bytes, otherwise);
            }
        }
    }
}

impl Drop for Flow {
    fn drop(&mut self) {
        self.is_left = true;
        self.settle(false, "stands: the client left");
    }
}

/// An error is read whole: it may say that asking again will not help, and its body may repeat the key.
async fn error(
    broker: &Shared,
    mut answer: reqwest::Response,
    headers: HeaderMap,
    reservation: Reservation,
    sent: &Sent,
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
    let mut meter = Meter::new(sent.wire, false);
    meter.feed(&body);
    let bytes = body.len() as u64;
    match meter.usage(true) {
        Some(usage) => sent.by_usage(broker, reservation, &usage, status, bytes),
        None => reservation.settle(0, Some(status), bytes, "refused upstream"),
    }
    if sent.wire == Wire::OpenAi {
        broker.experience.refused(sent.provider.base.as_str(), status, &body);
    }
    // A request that is not accepted says nothing of the model.
    if !matches!(status, 400 | 413 | 422) {
        let wait = headers.get("retry-after").and_then(|wait| wait.to_str().ok());
        let next_try = health::next_try(wait, broker.clock.now());
        sent.is_down(broker, Some(status), &health::named(status, &body), next_try);
    }
    if let Some(stopped) = stopped(&sent.provider, status, &body) {
        broker.budget.stop(stopped).await;
    }
    response(status, headers, Body::from(broker.scrub_bytes(body)))
}

/// Whether the owner must act first; some say so with another status than the usual ones. A page for people is no word of
/// the provider's: it is a portal's or a proxy's, and passes.
fn stopped(provider: &Provider, status: u16, body: &[u8]) -> Option<Stopped> {
    if body.trim_ascii_start().starts_with(b"<") {
        return None;
    }
    let said: Value = serde_json::from_slice(body).unwrap_or_default();
    let word = |path: &str| said.pointer(path).and_then(Value::as_str).unwrap_or_default();
    let has_no_money = matches!(word("/error/code"), "insufficient_quota" | "billing_hard_limit_reached")
        || (provider.wire == Wire::Anthropic && word("/error/message").contains("credit balance is too low"));
    let hint = match status {
        402 => {
            "no money or quota is left (402): top up the account, then save owner.toml or restart the guardian"
        }
        _ if has_no_money => {
            "no money or quota is left: top up the account, then save owner.toml or restart the guardian"
        }
        401 => "the key is refused (401): put a right one into .env",
        403 => "the key may not do this (403): check its rights and the model, then save .env or owner.toml",
        _ => return None,
    };
    Some(Stopped { provider: provider.label.clone(), status, hint: hint.to_owned(), ..Stopped::default() })
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
