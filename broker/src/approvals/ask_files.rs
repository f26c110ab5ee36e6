//! The asks as they lie on the disk, and the end of the file the creature hears of them by.

use crate::approvals::asks::Ask;
use crate::ground::files;
use crate::ground::house::House;
use anyhow::{Context, Result};
use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::io::{Read, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// Of a file of lines, what is looked through, in bytes.
const TAIL: u64 = 1 << 20;

/// Every ask on the disk.
pub fn load(house: &House) -> Result<BTreeMap<u64, Ask>> {
    let folder = house.asks_folder();
    std::fs::create_dir_all(&folder).with_context(|| format!("failed to make {}", folder.display()))?;
    let mut held = BTreeMap::new();
    let entries =
        std::fs::read_dir(&folder).with_context(|| format!("failed to list {}", folder.display()))?;
    for entry in entries.flatten().filter(|entry| entry.path().extension().is_some_and(|end| end == "json")) {
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

fn read(path: &Path) -> Result<Ask> {
    let bytes = files::read_small(path)?.with_context(|| format!("{} is gone", path.display()))?;
    serde_json::from_slice(&bytes).with_context(|| format!("failed to understand {}", path.display()))
}

/// Ends a line that a crash left without its end.
pub fn mend(path: &Path) -> Result<()> {
    if tail(path)?.is_empty() || tail(path)?.ends_with('\n') {
        return Ok(());
    }
    let mut file = OpenOptions::new().append(true).custom_flags(nix::libc::O_NOFOLLOW).open(path)?;
    file.write_all(b"\n")?;
    Ok(file.sync_data()?)
}

/// The end of a file; nothing where there is none.
pub fn tail(path: &Path) -> Result<String> {
    let flags = nix::libc::O_NOFOLLOW | nix::libc::O_NONBLOCK;
    let mut file = match OpenOptions::new().read(true).custom_flags(flags).open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(String::new()),
        Err(error) => return Err(error).with_context(|| format!("failed to open {}", path.display())),
    };
    let bytes = file.metadata()?.len();
    file.seek(SeekFrom::Start(bytes.saturating_sub(TAIL)))?;
    let mut tail = Vec::new();
    file.take(TAIL).read_to_end(&mut tail)?;
    Ok(String::from_utf8_lossy(&tail).into_owned())
}
