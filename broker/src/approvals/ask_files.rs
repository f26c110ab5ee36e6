//! Ask files: each ask in a file of its own that only the broker reads and writes.

use super::ask::Ask;
use crate::ground::files;
use anyhow::{Context, Result};
use house::House;
use std::collections::BTreeMap;
use std::path::Path;

/// Reads all asks.
pub fn load(house: &House) -> Result<BTreeMap<u64, Ask>> {
    let folder = house.asks_folder();
    std::fs::create_dir_all(&folder).with_context(|| format!("failed to make {}", folder.display()))?;
    let entries =
        std::fs::read_dir(&folder).with_context(|| format!("failed to list {}", folder.display()))?;
    let paths = entries.flatten().map(|entry| entry.path());
    let mut held = BTreeMap::new();
    for path in paths.filter(|path| path.extension().is_some_and(|end| end == "json")) {
        match read(&path) {
            Ok(ask) if house.ask(&ask.id.to_string()) == path => drop(held.insert(ask.id, ask)),
            Ok(_) => tracing::error!("an ask is lost to sight: {} is not its name", path.display()),
            Err(error) => tracing::error!("an ask is lost to sight: {error:#}"),
        }
    }
    Ok(held)
}

pub fn write(house: &House, ask: &Ask) -> Result<()> {
    files::replace_secret(&house.ask(&ask.id.to_string()), &serde_json::to_vec_pretty(ask)?)
}

pub fn remove(house: &House, id: u64) {
    let _ = std::fs::remove_file(house.ask(&id.to_string()));
}

fn read(path: &Path) -> Result<Ask> {
    let bytes = files::read_small(path)?.with_context(|| format!("{} is gone", path.display()))?;
    serde_json::from_slice(&bytes).with_context(|| format!("failed to understand {}", path.display()))
}
