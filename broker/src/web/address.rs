//! Addresses a fetch may reach: checked in the URL as written, and again in what its name resolves to.
//!
//! Invariant: link-local, multicast and metadata addresses are out of reach, whatever the owner allows.
//! Not covered: behind a proxy the proxy resolves names, so only the URL itself is checked.

use crate::ground::hosts::{self, Reach, Resolver, host, reach};
use crate::ground::refusal::Refusal;
use crate::policy;
use reqwest::Url;
use std::net::IpAddr;

/// Ports on public hosts that pages may be fetched from.
const PORTS: [u16; 4] = [80, 443, 8080, 8443];
/// Longest URL, in characters: a longer one would carry data out.
const LONGEST_URL: usize = 4_000;

/// Parses `url` and refuses what must not be fetched: other schemes and ports, credentials, unusual notations, hosts
/// that are private or that the owner excluded.
pub fn check(url: &str, web: &policy::Web) -> Result<Url, Refusal> {
    let whole = "give a whole address, like https://example.org/page";
    let refuse = |what: &str, hint: &str| {
        Err(Refusal::new(403, "refused_address", format!("{}: {what}", short(url)), hint))
    };
    if url.len() > LONGEST_URL {
        return refuse(&format!("longer than {LONGEST_URL} characters"), "ask for a shorter address");
    }
    if url.chars().any(|c| c.is_control() || c == '\\') {
        return refuse("it holds control characters or backslashes", whole);
    }
    let Ok(parsed) = Url::parse(url.trim()) else { return refuse("not an address", whole) };
    if !matches!(parsed.scheme(), "http" | "https") {
        let what = format!("`{}` is not http or https", parsed.scheme());
        return refuse(&what, "only web pages can be fetched");
    }
    if !parsed.username().is_empty() || parsed.password().is_some() || authority(url).contains('@') {
        return refuse("it carries a user name or password", "leave out everything before the @");
    }
    let host = host(&parsed);
    if host.is_empty() || host.ends_with('.') || host.contains('%') {
        return refuse("the host is empty or ends in a dot", "spell the host plainly");
    }
    if !listed(&host, web) {
        let hint = "the owner decides with allow and deny under [web] in owner.toml; try another source";
        let message = format!("{host} is not among the hosts allowed");
        return Err(Refusal::new(403, "refused_host", message, hint));
    }
    if let Ok(ip) = host.parse::<IpAddr>() {
        if ip.is_ipv4() && !authority(url).starts_with(&host) {
            return refuse("the address is spelled in an odd way", "write it as four decimal numbers");
        }
        allowed(&host, ip, web)?;
    } else if hosts::is_local_name(&host) && !web.allow_private {
        return Err(private(&host));
    }
    let port = parsed.port_or_known_default().unwrap_or_default();
    if !web.allow_private && !PORTS.contains(&port) {
        let what = format!("port {port} is not one that pages are served on");
        return refuse(&what, "ports are 80, 443, 8080, 8443");
    }
    Ok(parsed)
}

/// The target of a redirect from `from` to `location`, checked like any URL.
pub fn hop(from: &Url, location: &str, web: &policy::Web) -> Result<Url, Refusal> {
    let refuse = |refused: Refusal| Refusal {
        message: format!("the redirect of {}: {}", printable(from), refused.message),
        ..refused
    };
    let next = from.join(location).map_err(|_| {
        let hint = "the site is broken there; try another address";
        refuse(Refusal::new(403, "refused_address", "leads nowhere", hint))
    })?;
    // A location with a host is checked as written; a relative one has the host checked before.
    let spelled = if Url::parse(location.trim()).is_ok() { location } else { next.as_str() };
    let next = check(spelled, web).map_err(refuse)?;
    if from.scheme() == "https" && next.scheme() == "http" {
        let hint = "fetch that address itself if plain http will do";
        let what = format!("leaves https for {}", printable(&next));
        return Err(refuse(Refusal::new(403, "refused_address", what, hint)));
    }
    Ok(next)
}

/// Checks an address that a name resolved to.
pub fn resolved(host: &str, ip: IpAddr, web: &policy::Web, resolver: Resolver) -> Result<(), Refusal> {
    match resolver.refused(host, ip) {
        Some(why) if !web.allow_private => {
            Err(Refusal::new(403, "refused_address", why, hosts::FAKE_IP_HINT))
        }
        _ if resolver.reach(ip) == Reach::Public => Ok(()),
        _ => allowed(host, ip, web),
    }
}

/// Checks an address by its reach, as for an address in the URL itself.
pub fn allowed(host: &str, ip: IpAddr, web: &policy::Web) -> Result<(), Refusal> {
    match reach(ip) {
        Reach::Public => Ok(()),
        Reach::Private | Reach::Loopback if web.allow_private => Ok(()),
        Reach::Private | Reach::Loopback => Err(private(host)),
        Reach::Never => {
            let hint = "link-local, multicast and metadata addresses are never fetched; use a public address";
            Err(Refusal::new(403, "refused_address", format!("{host} is out of reach"), hint))
        }
    }
}

/// The refusal of a host on this machine or in a private network.
pub fn private(host: &str) -> Refusal {
    let hint =
        "use a public address; the owner can allow private ones with allow_private under [web] in owner.toml";
    Refusal::new(403, "refused_address", format!("{host} is a private or local address"), hint)
}

/// Whether the owner's lists allow a host: `deny` wins, and a non-empty `allow` excludes all others.
fn listed(host: &str, web: &policy::Web) -> bool {
    let fits = |pattern: &String| fits(pattern, host);
    !web.deny.iter().any(fits) && (web.allow.is_empty() || web.allow.iter().any(fits))
}

/// Whether a host matches: `example.org` is that host; `*.example.org` every host below it, not itself.
pub fn fits(pattern: &str, host: &str) -> bool {
    let (pattern, host) = (pattern.trim().to_ascii_lowercase(), host.to_ascii_lowercase());
    match pattern.strip_prefix("*.") {
        Some(above) => host.strip_suffix(above).is_some_and(|below| below.len() > 1 && below.ends_with('.')),
        None => pattern == host,
    }
}

/// Host and port as written, in lower case.
fn authority(url: &str) -> String {
    let rest = url.trim().split_once("//").map_or("", |(_, rest)| rest);
    rest.split(['/', '?', '#']).next().unwrap_or_default().to_ascii_lowercase()
}

/// `url` for messages: no password, no query, no fragment, bounded length.
pub fn printable(url: &Url) -> String {
    let mut url = url.clone();
    // Both fail only for URLs that cannot have credentials.
    let _ = url.set_username("");
    let _ = url.set_password(None);
    url.set_fragment(None);
    url.set_query(None);
    short(url.as_str())
}

fn short(url: &str) -> String {
    let mut kept: String = url.chars().filter(|c| !c.is_control()).take(200).collect();
    if kept.len() < url.len() {
        kept.push('…');
    }
    kept
}
