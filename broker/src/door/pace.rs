//! Between a connection and the router: proxy requests go their own way, bodies come at a pace, few large ones at once.
//!
//! Invariant: a request in hand keeps its connection.
//! Invariant: no client can make the broker hold more than a few large bodies, or wait long for the rest of one.

use crate::broker::Shared;
use crate::cargo;
use crate::door::MOST_BODY_BYTES;
use crate::door::limit::{Held, Seat};
use crate::ground::refusal::Refusal;
use axum::Router;
use axum::body::Body;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use http::{HeaderMap, Method, Request, header};
use hyper::body::{Frame, Incoming, SizeHint};
use hyper::service::{Service, service_fn};
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::sync::Semaphore;
use tokio::time::{Sleep, timeout};
use tower::ServiceExt;

/// Longest a body may take to come in. It comes from this machine.
const BODY: Duration = Duration::from_secs(20);
/// Bytes; a body that is longer, or does not say how long it is, is a large one.
const LARGE: u64 = 1 << 20;
/// Large bodies in hand at once.
const MOST_LARGE: usize = 8;

/// What all connections share.
#[derive(Clone)]
pub struct Front {
    broker: Shared,
    router: Router,
    large: Arc<Semaphore>,
}

impl Front {
    pub fn new(broker: Shared, router: Router) -> Self {
        Self { broker, router, large: Arc::new(Semaphore::new(MOST_LARGE)) }
    }

    /// What answers the requests of one connection.
    pub fn for_one(
        &self,
        seat: Seat,
    ) -> impl Service<Request<Incoming>, Response = Response, Error = Infallible, Future: Send> + use<> {
        let front = self.clone();
        service_fn(move |request: Request<Incoming>| {
            let (front, seat) = (front.clone(), seat.clone());
            async move {
                if request.method() == Method::CONNECT || request.uri().authority().is_some() {
                    return Ok(cargo::proxy(front.broker, request).await);
                }
                Ok(front.answer(&seat, request).await.unwrap_or_else(IntoResponse::into_response))
            }
        })
    }

    async fn answer(self, seat: &Seat, request: Request<Incoming>) -> Result<Response, Refusal> {
        let length = length(request.headers())?;
        if length.is_some_and(|length| length > MOST_BODY_BYTES as u64) {
            let message = format!("a body of more than {MOST_BODY_BYTES} bytes");
            return Err(Refusal::new(413, "too_large", message, "send less at once"));
        }
        let known = self.broker.tokens.caller(request.headers()).is_some();
        let held = known.then(|| seat.hold());
        let is_large = length.is_none_or(|length| length > LARGE);
        let place = match is_large && known {
            true => Some(timeout(BODY, self.large.acquire_owned()).await.map_err(|_| {
                Refusal::new(503, "busy", format!("{MOST_LARGE} large bodies are in hand"), "try again")
                    .after(5)
            })?),
            false => None,
        };
        let request = request.map(|body| Body::new(Paced { body, rest: Box::pin(tokio::time::sleep(BODY)) }));
        let response = match self.router.oneshot(request).await {
            Ok(response) => response,
            Err(never) => match never {},
        };
        drop(place);
        Ok(response.map(|body| Body::new(Kept { body, _held: held })))
    }
}

/// Bytes of the body; `None` where it does not say. Both ways of saying it at once are an attempt to be read twice.
fn length(headers: &HeaderMap) -> Result<Option<u64>, Refusal> {
    let said = headers.get(header::CONTENT_LENGTH).map(|value| value.to_str().ok()?.parse::<u64>().ok());
    match (headers.contains_key(header::TRANSFER_ENCODING), said) {
        (true, Some(_)) | (false, Some(None)) => {
            let hint = "send either content-length or transfer-encoding";
            Err(Refusal::new(400, "bad_length", "the length of the body is not clear", hint))
        }
        (true, None) => Ok(None),
        (false, Some(length)) => Ok(length),
        (false, None) => Ok(Some(0)),
    }
}

/// A request's body that ends in an error where it takes too long.
struct Paced {
    body: Incoming,
    rest: Pin<Box<Sleep>>,
}

impl hyper::body::Body for Paced {
    type Data = Bytes;
    type Error = axum::BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        if self.rest.as_mut().poll(context).is_ready() {
            return Poll::Ready(Some(Err(format!("the body took longer than {} s", BODY.as_secs()).into())));
        }
        Pin::new(&mut self.body).poll_frame(context).map_err(Into::into)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// A response's body; its connection counts as busy until it is sent.
struct Kept {
    body: Body,
    _held: Option<Held>,
}

impl hyper::body::Body for Kept {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
