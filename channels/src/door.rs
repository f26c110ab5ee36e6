//! The way out of a channel: all it sends and receives passes the broker, by a door that only this program knows.
//!
//! Invariant: each message is a line of the ledger before it leaves.

use anyhow::{Context, Result, bail};
use base64::Engine;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// Longest wait for a connection, and most bytes of the answer to a request for one.
const CONNECT: Duration = Duration::from_secs(20);
const HEAD_BYTES: usize = 4 << 10;

/// The broker's door: its port on this machine, and the token of this program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broker {
    pub port: u16,
    pub token: String,
}

/// Connections outward. Without a broker they are direct: for the tests of a channel alone.
#[derive(Clone)]
pub struct Door {
    broker: Option<Broker>,
    http: reqwest::Client,
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
        let client = reqwest::Client::builder()
            .tls_backend_preconfigured(tls.clone())
            .connect_timeout(CONNECT)
            .redirect(reqwest::redirect::Policy::none());
        let client = match &broker {
            Some(Broker { port, token }) => {
                let proxy = reqwest::Proxy::all(format!("http://127.0.0.1:{port}"))?;
                client.proxy(proxy.basic_auth("channels", token))
            }
            None => client.no_proxy(),
        };
        let http = client.build().context("failed to make a client")?;
        Ok(Self { broker, http, tls: Arc::new(tls) })
    }

    /// A client of HTTP that passes the door.
    pub fn http(&self) -> &reqwest::Client {
        &self.http
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
        // A byte at a time: what follows the head is the other side's.
        while !head.ends_with(b"\r\n\r\n") {
            if head.len() >= HEAD_BYTES {
                bail!("the broker's answer for {target} has no end");
            }
            head.push(stream.read_u8().await.context("the broker ended the connection")?);
        }
        let first = String::from_utf8_lossy(&head).lines().next().unwrap_or_default().to_owned();
        if first.split(' ').nth(1) != Some("200") {
            bail!("the broker does not connect to {target}: {first}");
        }
        Ok(stream)
    }
}
