//! The broker's secrets: looked up by variable, and removed from every text that goes back.

pub use redact::{encodings, keys, patterns};

use keys::Keys;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};

/// A handle; all handles share one set of keys. Locked, since renewed tokens are added.
#[derive(Clone)]
pub struct Secrets(Arc<RwLock<Keys>>);

impl Secrets {
    pub fn new(keys: Keys) -> Self {
        Self(Arc::new(RwLock::new(keys)))
    }

    /// The secret in a variable.
    pub fn get(&self, name: &str) -> Option<String> {
        self.keys().get(name).map(str::to_owned)
    }

    /// Scrubs this value too from now on.
    pub fn know(&self, value: &str) {
        self.0.write().unwrap_or_else(PoisonError::into_inner).know(value);
    }

    /// The text without any known secret.
    pub fn scrub(&self, text: &str) -> String {
        self.keys().scrub(text)
    }

    /// As `scrub`, for bytes that may not be text.
    pub fn scrub_bytes(&self, bytes: Vec<u8>) -> Vec<u8> {
        self.keys().scrub_bytes(bytes)
    }

    /// The text without known secrets, and without anything that looks like one.
    pub fn scrub_all(&self, text: &str) -> String {
        patterns::scrub(self.scrub(text))
    }

    fn keys(&self) -> RwLockReadGuard<'_, Keys> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }
}
