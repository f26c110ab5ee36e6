//! HTTP as both wires need it: a checked address, a client that goes nowhere else, a body with a cap, Retry-After.

use std::net::IpAddr;
use std::time::Duration;

use jiff::Timestamp;
use jiff::fmt::rfc2822::DateTimeParser;
use reqwest::header::HeaderMap;
use reqwest::{Response, Url, redirect};

use crate::{Error, Kind};

/// The largest body read, in bytes; the longest reply of any model is a fraction of it.
pub(crate) const MAX_BODY: usize = 4 << 20;

const CONNECT: Duration = Duration::from_secs(10);

/// An address that was checked.
pub(crate) struct Base {
    /// Without a slash at its end.
    pub url: String,
    /// Scheme, host and port: what may be shown; the rest may hold a password.
    pub origin: String,
    pub host: String,
    /// On this machine.
    pub loopback: bool,
}

/// Why a body could not be had.
pub(crate) enum NoBody {
    TooLarge,
    Broken,
}

pub(crate) fn base(text: &str) -> Result<Base, Error> {
    let settings = |what: &str| {
        let hint = "set base_url to an address as in https://api.anthropic.com";
        Err(Error::new(Kind::Settings, format!("use the model's base_url: {what}"), hint))
    };
    let Ok(url) = Url::parse(text.trim()) else {
        return settings("not an address");
    };
    if !matches!(url.scheme(), "http" | "https") {
        return settings("neither http nor https");
    }
    if url.query().is_some() || url.fragment().is_some() {
        return settings("a query or fragment has no place in it");
    }
    let Some(host) = url.host_str() else {
        return settings("no host in it");
    };
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    let loopback = bare.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback());
    let loopback = loopback || bare == "localhost" || bare.ends_with(".localhost");
    Ok(Base {
        url: url.as_str().trim_end_matches('/').to_string(),
        origin: url.origin().ascii_serialization(),
        host: host.to_string(),
        loopback,
    })
}

pub(crate) fn client(base: &Base) -> Result<reqwest::Client, Error> {
    // An error means that somebody else was first, which is as good.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let mut builder = reqwest::Client::builder()
        .user_agent("feral")
        .connect_timeout(CONNECT)
        // A redirect would carry the key and the memory to an address nobody configured.
        .redirect(redirect::Policy::none());
    if base.loopback {
        builder = builder.no_proxy();
    }
    if base.loopback && base.url.starts_with("http:") {
        // No certificates to load: a machine without any can still think with a model of its own.
        builder = builder.tls_certs_only([]);
    }
    builder.build().map_err(|error| {
        let message = format!("prepare for {}: {}", base.origin, chain(&error));
        let hint = "https needs the system's certificates (package ca-certificates)";
        Error::new(Kind::Settings, message, hint)
    })
}

/// The body up to `MAX_BODY`, read piece by piece so that a larger one is never held.
pub(crate) async fn body(mut answer: Response) -> Result<Vec<u8>, NoBody> {
    let mut body = Vec::new();
    while let Some(piece) = answer.chunk().await.map_err(|_| NoBody::Broken)? {
        if body.len() + piece.len() > MAX_BODY {
            return Err(NoBody::TooLarge);
        }
        body.extend_from_slice(&piece);
    }
    Ok(body)
}

/// How long the server asks to wait: seconds or an HTTP date, never more than a day.
pub(crate) fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = headers.get("retry-after")?.to_str().ok()?.trim();
    let seconds = match text.parse::<f64>() {
        Ok(seconds) => seconds,
        Err(_) => {
            let dates = DateTimeParser::new().relaxed_weekday(true);
            let until = dates.parse_timestamp(text).ok()?;
            until.duration_since(Timestamp::now()).as_secs_f64()
        }
    };
    Duration::try_from_secs_f64(seconds.clamp(0.0, 86_400.0)).ok()
}

/// What happened to a connection, without the address, which may hold a password.
pub(crate) fn chain(error: &dyn std::error::Error) -> String {
    let mut cause = error.source();
    let mut deepest = String::new();
    while let Some(error) = cause {
        deepest = error.to_string();
        cause = error.source();
    }
    deepest
}
