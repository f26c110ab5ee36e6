//! The Telegram server of the tests as a program of its own: PORT and the file it keeps its state in; killed, it goes on there.
#![allow(clippy::disallowed_methods)]

#[path = "../tests/channels/faithful/telegram.rs"]
mod telegram;

use std::path::PathBuf;

fn main() {
    let mut words = std::env::args().skip(1);
    let port = words.next().and_then(|port| port.parse().ok()).unwrap_or(0);
    let journal = words.next().map(PathBuf::from);
    let server = telegram::Server::at(port, journal.as_deref());
    println!("{}", server.url());
    loop {
        std::thread::park();
    }
}
