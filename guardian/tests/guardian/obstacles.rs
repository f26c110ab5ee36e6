//! What a creature may leave so that nobody can keep its folders or put them back, or so that a terminal obeys it.

use crate::support::House;
use guardian::repo::Repo;
use nix::fcntl::{OFlag, openat};
use nix::sys::stat::{Mode, mkdirat};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// Folders in one another, deeper than any stack or table of open files.
fn dig(place: &Path, depth: usize) {
    let mut folder = nix::fcntl::open(place, OFlag::O_DIRECTORY, Mode::empty()).unwrap();
    for _ in 0..depth {
        mkdirat(&folder, "d", Mode::S_IRWXU).unwrap();
        folder = openat(&folder, "d", OFlag::O_DIRECTORY, Mode::empty()).unwrap();
    }
    openat(&folder, "bottom", OFlag::O_CREAT | OFlag::O_WRONLY, Mode::S_IRWXU).unwrap();
}

/// Keeps what lies in the creature's folder, puts the folder back, and commits it.
fn kept_and_put_back(house: &House) {
    let own = guardian::house::House::new(&house.root);
    let repo = Repo::open(&own).unwrap();
    let head = repo.head().unwrap();
    assert!(!repo.dirty(head).unwrap().is_empty(), "nothing is in the way");
    repo.rescue("a test").unwrap();
    repo.put_back(head.commit).unwrap();
    assert!(repo.is_at(head));
}

#[test]
fn folders_deeper_than_a_stack_are_moved_aside() {
    let house = House::new("live");
    dig(&house.path("creature"), 15_000);
    kept_and_put_back(&house);
    // And removed: what clears the build folder meets such trees as well.
    let root = guardian::beneath::Folder::open(&house.root).unwrap();
    root.remove_all(".self").unwrap();
    assert!(!house.path(".self").exists());
}

#[test]
fn a_name_that_git_takes_for_its_own_is_moved_aside() {
    for name in ["git~1", ".GIT", ".git ", ".git.", ".gi\u{200c}t", ".git::$INDEX_ALLOCATION"] {
        let house = House::new("live");
        house.write(&format!("creature/{name}"), "x");
        kept_and_put_back(&house);
    }
}

#[test]
fn a_folder_nobody_may_enter_is_kept_and_put_back() {
    let house = House::new("live");
    house.write("creature/shut/file", "x");
    house.write("creature/half/file", "x");
    house.write("creature/readonly/inner/file", "x");
    for (name, mode) in [("shut", 0o000), ("half", 0o300), ("readonly/inner", 0o500), ("readonly", 0o500)] {
        fs::set_permissions(house.path(&format!("creature/{name}")), fs::Permissions::from_mode(mode))
            .unwrap();
    }
    kept_and_put_back(&house);
}

#[test]
fn no_word_of_the_creatures_steers_a_terminal() {
    let steering = "\u{1b}[2J\u{9b}1m\u{202e}\u{7}x\r\n12:00:00 guardian all is well";
    let line = guardian::report::harmless(steering);
    assert!(!line.contains(['\u{1b}', '\u{9b}', '\u{202e}', '\u{7}', '\r']), "{line:?}");
    assert!(line.lines().skip(1).all(|line| line.starts_with("    ")), "{line:?}");
    let record = serde_json::json!({"at": "2026-01-01T\u{1b}[2J\u{1b}[H..", "kind": "thought", "data":
        {"monologue": "\u{202e}x", "intent": ""}});
    let line = guardian::feed::render(&record, false).unwrap();
    assert!(line.chars().all(|letter| !letter.is_control() && letter != '\u{202e}'), "{line:?}");
    let house = House::new("live");
    house.write(".self/guardian.json", &serde_json::json!({"phase": "x", "mind": steering}).to_string());
    for args in [&["status"][..], &["status", "--json"]] {
        let said = String::from_utf8(house.ask(args).stdout).unwrap();
        assert!(!said.contains(['\u{1b}', '\u{9b}', '\u{202e}', '\u{7}', '\r']), "{said:?}");
    }
}

/// Found: 7,667 folders `N.json` in `.self/mind` became as many warnings and entries in `kept/`.
#[test]
fn thousands_of_things_in_the_way_are_one_warning_and_one_entry() {
    let house = House::new("live");
    let own = guardian::house::House::new(&house.root);
    for number in 0..7_667 {
        fs::create_dir_all(house.path(&format!(".self/mind/{number}.json"))).unwrap();
    }
    let told = guardian::way::clear(&own);
    assert_eq!(told.len(), 1, "{} lines, as {}", told.len(), told[0]);
    assert!(told[0].contains("7667"), "{}", told[0]);
    assert_eq!(fs::read_dir(own.kept()).unwrap().count(), 1);
    let folder = fs::read_dir(own.kept()).unwrap().next().unwrap().unwrap().path();
    assert_eq!(fs::read_dir(folder).unwrap().count(), 7_667, "nothing is lost");
    assert_eq!(fs::read_dir(own.mind()).unwrap().count(), 0);
    assert!(guardian::way::clear(&own).is_empty());
}

#[test]
fn a_few_things_in_the_way_are_told_one_by_one() {
    let house = House::new("live");
    let own = guardian::house::House::new(&house.root);
    for name in ["heartbeat", "mind/request.json"] {
        fs::create_dir_all(house.path(&format!(".self/{name}"))).unwrap();
    }
    let told = guardian::way::clear(&own);
    assert!(
        told.len() == 2 && told.iter().all(|line| line.contains("was in the way; it is kept as")),
        "{told:?}"
    );
}
