//! The house of a rehearsal: a copy that is enough to think in, and nothing of an earlier one.

use crate::yard::Yard;
use patch::proof::rehearse::prepare;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

fn files(at: &Path, root: &Path, into: &mut Vec<String>) {
    for entry in fs::read_dir(at).unwrap().flatten() {
        match entry.path() {
            folder if folder.is_dir() => files(&folder, root, into),
            file => into.push(file.strip_prefix(root).unwrap().display().to_string()),
        }
    }
}

fn copied(root: &Path) -> Vec<String> {
    let mut found = Vec::new();
    files(root, root, &mut found);
    found.sort();
    found
}

#[test]
fn what_a_thought_needs_is_copied_and_nothing_stays_of_the_last_time() {
    let yard = Yard::new();
    for number in 1..=5 {
        yard.put(&format!(".self/snapshots/2026-01-0{number}.md"), "what I am");
    }
    for (path, text) in [
        (".self/mind/cursors.json", "{\"thoughts\": 3}"),
        (".self/mind/instinct.json", "{\"wakes\": 3}"),
        (".self/inbox.jsonl", "hello\n"),
        ("self/diary.md", "dear diary\n"),
        ("self/notes/deep/er/tea.md", "tea\n"),
        ("self/videos/huge", ""),
        ("owner.toml", "[model]\nprovider = \"instinct\"\n"),
        (".self/workspace/rehearsal/self/old.md", "of the last time\n"),
    ] {
        yard.put(path, text);
    }
    symlink("/etc/hostname", yard.root().join("self/link.md")).unwrap();
    let huge = fs::File::options().write(true).open(yard.root().join("self/videos/huge")).unwrap();
    huge.set_len(16 * 1024 * 1024 + 1).unwrap();
    let memory = yard.house().memory();
    fs::write(&memory, "{\"whole\":1}\n{\"torn").unwrap();
    let expected = [
        ".self/memory.jsonl",
        ".self/mind/cursors.json",
        ".self/mind/instinct.json",
        ".self/snapshots/2026-01-03.md",
        ".self/snapshots/2026-01-04.md",
        ".self/snapshots/2026-01-05.md",
        "PURPOSE.md",
        "self/diary.md",
        "self/notes/deep/er/tea.md",
    ];
    let copy = prepare(&yard.context).unwrap();
    assert_eq!(copied(copy.root()), expected);
    for path in expected.iter().skip(1) {
        let copy = copy.root().join(path);
        assert_eq!(fs::read_to_string(copy).unwrap(), yard.text(path), "{path}");
    }
    assert_eq!(fs::read_to_string(copy.memory()).unwrap(), "{\"whole\":1}\n");

    // A file in its place gives way, and a house that is bare is enough.
    let root: PathBuf = copy.root().to_path_buf();
    fs::remove_dir_all(&root).unwrap();
    fs::write(&root, "in the way").unwrap();
    for gone in [".self/snapshots", ".self/mind", "self"] {
        fs::remove_dir_all(yard.root().join(gone)).unwrap();
    }
    fs::remove_file(&memory).unwrap();
    let copy = prepare(&yard.context).unwrap();
    assert_eq!(copied(copy.root()), [".self/memory.jsonl", "PURPOSE.md"]);
}

#[test]
fn of_a_long_memory_the_last_whole_lines_are_copied() {
    let yard = Yard::new();
    let line = format!("{{\"text\":\"{}\"}}\n", "x".repeat(1_000));
    let most = 8 * 1024 * 1024;
    let whole = line.repeat(most / line.len() + 2);
    fs::write(yard.house().memory(), &whole).unwrap();
    let copy = prepare(&yard.context).unwrap();
    let text = fs::read_to_string(copy.memory()).unwrap();
    assert_eq!(text.len(), most / line.len() * line.len());
    assert!(whole.ends_with(&text) && text.starts_with("{\"text\""));
}
