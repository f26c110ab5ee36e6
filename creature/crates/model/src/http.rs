//! HTTP as all wires need it: a checked address, a client that goes nowhere else, a body with a cap.

use std::time::Duration;

use reqwest::{Response, Url, redirect};

use crate::{Error, Kind};

/// The largest body read, in bytes with its events; the longest reply of any model is a fraction of it.
pub(crate) const MAX_BODY: usize = 16 << 20;

/// Bytes read of an error.
const MOST_OF_ERROR: usize = 1 << 20;

/// The address, checked: plain http without query or fragment, for nothing else leads to the broker.
pub(crate) fn base(text: &str) -> Result<Url, Error> {
    let usable = |url: &Url| url.scheme() == "http" && url.query().is_none() && url.fragment().is_none();
    Url::parse(text.trim()).ok().filter(usable).ok_or_else(|| {
        let message = "use the model's address: it is no plain http address of a broker";
        Error::new(Kind::Settings, message, "the guardian gives it as FERAL_BROKER")
    })
}

pub(crate) fn client(connect_within: Duration) -> Result<reqwest::Client, Error> {
    let builder = reqwest::Client::builder()
        .user_agent("feral")
        .connect_timeout(connect_within)
        // No proxy leads to loopback. A connection for each request: a kept one is dead after a restart.
        .no_proxy()
        .pool_max_idle_per_host(0)
        // A redirect would carry the token and the memory to an address nobody configured.
        .redirect(redirect::Policy::none());
    builder.build().map_err(|error| {
        let message = format!("prepare for the model: {}", chain(&error));
        Error::new(Kind::Settings, message, "are there too many open files?")
    })
}

/// An error's body up to `MOST_OF_ERROR` bytes; what cannot be read of it is left out.
pub(crate) async fn beginning(mut answer: Response) -> Vec<u8> {
    let mut body = Vec::new();
    while let Ok(Some(piece)) = answer.chunk().await {
        body.extend_from_slice(&piece);
        if body.len() > MOST_OF_ERROR {
            break;
        }
    }
    body
}

/// The deepest cause of a connection's failure, without the address, which may hold a password.
pub(crate) fn chain(error: &dyn std::error::Error) -> String {
    let mut cause = error.source();
    let mut deepest = String::new();
    while let Some(error) = cause {
        deepest = error.to_string();
        cause = error.source();
    }
    deepest
}
