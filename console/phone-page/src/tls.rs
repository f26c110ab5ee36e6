//! TLS of the page: 1.2 and later, by the certificate of now; a connection that does not begin it is told so and ended.

use crate::certificate::Certificate;
use crate::stored::Stored;
use anyhow::Result;
use house::files::{self, Mark};
use house::settings::page::Page;
use house::{clock, terminal};
use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use rustls::version::{TLS12, TLS13};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

/// The first byte of a connection that begins TLS: a record of a handshake (RFC 8446, section 5.1).
const HANDSHAKE: u8 = 22;
/// Least time between two looks at the owner's files.
const LOOK_MS: clock::Millis = 1_000;
/// No redirect: a browser that was led on would first have sent in the clear what it asks.
const PLAIN: &str = "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\
    Cache-Control: no-store\r\nContent-Length: 63\r\n\r\nThis port answers HTTPS alone. Write https:// before its name.\n";

/// The certificate of now.
#[derive(Debug)]
struct Current {
    page: Page,
    stored: Stored,
    held: Mutex<Held>,
}

#[derive(Debug)]
struct Held {
    key: Arc<CertifiedKey>,
    marks: [Option<Mark>; 2],
    looked_ms: clock::Millis,
}

pub struct Tls {
    acceptor: TlsAcceptor,
}

impl Tls {
    pub fn new(page: &Page, stored: &Stored, first: &Certificate) -> Result<Self> {
        let held = Held { key: Arc::new(first.key.clone()), marks: marks(page), looked_ms: clock::wall_ms() };
        let current = Current { page: page.clone(), stored: stored.clone(), held: Mutex::new(held) };
        let provider = Arc::new(ring::default_provider());
        let config =
            ServerConfig::builder_with_provider(provider).with_protocol_versions(&[&TLS13, &TLS12])?;
        let mut config = config.with_no_client_auth().with_cert_resolver(Arc::new(current));
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Self { acceptor: TlsAcceptor::from(Arc::new(config)) })
    }

    /// Opens a connection that was accepted; none where it does not speak TLS, or none that is good enough.
    pub fn open(
        &self,
        mut stream: TcpStream,
    ) -> impl Future<Output = Option<TlsStream<TcpStream>>> + Send + use<> {
        let acceptor = self.acceptor.clone();
        async move {
            let mut first = [0];
            if stream.peek(&mut first).await.ok()? == 0 {
                return None;
            }
            if first != [HANDSHAKE] {
                // Read first: closed with bytes unread, it would be broken off before the answer is there.
                let _ = stream.read(&mut [0; 4 << 10]).await;
                let _ = stream.write_all(PLAIN.as_bytes()).await;
                let _ = stream.shutdown().await;
                return None;
            }
            acceptor.accept(stream).await.ok()
        }
    }
}

/// Marks of the owner's files, by their links too: who renews certificates often replaces a link.
fn marks(page: &Page) -> [Option<Mark>; 2] {
    [&page.cert, &page.key].map(|path| path.as_ref().and_then(|path| files::mark_of_any(Path::new(path))))
}

impl Current {
    /// The key of now: the owner's files are read anew once they were replaced, and one that does not fit changes nothing.
    fn key(&self) -> Arc<CertifiedKey> {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        let now_ms = clock::wall_ms();
        if self.page.cert.is_none() || now_ms.abs_diff(held.looked_ms) < LOOK_MS {
            return held.key.clone();
        }
        held.looked_ms = now_ms;
        let marks = marks(&self.page);
        if marks != held.marks {
            held.marks = marks;
            match Certificate::of(&self.page, &self.stored) {
                Ok(anew) => {
                    crate::standing::renewed(&self.stored, &anew);
                    held.key = Arc::new(anew.key);
                }
                Err(error) => {
                    terminal::error(&format!(
                        "page: the certificate that was put there is not taken, the one before goes on: {error:#}"
                    ));
                }
            }
        }
        held.key.clone()
    }
}

impl ResolvesServerCert for Current {
    fn resolve(&self, _: ClientHello) -> Option<Arc<CertifiedKey>> {
        Some(self.key())
    }
}
