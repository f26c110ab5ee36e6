//! Tunnels: connections to a registry, through the owner's proxy if there is one, carrying bytes both ways within bounds.
//!
//! Invariant: nothing is carried until the client's TLS greeting has named the host that the tunnel was opened for.

use anyhow::{Context, Result, bail};
use http::Uri;
use hyper_util::client::proxy::matcher::Intercept;
use rustls::server::Acceptor;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

const DIAL: Duration = Duration::from_secs(10);
/// A tunnel without traffic for this long is closed.
const IDLE: Duration = Duration::from_secs(60);
/// Longest life of a tunnel: no longer than a taint, so that it cannot outlast the one noted at its beginning.
const LONGEST: Duration = Duration::from_secs(crate::ground::taint::WINDOW_S.unsigned_abs());
/// Most bytes sent through one tunnel; fetching crates takes a few thousand.
const MOST_OUT: u64 = 16 << 20;
const MOST_IN: u64 = 4 << 30;
const MOST_HEAD_BYTES: usize = 16 << 10;
const CHUNK_BYTES: usize = 32 << 10;

/// Bytes that a tunnel carried, and why it ended.
#[derive(Debug, Default)]
pub struct Passed {
    pub bytes_out: u64,
    pub bytes_in: u64,
    /// Reason why it was cut; empty if both ends closed it.
    pub cut: &'static str,
}

/// Connects to the first of the addresses that answers.
pub async fn dial(addresses: &[SocketAddr]) -> Result<TcpStream> {
    timeout(DIAL, TcpStream::connect(addresses)).await.context("no answer in time")?.context("no connection")
}

/// Connects to the owner's proxy.
async fn dial_proxy(proxy: &Intercept) -> Result<TcpStream> {
    let uri = proxy.uri();
    if uri.scheme_str() != Some("http") {
        bail!("the owner's proxy is spoken to in plain http only");
    }
    let host = uri.host().unwrap_or_default().trim_start_matches('[').trim_end_matches(']');
    let connect = TcpStream::connect((host, uri.port_u16().unwrap_or(80)));
    timeout(DIAL, connect).await.context("the owner's proxy gave no answer in time")?.context("no proxy")
}

/// A tunnel through the owner's proxy.
pub async fn chain(proxy: &Intercept, target: &str) -> Result<TcpStream> {
    let mut stream = dial_proxy(proxy).await?;
    let pass = proxy.basic_auth().and_then(|value| value.to_str().ok());
    let pass = pass.map_or(String::new(), |value| format!("proxy-authorization: {value}\r\n"));
    let ask = format!("CONNECT {target} HTTP/1.1\r\nhost: {target}\r\n{pass}\r\n");
    stream.write_all(ask.as_bytes()).await.context("the owner's proxy hung up")?;
    let head = timeout(DIAL, async {
        let mut head = Vec::new();
        // Byte by byte: bytes after the proxy's header already belong to the tunnel.
        while !head.ends_with(b"\r\n\r\n") {
            if head.len() > MOST_HEAD_BYTES {
                bail!("the owner's proxy sends an endless head");
            }
            head.push(stream.read_u8().await.context("the owner's proxy hung up")?);
        }
        Ok(head)
    });
    let head = head.await.context("the owner's proxy gave no answer in time")??;
    let line = String::from_utf8_lossy(&head).lines().next().unwrap_or_default().to_owned();
    match line.split(' ').nth(1) {
        Some(status) if status.starts_with('2') => Ok(stream),
        Some(status) => bail!("the owner's proxy answered {}", status.chars().take(3).collect::<String>()),
        None => bail!("the owner's proxy speaks no HTTP"),
    }
}

/// Carries bytes both ways until both ends close, nothing moves, or a bound is reached.
pub async fn carry<S>(mut inner: S, mut outer: TcpStream, host: &str) -> Passed
where
    S: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin,
{
    let mut passed = Passed::default();
    let work = async {
        let greeting = match timeout(DIAL, greeting(&mut inner, host)).await {
            Ok(Some(greeting)) => greeting,
            Ok(None) => return "refused_server_name",
            Err(_) => return "no greeting",
        };
        if outer.write_all(&greeting).await.is_err() {
            return "broken";
        }
        passed.bytes_out = greeting.len() as u64;
        both_ways(&mut inner, &mut outer, &mut passed).await
    };
    let cut = timeout(LONGEST, work).await.unwrap_or("too long");
    passed.cut = cut;
    passed
}

async fn both_ways<S>(inner: &mut S, outer: &mut TcpStream, passed: &mut Passed) -> &'static str
where
    S: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin,
{
    let (mut out, mut back) = (vec![0; CHUNK_BYTES], vec![0; CHUNK_BYTES]);
    let (mut sending, mut receiving) = (true, true);
    while sending || receiving {
        let written = tokio::select! {
            read = inner.read(&mut out), if sending => {
                let count = read.unwrap_or(0);
                sending = count > 0;
                passed.bytes_out += count as u64;
                pass(outer, out.get(..count).unwrap_or_default()).await
            }
            read = outer.read(&mut back), if receiving => {
                let count = read.unwrap_or(0);
                receiving = count > 0;
                passed.bytes_in += count as u64;
                pass(inner, back.get(..count).unwrap_or_default()).await
            }
            () = tokio::time::sleep(IDLE) => return "idle",
        };
        if !written {
            return "broken";
        }
        if passed.bytes_out > MOST_OUT || passed.bytes_in > MOST_IN {
            return "too much";
        }
    }
    ""
}

/// Passes on bytes, or the end if there are none. False if the other side does not take them.
async fn pass(to: &mut (impl AsyncWriteExt + Unpin), piece: &[u8]) -> bool {
    let write = async {
        if piece.is_empty() {
            let _ = to.shutdown().await;
            return Ok(());
        }
        to.write_all(piece).await?;
        to.flush().await
    };
    timeout(IDLE, write).await.is_ok_and(|written: std::io::Result<()>| written.is_ok())
}

/// Reads the client's TLS greeting, if it names the host the tunnel is for. Without this check, one allowed host of a
/// content delivery network would give access to all its others.
async fn greeting(inner: &mut (impl AsyncReadExt + Unpin), host: &str) -> Option<Vec<u8>> {
    let (mut acceptor, mut seen, mut chunk) = (Acceptor::default(), Vec::new(), vec![0; 4_096]);
    while seen.len() <= MOST_HEAD_BYTES {
        let count = inner.read(&mut chunk).await.ok().filter(|count| *count > 0)?;
        let piece = chunk.get(..count)?;
        seen.extend_from_slice(piece);
        let mut rest = piece;
        while !rest.is_empty() {
            acceptor.read_tls(&mut rest).ok().filter(|taken| *taken > 0)?;
        }
        if let Some(accepted) = acceptor.accept().ok()? {
            let named = accepted.client_hello().server_name().map(str::to_ascii_lowercase);
            let right = match named {
                Some(name) => name == host,
                None => host.parse::<IpAddr>().is_ok(),
            };
            return right.then_some(seen);
        }
    }
    None
}

/// `host:port`, with brackets around an IPv6 address.
pub fn target(host: &str, port: u16) -> String {
    if host.contains(':') { format!("[{host}]:{port}") } else { format!("{host}:{port}") }
}

/// A URI of only scheme, host and port.
pub fn base(https: bool, host: &str, port: u16) -> Option<Uri> {
    let scheme = if https { "https" } else { "http" };
    format!("{scheme}://{}/", target(host, port)).parse().ok()
}
