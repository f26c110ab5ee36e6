//! New packages: what manifests and locks name that the last lock does not hold.

use patch::packages::{Manifests, added};

const MANIFEST: &str =
    "[workspace]\n[package]\nname = \"c\"\nversion = \"0.1.0\"\n[dependencies]\nserde = \"1\"\n";
const LOCK: &str = "version = 4\n[[package]]\nname = \"serde\"\nversion = \"1.0.200\"\n\
    source = \"registry+https://github.com/rust-lang/crates.io-index\"\n";

fn manifests(manifest: &str, lock: &str) -> Manifests {
    [("creature/Cargo.toml", manifest), ("creature/Cargo.lock", lock)]
        .map(|(path, text)| (path.to_owned(), text.to_owned()))
        .into()
}

#[test]
fn what_the_last_lock_does_not_hold_is_new() {
    let before = manifests(MANIFEST, LOCK);
    let with = |line: &str| manifests(&format!("{MANIFEST}{line}\n"), LOCK);
    for line in [
        "",
        "own = { path = \"crates/own\" }",
        "serde_again = { package = \"serde\", version = \"1.0\", features = [\"derive\"] }",
        "[dev-dependencies]\nserde = \"^1.0.100\"",
        "shared = { workspace = true }",
        "[features]\nregex = []",
    ] {
        assert_eq!(added(&before, &with(line)), Vec::<String>::new(), "{line}");
    }
    for (line, named) in [
        ("regex = \"1\"", "regex 1"),
        ("again = { package = \"regex\", version = \"1\" }", "regex 1"),
        ("[dev-dependencies]\nregex = \"1\"", "regex 1"),
        ("[build-dependencies]\nserde = \"2\"", "serde 2"),
        ("[target.'cfg(unix)'.dependencies]\nserde = \"=1.0.201\"", "serde =1.0.201"),
        ("[workspace.dependencies]\nregex = \"1\"", "regex 1"),
        (
            "[patch.crates-io]\nserde = { git = \"https://evil.example/serde\" }",
            "serde  git https://evil.example/serde",
        ),
        (
            "serde_evil = { package = \"serde\", version = \"1\", registry = \"evil\" }",
            "serde 1 registry evil",
        ),
        ("far = { path = \"/tmp/far\" }", "far  path /tmp/far"),
    ] {
        assert_eq!(added(&before, &with(line)), [named], "{line}");
    }
    let other = LOCK.replace("1.0.200", "1.0.201");
    assert_eq!(added(&before, &manifests(MANIFEST, &other)).len(), 1, "another version in the lock");
    let other = LOCK
        .replace("registry+https://github.com/rust-lang/crates.io-index", "git+https://evil.example/serde#1");
    assert_eq!(added(&before, &manifests(MANIFEST, &other)).len(), 1, "another source in the lock");
}
