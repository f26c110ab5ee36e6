//! What must hold in a house after its guardian was killed, wherever that was.

use git2::{ObjectType, Oid};
use house::sealed;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use trials::House;

const STAGED: &str = "the owner staged this\n";
const UNSTAGED: &str = "the owner staged something, then went on\n";
const PURPOSE: &str = "Be, says the owner, who has not committed it.\n";

/// The owner is in the middle of things.
pub fn owner_edits(house: &House) {
    house.write("README.md", STAGED);
    house.git(&["add", "README.md"]);
    house.write("README.md", UNSTAGED);
    house.write("PURPOSE.md", PURPOSE);
    house.write("notes.txt", "untracked\n");
}

/// Every file under a folder, with its bytes.
pub fn files_of(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        match entry.file_type().unwrap().is_dir() {
            true => files.extend(files_of(&entry.path())),
            false => files.push((entry.path(), fs::read(entry.path()).unwrap())),
        }
    }
    files
}

/// Object names of all that refs reach.
fn reached(house: &House) -> BTreeSet<String> {
    let list = house.git(&["rev-list", "--objects", "--all", "--no-object-names"]);
    list.lines().map(str::to_owned).collect()
}

fn name_of(bytes: &[u8]) -> String {
    Oid::hash_object(ObjectType::Blob, bytes).unwrap().to_string()
}

/// These bytes are under some ref.
pub fn is_kept(house: &House, bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes).into_owned();
    assert!(reached(house).contains(&name_of(bytes)), "lost, no ref reaches it: {text:?}");
}

/// The standing rungs are these commits, bottom first, and readers are told of the newest.
pub fn ladder_is(house: &House, commits: &[&str]) {
    let list = house.git(&["for-each-ref", "--format=%(objectname)", "refs/guardian/good"]);
    let wanted: Vec<String> =
        commits.iter().map(|name| house.git(&["rev-parse", &format!("{name}^{{commit}}")])).collect();
    assert_eq!(list.lines().collect::<Vec<_>>(), wanted, "the ladder");
    assert_eq!(
        Some(house.read(".self/last_good.txt").trim()),
        wanted.last().map(String::as_str),
        "last_good.txt"
    );
}

pub fn told_once(house: &House, what: &str, times: usize) {
    let told = house.told(what);
    assert_eq!(told.len(), times, "lines of `{what}` in the history: {told:?}");
}

/// Nothing is lost, nothing is left over, nothing happened twice.
pub fn is_whole(house: &House, lay_there: &[(PathBuf, Vec<u8>)]) {
    assert_eq!(house.read("README.md"), UNSTAGED);
    assert_eq!(house.read("PURPOSE.md"), PURPOSE);
    assert_eq!(house.read("notes.txt"), "untracked\n");
    assert_eq!(house.git(&["show", ":README.md"]), STAGED.trim());
    assert_eq!(house.git(&["diff", "--cached", "--name-only"]), "README.md", "the index follows");
    assert_eq!(house.git(&["status", "--porcelain", "creature"]), "", "creature/ is what HEAD has");
    assert_eq!(house.read(".self/mind/two"), "", "two creatures at a time");
    assert_eq!(house.leftovers(), Vec::<i32>::new());
    let reached = reached(house);
    for (path, bytes) in lay_there {
        let lies = fs::read(path).is_ok_and(|now| now == *bytes);
        assert!(
            lies || reached.contains(&name_of(bytes)),
            "lost: {} as it lay when the kill came: {:?}",
            path.display(),
            String::from_utf8_lossy(bytes)
        );
    }
    let proof =
        Command::new("git").args(["fsck", "--full", "--no-dangling"]).current_dir(&house.root).output();
    let proof = proof.unwrap();
    let said = [proof.stdout, proof.stderr].concat();
    assert!(proof.status.success() && said.is_empty(), "git fsck: {}", String::from_utf8_lossy(&said));
    let locks = files_of(&house.path(".git")).into_iter().map(|(path, _)| path);
    let locks: Vec<PathBuf> =
        locks.filter(|path| path.extension().is_some_and(|end| end == "lock")).collect();
    assert!(locks.is_empty(), "locks left behind: {locks:?}");
    state_is_settled(house);
    for (path, bytes) in files_of(&house.path(".self/guardian/binaries")) {
        if path.extension().is_none() && path.file_name().unwrap() != "aside" {
            let hash = fs::read_to_string(path.with_extension("sha256")).unwrap();
            assert_eq!(sealed::checksum(&bytes), hash.trim(), "{} is not whole", path.display());
        }
    }
}

fn state_is_settled(house: &House) {
    let body = sealed::body(&house::House::new(&house.root)).unwrap().expect("a state is saved");
    let state: Value = serde_json::from_str(&body).unwrap();
    assert!(house.told("state_rebuilt").is_empty());
    for place in ["/record/pending", "/falling", "/index_behind", "/rollback_to"] {
        assert_eq!(state.pointer(place), Some(&Value::Null), "{place}");
    }
}
