//! The door: accepts connections, bounds them, knows the caller, and shows each request to who answers it.
//!
//! Invariant: no client can hold a connection without sending, send more than its cap, or be answered without a token.

use crate::broker::Shared;
use crate::refusal::Refusal;
use crate::token::Caller;
use anyhow::{Context, Result};
use axum::extract::{DefaultBodyLimit, Request, State};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::{Json, Router, routing::get};
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;

/// Connections at once; more wait in the backlog.
const MOST_CONNECTIONS: usize = 256;
/// Longest a client may take for the head of a request.
const HEAD: Duration = Duration::from_secs(10);
/// Largest body taken, in bytes: a context of a million tokens fits.
const MOST_BODY_BYTES: usize = 32 << 20;

/// Everything the broker answers.
pub fn router(broker: Shared) -> Router {
    Router::new()
        .route("/status", get(status))
        .layer(middleware::from_fn_with_state(broker.clone(), known))
        .layer(DefaultBodyLimit::max(MOST_BODY_BYTES))
        .with_state(broker)
}

/// Lets those in who have a token; who they are goes with the request.
async fn known(State(broker): State<Shared>, mut request: Request, next: Next) -> Response {
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

async fn status(State(_broker): State<Shared>) -> Json<serde_json::Value> {
    Json(json!({"model": null, "services": []}))
}

/// Serves until the listener fails.
pub async fn serve(listener: TcpListener, broker: Shared) -> Result<()> {
    let room = Arc::new(Semaphore::new(MOST_CONNECTIONS));
    let router = router(broker);
    loop {
        let place = room.clone().acquire_owned().await.context("failed to find room for a connection")?;
        let (stream, _) = match listener.accept().await {
            Ok(accepted) => accepted,
            Err(error) => {
                tracing::warn!("failed to accept a connection: {error}");
                tokio::time::sleep(Duration::from_millis(50)).await;
                continue;
            }
        };
        let service = TowerToHyperService::new(router.clone());
        tokio::spawn(async move {
            let served = http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(HEAD)
                .serve_connection(TokioIo::new(stream), service)
                .with_upgrades()
                .await;
            if let Err(error) = served {
                tracing::debug!("a connection broke: {error}");
            }
            drop(place);
        });
    }
}
