//! Tests of the boundary: which paths a self-edit may touch.

use patch::boundary::{Area, judge, no_links};
use std::os::unix::fs::symlink;

#[test]
fn allowed_paths_are_cleaned_and_know_their_area() {
    for (path, clean, area) in [
        ("creature/src/life.rs", "creature/src/life.rs", Area::Source),
        ("./creature/src/life.rs", "creature/src/life.rs", Area::Source),
        ("creature//Cargo.toml", "creature/Cargo.toml", Area::Source),
        ("creature/./crates/memory/src/lib.rs", "creature/crates/memory/src/lib.rs", Area::Source),
        ("creature/new dir/ä.rs", "creature/new dir/ä.rs", Area::Source),
        ("creature/src/target/x.rs", "creature/src/target/x.rs", Area::Source),
        ("self/diary.md", "self/diary.md", Area::Papers),
        ("self/drafts/a.md", "self/drafts/a.md", Area::Papers),
        ("PURPOSE.md", "PURPOSE.md", Area::Purpose),
    ] {
        let allowed = judge(path).unwrap_or_else(|fault| panic!("{path}: {fault}"));
        assert_eq!((allowed.path.as_str(), allowed.area), (clean, area), "{path}");
    }
}

#[test]
fn refused_paths_say_why_and_what_to_do() {
    for (path, why) in [
        ("", "empty"),
        ("  ", "empty"),
        ("creature", "outside"),
        ("creature/", "file"),
        ("self", "outside"),
        ("creature/target/debug/creature", "build output"),
        ("creature/../guardian/src/main.rs", "`..`"),
        ("creature/src/..", "`..`"),
        ("../creature/src/life.rs", "`..`"),
        ("/etc/passwd", "relative"),
        ("~/creature/x", "relative"),
        ("C:/creature/x", "relative"),
        ("creature\\src\\life.rs", "relative"),
        ("creature/.git/hooks/x", "git"),
        ("creature/src/.GIT/x", "git"),
        ("creature/.git./x", "git"),
        (".git/config", "git"),
        ("guardian/src/policy.rs", "not the creature's"),
        ("broker/src/main.rs", "not the creature's"),
        ("Cargo.toml", "outside"),
        ("README.md", "outside"),
        ("owner.toml", "outside"),
        ("purpose.md", "outside"),
        ("PURPOSE.md/x", "outside"),
        (".self/memory.jsonl", "one writer"),
        (".self/workspace/x.txt", "source and papers"),
        ("src/life.rs", "outside"),
        ("creature/src/a\nb.rs", "control"),
        ("creature/src/a\0b.rs", "control"),
        (" creature/src/life.rs", "file"),
    ] {
        let fault = judge(path).expect_err(path);
        assert!(fault.error.contains(why), "{path:?}: {}", fault.error);
        assert!(!fault.hint.is_empty(), "{path:?}");
    }
    assert!(judge(&format!("creature/{}", "a/".repeat(400))).is_err());
    assert!(judge("src/life.rs").expect_err("outside").hint.contains("creature/src/life.rs"));
}

#[test]
fn links_and_folders_are_refused() {
    let root = tempfile::tempdir().unwrap();
    let outside = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(root.path().join("creature/src")).unwrap();
    std::fs::write(root.path().join("creature/src/real.rs"), "").unwrap();
    symlink(outside.path(), root.path().join("creature/out")).unwrap();
    symlink("/etc/passwd", root.path().join("creature/src/link.rs")).unwrap();
    symlink("/nowhere", root.path().join("creature/src/dangling.rs")).unwrap();
    for (path, ok) in [
        ("creature/src/real.rs", true),
        ("creature/src/new.rs", true),
        ("creature/new/deep/new.rs", true),
        ("creature/out/x.rs", false),
        ("creature/src/link.rs", false),
        ("creature/src/dangling.rs", false),
        ("creature/src", false),
    ] {
        assert_eq!(no_links(root.path(), path).is_ok(), ok, "{path}");
    }
}
