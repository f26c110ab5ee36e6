//! Writes git objects: only missing or damaged ones; a few as files of their own, many as one pack, all synced.
//!
//! Invariant: once `finish` has returned, all objects can be read back from disk, so a ref may name them.

use anyhow::{Context, Result};
use git2::{ErrorCode, ObjectType, Odb, OdbLookupFlags, Oid, Repository};
use house::{House, interrupt, repair};
use std::collections::HashSet;
use std::fs;

/// More objects than this go into a pack; fewer become files, so that packs do not become many.
const FEW: usize = 64;
/// Objects this large are written at once: syncing one costs little beside writing it, and it need not stay in
/// memory.
const LARGE_BYTES: usize = 1 << 20;
/// Most objects and bytes held in memory before they are written as a pack.
const MOST_WAITING: usize = 20_000;
const MOST_WAITING_BYTES: usize = 16 << 20;

pub struct Objects<'a> {
    disk: &'a Repository,
    odb: Odb<'a>,
    waiting: Odb<'static>,
    /// Ids of the objects in memory, in order, and as a set.
    order: Vec<Oid>,
    known: HashSet<Oid>,
    bytes: usize,
    /// Whether an object in memory replaces a damaged one in an older pack: git reads newer packs first, so it needs
    /// a pack.
    is_rotten: bool,
}

impl<'a> Objects<'a> {
    /// `disk` must be a fresh handle: an older one may hold objects in memory that the disk has lost.
    pub fn new(disk: &'a Repository) -> Result<Self> {
        let odb = disk.odb().context("failed to open the object store")?;
        let (order, known) = (vec![], HashSet::new());
        Ok(Self { disk, odb, waiting: in_memory()?, order, known, bytes: 0, is_rotten: false })
    }

    /// Makes sure that an object will be on disk; one that can be read already is not written again.
    pub fn keep(&mut self, kind: ObjectType, bytes: &[u8]) -> Result<Oid> {
        let id = Oid::hash_object(kind, bytes)?;
        if self.known.contains(&id) || self.is_sound(id)? {
            return Ok(id);
        }
        if bytes.len() >= LARGE_BYTES && !self.is_rotten {
            return self.odb.write(kind, bytes).context("failed to write an object");
        }
        self.waiting.write(kind, bytes).context("failed to hold an object")?;
        self.known.insert(id);
        self.order.push(id);
        self.bytes += bytes.len();
        if self.order.len() >= MOST_WAITING || self.bytes >= MOST_WAITING_BYTES {
            self.write_pack()?;
        }
        Ok(id)
    }

    /// Writes the objects that are still in memory.
    pub fn finish(mut self) -> Result<()> {
        if self.is_rotten || self.order.len() > FEW {
            return self.write_pack();
        }
        for id in &self.order {
            interrupt::check()?;
            let object = self.waiting.read(*id)?;
            self.odb.write(object.kind(), object.data()).context("failed to write an object")?;
        }
        Ok(())
    }

    /// Whether an object is on disk and readable. A damaged object file is moved aside.
    fn is_sound(&mut self, id: Oid) -> Result<bool> {
        if !self.odb.exists_ext(id, OdbLookupFlags::NO_REFRESH) {
            return Ok(false);
        }
        match self.odb.read(id) {
            Ok(_) => return Ok(true),
            Err(error) if error.code() == ErrorCode::NotFound => return Ok(false),
            Err(_) => {}
        }
        let name = id.to_string();
        let (folder, file) = name.split_at(2);
        let rotten = self.disk.commondir().join("objects").join(folder).join(file);
        if fs::symlink_metadata(&rotten).is_ok() {
            let house = House::new(self.disk.workdir().context("the repository has no work tree")?);
            let kept = repair::aside(&house, &rotten)
                .with_context(|| format!("failed to move object {id} aside"))?;
            tracing::warn!(%id, kept = %kept.display(), "an object that could not be read is written anew");
        } else {
            tracing::warn!(%id, "an object that could not be read in its pack is written anew");
            self.is_rotten = true;
        }
        Ok(false)
    }

    /// Writes the objects in memory as one pack: libgit2 syncs index, pack and folder, in this order, before it
    /// returns.
    fn write_pack(&mut self) -> Result<()> {
        let waiting = Repository::from_odb(std::mem::replace(&mut self.waiting, in_memory()?))?;
        let mut pack = waiting.packbuilder()?;
        pack.set_progress_callback(|_, _, _| interrupt::check().is_ok())?;
        for id in self.order.drain(..) {
            pack.insert_object(id, None)?;
        }
        let folder = self.disk.commondir().join("objects/pack");
        let written = fs::create_dir_all(&folder)
            .map_err(anyhow::Error::from)
            .and_then(|()| Ok(pack.write(&folder, 0)?));
        interrupt::check()?;
        written.context("failed to write a pack of objects")?;
        (self.bytes, self.is_rotten) = (0, false);
        self.odb.refresh().context("failed to look for new objects")
    }
}

fn in_memory() -> Result<Odb<'static>> {
    let odb = Odb::new()?;
    odb.add_new_mempack_backend(1)?;
    Ok(odb)
}
