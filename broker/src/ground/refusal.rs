//! Refusals: what failed and what to do next, in a form that clients of every model API and people understand.

use axum::Json;
use axum::response::{IntoResponse, Response};
use http::{HeaderValue, StatusCode, header};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// A refused request. `kind` is stable and for programs, `message` and `hint` are for people.
#[derive(Clone, Debug, PartialEq)]
pub struct Refusal {
    pub status: u16,
    pub kind: &'static str,
    pub message: String,
    pub hint: String,
    /// Seconds to wait, if waiting helps.
    pub retry_after_s: Option<u64>,
    /// For a prompt that was too dear: how many tokens would fit.
    pub fits_tokens: Option<u64>,
}

impl Refusal {
    pub fn new(status: u16, kind: &'static str, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self {
            status,
            kind,
            message: message.into(),
            hint: hint.into(),
            retry_after_s: None,
            fits_tokens: None,
        }
    }

    /// A request as its JSON says; a refusal with its shape where it says nothing of the kind.
    pub fn reading<T: DeserializeOwned>(bytes: &[u8], shape: &str) -> Result<T, Self> {
        serde_json::from_slice(bytes).map_err(|error| {
            let message = format!("the request cannot be understood: {error}");
            Self::new(400, "malformed", message, format!("send {shape}"))
        })
    }

    pub fn after(mut self, seconds: u64) -> Self {
        self.retry_after_s = Some(seconds);
        self
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let mut error = json!({"type": self.kind, "message": self.message, "hint": self.hint});
        if let (Some(tokens), Some(error)) = (self.fits_tokens, error.as_object_mut()) {
            error.insert("fits_tokens".into(), tokens.into());
        }
        let mut response = (status, Json(json!({"type": "error", "error": error}))).into_response();
        let headers = response.headers_mut();
        headers.insert("x-feral-error", HeaderValue::from_static(self.kind));
        if let Some(seconds) = self.retry_after_s {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }
}

/// Reason why an act is not carried out, and what to do instead; returned in an envelope with status 200.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unfit {
    pub error: String,
    pub hint: String,
}

impl Unfit {
    pub fn new(error: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { error: error.into(), hint: hint.into() }
    }

    /// The envelope for the client.
    pub fn envelope(&self) -> Value {
        json!({"ok": false, "error": self.error, "hint": self.hint})
    }
}
