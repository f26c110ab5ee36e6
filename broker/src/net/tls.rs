//! The certificates that all outward clients trust: this system's, read once; and what all these clients have in common.

use anyhow::{Context, Result};
use house::mutex::lock;
use reqwest::{Client, ClientBuilder, redirect, retry};
use rustls::ClientConfig;
use rustls_platform_verifier::ConfigVerifierExt;
use std::sync::Mutex;
use std::time::Duration;

/// Kept because reading some hundred certificates takes longer than the rest of a start.
static SHARED: Mutex<Option<ClientConfig>> = Mutex::new(None);

const CONNECT: Duration = Duration::from_secs(10);

/// A builder for clients that trust this system's certificates, go where they are sent and try once; fails if there
/// are none.
pub fn client() -> Result<ClientBuilder> {
    let client = Client::builder().tls_backend_preconfigured(config()?).user_agent("feral");
    Ok(client.redirect(redirect::Policy::none()).retry(retry::never()).connect_timeout(CONNECT))
}

fn config() -> Result<ClientConfig> {
    let mut shared = lock(&SHARED);
    if let Some(config) = shared.as_ref() {
        return Ok(config.clone());
    }
    // Fails only if a provider is installed already.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let failed = "failed to prepare https; is ca-certificates installed?";
    let mut config = ClientConfig::with_platform_verifier().context(failed)?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(shared.insert(config).clone())
}
