//! Clients for outward calls: no redirects, no cookies, no retries; one for the network, one for loopback.

use crate::net::tls;
use anyhow::{Context, Result};
use reqwest::{Client, Url, redirect};
use std::net::IpAddr;
use std::time::Duration;

#[derive(Clone)]
pub struct Outward {
    network: Client,
    /// Never through a proxy.
    loopback: Client,
}

impl Outward {
    pub fn new() -> Result<Self> {
        let builder = || {
            let client = tls::client()?.user_agent("feral").redirect(redirect::Policy::none());
            anyhow::Ok(client.retry(reqwest::retry::never()).connect_timeout(Duration::from_secs(10)))
        };
        let network = builder()?.build().context("failed to prepare https")?;
        let loopback = builder()?.no_proxy().build().context("failed to prepare http")?;
        Ok(Self { network, loopback })
    }

    pub fn client(&self, url: &Url) -> &Client {
        if is_loopback(url) { &self.loopback } else { &self.network }
    }
}

pub fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default().trim_start_matches('[').trim_end_matches(']');
    host == "localhost"
        || host.ends_with(".localhost")
        || host.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
}
