//! Requests without TLS, passed on over a connection that stands; what they are answered goes back as it comes.

use crate::ground::refusal::Refusal;
use crate::net::tunnel::{Most, passed_on};
use axum::body::Body;
use axum::response::Response;
use http::{HeaderValue, Request, Uri, Version, header};
use http_body_util::Limited;
use hyper::body::Incoming;
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::time::timeout;

/// Most bytes that a connection buffers.
pub const MOST_HELD_BYTES: usize = 64 << 10;

/// Passes on a request; the answer has to begin before so much silence.
pub async fn plain(outer: TcpStream, request: Request<Incoming>, most: Most) -> Result<Response, Refusal> {
    let broke = |error: hyper::Error| unreachable(&anyhow::Error::from(error));
    let (mut sender, connection) = hyper::client::conn::http1::Builder::new()
        .max_buf_size(MOST_HELD_BYTES)
        .handshake(TokioIo::new(outer))
        .await
        .map_err(broke)?;
    // Ends with the answer's body.
    tokio::spawn(connection);
    let (mut parts, body) = request.into_parts();
    let authority = parts.uri.authority().map(ToString::to_string).unwrap_or_default();
    let path = parts.uri.path_and_query().and_then(|path| path.as_str().parse::<Uri>().ok());
    parts.uri = path.unwrap_or_default();
    parts.version = Version::HTTP_11;
    parts.headers = passed_on(&parts.headers);
    if let Ok(host) = HeaderValue::from_str(&authority) {
        parts.headers.insert(header::HOST, host);
    }
    let bytes = |most: u64| usize::try_from(most).unwrap_or(usize::MAX);
    let sent = sender.send_request(Request::from_parts(parts, Limited::new(body, bytes(most.out))));
    let answered = timeout(most.silence, sent).await;
    let answered =
        answered.map_err(|_| unreachable(&anyhow::anyhow!("no answer in time")))?.map_err(broke)?;
    let (mut parts, body) = answered.into_parts();
    parts.headers = passed_on(&parts.headers);
    parts.version = Version::HTTP_11;
    Ok(Response::from_parts(parts, Body::new(Limited::new(body, bytes(most.back)))))
}

pub fn unreachable(error: &anyhow::Error) -> Refusal {
    Refusal::new(502, "unreachable", format!("{error:#}"), "check the address, or try again later")
}
