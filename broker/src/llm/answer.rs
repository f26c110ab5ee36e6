//! Passes an answer back (a stream as it comes, else whole), scrubbed and metered, and settles the call once.
//!
//! Invariant: every reservation handed over to this file is settled once, however the answer ends.

use super::Llm;
use super::again::LARGEST_ERROR;
use super::meter::Meter;
use super::scrub::Lines;
use super::sent::Sent;
use super::wire::Wire;
use crate::ground::refusal::Refusal;
use crate::ground::wait;
use crate::health::meaning::{self, Meaning};
use crate::money::budget::Reservation;
use crate::net;
use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use futures_util::stream;
use http::header::RETRY_AFTER;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use std::sync::Arc;
use std::time::Instant;

/// Most bytes of an answer; any model's longest reply is a fraction of it.
const LARGEST_ANSWER: usize = 32 << 20;

/// Headers of the provider that are passed on to the client.
const PASSED: [&str; 5] = ["content-type", "retry-after", "retry-after-ms", "request-id", "x-request-id"];
const PASSED_FAMILIES: [&str; 2] = ["anthropic-ratelimit-", "x-ratelimit-"];

pub async fn pass(mut flow: Flow, answer: reqwest::Response) -> Result<Response, Refusal> {
    let (llm, status) = (flow.sent.llm.clone(), answer.status().as_u16());
    let mut headers = passed(&llm, answer.headers());
    // Errors name the provider as their source, not the broker.
    let upstream = flow.sent.provider.upstream();
    if let Ok(upstream) = HeaderValue::from_str(&upstream) {
        headers.insert("x-feral-upstream", upstream);
    }
    if !(200..300).contains(&status)
        && let Some((reservation, sent)) = flow.given_up()
    {
        if !(300..400).contains(&status) {
            return Ok(error(answer, headers, reservation, &sent).await);
        }
        let named = meaning::named(status, b"");
        sent.is_down(Some(status), &format!("{named}, not followed"), None);
        reservation.settle(0, Some(status), 0, "redirected elsewhere");
        let message = format!("{upstream} redirects elsewhere, which is not followed");
        let hint = "the owner sets base_url to the final address";
        return Err(Refusal::new(502, "upstream_redirect", message, hint));
    }
    // The answer's own type decides how it is passed on, and its bytes how it is read, not the request.
    let kind = headers.get("content-type").and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let is_called = |name: &str| kind.get(..name.len()).is_some_and(|kind| kind.eq_ignore_ascii_case(name));
    flow.is_stream = is_called("text/event-stream")
        || (flow.is_stream && !is_called("application/json") && !is_called("text/html"));
    flow.meter = Meter::new(flow.sent.wire, flow.is_stream);
    (flow.status, flow.answer) = (Some(status), Some(answer));
    if !flow.is_stream {
        let mut whole = Vec::new();
        while let Some(piece) = flow.next().await {
            let broken =
                |_| Refusal::new(502, "upstream_broken", BROKEN, "what it cost is counted; ask again");
            whole.extend_from_slice(&piece.map_err(broken)?);
        }
        return Ok(response(status, headers, Body::from(llm.handles.secrets.scrub_bytes(whole))));
    }
    let body = Body::from_stream(stream::unfold(flow, |mut flow| async move {
        let piece = flow.next().await?;
        Some((piece.map(|piece| Bytes::from(flow.sent.llm.handles.secrets.scrub_bytes(piece))), flow))
    }));
    Ok(response(status, headers, body))
}

const BROKEN: &str = "the provider's answer broke off";

/// A call from when it is sent to the last byte of its answer. Dropped earlier, a stream is settled at its prompt and
/// a bound on what was written; for any other call the reservation stands.
pub struct Flow {
    answer: Option<reqwest::Response>,
    meter: Meter,
    lines: Lines,
    reservation: Option<Reservation>,
    sent: Arc<Sent>,
    is_stream: bool,
    began: Instant,
    status: Option<u16>,
    bytes: usize,
    /// Whether the client disconnected before the end.
    is_left: bool,
}

impl Flow {
    pub fn new(reservation: Reservation, sent: Sent, is_stream: bool) -> Self {
        Self {
            answer: None,
            meter: Meter::new(sent.wire, is_stream),
            lines: Lines::default(),
            reservation: Some(reservation),
            is_stream,
            began: sent.llm.handles.clock.instant(),
            sent: Arc::new(sent),
            status: None,
            bytes: 0,
            is_left: false,
        }
    }

    /// Hands the call over to the caller, who settles it.
    pub fn given_up(&mut self) -> Option<(Reservation, Arc<Sent>)> {
        Some((self.reservation.take()?, self.sent.clone()))
    }

    /// The next complete lines.
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

    /// Notes that the model did not answer completely: it said why, or the client did not disconnect.
    fn lost(&self) {
        if let Some(failure) = self.meter.failure() {
            let wait_s = wait::asked_s(&HeaderMap::new(), &failure.body, self.sent.llm.handles.clock.now());
            return failed(&self.sent, failure.status, &failure.body, wait_s);
        }
        let what = if self.meter.is_none() { "no model's answer" } else { BROKEN };
        if !self.is_left {
            let error = format!("{}: {what}", meaning::named(self.status.unwrap_or_default(), b""));
            self.sent.is_down(self.status, &error, None);
        }
    }

    fn settle(&mut self, is_ended: bool, otherwise: &str) {
        let Some(reservation) = self.reservation.take() else { return };
        let (sent, status, bytes) = (&self.sent, self.status, self.bytes as u64);
        let usage = self.meter.usage(is_ended);
        let is_none = self.meter.is_none();
        let (has_failed, has_words) = (self.meter.failure().is_some(), self.meter.has_words());
        match !has_failed && (usage.is_some() || is_ended && !is_none) {
            true => sent.is_up(),
            false => self.lost(),
        }
        if sent.bill.rate.is_free() {
            return reservation.settle(0, status, bytes, "free");
        }
        if let Some(usage) = usage {
            return sent.by_usage(reservation, &usage, status.unwrap_or_default(), bytes);
        }
        let (said, written) = self.meter.so_far();
        if has_failed && !has_words {
            return sent.failed(reservation, said, status, bytes);
        }
        let cut = sent.bill.cut(said, written, self.began.elapsed().as_secs() + 1);
        if self.is_left && self.is_stream {
            let how = "cut: the client left; its prompt and what was written";
            return reservation.settle(cut, status, bytes, how);
        }
        // If the client disconnected, an answer may have been on its way.
        if (bytes == 0 && !self.is_left) || (is_ended && is_none) {
            return sent.unanswered(reservation, status, bytes, "no model's answer");
        }
        sent.llm.budget.health().answered(sent.provider.base.as_str());
        reservation.stands(cut, status, bytes, otherwise);
    }
}

impl Drop for Flow {
    fn drop(&mut self) {
        self.is_left = true;
        self.settle(false, "stands: the client left");
    }
}

/// Passes on an error, which is read whole: it may say that asking again will not help, and may repeat the key.
async fn error(
    mut answer: reqwest::Response,
    mut headers: HeaderMap,
    reservation: Reservation,
    sent: &Sent,
) -> Response {
    let (llm, status) = (&sent.llm, answer.status().as_u16());
    let mut body = Vec::new();
    let _ = net::read_most(&mut answer, LARGEST_ERROR, &mut body).await;
    let said = std::mem::take(answer.headers_mut());
    drop(answer);
    let mut meter = Meter::new(sent.wire, false);
    meter.feed(&body);
    let bytes = body.len() as u64;
    match meter.usage(true) {
        Some(usage) => sent.by_usage(reservation, &usage, status, bytes),
        None => reservation.settle(0, Some(status), bytes, "refused upstream"),
    }
    if sent.wire == Wire::OpenAi {
        llm.experience.refused(sent.provider.base.as_str(), status, &body);
    }
    let wait_s = wait::asked_s(&said, &body, llm.handles.clock.now());
    // In the form that every client knows.
    if let Some(wait_s) = wait_s {
        headers.insert(RETRY_AFTER, HeaderValue::from(wait_s));
    }
    failed(sent, status, &body, wait_s);
    response(status, headers, Body::from(llm.handles.secrets.scrub_bytes(body)))
}

/// Notes what an error says of the model and its provider, told with its own status or inside a 200.
fn failed(sent: &Sent, status: u16, body: &[u8], wait_s: Option<u64>) {
    let meaning = Meaning::of(sent.provider.wire == Wire::Anthropic, status, body);
    if meaning != Meaning::Request {
        let next_try = wait::next_try(wait_s, sent.llm.handles.clock.now());
        sent.is_down(Some(status), &meaning::named(status, body), next_try);
    }
    if let Some(hint) = meaning.hint() {
        sent.llm.budget.stop(meaning::stop(&sent.provider.label, status, hint));
    }
}

fn passed(llm: &Llm, headers: &HeaderMap) -> HeaderMap {
    let is_passed = |name: &HeaderName| {
        PASSED.contains(&name.as_str())
            || PASSED_FAMILIES.iter().any(|family| name.as_str().starts_with(family))
    };
    let clean =
        |value: &HeaderValue| HeaderValue::from_str(&llm.handles.secrets.scrub(value.to_str().ok()?)).ok();
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
