//! The page's word of itself for the first screen, `status` and `doctor`: a small file, written once it listens.

use crate::certificate::Certificate;
use crate::stored::Stored;
use anyhow::Result;
use house::beyond::Beyond;
use house::clock;
use house::settings::page::Page;
use std::net::SocketAddr;

const STANDING: &str = "standing.json";

pub fn tell(stored: &Stored, page: &Page, at: SocketAddr, certificate: &Certificate) -> Result<()> {
    let told = Beyond {
        pid: i32::try_from(std::process::id()).unwrap_or(0),
        at: at.to_string(),
        host: page.host.clone().unwrap_or_default(),
        fingerprint: certificate.fingerprint.clone(),
        is_owners: certificate.is_owners,
        until: clock::stamp_of(certificate.until_ms),
    };
    stored.write(STANDING, &serde_json::to_vec(&told)?)
}

/// Tells of another certificate from here on; what cannot be told is no reason not to use it.
pub fn renewed(stored: &Stored, certificate: &Certificate) {
    let before: Beyond = stored.read(STANDING);
    let (fingerprint, until) = (certificate.fingerprint.clone(), clock::stamp_of(certificate.until_ms));
    let told = Beyond { fingerprint, until, ..before };
    let _ = serde_json::to_vec(&told).map(|told| stored.write(STANDING, &told));
}
