//! The broker's folder beside `.self`: where it lies, what an earlier version left, and what a kill leaves behind.

use house::House;
use house::apart::{folder, keep};
use processes::place::CreaturePlace;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use tempfile::TempDir;
use walls::Place;

fn house() -> (TempDir, House) {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap().join("house");
    fs::create_dir_all(root.join(".self")).unwrap();
    (folder, House::new(root))
}

fn write(path: PathBuf, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn reads(path: PathBuf) -> String {
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Every path that a rule for reading, running or writing covers, however it is spelled.
fn granted(house: &House, path: &Path) -> bool {
    let place = CreaturePlace { house: house.clone(), more: vec![] };
    let path = path.canonicalize().unwrap();
    let covers = |rule: &walls::spec::Rule| {
        rule.access != walls::spec::Access::List
            && house.root().join(&rule.path).canonicalize().is_ok_and(|rule| path.starts_with(rule))
    };
    place.rules().iter().any(covers)
}

/// Found by attack: where there was no view, the grant of `.self` covered the broker's tokens.
#[test]
fn no_rule_covers_what_the_broker_keeps() {
    let (_at, house) = house();
    write(house.tokens(), "a token");
    assert!(granted(&house, &house.tokens()), "as it was");
    keep(&house).unwrap();
    assert!(!granted(&house, &house.tokens()));
    write(house.published(), "{}");
    assert!(granted(&house, &house.published()), "what it needs it may read");
}

#[test]
fn what_an_earlier_version_kept_is_moved_once_and_found_by_the_same_name() {
    let (_at, house) = house();
    write(house.tokens(), "a token");
    write(house.ask("1"), "an ask");
    for _ in 0..3 {
        keep(&house).unwrap();
        assert_eq!((reads(house.tokens()), reads(house.ask("1"))), ("a token".into(), "an ask".into()));
    }
    assert_eq!(fs::metadata(folder(&house)).unwrap().permissions().mode() & 0o777, 0o700);
    let beside = fs::read_dir(house.root()).unwrap().flatten().count();
    assert_eq!(beside, 2, "nothing was moved aside");
    let moved = house.root().with_file_name("moved");
    fs::rename(house.root(), &moved).unwrap();
    assert_eq!(reads(House::new(moved).tokens()), "a token", "a house may be moved");
}

#[test]
fn a_kill_before_the_two_changed_places_costs_nothing() {
    let (_at, house) = house();
    write(house.tokens(), "a token");
    symlink("../.self-broker", folder(&house)).unwrap();
    keep(&house).unwrap();
    assert_eq!(reads(house.tokens()), "a token");
    assert!(house.broker().is_symlink() && folder(&house).is_dir());
}

#[test]
fn a_state_that_was_removed_begins_with_an_empty_folder_and_the_former_is_kept() {
    let (_at, house) = house();
    write(house.tokens(), "a token");
    keep(&house).unwrap();
    fs::remove_dir_all(house.state_folder()).unwrap();
    keep(&house).unwrap();
    assert!(!house.tokens().exists());
    let names = fs::read_dir(house.root()).unwrap().flatten().map(|entry| entry.path());
    let kept = names.filter(|path| path.join("tokens.json").exists()).collect::<Vec<_>>();
    assert!(kept.len() == 1 && !granted(&house, &kept[0].join("tokens.json")), "{kept:?}");
}

#[test]
fn a_state_kept_on_another_disk_has_the_folder_there_beside_it() {
    let (at, house) = house();
    let disk = at.path().join("disk");
    fs::create_dir(&disk).unwrap();
    fs::rename(house.state_folder(), disk.join("state")).unwrap();
    symlink(disk.join("state"), house.state_folder()).unwrap();
    write(house.tokens(), "a token");
    keep(&house).unwrap();
    assert_eq!(reads(house.tokens()), "a token");
    assert!(disk.join("state-broker/tokens.json").exists() && !granted(&house, &house.tokens()));
}
