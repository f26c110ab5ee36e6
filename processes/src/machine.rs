//! Checks that a creature can live on a machine; each lack is told with its remedy, before a start and by the doctor.

use ground::{House, files};
use nix::errno::Errno;
use nix::sys::statvfs::{FsFlags, statvfs};
use nix::unistd::{AccessFlags, access};
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use walls::Walls;
use walls::cargo_named::{Named, Outside};
use walls::remedy::Machine;

/// Why no creature could live here; asking changes nothing.
pub fn unfit(house: &House) -> Option<String> {
    unwritable(house).or_else(|| runs_nothing_built(house))
}

/// Why the house cannot be written: the disk is mounted read-only, or it is another user's.
fn unwritable(house: &House) -> Option<String> {
    let git = house.root().join(".git");
    let git = git.is_dir().then_some(git);
    let places = [house.state_folder(), house.target(), house.creature()].into_iter().chain(git);
    let (place, errno) = places.map(|place| standing(&place)).find_map(|place| {
        let errno = access(&place, AccessFlags::W_OK | AccessFlags::X_OK).err()?;
        Some((place, errno))
    })?;
    let mount = mount_of(&place);
    let remedy = if errno == Errno::EROFS {
        format!("its disk is mounted read-only; mount -o remount,rw {}", mount.display())
    } else {
        let (user, root) = (nix::unistd::geteuid(), house.root().display());
        format!("{}; start as the user whose house it is, or chown -R {user} {root}", errno.desc())
    };
    Some(format!("{} cannot be written: {remedy}", place.display()))
}

fn runs_nothing_built(house: &House) -> Option<String> {
    let places = [house.target(), house.binaries()];
    let found = places.iter().map(|place| standing(place)).find(|place| runs_nothing(place))?;
    let mount = mount_of(&found);
    Some(format!(
        "{} is mounted noexec, so no program in {} can run; remount it: mount -o remount,exec {}; or move the house, or put \
         a link to a folder elsewhere in that place",
        mount.display(),
        found.display(),
        mount.display()
    ))
}

/// Returns a sentence for each remedy that puts up missing walls; `program` is the guardian's.
pub fn remedies(walls: &Walls, program: Option<PathBuf>) -> Vec<String> {
    let found = Machine::look();
    let program = program.unwrap_or_else(|| found.program.clone());
    Machine { program, ..found }.remedies(&walls.level)
}

/// Returns a sentence for each missing path that the owner's cargo settings name: without it no build succeeds.
pub fn not_there(house: &House) -> Vec<String> {
    let Outside { programs, folders } = Outside::of(house.root());
    let path = std::env::var_os("PATH").unwrap_or_default();
    let on_path = |name: &Path| std::env::split_paths(&path).any(|folder| folder.join(name).is_file());
    let is_missing = |program: &Named| match program.path.is_absolute() {
        true => !program.path.is_file(),
        false => !on_path(&program.path),
    };
    let missing = programs.into_iter().filter(is_missing);
    let missing = missing.chain(folders.into_iter().filter(|folder| !folder.path.is_dir()));
    let told = missing.map(|Named { key, settings, path }| {
        format!(
            "{key} in {} names {}, which is not there: no build will succeed until it is, or the line is gone",
            settings.display(),
            path.display()
        )
    });
    told.collect()
}

/// Cargo's home of the owner, if nothing can be written there.
pub fn no_cargo_home() -> Option<PathBuf> {
    let home = walls::cargo_home::owners();
    (!is_writable(&home)).then_some(home)
}

/// Where temporary files go, if they cannot: builds of the owner's programs use `target/tmp` then.
pub fn no_temporary() -> Option<PathBuf> {
    let folder = std::env::temp_dir();
    (!folder.is_dir() || !is_writable(&folder)).then_some(folder)
}

/// Whether files can be made in a folder, for lack of which its nearest one above counts.
fn is_writable(folder: &Path) -> bool {
    access(&standing(folder), AccessFlags::W_OK | AccessFlags::X_OK).is_ok()
}

/// The path, or the nearest one above it that is there.
fn standing(path: &Path) -> PathBuf {
    let there = path.ancestors().find_map(|above| above.canonicalize().ok());
    there.unwrap_or_else(|| path.to_owned())
}

fn runs_nothing(path: &Path) -> bool {
    statvfs(path).is_ok_and(|told| told.flags().contains(FsFlags::ST_NOEXEC))
}

/// Where the file system of a path is mounted, by the kernel's list (proc_pid_mountinfo(5)): the longest that holds it.
fn mount_of(path: &Path) -> PathBuf {
    let list = files::system("/proc/self/mountinfo").unwrap_or_default();
    let points = list.lines().filter_map(|line| line.split(' ').nth(4)).map(plain);
    points
        .filter(|point| path.starts_with(point))
        .max_by_key(|point| point.components().count())
        .unwrap_or_else(|| path.to_owned())
}

/// A path as the kernel writes it there: a space, tab, line end or backslash in it is a backslash and three octal digits.
fn plain(written: &str) -> PathBuf {
    let (mut bytes, mut rest) = (Vec::new(), written.as_bytes());
    while let [first, after @ ..] = rest {
        let digits = after.get(..3).filter(|_| *first == b'\\');
        let code = digits.and_then(|digits| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 8).ok());
        bytes.push(code.unwrap_or(*first));
        rest = if code.is_some() { after.get(3..).unwrap_or_default() } else { after };
    }
    OsString::from_vec(bytes).into()
}
