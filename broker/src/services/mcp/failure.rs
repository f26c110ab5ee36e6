//! Failures of a session with an MCP server in plain words, and what it wants where it refuses us.

use crate::net;
use rmcp::service::{ClientInitializeError, ServiceError};
use rmcp::transport::DynamicTransportError;
use rmcp::transport::streamable_http_client::StreamableHttpError;

/// Reason why a tool returned no result.
#[derive(Debug)]
pub enum Lost {
    /// Nothing was sent, or it was refused.
    Unreached(String),
    /// The server returned an error of the protocol.
    Said(String),
    /// It was sent, but no answer came.
    Silent(String),
}

impl Lost {
    pub fn words(self) -> String {
        match self {
            Self::Unreached(why) | Self::Said(why) | Self::Silent(why) => why,
        }
    }
}

#[derive(Debug, Default)]
pub struct Failure {
    pub why: String,
    pub refused: Option<Refused>,
}

/// Wish of a server at an address before it answers; each with its `WWW-Authenticate`.
#[derive(Debug)]
pub enum Refused {
    SignIn(String),
    Scope(String),
}

impl From<String> for Failure {
    fn from(why: String) -> Self {
        Self { why, refused: None }
    }
}

/// Why no session was opened.
pub fn of_opening(error: &ClientInitializeError) -> Failure {
    if let ClientInitializeError::TransportError { error, .. } = error {
        return of_transport(error);
    }
    if let ClientInitializeError::LegacyFallbackFailed { fallback, .. } = error {
        return of_opening(fallback);
    }
    if matches!(error, ClientInitializeError::ConnectionClosed(_)) {
        return "it ended before it answered".to_owned().into();
    }
    error.to_string().into()
}

/// Why a call was lost.
pub fn of_call(error: &ServiceError) -> Failure {
    if let ServiceError::TransportSend(error) = error {
        of_transport(error)
    } else {
        error.to_string().into()
    }
}

fn of_transport(error: &DynamicTransportError) -> Failure {
    let known = error.error.downcast_ref::<StreamableHttpError<reqwest::Error>>();
    let refused = match known {
        Some(StreamableHttpError::AuthRequired(error)) => {
            Some(Refused::SignIn(error.www_authenticate_header.clone()))
        }
        Some(StreamableHttpError::InsufficientScope(error)) => {
            Some(Refused::Scope(error.www_authenticate_header.clone()))
        }
        // It may refuse without a word.
        Some(StreamableHttpError::UnexpectedServerResponse(said)) if said.starts_with("HTTP 401") => {
            Some(Refused::SignIn(String::new()))
        }
        _ => None,
    };
    let why = match known {
        Some(StreamableHttpError::AuthRequired(_)) => {
            "it answered 401: the token that token_env names is missing or not taken".to_owned()
        }
        Some(StreamableHttpError::Auth(error)) => format!("its sign-in cannot be renewed: {error}"),
        Some(StreamableHttpError::Client(error)) => net::told(error),
        Some(other) => other.to_string(),
        None => error.error.to_string(),
    };
    Failure { why, refused }
}
