//! `/mcp/…`: the routes by which the creature sees and calls tools of MCP servers.

use super::call::{self, Asked};
use super::listing;
use crate::door::callers::Life;
use crate::door::finish::finished;
use crate::services::Services;
use axum::extract::{Extension, State};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use bytes::Bytes;
use serde_json::{Value, json};
use std::sync::Arc;

pub fn routes(services: Arc<Services>) -> Router {
    Router::new()
        .route("/mcp/servers", get(servers))
        .route("/mcp/describe", post(describe))
        .route("/mcp/call", post(execute))
        .with_state(services)
}

async fn servers(State(services): State<Arc<Services>>) -> Json<Value> {
    Json(json!({"ok": true, "servers": listing::servers(&services)}))
}

async fn describe(
    State(services): State<Arc<Services>>,
    Extension(Life(life)): Extension<Life>,
    body: Bytes,
) -> Response {
    match Asked::read(&body) {
        Ok(asked) => {
            Json(listing::described(&services, life, &asked.server, &asked.tool).await).into_response()
        }
        Err(refusal) => refusal.into_response(),
    }
}

async fn execute(
    State(services): State<Arc<Services>>,
    Extension(Life(life)): Extension<Life>,
    body: Bytes,
) -> Response {
    match Asked::read(&body) {
        Ok(asked) => finished(call::run(services, life, asked)).await,
        Err(refusal) => refusal.into_response(),
    }
}
