//! Tests of the protocol on a throwaway creature without dependencies: passes, and every way to fail puts all files back.

use crate::yard::Yard;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

const MANIFEST: &str = "[workspace]\n[package]\nname = \"creature\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[profile.dev]\ndebug = 0\n";

/// A binary that rehearses as the creature does: a thought in the copy's memory, exit status 0.
const MAIN: &str = r##"//! A tiny creature.
fn answer() -> u32 {
    42
}

fn main() {
    use std::io::Write;
    let args: Vec<String> = std::env::args().collect();
    assert_eq!(args[1..], ["rehearse"]);
    let house = std::env::var("FERAL_HOUSE").expect("told where it is");
    assert_eq!(std::env::var("FERAL_REHEARSAL").as_deref(), Ok("1"));
    let before = std::fs::read_to_string(format!("{house}/.self/memory.jsonl")).expect("a copy of memory");
    assert!(before.contains("real memory"), "{before}");
    assert!(std::path::Path::new(&house).join("self/diary.md").is_file());
    let mut memory = std::fs::OpenOptions::new().append(true).open(format!("{house}/.self/memory.jsonl")).unwrap();
    let line = r#"{"at":"2026-01-01T00:00:00.000Z","life":1,"kind":"thought","data":{"monologue":"m","intent":"i"}}"#;
    writeln!(memory, "{line}").unwrap();
    println!("{}", answer());
}

#[test]
fn it_answers() {
    assert_eq!(answer() / 10, 4);
}

mod probation {
    #[test]
    fn it_answers_in_the_long_run() {
        assert_eq!(super::answer() % 10, 3, "not this");
    }
}
"##;

/// Every file under `creature/`, `self/` and `PURPOSE.md`, byte for byte.
fn tree(root: &Path) -> BTreeMap<String, Vec<u8>> {
    fn walk(at: &Path, root: &Path, into: &mut BTreeMap<String, Vec<u8>>) {
        for entry in std::fs::read_dir(at).into_iter().flatten().flatten() {
            match entry.path() {
                dir if dir.is_dir() => {
                    into.insert(format!("{}/", dir.strip_prefix(root).unwrap().display()), Vec::new());
                    walk(&dir, root, into);
                }
                file => {
                    _ = into.insert(
                        file.strip_prefix(root).unwrap().display().to_string(),
                        std::fs::read(&file).unwrap(),
                    )
                }
            }
        }
    }
    let mut files = BTreeMap::new();
    walk(&root.join("creature"), root, &mut files);
    walk(&root.join("self"), root, &mut files);
    files.insert("PURPOSE.md".to_owned(), std::fs::read(root.join("PURPOSE.md")).unwrap());
    files
}

fn edit(old: &str, new: &str) -> Value {
    json!({"path": "creature/src/main.rs", "old": old, "new": new})
}

async fn an_edit_that_passes_is_asked_for(yard: &mut Yard) {
    let edits = json!([edit("    42\n", "    43\n"), {"path": "creature/src/new/part.rs", "old": "", "new": "//! Part.\n"}]);
    let done = yard.call("repo.edit", json!({"edits": edits, "summary": "count on"})).await;
    assert_eq!((&done["ok"], &done["stage"]), (&json!(true), &json!("asked")), "{done}");
    assert_eq!(yard.tools.rebirth.take().map(|rebirth| rebirth.summary).as_deref(), Some("count on"));
    let record = yard.last("self_change");
    assert_eq!(
        (&record["ok"], &record["stage"], &record["files"][0]),
        (&json!(true), &json!("asked"), &json!("creature/src/main.rs"))
    );
    let thoughts = yard.kinds().iter().filter(|kind| *kind == "thought").count();
    assert_eq!(thoughts, 0, "the rehearsal's thought belongs to the copy alone");

    let tested = yard.call("repo.test", json!({"filter": "of_no_test"})).await;
    assert!(tested["results"].to_string().contains("0 passed"), "{tested}");
    let tested = yard.call("repo.test", json!({"filter": "probation::"})).await;
    assert!(tested["results"].to_string().contains("1 passed"), "{tested}");
}

/// The rest of the time it is proven in the newborn's probation.
async fn what_takes_long_is_proven_only_where_it_is_asked_for(yard: &mut Yard) {
    let edits = json!([edit("    43\n", "    42\n")]);
    let done = yard.call("repo.edit", json!({"edits": edits, "summary": "back to 42", "hold": true})).await;
    assert_eq!(done["ok"], json!(true), "{done}");
    let tested = yard.call("repo.test", json!({"filter": "probation::"})).await;
    assert!(tested["error"].as_str().unwrap().contains("probation::it_answers_in_the_long_run"), "{tested}");
    let tested = yard.call("repo.test", json!({})).await;
    assert_eq!(tested["ok"], json!(true), "{tested}");
    let done = yard.call("repo.commit", json!({"summary": "back to 42"})).await;
    assert_eq!((&done["ok"], &done["stage"]), (&json!(true), &json!("asked")), "{done}");
    yard.tools.rebirth.take();
    assert_eq!(yard.call("repo.drop", json!({})).await["ok"], json!(true));
}

#[tokio::test]
async fn papers_need_no_proof_and_held_edits_wait() {
    let mut yard = Yard::new();
    yard.put("creature/Cargo.toml", MANIFEST);
    yard.put("creature/src/main.rs", MAIN);
    let patch = "--- a/PURPOSE.md\n+++ b/PURPOSE.md\n@@\n-Be curious.\n+Be bold.\n--- /dev/null\n+++ b/self/plan.md\n@@ -0,0 +1 @@\n+plan\n";
    let done = yard.call("repo.apply_patch", json!({"patch": patch, "summary": "bolder"})).await;
    assert_eq!(
        (&done["ok"], &done["files"]),
        (&json!(true), &json!(["PURPOSE.md", "self/plan.md"])),
        "{done}"
    );
    assert_eq!((yard.text("PURPOSE.md").as_str(), yard.tools.rebirth.is_none()), ("Be bold.\n", true));
    assert_eq!(yard.last("self_change")["previous"], json!("Be curious.\n"));
    let again = yard.call("repo.apply_patch", json!({"patch": patch, "summary": "bolder"})).await;
    assert_eq!((&again["ok"], &again["already"]), (&json!(true), &json!(true)), "{again}");
    let held = json!({"edits": [edit("    42\n", "    broken\n")], "summary": "later", "hold": true});
    assert_eq!(yard.call("repo.edit", held).await["held"], json!(true));
    assert!(yard.text(".self/workspace/draft/creature/src/main.rs").contains("broken"));
    assert!(yard.text("creature/src/main.rs").contains("    42\n") && yard.tools.rebirth.is_none());
}

#[tokio::test]
async fn nothing_reaches_the_tree_that_lives_without_proof() {
    let mut yard = Yard::new();
    yard.put("creature/src/main.rs", MAIN);
    let before = tree(yard.root());
    for (tool, args, stage) in [
        ("repo.edit", json!({"edits": [edit("    42\n", "    1\n"), edit("nowhere", "x")]}), "apply"),
        (
            "repo.edit",
            json!({"edits": [edit("    42\n", "    1\n"), {"path": "README.md", "old": "", "new": "x"}]}),
            "boundary",
        ),
        ("repo.edit", json!({"edits": [{"path": "creature/src/none.rs", "old": "x", "new": "y"}]}), "apply"),
        (
            "repo.apply_patch",
            json!({"patch": "--- a/creature/src/main.rs\n+++ b/creature/src/main.rs\n@@\n-    42\n+    1\n@@\n-nowhere\n+x\n"}),
            "apply",
        ),
        (
            "repo.apply_patch",
            json!({"patch": "--- a/creature/src/main.rs\n+++ b/creature/src/main.rs\n@@\n-    42\n+    1\n--- a/.git/config\n+++ b/.git/config\n@@\n-a\n+b\n"}),
            "boundary",
        ),
    ] {
        let mut args = args;
        (args["summary"], args["hold"]) = (json!("s"), json!(true));
        let done = yard.call(tool, args.clone()).await;
        assert_eq!(done["ok"], json!(false), "{args}");
        assert_eq!(yard.last("self_change")["stage"], json!(stage), "{args} {done}");
        assert_eq!(tree(yard.root()), before, "{args}");
    }
}

mod probation {
    use super::*;

    /// One after the other in one house: a second one would build everything twice.
    #[tokio::test]
    async fn an_edit_is_proven_or_leaves_no_trace() {
        let mut yard = Yard::new();
        yard.put("creature/Cargo.toml", MANIFEST);
        yard.put("creature/src/main.rs", MAIN);
        yard.put("self/diary.md", "dear diary\n");
        let note = yard.call("memory.append", json!({"text": "real memory"})).await;
        assert_eq!(note["ok"], json!(true), "{note}");

        an_edit_that_passes_is_asked_for(&mut yard).await;

        yard.put(
            "creature/Cargo.lock",
            &(std::fs::read_to_string(yard.root().join("creature/Cargo.lock")).unwrap() + "# kept\n"),
        );
        let before = tree(yard.root());
        let new_file = json!({"path": "creature/src/deep/er/x.rs", "old": "", "new": "//! X.\n"});
        let purpose = json!({"path": "PURPOSE.md", "old": "Be", "new": "Do not be"});
        for (stage, old, new, says) in [
            ("build", "    43\n", "    forty\n", "cannot find value `forty`"),
            ("build", "    43\n", "    43\n}\n}\n", "unexpected closing delimiter"),
            ("test", "    43\n", "    57\n", "it_answers"),
            (
                "rehearsal",
                "    println!(",
                "    eprintln!(\"last words\");\n    std::process::exit(1);\n    #[allow(unreachable_code)]\n    println!(",
                "last words",
            ),
            (
                "rehearsal",
                "    println!(",
                "    std::thread::sleep(std::time::Duration::from_secs(600));\n    println!(",
                "deadline",
            ),
            (
                "rehearsal",
                "    writeln!(memory",
                "    let mut memory = std::io::sink();\n    writeln!(memory",
                "no readable thought",
            ),
        ] {
            yard.tools.limits.rehearsal = Duration::from_secs(if says == "deadline" { 1 } else { 30 });
            let edits = json!([edit(old, new), new_file, purpose]);
            let done = yard.call("repo.edit", json!({"edits": edits, "summary": "break it"})).await;
            assert_eq!(done["ok"], json!(false), "{done}");
            let record = yard.last("self_change");
            let error = record["error"].as_str().unwrap();
            assert_eq!((&record["ok"], &record["stage"]), (&json!(false), &json!(stage)), "{record}");
            assert!(error.contains(says), "{stage}: {error}");
            assert!(error.lines().count() <= 21, "{error}");
            assert_eq!(tree(yard.root()), before, "after a failed {stage}");
            assert_eq!(yard.tools.rebirth, None);
            let draft = yard.text(".self/workspace/draft/creature/src/main.rs");
            assert!(
                draft.contains(new) && done["hint"].as_str().unwrap().contains("the draft stays as it is"),
                "{done}"
            );
            assert_eq!(yard.call("repo.drop", json!({})).await["ok"], json!(true));
        }

        what_takes_long_is_proven_only_where_it_is_asked_for(&mut yard).await;
        let before = tree(yard.root());

        // Dropped half way, as when this life is asked to leave, it leaves no trace either.
        let edits = json!([edit("    42\n", "    44\n"), new_file]);
        let call = yard.call("repo.edit", json!({"edits": edits, "summary": "cut off"}));
        let came = tokio::time::timeout(Duration::from_millis(30), call).await;
        assert!(came.is_err(), "{came:?}");
        assert_eq!(tree(yard.root()), before);
    }
}
