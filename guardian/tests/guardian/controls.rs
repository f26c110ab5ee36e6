//! What control runs are answered by, and what they leave behind: nothing.

use guardian::act::controls::{answer, args, clear, prepare, variables};
use guardian::decide::blame::{Answer, Control};
use house::House as Places;
use repo::Repo;
use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;
use trials::{Guardian, House, SOUND};

const CONTROL: &str = "target/creature/tmp/control";

fn house() -> (House, Places) {
    let house = House::new("live");
    fs::create_dir_all(house.path("target")).unwrap();
    let places = Places::new(&house.root);
    (house, places)
}

/// A registry has refused only if each that is asked for has answered; a repository leaves no sign of it.
#[test]
fn registries_refuse_only_once_each_of_them_was_reached() {
    let (house, places) = house();
    prepare(&places).unwrap();
    let asks = |sources: &[&str]| {
        let dependencies: Vec<_> =
            sources.iter().map(|source| serde_json::json!({"source": source})).collect();
        let inside = serde_json::json!({"source": null});
        let packages = serde_json::json!([{"dependencies": dependencies}, {"dependencies": [inside]}]);
        house.write(
            &format!("{CONTROL}/manifests.json"),
            &serde_json::json!({"packages": packages}).to_string(),
        );
    };
    let registries = |succeeded| answer(&places, Control::Registries, succeeded);
    assert_eq!(registries(false), Answer::Silent, "nothing is known of the manifests");
    asks(&["registry+one"]);
    assert_eq!(registries(false), Answer::Silent);
    assert_eq!(registries(true), Answer::Yes);
    house.write(&format!("{CONTROL}/cargo/registry/index/one/config.json"), "{}");
    assert_eq!(registries(false), Answer::No);
    house.write(&format!("{CONTROL}/said"), "download of one failed\n");
    assert_eq!(registries(false), Answer::Silent, "it broke off");
    house.write(&format!("{CONTROL}/said"), "");
    asks(&["registry+one", "git+two", "registry+one"]);
    assert_eq!(registries(false), Answer::Silent, "the second was never heard of");
}

#[test]
fn a_lock_file_that_is_none_cannot_be_read() {
    let (house, places) = house();
    let manifests = || answer(&places, Control::Manifests, true);
    assert_eq!(manifests(), Answer::Yes);
    house.write("creature/Cargo.lock", "<<<<<<< HEAD\n");
    assert_eq!(manifests(), Answer::No);
    fs::remove_file(house.path("creature/Cargo.lock")).unwrap();
    assert_eq!(manifests(), Answer::Yes, "there may be none");
    symlink("/dev/zero", house.path("creature/Cargo.lock")).unwrap();
    assert_eq!(manifests(), Answer::No);
    assert_eq!(answer(&places, Control::Manifests, false), Answer::No);
}

/// What a failed build left where control runs work is not theirs to use, and not the guardian's to count for minutes.
#[test]
fn control_runs_begin_with_nothing_and_leave_nothing() {
    let (house, places) = house();
    house.write(&format!("{CONTROL}/cargo/registry/index/planted/config.json"), "{}");
    house.write(&format!("{CONTROL}/src/main.rs"), "fn main() { planted }");
    house.write("target/creature/cargo-home/config.toml", "[net]\nretry = 1\n");
    prepare(&places).unwrap();
    assert!(!house.path(CONTROL).join("cargo/registry").exists());
    assert_eq!(house.read(&format!("{CONTROL}/src/main.rs")), "fn main() {}\n");
    assert_eq!(house.read(&format!("{CONTROL}/cargo/config.toml")), "[net]\nretry = 1\n");
    clear(&places);
    let left = || fs::read_dir(house.path("target/creature/tmp")).unwrap().count();
    assert_eq!(left(), 0);
    for number in 0..10_001 {
        house.write(&format!("{CONTROL}/planted/{number}"), "");
    }
    prepare(&places).unwrap();
    assert!(!house.path(CONTROL).join("planted").exists());
    clear(&places);
    assert_eq!(left(), 1, "what was planted made way as it was");
}

/// The creature's cargo home is the creature's to spoil; only what is in store is asked of it.
#[test]
fn only_the_question_of_what_is_in_store_goes_to_the_home_of_the_build() {
    let (_, places) = house();
    for control in [Control::Tools, Control::Store, Control::Manifests, Control::Registries] {
        let named: Vec<_> = variables(&places, control).into_iter().map(|(name, _)| name).collect();
        assert_eq!(named.contains(&"CARGO_HOME"), control != Control::Store, "{control:?}");
        assert_eq!(args(control).contains(&"--offline".to_owned()), control != Control::Registries);
        assert!(named.contains(&"TMPDIR") && named.contains(&"HOME"));
    }
}

#[test]
fn what_cargo_reads_before_it_compiles_is_compared() {
    let (house, places) = house();
    let repo = Repo::open(&places).unwrap();
    let commit = |message: &str| {
        house.commit(message);
        repo.head().unwrap().tree
    };
    house.write("creature/src/main.rs", "fn main() {}\n");
    symlink("main.rs", house.path("creature/src/link.rs")).unwrap();
    let first = commit("first");
    let same = |tree: git2::Oid| repo.has_same_recipe(&tree.to_string(), first).unwrap();
    assert!(same(first));
    house.write("creature/src/main.rs", "fn main() { other }\n");
    let edited = commit("a source edited");
    assert!(same(edited));
    let changes: [(&str, &dyn Fn()); 4] = [
        ("a manifest", &|| house.write("creature/crates/x/Cargo.toml", "[package]\n")),
        ("the lock file", &|| house.write("creature/Cargo.lock", "other\n")),
        ("a name", &|| house.write("creature/src/bin/other.rs", "")),
        ("where a link leads", &|| {
            fs::remove_file(house.path("creature/src/link.rs")).unwrap();
            symlink("elsewhere.rs", house.path("creature/src/link.rs")).unwrap();
        }),
    ];
    for (what, change) in changes {
        change();
        assert!(!same(commit(what)), "{what} was changed");
        house.git(&["reset", "-q", "--hard", "HEAD~1"]);
    }
}

/// A house whose newest commit does not build, and a control run that is answered as told; it lives what was before.
fn asked(answer: &str, settings: &str) -> (House, Guardian) {
    let house = House::new(SOUND);
    house.write("creature/control.sh", answer);
    let first = house.commit("first");
    let guardian = house.start();
    house.until_blessed(&first);
    assert_eq!(guardian.stop(), 0);
    house.settings(settings);
    let first = house.commit("settings");
    let guardian = house.start();
    house.until_blessed(&first);
    house.write_life("# does not build");
    house.commit("does not build");
    let pid = house.status()["creature_pid"].to_string();
    Command::new("kill").args(["-KILL", &pid]).status().unwrap();
    (house, guardian)
}

const ONCE: &str = "[ ! -e .self/mind/asked ] || exit 0\ntouch .self/mind/asked\nexec sleep 1000\n";

fn nothing_is_left(house: &House) {
    assert_eq!(house.leftovers(), Vec::<i32>::new());
    assert!(!house.path(CONTROL).exists());
}

#[test]
fn a_guardian_killed_while_it_asks_asks_again() {
    let (house, guardian) = asked(ONCE, "");
    house.until("the question", || house.path(".self/mind/asked").exists());
    guardian.kill_only();
    let guardian = house.start();
    house.until("the fall", || house.told("fall").iter().any(|fall| fall["cause"] == "does_not_build"));
    assert_eq!(guardian.stop(), 0);
    nothing_is_left(&house);
}

#[test]
fn a_guardian_told_to_leave_while_it_asks_leaves() {
    let (house, guardian) = asked(ONCE, "");
    house.until("the question", || house.path(".self/mind/asked").exists());
    assert_eq!(guardian.stop(), 0);
    nothing_is_left(&house);
    assert!(house.told("fall").is_empty());
}

/// Undecided is the world's: three tries, then what is already built, and no mark.
#[test]
fn a_question_that_is_never_answered_condemns_nothing_and_ends() {
    let (house, guardian) = asked("exec sleep 1000\n", "build_s = 1.5");
    house.until("the fall", || !house.told("fall").is_empty());
    let fall = house.told("fall").remove(0);
    assert_eq!((fall["cause"].as_str(), fall["fallen_ref"].as_str()), (Some("environment"), None));
    let failed: Vec<_> =
        house.deaths().into_iter().filter(|death| death["ended"] == "build_failed").collect();
    assert_eq!(failed.len(), 3);
    assert!(failed.iter().all(|death| death["blame"] == "toolchain"), "{failed:#?}");
    assert_eq!(guardian.stop(), 0);
    nothing_is_left(&house);
}
