//! The way out of a channel: all it sends and receives passes the broker, by a door that only this program knows.
//!
//! Invariant: each message is a line of the ledger before it leaves.

use crate::channel::Trouble;
use anyhow::{Context, Result, bail};
use base64::Engine;
use house::{House, files};
use reqwest::header::{HeaderMap, RETRY_AFTER};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// Longest wait for a connection, and most bytes of the answer to a request for one.
const CONNECT: Duration = Duration::from_secs(20);
const HEAD_BYTES: usize = 4 << 10;
/// Longest wait until the broker has written down what is about to leave.
const WRITTEN: Duration = Duration::from_secs(30);
/// How long to wait where the broker does not say.
const AGAIN: Duration = Duration::from_secs(60);

/// The broker's door: its port on this machine, and the token of this program.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Broker {
    pub port: u16,
    pub token: String,
}

/// A message that is about to leave, for the ledger.
#[derive(Clone, Debug, Serialize)]
pub struct Leaving<'a> {
    /// The channel's name, as in `owner.toml`.
    pub channel: &'a str,
    pub chat: &'a str,
    /// `send`, `edit`, or what the channel has beside.
    pub kind: &'a str,
    pub bytes: u64,
    /// Of the text, in hexadecimal digits.
    pub sha256: &'a str,
}

impl Broker {
    /// The door as the guardian wrote it down before it started this program: each start has a token of its own.
    pub fn of(house: &House) -> Result<Self> {
        #[derive(Deserialize)]
        struct Told {
            channels: Broker,
        }
        let path = house.tokens();
        let bytes = files::read_small(&path)?.unwrap_or_default();
        let told: Told = serde_json::from_slice(&bytes).with_context(|| {
            format!("{} names no door for channels; the guardian writes it as it starts them", path.display())
        })?;
        Ok(told.channels)
    }
}

/// Reads how long an answer asks to be left alone: seconds, with a fraction where a platform has those.
pub fn asked_wait(headers: &HeaderMap) -> Option<Duration> {
    let seconds: f64 = headers.get(RETRY_AFTER)?.to_str().ok()?.trim().parse().ok()?;
    Duration::try_from_secs_f64(seconds).ok()
}

/// Connections outward. Without a broker they are direct: for the tests of a channel alone.
#[derive(Clone)]
pub struct Door {
    broker: Option<Broker>,
    http: reqwest::Client,
    /// For the broker itself.
    near: reqwest::Client,
    tls: Arc<rustls::ClientConfig>,
}

impl Door {
    pub fn new(broker: Option<Broker>) -> Result<Self> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let tls = rustls::ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .context("failed to choose versions of TLS")?;
        let tls = rustls_platform_verifier::BuilderVerifierExt::with_platform_verifier(tls)
            .context("failed to read this machine's certificates")?
            .with_no_client_auth();
        let client = || {
            let client = reqwest::Client::builder().tls_backend_preconfigured(tls.clone());
            // No connection is kept: the fate of a call over one that died meanwhile would be unknown.
            let client = client.pool_max_idle_per_host(0);
            client.connect_timeout(CONNECT).redirect(reqwest::redirect::Policy::none())
        };
        let near = client().no_proxy().build().context("failed to make a client")?;
        let client = match &broker {
            Some(Broker { port, token }) => {
                let proxy = reqwest::Proxy::all(format!("http://127.0.0.1:{port}"))?;
                client().proxy(proxy.basic_auth("channels", token))
            }
            None => client().no_proxy(),
        };
        let http = client.build().context("failed to make a client")?;
        Ok(Self { broker, http, near, tls: Arc::new(tls) })
    }

    /// A client of HTTP that passes the door.
    pub fn http(&self) -> &reqwest::Client {
        &self.http
    }

    /// Has the broker write down a message before it leaves: without that line none does.
    pub async fn announce(&self, leaving: &Leaving<'_>) -> Result<(), Trouble> {
        let Some(Broker { port, token }) = &self.broker else { return Ok(()) };
        let asked = self.near.post(format!("http://127.0.0.1:{port}/channels/send"));
        let asked = asked.bearer_auth(token).timeout(WRITTEN).json(leaving);
        let answer = asked.send().await.map_err(|error| {
            Trouble::Away(format!("the broker wrote nothing down: {}", error.without_url()))
        })?;
        match answer.status().as_u16() {
            200 => Ok(()),
            429 => Err(Trouble::Slower(asked_wait(answer.headers()).unwrap_or(AGAIN))),
            status => {
                let told: serde_json::Value = answer.json().await.unwrap_or_default();
                let why = told.pointer("/error/message").and_then(|why| why.as_str()).unwrap_or_default();
                Err(Trouble::Away(format!("the broker wrote nothing down, {status}: {why}")))
            }
        }
    }

    /// The settings of TLS, for connections that are no HTTP.
    pub fn tls(&self) -> Arc<rustls::ClientConfig> {
        self.tls.clone()
    }

    /// A connection that passes the door, for what is no HTTP: a WebSocket, IMAP, SMTP.
    pub async fn connect(&self, host: &str, port: u16) -> Result<TcpStream> {
        tokio::time::timeout(CONNECT, self.connected(host, port))
            .await
            .map_err(|_| anyhow::anyhow!("{host}:{port} did not answer within {} s", CONNECT.as_secs()))?
    }

    async fn connected(&self, host: &str, port: u16) -> Result<TcpStream> {
        let Some(broker) = &self.broker else {
            return TcpStream::connect((host, port))
                .await
                .with_context(|| format!("failed to reach {host}:{port}"));
        };
        let mut stream =
            TcpStream::connect(("127.0.0.1", broker.port)).await.context("failed to reach the broker")?;
        let target = if host.contains(':') { format!("[{host}]:{port}") } else { format!("{host}:{port}") };
        let credential =
            base64::engine::general_purpose::STANDARD.encode(format!("channels:{}", broker.token));
        let asked = format!(
            "CONNECT {target} HTTP/1.1\r\nHost: {target}\r\nProxy-Authorization: Basic {credential}\r\n\r\n"
        );
        stream.write_all(asked.as_bytes()).await.context("failed to ask the broker")?;
        let mut head = Vec::new();
        // A byte at a time: behind the head all is the other side's.
        while !head.ends_with(b"\r\n\r\n") {
            if head.len() >= HEAD_BYTES {
                bail!("the broker's answer for {target} has no end");
            }
            head.push(stream.read_u8().await.context("the broker ended the connection")?);
        }
        let head = String::from_utf8_lossy(&head);
        let first = head.lines().next().unwrap_or_default();
        if first.split(' ').nth(1) != Some("200") {
            let why = head.lines().find_map(|line| line.strip_prefix("x-feral-error: ")).unwrap_or(first);
            bail!("the broker does not connect to {target}: {why}");
        }
        Ok(stream)
    }
}
