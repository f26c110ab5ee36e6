//! Races with the guardian: names that are swapped for links while it reads, restores, keeps and removes.

use guardian::act::binaries::Binaries;
use repo::keep;
use repo::keep::Rule;
use repo::restore;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use trials::{House, SOUND, said};

const SECRET: &str = "the owner's own words";

/// Swaps `name` for a link to `outside` and back, as fast as it can, while `act` runs.
fn while_swapped(name: &Path, outside: &Path, act: impl FnOnce()) {
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let (link, real) = (name.with_extension("link"), name.with_extension("real"));
            while !over.load(Ordering::Relaxed) {
                // What is put back takes both away.
                let _ = symlink(outside, &link);
                let _ = fs::rename(name, &real);
                let _ = fs::rename(&link, name);
                let _ = fs::rename(name, &link);
                let _ = fs::rename(&real, name);
            }
        });
        act();
        over.store(true, Ordering::Relaxed);
    });
}

fn house_with(name: &str) -> (House, std::path::PathBuf) {
    let house = House::new("live");
    house.write(name, "ours\n");
    let outside = house.folder.path().join("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("key"), SECRET).unwrap();
    (house, outside)
}

fn is_kept(house: &House) -> bool {
    let blobs = house.git(&["cat-file", "--batch-all-objects", "--batch", "--buffer"]);
    blobs.contains(SECRET)
}

#[test]
fn a_folder_swapped_for_a_link_is_never_read_into_the_repository() {
    let (house, outside) = house_with("self/deep/key");
    let repo = git2::Repository::open(&house.root).unwrap();
    while_swapped(&house.path("self/deep"), &outside, || {
        for _ in 0..400 {
            let _ = keep::folder(&repo, "self", None, Rule::Look);
        }
    });
    assert!(!is_kept(&house));
}

#[test]
fn a_file_swapped_for_a_link_is_never_read_into_the_repository() {
    let (house, outside) = house_with("self/key");
    let repo = git2::Repository::open(&house.root).unwrap();
    while_swapped(&house.path("self/key"), &outside.join("key"), || {
        for _ in 0..400 {
            let _ = keep::folder(&repo, "self", None, Rule::Look);
        }
    });
    assert!(!is_kept(&house));
}

#[test]
fn putting_back_writes_and_removes_nothing_elsewhere() {
    let (house, outside) = house_with("creature/src/key");
    house.commit("with a source");
    house.write("creature/src/more", "not committed\n");
    let repo = git2::Repository::open(&house.root).unwrap();
    let whole = repo.head().unwrap().peel_to_tree().unwrap();
    while_swapped(&house.path("creature/src"), &outside, || {
        for _ in 0..400 {
            let _ = restore::put_back(&repo, &whole, "creature");
        }
    });
    let left: Vec<_> = fs::read_dir(&outside).unwrap().flatten().map(|entry| entry.file_name()).collect();
    assert_eq!(left, ["key"], "something was written or removed outside");
    assert_eq!(fs::read_to_string(outside.join("key")).unwrap(), SECRET);
}

#[test]
fn only_what_lies_in_the_build_folder_is_kept_as_a_binary() {
    let (house, outside) = house_with("target/creature/debug/creature");
    fs::create_dir_all(house.path(".self/guardian/binaries")).unwrap();
    let mut binaries = Binaries::new(&house::House::new(&house.root));
    let mut keep = |tree: &str, path| {
        binaries.note(tree, path);
        binaries.keep(tree)
    };
    assert!(keep("direct", outside.join("key")).is_err());
    assert!(keep("dotted", house.path("target/creature/../../PURPOSE.md")).is_err());
    symlink(&outside, house.path("target/creature/link")).unwrap();
    assert!(keep("linked", house.path("target/creature/link/key")).is_err());
    let built = house.path("target/creature/debug/creature");
    assert!(keep("sound", built.clone()).unwrap());
    binaries.note("swapped", built.clone());
    house.write("target/creature/debug/creature", "another's\n");
    assert!(!binaries.keep("another").unwrap(), "that tree was not built");
    assert!(!binaries.keep("swapped").unwrap());
    assert!(binaries.get("swapped").is_none(), "what was never built is kept as what was");
    binaries.note("swapped", built);
    assert!(binaries.keep("swapped").unwrap());
}

#[test]
fn a_purpose_that_is_replaced_is_copied_for_who_cannot_read_it() {
    let house = House::new(
        "think x; blessed; until cat .self/purpose.md | grep -q herons; do beat; sleep 0.05; done; \
        cat PURPOSE.md > /dev/null || touch .self/mind/refused; touch .self/mind/seen; live",
    );
    let guardian = house.start();
    house.until("a thought", || !house.thoughts().is_empty());
    house.write("PURPOSE.new", "Watch the herons.\n");
    fs::rename(house.path("PURPOSE.new"), house.path("PURPOSE.md")).unwrap();
    house.until("it to be seen", || house.path(".self/mind/seen").exists());
    assert!(house.path(".self/mind/refused").exists(), "then no copy is needed");
    guardian.stop();
}

/// Found: saved in UTF-16 by an editor, it was well by `doctor`, and empty to the creature.
#[test]
fn a_purpose_that_is_no_text_is_told_and_what_it_said_before_stays() {
    let house = House::new(SOUND);
    let guardian = house.start();
    house.until("a copy", || house.path(".self/purpose.md").exists());
    let before = house.read(".self/purpose.md");
    let wide: Vec<u8> = "Watch the herons.\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    fs::write(house.path("PURPOSE.md"), wide).unwrap();
    let shows = |part: &str| house.status()["note"].as_str().unwrap_or_default().contains(part);
    house.until("it in the status", || shows("PURPOSE.md is no text in UTF-8"));
    let doctor = said(&house.ask(&["doctor"]));
    assert!(doctor.contains("is no text in UTF-8: save it as that"), "{doctor}");
    assert_eq!(house.read(".self/purpose.md"), before);
    house.write("PURPOSE.md", "Watch the herons.\n");
    house.until("it to be over", || !shows("no text"));
    guardian.stop();
}

#[test]
fn memory_moved_aside_ends_the_life_and_blames_nobody() {
    let deaths = moved_aside_under("think x; while :; do think y; sleep 0.05; done");
    assert!(deaths.iter().all(|death| death["blame"] == "owner"), "{deaths:#?}");
}

#[test]
fn memory_moved_aside_ends_a_life_that_does_not_want_to_end() {
    let deaths = moved_aside_under("trap '' TERM; think x; while :; do think y; sleep 0.05; done");
    assert!(!deaths.is_empty());
}

fn moved_aside_under(script: &str) -> Vec<serde_json::Value> {
    let house = House::new(script);
    let first = house.git(&["rev-parse", "HEAD"]);
    let guardian = house.start();
    house.until_blessed(&first);
    fs::rename(house.path(".self/memory.jsonl"), house.path(".self/memory-aside.jsonl")).unwrap();
    house.until("a new life to think", || house.thoughts().len() > 2);
    assert!(house.told("fall").is_empty());
    guardian.stop();
    house.deaths()
}

#[test]
fn a_file_found_as_it_was_is_found_changed_when_only_its_bytes_differ() {
    let house = House::new(trials::SOUND);
    let repo = repo::Repo::open(&house::House::new(&house.root)).unwrap();
    let head = repo.head().unwrap();
    let path = house.path("creature/creature.sh");
    let (bytes, modified) = (fs::read(&path).unwrap(), fs::metadata(&path).unwrap().modified().unwrap());
    for _ in 0..3 {
        assert!(repo.is_at(head).unwrap());
        let mut other = bytes.clone();
        *other.last_mut().unwrap() ^= 1;
        fs::write(&path, &other).unwrap();
        fs::File::options().write(true).open(&path).unwrap().set_modified(modified).unwrap();
        assert!(!repo.is_at(head).unwrap());
        assert_eq!(repo.dirty(head).unwrap(), [Path::new("creature.sh")]);
        fs::write(&path, &bytes).unwrap();
    }
}
