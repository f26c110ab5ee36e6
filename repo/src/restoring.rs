//! Carries out a restore that was decided: state, papers and creature are put in place, the former ones kept beside.
//!
//! Invariant: the plan is on the disk before the first step, and each step may be repeated: wherever this is killed, the next
//! start or the next `restore` goes on, and no life begins in between.

use crate::Repo;
use crate::restore;
use anyhow::{Context, Result};
use git2::Oid;
use house::openat::Folder;
use house::{House, apart, clock, files, records};
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// Largest plan that is read, in bytes: a line for each file of the records.
const MOST_BYTES: u64 = 32 << 20;

/// Paths and commit that a restore puts in place.
#[derive(Debug, Serialize, Deserialize)]
pub struct Plan {
    /// When the backup was made, and when it was decided to restore it.
    pub of: String,
    pub decided: String,
    /// Paths from the house's root, each replaced whole by what lies under the same path in `new/`.
    pub paths: Vec<String>,
    /// The branch, the commit it was at, and the one it is moved to, which has what was restored.
    pub branch: String,
    pub from: String,
    pub commit: String,
}

/// Folder in which a restore is prepared, and which holds its plan once it is decided.
pub fn folder(house: &House) -> PathBuf {
    house.own().join("restore")
}

/// Path of the folder of files that are to be put in place.
pub fn new(house: &House) -> PathBuf {
    folder(house).join("new")
}

fn plan(house: &House) -> PathBuf {
    folder(house).join("plan.json")
}

/// Decides: from here on the restore is carried out, also by a later process.
pub fn decide(house: &House, decided: &Plan) -> Result<()> {
    let disk = Folder::open(&folder(house))?;
    disk.sync_disk().context("failed to sync the disk")?;
    files::replace(&plan(house), &serde_json::to_vec(decided)?)
}

/// Removes the leftovers of a restore that was cut off before it was decided.
pub fn clear(house: &House) -> Result<()> {
    if fs::symlink_metadata(folder(house)).is_ok() && !is_decided(house) {
        Folder::open(&house.own())?
            .remove_all("restore")
            .context("failed to remove what an earlier restore left")?;
    }
    Ok(())
}

pub fn is_decided(house: &House) -> bool {
    fs::symlink_metadata(plan(house)).is_ok()
}

/// Carries out a decided restore, if any; returns the folder of the replaced files. The caller holds the house's lock.
pub fn finish(house: &House) -> Result<Option<PathBuf>> {
    let Some(bytes) = files::read_most(&plan(house), MOST_BYTES)? else { return Ok(None) };
    let plan: Plan = serde_json::from_slice(&bytes).with_context(|| {
        format!(
            "failed to understand {}; removed with its folder, the house is as it was left",
            plan(house).display()
        )
    })?;
    apart::keep(house)?;
    for path in &plan.paths {
        put(house, path).with_context(|| format!("failed to put {path} in place"))?;
    }
    put_commit(house, &plan)?;
    records::tell_once(
        house,
        "restored",
        serde_json::json!({"of": plan.of, "from_commit": plan.from, "commit": plan.commit, "decided": plan.decided}),
    );
    let kept = house.kept().join(format!("restored-{}", clock::name()));
    fs::create_dir_all(house.kept())?;
    fs::rename(folder(house), &kept).context("failed to move what was replaced aside")?;
    files::sync_folder(&kept)?;
    Ok(Some(kept))
}

/// Exchanges one path: the old file or folder goes to `before/`, and that in `new/` takes its place.
fn put(house: &House, path: &str) -> Result<()> {
    let (new, mut old) = (new(house).join(path), folder(house).join("before").join(path));
    let at = house.root().join(path);
    if fs::symlink_metadata(&new).is_err() {
        return Ok(());
    }
    if fs::symlink_metadata(&at).is_ok() {
        let (above, name) = (at.parent().context("no folder")?, at.file_name().context("no name")?);
        // Flags and modes of the creature's doing must not hold it.
        Folder::open(above)?.release(name);
        // After a kill in between: what was made there since, as an empty folder.
        if fs::symlink_metadata(&old).is_ok() {
            old.set_file_name(format!("{}.{}", name.to_string_lossy(), files::unused_name()));
        }
        shift(&at, &old)?;
    }
    shift(&new, &at)
}

/// Moves a file or folder, a file across disks too.
fn shift(from: &Path, to: &Path) -> Result<()> {
    let above = to.parent().context("no folder")?;
    fs::create_dir_all(above)?;
    match fs::rename(from, to) {
        Err(error) if error.raw_os_error() == Some(libc::EXDEV) && fs::symlink_metadata(from)?.is_file() => {
            let mut source = files::open(from)?.context("it is gone")?;
            let aside = to.with_file_name(format!("{}.{}", files::unused_name(), files::BEING_WRITTEN));
            let mut file = files::open_by(File::options().write(true).create_new(true).mode(0o600), &aside)?;
            std::io::copy(&mut source, &mut file)?;
            file.sync_all()?;
            fs::rename(&aside, to)?;
            fs::remove_file(from)?;
        }
        moved => moved?,
    }
    files::sync_folder(to)?;
    Ok(files::sync_folder(from)?)
}

/// Moves the branch, and makes creature and papers what the commit has. What they had was committed before, or is rescued.
fn put_commit(house: &House, plan: &Plan) -> Result<()> {
    let repo = Repo::open(house)?;
    let to = repo.resolve(&plan.commit)?;
    repo.rescue("a backup is restored")?;
    repo.point(&plan.branch, to.commit, "guardian: restored from a backup")?;
    let whole = repo.git.find_commit(Oid::from_str(&plan.commit)?)?.tree()?;
    for name in ["creature", "self"] {
        restore::put_back(&repo.git, &whole, name)?;
    }
    if let Some(entry) = whole.get_name("PURPOSE.md") {
        files::replace(&house.purpose(), repo.git.find_blob(entry.id())?.content())?;
    }
    repo.forgive(to.tree)?;
    repo.sync_index(&plan.from)
}
