//! `/service` and `/post`: the routes by which a client uses services.

use super::call::{self, Asked};
use super::{Services, posts};
use crate::door::callers::Life;
use crate::door::finish::finished;
use axum::extract::{Extension, State};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use axum::{Json, Router};
use bytes::Bytes;
use serde_json::{Value, json};
use std::sync::Arc;

type Received = (State<Arc<Services>>, Extension<Life>, Bytes);

pub fn routes(services: Arc<Services>) -> Router {
    Router::new()
        .route("/service", post(execute).get(list))
        .route("/post", post(publish))
        .with_state(services)
}

async fn list(State(services): State<Arc<Services>>) -> Json<Value> {
    let waiting = services.approvals.asks.waiting();
    Json(json!({"services": services.listed(), "asks_waiting": waiting}))
}

async fn execute((State(services), Extension(Life(life)), body): Received) -> Response {
    match Asked::read(&body) {
        Ok(asked) => finished(call::run(services, life, asked)).await,
        Err(refusal) => refusal.into_response(),
    }
}

async fn publish((State(services), Extension(Life(life)), body): Received) -> Response {
    match posts::post::Asked::read(&body) {
        Ok(asked) => finished(posts::run(services, life, asked)).await,
        Err(refusal) => refusal.into_response(),
    }
}
