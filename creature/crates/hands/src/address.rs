//! Which addresses a fetch may reach: checked in the URL, and again in what its name resolves to.
//!
//! Invariant: without leave, the address checked is the address connected to, on every hop.
//! Not covered: behind a proxy the proxy resolves names, so only what the URL spells out is checked.

use crate::Error;
use reqwest::Url;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

pub(crate) const PRIVATE_HINT: &str =
    "use a public address; the owner can allow private ones with allow_private under [web] in owner.toml";
/// What the client's error says when the resolver refused: errors pass through it as text only.
pub(crate) const REFUSED: &str = "resolves to a private or local address";
const PROXY_VARIABLES: [&str; 3] = ["http_proxy", "https_proxy", "all_proxy"];

/// Reads `url` and refuses what must not be fetched: other schemes, passwords, private hosts.
pub fn check(url: &str, allow_private: bool) -> Result<Url, Error> {
    let parsed = Url::parse(url.trim()).map_err(|cause| {
        let hint = "give a whole URL, like https://example.org/page";
        Error::new(format!("read `{}` as a url: {cause}", short(url)), hint)
    })?;
    let name = printable(&parsed);
    if !matches!(parsed.scheme(), "http" | "https") {
        let message = format!("fetch {name}: `{}` is not http or https", parsed.scheme());
        return Err(Error::new(message, "only web addresses can be fetched"));
    }
    if !parsed.username().is_empty() || parsed.password().is_some() {
        let message = format!("fetch {name}: the url carries a user name or password");
        return Err(Error::new(message, "leave out everything before the @"));
    }
    let host = host(&parsed);
    if host.is_empty() {
        let message = format!("fetch {name}: the url names no host");
        return Err(Error::new(message, "give a whole URL"));
    }
    if allow_private {
        return Ok(parsed);
    }
    let refused = match host.parse::<IpAddr>() {
        Ok(ip) => !is_public(ip),
        Err(_) => is_local_name(&host) || proxy_hosts().contains(&host),
    };
    if refused {
        let message = format!("fetch {name}: {host} is a private or local address");
        return Err(Error::new(message, PRIVATE_HINT));
    }
    Ok(parsed)
}

/// Where a redirect from `from` to `location` leads, checked like any URL.
pub fn hop(from: &Url, location: &str, allow_private: bool) -> Result<Url, Error> {
    let name = printable(from);
    let next = from.join(location).map_err(|cause| {
        let message = format!("follow the redirect of {name}: {cause}");
        Error::new(message, "the site is broken there; try another address")
    })?;
    let next = check(next.as_str(), allow_private).map_err(|refused| Error {
        message: format!("follow the redirect of {name}: {refused}"),
        ..refused
    })?;
    if from.scheme() == "https" && next.scheme() == "http" {
        let message = format!("follow the redirect of {name}: it leaves https for {}", printable(&next));
        return Err(Error::new(message, "fetch that address itself if plain http will do"));
    }
    Ok(next)
}

/// True for hosts that are this machine, whatever the spelling: they are never asked for through a proxy.
pub fn is_loopback(url: &Url) -> bool {
    let host = host(url);
    match host.parse::<IpAddr>() {
        Ok(ip) => {
            let ip = embedded(ip).map_or(ip, IpAddr::V4);
            ip.is_loopback() || ip.is_unspecified()
        }
        Err(_) => host == "localhost" || host.ends_with(".localhost"),
    }
}

/// True for addresses of the public internet; everything reserved, local or shared is not.
pub fn is_public(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(v4) => is_public_v4(v4),
        IpAddr::V6(v6) => embedded(ip).is_none_or(is_public_v4) && is_public_v6(v6),
    }
}

/// `url` for messages: no password, no fragment, not endless.
pub fn printable(url: &Url) -> String {
    let mut url = url.clone();
    // Both fail only for URLs that cannot hold credentials, where there is nothing to hide.
    let _ = url.set_username("");
    let _ = url.set_password(None);
    url.set_fragment(None);
    short(url.as_str())
}

fn short(url: &str) -> String {
    let mut kept: String = url.chars().take(200).collect();
    if kept.len() < url.len() {
        kept.push('…');
    }
    kept
}

/// The host as the URL parser understood it: lower case, no brackets, no trailing dot.
fn host(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    let host = host.trim_start_matches('[').trim_end_matches(']');
    host.trim_end_matches('.').to_ascii_lowercase()
}

fn is_local_name(host: &str) -> bool {
    let endings = [".localhost", ".local", ".internal", ".home.arpa"];
    host == "localhost" || endings.iter().any(|ending| host.ends_with(ending))
}

fn is_public_v4(ip: Ipv4Addr) -> bool {
    let [a, b, c, _] = ip.octets();
    // This network, carrier-grade NAT, protocol assignments, 6to4 relays, benchmarks, multicast and above.
    let reserved = matches!(
        (a, b, c),
        (0 | 224..=255, ..) | (100, 64..=127, _) | (192, 0, 0) | (192, 88, 99) | (198, 18..=19, _)
    );
    let local = ip.is_private() || ip.is_loopback() || ip.is_link_local();
    !(reserved || local || ip.is_documentation())
}

fn is_public_v6(ip: Ipv6Addr) -> bool {
    let [a, b, c, ..] = ip.segments();
    if embedded(IpAddr::V6(ip)).is_some() {
        // The NAT64 prefix for local use, and whatever else only carries an IPv4 address.
        return (a, b, c) != (0x64, 0xff9b, 1);
    }
    // Only 2000::/3 is handed out; of it, not documentation, ORCHID, benchmarks or Teredo.
    (0x2000..=0x3fff).contains(&a)
        && !(a == 0x2001 && matches!(b, 0 | 2 | 0xdb8 | 0x10..=0x2f))
        && !(a == 0x3fff && b < 0x1000)
}

/// The IPv4 address inside an IPv6 one that tunnels or translates to it.
fn embedded(ip: IpAddr) -> Option<Ipv4Addr> {
    let IpAddr::V6(v6) = ip else { return None };
    let join = |high: u16, low: u16| Some(Ipv4Addr::from((u32::from(high) << 16) | u32::from(low)));
    match v6.segments() {
        [0, 0, 0, 0, 0, 0, 0, 0 | 1] => None,
        [0, 0, 0, 0, 0, 0 | 0xffff, high, low] => join(high, low),
        [0, 0, 0, 0, 0xffff, 0, high, low] => join(high, low),
        [0x64, 0xff9b, 0 | 1, _, _, _, high, low] => join(high, low),
        [0x2002, high, low, ..] => join(high, low),
        _ => None,
    }
}

/// Hosts of the proxies in the environment: the client must be able to resolve those.
fn proxy_hosts() -> BTreeSet<String> {
    let spellings = PROXY_VARIABLES.iter().flat_map(|name| [(*name).to_owned(), name.to_uppercase()]);
    spellings
        .filter_map(|name| std::env::var(name).ok())
        .filter_map(|proxy| Url::parse(&proxy).or_else(|_| Url::parse(&format!("http://{proxy}"))).ok())
        .map(|url| host(&url))
        .collect()
}

/// A resolver that keeps only the public addresses of a name.
pub struct Gate {
    proxies: BTreeSet<String>,
}

impl Gate {
    /// Lets through the proxies named in the environment, which are often private.
    pub fn from_env() -> Self {
        Self { proxies: proxy_hosts() }
    }
}

impl Resolve for Gate {
    fn resolve(&self, name: Name) -> Resolving {
        let name = name.as_str().to_ascii_lowercase();
        let is_proxy = self.proxies.contains(name.trim_end_matches('.'));
        Box::pin(async move {
            let found = tokio::net::lookup_host((name.as_str(), 0)).await?;
            let kept: Vec<_> = found.filter(|to| is_proxy || is_public(to.ip())).collect();
            if kept.is_empty() {
                return Err(format!("{name} {REFUSED}").into());
            }
            Ok(Box::new(kept.into_iter()) as Addrs)
        })
    }
}
