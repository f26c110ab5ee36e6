//! What every client that calls out trusts: this system's certificates, read once for all of them.

use crate::ground::lock::lock;
use anyhow::{Context, Result};
use reqwest::{Client, ClientBuilder};
use rustls::ClientConfig;
use rustls_platform_verifier::ConfigVerifierExt;
use std::sync::Mutex;

/// Reading some hundred certificates takes longer than all else at a start.
static SHARED: Mutex<Option<ClientConfig>> = Mutex::new(None);

/// The beginning of every client; an error where this system has no certificates.
pub fn client() -> Result<ClientBuilder> {
    let mut shared = lock(&SHARED);
    if let Some(config) = shared.as_ref() {
        return Ok(Client::builder().tls_backend_preconfigured(config.clone()));
    }
    // An error only says that a provider is installed already.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let failed = "failed to prepare https; is ca-certificates installed?";
    let mut config = ClientConfig::with_platform_verifier().context(failed)?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Client::builder().tls_backend_preconfigured(shared.insert(config).clone()))
}
