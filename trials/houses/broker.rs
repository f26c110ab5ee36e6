//! Brokers for houses: the real one, built where it is missing or old, or a script that behaves as one must not.
#![allow(dead_code, clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::disallowed_methods)]
#![allow(clippy::indexing_slicing, clippy::wildcard_enum_match_arm)]

use super::{House, programs};
use serde_json::Value;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// The same file under another name; a copy where it has to be.
pub fn place(from: &Path, to: &Path) {
    let _ = fs::remove_file(to);
    if fs::hard_link(from, to).is_err() {
        fs::copy(from, to).unwrap();
    }
}

/// The guardian in a folder where there is no broker: shared, so that it takes no room of a house's.
pub fn alone() -> &'static Path {
    static ALONE: OnceLock<PathBuf> = OnceLock::new();
    ALONE.get_or_init(|| {
        // Who runs as another user may not write there, and has a guardian of its own.
        if std::env::var_os("ESCAPE_GUARDIAN").is_some() {
            return programs::guardian().to_owned();
        }
        let folder = programs::kept().join("alone");
        fs::create_dir_all(&folder).unwrap();
        let new = folder.join(format!("guardian-{}", std::process::id()));
        for (from, name) in [(programs::console(), "console"), (programs::guardian(), "guardian")] {
            place(from, &new);
            // Where both are the same file already, nothing is renamed.
            fs::rename(&new, folder.join(name)).unwrap();
            let _ = fs::remove_file(&new);
        }
        folder.join("guardian")
    })
}

impl House {
    /// A guardian of its own, in a folder that a broker can be put into.
    fn beside(&self) -> PathBuf {
        let own = self.folder.path().join("bin/guardian");
        fs::create_dir_all(own.parent().unwrap()).unwrap();
        place(programs::guardian(), &own);
        place(programs::console(), &own.with_file_name("console"));
        own.with_file_name("broker")
    }

    /// Puts the real broker beside the guardian.
    pub fn with_broker(self) -> Self {
        self.take_broker();
        self
    }

    /// The same, for a house that somebody else keeps.
    pub fn take_broker(&self) {
        place(programs::broker(), &self.beside());
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
