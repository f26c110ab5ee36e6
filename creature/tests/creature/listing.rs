//! The files of its workspace as a list: kinds, sizes, times, depth, caps, and what is said where nothing can be written.

use crate::yard::Yard;
use creature::config::{FileSettings, Settings};
use creature::fault::unwritable;
use serde_json::{Value, json};
use std::io::ErrorKind;

fn entries(listed: &Value) -> Vec<String> {
    let entries = listed["entries"].as_array().unwrap_or_else(|| panic!("{listed}"));
    entries.iter().map(|entry| entry.as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn a_list_goes_down_with_kind_size_and_time() {
    let mut yard = Yard::new();
    yard.put(".self/workspace/garden/beds/tea.txt", "green");
    yard.put(".self/workspace/top.txt", "x");
    std::os::unix::fs::symlink("/", yard.root().join(".self/workspace/out")).unwrap();
    let changed = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_790_000_000);
    let top = std::fs::File::options().write(true).open(yard.root().join(".self/workspace/top.txt")).unwrap();
    top.set_modified(changed).unwrap();
    let all = entries(&yard.call("files.list", json!({})).await);
    let begins = [
        "garden/ (folder, ",
        "garden/beds/ (folder, ",
        "garden/beds/tea.txt (file, 5 bytes, ",
        "out (link, ",
        "top.txt (file, 1 bytes, 2026-09-21T14:13:20Z)",
    ];
    assert_eq!(all.len(), begins.len(), "a link is not followed: {all:?}");
    for (entry, begin) in all.iter().zip(begins) {
        assert!(entry.starts_with(begin), "{entry}");
    }
    let shallow = yard.call("files.list", json!({"depth": 1})).await;
    assert_eq!(entries(&shallow).len(), 3, "{shallow}");
    assert_eq!(shallow["note"], "1 folders at depth 1 were not looked into");
    let below = entries(&yard.call("files.list", json!({"path": "garden"})).await);
    assert!(below[1].starts_with("beds/tea.txt ("), "{below:?}");
}

#[tokio::test]
async fn what_a_list_leaves_out_lies_deepest_and_is_counted() {
    let mut yard = Yard::new();
    yard.tools.files = FileSettings { most_entries: 20, ..FileSettings::default() };
    for number in 0..30 {
        yard.put(&format!(".self/workspace/a/{number:02}.txt"), "x");
    }
    yard.put(".self/workspace/z.txt", "x");
    let listed = yard.call("files.list", json!({})).await;
    let all = entries(&listed);
    assert_eq!((all.len(), &listed["left_out"]), (20, &json!(12)), "{listed}");
    assert!(all.last().unwrap().starts_with("z.txt"), "what is near comes first: {all:?}");
    assert!(listed["note"].as_str().unwrap().starts_with("12 entries are left out"), "{listed}");
}

#[tokio::test]
async fn caps_of_the_file_tools_are_the_owners() {
    let usual = FileSettings::default();
    assert_eq!((usual.most_entries, usual.most_bytes), (300, 512 * 1024));
    let files = Settings::of(&json!({"files": {"most_bytes": 2_000}}), &mut Vec::new()).files;
    assert_eq!((files.most_entries, files.most_bytes), (300, 2_000));
    let mut yard = Yard::new();
    yard.tools.files = files;
    yard.put(".self/workspace/long.txt", &"x".repeat(2_001));
    let refused = yard.call("files.read", json!({"path": "long.txt"})).await;
    assert!(
        refused["error"].as_str().unwrap().contains("at most 2000 bytes ([files] most_bytes"),
        "{refused}"
    );
    yard.put(".self/workspace/long.txt", &"x".repeat(2_000));
    assert_eq!(yard.call("files.read", json!({"path": "long.txt"})).await["ok"], json!(true));
}

/// Behind the walls a folder in risky mode is read-only, and the disk was blamed.
#[test]
fn walls_are_not_called_a_full_disk() {
    for kind in [ErrorKind::ReadOnlyFilesystem, ErrorKind::PermissionDenied] {
        assert!(unwritable(kind, true).starts_with("the walls do not let you write there"));
        assert!(!unwritable(kind, true).contains("disk") && !unwritable(kind, false).contains("disk"));
    }
    assert!(unwritable(ErrorKind::StorageFull, true).contains("disk is full"));
}
