//! Folders held open, so that what lies below them can be reached through no link, whoever swaps what meanwhile.
//!
//! The creature may replace any name in its folders at any moment. Invariant: a path is resolved beneath an open folder,
//! and only its last step is left to a caller, who must not follow a link there.

use crate::{files, interrupt, plain};
use nix::fcntl::{OFlag, OpenHow, ResolveFlag, openat2};
use nix::sys::stat::Mode;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Component, Path, PathBuf};

/// Folders within one another that are walked into; deeper ones would use up a stack, or the table of open files.
pub const MOST_DEPTH: usize = 100;
/// What its owner needs to list, change and enter a folder.
const USABLE: u32 = 0o700;
/// Rounds in which a tree is removed; each takes `MOST_DEPTH` off its depth.
const MOST_ROUNDS: usize = 100_000;

/// A folder that is what it was when it was opened, wherever its name leads now.
#[derive(Debug)]
pub struct Folder {
    held: File,
    /// How many folders lie between it and the one that was opened by its path.
    depth: usize,
}

impl Folder {
    /// Opens a folder by a path that nobody but the owner can change; links of the owner's are followed.
    pub fn open(path: &Path) -> io::Result<Self> {
        let held = File::open(path)?;
        if !held.metadata()?.is_dir() {
            return Err(io::ErrorKind::NotADirectory.into());
        }
        Ok(Self { held, depth: 0 })
    }

    /// A folder below this one, through no link. One that was shut is opened: what its maker may not enter, nobody but
    /// root could keep or remove.
    pub fn folder(&self, path: &Path) -> io::Result<Self> {
        self.find(path, ResolveFlag::empty())
    }

    /// A folder in this one, on the same disk: what the owner mounted there is neither the creature's nor ours.
    pub fn inner(&self, name: &OsStr) -> io::Result<Self> {
        self.find(Path::new(name), ResolveFlag::RESOLVE_NO_XDEV)
    }

    fn find(&self, path: &Path, more: ResolveFlag) -> io::Result<Self> {
        let how = OpenHow::new()
            .flags(OFlag::O_PATH | OFlag::O_DIRECTORY | OFlag::O_CLOEXEC)
            .mode(Mode::empty())
            .resolve(ResolveFlag::RESOLVE_BENEATH | ResolveFlag::RESOLVE_NO_SYMLINKS | more);
        let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
        let found: OwnedFd = openat2(&self.held, path, how)?;
        // By the open folder: what has its name now may be another.
        let at = format!("/proc/self/fd/{}", found.as_raw_fd());
        let mode = fs::metadata(&at)?.permissions().mode();
        if mode & USABLE != USABLE {
            let _ = fs::set_permissions(&at, fs::Permissions::from_mode(mode | USABLE));
        }
        let held = File::options().read(true).custom_flags(libc::O_DIRECTORY).open(&at)?;
        let steps = path.components().filter(|part| matches!(part, Component::Normal(_))).count();
        Ok(Self { held, depth: self.depth + steps })
    }

    /// Whether what lies in it is too deep to be walked into.
    pub fn is_deep(&self) -> bool {
        self.depth >= MOST_DEPTH
    }

    /// The same, made where it is missing. What is in its way and is no folder is an error.
    pub fn make(&self, path: &Path) -> io::Result<Self> {
        if let Ok(there) = self.folder(path) {
            return Ok(there);
        }
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

    /// The names in it, one after another: there may be more than memory holds.
    pub fn names(&self) -> io::Result<impl Iterator<Item = io::Result<OsString>>> {
        Ok(fs::read_dir(self.path())?.map(|entry| entry.map(|entry| entry.file_name())))
    }

    pub fn metadata(&self) -> io::Result<fs::Metadata> {
        self.held.metadata()
    }

    /// Takes off it whatever keeps names in it from being changed, as far as we have the right.
    pub fn free(&self) {
        plain::free_folder(&self.held);
    }

    /// The same of a name in it, so that it can be moved.
    pub fn release(&self, name: &OsStr) {
        match self.inner(name) {
            Ok(folder) => folder.free(),
            // Files alone have such marks; opening anything else might wait, or do something.
            Err(_) => _ = files::open(&self.at(name)).map(|file| file.map(|file| plain::free(&file))),
        }
    }

    /// Makes what was renamed, made and removed in it last through a power cut.
    pub fn sync(&self) -> io::Result<()> {
        self.held.sync_all()
    }

    /// Makes all that was written to its disk last through a power cut.
    pub fn sync_disk(&self) -> io::Result<()> {
        Ok(nix::unistd::syncfs(&self.held)?)
    }

    /// Removes a name and, if it is a folder, all below it, however deep, but for what is on another disk.
    pub fn remove_all(&self, name: impl AsRef<Path>) -> io::Result<()> {
        let path = self.at(&name);
        if !fs::symlink_metadata(&path)?.is_dir() {
            return self.remove_file(name.as_ref());
        }
        let top = self.inner(name.as_ref().as_os_str())?;
        for _ in 0..MOST_ROUNDS {
            if !top.empty(&top)? {
                return fs::remove_dir(path);
            }
        }
        Err(io::ErrorKind::DirectoryNotEmpty.into())
    }

    /// Removes what is no folder, though it be marked as not to be removed.
    fn remove_file(&self, name: &Path) -> io::Result<()> {
        let path = self.at(name);
        fs::remove_file(&path).or_else(|_| {
            self.release(name.as_os_str());
            fs::remove_file(&path)
        })
    }

    /// Removes what lies in it. What is too deep moves up into `top`, to be removed in the next round: whether it did.
    fn empty(&self, top: &Self) -> io::Result<bool> {
        self.free();
        let mut moved = false;
        for entry in fs::read_dir(self.path())? {
            interrupt::check().map_err(io::Error::other)?;
            let (name, is_folder) =
                entry.and_then(|entry| Ok((entry.file_name(), entry.file_type()?.is_dir())))?;
            if !is_folder {
                self.remove_file(Path::new(&name))?;
                continue;
            }
            let below = self.inner(&name)?;
            if below.depth - top.depth < MOST_DEPTH {
                moved |= below.empty(top)?;
                fs::remove_dir(self.at(name))?;
                continue;
            }
            below.free();
            fs::rename(self.at(&name), top.at(files::unused_name()))?;
            moved = true;
        }
        Ok(moved)
    }
}
