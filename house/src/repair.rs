//! Clears the way: what lies in place of the house's files and folders and is none is moved aside, never deleted.
//!
//! Invariant: nothing here opens what it finds but to change its mode or marks, so nothing can make it wait.

use crate::openat::Folder;
use crate::{House, clock, files};
use anyhow::{Context, Result};
use std::ffi::OsStr;
use std::fs::{self, File, Metadata, Permissions};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// Ends of names that are meant for files, in the folders both sides write to.
const ENDINGS: [&str; 5] = ["json", "jsonl", "txt", "log", "lock"];
/// So many things in one folder are told and kept one by one; of more the number is told, and one folder keeps them.
const FEW: usize = 8;
/// How long ago a file was begun that nobody is writing any more.
const LEFT_BEHIND_MS: u64 = 60 * 60_000;

/// At start and between lives: whatever would keep the next life, or us, from opening a file. A line for each thing done.
pub fn clear(house: &House) -> Vec<String> {
    let [root, own, logs, mind] = [house.state_folder(), house.own(), house.logs(), house.mind()];
    let more = [house.kept(), house.binaries(), house.snapshots(), house.workspace()];
    let folders = [&root, &own, &logs, &mind].into_iter().chain(&more);
    let mut told: Vec<String> = folders.filter_map(|path| clear_folder(house, path)).collect();
    for folder in [root, mind, logs, own, house.binaries()] {
        clear_files(house, &folder, &mut told);
    }
    told
}

fn clear_folder(house: &House, path: &Path) -> Option<String> {
    // A link that leads to a folder is the owner's way to keep it on another disk.
    if let Ok(meta) = fs::metadata(path)
        && meta.is_dir()
    {
        return give_back(path, &meta, 0o700);
    }
    let told = fs::symlink_metadata(path).is_ok().then(|| move_aside(house, path));
    let _ = fs::create_dir_all(path);
    told
}

/// What is in the way is moved while it is listed, so that no number of it is ever held.
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
            let crowd: &PathBuf = crowd.get_or_insert_with(|| crowd_of(house, folder));
            for path in in_the_way.drain(..) {
                let gone = joins(crowd, &path) || aside(house, &path).is_ok();
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

/// Where more than a few things of one folder are kept.
fn crowd_of(house: &House, folder: &Path) -> PathBuf {
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    let crowd = house.kept().join(format!("{}-{name}", clock::name()));
    let _ = fs::create_dir_all(&crowd);
    crowd
}

fn joins(crowd: &Path, path: &Path) -> bool {
    fs::rename(path, crowd.join(path.file_name().unwrap_or_default())).is_ok()
}

enum Found {
    Good,
    InTheWay,
    /// A file that is meant to be one, and the rights it needs.
    File(Metadata, u32),
}

fn found(house: &House, path: &Path) -> Found {
    let Ok(meta) = fs::symlink_metadata(path) else { return Found::Good };
    let name = path.file_name().unwrap_or_default();
    let ending = path.extension().unwrap_or_default();
    let aside = ending == files::BEING_WRITTEN;
    if aside && meta.is_file() && !name.as_encoded_bytes().starts_with(b".") {
        // Ours, of a guardian that was killed while it wrote.
        let begun_ms = u64::try_from(meta.mtime()).unwrap_or(0) * 1_000;
        if begun_ms + LEFT_BEHIND_MS < clock::wall_ms() {
            let _ = fs::remove_file(path);
        }
        return Found::Good;
    }
    let kept_binary = path.parent() == Some(&house.binaries());
    let known = name == "heartbeat" || name == "lock" || ENDINGS.iter().any(|known| ending == *known);
    // The owner may keep the inbox elsewhere; whatever else is read here is read without following links.
    let elsewhere = meta.is_symlink() && fs::metadata(path).is_ok_and(|meta| meta.is_file());
    if (elsewhere && path == house.inbox()) || !(aside || kept_binary || known) {
        Found::Good
    } else if meta.is_file() {
        Found::File(meta, if kept_binary && ending.is_empty() { 0o700 } else { 0o600 })
    } else {
        Found::InTheWay
    }
}

/// What may not be read or written may be ours all the same: losing sight of it would be worse than the right.
fn give_back(path: &Path, meta: &Metadata, wanted: u32) -> Option<String> {
    let mode = meta.permissions().mode() & 0o7777;
    if mode & wanted == wanted {
        return None;
    }
    // Of what it was when it was looked at: its name may lead elsewhere by now.
    let same =
        |file: &File| file.metadata().is_ok_and(|now| (now.dev(), now.ino()) == (meta.dev(), meta.ino()));
    let change = || {
        let held = File::options().read(true).custom_flags(libc::O_PATH).open(path)?;
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

/// Moves something aside into `kept/`; where that is not possible, beside itself.
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

/// Where what has to make way at one time goes, each under its own path; made when it is first needed.
pub struct Aside {
    places: [PathBuf; 2],
    /// The place that was taken.
    pub place: Option<PathBuf>,
}

impl Aside {
    pub fn new(house: &House, name: &str) -> Self {
        Self { places: places(house, name), place: None }
    }

    /// Moves a name out of an open folder. `path` is where that lies in the repository, of whatever length.
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

/// Moves a whole folder of the house aside: a rename does not care what lies in it. To where.
pub fn whole(house: &House, name: &str) -> Result<PathBuf> {
    let [kept, beside] = places(house, name);
    let (from, kept) = (house.root().join(name), kept.join(name));
    Folder::open(house.root()).context("failed to open the house")?.release(OsStr::new(name));
    let into_kept = kept.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| fs::rename(&from, &kept));
    if into_kept.is_ok() {
        return Ok(kept);
    }
    // To another disk no rename leads; and what another user owns may only get another name where it lies.
    fs::rename(&from, &beside).with_context(|| format!("failed to move {name}/ aside"))?;
    Ok(beside)
}

/// In `kept/`, else beside what makes way.
fn places(house: &House, name: &str) -> [PathBuf; 2] {
    let time = clock::name();
    [house.kept().join(&time), house.root().join(format!("{name}-{time}"))]
}
