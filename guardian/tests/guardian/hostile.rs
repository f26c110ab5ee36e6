//! Hostile trees: whatever a process can do to a folder it may write to, drawn from dice. What fails is left out.
//!
//! Nothing here follows a link, and those that lead out of the house lead to a folder of the test's own.

use crate::marks::{self, access_list, set_attribute};
use nix::sys::stat::{Mode, SFlag, makedev, mknod};
use std::ffi::OsString;
use std::fs::{self, File, Permissions};
use std::io::Write;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};

/// The same numbers for the same seed.
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub fn below(&mut self, most: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize % most
    }

    pub fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }

    fn bytes(&mut self) -> Vec<u8> {
        let length = *self.pick(&[0, 1, 10, 10, 100, 100, 1_000, 20_000]);
        let odd = self.below(256) as u8;
        (0..length).map(|at| (at as u8).wrapping_mul(odd) ^ odd).collect()
    }
}

const HARMLESS: [&[u8]; 24] = [
    b"a",
    b"b",
    b"lib.rs",
    b"Cargo.toml",
    b"README",
    b"readme",
    b"x.rs",
    b"x.aside",
    b"deep-0-0",
    b"deep-0-1",
    b"a b",
    b" ",
    b"...",
    b"-rf",
    b"\n",
    b"a\nb",
    b"\x1b[2J",
    b"\xff\xfe",
    b"caf\xc3\xa9",
    b"caf\x65\xcc\x81",
    b"a\\b",
    b"con",
    b"target",
    b"CACHEDIR.TAG",
];
/// Git's own, or what some system would take for it, or nearly.
const GITS: [&[u8]; 38] = [
    b".git",
    b".GIT",
    b".git ",
    b".git.",
    b".git. .",
    b".git:x",
    b".git.:x",
    b".git::$INDEX_ALLOCATION",
    b".git\\x",
    b"x\\.git",
    b"x\\git~1",
    b"git~1",
    b"GIT~1.",
    b"git~2",
    b".gi\xe2\x80\x8ct",
    b".git\xff",
    b".git\xef\xbf\xbex",
    b".gitx",
    b".gitmodules",
    b".GitModules",
    b".gitmodules ",
    b"gitmod~1",
    b"gitmod~4.",
    b"gi7eba~1",
    b"gi7eb~10",
    b"~1000000",
    b"g~100000",
    b".gitmodules\xff",
    b".gitattributes",
    b".GITATTRIBUTES",
    b"gitatt~1",
    b"gi7d29~1",
    b".gitignore",
    b".gitkeep",
    b".mailmap",
    b"HEAD",
    b"objects",
    b"refs",
];
const TEXTS: [&[u8]; 8] = [
    b"* text eol=crlf\n",
    b"* working-tree-encoding\n",
    b"* filter=lfs diff=lfs merge=lfs -text\n",
    b"*\n!x\n",
    b"[submodule \"../x\"]\n\tpath = -x\n\turl = -u./payload\n",
    b"ref: refs/heads/main\n",
    b"one\r\ntwo\n",
    b"* ident working-tree-encoding=nonsense\n",
];
const MODES: [u32; 14] =
    [0o000, 0o200, 0o300, 0o400, 0o500, 0o600, 0o644, 0o666, 0o700, 0o755, 0o1777, 0o2755, 0o4755, 0o7777];

pub fn name(dice: &mut Dice) -> OsString {
    OsString::from_vec(match dice.below(10) {
        0..5 => dice.pick(&HARMLESS).to_vec(),
        5..8 => dice.pick(&GITS).to_vec(),
        8 => vec![*dice.pick(b"nm\xff"); *dice.pick(&[200, 246, 252, 254, 255])],
        _ => format!("{}", dice.below(1_000)).into_bytes(),
    })
}

/// A folder somewhere below `top`, held open.
fn somewhere(dice: &mut Dice, top: &Path) -> Option<File> {
    let open =
        |at: PathBuf| File::options().read(true).custom_flags(libc::O_DIRECTORY | libc::O_NOFOLLOW).open(at);
    let mut held = open(top.to_path_buf()).ok()?;
    while dice.below(3) > 0 {
        let entries = fs::read_dir(path(&held)).ok()?.flatten();
        let mut folders: Vec<_> =
            entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir())).collect();
        folders.sort_by_key(fs::DirEntry::file_name);
        if folders.is_empty() {
            break;
        }
        match open(dice.pick(&folders).path()) {
            Ok(below) => held = below,
            Err(_) => break,
        }
    }
    Some(held)
}

fn path(held: &File) -> PathBuf {
    format!("/proc/self/fd/{}", held.as_raw_fd()).into()
}

/// A regular file for writing: never by a link, never waiting for the other end of a pipe.
fn write(at: &Path, bytes: impl AsRef<[u8]>) {
    let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK;
    let file = File::options().write(true).create(true).custom_flags(flags).open(at);
    let file = file.ok().filter(|file| file.metadata().is_ok_and(|meta| meta.is_file()));
    let _ = file.map(|mut file| file.set_len(0).and_then(|()| file.write_all(bytes.as_ref())));
}

/// One of the names that are there.
fn something(dice: &mut Dice, folder: &Path) -> Option<PathBuf> {
    let mut names: Vec<_> = fs::read_dir(folder).ok()?.flatten().map(|entry| entry.path()).collect();
    names.sort();
    if names.is_empty() { None } else { Some(dice.pick(&names).clone()) }
}

/// What anybody might commit: files, some to be run, links, folders, with the names and texts people really use, and more.
pub fn ordinary(dice: &mut Dice, top: &Path) {
    for _ in 0..1 + dice.below(12) {
        let Some(held) = somewhere(dice, top) else { return };
        let at = path(&held).join(match dice.below(4) {
            0 => OsString::from_vec(vec![b'n'; 255]),
            _ => OsString::from_vec(dice.pick(&HARMLESS).to_vec()),
        });
        match dice.below(6) {
            0 | 1 => _ = fs::create_dir(&at),
            2 => _ = symlink(dice.pick(&["a", "nowhere", "../a", "../../../outside"]), &at),
            _ => {
                write(&at, dice.bytes());
                if fs::symlink_metadata(&at).is_ok_and(|meta| meta.is_file()) {
                    let mode = *dice.pick(&[0o644, 0o755, 0o600]);
                    let _ = fs::set_permissions(&at, Permissions::from_mode(mode));
                }
            }
        }
    }
}

/// One thing done to a folder. `outside` is a folder of the owner's elsewhere, which may be linked to.
pub fn mess(dice: &mut Dice, top: &Path, outside: &Path) {
    if dice.below(40) == 0 {
        return replace_whole(dice, top, outside);
    }
    let Some(held) = somewhere(dice, top) else { return };
    let folder = path(&held);
    let at = folder.join(name(dice));
    match dice.below(28) {
        0..4 => write(&at, dice.bytes()),
        4 => write(&at, dice.pick(&TEXTS)),
        5 => write(&at, [b"x".repeat(3_000), b"\n".to_vec()].concat()),
        6 | 7 => _ = something(dice, &folder).map(|old| write(&old, dice.bytes())),
        8 | 9 => {
            _ = something(dice, &folder).map(|old| fs::remove_file(&old).or_else(|_| fs::remove_dir_all(old)))
        }
        10 => _ = something(dice, &folder).map(|old| fs::rename(old, &at)),
        11 => _ = something(dice, &folder).map(|old| fs::hard_link(old, &at)),
        12 => _ = fs::hard_link(outside.join("file"), &at),
        13 | 14 => _ = fs::create_dir(&at),
        15 => _ = mknod(&at, *dice.pick(&[SFlag::S_IFIFO, SFlag::S_IFSOCK]), Mode::S_IRWXU, 0),
        16 => _ = mknod(&at, SFlag::S_IFCHR, Mode::S_IRWXU, makedev(1, 3)),
        17 => {
            _ = symlink(
                dice.pick(&[
                    Path::new("nowhere"),
                    ".".as_ref(),
                    "..".as_ref(),
                    outside,
                    &outside.join("file"),
                ]),
                &at,
            )
        }
        18 => _ = symlink("t/".repeat(2_040), &at),
        19 | 20 => _ = something(dice, &folder).map(|old| change_mode(dice, &old)),
        21 => _ = fs::set_permissions(&folder, Permissions::from_mode(*dice.pick(&MODES))),
        22 => mark(dice, &folder),
        23 => _ = something(dice, &folder).map(|old| mark(dice, &old)),
        24 => dig(dice, held),
        25 => {
            _ = File::create_new(&at).map(|file| {
                file.set_len(*dice.pick(&[1 << 40, (64 << 20) + 1, 1 << 40, 100, 100, 1_100_000]))
            })
        }
        26 => repository(&at),
        _ => (0..*dice.pick(&[2, 2, 10, 70]))
            .for_each(|number| write(&folder.join(format!("f{number}")), b"f")),
    }
}

/// No link is followed, for it may lead out of the house.
fn change_mode(dice: &mut Dice, at: &Path) {
    if fs::symlink_metadata(at).is_ok_and(|meta| !meta.is_symlink()) {
        let _ = fs::set_permissions(at, Permissions::from_mode(*dice.pick(&MODES)));
    }
}

/// Access lists, attributes, flags.
fn mark(dice: &mut Dice, at: &Path) {
    let rights = [*dice.pick(&[0, 4, 6, 7]), *dice.pick(&[0, 7]), 0];
    match dice.below(5) {
        0 | 1 => _ = set_attribute(at, "system.posix_acl_default", &access_list(rights)),
        2 => _ = set_attribute(at, "system.posix_acl_access", &access_list(rights)),
        3 => _ = set_attribute(at, "user.x", &dice.bytes()),
        _ if fs::symlink_metadata(at).is_ok_and(|meta| meta.is_file() || meta.is_dir()) => {
            _ = marks::set_flags(at, *dice.pick(&[marks::IMMUTABLE, marks::APPEND_ONLY]));
        }
        _ => {}
    }
}

/// Folders in folders: too long a path, or too deep.
fn dig(dice: &mut Dice, mut held: File) {
    let (name, depth) = match dice.below(3) {
        0 => ("l".repeat(250), 3 + dice.below(22)),
        1 => ("l".repeat(60), 10 + dice.below(30)),
        _ => ("d".to_owned(), 60 + dice.below(90)),
    };
    for _ in 0..depth {
        let _ = fs::create_dir(path(&held).join(&name));
        let flags = libc::O_DIRECTORY | libc::O_NOFOLLOW;
        let below = File::options().read(true).custom_flags(flags).open(path(&held).join(&name));
        let Ok(below) = below else { return };
        held = below;
    }
    write(&path(&held).join("bottom"), dice.bytes());
}

fn repository(at: &Path) {
    if fs::create_dir(at).is_ok() {
        for folder in [".git/objects", ".git/refs"] {
            let _ = fs::create_dir_all(at.join(folder));
        }
        write(&at.join(".git/HEAD"), TEXTS[5]);
        write(&at.join("inner"), b"of a repository of its own");
    }
}

/// The folder itself is gone, shut, or something else.
fn replace_whole(dice: &mut Dice, top: &Path, outside: &Path) {
    let kind = dice.below(7);
    if kind < 5 && fs::remove_dir_all(top).is_err() {
        return;
    }
    match kind {
        0 => {}
        1 => write(top, dice.bytes()),
        2 => _ = symlink(outside, top),
        3 => _ = mknod(top, SFlag::S_IFIFO, Mode::S_IRWXU, 0),
        4 => _ = fs::create_dir(top),
        5 => change_mode(dice, top),
        _ => mark(dice, top),
    }
}
