//! The certificate of the page: the owner's, from the files that are named, or one that is made here and kept.

use crate::stored::Stored;
use anyhow::{Context, Result, bail, ensure};
use house::clock::{self, Millis};
use house::files;
use house::settings::page::Page;
use jiff::{SignedDuration, Timestamp, tz::TimeZone};
use nix::ifaddrs::getifaddrs;
use rcgen::{CertificateParams, DistinguishedName, DnType, KeyPair, date_time_ymd};
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::sign::CertifiedKey;
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::Read;
use std::net::IpAddr;
use std::path::Path;
use x509_parser::certificate::X509Certificate;
use x509_parser::extensions::GeneralName;
use x509_parser::prelude::FromDer;

/// Files of a certificate that was made here.
const MADE: &str = "certificate.pem";
const MADE_KEY: &str = "key.pem";
/// Days one that is made is good for: Apple's devices take no longer one than 825 (support.apple.com, HT210176). And days
/// before its end from which on another is made at the next start, or the owner is told.
const GOOD_DAYS: i64 = 800;
pub const LATE_DAYS: i64 = 21;
const MOST_BYTES: u64 = 1 << 20;

/// A certificate with its key, and what is known of it.
#[derive(Debug)]
pub struct Certificate {
    pub key: CertifiedKey,
    pub is_owners: bool,
    /// SHA-256 of the certificate itself, as browsers and openssl show it.
    pub fingerprint: String,
    pub from_ms: Millis,
    pub until_ms: Millis,
    pub names: BTreeSet<String>,
}

impl Certificate {
    /// The owner's, or the one that was made here; makes one where there is none that would do.
    pub fn of(page: &Page, stored: &Stored) -> Result<Self> {
        match Self::there(page, stored) {
            Some(owners) if page.cert.is_some() => return owners,
            Some(Ok(made))
                if made.has_begun()
                    && !made.ends_within(LATE_DAYS)
                    && page.host.iter().all(|host| made.is_for(host)) =>
            {
                return Ok(made);
            }
            _ => {}
        }
        make(page, stored)?;
        Self::kept(stored)
    }

    /// The one there is, without making any.
    pub fn there(page: &Page, stored: &Stored) -> Option<Result<Self>> {
        match (&page.cert, &page.key) {
            (Some(cert), Some(key)) => Some(Self::owners(Path::new(cert), Path::new(key))),
            _ => Self::kept(stored).ok().map(Ok),
        }
    }

    fn owners(cert: &Path, key: &Path) -> Result<Self> {
        let read = |path: &Path| {
            let file =
                files::open_owners(path).with_context(|| format!("failed to open {}", path.display()))?;
            let mut bytes = Vec::new();
            file.take(MOST_BYTES)
                .read_to_end(&mut bytes)
                .with_context(|| format!("failed to read {}", path.display()))?;
            Ok::<_, anyhow::Error>(bytes)
        };
        let told = || format!("{} with {}", cert.display(), key.display());
        Self::from_pem(&read(cert)?, &read(key)?, true).with_context(told)
    }

    fn kept(stored: &Stored) -> Result<Self> {
        let read = |name: &str| {
            files::read_small(&stored.path(name))?.with_context(|| format!("there is no {name}"))
        };
        Self::from_pem(&read(MADE)?, &read(MADE_KEY)?, false)
    }

    /// Reads both, and holds that they belong together.
    pub fn from_pem(cert: &[u8], key: &[u8], is_owners: bool) -> Result<Self> {
        let chain: Vec<_> =
            CertificateDer::pem_slice_iter(cert).collect::<Result<_, _>>().context("no PEM")?;
        let Some(first) = chain.first().cloned() else { bail!("there is no certificate in it") };
        let key = PrivateKeyDer::from_pem_slice(key)
            .context("there is no key as PEM without a passphrase in it")?;
        let (_, of) = X509Certificate::from_der(&first).ok().context("its certificate cannot be read")?;
        let ms = |seconds: i64| u64::try_from(seconds).unwrap_or(0).saturating_mul(1_000);
        let (from_ms, until_ms) =
            (ms(of.validity().not_before.timestamp()), ms(of.validity().not_after.timestamp()));
        let names = names(&of);
        let key = CertifiedKey::from_der(chain, key, &ring::default_provider())
            .context("the key is not the certificate's, or of a kind that is not known")?;
        Ok(Self { key, is_owners, fingerprint: fingerprint(&first), from_ms, until_ms, names })
    }

    /// Whether it has begun: one that was made by a clock that was ahead has not.
    pub fn has_begun(&self) -> bool {
        self.from_ms <= clock::wall_ms()
    }

    pub fn ends_within(&self, days: i64) -> bool {
        let days_ms = u64::try_from(days).unwrap_or(0) * 24 * 60 * 60 * 1_000;
        clock::wall_ms().saturating_add(days_ms) >= self.until_ms
    }

    pub fn is_for(&self, host: &str) -> bool {
        let above = host.split_once('.').map(|(_, above)| format!("*.{above}"));
        self.names.contains(host) || above.is_some_and(|above| self.names.contains(&above))
    }
}

/// The names and addresses a certificate is for.
#[allow(clippy::wildcard_enum_match_arm)]
fn names(of: &X509Certificate) -> BTreeSet<String> {
    let found = of.subject_alternative_name().ok().flatten();
    let all = found.map(|found| found.value.general_names.iter()).into_iter().flatten();
    let name = |name: &GeneralName| match name {
        GeneralName::DNSName(name) => Some(name.to_lowercase()),
        GeneralName::IPAddress(bytes) => match *bytes {
            [a, b, c, d] => Some(IpAddr::from([*a, *b, *c, *d]).to_string()),
            bytes => <[u8; 16]>::try_from(bytes).ok().map(|bytes| IpAddr::from(bytes).to_string()),
        },
        _ => None,
    };
    all.filter_map(name).collect()
}

fn fingerprint(certificate: &[u8]) -> String {
    let mut told = String::new();
    for (at, byte) in Sha256::digest(certificate).iter().enumerate() {
        let _ = write!(told, "{}{byte:02X}", if at == 0 { "" } else { ":" });
    }
    told
}

/// Makes a certificate for the page's name and this machine's addresses. It vouches for nothing but itself.
fn make(page: &Page, stored: &Stored) -> Result<()> {
    let mut names: BTreeSet<String> = page.host.iter().cloned().chain(["localhost".to_owned()]).collect();
    names.extend(addresses().map(|address| address.to_string()));
    let mut params =
        CertificateParams::new(names.into_iter().collect::<Vec<_>>()).context("no such names")?;
    params.distinguished_name = DistinguishedName::new();
    params.distinguished_name.push(DnType::CommonName, "the page of a Feral house");
    let day = |days: i64| {
        let at = Timestamp::now().checked_add(SignedDuration::from_hours(24 * days))?.to_zoned(TimeZone::UTC);
        let (month, day) = (u8::try_from(at.month()).unwrap_or(1), u8::try_from(at.day()).unwrap_or(1));
        Ok::<_, jiff::Error>(date_time_ymd(at.year().into(), month, day))
    };
    (params.not_before, params.not_after) = (day(-1)?, day(GOOD_DAYS)?);
    let key = KeyPair::generate().context("failed to make a key")?;
    let made = params.self_signed(&key).context("failed to make a certificate")?;
    // The key first: a certificate that is there has its key.
    stored.write(MADE_KEY, key.serialize_pem().as_bytes())?;
    stored.write(MADE, made.pem().as_bytes())?;
    ensure!(Certificate::kept(stored).is_ok(), "the certificate that was made cannot be read back");
    Ok(())
}

/// This machine's own addresses.
fn addresses() -> impl Iterator<Item = IpAddr> {
    let all = getifaddrs().into_iter().flatten().filter_map(|interface| interface.address);
    let ip = |address: nix::sys::socket::SockaddrStorage| {
        let four = address.as_sockaddr_in().map(|four| IpAddr::from(four.ip()));
        four.or_else(|| address.as_sockaddr_in6().map(|six| IpAddr::from(six.ip())))
    };
    all.filter_map(ip)
}
