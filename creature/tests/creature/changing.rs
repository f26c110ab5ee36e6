//! Files of the workspace are changed as the creature's own source is: the same forms, the same failures, the same walls.

use crate::yard::Yard;
use serde_json::{Value, json};
use std::os::unix::fs::{PermissionsExt, symlink};

const POEM: &str = "one heron\ntwo herons\nthree herons\n";

fn poem() -> Yard {
    let yard = Yard::new();
    yard.put(".self/workspace/poem.txt", POEM);
    yard.put("creature/poem.txt", POEM);
    yard
}

fn told(result: &Value) -> String {
    let word = |key: &str| result[key].as_str().unwrap_or_default().to_owned();
    format!("{}\n{}", word("error"), word("hint"))
}

fn edit(path: &str, old: &str, new: &str) -> Value {
    json!({"path": path, "old": old, "new": new})
}

#[tokio::test]
async fn a_file_of_the_workspace_is_edited_in_place() {
    let mut yard = poem();
    let script = yard.root().join(".self/workspace/poem.txt");
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).unwrap();
    let edits =
        json!([edit("poem.txt", "two herons", "two cranes"), edit(".self/workspace/new/a.txt", "", "a\n")]);
    let result = yard.call("files.edit", json!({"edits": edits})).await;
    assert_eq!(result["ok"], json!(true), "{result}");
    assert_eq!(
        result["files"],
        json!([".self/workspace/new/a.txt (new)", ".self/workspace/poem.txt (changed)"]),
        "{result}"
    );
    assert_eq!(yard.text(".self/workspace/poem.txt"), "one heron\ntwo cranes\nthree herons\n");
    assert_eq!(yard.text(".self/workspace/new/a.txt"), "a\n");
    assert_eq!(std::fs::metadata(&script).unwrap().permissions().mode() & 0o777, 0o755, "it still runs");
    assert_eq!(yard.text("creature/poem.txt"), POEM);
}

/// As `repo.apply_patch` places it: line numbers that are wrong, a rename, a file that is made and one that goes.
#[tokio::test]
async fn a_patch_of_the_workspace_is_placed() {
    let mut yard = poem();
    yard.put(".self/workspace/old.txt", "gone\n");
    let patch = "--- a/poem.txt\n+++ b/poem.txt\n@@ -40,2 +40,2 @@\n two herons\n-three herons\n+three cranes\n\
        --- /dev/null\n+++ b/made/b.txt\n@@ -0,0 +1 @@\n+b\n--- a/old.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-gone\n";
    let result = yard.call("files.edit", json!({"patch": patch})).await;
    assert_eq!(result["ok"], json!(true), "{result}");
    assert!(result["applied"].to_string().contains("exact, moved"), "{result}");
    assert_eq!(yard.text(".self/workspace/poem.txt"), "one heron\ntwo herons\nthree cranes\n");
    assert_eq!(yard.text(".self/workspace/made/b.txt"), "b\n");
    assert!(!yard.root().join(".self/workspace/old.txt").exists());
    let patch = "*** Begin Patch\n*** Update File: poem.txt\n*** Move to: verse.txt\n@@\n-one heron\n+one crane\n*** End Patch\n";
    let result = yard.call("files.edit", json!({"patch": patch})).await;
    assert_eq!(result["ok"], json!(true), "{result}");
    assert!(yard.text(".self/workspace/verse.txt").starts_with("one crane\n"));
    assert!(!yard.root().join(".self/workspace/poem.txt").exists());
    let again =
        yard.call("files.edit", json!({"edits": [edit("verse.txt", "one crane", "one crane")]})).await;
    assert!(told(&again).contains("nothing would change"), "{again}");
}

/// What is wrong with an edit is told in the words that a self-edit has for it, and nothing is half done.
#[tokio::test]
async fn a_miss_is_told_as_of_its_own_source_and_nothing_is_half_done() {
    let mut yard = poem();
    for (old, why) in [
        ("two hérons", "the nearest"),
        ("herons", "places (lines 2, 3)"),
        ("", "quote the passage to replace"),
        ("nowhere at all", "`old` is not there"),
    ] {
        let edits = |at: &str| {
            json!([
                edit(&format!("{at}poem.txt"), "one heron", "one crane"),
                edit(&format!("{at}poem.txt"), old, "x")
            ])
        };
        let own =
            yard.call("repo.edit", json!({"edits": edits("creature/"), "summary": "s", "hold": true})).await;
        let other = yard.call("files.edit", json!({"edits": edits("")})).await;
        assert!(told(&other).contains(why), "{old}: {other}");
        let first = |result: &Value| {
            let error = result["error"].as_str().unwrap().lines().next().unwrap().to_owned();
            error.replace("creature/poem.txt", "poem.txt").replace(" (apply stage)", "")
        };
        assert_eq!(first(&own), first(&other), "the same failure in the same words");
        assert!(told(&other).contains("nothing was changed"), "{other}");
        assert!(!told(&other).contains("left out"), "nothing is kept that could be left out: {other}");
        assert_eq!(yard.text(".self/workspace/poem.txt"), POEM, "{old}");
        yard.call("repo.drop", json!({})).await;
    }
    let patch = "--- a/poem.txt\n+++ b/poem.txt\n@@ -1,2 +1,2 @@\n one heron\n-two geese\n+two cranes\n";
    let missed = yard.call("files.edit", json!({"patch": patch})).await;
    assert!(told(&missed).contains("hunk 1 of poem.txt"), "{missed}");
    assert!(told(&missed).contains("2: two herons"), "what the file really says: {missed}");
    let both = json!({"patch": patch, "edits": [edit("poem.txt", "one heron", "x")]});
    for args in [both, json!({})] {
        let refused = yard.call("files.edit", args).await;
        assert!(told(&refused).contains("needs either `edits` or `patch`"), "{refused}");
    }
}

/// A paper has no draft, so an edit of it that missed is not kept: the hint must not promise that.
#[tokio::test]
async fn what_is_not_kept_is_not_said_to_be() {
    let mut yard = poem();
    yard.put("self/diary.md", POEM);
    let edits = json!([edit("self/diary.md", "four herons", "five")]);
    let missed = yard.call("repo.edit", json!({"edits": edits, "summary": "s", "hold": true})).await;
    assert!(told(&missed).contains("`old` is not there"), "{missed}");
    assert!(!told(&missed).contains("left out"), "{missed}");
    let edits = json!([edit("creature/poem.txt", "four herons", "five")]);
    let missed = yard.call("repo.edit", json!({"edits": edits, "summary": "s", "hold": true})).await;
    assert!(told(&missed).contains("`new` left out"), "the draft keeps it: {missed}");
}

#[tokio::test]
async fn files_and_folders_are_moved_and_deleted() {
    let mut yard = poem();
    yard.put(".self/workspace/deep/er/a.txt", "a");
    let moved = yard.call("files.move", json!({"path": "poem.txt", "to": "kept/verse.txt"})).await;
    assert_eq!(moved["path"], json!(".self/workspace/kept/verse.txt"), "{moved}");
    assert_eq!(yard.text(".self/workspace/kept/verse.txt"), POEM);
    let moved = yard.call("files.move", json!({"path": "deep", "to": "kept/deep"})).await;
    assert_eq!(moved["ok"], json!(true), "{moved}");
    yard.put(".self/workspace/other.txt", "other");
    for (from, to, why) in [
        ("other.txt", "kept/verse.txt", "overwrites nothing"),
        ("kept", "kept/deep/kept", "into itself"),
        ("nowhere", "b", "is not there"),
        (".", "b", "below the workspace"),
        ("other.txt", "../other.txt", "climbs"),
        ("../../owner.toml", "b", "climbs"),
    ] {
        let refused = yard.call("files.move", json!({"path": from, "to": to})).await;
        assert!(told(&refused).contains(why), "{from} -> {to}: {refused}");
    }
    assert_eq!(yard.text(".self/workspace/kept/verse.txt"), POEM);
    let deleted = yard.call("files.delete", json!({"path": "kept"})).await;
    assert_eq!(deleted["deleted"], json!(".self/workspace/kept"), "{deleted}");
    assert!(!yard.root().join(".self/workspace/kept").exists());
    for path in ["kept", ".", "..", ".self/workspace"] {
        let refused = yard.call("files.delete", json!({"path": path})).await;
        assert_eq!(refused["ok"], json!(false), "{path}: {refused}");
    }
    assert_eq!(yard.text(".self/workspace/other.txt"), "other");
}

/// The walls of `files.write`, for every way of changing a file.
#[tokio::test]
async fn nothing_outside_of_the_workspace_is_changed() {
    let mut yard = poem();
    yard.put(".env", "KEY=1");
    yard.put("outside/a.txt", POEM);
    symlink("../../outside", yard.root().join(".self/workspace/out")).unwrap();
    symlink("../../.env", yard.root().join(".self/workspace/env")).unwrap();
    for path in ["../memory.jsonl", "/etc/hostname", "out/a.txt", "env", "../../.env", "a\\b", "."] {
        let patch = format!("--- /dev/null\n+++ b/{path}\n@@ -0,0 +1 @@\n+x\n");
        for (tool, args) in [
            ("files.edit", json!({"edits": [edit(path, "", "x")]})),
            ("files.edit", json!({"patch": patch})),
            ("files.move", json!({"path": "poem.txt", "to": path})),
            ("files.move", json!({"path": path, "to": "b"})),
            ("files.delete", json!({"path": path})),
        ] {
            let result = yard.call(tool, args).await;
            assert_eq!(result["ok"], json!(false), "{tool} {path:?}: {result}");
        }
    }
    assert_eq!(yard.text(".env"), "KEY=1");
    assert_eq!(yard.text("outside/a.txt"), POEM);
    assert_eq!(yard.text(".self/workspace/poem.txt"), POEM);
}

/// In a folder of the owner's repositories, keys and houses stay as they are, whichever tool is asked.
#[tokio::test]
async fn a_folder_of_the_owners_keeps_its_repository_and_keys() {
    let outside = tempfile::tempdir().unwrap();
    let top = outside.path().canonicalize().unwrap();
    let mut yard = Yard::new();
    yard.tools.files.risky = true;
    yard.tools.files.risky_root = top.display().to_string();
    let whole = top.join("site/a.txt").display().to_string();
    let wrote = yard.call("files.write", json!({"path": "site/a.txt", "text": "a\n"})).await;
    assert_eq!(wrote["path"], json!(whole), "{wrote}");
    let edited = yard.call("files.edit", json!({"edits": [edit(&whole, "a", "b")]})).await;
    assert_eq!(edited["ok"], json!(true), "{edited}");
    assert_eq!(std::fs::read_to_string(top.join("site/a.txt")).unwrap(), "b\n");
    for kept in [
        ".git/config",
        "site/.git/hooks/x",
        ".env",
        "site/.env.local",
        ".self/inbox.jsonl",
        "owner.toml",
        "a/.GIT/x",
        "bare.git/config",
    ] {
        for (tool, args) in [
            ("files.write", json!({"path": kept, "text": "x"})),
            ("files.edit", json!({"edits": [edit(kept, "", "x")]})),
            ("files.move", json!({"path": "site/a.txt", "to": kept})),
            ("files.delete", json!({"path": kept})),
            ("files.read", json!({"path": kept})),
        ] {
            let refused = yard.call(tool, args).await;
            assert!(told(&refused).contains("is not yours there"), "{tool} {kept}: {refused}");
        }
    }
    // Found by reading: a repository was deleted by the name of a folder that it lies in.
    std::fs::create_dir_all(top.join("site/deep/.git")).unwrap();
    for path in ["site", "site/deep"] {
        let refused = yard.call("files.delete", json!({"path": path})).await;
        assert!(told(&refused).contains("holds one"), "{path}: {refused}");
    }
    assert!(top.join("site/deep/.git").is_dir() && top.join("site/a.txt").is_file());
    std::fs::remove_dir(top.join("site/deep/.git")).unwrap();
    assert_eq!(yard.call("files.delete", json!({"path": "site/deep"})).await["ok"], json!(true));
    let sibling = format!("{}-other/x.txt", top.display());
    let refused = yard.call("files.write", json!({"path": sibling, "text": "x"})).await;
    assert!(told(&refused).contains("is absolute"), "{refused}");
    for root in [yard.root().display().to_string(), yard.root().parent().unwrap().display().to_string()] {
        yard.tools.files.risky_root = root.clone();
        let refused = yard.call("files.write", json!({"path": "x.txt", "text": "a"})).await;
        assert!(told(&refused).contains("no folder of its own"), "{root}: {refused}");
    }
}

#[tokio::test]
async fn a_workspace_is_made_as_it_is_asked_for() {
    let mut yard = Yard::new();
    let made = yard
        .call(
            "files.create_workspace",
            json!({"name": "garden", "readmeTitle": "Tea", "about": "Where it grows."}),
        )
        .await;
    assert_eq!((&made["ok"], &made["existed"]), (&json!(true), &json!(false)), "{made}");
    assert!(yard.text(".self/workspace/garden/README.md").starts_with("# Tea\n\nWhere it grows.\n"));
    let refused =
        yard.call("files.create_workspace", json!({"name": "garden", "allowExisting": false})).await;
    assert!(told(&refused).contains("is there"), "{refused}");
    let again = yard.call("files.create_workspace", json!({"name": "garden", "allowExisting": true})).await;
    assert_eq!(again["existed"], json!(true), "{again}");
    yard.call("files.create_workspace", json!({"name": "bare", "createReadme": false})).await;
    let bare = yard.root().join(".self/workspace/bare");
    assert!(bare.is_dir() && !bare.join("README.md").exists());
}
