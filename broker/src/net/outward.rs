//! Clients for outward calls: no redirects, no cookies, no retries; each within a reach.
//!
//! Invariant: a client within a reach connects to no address beyond it. Behind the owner's proxy names are resolved there, and only
//! an address in the URL itself is checked.

use crate::ground::hosts::{self, FAKE_IP_HINT, Reach, Resolver};
use crate::ground::refusal::Unfit;
use crate::net::{causes, tls};
use anyhow::{Context, Result};
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::{Client, ClientBuilder, Url};
use std::net::IpAddr;
use std::sync::Arc;

const PROXIES: [&str; 6] =
    ["http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"];

#[derive(Clone)]
pub struct Outward {
    /// By the owner's proxy if there is one, to any address.
    network: Client,
    /// Never through a proxy, to public addresses.
    public: Client,
    /// Never through a proxy, to this machine and private networks too.
    near: Client,
    is_proxied: bool,
}

impl Outward {
    pub fn new(resolver: Resolver) -> Result<Self> {
        let built = |client: ClientBuilder| client.build().context("failed to prepare https");
        let within =
            |most| anyhow::Ok(tls::client()?.no_proxy().dns_resolver(Arc::new(Within(most, resolver))));
        Ok(Self {
            network: built(tls::client()?)?,
            public: built(within(Reach::Public)?)?,
            near: built(within(Reach::Loopback)?)?,
            is_proxied: PROXIES.iter().any(|name| std::env::var(name).is_ok_and(|value| !value.is_empty())),
        })
    }

    /// The client for an address that the owner named.
    pub fn client(&self, url: &Url) -> &Client {
        if hosts::is_loopback(&hosts::host(url)) { &self.near } else { &self.network }
    }

    /// The client for an address that may lead anywhere; fails if it is out of reach.
    pub fn within(&self, url: &Url, may_be_near: bool) -> Result<&Client, Unfit> {
        let host = hosts::host(url);
        let (most, client) =
            if may_be_near { (Reach::Loopback, &self.near) } else { (Reach::Public, &self.public) };
        let hint = "the owner can set allow_private for this service in owner.toml";
        match url.scheme() {
            "https" => {}
            "http" if may_be_near => {}
            other => {
                let error = format!("{host} is not called over {other}: a key would be read on the way");
                return Err(Unfit::new(error, hint));
            }
        }
        if host.parse::<IpAddr>().is_ok_and(|ip| hosts::reach(ip) > most) {
            return Err(Unfit::new(format!("{host} is a private or local address"), hint));
        }
        Ok(if self.is_proxied && !hosts::is_loopback(&host) { &self.network } else { client })
    }
}

/// Returns what to do about a call that was not sent for this error.
pub fn hint(error: &reqwest::Error) -> &'static str {
    if causes(error).any(|cause| cause.is::<FakeIp>()) { FAKE_IP_HINT } else { "try again later" }
}

/// Resolves names to addresses within a reach only.
struct Within(Reach, Resolver);

/// A name resolved to the fake-IP range, and the owner did not let that through.
#[derive(Debug)]
struct FakeIp(String);

impl std::fmt::Display for FakeIp {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(&self.0)
    }
}

impl std::error::Error for FakeIp {}

impl Resolve for Within {
    fn resolve(&self, name: Name) -> Resolving {
        let Self(most, resolver) = *self;
        Box::pin(async move {
            let found = tokio::net::lookup_host((name.as_str(), 0)).await?;
            let (fit, others): (Vec<_>, Vec<_>) = found.partition(|found| resolver.reach(found.ip()) <= most);
            if fit.is_empty() {
                let fake = others.iter().find_map(|found| resolver.refused(name.as_str(), found.ip()));
                return Err(match fake {
                    Some(why) => FakeIp(why).into(),
                    None => "it resolves to a private or local address, or to none".into(),
                });
            }
            Ok(Box::new(fit.into_iter()) as Addrs)
        })
    }
}
