//! Folders held open, so that what lies below them can be reached through no link, whoever swaps what meanwhile.
//!
//! The creature may replace any name in its folders at any moment. Invariant: a path is resolved beneath an open folder,
//! and only its last step is left to a caller, who must not follow a link there.

use nix::fcntl::{OFlag, OpenHow, ResolveFlag, openat2};
use nix::sys::stat::Mode;
use std::fs::{self, File};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Component, Path, PathBuf};

/// A folder that is what it was when it was opened, wherever its name leads now.
#[derive(Debug)]
pub struct Folder {
    held: OwnedFd,
}

impl Folder {
    /// Opens a folder by a path that nobody but the owner can change; links of the owner's are followed.
    pub fn open(path: &Path) -> io::Result<Self> {
        let file = File::open(path)?;
        if !file.metadata()?.is_dir() {
            return Err(io::ErrorKind::NotADirectory.into());
        }
        Ok(Self { held: file.into() })
    }

    /// A folder below this one, through no link.
    pub fn folder(&self, path: &Path) -> io::Result<Self> {
        let how = OpenHow::new()
            .flags(OFlag::O_RDONLY | OFlag::O_DIRECTORY | OFlag::O_CLOEXEC)
            .mode(Mode::empty())
            .resolve(ResolveFlag::RESOLVE_BENEATH | ResolveFlag::RESOLVE_NO_SYMLINKS);
        let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
        Ok(Self { held: openat2(&self.held, path, how)? })
    }

    /// The same, made where it is missing. What is in its way and is no folder is an error.
    pub fn make(&self, path: &Path) -> io::Result<Self> {
        let mut folder = self.folder(Path::new("."))?;
        for part in path.components() {
            let Component::Normal(name) = part else { continue };
            match fs::create_dir(folder.at(name)) {
                Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
                _ => folder = folder.folder(Path::new(name))?,
            }
        }
        Ok(folder)
    }

    /// A path to a name in this very folder. Its last step is the caller's: to be used with what follows no link.
    pub fn at(&self, name: impl AsRef<Path>) -> PathBuf {
        self.path().join(name)
    }

    /// A path to this very folder, for as long as it is held.
    pub fn path(&self) -> PathBuf {
        PathBuf::from(format!("/proc/self/fd/{}", self.held.as_raw_fd()))
    }

    pub fn metadata(&self) -> io::Result<fs::Metadata> {
        fs::metadata(self.path())
    }

    /// Removes a name and, if it is a folder, all below it.
    pub fn remove_all(&self, name: impl AsRef<Path>) -> io::Result<()> {
        let path = self.at(name);
        if fs::symlink_metadata(&path)?.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) }
    }
}
