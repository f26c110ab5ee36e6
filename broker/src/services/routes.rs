//! `/service`, `/post` and `/janee`: the routes by which a client uses services.

use super::call::{self, Asked};
use super::{Services, janee, over_mcp, posts};
use crate::door::callers::Life;
use crate::door::finish::finished;
use axum::extract::{Extension, State};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use bytes::Bytes;
use serde_json::{Value, json};
use std::sync::Arc;

type Received = (State<Arc<Services>>, Extension<Life>, Bytes);

pub fn routes(services: Arc<Services>) -> Router {
    Router::new()
        .route("/service", post(|received: Received| execute(received, false)).get(list))
        .route("/post", post(publish))
        .route("/janee/services", get(of_janee))
        .route("/janee/execute", post(|received: Received| execute(received, true)))
        .route("/mcp", post(over_mcp::message))
        .with_state(services)
}

async fn list(State(services): State<Arc<Services>>) -> Json<Value> {
    let waiting = services.approvals.asks.waiting();
    Json(json!({"services": services.listed(), "asks_waiting": waiting}))
}

async fn execute((State(services), Extension(Life(life)), body): Received, by_janee: bool) -> Response {
    match Asked::read(&body) {
        Ok(asked) => finished(call::run(services, life, asked, by_janee)).await,
        Err(refusal) => refusal.into_response(),
    }
}

async fn publish((State(services), Extension(Life(life)), body): Received) -> Response {
    match posts::post::Asked::read(&body) {
        Ok(asked) => finished(posts::run(services, life, asked)).await,
        Err(refusal) => refusal.into_response(),
    }
}

async fn of_janee(State(services): State<Arc<Services>>, Extension(Life(life)): Extension<Life>) -> Response {
    finished(janee::list(services, life)).await
}
