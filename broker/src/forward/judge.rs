//! Judges a host that a program asks for: its addresses, or the owner's proxy, which resolves its name.

use super::Forward;
use crate::ground::hosts;
use crate::ground::refusal::Refusal;
use crate::net::tunnel;
use crate::web::{address, pages};
use hyper_util::client::proxy::matcher::Intercept;
use reqwest::Url;
use std::net::SocketAddr;
use tokio::net::TcpStream;

pub enum Destination {
    To(Vec<SocketAddr>),
    Through(Box<Intercept>),
}

impl Destination {
    pub async fn connect(&self, target: &str) -> anyhow::Result<TcpStream> {
        match self {
            Self::To(addresses) => tunnel::dial(addresses).await,
            Self::Through(proxy) => tunnel::chain(proxy, target).await,
        }
    }
}

impl Forward {
    /// Judges a host as `/web` does: as it is spelled, and in the addresses its name resolves to, once.
    pub(super) async fn judged(&self, https: bool, host: &str, port: u16) -> Result<Destination, Refusal> {
        if let Some(ip) = self.names.get().and_then(|names| names.get(host)) {
            // Any but this machine itself is judged as if a name had led there.
            if !ip.is_loopback() || self.handles.own_port.is(port) {
                address::resolved(host, *ip, &self.web, self.handles.resolver)?;
            }
            return Ok(Destination::To(vec![SocketAddr::new(*ip, port)]));
        }
        let scheme = if https { "https" } else { "http" };
        let url: Url = address::check(&format!("{scheme}://{}/", tunnel::target(host, port)), &self.web)?;
        let proxy = tunnel::base(https, host, port).and_then(|uri| self.proxies.intercept(&uri));
        if let Some(proxy) = proxy {
            return Ok(Destination::Through(Box::new(proxy)));
        }
        let (own_port, resolver) = (&self.handles.own_port, self.handles.resolver);
        pages::checked(&hosts::host(&url), port, &self.web, own_port, resolver).await.map(Destination::To)
    }
}
