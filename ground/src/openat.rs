//! Folders held open: paths below them are opened through no symbolic link, whatever is renamed meanwhile.
//!
//! The creature may replace any name in its folders at any moment. Invariant: a path is resolved beneath an open folder,
//! and only its last step is left to a caller, who must not follow a link there.

use crate::{files, interrupt, plain};
use nix::errno::Errno;
use nix::fcntl::{OFlag, OpenHow, ResolveFlag, openat, openat2};
use nix::sys::stat::{FileStat, Mode, SFlag, fstat};
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::PermissionsExt;
use std::path::{Component, Path, PathBuf};

/// Folders within one another that are walked into; more would use up the stack or the table of open files.
pub const MOST_DEPTH: usize = 100;
/// Mode bits a folder's owner needs to list, change and enter it.
const USABLE: u32 = 0o700;
/// Rounds in which a tree is removed; each removes `MOST_DEPTH` levels.
const MOST_ROUNDS: usize = 100_000;

/// A handle, to be read by nobody, on what lies below an open folder and is reached through no link.
pub fn beneath(root: BorrowedFd, path: &Path, flags: OFlag, more: ResolveFlag) -> io::Result<OwnedFd> {
    let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
    let how = OpenHow::new()
        .flags(OFlag::O_PATH | OFlag::O_CLOEXEC | flags)
        .mode(Mode::empty())
        .resolve(ResolveFlag::RESOLVE_BENEATH | ResolveFlag::RESOLVE_NO_SYMLINKS | more);
    match openat2(root, path, how) {
        // Kernels before 5.6 and of other makes have no such call, and filters of containers refuse it by either word.
        Err(Errno::ENOSYS | Errno::EPERM) => by_steps(root, path, flags, more),
        found => Ok(found?),
    }
}

/// The same, step by step: each is opened in the folder before it, so that a rename meanwhile leads nowhere else. Another
/// disk is known by its number, so that a folder of the same one that is mounted there passes.
fn by_steps(root: BorrowedFd, path: &Path, flags: OFlag, more: ResolveFlag) -> io::Result<OwnedFd> {
    let open = |at: BorrowedFd, name: &OsStr, flags: OFlag| -> io::Result<(OwnedFd, FileStat)> {
        let flags = flags | OFlag::O_PATH | OFlag::O_CLOEXEC | OFlag::O_NOFOLLOW;
        let found = openat(at, name, flags, Mode::empty())?;
        let told = fstat(&found)?;
        // A link is opened as what it is.
        let kind = SFlag::from_bits_truncate(told.st_mode) & SFlag::S_IFMT;
        if kind == SFlag::S_IFLNK { Err(Errno::ELOOP.into()) } else { Ok((found, told)) }
    };
    let (mut found, first) = open(root, OsStr::new("."), OFlag::empty())?;
    let mut steps = path.components().filter(|part| *part != Component::CurDir).peekable();
    while let Some(step) = steps.next() {
        let Component::Normal(name) = step else { return Err(Errno::EXDEV.into()) };
        let flags = if steps.peek().is_some() { OFlag::O_DIRECTORY } else { flags };
        let (next, told) = open(found.as_fd(), name, flags)?;
        if more.contains(ResolveFlag::RESOLVE_NO_XDEV) && told.st_dev != first.st_dev {
            return Err(Errno::EXDEV.into());
        }
        found = next;
    }
    Ok(found)
}

/// A handle on one folder: it stays the same folder, wherever its name leads later.
#[derive(Debug)]
pub struct Folder {
    held: File,
    /// Number of folders between this one and the one opened by its path.
    depth: usize,
}

impl Folder {
    /// Opens a folder by a path that only the owner can change; links on that path are the owner's, and followed.
    pub fn open(path: &Path) -> io::Result<Self> {
        Ok(Self { held: files::open_folder(path)?, depth: 0 })
    }

    /// Opens a folder below this one, through no link. Missing permissions of its owner's are given back first:
    /// without them only root could keep or remove what lies in it.
    pub fn folder(&self, path: &Path) -> io::Result<Self> {
        self.find(path, ResolveFlag::empty())
    }

    /// Opens a folder directly in this one, on the same disk: what the owner mounted there belongs neither to the
    /// creature nor to the guardian.
    pub fn inner(&self, name: &OsStr) -> io::Result<Self> {
        self.find(Path::new(name), ResolveFlag::RESOLVE_NO_XDEV)
    }

    fn find(&self, path: &Path, more: ResolveFlag) -> io::Result<Self> {
        let found = beneath(self.held.as_fd(), path, OFlag::O_DIRECTORY, more)?;
        // By descriptor: by now another folder may have the name.
        let at = format!("/proc/self/fd/{}", found.as_raw_fd());
        let mode = fs::metadata(&at)?.permissions().mode();
        if mode & USABLE != USABLE {
            let _ = fs::set_permissions(&at, fs::Permissions::from_mode(mode | USABLE));
        }
        let held = files::open_folder(Path::new(&at))?;
        let steps = path.components().filter(|part| matches!(part, Component::Normal(_))).count();
        Ok(Self { held, depth: self.depth + steps })
    }

    /// Whether folders below this one are too deep to be walked into.
    pub fn is_deep(&self) -> bool {
        self.depth >= MOST_DEPTH
    }

    /// As `folder`, made where it is missing. Anything in its place that is no folder is an error.
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

    /// A path to a name in this folder. The caller must use it with calls that do not follow a link in its last step.
    pub fn at(&self, name: impl AsRef<Path>) -> PathBuf {
        self.path().join(name)
    }

    /// A path to this folder, valid as long as the handle is held.
    pub fn path(&self) -> PathBuf {
        PathBuf::from(format!("/proc/self/fd/{}", self.held.as_raw_fd()))
    }

    /// The names in this folder, one after another: there may be more than fit in memory.
    pub fn names(&self) -> io::Result<impl Iterator<Item = io::Result<OsString>>> {
        Ok(fs::read_dir(self.path())?.map(|entry| entry.map(|entry| entry.file_name())))
    }

    pub fn metadata(&self) -> io::Result<fs::Metadata> {
        self.held.metadata()
    }

    /// Removes flags, access lists and modes from this folder that would keep its entries from being changed, as far
    /// as permitted.
    pub fn free(&self) {
        plain::free_folder(&self.held);
    }

    /// Removes the same from an entry of this folder, so that it can be moved.
    pub fn release(&self, name: &OsStr) {
        match self.inner(name) {
            Ok(folder) => folder.free(),
            // Besides folders only regular files have such flags; opening anything else might wait or have effects.
            Err(_) => _ = files::open(&self.at(name)).map(|file| file.map(|file| plain::free(&file))),
        }
    }

    /// Makes renames, creations and removals in this folder last through a power cut.
    pub fn sync(&self) -> io::Result<()> {
        self.held.sync_all()
    }

    /// Makes everything written to this folder's disk last through a power cut.
    pub fn sync_disk(&self) -> io::Result<()> {
        Ok(nix::unistd::syncfs(&self.held)?)
    }

    /// Removes an entry and, if it is a folder, everything below it, however deep, except what is on another disk.
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

    /// Removes an entry that is no folder, even one flagged immutable.
    fn remove_file(&self, name: &Path) -> io::Result<()> {
        let path = self.at(name);
        fs::remove_file(&path).or_else(|_| {
            self.release(name.as_os_str());
            fs::remove_file(&path)
        })
    }

    /// Removes the entries of this folder. Folders too deep move up into `top` for the next round; returns whether
    /// any did.
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
