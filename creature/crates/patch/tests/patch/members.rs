//! Tests of what a change can have touched: by the manifests of the creature itself, and of one made up.

use crate::yard::Yard;
use patch::proof::members;
use std::path::Path;

fn touched(root: &Path, path: &str) -> Vec<String> {
    members::touched(root, &[path.to_owned()])
}

#[test]
fn a_change_touches_its_package_and_those_that_stand_on_it() {
    let yard = Yard::new();
    let manifest = |name: &str, on: &str| format!("[package]\nname = \"{name}\"\n{on}");
    yard.put(
        "creature/Cargo.toml",
        &manifest("me", "[dependencies]\nupper = { path = \"crates/upper\" }\nserde = \"1\"\n"),
    );
    yard.put(
        "creature/crates/upper/Cargo.toml",
        &manifest("upper", "[dev-dependencies]\nground = { path = \"../base\" }\n"),
    );
    yard.put("creature/crates/base/Cargo.toml", &manifest("ground", ""));
    yard.put("creature/crates/beside/Cargo.toml", &manifest("beside", "[dependencies]\nserde = \"1\"\n"));
    assert_eq!(touched(yard.root(), "creature/src/life.rs"), ["me"]);
    assert_eq!(touched(yard.root(), "creature/crates/beside/src/lib.rs"), ["beside"]);
    assert_eq!(touched(yard.root(), "creature/crates/base/src/lib.rs"), ["me", "ground", "upper"]);
    let all = ["me", "ground", "beside", "upper"];
    assert_eq!(touched(yard.root(), "creature/crates/beside/Cargo.toml"), all);
    assert_eq!(members::names(yard.root()), all);
    yard.put("creature/Cargo.toml", "[package\n");
    assert!(touched(yard.root(), "creature/src/life.rs").is_empty(), "cargo says what is wrong with it");
}

#[test]
fn the_creature_itself_stands_on_all_its_crates() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
    for name in ["agenda", "ground", "hands", "knowledge", "memory", "model", "patch"] {
        let touched = touched(&root, &format!("creature/crates/{name}/src/lib.rs"));
        assert_eq!(touched.first().map(String::as_str), Some("creature"), "{name}");
        assert!(touched.iter().any(|other| other == name), "{name}: {touched:?}");
    }
}
