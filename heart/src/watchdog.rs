//! The service manager's watchdog: told when the guardian is ready, and from then on that its loop goes round.
//!
//! Where nobody asked for it, by `NOTIFY_SOCKET` and `WATCHDOG_USEC` in the environment, nothing is sent.

use ground::clock::Millis;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};

pub struct Watchdog {
    socket: Option<UnixDatagram>,
    /// Time between two notices that the loop runs: a quarter of the watchdog's limit.
    every: Option<Millis>,
    /// When the next is due; `None`: before the guardian is ready.
    due: Option<Millis>,
}

impl Watchdog {
    pub fn from_environment() -> Self {
        let usec = std::env::var("WATCHDOG_USEC").ok().and_then(|text| text.parse::<u64>().ok());
        Self { socket: socket(), every: usec.map(|usec| (usec / 4_000).max(1)), due: None }
    }

    pub fn ready(&mut self) {
        self.send(b"READY=1");
        self.due = self.every.map(|_| 0);
    }

    /// Tells that the loop runs. Called on every round and nowhere else: a round that hangs must be noticed.
    pub fn feed(&mut self, now: Millis) {
        if let (Some(every), true) = (self.every, self.due.is_some_and(|due| now >= due)) {
            self.due = Some(now + every);
            self.send(b"WATCHDOG=1");
        }
    }

    /// Returns the time of the loop's next round at the latest; `None`: no limit.
    pub fn due(&self) -> Option<Millis> {
        self.due
    }

    /// Sends without waiting; a lost notice is followed by others.
    fn send(&self, word: &[u8]) {
        let _ = self.socket.as_ref().map(|socket| socket.send(word));
    }
}

/// A socket that leads to the service manager; a name that begins with `@` is no path.
fn socket() -> Option<UnixDatagram> {
    let name = std::env::var_os("NOTIFY_SOCKET")?;
    let address = match name.as_bytes().strip_prefix(b"@") {
        Some(name) => SocketAddr::from_abstract_name(name),
        None => SocketAddr::from_pathname(&name),
    };
    let socket = UnixDatagram::unbound().ok()?;
    socket.set_nonblocking(true).ok()?;
    socket.connect_addr(&address.ok()?).ok()?;
    Some(socket)
}
