//! Connections to the servers of a mailbox, through the door: TLS from the first byte, or by STARTTLS.

use crate::channel::Trouble;
use crate::door::Door;
use rustls::pki_types::ServerName;
use std::fmt::Debug;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::timeout;
use tokio_rustls::TlsConnector;

const HANDSHAKE: Duration = Duration::from_secs(20);

pub trait Wire: AsyncRead + AsyncWrite + Unpin + Debug + Send {}

impl<T: AsyncRead + AsyncWrite + Unpin + Debug + Send> Wire for T {}

/// A server by host and port, and how it is spoken to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Server {
    pub host: String,
    pub port: u16,
    pub security: Security,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Security {
    /// From the first byte: ports 993 and 465 (RFC 8314, 3.2 and 3.3).
    Implicit,
    /// By a command before anything else is said.
    StartTls,
    /// By a command where the server offers it: on this machine alone.
    Offered,
}

impl Server {
    /// Reads `host:port`, an IPv6 address in brackets.
    pub fn read(text: &str) -> Result<Self, String> {
        let odd = || format!("{text:?} is no host and port, like imap.example.org:993");
        let (host, port) = text.rsplit_once(':').ok_or_else(odd)?;
        let host = host.trim_start_matches('[').trim_end_matches(']').to_owned();
        let port: u16 = port.parse().map_err(|_| odd())?;
        let is_here =
            host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback());
        let security = match port {
            465 | 993 => Security::Implicit,
            _ if is_here => Security::Offered,
            _ => Security::StartTls,
        };
        if host.is_empty() { Err(odd()) } else { Ok(Self { host, port, security }) }
    }

    /// A connection, with TLS where that comes first.
    pub async fn connect(&self, door: &Door) -> Result<Box<dyn Wire>, Trouble> {
        let stream =
            door.connect(&self.host, self.port).await.map_err(|error| Trouble::Away(format!("{error:#}")))?;
        // Small commands wait for their answers.
        let _ = stream.set_nodelay(true);
        match self.security {
            Security::Implicit => self.secured(door, stream).await,
            Security::StartTls | Security::Offered => Ok(Box::new(stream)),
        }
    }

    /// TLS over a connection: the server has to be who it is called.
    pub async fn secured(&self, door: &Door, stream: impl Wire + 'static) -> Result<Box<dyn Wire>, Trouble> {
        let host = &self.host;
        let name = ServerName::try_from(host.clone())
            .map_err(|_| Trouble::Refused(format!("{host} is no name of a server")))?;
        match timeout(HANDSHAKE, TlsConnector::from(door.tls()).connect(name, stream)).await {
            Ok(Ok(stream)) => Ok(Box::new(stream)),
            Ok(Err(error)) => {
                Err(Trouble::Away(format!("{host} is not trusted, or speaks no TLS there: {error}")))
            }
            Err(_) => Err(Trouble::Away(format!("{host} does not answer within {} s", HANDSHAKE.as_secs()))),
        }
    }
}
