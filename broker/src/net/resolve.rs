//! Name resolution, and the ports that no fetch may reach: the broker's own.

use crate::ground::hosts::{self, Reach, Resolver};
use crate::ground::refusal::Refusal;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, OnceLock};

/// The ports that the broker serves on, once it does, the channels' own among them; all handles share them.
#[derive(Clone, Default)]
pub struct OwnPort(Arc<[OnceLock<u16>; 2]>);

impl OwnPort {
    /// Notes a port, which no fetch may reach from now on.
    pub fn set(&self, port: u16) {
        let _ = self.0.iter().find(|cell| cell.set(port).is_ok());
    }

    pub fn is(&self, port: u16) -> bool {
        self.0.iter().any(|own| own.get() == Some(&port))
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

/// The addresses of a host that are within a reach, resolved once; none of them is the broker itself. `hint`: who may let it
/// reach further, and how.
pub async fn within(
    host: &str,
    port: u16,
    furthest: Reach,
    resolver: Resolver,
    own_port: &OwnPort,
    hint: &str,
) -> Result<Vec<SocketAddr>, Refusal> {
    let fits = |to: &SocketAddr| {
        let reach = resolver.reach(to.ip());
        reach <= furthest && reach < Reach::Never && !(reach == Reach::Loopback && own_port.is(port))
    };
    let (within, others): (Vec<_>, Vec<_>) = resolve(host, port).await?.into_iter().partition(fits);
    if !within.is_empty() {
        return Ok(within);
    }
    let (why, hint) = match others.iter().find_map(|to| resolver.refused(host, to.ip())) {
        Some(why) => (why, hosts::FAKE_IP_HINT),
        None => (format!("{host} resolves to a private or local address"), hint),
    };
    Err(Refusal::new(403, "refused_address", why, hint))
}
