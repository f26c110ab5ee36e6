//! The way to a host: to its addresses that were judged, or through the owner's proxy.

use super::Forward;
use crate::ground::hosts::{self, Reach};
use crate::ground::refusal::Refusal;
use crate::net::tunnel;
use crate::web::{address, pages};
use hyper_util::client::proxy::matcher::Intercept;
use reqwest::Url;
use std::net::SocketAddr;
use tokio::net::TcpStream;

pub enum Way {
    To(Vec<SocketAddr>),
    Through(Box<Intercept>),
}

impl Way {
    pub async fn connect(&self, target: &str) -> anyhow::Result<TcpStream> {
        match self {
            Self::To(addresses) => tunnel::dial(addresses).await,
            Self::Through(proxy) => tunnel::chain(proxy, target).await,
        }
    }
}

impl Forward {
    /// Judges a host as `/web` does: as it is spelled, and in the addresses its name resolves to, once.
    pub(super) async fn way(&self, https: bool, host: &str, port: u16) -> Result<Way, Refusal> {
        if let Some(ip) = self.names.get().and_then(|names| names.get(host)) {
            let to = SocketAddr::new(*ip, port);
            // A name of a test's that leads elsewhere is judged like any other.
            if hosts::reach(*ip) == Reach::Loopback && !self.handles.own_port.is(port) {
                return Ok(Way::To(vec![to]));
            }
            address::resolved(host, *ip, &self.web, self.handles.resolver)?;
            return Ok(Way::To(vec![to]));
        }
        let scheme = if https { "https" } else { "http" };
        let url: Url = address::check(&format!("{scheme}://{}/", tunnel::target(host, port)), &self.web)?;
        let proxy = tunnel::base(https, host, port).and_then(|uri| self.proxies.intercept(&uri));
        if let Some(proxy) = proxy {
            return Ok(Way::Through(Box::new(proxy)));
        }
        let (own_port, resolver) = (&self.handles.own_port, self.handles.resolver);
        pages::checked(&hosts::host(&url), port, &self.web, own_port, resolver).await.map(Way::To)
    }
}
