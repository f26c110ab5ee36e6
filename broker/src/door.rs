//! The door: accepts connections, bounds them, knows the caller, and shows each request to who answers it.
//!
//! Invariant: no client can hold a connection without sending, send more than its cap, or be answered without a token.

pub mod callers;
pub mod limit;
pub mod pace;

use crate::broker::Shared;
use crate::door::callers::Caller;
use crate::door::limit::{Room, Seat};
use crate::door::pace::Front;
use crate::ground::refusal::Refusal;
use anyhow::Result;
use axum::extract::{DefaultBodyLimit, Request as Asked, State};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json, Router, routing::get};
use http::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::Service;
use hyper_util::rt::{TokioIo, TokioTimer};
use serde_json::{Value, json};
use std::convert::Infallible;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};

/// Longest a client may take for the head of a request.
const HEAD: Duration = Duration::from_secs(10);
/// Largest body taken, in bytes: a context of a million tokens fits.
pub const MOST_BODY_BYTES: usize = 32 << 20;

/// Bytes of a connection held between the system and us: no head is longer.
const MOST_HELD_BYTES: usize = 128 << 10;
/// Longest that requests in hand may take to end when the broker is told to.
const PARTING: Duration = Duration::from_secs(5);

/// Everything the broker answers.
pub fn router(broker: Shared) -> Router {
    Router::new()
        .route("/status", get(status))
        .merge(crate::services::routes())
        .merge(crate::services::janee::routes())
        .merge(crate::approvals::purpose::routes())
        .merge(crate::services::mcp::routes())
        .merge(crate::llm::routes())
        .merge(crate::web::routes())
        .layer(middleware::from_fn_with_state(broker.clone(), known))
        .layer(DefaultBodyLimit::max(MOST_BODY_BYTES))
        .with_state(broker)
}

/// Lets those in who have a token; who they are goes with the request.
async fn known(State(broker): State<Shared>, mut request: Asked, next: Next) -> Response {
    match broker.tokens.caller(request.headers()) {
        Some(Caller::Life(life)) => {
            request.extensions_mut().insert(Life(life));
            next.run(request).await
        }
        Some(Caller::Build) => {
            Refusal::new(403, "builds_fetch_crates_only", "a build may only reach cargo's registries", "")
                .into_response()
        }
        None => Refusal::new(
            401,
            "token_unknown",
            "no token, or not this life's",
            "send FERAL_BROKER_TOKEN as a bearer token; each life has a new one",
        )
        .into_response(),
    }
}

/// The life a request comes from.
#[derive(Clone, Copy, Debug)]
pub struct Life(pub u64);

async fn status(State(broker): State<Shared>, Extension(Life(life)): Extension<Life>) -> Json<Value> {
    Json(json!({
        "model": broker.providers.status(|name| broker.key(name), |provider, model| broker.money_of(provider, model)).await,
        "budget": broker.budget.view(),
        "services": crate::services::listed(&broker),
        "tainted": broker.taint.is_tainted(life),
        "asks_waiting": broker.services.asks.waiting(),
        "janee": broker.policy.janee.is_some(),
    }))
}

/// Serves until the listener fails.
pub async fn serve(listener: TcpListener, broker: Shared) -> Result<()> {
    serve_until(listener, broker, std::future::pending()).await
}

/// Serves until told to end; requests in hand then have a moment left. What comes meanwhile waits in the backlog.
pub async fn serve_until(
    listener: TcpListener,
    broker: Shared,
    told: impl Future<Output = ()>,
) -> Result<()> {
    broker.pages.never(listener.local_addr()?.port());
    let front = Front::new(broker.clone(), router(broker.clone()));
    let room = Room::default();
    // Ends with the serving.
    let mut watching = tokio::task::JoinSet::new();
    watching.spawn(crate::approvals::answers::watch(broker.clone()));
    tokio::pin!(told);
    loop {
        let accepted = tokio::select! {
            () = &mut told => break,
            accepted = async {
                room.make_place().await;
                listener.accept().await
            } => accepted,
        };
        match accepted {
            Ok((stream, _)) => {
                let seat = Seat::default();
                let task = tokio::spawn(converse(stream, front.for_one(seat.clone())));
                room.sit(seat, task.abort_handle());
            }
            Err(error) => {
                tracing::warn!("failed to accept a connection: {error}");
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        }
    }
    room.empty(PARTING).await;
    crate::services::janee::farewell(&broker).await;
    Ok(())
}

async fn converse<S>(stream: TcpStream, service: S)
where
    S: Service<Request<Incoming>, Response = Response, Error = Infallible, Future: Send>,
{
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
