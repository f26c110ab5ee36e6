//! Tests of a test that fails now and then, and of one that fails without the change as well.

use crate::yard::Yard;
use serde_json::json;

const MANIFEST: &str = "[workspace]\n[package]\nname = \"creature\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[profile.dev]\ndebug = 0\n";
const LOCK: &str = "version = 4\n\n[[package]]\nname = \"creature\"\nversion = \"0.1.0\"\n";

/// Fails the first time it runs in a folder, and passes from then on.
const FLAKY: &str = "//! L.
#[test]
fn now_and_then() {
    let mark = std::path::Path::new(env!(\"CARGO_MANIFEST_DIR\")).join(\"../mark\");
    let there = mark.exists();
    std::fs::write(mark, \"\").unwrap();
    assert!(there, \"not this time\");
}

#[test]
fn always() {}
";

mod probation {
    use super::*;

    #[tokio::test]
    async fn a_failure_that_passes_when_tried_again_is_called_flaky_and_refuses_nothing() {
        let mut yard = Yard::new();
        yard.put("creature/Cargo.toml", MANIFEST);
        yard.put("creature/Cargo.lock", LOCK);
        yard.put("creature/src/lib.rs", FLAKY);
        let tested = yard.call("repo.test", json!({})).await;
        assert_eq!((&tested["ok"], &tested["flaky"]), (&json!(true), &json!(["now_and_then"])), "{tested}");
        let again = yard.call("repo.test", json!({})).await;
        assert_eq!((&again["ok"], again["flaky"].is_null()), (&json!(true), true), "{again}");
        // What fails in the tree that lives is known to fail without a change of it.
        yard.put(
            "creature/src/lib.rs",
            &FLAKY.replace("fn always() {}", "fn always() {\n    panic!(\"broken\");\n}"),
        );
        assert_eq!(yard.call("repo.test", json!({})).await["ok"], json!(false));
        let edits = json!([{"path": "creature/src/lib.rs", "old": "//! L.", "new": "//! Lib."}]);
        let held = yard.call("repo.edit", json!({"edits": edits, "summary": "s", "hold": true})).await;
        assert_eq!(held["ok"], json!(true), "{held}");
        let tested = yard.call("repo.test", json!({"filter": "always"})).await;
        let error = tested["error"].as_str().unwrap();
        assert!(error.contains("- always: fails without the change as well"), "{tested}");
        // A proof that fails says nothing of the tree without the change, though it runs in its place.
        let proven = yard.call("repo.commit", json!({"summary": "s"})).await;
        assert!(proven["error"].as_str().unwrap().starts_with("cargo test failed"), "{proven}");
        assert_eq!(yard.text("creature/src/lib.rs").lines().next(), Some("//! L."));
        let known: serde_json::Value = serde_json::from_str(&yard.text(".self/mind/tests.json")).unwrap();
        assert_eq!(known["failed"], json!(["always"]), "{known}");
        assert!(
            yard.shown("repo.status", json!({})).await.contains("failed: git says"),
            "no repository here"
        );
        let draft = yard.shown("repo.read", json!({"path": "creature/src/lib.rs"})).await;
        assert!(draft.contains("1 file, proof fails, always: fails without"), "{draft}");
    }
}
