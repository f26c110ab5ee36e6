//! Completes the work of a request even if the client disconnects meanwhile.

use crate::ground::refusal::Refusal;
use crate::ledger::Closed;
use axum::Json;
use axum::response::{IntoResponse, Response};
use serde_json::Value;

/// The envelope that the work returns, or the reason why there is none.
pub async fn finished(work: impl Future<Output = Result<Value, Closed>> + Send + 'static) -> Response {
    match tokio::spawn(work).await {
        Ok(Ok(envelope)) => Json(envelope).into_response(),
        Ok(Err(closed)) => {
            tracing::error!("the ledger is closed: {}", closed.0);
            closed.into_response()
        }
        Err(_) => Refusal::new(500, "broken", "the broker failed inside", "try again later").into_response(),
    }
}
