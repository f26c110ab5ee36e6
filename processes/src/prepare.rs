//! Prepares the house for the creature's processes: the files and folders its rules name, its purpose, Cargo's home.

pub use ground::asked::Asked;

use crate::child::Occupant;
use crate::place::{CARGO_FILES, CreaturePlace, FILES, FOLDERS};
use anyhow::{Result, bail};
use ground::openat::Folder;
use ground::{House, apart, files};
use std::fs::File;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use walls::level::{FILES as FILES_WALL, VIEW};
use walls::{Choice, Walls, cargo_home};

/// Makes the files and folders that rules name, since a rule needs an existing path; a life reports what is missing.
/// Returns the inode numbers of the files a life may write to, as opened here: a path may lead to another file later.
pub fn prepare(house: &House, occupant: Occupant) -> Vec<Option<u64>> {
    if let Err(error) = apart::keep(house) {
        tracing::warn!("{error:#}");
    }
    let _ = std::fs::create_dir(house.root().join("target"));
    for path in FOLDERS.iter().map(Path::new).chain([Path::new("target/creature")]) {
        let Some(first) = path.components().next() else { continue };
        let rest = path.strip_prefix(first).unwrap_or(path);
        let _ = Folder::open(&house.root().join(first)).and_then(|folder| folder.make(rest));
    }
    let made = |path: &&str| {
        let path = house.root().join(path);
        // What cannot be opened stays as it is.
        let found = files::open_by(File::options().create(true).append(true), &path);
        let found = found.and_then(|file| file.metadata());
        found.or_else(|_| std::fs::symlink_metadata(path)).map(|meta| meta.ino()).ok()
    };
    let given = FILES.iter().map(made).collect();
    CARGO_FILES.iter().for_each(|path| _ = made(path));
    for folder in [house.home(), house.temporary()] {
        let _ = std::fs::create_dir(folder);
    }
    // The status reports a failure of this.
    let _ = copy_purpose(house);
    let (within, lock) = (house.root().join("target"), house.creature().join("Cargo.lock"));
    let home = cargo_home::Home { within: &within, path: Path::new("creature/cargo-home"), lock: &lock };
    let seeded = match occupant {
        Occupant::Build => cargo_home::prepare(home),
        Occupant::Life => cargo_home::prepare_once(home),
    };
    match seeded {
        Ok(told) => told.iter().for_each(|told| tracing::warn!("{told}")),
        Err(error) => tracing::warn!("{error:#}; the creature's builds may need the network"),
    }
    given
}

/// The purpose as it stands; an error where it cannot be read, or is no text, as an editor may save it in UTF-16.
pub fn purpose(house: &House) -> Result<Option<Vec<u8>>> {
    let path = house.purpose();
    let text = files::read_small(&path)?;
    if text.as_ref().is_some_and(|text| text.contains(&0)) {
        bail!("{} is no text in UTF-8: save it as that", path.display());
    }
    Ok(text)
}

/// Updates the copy of the purpose: an editor may have replaced the original file. An unreadable purpose is an error
/// for the owner to mend; until then the former copy counts.
pub fn copy_purpose(house: &House) -> Result<()> {
    let modified = |path: &Path| std::fs::symlink_metadata(path).and_then(|meta| meta.modified()).ok();
    let copy = house.purpose_copy();
    let newest = modified(&house.purpose());
    if newest == modified(&copy) {
        return Ok(());
    }
    let Some(text) = purpose(house)? else { return Ok(()) };
    let written = files::replace_unsynced(&copy, &text);
    if let (Ok(()), Some(newest)) = (written, newest) {
        let _ = files::append(&copy).map(|file| file.set_modified(newest));
    }
    Ok(())
}

/// Inode numbers of the files now under the names a life may write to; they differ for a moved or replaced file.
pub fn lying(house: &House) -> Vec<Option<u64>> {
    let number = |path: &&str| std::fs::symlink_metadata(house.root().join(path)).map(|meta| meta.ino()).ok();
    FILES.iter().map(number).collect()
}

/// Finds by trying which walls can be put up here. With `joins` this process joins the group that counts processes.
pub fn find_walls(house: &House, asked: &Asked, launcher: PathBuf, joins: bool) -> Result<Walls> {
    prepare(house, Occupant::Life);
    let place = CreaturePlace { house: house.clone(), more: asked.more.clone() };
    let walls = Walls::find(Box::new(place), asked.choice, asked.ceilings, launcher, joins)?;
    // The view hides the folder wherever it is; Landlock alone does not.
    if walls.level.has(FILES_WALL) && !walls.level.has(VIEW) {
        apart::keep(house)?;
    }
    if let (true, false, Some(file)) =
        (walls.level.has(FILES_WALL), walls.level.has(VIEW), cargo_home::above(house.root()).first())
    {
        tracing::warn!(
            "cargo reads {} and may not in this sandbox, which cannot hide it here: no build will succeed. Move the house \
             out of {}, or the file to the cargo home",
            file.display(),
            file.ancestors().nth(2).unwrap_or(file).display()
        );
    }
    Ok(walls)
}

/// Why a start would refuse over these walls: the owner requires all of them.
pub fn too_little(wanted: Choice, walls: &Walls) -> Option<String> {
    let there = walls.level.summary();
    (wanted == Choice::Required && there != "full").then(|| {
        format!("owner.toml says walls = \"required\", and here they are {there}; mend that, or say walls = \"on\"")
    })
}
