//! New packages: what a self-edit has cargo fetch is judged as `repo.install_deps` is.

use crate::yard::Yard;
use agenda::Change;
use agenda::requests::RequestChange;
use git2::{Repository, Signature};
use serde_json::{Value, json};

const MANIFEST: &str =
    "[workspace]\n[package]\nname = \"c\"\nversion = \"0.1.0\"\n[dependencies]\nserde = \"1\"\n";
const LOCK: &str = "version = 4\n[[package]]\nname = \"serde\"\nversion = \"1.0.200\"\n\
    source = \"registry+https://github.com/rust-lang/crates.io-index\"\n";

/// A house whose creature has a crate of its own and one dependency, committed.
fn yard() -> Yard {
    let yard = Yard::new();
    yard.put("creature/Cargo.toml", MANIFEST);
    yard.put("creature/Cargo.lock", LOCK);
    yard.put("creature/src/lib.rs", "//! C.\n");
    let repo = Repository::init(yard.root()).unwrap();
    let mut index = repo.index().unwrap();
    index.add_all(["creature"], git2::IndexAddOption::DEFAULT, None).unwrap();
    index.write().unwrap();
    let tree = repo.find_tree(index.write_tree().unwrap()).unwrap();
    let me = Signature::now("me", "me@localhost").unwrap();
    repo.commit(Some("HEAD"), &me, &me, "begin", &tree, &[]).unwrap();
    yard
}

fn edit(text: &str, hold: bool) -> Value {
    let edits = json!([{"path": "creature/Cargo.toml", "old": "serde = \"1\"\n", "new": text}]);
    json!({"edits": edits, "summary": "more", "hold": hold})
}

fn refused(result: &Value) -> bool {
    let error = result["error"].as_str().unwrap_or_default();
    error.contains("packages that the last lock does not hold (regex 1)")
        && error.contains("repo.install_deps may not be used by yourself")
}

#[tokio::test]
async fn a_self_edit_that_adds_a_package_is_judged_as_an_install() {
    for hold in [false, true] {
        let mut yard = yard();
        let result = yard.call("repo.edit", edit("serde = \"1\"\nregex = \"1\"\n", hold)).await;
        assert!(refused(&result), "{result}");
        assert!(result["hint"].as_str().unwrap().contains("owner.message"), "{result}");
        assert_eq!(yard.text("creature/Cargo.toml"), MANIFEST);
        let result = yard.call("repo.edit", edit("serde = \"1.0\"\n", true)).await;
        assert_eq!(result["ok"], true, "the lock holds it: {result}");
    }
}

#[tokio::test]
async fn what_a_command_wrote_into_a_manifest_is_judged_before_cargo_runs() {
    let mut yard = yard();
    yard.put("creature/Cargo.toml", &format!("{MANIFEST}regex = \"1\"\n"));
    for (tool, args) in
        [("repo.check", json!({})), ("repo.test", json!({})), ("repo.commit", json!({"summary": "more"}))]
    {
        let result = yard.call(tool, args).await;
        assert!(refused(&result), "{tool}: {result}");
    }
}

#[tokio::test]
async fn the_owners_request_for_an_install_allows_the_edit_that_makes_it() {
    let mut yard = yard();
    yard.caller.owner = true;
    let tools = vec!["repo.install_deps".to_owned()];
    yard.lent()
        .change(&Change::Request(RequestChange::Heard {
            text: "install regex".to_owned(),
            tools,
            word: String::new(),
        }))
        .unwrap();
    yard.caller.owner = false;
    let result = yard.call("repo.edit", edit("serde = \"1\"\nregex = \"1\"\n", true)).await;
    assert_eq!(result["ok"], true, "{result}");
}
