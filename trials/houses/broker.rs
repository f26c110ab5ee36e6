//! Brokers for houses: the real one, built where it is missing or old, or a script that behaves as one must not.

use super::{House, programs};
use serde_json::Value;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// The guardian in a folder where there is no broker: shared, so that it takes no room of a house's.
pub fn alone() -> &'static Path {
    static ALONE: OnceLock<PathBuf> = OnceLock::new();
    ALONE.get_or_init(|| {
        // Who runs as another user may not write there, and has a guardian of its own.
        if let Some(guardian) = programs::brought() {
            return guardian;
        }
        programs::place_guardian(&programs::kept().join("alone"))
    })
}

impl House {
    /// A guardian of its own, in a folder that a broker can be put into.
    fn beside(&self) -> PathBuf {
        programs::place_guardian(&self.folder.path().join("bin")).with_file_name("broker")
    }

    /// Puts the real broker beside the guardian.
    pub fn with_broker(self) -> Self {
        self.take_broker();
        self
    }

    /// The same, for a house that somebody else keeps.
    pub fn take_broker(&self) {
        programs::place(programs::broker(), &self.beside());
    }

    /// Puts a shell script in its place.
    pub fn with_false_broker(self, script: &str) -> Self {
        let path = self.beside();
        fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        self
    }

    pub fn broker(&self) -> Value {
        self.status()["broker"].clone()
    }

    pub fn broker_pid(&self) -> Option<i32> {
        self.broker()["pid"].as_i64().map(|pid| pid as i32)
    }

    /// Waits until a broker runs that is not this one; its process.
    pub fn until_broker(&self, but: Option<i32>) -> i32 {
        self.until("a broker", || self.broker_pid().is_some_and(|pid| Some(pid) != but));
        self.broker_pid().unwrap()
    }
}
