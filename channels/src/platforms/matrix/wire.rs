//! Requests to a homeserver, and what its refusals mean: Matrix client-server API, "API Standards".

use crate::channel::Trouble;
use crate::door::Door;
use futures_util::StreamExt;
use reqwest::header::{CONTENT_LENGTH, HeaderMap, RETRY_AFTER};
use reqwest::{Method, RequestBuilder, Response, StatusCode, Url};
use serde_json::Value;
use std::time::Duration;

/// Most bytes of an answer in JSON: a sync of twenty full events in each of many rooms.
const ANSWER_BYTES: usize = 32 << 20;
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
    pub async fn bytes(&self, request: RequestBuilder, most: usize) -> Result<Vec<u8>, Trouble> {
        let response = request.send().await.map_err(|error| away(&error))?;
        let (status, headers) = (response.status(), response.headers().clone());
        if !status.is_success() {
            let body = read(response, 64 << 10).await.unwrap_or_default();
            return Err(refused(status, &headers, &serde_json::from_slice(&body).unwrap_or_default()));
        }
        read(response, most).await
    }
}

async fn read(response: Response, most: usize) -> Result<Vec<u8>, Trouble> {
    let too_large = || Trouble::Refused(format!("it has more than {most} bytes"));
    let told =
        response.headers().get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse::<usize>().ok());
    if told.is_some_and(|told| told > most) {
        return Err(too_large());
    }
    let mut bytes = Vec::new();
    let mut stream = response.bytes_stream();
    while let Some(piece) = stream.next().await {
        bytes.extend_from_slice(&piece.map_err(|error| away(&error))?);
        if bytes.len() > most {
            return Err(too_large());
        }
    }
    Ok(bytes)
}

/// A request that got no answer. Sends carry a transaction id, so one of unknown fate may be repeated.
fn away(error: &reqwest::Error) -> Trouble {
    let mut why: &dyn std::error::Error = error;
    while let Some(deeper) = why.source() {
        why = deeper;
    }
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
    let seconds = headers.get(RETRY_AFTER).and_then(|value| value.to_str().ok()?.trim().parse().ok());
    let told = body.get("retry_after_ms").and_then(Value::as_u64).map(Duration::from_millis);
    told.or(seconds.map(Duration::from_secs)).unwrap_or(PAUSE).min(LONGEST_PAUSE)
}
