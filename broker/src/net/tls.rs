//! The certificates that all outward clients trust: this system's, read once.

use crate::ground::lock::lock;
use anyhow::{Context, Result};
use reqwest::{Client, ClientBuilder};
use rustls::ClientConfig;
use rustls_platform_verifier::ConfigVerifierExt;
use std::sync::Mutex;

/// Kept because reading some hundred certificates takes longer than the rest of a start.
static SHARED: Mutex<Option<ClientConfig>> = Mutex::new(None);

/// A builder for clients that trust this system's certificates; fails if there are none.
pub fn client() -> Result<ClientBuilder> {
    let mut shared = lock(&SHARED);
    if let Some(config) = shared.as_ref() {
        return Ok(Client::builder().tls_backend_preconfigured(config.clone()));
    }
    // Fails only if a provider is installed already.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let failed = "failed to prepare https; is ca-certificates installed?";
    let mut config = ClientConfig::with_platform_verifier().context(failed)?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Client::builder().tls_backend_preconfigured(shared.insert(config).clone()))
}
