//! Connections to the mailbox's server: TCP, and TLS with the certificates this machine trusts.

use crate::settings::Server;
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use rustls_platform_verifier::Verifier;
use std::fmt::Debug;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;

/// Longest time for a connection to stand, with TLS.
pub const CONNECT: Duration = Duration::from_secs(20);

pub trait Wire: AsyncRead + AsyncWrite + Unpin + Debug + Send {}

impl<T: AsyncRead + AsyncWrite + Unpin + Debug + Send> Wire for T {}

pub async fn connect(server: &Server) -> Result<TcpStream, String> {
    let (host, port) = (server.host.as_str(), server.port);
    let connected = timeout(CONNECT, TcpStream::connect((host, port))).await;
    match connected {
        Ok(Ok(stream)) => {
            // Small commands wait for their answers.
            let _ = stream.set_nodelay(true);
            Ok(stream)
        }
        Ok(Err(error)) => Err(format!("{host}:{port} is not reached: {error}")),
        Err(_) => Err(format!("{host}:{port} is not reached within {} s", CONNECT.as_secs())),
    }
}

/// TLS over a connection; the server has to be who it is called.
pub async fn secured(server: &Server, stream: impl Wire + 'static) -> Result<Box<dyn Wire>, String> {
    let host = server.host.clone();
    let name = ServerName::try_from(host.clone()).map_err(|_| format!("{host} is no name of a server"))?;
    let connector = TlsConnector::from(Arc::new(trusting()?));
    match timeout(CONNECT, connector.connect(name, stream)).await {
        Ok(Ok(stream)) => Ok(Box::new(stream)),
        Ok(Err(error)) => Err(format!("{host} is not trusted, or speaks no TLS there: {error}")),
        Err(_) => Err(format!("{host} does not answer within {} s", CONNECT.as_secs())),
    }
}

fn trusting() -> Result<ClientConfig, String> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let verifier = Verifier::new(provider.clone())
        .map_err(|error| format!("the certificates of this machine cannot be read: {error}"))?;
    let config = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let config = config.map_err(|error| error.to_string())?.dangerous();
    Ok(config.with_custom_certificate_verifier(Arc::new(verifier)).with_no_client_auth())
}
