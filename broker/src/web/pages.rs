//! The client of `/web`: bounds the number of pages, and connects only to checked addresses or the owner's proxy.
//!
//! Invariant: a name is resolved once, and the connection goes to the address that was checked; no other name is
//! resolved.

use crate::ground::hosts::{self, Reach, Resolver};
use crate::ground::lock::lock;
use crate::ground::refusal::Refusal;
use crate::net::resolve::{OwnPort, resolve};
use crate::net::tls;
use crate::policy;
use crate::web::address;
use anyhow::{Context, Result};
use hyper_util::client::proxy::matcher::{Intercept, Matcher};
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::{Client, Url};
use std::collections::{HashMap, VecDeque};
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::Semaphore;

const AGENT: &str = "feral/0.1 (+a self-editing program; its owner runs it)";
/// Most fetches at once; each may hold `most_bytes`.
const MOST_AT_ONCE: usize = 8;

/// Clients and limits of fetching, made once.
pub struct Pages {
    pins: Arc<Pins>,
    direct: Client,
    /// Uses the owner's proxy, if the environment names one.
    proxied: Client,
    proxies: Matcher,
    pub places: Semaphore,
    /// Start times of the fetches in the last hour, in seconds since 1970.
    lately: Mutex<VecDeque<i64>>,
    own_port: OwnPort,
    resolver: Resolver,
}

impl Pages {
    pub fn new(own_port: OwnPort, resolver: Resolver) -> Result<Self> {
        let pins = Arc::new(Pins::default());
        let builder = || {
            let client = tls::client()?.user_agent(AGENT).redirect(reqwest::redirect::Policy::none());
            // What is packed is unpacked in `unpack.rs`: reqwest knows its names in one spelling.
            let client =
                client.no_gzip().retry(reqwest::retry::never()).connect_timeout(Duration::from_secs(10));
            anyhow::Ok(client.pool_max_idle_per_host(0).dns_resolver(pins.clone()))
        };
        let failed = "failed to prepare https";
        Ok(Self {
            direct: builder()?.no_proxy().build().context(failed)?,
            proxied: builder()?.build().context(failed)?,
            proxies: Matcher::from_env(),
            places: Semaphore::new(MOST_AT_ONCE),
            lately: Mutex::default(),
            own_port,
            resolver,
            pins,
        })
    }

    /// Checks a URL's addresses and pins its name to them, or pins the proxy's name.
    pub async fn pin(&self, url: &Url, web: &policy::Web) -> Result<(&Client, Option<Pin>), Refusal> {
        let (host, port) = (hosts::host(url), url.port_or_known_default().unwrap_or_default());
        let uri: Option<http::Uri> = url.as_str().parse().ok();
        let proxy = uri.and_then(|uri| self.proxies.intercept(&uri)).filter(|_| !hosts::is_loopback(&host));
        // By these schemes names are resolved here, as without a proxy: `socks5h` and `socks4a` leave it to the proxy.
        let resolves_here = |proxy: &Intercept| matches!(proxy.uri().scheme_str(), Some("socks4" | "socks5"));
        let client = if proxy.is_some() { &self.proxied } else { &self.direct };
        if let Some(proxy) = proxy.filter(|proxy| !resolves_here(proxy)) {
            let at = proxy.uri();
            let found = resolve(at.host().unwrap_or_default(), at.port_u16().unwrap_or(80)).await?;
            return Ok((&self.proxied, Some(self.pins.pin(at.host().unwrap_or_default(), found))));
        }
        let found = resolve(&host, port).await?;
        let own = |to: &SocketAddr| self.own_port.is(port) && hosts::reach(to.ip()) == Reach::Loopback;
        if found.iter().any(own) {
            return Err(Refusal::new(
                403,
                "refused_address",
                "that is the broker itself",
                "use its own paths",
            ));
        }
        let mut refused = None;
        // A literal address was checked as written.
        let resolver = if host.parse::<IpAddr>().is_ok() { Resolver::default() } else { self.resolver };
        let checked = found.into_iter().filter(|to| match address::resolved(&host, to.ip(), web, resolver) {
            Ok(()) => true,
            Err(refusal) => {
                refused = Some(refusal);
                false
            }
        });
        let checked: Vec<SocketAddr> = checked.collect();
        match refused {
            Some(refusal) if checked.is_empty() => Err(refusal),
            _ => Ok((client, Some(self.pins.pin(&host, checked)))),
        }
    }

    /// Counts a fetch; refused if the hour's number is reached.
    pub fn count(&self, now_s: i64, per_hour: u32) -> Result<(), Refusal> {
        let mut lately = lock(&self.lately);
        while lately.front().is_some_and(|began| *began <= now_s - 3_600) {
            lately.pop_front();
        }
        if lately.len() >= per_hour as usize {
            let wait = lately.front().map_or(3_600, |began| began + 3_600 - now_s);
            let message = format!("{per_hour} pages were fetched within the hour");
            return Err(Refusal::new(429, "web_per_hour", message, format!("fetch again in {wait} s"))
                .after(u64::try_from(wait).unwrap_or_default()));
        }
        lately.push_back(now_s);
        Ok(())
    }
}

/// Names, and the addresses checked for them; no other name is resolved.
#[derive(Default)]
struct Pins {
    held: Mutex<HashMap<String, (usize, Vec<SocketAddr>)>>,
}

/// Keeps a name pinned as long as this value lives.
pub struct Pin {
    pins: Arc<Pins>,
    host: String,
}

impl Pins {
    fn pin(self: &Arc<Self>, host: &str, addresses: Vec<SocketAddr>) -> Pin {
        let host = host.to_ascii_lowercase();
        let addresses = addresses.into_iter().map(|to| SocketAddr::new(to.ip(), 0)).collect();
        let mut held = lock(&self.held);
        let count = held.get(&host).map_or(0, |(count, _)| *count);
        held.insert(host.clone(), (count + 1, addresses));
        Pin { pins: self.clone(), host }
    }
}

impl Drop for Pin {
    fn drop(&mut self) {
        let mut held = lock(&self.pins.held);
        let last = held.get_mut(&self.host).is_none_or(|(count, _)| {
            *count -= 1;
            *count == 0
        });
        if last {
            held.remove(&self.host);
        }
    }
}

impl Resolve for Pins {
    fn resolve(&self, name: Name) -> Resolving {
        let found = lock(&self.held).get(&name.as_str().to_ascii_lowercase()).map(|(_, to)| to.clone());
        Box::pin(async move {
            let found = found.ok_or("the name was not checked before")?;
            Ok(Box::new(found.into_iter()) as Addrs)
        })
    }
}
