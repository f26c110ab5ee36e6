//! Keeps the repository small over years: loose objects become a pack, packs of the house's own become one, loose refs a file.
//!
//! Invariant: nothing is pruned. Every object that could be read before can be read afterwards, whatever names it or does
//! not: an owner's stash, reflog and what no ref reaches any more. A file is removed only once a pack that holds what was
//! in it was read back.
//! Every function may be interrupted at any point, and repeated.

use anyhow::{Context, Result, bail};
use git2::{Odb, Oid, Repository};
use house::clock::{self, Millis};
use house::files;
use std::collections::BTreeSet;
use std::ffi::CString;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// Most objects of a run, so that it has an end; the rest is for the next.
const MOST_OBJECTS: usize = 100_000;
/// A file with an object that is larger stays as it is: packing gains little, and holds it in memory.
const LARGE_BYTES: u64 = 32 << 20;
/// Packs of the house's own that become one.
const PACKS: usize = 16;
/// A pack that is larger stays as it is.
const LARGE_PACK_BYTES: u64 = 256 << 20;
/// Loose refs that go into one file.
const REFS: usize = 64;
/// Age from which on a note that git is at work counts no longer.
const STALE_MS: Millis = 12 * 60 * 60 * 1_000;
/// Folder where a pack is written and read back. Git removes leftovers whose names begin so (`git gc`, tmp_objdir).
const ASIDE: &str = "tmp_objdir-guardian";
/// Refs that belong to one work tree, which git never packs (gitrepository-layout(5)).
const OF_ONE_WORK_TREE: [&str; 3] = ["refs/bisect", "refs/worktree", "refs/rewritten"];

/// Counts of what a run made smaller.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Gained {
    pub objects: usize,
    pub packs: usize,
    pub refs: usize,
}

/// Makes the repository smaller where there are `loose` loose objects or more, or many packs or refs.
pub fn keep(repo: &Repository, loose: usize) -> Result<Gained> {
    let objects = repo.commondir().join("objects");
    let mut gained = Gained::default();
    // The owner's git is at work on the same, or is told never to do such things by itself (gc.auto).
    let never = repo.config().and_then(|config| config.get_i64("gc.auto")).is_ok_and(|auto| auto == 0);
    if never || is_tidied(&repo.commondir().join("gc.pid")) {
        return Ok(gained);
    }
    let _ = fs::remove_dir_all(objects.join(ASIDE));
    let found = self::loose(repo, &objects);
    if found.len() >= loose {
        let ids = found.iter().map(|(id, _)| *id).collect();
        write(repo, &objects, &ids)?;
        found.iter().for_each(|(_, file)| _ = fs::remove_file(file));
        // Fails for those that still hold something.
        (0..=255_u8).for_each(|first| _ = fs::remove_dir(objects.join(format!("{first:02x}"))));
        gained.objects = found.len();
    }
    gained.packs = join(repo, &objects)?;
    gained.refs = refs(repo)?;
    Ok(gained)
}

/// Whether the owner's git tidies now: a note that is left behind counts no longer at an age, as git itself has it
/// (builtin/gc.c, `lock_repo_for_gc`).
fn is_tidied(note: &Path) -> bool {
    let made = fs::metadata(note).and_then(|meta| meta.modified());
    let since_ms = |made: SystemTime| made.duration_since(UNIX_EPOCH).ok().map(|at| at.as_millis() as Millis);
    made.ok().and_then(since_ms).is_some_and(|at_ms| clock::wall_ms() < at_ms + STALE_MS)
}

/// Returns loose objects that can be read whole, and their files: damaged ones stay where they are.
fn loose(repo: &Repository, objects: &Path) -> Vec<(Oid, PathBuf)> {
    let Ok(odb) = repo.odb() else { return vec![] };
    let folders = (0..=255_u8).map(|first| objects.join(format!("{first:02x}")));
    let entries = folders.flat_map(|folder| fs::read_dir(folder).into_iter().flatten().flatten());
    let named = entries.filter_map(|entry| {
        let path = entry.path();
        let small = entry.metadata().is_ok_and(|meta| meta.is_file() && meta.len() <= LARGE_BYTES);
        let first = path.parent()?.file_name()?.to_str()?.to_owned();
        let rest = entry.file_name().to_str().filter(|rest| small && rest.len() == 38)?.to_owned();
        Some((Oid::from_str(&(first + &rest)).ok()?, path))
    });
    named.filter(|(id, _)| odb.read(*id).is_ok()).take(MOST_OBJECTS).collect()
}

/// Writes objects as one pack beside the others, once it was read back from a place of its own.
fn write(repo: &Repository, objects: &Path, ids: &BTreeSet<Oid>) -> Result<PathBuf> {
    let aside = objects.join(ASIDE);
    let packs = aside.join("pack");
    fs::create_dir_all(&packs).with_context(|| format!("failed to make {}", packs.display()))?;
    let mut pack = repo.packbuilder()?;
    // Beside a life, on few processors.
    pack.set_threads(1);
    for id in ids {
        pack.insert_object(*id, None)?;
    }
    pack.write(&packs, 0).context("failed to write a pack")?;
    let written = Odb::new()?;
    written.add_disk_alternate(aside.to_str().context("the repository's path is no text")?)?;
    for id in ids {
        written.read(*id).with_context(|| format!("object {id} cannot be read back from its pack"))?;
    }
    drop(written);
    let index = indexes(&packs).pop().context("a pack has no index")?;
    let to = objects.join("pack");
    fs::create_dir_all(&to)?;
    // The pack first: git looks for packs by their indexes.
    for part in ["pack", "idx"] {
        let file = index.with_extension(part);
        let name = file.file_name().context("a pack has no name")?;
        fs::rename(&file, to.join(name)).with_context(|| format!("failed to move {}", file.display()))?;
    }
    files::sync_folder(&to.join("x"))?;
    let _ = fs::remove_dir_all(&aside);
    Ok(to.join(index.file_name().unwrap_or_default()))
}

/// Joins packs as this house writes them, an index and nothing else beside them: git's own have more, or are named by a
/// `multi-pack-index`. Returns how many became one.
fn join(repo: &Repository, objects: &Path) -> Result<usize> {
    let folder = objects.join("pack");
    if folder.join("multi-pack-index").exists() {
        return Ok(0);
    }
    let alone = |index: &PathBuf| {
        let beside = ["keep", "promisor", "mtimes", "bitmap", "rev"];
        let small = fs::metadata(index.with_extension("pack"));
        beside.iter().all(|kind| !index.with_extension(kind).exists())
            && small.is_ok_and(|meta| meta.len() <= LARGE_PACK_BYTES)
    };
    let old: Vec<PathBuf> = indexes(&folder).into_iter().filter(alone).collect();
    if old.len() < PACKS {
        return Ok(0);
    }
    let mut ids = BTreeSet::new();
    for index in &old {
        ids.extend(listed(index)?);
    }
    if ids.len() > MOST_OBJECTS {
        return Ok(0);
    }
    let new = write(repo, objects, &ids)?;
    for index in old.iter().filter(|index| **index != new) {
        // The index first: without one git does not look for its pack.
        for part in ["idx", "pack"] {
            let _ = fs::remove_file(index.with_extension(part));
        }
    }
    Ok(old.len())
}

fn indexes(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    entries.filter(|path| path.extension().is_some_and(|kind| kind == "idx")).collect()
}

/// The ids in an index of a pack, in its second version (gitformat-pack(5)).
fn listed(index: &Path) -> Result<Vec<Oid>> {
    const HEAD: usize = 8 + 256 * 4;
    let bytes = files::read_most(index, LARGE_PACK_BYTES)?.unwrap_or_default();
    let count = bytes.get(HEAD - 4..HEAD).and_then(|count| <[u8; 4]>::try_from(count).ok());
    let (Some(count), Some(&[0xff, b't', b'O', b'c', 0, 0, 0, 2])) = (count, bytes.get(..8)) else {
        bail!("{} is no index of a pack in the second version", index.display());
    };
    let names = bytes.get(HEAD..HEAD + 20 * u32::from_be_bytes(count) as usize);
    let names = names.with_context(|| format!("{} is cut off", index.display()))?;
    names.chunks_exact(20).map(|name| Ok(Oid::from_bytes(name)?)).collect()
}

/// Packs refs, where many lie as files of their own. Returns how many did.
fn refs(repo: &Repository) -> Result<usize> {
    let place = repo.commondir();
    let many = below(&place.join("refs"));
    if many < REFS || OF_ONE_WORK_TREE.iter().any(|kind| place.join(kind).exists()) {
        return Ok(0);
    }
    let path = CString::new(place.as_os_str().as_bytes())?;
    // SAFETY: the handles are made here, used by one call each, and freed; the library checks what it reads.
    #[allow(unsafe_code)]
    let done = unsafe {
        let (mut repo, mut refs) = (std::ptr::null_mut(), std::ptr::null_mut());
        let mut done = libgit2_sys::git_repository_open(&mut repo, path.as_ptr());
        if done == 0 {
            done = git_repository_refdb(&mut refs, repo);
        }
        if done == 0 {
            done = git_refdb_compress(refs);
            git_refdb_free(refs);
        }
        libgit2_sys::git_repository_free(repo);
        done
    };
    anyhow::ensure!(done == 0, "failed to pack the refs: {:?}", git2::Error::last_error(done));
    Ok(many)
}

/// Files below a folder.
fn below(folder: &Path) -> usize {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let count = entries.map(|entry| match entry.file_type() {
        Ok(kind) if kind.is_dir() => below(&entry.path()),
        Ok(kind) => usize::from(kind.is_file()),
        Err(_) => 0,
    });
    count.sum()
}

// As in libgit2's `repository.h` and `refdb.h`; its bindings for Rust leave them out.
#[allow(unsafe_code)]
unsafe extern "C" {
    fn git_repository_refdb(
        out: *mut *mut libgit2_sys::git_refdb,
        repo: *mut libgit2_sys::git_repository,
    ) -> libc::c_int;
    fn git_refdb_compress(refdb: *mut libgit2_sys::git_refdb) -> libc::c_int;
    fn git_refdb_free(refdb: *mut libgit2_sys::git_refdb);
}
