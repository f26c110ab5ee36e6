//! The page beyond this machine in a line, for the first screen and `status`: where it listens, and by which certificate.

use crate::settings::page::Page;
use crate::{House, files};
use serde::{Deserialize, Serialize};

/// The program that serves it.
pub const PROGRAM: &str = "phone-page";

/// Standing of a page that listens.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Beyond {
    pub pid: i32,
    /// The address and the port.
    pub at: String,
    pub host: String,
    /// SHA-256 of its certificate.
    pub fingerprint: String,
    /// Whether the certificate is the owner's; else it was made here.
    pub is_owners: bool,
    pub until: String,
}

/// Reads the standing of the page that is served; none where none is.
pub fn read(house: &House) -> Option<Beyond> {
    let bytes = files::read_small(&house.page_standing()).ok()??;
    let told: Beyond = serde_json::from_slice(&bytes).ok()?;
    let name = files::system(format!("/proc/{}/comm", told.pid)).ok()?;
    (name.trim_end() == PROGRAM).then_some(told)
}

/// The line; none where the owner has set nothing of the kind.
pub fn line(house: &House, page: &Page) -> Option<String> {
    let listen = page.listen.as_deref()?;
    let Some(told) = read(house) else {
        return Some(format!("not there yet: it is to listen at {listen}; see .self/log/phone-page.log"));
    };
    let name = match told.host.as_str() {
        "" => String::new(),
        host => format!(" as {host}"),
    };
    let whose = if told.is_owners { "your certificate" } else { "a certificate made here" };
    Some(format!("beyond this machine: https at {}{name}, by {whose}, SHA-256 {}", told.at, told.fingerprint))
}
