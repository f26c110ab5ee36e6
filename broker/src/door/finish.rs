//! Completes the work of a request even if the client disconnects meanwhile; the work may notice that.

use crate::ground::refusal::Refusal;
use crate::ledger::Closed;
use axum::Json;
use axum::response::{IntoResponse, Response};
use serde_json::Value;
use tokio::sync::watch;

tokio::task_local! {
    /// Closes when the client is gone.
    static CLIENT: watch::Receiver<()>;
}

/// Waits until the client that the work at hand is for is gone: for ever where it is for none.
pub async fn client_gone() {
    match CLIENT.try_with(watch::Receiver::clone) {
        Ok(mut client) => while client.changed().await.is_ok() {},
        Err(_) => std::future::pending().await,
    }
}

/// The envelope that the work returns, or the reason why there is none.
pub async fn finished(work: impl Future<Output = Result<Value, Closed>> + Send + 'static) -> Response {
    // Dropped with this future when the client disconnects.
    let (_here, client) = watch::channel(());
    match tokio::spawn(CLIENT.scope(client, work)).await {
        Ok(Ok(envelope)) => Json(envelope).into_response(),
        Ok(Err(closed)) => {
            tracing::error!("the ledger is closed: {}", closed.0);
            closed.into_response()
        }
        Err(_) => Refusal::new(500, "broken", "the broker failed inside", "try again later").into_response(),
    }
}
