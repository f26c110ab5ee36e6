//! The folder of the page beyond this machine: small files, each replaced whole and synced, closed to the creature.
//!
//! Two processes write them, the page and the owner's commands: each under the lock from before it reads until it has
//! written.

use anyhow::{Context, Result, bail};
use house::{House, files};
use nix::sys::stat::Mode;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fs::{DirBuilder, File};
use std::os::unix::fs::DirBuilderExt;
use std::path::PathBuf;
use std::time::Duration;

/// Files, by what is in them.
pub const SEATS: &str = "sessions.json";
pub const PASSWORD: &str = "password.json";
pub const PASSKEYS: &str = "passkeys.json";
pub const GUESSES: &str = "guesses.json";
pub const INVITATION: &str = "invitation.json";
const LOCK: &str = "lock";

/// Tries for the lock, and the time between: two seconds. Nobody holds it longer than two writes take.
const TRIES: u32 = 200;
const BETWEEN_TRIES: Duration = Duration::from_millis(10);

#[derive(Clone, Debug)]
pub struct Stored {
    house: House,
}

impl Stored {
    pub fn of(house: &House) -> Self {
        Self { house: house.clone() }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.house.page_folder().join(name)
    }

    /// Reads what a file holds; as if there were none where it cannot be understood.
    pub fn read<T: DeserializeOwned + Default>(&self, name: &str) -> T {
        let bytes = files::read_small(&self.path(name)).ok().flatten();
        bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default()
    }

    /// Why a file that is there cannot be understood; none where it can be.
    pub fn damage<T: DeserializeOwned>(&self, name: &str) -> Option<String> {
        match files::read_small(&self.path(name)) {
            Ok(bytes) => serde_json::from_slice::<T>(&bytes?).err().map(|error| error.to_string()),
            Err(error) => Some(format!("{error:#}")),
        }
    }

    /// Changes what a file holds; it is on the disk when this returns.
    pub fn change<T: DeserializeOwned + Default + Serialize, R>(
        &self,
        name: &str,
        change: impl FnOnce(&mut T) -> R,
    ) -> Result<R> {
        self.alone(|| {
            let mut held = self.read(name);
            let came = change(&mut held);
            self.write(name, &serde_json::to_vec(&held)?)?;
            Ok(came)
        })
    }

    /// Works with files while nobody else changes any of them.
    pub fn alone<R>(&self, work: impl FnOnce() -> Result<R>) -> Result<R> {
        let _held = self.lock()?;
        work()
    }

    /// Takes what a file holds away, where it is to be taken; true: it was. Who has nothing to take gets no lock.
    pub fn take<T: DeserializeOwned>(&self, name: &str, is_to_be: impl Fn(&T) -> bool) -> Result<bool> {
        let path = self.path(name);
        let is_there = || {
            let bytes = files::read_small(&path)?;
            let held = bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok());
            Ok::<_, anyhow::Error>(held.is_some_and(|held| is_to_be(&held)))
        };
        if !is_there()? {
            return Ok(false);
        }
        self.alone(|| {
            if !is_there()? {
                return Ok(false);
            }
            std::fs::remove_file(&path).with_context(|| format!("failed to remove {}", path.display()))?;
            files::sync_folder(&path)?;
            Ok(true)
        })
    }

    /// Replaces a file whole.
    pub fn write(&self, name: &str, bytes: &[u8]) -> Result<()> {
        self.folder()?;
        files::replace(&self.path(name), bytes)
    }

    fn folder(&self) -> Result<()> {
        let folder = self.house.page_folder();
        DirBuilder::new()
            .recursive(true)
            .mode((Mode::S_IRWXU).bits())
            .create(&folder)
            .with_context(|| format!("failed to make {}", folder.display()))
    }

    fn lock(&self) -> Result<File> {
        self.folder()?;
        let path = self.path(LOCK);
        let file = files::open_lock(&path).with_context(|| format!("failed to open {}", path.display()))?;
        for _ in 0..TRIES {
            if file.try_lock().is_ok() {
                return Ok(file);
            }
            std::thread::sleep(BETWEEN_TRIES);
        }
        bail!("{} is held by another process that does not get on", path.display())
    }
}
