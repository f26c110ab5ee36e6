//! Name resolution, and the one port that no fetch may reach: the broker's own.

use crate::ground::refusal::Refusal;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, OnceLock};

/// The port the broker serves on, once it does; all handles share it.
#[derive(Clone, Default)]
pub struct OwnPort(Arc<OnceLock<u16>>);

impl OwnPort {
    /// Notes the port, which no fetch may reach from now on.
    pub fn set(&self, port: u16) {
        let _ = self.0.set(port);
    }

    pub fn is(&self, port: u16) -> bool {
        self.0.get() == Some(&port)
    }
}

/// The addresses of a host; fails if it has none.
pub async fn resolve(host: &str, port: u16) -> Result<Vec<SocketAddr>, Refusal> {
    let host = host.trim_start_matches('[').trim_end_matches(']');
    if let Ok(ip) = host.parse::<IpAddr>() {
        return Ok(vec![SocketAddr::new(ip, port)]);
    }
    let found = tokio::net::lookup_host((host, port)).await.map(Iterator::collect).unwrap_or_default();
    let found: Vec<SocketAddr> = found;
    if found.is_empty() {
        let hint = "check the spelling, or try again later";
        return Err(Refusal::new(502, "unknown_host", format!("{host} has no address"), hint));
    }
    Ok(found)
}
