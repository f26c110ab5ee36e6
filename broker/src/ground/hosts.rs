//! Reach of hosts and addresses: this machine, a private network, or the public internet.
//!
//! Invariant: link-local, multicast and metadata addresses form a class of their own that no owner's setting allows.

use house::settings::broker::Dns;
use reqwest::Url;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Reach of an address: how far away it is; permission for a reach includes those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reach {
    Public,
    /// Private, shared, reserved: a local network.
    Private,
    /// This machine.
    Loopback,
    /// Link-local (with the clouds' metadata servers), multicast, unassigned.
    Never,
}

/// Resolver of this machine, by how its answers are taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Resolver {
    /// Whether answers of the fake-IP range count as public: a proxy takes the connection and knows the name.
    pub fake_ip: bool,
}

impl Resolver {
    /// Returns the reach of an address that a name resolved to. In a URL as written the same address stays what it is.
    pub fn reach(self, ip: IpAddr) -> Reach {
        if self.fake_ip && Dns::is_fake(ip) { Reach::Public } else { reach(ip) }
    }

    /// Says why a name is refused that resolved to an address of the fake-IP range.
    pub fn refused(self, host: &str, ip: IpAddr) -> Option<String> {
        (!self.fake_ip && Dns::is_fake(ip)).then(|| {
            format!(
                "{host} resolves to {ip}: a proxy answers every name like that (fake-IP DNS, as Clash has it)"
            )
        })
    }
}

/// Whom to ask when a resolver answers with the fake-IP range.
pub const FAKE_IP_HINT: &str = "the owner lets these addresses through with fake_ip = true under [dns] in owner.toml; \
                                private and local ones stay refused";

/// Returns the reach of an address.
pub fn reach(ip: IpAddr) -> Reach {
    match ip {
        IpAddr::V4(v4) => reach_v4(v4),
        IpAddr::V6(v6) => match carried(v6) {
            Some((v4, plain)) => {
                let inner = reach_v4(v4);
                // A public address reached by a tunnel or mapping is not treated as public.
                if plain { inner } else { inner.max(Reach::Private) }
            }
            None => reach_v6(v6),
        },
    }
}

fn reach_v4(ip: Ipv4Addr) -> Reach {
    let [a, b, c, d] = ip.octets();
    match (a, b, c, d) {
        (127, ..) => Reach::Loopback,
        (0 | 224..=255, ..) | (169, 254, ..) | (168, 63, 129, 16) | (100, 100, 100, 200) => Reach::Never,
        // Private networks, carrier-grade NAT, protocol assignments, 6to4 relays, benchmarks, documentation.
        (10, ..) | (172, 16..=31, ..) | (192, 168, ..) | (100, 64..=127, ..) => Reach::Private,
        (192, 0, 0 | 2, _) | (192, 88, 99, _) | (198, 18..=19, ..) => Reach::Private,
        (198, 51, 100, _) | (203, 0, 113, _) => Reach::Private,
        _ => Reach::Public,
    }
}

fn reach_v6(ip: Ipv6Addr) -> Reach {
    let [a, b, ..] = ip.segments();
    if ip.is_loopback() {
        return Reach::Loopback;
    }
    let metadata = ip.segments() == [0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254];
    if ip.is_unspecified() || ip.is_multicast() || (0xfe80..=0xfebf).contains(&a) || metadata {
        return Reach::Never;
    }
    // Only 2000::/3 is handed out; of it, not documentation, ORCHID, benchmarks or Teredo.
    let public = (0x2000..=0x3fff).contains(&a)
        && !(a == 0x2001 && matches!(b, 0 | 2 | 0xdb8 | 0x10..=0x2f))
        && !(a == 0x3fff && b < 0x1000);
    if public { Reach::Public } else { Reach::Private }
}

/// The IPv4 address inside an IPv6 one that tunnels or translates to it, and whether that is a usual way to reach it.
fn carried(ip: Ipv6Addr) -> Option<(Ipv4Addr, bool)> {
    let join = |high: u16, low: u16| Ipv4Addr::from((u32::from(high) << 16) | u32::from(low));
    match ip.segments() {
        [0, 0, 0, 0, 0, 0, 0, 0 | 1] => None,
        [0, 0, 0, 0, 0, 0 | 0xffff, high, low] | [0, 0, 0, 0, 0xffff, 0, high, low] => {
            Some((join(high, low), false))
        }
        // NAT64: networks without IPv4 reach all of it this way.
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] => Some((join(high, low), true)),
        [0x64, 0xff9b, 1, _, _, _, high, low] => Some((join(high, low), false)),
        [0x2002, high, low, ..] => Some((join(high, low), false)),
        // ISATAP: intra-site tunnels have their IPv4 end in the last two groups.
        [_, _, _, _, 0 | 0x200, 0x5efe, high, low] => Some((join(high, low), false)),
        _ => None,
    }
}

/// The host as the URL parser understood it, in lower case and without brackets.
pub fn host(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    host.trim_start_matches('[').trim_end_matches(']').to_ascii_lowercase()
}

/// Whether a host's name means this machine: such hosts are never reached through a proxy.
pub fn is_loopback(host: &str) -> bool {
    let by_name = host == "localhost" || host.ends_with(".localhost");
    by_name || host.parse().is_ok_and(|ip| reach(ip) == Reach::Loopback)
}

/// Names that only a private network resolves; a single label would be completed by the resolver's search list.
pub fn is_local_name(host: &str) -> bool {
    let endings = [".localhost", ".local", ".internal", ".home.arpa", ".lan", ".localdomain"];
    !host.contains('.') || endings.iter().any(|ending| host.ends_with(ending))
}
