//! Tunnels to a registry: carried only once the client's TLS greeting has named the host that the tunnel was opened for.

use crate::net::tunnel::{DIAL, IDLE, MOST_HEAD_BYTES, Most, Passed, both_ways};
use rustls::server::Acceptor;
use std::net::IpAddr;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

/// Longest life of a tunnel: no longer than a taint, so that it cannot outlast the one noted at its beginning.
const LONGEST: Duration = Duration::from_secs(crate::ground::taint::WINDOW_S.unsigned_abs());
/// Most bytes through one tunnel; fetching crates sends a few thousand.
const MOST: Most = Most { out: 16 << 20, back: 4 << 30, silence: IDLE };

/// Carries bytes both ways until both ends close, nothing moves, or a bound is reached.
pub async fn carry<S>(mut inner: S, mut outer: TcpStream, host: &str) -> Passed
where
    S: AsyncRead + AsyncWrite + Unpin,
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
        both_ways(&mut inner, &mut outer, MOST, &mut passed).await
    };
    let cut = timeout(LONGEST, work).await.unwrap_or("too long");
    passed.cut = cut;
    passed
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
