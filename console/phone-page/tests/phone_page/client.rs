//! A browser's part over TLS: one request as bytes, and the answer taken apart; it tells the certificate and looks no further.

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, ClientConnection, DigitallySignedStruct, Error, SignatureScheme, StreamOwned};
use sha2::{Digest, Sha256};
use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// What a reader waits for at most; nothing is asserted of how long it took.
const PATIENCE: Duration = Duration::from_secs(60);

/// Takes every certificate, as an owner does who compares its fingerprint.
#[derive(Debug)]
struct Seen {
    provider: CryptoProvider,
    certificate: Mutex<Vec<u8>>,
}

impl ServerCertVerifier for Seen {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        *self.certificate.lock().unwrap() = certificate.to_vec();
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, certificate, signed, &self.provider.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, certificate, signed, &self.provider.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

pub struct Answer {
    pub status: u16,
    pub head: String,
    pub body: String,
}

impl Answer {
    /// The value of a cookie that it sets.
    pub fn cookie(&self, begin: &str) -> Option<String> {
        let sets = self.head.lines().filter_map(|line| line.strip_prefix("set-cookie: "));
        let mut found = sets.filter_map(|set| set.split(';').next()).filter(|set| set.starts_with(begin));
        found.next().map(str::to_owned)
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| line.strip_prefix(&format!("{name}: ")))
    }
}

/// A connection that has been opened, and the SHA-256 of the certificate it was opened by.
pub fn open(at: SocketAddr) -> std::io::Result<(StreamOwned<ClientConnection, TcpStream>, String)> {
    let seen = Arc::new(Seen { provider: ring::default_provider(), certificate: Mutex::default() });
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()));
    let config = config.with_safe_default_protocol_versions().unwrap().dangerous();
    let config = config.with_custom_certificate_verifier(seen.clone()).with_no_client_auth();
    let name = ServerName::try_from("localhost").unwrap();
    let client = ClientConnection::new(Arc::new(config), name).unwrap();
    let tcp = TcpStream::connect(at)?;
    tcp.set_read_timeout(Some(PATIENCE))?;
    let mut stream = StreamOwned::new(client, tcp);
    while stream.conn.is_handshaking() {
        stream.conn.complete_io(&mut stream.sock)?;
    }
    let digest = Sha256::digest(&*seen.certificate.lock().unwrap());
    let told: Vec<String> = digest.iter().map(|byte| format!("{byte:02X}")).collect();
    Ok((stream, told.join(":")))
}

/// One request of exactly these lines, and its answer.
pub fn ask(at: SocketAddr, first: &str, lines: &[String], body: &str) -> std::io::Result<Answer> {
    let (mut stream, _) = open(at)?;
    let lines: String = lines.iter().map(|line| format!("{line}\r\n")).collect();
    write!(stream, "{first}\r\n{lines}Connection: close\r\n\r\n{body}")?;
    let mut bytes = Vec::new();
    match stream.read_to_end(&mut bytes) {
        Err(error) if error.kind() != ErrorKind::UnexpectedEof => Err(error),
        _ => Ok(answer(&bytes)),
    }
}

pub fn answer(bytes: &[u8]) -> Answer {
    let text = String::from_utf8_lossy(bytes);
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
    Answer { status, head: head.replace("\r\n", "\n"), body: body.to_owned() }
}

pub fn encoded(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric();
    let letters = text.bytes();
    letters
        .map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect()
}
