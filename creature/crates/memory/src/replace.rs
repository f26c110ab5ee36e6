//! Replaces a file whole, so that a reader or a crash finds the old text or the new one, never a half.

use ground::files;
use std::ffi::OsString;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::Error;

/// Writes aside in the same folder, syncs, renames over `path` and syncs the folder; keeps the old file's rights.
pub fn replace(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    let folder = files::folder_of(path);
    fs::create_dir_all(folder).map_err(Error::on(folder, "create the folder"))?;
    let aside = aside(path).map_err(Error::on(path, "replace"))?;
    let written = write_aside(&aside, path, bytes).and_then(|()| fs::rename(&aside, path));
    if let Err(error) = written {
        // What is left aside is overwritten by the next attempt, so a failure to remove it costs nothing.
        let _ = fs::remove_file(&aside);
        return Err(Error::on(path, "replace")(error));
    }
    files::sync_folder(folder).map_err(Error::on(folder, "sync the folder"))
}

/// Renames a file that cannot be read, or a folder in its place, to `<stem>-<time>.<extension>`: the next
/// replacement then neither overwrites it nor fails. An empty file stays.
pub fn set_aside(path: &Path) -> io::Result<()> {
    let found = fs::symlink_metadata(path)?;
    if found.is_file() && found.len() == 0 {
        return Ok(());
    }
    let name = |part: Option<&std::ffi::OsStr>| part.unwrap_or_default().to_string_lossy().into_owned();
    let time = jiff::Timestamp::now().strftime("%Y%m%dT%H%M%S.%3fZ");
    fs::rename(
        path,
        path.with_file_name(format!("{}-{time}.{}", name(path.file_stem()), name(path.extension()))),
    )
}

fn write_aside(aside: &Path, path: &Path, bytes: &[u8]) -> io::Result<()> {
    // A link left under this name must not be written through.
    match fs::remove_file(aside) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(_) if aside.is_dir() => set_aside(aside)?,
        removed => removed?,
    }
    let mut file = files::open_with(OpenOptions::new().write(true).create_new(true), aside)?;
    match fs::symlink_metadata(path) {
        // The next life has to read it, whatever rights the old file was left with.
        Ok(old) if old.is_file() => {
            let mode = old.permissions().mode() | 0o600;
            file.set_permissions(fs::Permissions::from_mode(mode))?;
        }
        Ok(old) if old.is_dir() => set_aside(path)?,
        _ => {}
    }
    file.write_all(bytes)?;
    file.sync_all()
}

fn aside(path: &Path) -> io::Result<PathBuf> {
    let Some(name) = path.file_name() else {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "no file name"));
    };
    // One writer a file, so one name is enough, and what a crash leaves there does not pile up.
    let mut hidden = OsString::from(".");
    hidden.push(name);
    hidden.push(".aside");
    Ok(path.with_file_name(hidden))
}
