//! What a creature may leave so that nobody can keep its folders or put them back, or so that a terminal obeys it.

use crate::{marks, plain_user};
use nix::fcntl::{OFlag, openat};
use nix::mount::{MsFlags, mount};
use nix::sched::{CloneFlags, unshare};
use nix::sys::stat::{Mode, mkdirat};
use repo::Repo;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use trials::House;

/// Folders in one another, deeper than any stack or table of open files.
fn dig(place: &Path, depth: usize) {
    dig_named(place, "d", depth);
}

fn dig_named(place: &Path, name: &str, depth: usize) {
    let mut folder = nix::fcntl::open(place, OFlag::O_DIRECTORY, Mode::empty()).unwrap();
    for _ in 0..depth {
        mkdirat(&folder, name, Mode::S_IRWXU).unwrap();
        folder = openat(&folder, name, OFlag::O_DIRECTORY, Mode::empty()).unwrap();
    }
    openat(&folder, "bottom", OFlag::O_CREAT | OFlag::O_WRONLY, Mode::S_IRWXU).unwrap();
}

/// Keeps what lies in the creature's folder, puts the folder back, and commits it.
fn kept_and_put_back(house: &House) {
    let own = house::House::new(&house.root);
    let repo = Repo::open(&own).unwrap();
    let head = repo.head().unwrap();
    assert!(!repo.dirty(head).unwrap().is_empty(), "nothing is in the way");
    repo.rescue("a test").unwrap();
    repo.put_back(head.commit).unwrap();
    assert!(repo.is_at(head).unwrap());
}

#[test]
fn folders_deeper_than_a_stack_are_moved_aside() {
    let house = House::new("live");
    dig(&house.path("creature"), 15_000);
    kept_and_put_back(&house);
    // And removed: what clears the build folder meets such trees as well.
    let root = house::openat::Folder::open(&house.root).unwrap();
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

/// Waits for what a test does, then dies.
const DIES_WHEN_TOLD: &str =
    "think x; until [ -e .self/mind/go ]; do beat; sleep 0.05; done; rm .self/mind/go; exit 3";

/// A creature dies over a mess in its folder: the next one lives, in exactly what HEAD has.
fn lives_on_after(house: &House, mess: impl FnOnce()) {
    let guardian = house.start();
    house.until("a thought", || !house.thoughts().is_empty());
    mess();
    house.write(".self/mind/go", "");
    house.until("the next life to think", || house.thoughts().len() == 2);
    let head = house.git(&["rev-parse", "HEAD"]);
    assert!(!house.creature_differs_from(&head), "creature/ is not what HEAD has");
    assert!(house.told("fall").is_empty());
    assert_eq!(guardian.stop(), 0);
}

/// Found by attack: the whole path was too long to open, so it was never put back, through restarts and rollbacks.
#[test]
fn twenty_folders_of_250_letters_are_moved_aside() {
    let house = House::new(DIES_WHEN_TOLD);
    lives_on_after(&house, || dig_named(&house.path("creature"), &"l".repeat(250), 20));
    assert!(house.path(".self/guardian/kept").read_dir().unwrap().next().is_some(), "they are kept");
}

/// Found by attack: what was written beside it, to be renamed, had a name that was too long.
#[test]
fn a_committed_name_of_252_letters_is_put_back() {
    let house = House::new(DIES_WHEN_TOLD);
    let name = format!("creature/{}", "n".repeat(252));
    house.write(&name, "x");
    house.commit("a long name");
    lives_on_after(&house, || fs::remove_file(house.path(&name)).unwrap());
    assert_eq!(house.read(&name), "x");
}

/// Found by attack: what was written beside it, to be renamed, met a folder of that name.
#[test]
fn a_file_beside_a_folder_called_aside_is_put_back() {
    let house = House::new(DIES_WHEN_TOLD);
    house.write("creature/x.rs", "fn x() {}");
    house.write("creature/x.aside/file", "y");
    house.commit("a folder called aside");
    lives_on_after(&house, || fs::remove_file(house.path("creature/x.rs")).unwrap());
    assert_eq!(house.read("creature/x.rs"), "fn x() {}");
}

/// Found by attack: of a file made where such a list applies not even its maker may open it again.
#[test]
fn a_default_access_list_keeps_nothing_from_being_put_back() {
    if plain_user::runs("obstacles::a_default_access_list_keeps_nothing_from_being_put_back") {
        return;
    }
    let house = House::new(DIES_WHEN_TOLD);
    house.write("creature/x.rs", "fn x() {}");
    house.commit("a source");
    lives_on_after(&house, || {
        marks::deny_all_by_default(&house.path("creature"));
        fs::remove_file(house.path("creature/x.rs")).unwrap();
    });
    assert_eq!(house.read("creature/x.rs"), "fn x() {}");
}

/// Found while mending: cargo takes every folder in `crates/` for a crate, so an empty one kept all rungs from building.
#[test]
fn an_empty_folder_is_put_back_from() {
    let house = House::new(DIES_WHEN_TOLD);
    lives_on_after(&house, || fs::create_dir_all(house.path("creature/crates/empty")).unwrap());
    assert!(!house.path("creature/crates").exists(), "it lies there still");
}

/// What is committed leaves the empty folder out: nobody's edit, so nobody is waited for.
#[test]
fn a_self_edit_that_leaves_an_empty_folder_lives() {
    let becomes = trials::becomes("think again; live");
    let house = House::new(&becomes.replace("head -n 7", "mkdir -p creature/crates/empty; head -n 7"));
    let guardian = house.start();
    house.until("the next self to be trusted", || {
        let status = house.status();
        status["blessed"] == true && status["life"] == 2
    });
    assert!(!house.path("creature/crates").exists(), "it lies there still");
    assert!(house.told("rescued").is_empty(), "there was nothing to keep");
    guardian.stop();
}

/// Found while mending: a cache is passed over, wherever it says that it is one.
#[test]
fn a_folder_in_crates_that_calls_itself_a_cache_is_put_back_from() {
    let house = House::new(DIES_WHEN_TOLD);
    lives_on_after(&house, || house.write("creature/crates/target/CACHEDIR.TAG", ""));
    assert!(!house.path("creature/crates").exists(), "it lies there still");
}

/// Found while mending: what git cannot hold was to be renamed to another disk, which no rename does.
#[test]
fn what_must_make_way_does_where_the_place_for_it_is_on_another_disk() {
    let Ok(disk) = tempfile::tempdir_in("/dev/shm") else { return };
    let house = House::new(DIES_WHEN_TOLD);
    fs::create_dir_all(house.path(".self/guardian")).unwrap();
    std::os::unix::fs::symlink(disk.path(), house.path(".self/guardian/kept")).unwrap();
    lives_on_after(&house, || {
        nix::unistd::mkfifo(&house.path("creature/pipe"), Mode::S_IRWXU).unwrap();
    });
    let entries = fs::read_dir(&house.root).unwrap().flatten();
    let kept = entries.map(|entry| entry.path().join("creature/pipe")).find(|path| path.exists());
    assert!(kept.is_some(), "the pipe is not kept");
}

/// Found while mending: removing what is too deep moved it to a name anybody could have taken before.
#[test]
fn a_name_that_waits_for_what_is_too_deep_keeps_nothing_from_being_removed() {
    let house = House::new("live");
    // Whichever of them is met first.
    for number in 0..20 {
        house.write(&format!("self/deep-0-{number}"), "");
        fs::create_dir(house.path(&format!("self/{number}"))).unwrap();
        dig(&house.path(&format!("self/{number}")), 110);
    }
    let root = house::openat::Folder::open(&house.root).unwrap();
    root.remove_all("self").unwrap();
}

/// Found while mending: git reads more names for its own than one would think, and refused trees that held them.
#[test]
fn names_that_git_refuses_are_in_no_commit() {
    let refused: [&[u8]; 9] = [
        b"x\\.git",
        b"a\\git~1",
        b".git.:x",
        b".git\xff",
        b".git\xef\xbf\xbex",
        b".gitmodules",
        b"GITMOD~2 .",
        b"gi7eb~10",
        b"~1000000",
    ];
    assert!(refused.iter().all(|name| !repo::names::git_takes(name)));
    let taken: [&[u8]; 8] =
        [b".gitx", b"git~2", b"x.git", b"a\\b", b"gitmod~5", b"gi7eba~0", b"~1000", b".gitignore"];
    assert!(taken.iter().all(|name| repo::names::git_takes(name)));
    let house = House::new("live");
    for name in refused {
        fs::write(house.path("creature").join(OsStr::from_bytes(name)), "x").unwrap();
    }
    let repo = Repo::open(&house::House::new(&house.root)).unwrap();
    assert_eq!(repo.commit("self: x", &["creature"]).unwrap(), None);
    house.git(&["fsck", "--strict"]);
}

/// Found by attack: each try to put a tree back kept the same mess under another ref.
#[test]
fn what_is_kept_already_is_not_kept_again() {
    let house = House::new("live");
    house.write("creature/work", "x");
    let repo = Repo::open(&house::House::new(&house.root)).unwrap();
    let first = repo.rescue("a test").unwrap();
    assert!(first.is_some());
    std::thread::sleep(std::time::Duration::from_millis(2));
    assert_eq!(repo.rescue("another test").unwrap(), first);
    house.write("creature/work", "y");
    assert_ne!(repo.rescue("a third").unwrap(), first);
}

/// What the owner mounted in there is neither read into the repository nor emptied.
#[test]
fn a_disk_that_is_mounted_in_there_is_moved_aside_as_it_is() {
    let house = House::new("live");
    let place = house.path("creature/disk");
    fs::create_dir(&place).unwrap();
    // In a thread of its own, which alone sees the disk.
    let mounted = std::thread::spawn(move || {
        let private = MsFlags::MS_REC | MsFlags::MS_PRIVATE;
        let done = unshare(CloneFlags::CLONE_NEWNS)
            .and_then(|()| mount(None::<&str>, "/", None::<&str>, private, None::<&str>))
            .and_then(|()| mount(Some("none"), &place, Some("tmpfs"), MsFlags::empty(), None::<&str>));
        if done.is_err() {
            return;
        }
        fs::write(place.join("file"), "the owner's").unwrap();
        kept_and_put_back(&house);
        assert!(!place.exists());
        let kept = fs::read_dir(house.path(".self/guardian/kept")).unwrap().flatten();
        let mut kept = kept.map(|entry| entry.path().join("creature/disk/file"));
        assert!(kept.any(|file| fs::read_to_string(file).is_ok_and(|text| text == "the owner's")));
    });
    mounted.join().unwrap();
}

/// What another user owns nobody but that user can mend: it is exchanged for all that lies beside it.
#[test]
fn a_folder_of_another_user_is_exchanged_with_all_that_lies_there() {
    let test = "obstacles::a_folder_of_another_user_is_exchanged_with_all_that_lies_there";
    let theirs = |folder: &Path| {
        fs::create_dir_all(folder.join("house/creature")).unwrap();
        plain_user::give(&folder.join("house"));
        plain_user::give(&folder.join("house/creature"));
        fs::create_dir_all(folder.join("house/creature/theirs/file")).unwrap();
        fs::set_permissions(folder.join("house/creature/theirs"), fs::Permissions::from_mode(0o700)).unwrap();
    };
    if plain_user::runs_in(test, theirs) {
        return;
    }
    let house = House::new("live");
    let prepared = std::env::temp_dir().join("house/creature/theirs");
    if !prepared.exists() {
        return;
    }
    // Only its place changes: it is too much another's to be moved into another folder.
    let mut house = house;
    for name in ["creature.sh", "Cargo.toml", "Cargo.lock"] {
        fs::rename(house.path("creature").join(name), prepared.with_file_name(name)).unwrap();
    }
    fs::remove_dir(house.path("creature")).unwrap();
    let root = std::env::temp_dir().join("house");
    for entry in fs::read_dir(&house.root).unwrap().flatten() {
        fs::rename(entry.path(), root.join(entry.file_name())).unwrap();
    }
    house.root = root.canonicalize().unwrap();
    kept_and_put_back(&house);
    assert!(!house.path("creature/theirs").exists());
}

/// Found by attack: git could not check the commit out again, on any machine.
#[test]
fn a_commit_that_git_could_not_check_out_is_refused_with_the_reason() {
    let house = House::new("think x; blessed; ask commit papers c; think asked; live");
    dig_named(&house.path("self"), &"l".repeat(250), 20);
    let head = house.git(&["rev-parse", "HEAD"]);
    let guardian = house.start();
    house.until("an answer", || house.status()["answers"][0].is_object());
    let answer = house.status()["answers"][0].clone();
    assert_eq!(answer["ok"], false, "{answer}");
    let error = answer["error"].as_str().unwrap();
    assert!(error.contains("self/lll") && error.contains("bytes") && error.len() < 1_000, "{error}");
    assert_eq!(house.git(&["rev-parse", "HEAD"]), head);
    guardian.stop();
    let copy = house.folder.path().join("clone").display().to_string();
    house.git(&["clone", "-q", ".", &copy]);
}

/// The same of a self-edit: the work is kept, the next life is told why.
#[test]
fn a_rebirth_that_git_could_not_check_out_is_refused_and_kept() {
    let deep = "printf '* text eol=crlf\\n' > creature/.gitattributes; echo work > creature/work";
    let house = House::new(&format!(
        "think x; blessed; test -e .self/mind/asked || {{ {deep}; touch .self/mind/asked; ask rebirth work r; exit 0; }}; live"
    ));
    let head = house.git(&["rev-parse", "HEAD"]);
    let guardian = house.start();
    house.until("the next life to think", || house.thoughts().len() == 2);
    house.until("an answer", || house.status()["answers"][0].is_object());
    let answer = house.status()["answers"][0].clone();
    assert_eq!((&answer["ok"], &answer["id"]), (&false.into(), &"1-r".into()), "{answer}");
    assert!(answer["error"].as_str().unwrap().contains("creature/.gitattributes"), "{answer}");
    assert_eq!(house.git(&["rev-parse", "HEAD"]), head);
    assert!(!house.creature_differs_from(&head));
    assert!(house.deaths().is_empty(), "a refusal is no death");
    let kept = house.told("rescued")[0]["ref"].as_str().unwrap().to_owned();
    assert!(answer["hint"].as_str().unwrap().ends_with(&kept), "{answer}");
    assert_eq!(house.git(&["show", &format!("{kept}:creature/work")]), "work");
    guardian.stop();
}

/// Found by attack: git wrote other bytes than were committed, and neither command of the refusal settled it.
#[test]
fn line_ends_that_git_wrote_itself_are_no_edits_of_the_owners() {
    let house = House::new("think x; live");
    house.write("creature/.gitattributes", "* text eol=crlf\n");
    house.write("creature/x.rs", "fn x() {}\n");
    house.commit("attributes");
    fs::remove_file(house.path("creature/x.rs")).unwrap();
    house.git(&["checkout", "HEAD", "--", "creature"]);
    assert_eq!(house.read("creature/x.rs"), "fn x() {}\r\n", "git does not write other line ends here");
    // Nor does it show these.
    fs::create_dir(house.path("creature/empty")).unwrap();
    nix::unistd::mkfifo(&house.path("creature/pipe"), Mode::S_IRWXU).unwrap();
    let guardian = house.start();
    house.until("a thought", || !house.thoughts().is_empty());
    assert_eq!(house.read("creature/x.rs"), "fn x() {}\n");
    assert!(!house.path("creature/empty").exists() && !house.path("creature/pipe").exists());
    guardian.stop();
}
