//! The section of `owner.toml` on the page beyond this machine: where it listens, its name, its certificate.

use super::forms::Form;
use super::key::Shape::Text;
use super::key::section;
use std::net::SocketAddr;

section! {
    /// Your page beyond this machine, for a phone: over TLS and behind a sign-in.
    Page {
        /// address and port where it listens, as in `"0.0.0.0:4433"`; left out: on no other than loopback, by `serve`
        listen: Option<String> = None, Text(Form::Listening);
        /// the name by which browsers reach it, as in `"house.example.org"`; left out: by its address alone, and without
        /// passkeys
        host: Option<String> = None, Text(Form::HostName);
        /// a file with your certificate for it, and those that vouch for that, as PEM; left out: one is made, whose
        /// fingerprint you compare
        cert: Option<String> = None, Text(Form::Folder);
        /// a file with that certificate's key, as PEM
        key: Option<String> = None, Text(Form::Folder);
    }
}

impl Page {
    /// Where it listens, if anywhere.
    pub fn listens(&self) -> Option<SocketAddr> {
        self.listen.as_deref().and_then(|listen| listen.parse().ok())
    }
}

/// Mistakes that only several keys together show.
pub fn contradictions(page: &Page) -> Option<(Vec<&'static str>, String)> {
    let missing = match (&page.cert, &page.key) {
        (Some(_), None) => "key",
        (None, Some(_)) => "cert",
        _ => return None,
    };
    Some((vec!["page", missing], "is missing: a certificate and its key go together".to_owned()))
}
