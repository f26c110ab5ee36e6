//! Whatever lies in `creature/` is kept, put back, committed: hostile trees by the thousand, as root and as a plain user.
//!
//! `TREES` says how many and `TREES_SEED` which; a failure names both, and leaves its house behind.

use crate::hostile::{Dice, mess, ordinary};
use crate::{marks, plain_user};
use git2::{ObjectType, Repository, Tree};
use house::House;
use house::openat::Folder;
use repo::Repo;
use repo::keep::Unfit;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs::{self, File, Metadata, Permissions};
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

const TREES: u64 = 500;
/// Of so many accepted commits git checks one out.
const CLONED: usize = 3;
/// Mode and bytes of every file and link, as git has them.
type Content = BTreeMap<PathBuf, (i32, Vec<u8>)>;

#[test]
fn whatever_lies_there_is_kept_and_put_back() {
    try_trees();
}

#[test]
fn whatever_lies_there_is_kept_and_put_back_by_a_plain_user() {
    if !plain_user::runs("trees::whatever_lies_there_is_kept_and_put_back_by_a_plain_user") {
        try_trees();
    }
}

fn number(name: &str, usual: u64) -> u64 {
    std::env::var(name).map_or(usual, |text| text.parse().unwrap())
}

/// Most of them in memory, where syncing costs nothing; some on a disk, which may know other marks.
fn try_trees() {
    // Others as a plain user than as root.
    let seed = 1 + u64::from(!nix::unistd::geteuid().is_root());
    let (seed, trees) = (number("TREES_SEED", seed), number("TREES", TREES));
    let memory = Path::new("/dev/shm");
    let disk = std::env::temp_dir();
    let in_memory = if tempfile::tempdir_in(memory).is_ok() { trees - trees / 50 } else { 0 };
    for (place, range) in [(memory, 0..in_memory), (&disk, in_memory..trees)] {
        if range.is_empty() {
            continue;
        }
        let begun = std::time::Instant::now();
        let mut yard = Yard::new(place);
        for tree in range.clone() {
            yard.told = format!("TREES_SEED={seed}, tree {tree}");
            yard.try_one(&mut Dice::new(seed.wrapping_mul(1_000_003) + tree));
        }
        yard.clone_all();
        println!(
            "{} trees in {} as user {} with TREES_SEED={seed}: {} rescued, {} commits taken, {} refused, in {:?}",
            range.count(),
            place.display(),
            nix::unistd::geteuid(),
            yard.rescued,
            yard.accepted.len(),
            yard.refused,
            begun.elapsed()
        );
    }
}

/// One house for many trees: what was committed last is what the next is put back to.
struct Yard {
    folder: TempDir,
    root: PathBuf,
    git: Repository,
    repo: Repo,
    accepted: Vec<git2::Oid>,
    refused: usize,
    rescued: usize,
    told: String,
    /// What the creature's tree at HEAD holds, and which tree that is.
    head: (git2::Oid, Content),
}

impl Drop for Yard {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.folder.disable_cleanup(true);
            println!("{}: see above; it lies in {}", self.told, self.root.display());
        } else {
            // Some of it no other remover could remove.
            let _ = Folder::open(self.folder.path()).map(|folder| folder.remove_all("house"));
        }
    }
}

impl Yard {
    fn new(place: &Path) -> Self {
        let folder = tempfile::Builder::new().prefix("trees-").tempdir_in(place).unwrap();
        let root = folder.path().join("house");
        for name in ["creature", "self", ".self/guardian"] {
            fs::create_dir_all(root.join(name)).unwrap();
        }
        fs::write(root.join("creature/first"), "first").unwrap();
        let git = Repository::init(&root).unwrap();
        let mut index = git.index().unwrap();
        index.add_path(Path::new("creature/first")).unwrap();
        let tree = git.find_tree(index.write_tree().unwrap()).unwrap();
        let owner = git2::Signature::now("owner", "owner@house.invalid").unwrap();
        git.commit(Some("HEAD"), &owner, &owner, "first", &tree, &[]).unwrap();
        drop(tree);
        let repo = Repo::open(&House::new(&root)).unwrap();
        let (accepted, told, head) = (vec![], String::new(), (git2::Oid::ZERO_SHA1, Content::new()));
        Self { folder, root, git, repo, accepted, refused: 0, rescued: 0, told, head }
    }

    fn try_one(&mut self, dice: &mut Dice) {
        let creature = self.root.join("creature");
        let outside = self.root.parent().unwrap().join("outside");
        fs::create_dir(&outside).unwrap();
        fs::write(outside.join("file"), "the owner's").unwrap();
        if dice.below(4) == 0 {
            // A cache that nothing was put back in may be left of others.
            Folder::open(&self.root).unwrap().remove_all("creature").unwrap();
            fs::create_dir(&creature).unwrap();
            ordinary(dice, &creature);
            self.commit();
            self.put_back(false);
        }
        for _ in 0..1 + dice.below(8) {
            mess(dice, &creature, &outside);
        }
        self.put_back(dice.below(2) == 0);
        for _ in 0..1 + dice.below(3) {
            mess(dice, &creature, &outside);
            if dice.below(3) == 0 {
                mess(dice, &self.root.join("self"), &outside);
            }
        }
        // What was linked to may have been written by that link, but by no one else.
        let owners = things(&outside);
        self.commit();
        self.put_back(false);
        assert!(things(&outside) == owners, "something was done elsewhere");
        fs::remove_dir_all(outside).unwrap();
        let root = Folder::open(&self.root).unwrap();
        for name in self.beside().into_iter().chain(["self".into(), ".self".into()]) {
            if fs::symlink_metadata(root.at(&name)).is_ok() {
                root.remove_all(name).unwrap();
            }
        }
        for name in self.refs().iter().filter(|name| name.contains("/rescued/")) {
            self.git.find_reference(name).unwrap().delete().unwrap();
        }
        root.make(Path::new(".self/guardian")).unwrap();
        root.make(Path::new("self")).unwrap();
    }

    /// What is in the owner's way, or moved there.
    fn beside(&self) -> Vec<PathBuf> {
        let names = fs::read_dir(&self.root).unwrap().flatten().map(|entry| PathBuf::from(entry.file_name()));
        names.filter(|name| name.to_string_lossy().contains('-')).collect()
    }

    fn put_back(&mut self, twice: bool) {
        let creature = self.root.join("creature");
        let head = self.repo.head().unwrap();
        if self.head.0 != head.tree {
            self.head = (head.tree, content_of(&self.git, &self.git.find_tree(head.tree).unwrap()));
        }
        let wanted = &self.head.1;
        let lay_there = things(&creature);
        let kept = self.repo.rescue("a test").unwrap();
        self.rescued += usize::from(kept.is_some());
        let reference = kept.as_deref().filter(|kept| kept.starts_with("refs/"));
        let reference = reference.map_or_else(Content::new, |name| {
            let whole = self.git.find_reference(name).unwrap().peel_to_tree().unwrap();
            let tree = self.git.find_tree(whole.get_name("creature").unwrap().id()).unwrap();
            content_of(&self.git, &tree)
        });
        let aside = self.inodes_aside();
        for Thing { path, inode, content } in lay_there {
            let is_kept = content.as_ref().is_some_and(|content| {
                wanted.get(&path) == Some(content) || reference.get(&path) == Some(content)
            });
            assert!(
                is_kept || aside.contains(&inode),
                "{path:?} is lost: {:?}",
                content.map(|content| content.0)
            );
        }
        self.repo.put_back(head.commit).unwrap();
        is_exactly(&creature, wanted);
        assert!(self.repo.is_at(head).unwrap(), "it does not find that it is as it should be");
        if !twice {
            return;
        }
        let seen = (stamps(&creature), self.refs(), self.inodes_aside());
        assert_eq!(self.repo.rescue("a test").unwrap(), None);
        self.repo.put_back(head.commit).unwrap();
        assert_eq!(
            seen,
            (stamps(&creature), self.refs(), self.inodes_aside()),
            "a second run changes something"
        );
    }

    fn commit(&mut self) {
        let before = self.repo.head().unwrap();
        match self.repo.commit("self: a test", &["creature", "self", "PURPOSE.md"]) {
            Ok(Some(made)) => {
                self.repo.sync_index(&before.commit.to_string()).unwrap();
                self.accepted.push(made.commit);
            }
            Ok(None) => {}
            Err(error) => {
                assert!(error.is::<Unfit>(), "{error:#}");
                self.refused += 1;
                assert_eq!(self.repo.head().unwrap(), before);
            }
        }
    }

    fn refs(&self) -> Vec<String> {
        self.git.references().unwrap().names().flatten().map(str::to_owned).collect()
    }

    /// Of all that was moved aside: a rename keeps them.
    fn inodes_aside(&self) -> BTreeSet<u64> {
        let mut found = BTreeSet::new();
        for place in self.beside().into_iter().chain([PathBuf::from(".self/guardian/kept")]) {
            found.extend(things(&self.root.join(place)).into_iter().map(|thing| thing.inode));
        }
        found
    }

    /// What was accepted git itself finds sound, and checks out again byte for byte.
    fn clone_all(&self) {
        let mut all = self.git.treebuilder(None).unwrap();
        for (number, commit) in self.accepted.iter().enumerate().step_by(CLONED) {
            let tree = self.git.find_commit(*commit).unwrap().tree_id();
            all.insert(format!("t{number}"), tree, git2::FileMode::Tree.into()).unwrap();
        }
        let all = self.git.find_tree(all.write().unwrap()).unwrap();
        let head = self.git.head().unwrap().peel_to_commit().unwrap();
        let owner = head.author();
        let id = self.git.commit(None, &owner, &owner, "all", &all, &[&head]).unwrap();
        self.git.reference("refs/heads/all", id, true, "a test").unwrap();
        assert_eq!(
            self.run_git(&["status", "--porcelain", "--ignored", "creature"]),
            "",
            "the index is behind"
        );
        self.run_git(&["fsck", "--strict", "--full", "--no-dangling"]);
        let strictly = ["core.protectHFS=true", "core.protectNTFS=true", "transfer.fsckObjects=true"];
        let mut clone = vec!["clone", "--quiet", "--no-local", "--branch", "all"];
        clone.extend(strictly.iter().flat_map(|setting| ["-c", setting]));
        let copy = self.root.join("a-clone");
        clone.extend([".", copy.to_str().unwrap()]);
        self.run_git(&clone);
        for entry in all.iter() {
            let tree = self.git.find_tree(entry.id()).unwrap();
            let wanted = content_of(&self.git, &tree);
            is_exactly(&copy.join(entry.name().unwrap()), &wanted);
        }
    }

    fn run_git(&self, args: &[&str]) -> String {
        let mut git = Command::new("git");
        git.args(args)
            .current_dir(&self.root)
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_NOSYSTEM", "1");
        let output = git.output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        let complaint = String::from_utf8_lossy(&output.stderr);
        let sound = output.status.success() && !complaint.contains("error");
        assert!(sound, "git {args:?}: {said}{complaint}");
        said
    }
}

fn content_of(git: &Repository, tree: &Tree) -> Content {
    let mut content = Content::new();
    let mut trees = vec![(PathBuf::new(), tree.clone())];
    while let Some((path, tree)) = trees.pop() {
        for entry in tree.iter() {
            let path = path.join(OsStr::from_bytes(entry.name_bytes()));
            match entry.kind().unwrap() {
                ObjectType::Tree => trees.push((path, git.find_tree(entry.id()).unwrap())),
                _ => {
                    let bytes = git.find_blob(entry.id()).unwrap().content().to_vec();
                    content.insert(path, (entry.filemode(), bytes));
                }
            }
        }
    }
    content
}

/// What is no folder: where, which inode, and what git would hold of it, if it would and if that can be read.
#[derive(PartialEq)]
struct Thing {
    path: PathBuf,
    inode: u64,
    content: Option<(i32, Vec<u8>)>,
}

/// Everything below a path and at it, but a cache of cargo's on top.
fn things(top: &Path) -> Vec<Thing> {
    let mut found = Vec::new();
    walk(top, PathBuf::new(), &mut |path, at, meta| {
        if !meta.is_dir() {
            let content = content(at, meta);
            found.push(Thing { path: path.to_path_buf(), inode: meta.ino(), content });
        }
    });
    found
}

fn content(at: &Path, meta: &Metadata) -> Option<(i32, Vec<u8>)> {
    if meta.is_symlink() {
        return Some((0o120_000, fs::read_link(at).unwrap().into_os_string().into_encoded_bytes()));
    }
    let mode = if meta.mode() & 0o100 == 0 { 0o100_644 } else { 0o100_755 };
    let is_read = meta.is_file() && meta.len() <= 64 << 20;
    Some((mode, is_read.then(|| fs::read(at).ok()).flatten()?))
}

/// By folders held open, for no path may be too long; one that is shut is opened, and shut again.
fn walk(at: &Path, path: PathBuf, visit: &mut dyn FnMut(&Path, &Path, &Metadata)) {
    let Ok(meta) = fs::symlink_metadata(at) else { return };
    let is_cache = path == Path::new("target") && at.join("CACHEDIR.TAG").is_file();
    if is_cache && meta.is_dir() {
        return;
    }
    visit(&path, at, &meta);
    if !meta.is_dir() {
        return;
    }
    let open = || File::options().read(true).custom_flags(libc::O_DIRECTORY | libc::O_NOFOLLOW).open(at);
    let is_shut =
        meta.mode() & 0o700 != 0o700 && fs::set_permissions(at, Permissions::from_mode(0o700)).is_ok();
    let held = open().unwrap();
    let below = PathBuf::from(format!("/proc/self/fd/{}", held.as_raw_fd()));
    for entry in fs::read_dir(&below).unwrap() {
        let name = entry.unwrap().file_name();
        walk(&below.join(&name), path.join(&name), visit);
    }
    if is_shut {
        held.set_permissions(meta.permissions()).unwrap();
    }
}

/// Byte for byte and mode for mode, with nothing attached to anything, and no folder that holds nothing.
fn is_exactly(top: &Path, wanted: &Content) {
    let (mut found, mut empty) = (Content::new(), BTreeSet::new());
    walk(top, PathBuf::new(), &mut |path, at, meta| {
        empty.remove(path.parent().unwrap_or(Path::new("")));
        let mode = meta.mode() & 0o7777;
        if meta.is_dir() {
            assert!(mode & 0o700 == 0o700 && mode & 0o5002 == 0, "{path:?} has mode {mode:o}");
            empty.insert(path.to_path_buf());
        } else {
            let whole = content(at, meta).unwrap_or_else(|| panic!("{path:?} is no file one can read"));
            let is_plain = meta.is_symlink() || (mode & 0o600 == 0o600 && mode & 0o7002 == 0);
            assert!(is_plain, "{path:?} has mode {mode:o}");
            found.insert(path.to_path_buf(), whole);
        }
        assert_eq!(marks::of(at, meta), Vec::<String>::new(), "{path:?} is marked");
    });
    empty.remove(Path::new(""));
    assert!(empty.is_empty(), "nothing lies in {empty:?}");
    let names = |content: &Content| content.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&found), names(wanted));
    for (path, content) in wanted {
        assert!(found[path] == *content, "{path:?} is another");
    }
}

/// What changes when anything is touched.
fn stamps(top: &Path) -> Vec<(PathBuf, u64, i64, i64)> {
    let mut found = Vec::new();
    walk(top, PathBuf::new(), &mut |path, _, meta| {
        found.push((path.to_path_buf(), meta.ino(), meta.mtime_nsec(), meta.ctime_nsec()));
    });
    found
}
