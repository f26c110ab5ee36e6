//! A terminal that a command runs at, and every byte it was given, in order.

use super::looked_for;
use nix::pty::{Winsize, openpty};
use std::fs::File;
use std::io::Read;
use std::process::Command;
use std::sync::{Arc, Mutex};

/// A terminal so many columns wide, and a command that runs at it.
pub struct Terminal {
    child: std::process::Child,
    seen: Arc<Mutex<Vec<u8>>>,
}

impl Terminal {
    pub fn run(command: Command, columns: u16) -> Self {
        Self::run_in(command, columns, "1")
    }

    /// With this for `NO_COLOR`.
    pub fn run_in(mut command: Command, columns: u16, no_colour: &str) -> Self {
        let size = Winsize { ws_row: 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
        let pty = openpty(Some(&size), None).unwrap();
        let ours: File = pty.master.into();
        command.env("NO_COLOR", no_colour).env("TERM", "xterm").env_remove("RUST_LOG");
        command.stdout(pty.slave.try_clone().unwrap()).stderr(pty.slave);
        let child = command.spawn().unwrap();
        // Its ends of the terminal are closed with it.
        drop(command);
        let seen = Arc::new(Mutex::new(Vec::new()));
        let (mut from, to) = (ours, seen.clone());
        std::thread::spawn(move || {
            let mut bytes = [0; 4_096];
            while let Ok(read) = from.read(&mut bytes) {
                if read == 0 {
                    return;
                }
                to.lock().unwrap().extend_from_slice(&bytes[..read]);
            }
        });
        Self { child, seen }
    }

    pub fn text(&self) -> String {
        let bytes = self.seen.lock().unwrap().clone();
        String::from_utf8_lossy(&bytes).replace("\r\n", "\n")
    }

    /// What is there once a text is.
    pub fn until(&self, part: &str) -> String {
        let found = looked_for(|| Some(self.text()).filter(|text| text.contains(part)));
        found.unwrap_or_else(|| panic!("waited in vain for {part:?}: {}", self.text()))
    }

    /// All that a command prints, once it has ended.
    pub fn whole(mut self) -> String {
        self.child.wait().unwrap();
        looked_for(|| (Arc::strong_count(&self.seen) == 1).then_some(())).expect("the terminal is closed");
        self.text()
    }

    pub fn end(mut self) {
        nix::sys::signal::kill(
            nix::unistd::Pid::from_raw(self.child.id() as i32),
            nix::sys::signal::Signal::SIGTERM,
        )
        .unwrap();
        self.child.wait().unwrap();
    }
}
