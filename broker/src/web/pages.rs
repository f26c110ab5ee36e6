//! The client of `/web`: bounds the number of pages, and connects only to checked addresses or the owner's proxy.
//!
//! Invariant: a name is resolved once, and the connection goes to the address that was checked.

use crate::ground::hosts::{self, Reach, Resolver};
use crate::ground::refusal::Refusal;
use crate::net::resolve::{OwnPort, resolve};
use crate::net::tls;
use crate::policy;
use crate::web::address;
use anyhow::{Context, Result};
use hyper_util::client::proxy::matcher::{Intercept, Matcher};
use reqwest::{Client, ClientBuilder, Url};
use std::net::{IpAddr, SocketAddr};
use tokio::sync::Semaphore;

const AGENT: &str = "feral/0.1 (+a self-editing program; its owner runs it)";
/// Most fetches at once; each may hold `most_bytes`.
const MOST_AT_ONCE: usize = 8;
const FAILED: &str = "failed to prepare https";

/// Clients and limits of fetching, made once.
pub struct Pages {
    /// Uses the owner's proxy, if the environment names one.
    proxied: Client,
    proxies: Matcher,
    pub places: Semaphore,
    own_port: OwnPort,
    resolver: Resolver,
}

impl Pages {
    pub fn new(own_port: OwnPort, resolver: Resolver) -> Result<Self> {
        Ok(Self {
            proxied: builder()?.build().context(FAILED)?,
            proxies: Matcher::from_env(),
            places: Semaphore::new(MOST_AT_ONCE),
            own_port,
            resolver,
        })
    }

    /// The client for one address: it connects to the addresses that were checked for the name, or to the owner's proxy.
    pub async fn client(&self, url: &Url, web: &policy::Web) -> Result<Client, Refusal> {
        let (host, port) = (hosts::host(url), url.port_or_known_default().unwrap_or_default());
        let uri: Option<http::Uri> = url.as_str().parse().ok();
        let proxy = uri.and_then(|uri| self.proxies.intercept(&uri)).filter(|_| !hosts::is_loopback(&host));
        // By these schemes names are resolved here, as without a proxy: `socks5h` and `socks4a` leave it to the proxy.
        let resolves_here = |proxy: &Intercept| matches!(proxy.uri().scheme_str(), Some("socks4" | "socks5"));
        if proxy.as_ref().is_some_and(|proxy| !resolves_here(proxy)) {
            return Ok(self.proxied.clone());
        }
        let checked = checked(&host, port, web, &self.own_port, self.resolver).await?;
        let client = builder().map(|client| client.resolve_to_addrs(&host, &checked));
        let client = client.map(|client| if proxy.is_some() { client } else { client.no_proxy() });
        client.and_then(|client| client.build().context(FAILED)).map_err(|error| {
            Refusal::new(502, "unreachable", format!("{error:#}"), "the owner looks at the broker's log")
        })
    }
}

/// Resolves a name once; its addresses that may be reached.
pub async fn checked(
    host: &str,
    port: u16,
    web: &policy::Web,
    own_port: &OwnPort,
    resolver: Resolver,
) -> Result<Vec<SocketAddr>, Refusal> {
    let found = resolve(host, port).await?;
    let own = |to: &SocketAddr| own_port.is(port) && hosts::reach(to.ip()) == Reach::Loopback;
    if found.iter().any(own) {
        let message = "that is the broker itself";
        return Err(Refusal::new(403, "refused_address", message, "use its own paths"));
    }
    // A literal address was checked as written.
    let resolver = if host.parse::<IpAddr>().is_ok() { Resolver::default() } else { resolver };
    let judged = found.iter().map(|to| address::resolved(host, to.ip(), web, resolver).map(|()| *to));
    let (checked, refused): (Vec<_>, Vec<_>) = judged.partition(Result::is_ok);
    match refused.into_iter().last() {
        Some(Err(refusal)) if checked.is_empty() => Err(refusal),
        _ => Ok(checked.into_iter().flatten().collect()),
    }
}

/// Begins a client that leaves what is packed to `unpack.rs`: reqwest knows its names in one spelling.
fn builder() -> Result<ClientBuilder> {
    Ok(tls::client()?.user_agent(AGENT).no_gzip().pool_max_idle_per_host(0))
}
