//! Ask files: each ask in a file of its own that only the broker reads and writes.

use super::ask::Ask;
use crate::ground::files;
use anyhow::{Context, Result};
use house::House;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

pub struct AskFiles {
    folder: PathBuf,
}

impl AskFiles {
    pub fn new(house: &House) -> Self {
        Self { folder: house.asks_folder() }
    }

    /// Reads all asks.
    pub fn load(&self) -> Result<BTreeMap<u64, Ask>> {
        let folder = &self.folder;
        std::fs::create_dir_all(folder).with_context(|| format!("failed to make {}", folder.display()))?;
        let mut held = BTreeMap::new();
        let entries =
            std::fs::read_dir(folder).with_context(|| format!("failed to list {}", folder.display()))?;
        for entry in
            entries.flatten().filter(|entry| entry.path().extension().is_some_and(|end| end == "json"))
        {
            let id = entry.path().file_stem().and_then(|stem| stem.to_str()?.parse::<u64>().ok());
            match (id, read(&entry.path())) {
                (Some(id), Ok(ask)) if ask.id == id => {
                    held.insert(id, ask);
                }
                (_, Err(error)) => tracing::error!("an ask is lost to sight: {error:#}"),
                _ => tracing::error!("an ask is lost to sight: {} is not its name", entry.path().display()),
            }
        }
        Ok(held)
    }

    pub fn write(&self, ask: &Ask) -> Result<()> {
        let bytes = serde_json::to_vec_pretty(ask)?;
        files::replace_secret(&self.file(ask.id), &bytes)
    }

    pub fn remove(&self, id: u64) {
        let _ = std::fs::remove_file(self.file(id));
    }

    fn file(&self, id: u64) -> PathBuf {
        self.folder.join(format!("{id}.json"))
    }
}

fn read(path: &Path) -> Result<Ask> {
    let bytes = files::read_small(path)?.with_context(|| format!("{} is gone", path.display()))?;
    serde_json::from_slice(&bytes).with_context(|| format!("failed to understand {}", path.display()))
}
