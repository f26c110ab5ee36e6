//! Cargo's home for the creature: what is carried over from the owner's, and what is not.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::disallowed_methods)]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use walls::cargo_home::{self, Home};

const LOCK: &str = "version = 4\n\n[[package]]\nname = \"creature\"\nversion = \"0.1.0\"\n\n[[package]]\nname = \"Serde_x\"\n\
    version = \"1.0.2+build\"\nsource = \"registry+https://registry.invalid/index\"\n\n[[package]]\nname = \"../../x\"\n\
    version = \"1.0.0\"\nsource = \"registry+https://registry.invalid/index\"\n\n[[package]]\nname = \"git\"\n\
    version = \"1.0.0\"\nsource = \"git+https://registry.invalid/x\"\n";

fn put(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

#[test]
fn packages_are_those_of_registries_by_plain_names() {
    let found: Vec<_> = cargo_home::packages(LOCK).into_iter().collect();
    assert_eq!(found, [("Serde_x".to_owned(), "1.0.2+build".to_owned())]);
}

#[test]
fn the_index_keeps_a_package_by_its_first_letters() {
    for (name, folder) in [("a", "1"), ("ab", "2"), ("abc", "3/a"), ("Serde_x", "se/rd")] {
        assert_eq!(cargo_home::index_place(name), (folder.to_owned(), name.to_lowercase()));
    }
}

fn carried(text: &str) -> Option<String> {
    let table = cargo_home::carried(text, Path::new("/owner"), &mut Default::default())?;
    Some(toml::to_string(&table).unwrap())
}

/// Found: with the owner's wrapper or target the creature was never built, and its code was blamed.
#[test]
fn programs_between_cargo_and_compiler_stay_outside_and_are_named() {
    let text = "[build]\nrustc-wrapper = \"sccache\"\ntarget = \"x86_64-unknown-linux-gnu\"\nbuild-dir = \"/b\"\n\
        target-dir = \"/t\"\njobs = 2\n[target.x86_64-unknown-linux-gnu]\nrunner = \"wine\"\nlinker = \"clang\"\n";
    let mut left_out = Default::default();
    let table = cargo_home::carried(text, Path::new("/owner"), &mut left_out).unwrap();
    let plain = toml::to_string(&table).unwrap();
    let names: Vec<&str> = left_out.iter().map(String::as_str).collect();
    let expected = [
        "build.build-dir",
        "build.rustc-wrapper",
        "build.target",
        "build.target-dir",
        "target.x86_64-unknown-linux-gnu.runner",
    ];
    assert_eq!(names, expected);
    assert!(plain.contains("jobs = 2") && plain.contains("clang") && !plain.contains("sccache"), "{plain}");
}

#[test]
fn a_folder_for_a_registry_is_the_owners_folder_still() {
    let text = "[source.near]\ndirectory = \"store\"\n\n[source.far]\nlocal-registry = \"/far/store\"\n";
    let carried = carried(text).unwrap();
    assert!(carried.contains("directory = \"/owner/store\""), "{carried}");
    assert!(carried.contains("local-registry = \"/far/store\""), "{carried}");
}

#[test]
fn settings_come_over_without_secrets() {
    let text = "[net]\nretry = 2\n[http]\nproxy = \"http://user:pass@proxy\"\ntimeout = 5\n[registries.mine]\n\
        index = \"sparse+https://registry.invalid/\"\ntoken = \"secret\"\ncredential-provider = \"cargo:token\"\n\
        [registry]\nglobal-credential-providers = [\"x\"]\n[env]\nAPI_TOKEN = \"secret\"\nPLAIN = \"1\"\n";
    let plain = carried(text).unwrap();
    assert!(!plain.contains("secret") && !plain.contains("pass") && !plain.contains("credential"), "{plain}");
    assert!(
        plain.contains("retry = 2") && plain.contains("timeout = 5") && plain.contains("index ="),
        "{plain}"
    );
    assert!(plain.contains("PLAIN") && carried("[[garbage").is_none());
}

/// One process, one `CARGO_HOME`: so all of it stands in one test.
#[test]
fn what_is_there_is_linked_what_was_planted_goes() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path().canonicalize().unwrap();
    let (theirs, house) = (at.join("owner"), at.join("house"));
    // SAFETY: no other thread of this test reads the environment meanwhile: the others need none.
    #[allow(unsafe_code)]
    unsafe {
        std::env::set_var("CARGO_HOME", &theirs)
    };
    let registry = |home: &Path, part: &str| home.join("registry").join(part).join("registry.invalid-1");
    put(&registry(&theirs, "cache").join("Serde_x-1.0.2+build.crate"), "an archive");
    put(&registry(&theirs, "src").join("Serde_x-1.0.2+build/.cargo-ok"), "{\"v\":1}");
    put(&registry(&theirs, "index").join("config.json"), "{}");
    put(&registry(&theirs, "index").join(".cache/se/rd/serde_x"), "the index of it");
    put(&theirs.join("credentials.toml"), "token = \"secret\"\n");
    put(&theirs.join("config.toml"), "[registry]\ntoken = \"secret\"\n");
    put(&at.join("outside/treasure"), "the owner's");
    let (within, lock) = (house.join("target"), house.join("creature/Cargo.lock"));
    put(&lock, LOCK);
    let home = Home { within: &within, path: Path::new("creature/cargo-home"), lock: &lock };
    let ours = within.join(home.path);
    // What a creature might have left there: settings, and links where files are to be written.
    put(&ours.join("config.toml"), "[build]\nrustc-wrapper = \"evil\"\n");
    fs::create_dir_all(registry(&ours, "index").join(".cache/se/rd")).unwrap();
    symlink(at.join("outside/treasure"), registry(&ours, "index").join(".cache/se/rd/serde_x")).unwrap();
    fs::create_dir_all(registry(&ours, "cache")).unwrap();
    symlink(at.join("outside/treasure"), registry(&ours, "cache").join("Serde_x-1.0.2+build.crate")).unwrap();
    for _ in 0..2 {
        cargo_home::prepare(home).unwrap();
        let archive = registry(&ours, "cache").join("Serde_x-1.0.2+build.crate");
        assert_eq!(fs::read_to_string(archive).unwrap(), "an archive");
        assert!(registry(&ours, "src").join("Serde_x-1.0.2+build/.cargo-ok").is_file());
        let index = registry(&ours, "index").join(".cache/se/rd/serde_x");
        assert_eq!(fs::read_to_string(&index).unwrap(), "the index of it");
        assert!(!index.is_symlink(), "cargo writes to the index");
        assert!(!fs::read_to_string(ours.join("config.toml")).unwrap().contains("evil"));
        assert!(!ours.join("credentials.toml").exists());
        assert_eq!(fs::read_to_string(at.join("outside/treasure")).unwrap(), "the owner's");
    }
    // A folder on the way that leads out: nothing is written there, and the rest of the house goes on.
    fs::remove_dir_all(registry(&ours, "index")).unwrap();
    symlink(at.join("outside"), registry(&ours, "index")).unwrap();
    assert!(cargo_home::prepare(home).is_err());
    assert_eq!(fs::read_dir(at.join("outside")).unwrap().count(), 1);
}
