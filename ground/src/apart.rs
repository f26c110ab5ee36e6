//! Keeps the broker's folder outside `.self`: a grant of a folder covers all below it, so Landlock alone could not hide it.
//!
//! `.self/broker` is a link to a folder beside `.self`. Invariant: the folder's content is under the link's name or under
//! the folder's own at every moment, whenever this is killed.

use crate::{House, clock, files};
use anyhow::{Context, Result};
use nix::fcntl::{AT_FDCWD, RenameFlags, renameat2};
use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

/// The folder that `.self/broker` leads to: beside `.self`, or beside what that is a link to.
pub fn folder(house: &House) -> PathBuf {
    let state = house.state_folder();
    let state = if state.is_symlink() { state.canonicalize().unwrap_or(state) } else { state };
    let name = state.file_name().unwrap_or_default().to_string_lossy().into_owned();
    state.with_file_name(format!("{name}-broker"))
}

/// Makes the folder and the link, and moves there what an earlier version kept below `.self`.
pub fn keep(house: &House) -> Result<()> {
    let (link, folder) = (house.broker(), folder(house));
    let target = Path::new("..").join(folder.file_name().unwrap_or_default());
    let failed = || {
        let (link, folder) = (link.display(), folder.display());
        format!(
            "failed to keep {link} outside .self; to do it by hand: mv {link} {folder} && ln -s {folder} {link}"
        )
    };
    let leads_to = fs::read_link(&link).ok();
    if leads_to.as_ref().is_some_and(|to| *to != target) {
        // The owner keeps it elsewhere.
        return Ok(());
    }
    if leads_to.is_none() {
        make_room(&folder).with_context(failed)?;
        if link.is_dir() {
            // The link is made under the folder's name and the two change places, in one step.
            symlink(&target, &folder).with_context(failed)?;
            renameat2(AT_FDCWD, &link, AT_FDCWD, &folder, RenameFlags::RENAME_EXCHANGE)
                .with_context(failed)?;
        } else {
            fs::create_dir_all(house.state_folder()).with_context(failed)?;
            symlink(&target, &link).with_context(failed)?;
        }
    }
    fs::create_dir_all(&folder).with_context(failed)?;
    fs::set_permissions(&folder, Permissions::from_mode(0o700)).with_context(failed)?;
    let ignored = folder.join(".gitignore");
    if ignored.exists() { Ok(()) } else { files::replace_unsynced(&ignored, b"*\n").with_context(failed) }
}

/// Moves aside a folder whose `.self` is gone, and removes a link that never changed places.
fn make_room(folder: &Path) -> std::io::Result<()> {
    if folder.is_symlink() {
        return fs::remove_file(folder);
    }
    let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
    fs::rename(folder, folder.with_file_name(format!("{name}-{}", clock::name()))).or_else(missing)
}

fn missing(error: std::io::Error) -> std::io::Result<()> {
    if error.kind() == std::io::ErrorKind::NotFound { Ok(()) } else { Err(error) }
}
