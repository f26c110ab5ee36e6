//! Destination of a connection: addresses that were judged, or the owner's proxy, which resolves names itself.

use crate::net::tunnel;
use hyper_util::client::proxy::matcher::{Intercept, Matcher};
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

    /// The owner's proxy, where it takes this host.
    pub fn through(proxies: &Matcher, https: bool, host: &str, port: u16) -> Option<Self> {
        let proxy = tunnel::base(https, host, port).and_then(|uri| proxies.intercept(&uri))?;
        Some(Self::Through(Box::new(proxy)))
    }
}
