//! The repository is kept small, and nothing that could be read is lost: whatever names it, and whatever is damaged.

use repo::small::{Gained, keep};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use trials::House;

fn packs(house: &House, kind: &str) -> BTreeSet<PathBuf> {
    let folder = fs::read_dir(house.path(".git/objects/pack")).unwrap().flatten().map(|entry| entry.path());
    folder.filter(|path| path.extension().is_some_and(|found| found == kind)).collect()
}

/// Ids of all objects, those that nothing names too.
fn objects(house: &House) -> BTreeSet<String> {
    let all = house.git(&["cat-file", "--batch-all-objects", "--batch-check=%(objectname) %(objecttype)"]);
    all.lines().map(str::to_owned).collect()
}

/// Writes loose objects that nothing names.
fn loose(house: &House, numbers: std::ops::Range<usize>) {
    let repo = git2(house);
    numbers.for_each(|number| _ = repo.blob(format!("object {number}\n").as_bytes()).unwrap());
}

fn git2(house: &House) -> git2::Repository {
    repo::open::opened(&house::House::new(&house.root)).unwrap()
}

fn kept(house: &House, most: usize) -> Gained {
    keep(&git2(house), most).unwrap()
}

#[test]
fn loose_objects_are_packed_from_a_number_on_and_none_is_lost() {
    let house = House::new("live");
    loose(&house, 0..50);
    let before = objects(&house);
    assert_eq!(kept(&house, 1_000), Gained::default(), "so few stay as they are");
    let gained = kept(&house, 50);
    assert_eq!((gained.objects, packs(&house, "pack").len()), (before.len(), 1));
    assert_eq!(objects(&house), before);
    assert!(house.git(&["count-objects"]).starts_with("0 objects"));
    house.git(&["fsck", "--full", "--no-dangling"]);
}

#[test]
fn many_packs_of_the_houses_own_become_one_and_gits_own_stay() {
    let house = House::new("live");
    house.git(&["repack", "-q", "-a", "-d"]);
    let gits = packs(&house, "pack");
    let held = packs(&house, "idx").into_iter().next().unwrap().with_extension("keep");
    fs::write(&held, "").unwrap();
    for round in 0..16 {
        loose(&house, round * 10..round * 10 + 10);
        kept(&house, 10);
    }
    let before = objects(&house);
    assert_eq!(packs(&house, "pack").len(), 2, "the last of them made them one");
    assert!(packs(&house, "pack").is_superset(&gits));
    assert_eq!(before.len(), 160 + objects_of(&house, gits.first().unwrap()));
    house.git(&["fsck", "--full", "--no-dangling"]);
}

fn objects_of(house: &House, pack: &Path) -> usize {
    let verified = house.git(&["verify-pack", "-v", pack.with_extension("idx").to_str().unwrap()]);
    verified
        .lines()
        .filter(|line| [" commit ", " tree ", " blob ", " tag "].iter().any(|kind| line.contains(kind)))
        .count()
}

#[test]
fn a_damaged_object_stays_where_it_is_and_holds_nothing_up() {
    let house = House::new("live");
    loose(&house, 0..20);
    let damaged = house.git(&["hash-object", "-w", "PURPOSE.md"]);
    let (folder, file) = damaged.split_at(2);
    let path = house.path(".git/objects").join(folder).join(file);
    let _ = fs::remove_file(&path);
    fs::write(&path, "not an object").unwrap();
    assert!(kept(&house, 10).objects >= 20);
    assert_eq!(fs::read_to_string(&path).unwrap(), "not an object");
}

#[test]
fn the_owners_word_that_git_tidies_nothing_by_itself_counts_here_too() {
    let house = House::new("live");
    loose(&house, 0..20);
    house.git(&["config", "gc.auto", "0"]);
    assert_eq!(kept(&house, 10), Gained::default());
    house.git(&["config", "--unset", "gc.auto"]);
    // While the owner's git is at work on the same.
    fs::write(house.path(".git/gc.pid"), "1 host").unwrap();
    assert_eq!(kept(&house, 10), Gained::default());
}

#[test]
fn what_a_killed_run_left_is_no_hindrance() {
    let house = House::new("live");
    loose(&house, 0..20);
    let before = objects(&house);
    let left = house.path(".git/objects/tmp_objdir-guardian/pack");
    fs::create_dir_all(&left).unwrap();
    fs::write(left.join("pack-0000.pack"), "half a pack").unwrap();
    assert!(kept(&house, 10).objects >= 20);
    assert!(!left.exists());
    assert_eq!(objects(&house), before);
}

/// Refs of one work tree are never packed by git, and none is packed while there are such.
#[test]
fn many_refs_become_one_file_but_never_those_of_a_bisection() {
    let house = House::new("live");
    let head = house.git(&["rev-parse", "HEAD"]);
    for number in 0..100 {
        let path = house.path(&format!(".git/refs/guardian/rescued/{number:03}"));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, format!("{head}\n")).unwrap();
    }
    fs::create_dir_all(house.path(".git/refs/remotes/origin")).unwrap();
    fs::write(house.path(".git/refs/remotes/origin/HEAD"), "ref: refs/remotes/origin/main\n").unwrap();
    fs::write(house.path(".git/refs/remotes/origin/main"), format!("{head}\n")).unwrap();
    house.git(&["update-ref", "refs/bisect/bad", "HEAD"]);
    let before = house.git(&["for-each-ref", "--format=%(refname) %(objectname) %(symref)"]);
    assert_eq!(kept(&house, 1_000).refs, 0);
    house.git(&["update-ref", "-d", "refs/bisect/bad"]);
    let _ = fs::remove_dir(house.path(".git/refs/bisect"));
    assert!(kept(&house, 1_000).refs > 100);
    let after = house.git(&["for-each-ref", "--format=%(refname) %(objectname) %(symref)"]);
    let without = |text: &str| {
        text.lines().filter(|line| !line.contains("bisect")).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(without(&after), without(&before));
    assert!(!house.path(".git/refs/guardian/rescued/007").exists());
    assert_eq!(house.git(&["symbolic-ref", "refs/remotes/origin/HEAD"]), "refs/remotes/origin/main");
}
