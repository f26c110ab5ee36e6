//! Requests to a homeserver, and what its refusals mean: Matrix client-server API, "API Standards".

use crate::channel::Trouble;
use crate::door::{Door, asked_wait};
use crate::platforms::calls::{body, harmless, sent};
use reqwest::header::HeaderMap;
use reqwest::{Method, RequestBuilder, StatusCode, Url};
use serde_json::Value;
use std::time::Duration;

/// Most bytes of an answer in JSON: a sync of twenty full events in each of many rooms.
const ANSWER_BYTES: u64 = 32 << 20;
/// Most bytes of a refusal that are read.
const REFUSAL_BYTES: u64 = 64 << 10;
/// Longest time for the answer to a request that waits for nothing.
pub const SOON: Duration = Duration::from_secs(30);
/// Longest time for a file in one piece.
pub const FILE: Duration = Duration::from_secs(300);
/// Pause after a refusal that names none ("Rate limiting": `retry_after_ms` may be left out).
const PAUSE: Duration = Duration::from_secs(5);
const LONGEST_PAUSE: Duration = Duration::from_secs(3_600);

pub struct Wire {
    base: Url,
    token: String,
    http: reqwest::Client,
}

impl Wire {
    pub fn new(url: &str, token: String, door: &Door) -> Result<Self, String> {
        let base = Url::parse(url).map_err(|error| format!("url {url} is no address: {error}"))?;
        Ok(Self { base, token, http: door.http().clone() })
    }

    /// A request below `/_matrix`, its path in segments, so that an id of a room cannot leave its place.
    pub fn at(&self, method: Method, path: &[&str]) -> Result<RequestBuilder, Trouble> {
        let mut url = self.base.clone();
        url.path_segments_mut()
            .map_err(|()| Trouble::Refused("url has no room for a path".to_owned()))?
            .pop_if_empty()
            .push("_matrix")
            .extend(path);
        Ok(self.http.request(method, url).bearer_auth(&self.token).timeout(SOON))
    }

    /// Sends a request and reads its answer as JSON.
    pub async fn json(&self, request: RequestBuilder) -> Result<Value, Trouble> {
        let bytes = self.bytes(request, ANSWER_BYTES).await?;
        serde_json::from_slice(&bytes)
            .map_err(|error| Trouble::Away(format!("the homeserver answers no JSON: {error}")))
    }

    /// Sends a request and reads its answer: at most so many bytes.
    pub async fn bytes(&self, request: RequestBuilder, most: u64) -> Result<Vec<u8>, Trouble> {
        let response = sent(request).await.map_err(away)?;
        let (status, headers) = (response.status(), response.headers().clone());
        if !status.is_success() {
            let told = body(response, REFUSAL_BYTES).await.unwrap_or_default();
            return Err(refused(status, &headers, &serde_json::from_slice(&told).unwrap_or_default()));
        }
        body(response, most).await.map_err(away)
    }
}

/// A request that got no answer. Sends carry a transaction id, so one of unknown fate may be repeated.
fn away(trouble: Trouble) -> Trouble {
    let trouble = harmless(trouble);
    let Trouble::Away(why) = trouble else { return trouble };
    Trouble::Away(format!("the homeserver is not reached: {why}"))
}

/// Judges a refusal by its error code ("Standard error response").
pub fn refused(status: StatusCode, headers: &HeaderMap, body: &Value) -> Trouble {
    let word = |name: &str| body.get(name).and_then(Value::as_str).unwrap_or_default();
    let said: String = word("error").chars().filter(|c| !c.is_control()).take(300).collect();
    match word("errcode") {
        "M_LIMIT_EXCEEDED" => return Trouble::Slower(pause(headers, body)),
        // "Soft logout": the session is still there, and only the owner can make its token anew.
        "M_UNKNOWN_TOKEN" if body.get("soft_logout") == Some(&Value::Bool(true)) => {
            return Trouble::Revoked(
                "the access token has expired; put a new one of the same account into .env".to_owned(),
            );
        }
        "M_UNKNOWN_TOKEN" | "M_MISSING_TOKEN" => {
            return Trouble::Revoked(format!("the homeserver does not take the access token: {said}"));
        }
        "M_USER_DEACTIVATED" | "M_USER_LOCKED" | "M_USER_SUSPENDED" => {
            return Trouble::Revoked(format!("the account is closed at its homeserver: {said}"));
        }
        _ => {}
    }
    match status {
        StatusCode::TOO_MANY_REQUESTS => Trouble::Slower(pause(headers, body)),
        StatusCode::UNAUTHORIZED => {
            Trouble::Revoked(format!("the homeserver does not take the access token: {said}"))
        }
        status if status.is_server_error() || status.is_redirection() => {
            Trouble::Away(format!("the homeserver answers {status} {said}").trim_end().to_owned())
        }
        // The door's own word, or a proxy's.
        StatusCode::PROXY_AUTHENTICATION_REQUIRED | StatusCode::REQUEST_TIMEOUT => {
            Trouble::Away(format!("the way to the homeserver answers {status}"))
        }
        status => Trouble::Refused(format!("the homeserver refuses: {status} {} {said}", word("errcode"))),
    }
}

/// How long to wait: the milliseconds of the body, an older form, else the seconds of the header ("Rate limiting").
fn pause(headers: &HeaderMap, body: &Value) -> Duration {
    let told = body.get("retry_after_ms").and_then(Value::as_u64).map(Duration::from_millis);
    told.or(asked_wait(headers)).unwrap_or(PAUSE).min(LONGEST_PAUSE)
}
