//! The doctor's findings about the machine around the house: folders it needs, and how it resolves names.

use super::finding::{Finding, Grade};
use house::House;
use house::settings::broker::Dns;
use house::settings::{self, Reader, forms};
use processes::machine;
use std::net::{IpAddr, ToSocketAddrs};
use std::sync::mpsc;
use std::time::Duration;

/// A public name that the house's builds ask for anyway.
const NAME: &str = "index.crates.io";
/// Longest wait for a resolver.
const ANSWERED: Duration = Duration::from_secs(3);

/// Finds tools that cargo is told to use and lacks, folders that cannot be written, a resolver with odd answers.
pub fn findings(house: &House) -> Vec<Finding> {
    let mend = "install it, or take the line out";
    let named =
        machine::not_there(house).into_iter().map(|told| Finding::new(Grade::Bad, "cargo", told, mend));
    named.chain([temporary(), cargo_home(), resolver(house)].into_iter().flatten()).collect()
}

fn temporary() -> Option<Finding> {
    let folder = machine::no_temporary()?;
    let found =
        format!("{} is not there or cannot be written: the house's builds use target/tmp", folder.display());
    let mend = "your own cargo needs such a folder too: TMPDIR=DIR names another";
    Some(Finding::new(Grade::Odd, "temporary", found, mend))
}

fn cargo_home() -> Option<Finding> {
    let home = machine::no_cargo_home()?;
    let found = format!("{} cannot be written: cargo keeps nothing there that it fetches", home.display());
    let mend = "make it writable, or name another by CARGO_HOME=DIR, if a build lacks a crate";
    Some(Finding::new(Grade::Odd, "cargo home", found, mend))
}

/// Reports a resolver that answers with the fake-IP range, and what that means here; nothing for any other, or none.
fn resolver(house: &House) -> Option<Finding> {
    let ip = resolved(NAME)?;
    if !Dns::is_fake(ip) {
        return None;
    }
    let mend = "fake_ip = true under [dns] in owner.toml lets these through, private addresses stay refused; or set the \
                proxy to answer with real addresses (redir-host)";
    let found =
        format!("{NAME} resolves to {ip}, as a proxy answers for every name (fake-IP DNS, as Clash has it)");
    let through = settings::load(house, |text| settings::read(text, Reader::Broker, forms::check))
        .is_ok_and(|read| read.settings.dns.fake_ip);
    Some(match through {
        true => Finding::new(Grade::Good, "names", format!("{found}: let through by [dns] fake_ip"), ""),
        false => Finding::new(Grade::Odd, "names", format!("{found}: pages and services are refused"), mend),
    })
}

/// The first address of a name, asked for in a thread of its own: a resolver without a network may take very long.
fn resolved(name: &'static str) -> Option<IpAddr> {
    let (tell, told) = mpsc::channel();
    std::thread::spawn(move || {
        let found = (name, 443).to_socket_addrs().ok().and_then(|mut found| found.next());
        let _ = tell.send(found.map(|found| found.ip()));
    });
    told.recv_timeout(ANSWERED).ok().flatten()
}
