//! The door: accepts and bounds connections, identifies the caller, and passes each request on.
//!
//! Invariant: no client can hold a connection without sending, send more than its cap, or get an answer without a
//! token; no number of clients makes the broker hold more than a few large bodies. A request being answered keeps its
//! connection.

pub mod callers;
pub mod finish;
mod limit;
mod pace;

use crate::ground::refusal::Refusal;
use anyhow::Result;
use axum::Router;
use axum::body::Body;
use axum::extract::{DefaultBodyLimit, Request as Asked, State};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use callers::{Caller, Life, OF_CHANNELS, Tokens};
use http::{HeaderValue, Method, Request, header};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use limit::{Connection, Connections};
use pace::{LONGEST_BODY, Paced};
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::time::timeout;
use tower::ServiceExt;

/// Longest time for receiving a request's headers.
const HEAD: Duration = Duration::from_secs(10);
/// Largest accepted body, in bytes: a context of a million tokens fits.
pub const MOST_BODY_BYTES: usize = 32 << 20;
/// Bytes from which a body counts as large; a body of unstated length does too.
const LARGE: u64 = 1 << 20;
/// Most large bodies held at once.
const MOST_LARGE: usize = 8;
/// Most bytes buffered for a connection; no request's headers are longer.
const MOST_HELD_BYTES: usize = 128 << 10;
/// Longest time for running requests to end after the broker was asked to.
const GRACE: Duration = Duration::from_secs(5);

/// Answers proxy requests of known callers, whose token is in another header.
pub type Proxy =
    Arc<dyn Fn(Caller, Request<Incoming>) -> Pin<Box<dyn Future<Output = Response> + Send>> + Send + Sync>;

/// State shared by all connections.
#[derive(Clone)]
pub struct Door {
    tokens: Arc<Tokens>,
    router: Router,
    proxy: Proxy,
    large: Arc<Semaphore>,
}

impl Door {
    /// A door to these routes, for callers with a token only.
    pub fn new(tokens: Arc<Tokens>, routes: Router, proxy: Proxy) -> Self {
        let router = routes
            .layer(middleware::from_fn_with_state(tokens.clone(), known))
            .layer(DefaultBodyLimit::max(MOST_BODY_BYTES));
        Self { tokens, router, proxy, large: Arc::new(Semaphore::new(MOST_LARGE)) }
    }

    /// Serves until asked to end; running requests then get a moment. New connections wait in the backlog for the
    /// next broker.
    pub async fn serve_until(self, listener: TcpListener, told: impl Future<Output = ()>) {
        let connections = Connections::default();
        tokio::pin!(told);
        loop {
            let accepted = tokio::select! {
                () = &mut told => break,
                accepted = async {
                    connections.wait_for_place().await;
                    listener.accept().await
                } => accepted,
            };
            match accepted {
                Ok((stream, _)) => {
                    let connection = Connection::default();
                    let task = tokio::spawn(self.clone().converse(stream, connection.clone()));
                    connections.add(connection, task.abort_handle());
                }
                Err(error) => {
                    tracing::warn!("failed to accept a connection: {error}");
                    tokio::time::sleep(Duration::from_millis(50)).await;
                }
            }
        }
        connections.finish(GRACE).await;
    }

    async fn converse(self, stream: TcpStream, connection: Connection) {
        let service = service_fn(move |request: Request<Incoming>| {
            let (door, connection) = (self.clone(), connection.clone());
            async move { Ok::<_, Infallible>(door.answer(&connection, request).await) }
        });
        let served = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(HEAD)
            .max_buf_size(MOST_HELD_BYTES)
            .serve_connection(TokioIo::new(stream), service)
            .with_upgrades()
            .await;
        if let Err(error) = served {
            tracing::debug!("a connection broke: {error}");
        }
    }

    async fn answer(self, connection: &Connection, request: Request<Incoming>) -> Response {
        if request.method() == Method::CONNECT || request.uri().authority().is_some() {
            return self.passed(connection, request).await;
        }
        self.routed(connection, request).await.unwrap_or_else(IntoResponse::into_response)
    }

    /// Answers a request to the proxy; until it is answered its connection is kept.
    async fn passed(self, connection: &Connection, request: Request<Incoming>) -> Response {
        if let Some(caller) = self.tokens.proxy_caller(request.headers()) {
            let _kept = connection.takes_request();
            return (self.proxy)(caller, request).await;
        }
        let hint =
            "cargo takes it from CARGO_HTTP_PROXY, as http://life:TOKEN@HOST:PORT; each life has a new one";
        let mut response =
            Refusal::new(407, "token_unknown", "no token, or not this life's", hint).into_response();
        let basic = HeaderValue::from_static("Basic realm=\"feral\"");
        response.headers_mut().insert(header::PROXY_AUTHENTICATE, basic);
        response
    }

    async fn routed(self, connection: &Connection, request: Request<Incoming>) -> Result<Response, Refusal> {
        let length = pace::length(request.headers())?;
        if length.is_some_and(|length| length > MOST_BODY_BYTES as u64) {
            let message = format!("a body of more than {MOST_BODY_BYTES} bytes");
            return Err(Refusal::new(413, "too_large", message, "send less at once"));
        }
        let known = self.tokens.caller(request.headers()).is_some();
        let in_hand = known.then(|| connection.takes_request());
        let is_large = length.is_none_or(|length| length > LARGE);
        let place = match is_large && known {
            true => Some(timeout(LONGEST_BODY, self.large.acquire_owned()).await.map_err(|_| {
                Refusal::new(503, "busy", format!("{MOST_LARGE} large bodies are in hand"), "try again")
                    .after(5)
            })?),
            false => None,
        };
        let request = request.map(|body| Body::new(Paced::new(body)));
        let response = match self.router.oneshot(request).await {
            Ok(response) => response,
            Err(never) => match never {},
        };
        drop(place);
        // Its connection counts as busy until the body is sent.
        Ok(response.map(|body| {
            Body::new(body.map_frame(move |frame| {
                let _kept = &in_hand;
                frame
            }))
        }))
    }
}

/// Rejects requests without a known token; adds the caller's identity to the others.
async fn known(State(tokens): State<Arc<Tokens>>, mut request: Asked, next: Next) -> Response {
    let is_of_channels = request.uri().path() == OF_CHANNELS;
    match tokens.caller(request.headers()) {
        Some(Caller::Channels) if is_of_channels => next.run(request).await,
        Some(Caller::Channels) => {
            Refusal::new(403, "channels_send_only", "the channels may only reach their own places", "")
                .into_response()
        }
        Some(Caller::Life(_)) if is_of_channels => {
            let hint = "answer on the thread of a word; the owner's channels carry it";
            Refusal::new(403, "not_yours", "only the owner's channels may do this", hint).into_response()
        }
        Some(Caller::Life(life)) => {
            request.extensions_mut().insert(Life(life));
            next.run(request).await
        }
        Some(Caller::Build) => {
            Refusal::new(403, "builds_fetch_crates_only", "a build may only reach cargo's registries", "")
                .into_response()
        }
        None => {
            let hint = "send FERAL_BROKER_TOKEN as a bearer token; each life has a new one";
            Refusal::new(401, "token_unknown", "no token, or not this life's", hint).into_response()
        }
    }
}
