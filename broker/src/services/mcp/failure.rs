//! Failures of a session with an MCP server in plain words.

use crate::net;
use rmcp::service::{ClientInitializeError, ServiceError};
use rmcp::transport::DynamicTransportError;
use rmcp::transport::streamable_http_client::StreamableHttpError;

/// Why no session was opened.
pub fn of_opening(error: &ClientInitializeError) -> String {
    if let ClientInitializeError::TransportError { error, .. } = error {
        return of_transport(error);
    }
    if let ClientInitializeError::LegacyFallbackFailed { fallback, .. } = error {
        return of_opening(fallback);
    }
    if matches!(error, ClientInitializeError::ConnectionClosed(_)) {
        return "it ended before it answered".to_owned();
    }
    error.to_string()
}

/// Why a call was lost.
pub fn of_call(error: &ServiceError) -> String {
    if let ServiceError::TransportSend(error) = error { of_transport(error) } else { error.to_string() }
}

fn of_transport(error: &DynamicTransportError) -> String {
    match error.error.downcast_ref::<StreamableHttpError<reqwest::Error>>() {
        Some(StreamableHttpError::AuthRequired(_)) => {
            "it answered 401: the token that token_env names is missing or not taken".to_owned()
        }
        Some(StreamableHttpError::Client(error)) => net::told(error),
        Some(other) => other.to_string(),
        None => error.error.to_string(),
    }
}
