//! Lines of memory as a feed follows them: a bounded part at a look, over rotation, and none lost.

use console::feed::Feed;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::Path;

fn append(path: &Path, text: &[u8]) {
    OpenOptions::new().create(true).append(true).open(path).unwrap().write_all(text).unwrap();
}

const SHOWN: &[u8] = b"{\"kind\":\"snapshot\",\"data\":{\"path\":\"x\"}}\n";

/// Looks until there is nothing more to see; how many lines there were at each.
fn looks(feed: &mut Feed) -> Vec<usize> {
    let mut counts = Vec::new();
    loop {
        let seen = feed.look(Some);
        counts.push(seen.shown.len());
        if !seen.more {
            return counts;
        }
    }
}

#[test]
fn a_follower_sees_all_of_a_flood_a_bounded_part_at_a_look() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.jsonl");
    append(&path, &SHOWN.repeat(100_000));
    let counts = looks(&mut Feed::from_start(path));
    assert_eq!(counts.iter().sum::<usize>(), 100_000);
    assert!(counts.iter().all(|count| *count <= 200), "{counts:?}");
}

#[test]
fn a_feed_follows_over_rotation_and_loses_nothing_written_before_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.jsonl");
    append(&path, SHOWN);
    let mut feed = Feed::live(path.clone(), u64::MAX);
    assert_eq!(looks(&mut feed), [0]);
    append(&path, &SHOWN.repeat(2));
    fs::rename(&path, folder.path().join("old")).unwrap();
    append(&path, &SHOWN.repeat(3));
    assert_eq!(looks(&mut feed).iter().sum::<usize>(), 5);
    // Emptied under its reader, and gone for a while.
    fs::write(&path, SHOWN).unwrap();
    assert_eq!(looks(&mut feed).iter().sum::<usize>(), 1);
    fs::remove_file(&path).unwrap();
    assert_eq!(looks(&mut feed), [0]);
    append(&path, SHOWN);
    assert_eq!(looks(&mut feed).iter().sum::<usize>(), 1);
}
