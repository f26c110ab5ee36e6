//! Judges a host that a program asks for: its addresses, or the owner's proxy, which resolves its name.

use super::Forward;
use crate::ground::hosts;
use crate::ground::refusal::Refusal;
use crate::net::destination::Destination;
use crate::net::tunnel;
use crate::web::{address, pages};
use reqwest::Url;
use std::net::SocketAddr;

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
        if let Some(proxy) = Destination::through(&self.proxies, https, host, port) {
            return Ok(proxy);
        }
        let (own_port, resolver) = (&self.handles.own_port, self.handles.resolver);
        pages::checked(&hosts::host(&url), port, &self.web, own_port, resolver).await.map(Destination::To)
    }
}
