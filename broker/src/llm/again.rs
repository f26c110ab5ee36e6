//! Sends a call whose key or account was refused once more: such an answer may be about this one request, or pass.
//!
//! Invariant: a call is sent twice at most, and the second time with no higher limit of its reply; a refused call
//! costs nothing.

use super::request::LIMITS;
use super::wire::Wire;
use crate::health::meaning::Meaning;
use crate::net;
use serde_json::{Map, Value};
use std::time::Duration;

/// Most bytes of an error that are read.
pub const LARGEST_ERROR: usize = 1 << 20;
/// Statuses that may be about the key or the account: Anthropic's 400 and OpenAI's 429 may say that no money is left.
const MAYBE: [u16; 5] = [400, 401, 402, 403, 429];
/// Before a call is sent once more.
const PAUSE: Duration = Duration::from_millis(300);

/// The answer to a request, or to the same once more if the first was refused for its key or account.
pub async fn sent(
    client: &reqwest::Client,
    request: reqwest::Request,
    wire: Wire,
) -> Result<reqwest::Response, reqwest::Error> {
    let second = request.try_clone();
    let first = client.execute(request).await?;
    let (true, Some(mut second)) = (MAYBE.contains(&first.status().as_u16()), second) else {
        return Ok(first);
    };
    let (first, body) = read(first).await;
    match Meaning::of(wire == Wire::Anthropic, first.status().as_u16(), &body) {
        Meaning::Affordable(tokens) => lower(&mut second, tokens),
        Meaning::Account(_) => {}
        Meaning::Request | Meaning::Passing => return Ok(first),
    }
    tokio::time::sleep(PAUSE).await;
    Ok(client.execute(second).await.unwrap_or(first))
}

/// Reads an error whole; the answer can be read again.
async fn read(mut answer: reqwest::Response) -> (reqwest::Response, Vec<u8>) {
    let mut body = Vec::new();
    // What came before it broke off is read.
    let _ = net::read_most(&mut answer, LARGEST_ERROR, &mut body).await;
    let mut whole = http::Response::new(body.clone());
    *whole.status_mut() = answer.status();
    *whole.headers_mut() = std::mem::take(answer.headers_mut());
    (whole.into(), body)
}

/// Lowers a request's limit of its reply.
fn lower(request: &mut reqwest::Request, tokens: u64) {
    let body = request.body().and_then(reqwest::Body::as_bytes).unwrap_or_default();
    let Ok(mut fields) = serde_json::from_slice::<Map<String, Value>>(body) else { return };
    for name in LIMITS {
        if let Some(limit) = fields.get_mut(name) {
            *limit = limit.as_u64().map_or(tokens, |known| known.min(tokens)).into();
        }
    }
    if let Ok(body) = serde_json::to_vec(&fields) {
        *request.body_mut() = Some(body.into());
    }
}
