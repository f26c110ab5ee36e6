//! Files of the wallet's home: private to this user, replaced whole or appended to, and synced.

use anyhow::{Context, Result, bail, ensure};
use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

/// Largest file that is read.
const MOST_BYTES: u64 = 64 << 20;

/// The text of a file that this user alone can read; `None` where there is none.
pub fn text(path: &Path) -> Result<Option<String>> {
    let file = match open_by(OpenOptions::new().read(true), path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => {
            return Err(error).with_context(|| format!("{} cannot be opened", path.display()));
        }
    };
    let meta = file.metadata()?;
    ensure!(meta.is_file() && meta.len() <= MOST_BYTES, "{} is no file of modest size", path.display());
    if meta.permissions().mode() & 0o077 != 0 {
        bail!("{} can be read by others: chmod 600 {}", path.display(), path.display());
    }
    let mut text = String::new();
    file.take(MOST_BYTES)
        .read_to_string(&mut text)
        .with_context(|| format!("{} is no text", path.display()))?;
    Ok(Some(text))
}

/// Makes a folder that this user alone can enter.
pub fn folder(path: &Path) -> Result<()> {
    let made = DirBuilder::new().recursive(true).mode(0o700).create(path);
    made.with_context(|| format!("{} cannot be made", path.display()))?;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o700))
        .with_context(|| format!("{} cannot be closed to others", path.display()))
}

/// Replaces a file whole; with `fresh` only where there is none.
pub fn replace(path: &Path, text: &str, fresh: bool) -> Result<()> {
    let aside = path.with_extension("aside");
    let write = || -> std::io::Result<()> {
        match std::fs::remove_file(&aside) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let mut file = open_by(OpenOptions::new().write(true).create_new(true), &aside)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        if fresh {
            std::fs::hard_link(&aside, path)?;
            std::fs::remove_file(&aside)?;
        } else {
            std::fs::rename(&aside, path)?;
        }
        sync_folder(path)
    };
    write().with_context(|| format!("{} cannot be written", path.display()))
}

/// Opens a file for whole lines at its end.
pub fn appended(path: &Path) -> Result<File> {
    let file = open_by(OpenOptions::new().create(true).append(true), path)
        .with_context(|| format!("{} cannot be opened", path.display()))?;
    sync_folder(path).with_context(|| format!("{} cannot be synced", path.display()))?;
    Ok(file)
}

/// Opens a file, this user's alone where it is made; never waits, never follows a link.
#[allow(clippy::disallowed_methods, reason = "every open of a file comes here")]
pub fn open_by(options: &mut OpenOptions, path: &Path) -> std::io::Result<File> {
    options.mode(0o600).custom_flags(nix::libc::O_NOFOLLOW | nix::libc::O_NONBLOCK).open(path)
}

#[allow(clippy::disallowed_methods, reason = "a folder, for its entries to last")]
fn sync_folder(path: &Path) -> std::io::Result<()> {
    path.parent().map_or(Ok(()), |folder| File::open(folder)?.sync_all())
}
