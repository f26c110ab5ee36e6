//! Source files of a tree: which there are, their hashes as git has them, and who changed what since a copy.

use git2::{ObjectType, Oid};
use ground::fault::Fault;
use ground::files;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

/// How deep folders are followed, and how many files are looked at.
const DEEPEST: usize = 32;
const MOST_FILES: usize = 20_000;

/// Bytes of one source file, and of all that are hashed at once; larger ones, and those beyond, are no source.
const MOST_BYTES: u64 = 16 << 20;
const MOST_HASHED: u64 = 256 << 20;

/// Bytes of one file that is copied; what a build leaves is larger than any source.
const MOST_COPIED: u64 = 1 << 30;

/// Hash of each file by its path.
pub type Hashes = BTreeMap<String, String>;

/// Hash of every source file below a root.
pub fn hashes(root: &Path) -> Hashes {
    let mut left = MOST_HASHED;
    let read = |(path, at): (String, PathBuf)| {
        let bytes = files::whole(&at, left.min(MOST_BYTES)).ok()?;
        left = left.saturating_sub(bytes.len() as u64);
        Some((path, hash(&bytes)))
    };
    files(root).into_iter().filter_map(read).collect()
}

/// The hash of a git blob, so that git can be asked for the text a draft stems from.
pub fn hash(bytes: &[u8]) -> String {
    Oid::hash_object(ObjectType::Blob, bytes).map_or(String::new(), |oid| oid.to_string())
}

/// Source files below a root, by their paths; links, build output and git's own files are left out.
pub fn files(root: &Path) -> Vec<(String, PathBuf)> {
    let (mut found, mut folders) = (Vec::new(), vec![("creature".to_owned(), 0)]);
    while let Some((folder, depth)) = folders.pop() {
        for entry in files::entries(&root.join(&folder)) {
            let (Ok(name), Ok(kind)) = (entry.file_name().into_string(), entry.file_type()) else { continue };
            let path = format!("{folder}/{name}");
            if kind.is_dir() && depth < DEEPEST && !matches!(name.as_str(), "target" | ".git") {
                folders.push((path, depth + 1));
            } else if kind.is_file() && found.len() < MOST_FILES {
                found.push((path, entry.path()));
            }
        }
    }
    found
}

/// A source file, whole.
pub fn read(path: &Path) -> io::Result<Vec<u8>> {
    files::whole(path, MOST_BYTES)
}

/// A file of a tree as text.
pub fn text(root: &Path, path: &str) -> Result<String, Fault> {
    let read = read(&root.join(path)).map_err(|cause| Fault::caused(format!("read {path}"), &cause, ""))?;
    String::from_utf8(read)
        .map_err(|_| Fault::new(format!("{path} is not UTF-8 text"), "only text can be a draft"))
}

/// Copies a file with its modification time: cargo builds again what is newer than its artefact.
pub fn copy(from: &Path, to: &Path) -> io::Result<()> {
    files::copy(from, to, MOST_COPIED)?;
    files::open_with(File::options().append(true), to)?.set_modified(from.metadata()?.modified()?)
}

/// Paths that changed since the copy, by who changed them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Divergence {
    /// In the draft alone.
    pub ours: Vec<String>,
    /// In the tree that lives alone.
    pub theirs: Vec<String>,
    /// In both, to different texts.
    pub both: Vec<String>,
    /// In both, to the same.
    pub same: Vec<String>,
}

/// Sorts the paths that changed since the copy by who changed them. Pure.
pub fn diverged(base: &Hashes, draft: &Hashes, living: &Hashes) -> Divergence {
    let mut divergence = Divergence::default();
    for path in paths([base, draft, living]) {
        let (was, ours, theirs) = (base.get(path), draft.get(path), living.get(path));
        let list = match (ours != was, theirs != was) {
            (false, false) => continue,
            (true, false) => &mut divergence.ours,
            (false, true) => &mut divergence.theirs,
            (true, true) if ours == theirs => &mut divergence.same,
            (true, true) => &mut divergence.both,
        };
        list.push(path.clone());
    }
    divergence
}

/// Every path of these trees, each once.
pub fn paths<const TREES: usize>(trees: [&Hashes; TREES]) -> BTreeSet<&String> {
    trees.into_iter().flat_map(BTreeMap::keys).collect()
}
