//! The shapes a file of `.self/` can be found in, as data: how each is made, and what of it must be kept.

use nix::sys::stat::{Mode, SFlag, mknod};
use std::fs;
use std::io::Write;
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};
use trials::House;

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Shape {
    Missing,
    Empty,
    Garbage,
    Truncated,
    Future,
    Unreadable,
    Folder,
    Pipe,
    Socket,
    Dangling,
    Looping,
    FullPipe,
    /// A link to a device that never ends.
    Endless,
    /// Half a gigabyte of nothing; not among `ALL`, since a log or a memory may well be that long.
    Huge,
}

pub const ALL: [Shape; 13] = [
    Shape::Missing,
    Shape::Empty,
    Shape::Garbage,
    Shape::Truncated,
    Shape::Future,
    Shape::Unreadable,
    Shape::Folder,
    Shape::Pipe,
    Shape::Socket,
    Shape::Dangling,
    Shape::Looping,
    Shape::FullPipe,
    Shape::Endless,
];

pub const INJECTED: &str = "missing, empty, garbage, truncated, from the future, unreadable, a folder, a pipe, a socket, \
                            a dangling and a looping link, a full pipe, a link to /dev/zero, one after the other";

impl Shape {
    /// What no life and no guardian can use as a file.
    pub fn is_no_file(self) -> bool {
        use Shape::{Dangling, Endless, Folder, FullPipe, Looping, Pipe, Socket};
        matches!(self, Folder | Pipe | Socket | Dangling | Looping | FullPipe | Endless)
    }

    /// Whether this shape holds bytes that somebody may want back.
    pub fn holds_bytes(self) -> bool {
        matches!(self, Self::Garbage | Self::Truncated | Self::Future | Self::Folder)
    }

    /// Something to find it by.
    pub fn mark(self, name: &str) -> String {
        format!("precious {self:?} of {}", name.replace(['/', '.'], " "))
    }

    /// Puts it in place of `name`; what was there goes to the test's own folder. `future` is what a later time would write.
    pub fn put(self, house: &House, name: &str, future: &str) {
        let (path, mark) = (house.path(name), self.mark(name));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        if self == Self::Unreadable {
            if !path.exists() {
                fs::write(&path, &mark).unwrap();
            }
            return fs::set_permissions(&path, fs::Permissions::from_mode(0o000)).unwrap();
        }
        take_away(house, &path);
        match self {
            Self::Missing | Self::Unreadable => {}
            Self::Empty => fs::write(&path, "").unwrap(),
            Self::Garbage => {
                fs::write(&path, [b"\x00\xff{[\"", mark.as_bytes(), b"\n\n}}\xc3("].concat()).unwrap();
            }
            Self::Truncated => {
                fs::write(&path, format!("{{\"mark\":\"{mark}\",\"version\":1,\"life")).unwrap()
            }
            Self::Future => {
                fs::write(&path, future.replace("MARK", &mark)).unwrap();
                let later = SystemTime::now() + Duration::from_secs(60 * 365 * 86_400);
                fs::File::options().write(true).open(&path).unwrap().set_modified(later).unwrap();
            }
            Self::Folder => {
                fs::create_dir_all(path.join("inner")).unwrap();
                fs::write(path.join("inner/bytes"), mark).unwrap();
            }
            Self::Pipe => mknod(&path, SFlag::S_IFIFO, Mode::S_IRWXU, 0).unwrap(),
            Self::Socket => mknod(&path, SFlag::S_IFSOCK, Mode::S_IRWXU, 0).unwrap(),
            Self::FullPipe => {
                mknod(&path, SFlag::S_IFIFO, Mode::S_IRWXU, 0).unwrap();
                // Full while whoever filled it has it open; forgotten here, as a stopped reader would.
                let mut pipe = fs::File::options()
                    .read(true)
                    .write(true)
                    .custom_flags(libc::O_NONBLOCK)
                    .open(&path)
                    .unwrap();
                while pipe.write(&[b'x'; 4_096]).is_ok() {}
                std::mem::forget(pipe);
            }
            Self::Endless => symlink("/dev/zero", &path).unwrap(),
            Self::Huge => fs::File::create(&path).unwrap().set_len(512 << 20).unwrap(),
            Self::Dangling => symlink("nowhere/at-all", &path).unwrap(),
            Self::Looping => symlink(path.file_name().unwrap(), &path).unwrap(),
        }
    }

    /// What is wrong with how the house came out of it; empty when nothing is.
    pub fn judge(self, house: &House, name: &str, keeps_bytes: bool) -> String {
        let mut wrong = String::new();
        let kept = everything(&house.path(".self"));
        if self.is_no_file() && fs::symlink_metadata(house.path(name)).is_ok_and(|meta| !meta.is_file()) {
            wrong += &format!("{name}: the {self:?} is still in the way; ");
        }
        if self == Self::Unreadable {
            let mode = fs::metadata(house.path(name)).map_or(0o600, |meta| meta.permissions().mode());
            if mode & 0o400 == 0 {
                wrong += &format!("{name} still may not be read; ");
            }
        }
        let mark = self.mark(name);
        if self.holds_bytes()
            && (keeps_bytes || self == Self::Folder)
            && !kept.iter().any(|path| holds(path, &mark))
        {
            wrong += &format!("{name}: what the {self:?} held is neither there nor kept; ");
        }
        wrong
    }

    /// Whether something of this shape lies among what was moved aside.
    pub fn is_kept(self, house: &House) -> bool {
        self.is_no_file()
            && everything(&house.path(".self/guardian/kept")).iter().any(|path| {
                let kind = fs::symlink_metadata(path).unwrap().file_type();
                match self {
                    Self::Pipe => kind.is_fifo(),
                    Self::Socket => kind.is_socket(),
                    Self::Dangling => fs::read_link(path).is_ok_and(|to| to == Path::new("nowhere/at-all")),
                    Self::Looping => {
                        kind.is_symlink() && fs::read_link(path).is_ok_and(|to| to.components().count() == 1)
                    }
                    _ => holds(path, &format!("precious {self:?}")),
                }
            })
    }
}

/// Whole, so that nothing is lost by the test's own doing.
pub fn take_away(house: &House, path: &Path) {
    let aside = house.folder.path().join("taken");
    fs::create_dir_all(&aside).unwrap();
    let count = fs::read_dir(&aside).unwrap().count();
    if fs::symlink_metadata(path).is_ok() && fs::rename(path, aside.join(count.to_string())).is_err() {
        // Another file system: the clone is not where the test's folder is.
        let beside = house.root.with_extension(format!("taken-{count}-{}", std::process::id()));
        fs::rename(path, &beside).unwrap();
        if beside.is_dir() { fs::remove_dir_all(beside).unwrap() } else { fs::remove_file(beside).unwrap() }
    }
}

/// Every path under a folder, links not followed.
pub fn everything(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                folders.push(entry.path());
            }
            found.push(entry.path());
        }
    }
    found
}

fn holds(path: &Path, text: &str) -> bool {
    let is_file = fs::symlink_metadata(path).is_ok_and(|meta| meta.is_file() && meta.len() < 1 << 20);
    is_file
        && fs::read(path).is_ok_and(|bytes| bytes.windows(text.len()).any(|window| window == text.as_bytes()))
}
