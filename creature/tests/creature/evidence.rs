//! Tests of what a failed step is told by: errors whole, others by a line, every failing test, and what is known of each.

use crate::yard::Yard;
use patch::proof::diagnostics::{self, Failing};
use patch::proof::testing::Known;
use serde_json::json;

const MANIFEST: &str = "[workspace]\n[package]\nname = \"creature\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[profile.dev]\ndebug = 0\n";
const LOCK: &str = "version = 4\n\n[[package]]\nname = \"creature\"\nversion = \"0.1.0\"\n";

fn error(at: usize) -> String {
    format!(
        "error[E0425]: cannot find `x{at}`\n  --> src/life.rs:{at}:1\n   |\n{at} | let a = x{at};\n   |         ^^ not found\n\n"
    )
}

#[test]
fn the_first_errors_stand_whole_and_the_others_by_a_line_with_their_place() {
    let all: String = (1..=40).map(error).collect();
    let stderr = format!(
        "   Compiling creature v0.1.0\nwarning: unused\n --> src/a.rs:1:1\n\n{all}error: could not compile `creature` due to 40 errors\n"
    );
    let said = diagnostics::wrong("", &stderr, 1_000, &|_| String::new());
    assert!(
        said.starts_with("error[E0425]: cannot find `x1`\n  --> src/life.rs:1:1\n   |\n1 | let a = x1;"),
        "{said}"
    );
    assert!(!said.contains("unused"), "{said}");
    for at in 1..=40 {
        let line = format!("error[E0425]: cannot find `x{at}` --> src/life.rs:{at}:1");
        assert!(said.contains(&line) || said.contains(&format!("{at} | let a = x{at};")), "{at}: {said}");
    }
    assert!(said.ends_with("error: could not compile `creature` due to 40 errors"), "{said}");
    assert!((500..4_000).contains(&said.chars().count()), "{said}");
    // What is said twice, for a library and its tests, is told once.
    let twice = format!("{}{}", error(1), error(1));
    assert_eq!(diagnostics::wrong("", &twice, 1_000, &|_| String::new()), error(1).trim_end());
    let long = format!("error: {}\n{}", "x".repeat(600), "and more\n".repeat(500));
    assert!(diagnostics::wrong("", &long, 1_000, &|_| String::new()).chars().count() < 1_200);
}

const STDOUT: &str = "
running 4 tests
test a::one ... ok
test a::two ... FAILED
test b::three ... FAILED
test b::four ... ignored

failures:

---- a::two stdout ----
it says this
thread 'a::two' panicked at src/a.rs:3:5:
assertion `left == right` failed
  left: 1
 right: 2

---- b::three stdout ----
thread 'b::three' panicked at src/b.rs:9:5:
no

failures:
    a::two
    b::three

test result: FAILED. 1 passed; 2 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s
";
const STDERR: &str = "     Running tests/creature/main.rs (target/debug/deps/creature-1)\nerror: test failed, to rerun pass `--test creature`\n";

#[test]
fn every_failing_test_is_named_with_what_is_known_of_it_without_the_change() {
    let tests = diagnostics::tests(STDOUT, STDERR);
    assert_eq!((tests.passed, tests.whole), (vec!["a::one".to_owned()], true));
    let said = "thread 'b::three' panicked at src/b.rs:9:5:\nno".to_owned();
    assert_eq!(tests.failed.get(1), Some(&Failing { name: "b::three".to_owned(), said }));
    let known = Known {
        at: "2026-11-23T14:02:09Z".to_owned(),
        passed: vec!["a::two".to_owned()],
        failed: vec!["b::three".to_owned()],
    };
    let told = diagnostics::wrong(STDOUT, STDERR, 150, &|name| known.of(name));
    assert!(told.starts_with("2 tests fail:\n- a::two: passes without the change (2026-11-23 14:02)\n- b::three: fails without the change as well"), "{told}");
    assert!(
        told.contains("it says this\nthread 'a::two'") && told.contains("  left: 1\n right: 2"),
        "{told}"
    );
    assert!(!told.contains("---- b::three"), "there was room for the first alone: {told}");
    assert_eq!(known.of("c"), "not known whether it passes without the change");
    let crashed =
        format!("{STDERR}\nCaused by:\n  process didn't exit successfully: `x` (signal: 6, SIGABRT)\n");
    assert!(
        !diagnostics::tests(STDOUT, &crashed).whole,
        "a crash is no failing test that could be tried again"
    );
    let green = known.green("2026-11-24T00:00:00Z".to_owned(), vec!["b::three".to_owned()]);
    assert!(green.of("b::three").starts_with("passes") && green.of("a::two").starts_with("passes"));
}

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
