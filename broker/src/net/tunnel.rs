//! Tunnels to the outside: opened directly or through the owner's proxy, carrying bytes both ways within bounds.

use crate::ground::refusal::Refusal;
use anyhow::{Context, Result, bail};
use http::{HeaderMap, Method, Uri, header};
use hyper_util::client::proxy::matcher::Intercept;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

/// Longest time for a connection, or for the first word of a client.
pub const DIAL: Duration = Duration::from_secs(10);
/// A tunnel to what answers at once is closed after so much silence; and any, where one end takes nothing for so long.
pub const IDLE: Duration = Duration::from_secs(60);
pub const MOST_HEAD_BYTES: usize = 16 << 10;
const CHUNK_BYTES: usize = 32 << 10;

/// Headers that belong to one connection, or to this proxy, and are not passed on.
const HOPS: &str = "connection proxy-connection proxy-authorization keep-alive te trailer transfer-encoding upgrade \
    content-length host";

/// Most bytes that a tunnel carries, and the longest time in which it carries none.
#[derive(Clone, Copy, Debug)]
pub struct Most {
    pub out: u64,
    pub back: u64,
    pub silence: Duration,
}

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

/// Carries bytes until both ends close, nothing moves, or a bound is reached; returns why it was cut.
pub async fn both_ways<S>(
    inner: &mut S,
    outer: &mut TcpStream,
    most: Most,
    passed: &mut Passed,
) -> &'static str
where
    S: AsyncRead + AsyncWrite + Unpin,
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
            () = tokio::time::sleep(most.silence) => return "idle",
        };
        if !written {
            return "broken";
        }
        if passed.bytes_out > most.out || passed.bytes_in > most.back {
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

/// `host:port`, with brackets around an IPv6 address.
pub fn target(host: &str, port: u16) -> String {
    if host.contains(':') { format!("[{host}]:{port}") } else { format!("{host}:{port}") }
}

/// A URI of only scheme, host and port.
pub fn base(https: bool, host: &str, port: u16) -> Option<Uri> {
    let scheme = if https { "https" } else { "http" };
    format!("{scheme}://{}/", target(host, port)).parse().ok()
}

/// Headers that go on beyond a proxy: RFC 9110, 7.6.1.
pub fn passed_on(headers: &HeaderMap) -> HeaderMap {
    let of_hop: Vec<String> = headers
        .get_all(header::CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(',').map(|name| name.trim().to_ascii_lowercase()))
        .collect();
    let is_hop = |name: &str| HOPS.split(' ').any(|hop| hop == name) || of_hop.iter().any(|hop| hop == name);
    let kept = headers.iter().filter(|(name, _)| !is_hop(name.as_str()));
    kept.map(|(name, value)| (name.clone(), value.clone())).collect()
}

/// Host and port that a request to a proxy is for, by CONNECT or with a whole address of http.
pub fn asked_for(method: &Method, uri: &Uri) -> Result<(String, u16), Refusal> {
    let tunnelled = method == Method::CONNECT;
    if !tunnelled && uri.scheme_str() != Some("http") {
        let hint = "ask with a whole http address, or by CONNECT";
        return Err(Refusal::new(400, "refused_method", "that is no request to a proxy", hint));
    }
    host_of(uri, (!tunnelled).then_some(80))
}

/// Host and port in the address of a request to a proxy.
pub fn host_of(uri: &Uri, default: Option<u16>) -> Result<(String, u16), Refusal> {
    let plain = uri.authority().filter(|authority| !authority.as_str().contains('@'));
    let host = plain.map(|authority| authority.host().trim_start_matches('[').trim_end_matches(']'));
    match (host, plain.and_then(http::uri::Authority::port_u16).or(default)) {
        (Some(host), Some(port)) if !host.is_empty() => Ok((host.to_ascii_lowercase(), port)),
        _ => Err(Refusal::new(400, "no_host", "no host and port", "CONNECT host:443")),
    }
}
