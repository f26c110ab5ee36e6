//! Snapshots and whole replacement: newest wins, bad ones are passed over, nothing is left half done.
#![allow(clippy::disallowed_methods, clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing)]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use memory::{replace, snapshot};

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let name = |entry: std::io::Result<fs::DirEntry>| entry.unwrap().file_name().into_string().unwrap();
    let mut names: Vec<_> = entries.map(name).collect();
    names.sort();
    names
}

#[test]
fn the_newest_is_found_however_quickly_they_follow() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("snapshots");
    assert_eq!(snapshot::latest(&dir).unwrap(), None);
    for number in 0..30 {
        let path = snapshot::write(&dir, &format!("number {number}")).unwrap();
        let latest = snapshot::latest(&dir).unwrap().unwrap();
        assert_eq!(latest.path, path);
        assert_eq!(latest.text, format!("number {number}"));
    }
    let names = names(&dir);
    assert_eq!(names.len(), 30, "a new file each, nothing aside: {names:?}");
    assert!(names.iter().all(|name| name.len() == "20260102T030405.678Z.md".len()));
}

#[test]
fn bad_ones_and_strangers_are_passed_over() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path();
    fs::write(dir.join("20200102T030405.678Z.md"), "good").unwrap();
    fs::write(dir.join("20200202T030405.678Z.md"), "").unwrap();
    fs::write(dir.join("20200302T030405.678Z.md"), " \n").unwrap();
    fs::write(dir.join("20200402T030405.678Z.md"), b"\xff\xfe").unwrap();
    fs::create_dir(dir.join("20200502T030405.678Z.md")).unwrap();
    fs::write(dir.join("20200602T030405.678Z.md"), "x".repeat(2 << 20)).unwrap();
    fs::write(dir.join("notes.md"), "a stranger").unwrap();
    fs::write(dir.join("20300102T030405.678Z.txt"), "another").unwrap();
    fs::write(dir.join(".20300102T030405.678Z.md.aside"), "half").unwrap();
    let latest = snapshot::latest(dir).unwrap().unwrap();
    assert_eq!(latest.text, "good");
    fs::write(dir.join("2021-01-02T03:04:05.678Z.md"), "by hand").unwrap();
    assert_eq!(snapshot::latest(dir).unwrap().unwrap().text, "by hand");
    snapshot::write(dir, "new").unwrap();
    assert_eq!(snapshot::latest(dir).unwrap().unwrap().text, "new");
}

#[test]
fn a_clock_set_back_does_not_hide_a_new_snapshot() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("20990102T030405.678Z.md"), "future").unwrap();
    let path = snapshot::write(folder.path(), "now").unwrap();
    assert!(path.ends_with("20990102T030405.679Z.md"), "{path:?}");
    assert_eq!(snapshot::latest(folder.path()).unwrap().unwrap().text, "now");
}

#[test]
fn a_file_in_the_folders_place_is_an_error_that_names_it() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("snapshots");
    fs::write(&dir, "x").unwrap();
    let error = snapshot::write(&dir, "text").expect_err("no folder");
    assert!(error.to_string().ends_with("/snapshots"), "{error}");
    assert!(snapshot::latest(&dir).is_err());
}

#[test]
fn replaces_whole_and_keeps_rights() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mind/request.json");
    replace(&path, b"one").unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    // What a crash left aside, even a link to something precious, is in nobody's way.
    let precious = folder.path().join("precious");
    fs::write(&precious, "kept").unwrap();
    let aside = folder.path().join("mind/.request.json.aside");
    std::os::unix::fs::symlink(&precious, aside).unwrap();
    replace(&path, b"two").unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"two");
    assert_eq!(fs::read(&precious).unwrap(), b"kept");
    let mode = fs::metadata(&path).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    assert_eq!(names(path.parent().unwrap()), ["request.json"]);
}

#[test]
fn a_folder_in_a_files_place_is_moved_aside_and_a_failed_replacement_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("taken");
    fs::create_dir(&path).unwrap();
    fs::write(path.join("inside"), "kept").unwrap();
    replace(&path, b"x").unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"x");
    let kept = names(folder.path()).into_iter().find(|name| name.starts_with("taken-")).unwrap();
    assert_eq!(fs::read(folder.path().join(kept).join("inside")).unwrap(), b"kept");
    let error = replace(&path.join("below"), b"x").expect_err("a file is no folder");
    assert!(error.to_string().contains("taken"), "{error}");
    assert_eq!(names(folder.path()).len(), 2, "something was left aside");
    assert!(replace(Path::new("/"), b"x").is_err());
}
