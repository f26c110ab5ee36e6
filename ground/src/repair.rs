//! Repairs the house's paths: anything in place of a file or folder that is none is moved aside, never deleted.
//!
//! Invariant: what is found is opened only to change its mode or flags, so that nothing can make the guardian wait.

use crate::openat::Folder;
use crate::{House, clock, files};
use anyhow::{Context, Result};
use std::ffi::OsStr;
use std::fs::{self, File, Metadata, Permissions};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// Endings of file names, in the folders that both guardian and creature write to.
const ENDINGS: [&str; 5] = ["json", "jsonl", "txt", "log", "lock"];
/// Up to this many things of one folder are reported and kept one by one; more are counted, and kept in one folder.
const FEW: usize = 8;
/// Age from which on an unfinished file belongs to a process that is gone.
const LEFT_BEHIND_MS: u64 = 60 * 60_000;

/// Repairs, at start and between lives, whatever would keep a file from being opened. A line for each thing done.
pub fn clear(house: &House) -> Vec<String> {
    let [root, own, logs, mind] = [house.state_folder(), house.own(), house.logs(), house.mind()];
    let more = [house.kept(), house.binaries(), house.snapshots(), house.workspace()];
    let folders = [&root, &own, &logs, &mind].into_iter().chain(&more);
    let mut told: Vec<String> = folders.filter_map(|path| clear_folder(house, path)).collect();
    for folder in [root, mind, logs, own, house.binaries()] {
        clear_files(house, &folder, &mut told);
    }
    clear_below(house, &mut told);
    told
}

/// Paths of known shape further down, folders before their entries: a creature that fails at one fails in every life.
const BELOW: [(&str, Shape); 14] = [
    ("workspace/draft", Shape::Folder),
    ("workspace/draft/creature", Shape::Folder),
    ("workspace/draft/draft.json", Shape::File),
    ("workspace/draft/edit.json", Shape::File),
    ("workspace/draft.aside", Shape::Folder),
    ("workspace/draft.aside/creature", Shape::Folder),
    ("workspace/draft.aside/draft.json", Shape::File),
    ("workspace/draft.lock", Shape::File),
    ("workspace/results", Shape::Folder),
    ("workspace/rehearsal", Shape::Folder),
    ("workspace/home", Shape::Folder),
    ("workspace/tmp", Shape::Folder),
    ("mind/conversations", Shape::Folder),
    ("mind/dreams", Shape::Folder),
];

#[derive(Clone, Copy)]
enum Shape {
    Folder,
    File,
}

fn clear_below(house: &House, told: &mut Vec<String>) {
    for (name, shape) in BELOW {
        let path = house.state_folder().join(name);
        let Ok(meta) = fs::symlink_metadata(&path) else { continue };
        let (fits, wanted) = match shape {
            Shape::Folder => (meta.is_dir(), 0o700),
            Shape::File => (meta.is_file(), 0o600),
        };
        told.extend(if fits { give_back(&path, &meta, wanted) } else { Some(move_aside(house, &path)) });
    }
    clear_files(house, &house.conversations(), told);
}

fn clear_folder(house: &House, path: &Path) -> Option<String> {
    // The owner may link a folder to keep it on another disk.
    if let Ok(meta) = fs::metadata(path)
        && meta.is_dir()
    {
        return give_back(path, &meta, 0o700);
    }
    let told = fs::symlink_metadata(path).is_ok().then(|| move_aside(house, path));
    let _ = fs::create_dir_all(path);
    told
}

/// Things in the way are moved while the folder is listed, so that any number of them fits in memory.
fn clear_files(house: &House, folder: &Path, told: &mut Vec<String>) {
    let (mut in_the_way, mut crowd, mut moved, mut stuck) = (Vec::new(), None, 0, 0);
    let (mut given_back, mut more) = (Vec::new(), 0);
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        match found(house, &path) {
            Found::Good => {}
            Found::InTheWay => in_the_way.push(path),
            Found::File(meta, wanted) => match give_back(&path, &meta, wanted) {
                Some(line) if given_back.len() < FEW => given_back.push(line),
                line => more += usize::from(line.is_some()),
            },
        }
        if in_the_way.len() > FEW || crowd.is_some() {
            let crowd: &PathBuf = crowd.get_or_insert_with(|| make_crowd_folder(house, folder));
            for path in in_the_way.drain(..) {
                let gone = moves_into(crowd, &path) || aside(house, &path).is_ok();
                *(if gone { &mut moved } else { &mut stuck }) += 1;
            }
        }
    }
    told.extend(in_the_way.iter().map(|path| move_aside(house, path)));
    if let Some(crowd) = crowd {
        let (folder, crowd) = (folder.display(), crowd.display());
        let stuck = if stuck > 0 { format!("; {stuck} more cannot be moved aside") } else { String::new() };
        told.push(format!("{moved} things in {folder} were in the way; they are kept in {crowd}{stuck}"));
    }
    if more > 0 {
        more += given_back.drain(1..).len();
        given_back.push(format!("so it was with {more} more in {}", folder.display()));
    }
    told.append(&mut given_back);
}

/// Makes the folder in which many things from one folder are kept.
fn make_crowd_folder(house: &House, folder: &Path) -> PathBuf {
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    let crowd = house.kept().join(format!("{}-{name}", clock::name()));
    let _ = fs::create_dir_all(&crowd);
    crowd
}

fn moves_into(crowd: &Path, path: &Path) -> bool {
    fs::rename(path, crowd.join(path.file_name().unwrap_or_default())).is_ok()
}

enum Found {
    Good,
    InTheWay,
    /// A regular file under a name meant for one, and the mode bits it needs.
    File(Metadata, u32),
}

fn found(house: &House, path: &Path) -> Found {
    let Ok(meta) = fs::symlink_metadata(path) else { return Found::Good };
    let name = path.file_name().unwrap_or_default();
    let ending = path.extension().unwrap_or_default();
    let aside = ending == files::BEING_WRITTEN;
    if aside && meta.is_file() && !name.as_encoded_bytes().starts_with(b".") {
        // Left by a guardian that was killed while it wrote.
        let begun_ms = u64::try_from(meta.mtime()).unwrap_or(0) * 1_000;
        if begun_ms + LEFT_BEHIND_MS < clock::wall_ms() {
            let _ = fs::remove_file(path);
        }
        return Found::Good;
    }
    let kept_binary = path.parent() == Some(&house.binaries());
    let known = name == "heartbeat" || name == "lock" || ENDINGS.iter().any(|known| ending == *known);
    // The inbox may be a link of the owner's; every other file here is opened without following links.
    let elsewhere = meta.is_symlink() && fs::metadata(path).is_ok_and(|meta| meta.is_file());
    if (elsewhere && path == house.inbox()) || !(aside || kept_binary || known) {
        Found::Good
    } else if meta.is_file() {
        Found::File(meta, if kept_binary && ending.is_empty() { 0o700 } else { 0o600 })
    } else {
        Found::InTheWay
    }
}

/// Restores missing mode bits. Restoring beats moving aside: an unreadable file may be the house's own data.
fn give_back(path: &Path, meta: &Metadata, wanted: u32) -> Option<String> {
    let mode = meta.permissions().mode() & 0o7777;
    if mode & wanted == wanted {
        return None;
    }
    // The change goes to the file that was inspected: its name may lead elsewhere by now.
    let same =
        |file: &File| file.metadata().is_ok_and(|now| (now.dev(), now.ino()) == (meta.dev(), meta.ino()));
    let change = || {
        let held = files::open_handle(path, 0)?;
        let changed = std::io::Error::from(std::io::ErrorKind::InvalidInput);
        let at = format!("/proc/self/fd/{}", held.as_raw_fd());
        if same(&held) {
            fs::set_permissions(at, Permissions::from_mode(mode | wanted))
        } else {
            Err(changed)
        }
    };
    Some(match change() {
        Ok(()) => format!("{} could not be read and written (mode {mode:o}); it can again", path.display()),
        Err(error) => format!("{} cannot be read and written: {error}", path.display()),
    })
}

fn move_aside(house: &House, path: &Path) -> String {
    match aside(house, path) {
        Ok(to) => format!("{} was in the way; it is kept as {}", path.display(), to.display()),
        Err(error) => format!("{} is in the way and cannot be moved aside: {error}", path.display()),
    }
}

/// Moves a path into `kept/`; where that is not possible, renames it in place.
pub fn aside(house: &House, path: &Path) -> std::io::Result<PathBuf> {
    let kept = house.kept();
    let (time, file) = (clock::name(), path.file_name().unwrap_or_default());
    let name = path.strip_prefix(house.state_folder()).unwrap_or(Path::new(file));
    let to = kept.join(format!("{time}-{}", name.to_string_lossy().replace('/', "-")));
    if !kept.starts_with(path) && fs::create_dir_all(&kept).and_then(|()| fs::rename(path, &to)).is_ok() {
        return Ok(to);
    }
    let to = path.with_file_name(format!("{}-{time}", file.to_string_lossy()));
    fs::rename(path, &to).map(|()| to)
}

/// Folder for paths moved aside at one time, each under its own relative path; made when first needed.
pub struct Aside {
    places: [PathBuf; 2],
    /// The folder in use.
    pub place: Option<PathBuf>,
}

impl Aside {
    pub fn new(house: &House, name: &str) -> Self {
        Self { places: places(house, name), place: None }
    }

    /// Moves an entry out of an open folder. `path`, of any length, is where the entry lies in the repository.
    pub fn take(&mut self, from: &Folder, name: &OsStr, path: &Path) -> Result<()> {
        let mut moved = Err(std::io::ErrorKind::NotFound.into());
        for place in self.place.iter().chain(&self.places) {
            moved = move_into(place, from, name, path);
            if moved.is_ok() {
                self.place = Some(place.clone());
                return Ok(());
            }
        }
        moved.with_context(|| format!("failed to move {} aside", crate::printable::path(path)))
    }
}

fn move_into(place: &Path, from: &Folder, name: &OsStr, path: &Path) -> std::io::Result<()> {
    fs::create_dir_all(place)?;
    let to = Folder::open(place)?.make(path.parent().unwrap_or(Path::new("")))?;
    let (from_path, to_path) = (from.at(name), to.at(name));
    if fs::symlink_metadata(&to_path).is_ok() {
        return Err(std::io::ErrorKind::AlreadyExists.into());
    }
    fs::rename(&from_path, &to_path).or_else(|_| {
        from.free();
        from.release(name);
        fs::rename(&from_path, &to_path)
    })
}

/// Moves a whole folder of the house aside, without looking into it; returns where to.
pub fn whole(house: &House, name: &str) -> Result<PathBuf> {
    let [kept, beside] = places(house, name);
    let (from, kept) = (house.root().join(name), kept.join(name));
    Folder::open(house.root()).context("failed to open the house")?.release(OsStr::new(name));
    let into_kept = kept.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| fs::rename(&from, &kept));
    if into_kept.is_ok() {
        return Ok(kept);
    }
    // A rename cannot cross disks, and a folder of another user's can only be renamed in place.
    fs::rename(&from, &beside).with_context(|| format!("failed to move {name}/ aside"))?;
    Ok(beside)
}

/// Two candidates: in `kept/`, else beside the moved path.
fn places(house: &House, name: &str) -> [PathBuf; 2] {
    let time = clock::name();
    [house.kept().join(&time), house.root().join(format!("{name}-{time}"))]
}
