//! The draft: edits gather beside the tree that lives, survive every kill, and never pass for that tree.

use crate::yard::Yard;
use git2::{Repository, Signature};
use patch::draft::{self, Draft};
use serde_json::{Value, json};
use std::fs;

const TEN: &str = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\nten\n";

fn edit(path: &str, old: &str, new: &str) -> Value {
    json!({"path": path, "old": old, "new": new})
}

fn held(edits: Value) -> Value {
    json!({"edits": edits, "summary": "s", "hold": true})
}

fn yard() -> Yard {
    let yard = Yard::new();
    yard.put("creature/a.txt", TEN);
    yard.put("creature/deep/b.txt", "b\n");
    yard
}

fn of_draft(yard: &Yard, path: &str) -> String {
    yard.text(&format!(".self/workspace/draft/{path}"))
}

#[tokio::test]
async fn an_edit_answers_with_its_diff_and_leaves_what_lives_alone() {
    let mut yard = yard();
    let edits = json!([edit("creature/a.txt", "five\n", "FIVE\n"), edit("creature/new.txt", "", "new\n")]);
    let shown = yard.shown("repo.edit", held(edits)).await;
    assert!(shown.contains("@@ -2,7 +2,7 @@") && shown.contains("-five\n+FIVE\n six\n"), "{shown}");
    assert!(shown.contains("--- /dev/null\n+++ b/creature/new.txt\n@@ -0,0 +1 @@\n+new\n"), "{shown}");
    assert!(shown.contains("2 files, not checked yet"), "{shown}");
    assert_eq!(yard.text("creature/a.txt"), TEN);
    let more = held(json!([edit("creature/a.txt", "FIVE", "5")]));
    assert_eq!(yard.call("repo.edit", more).await["ok"], json!(true), "what it edits is the draft");
    assert!(of_draft(&yard, "creature/a.txt").contains("four\n5\nsix"));
    let patch = "--- a/creature/a.txt\n+++ b/creature/a.txt\n@@\n-5\n+V\n--- a/creature/deep/b.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-b\n";
    let shown = yard.shown("repo.apply_patch", json!({"patch": patch, "summary": "s", "hold": true})).await;
    assert!(shown.contains("-5\n+V\n") && shown.contains("+++ /dev/null\n@@ -1 +0,0 @@\n-b\n"), "{shown}");
    assert_eq!(yard.text("creature/deep/b.txt"), "b\n");
}

#[tokio::test]
async fn the_draft_is_what_is_looked_at_and_every_look_says_so() {
    let mut yard = yard();
    yard.put("creature/src/lib.rs", "//! L.\npub fn old() {}\n");
    yard.put("self/diary.md", "old\n");
    let edits = held(json!([edit("creature/src/lib.rs", "fn old", "fn brand_new")]));
    assert_eq!(yard.call("repo.edit", edits).await["ok"], json!(true));
    for (tool, args) in [
        ("repo.read", json!({"path": "creature/src/lib.rs"})),
        ("repo.read", json!({"path": "creature/src/lib.rs", "item": "brand_new"})),
        ("repo.search", json!({"pattern": "brand_new"})),
        ("repo.outline", json!({"path": "creature/src/lib.rs"})),
        ("repo.diff", json!({})),
    ] {
        let shown = yard.shown(tool, args).await;
        assert!(shown.starts_with("tree: a draft since "), "{tool}: {shown}");
        assert!(shown.contains("brand_new"), "{tool}: {shown}");
    }
    assert!(yard.shown("repo.map", json!({})).await.starts_with("tree: a draft since "));
    let diary = yard.shown("repo.read", json!({"path": "self/diary.md"})).await;
    assert!(!diary.contains("draft"), "papers are no draft: {diary}");
    assert_eq!(yard.call("repo.drop", json!({})).await["dropped"], json!(["creature/src/lib.rs"]));
    let shown = yard.shown("repo.read", json!({"path": "creature/src/lib.rs"})).await;
    assert!(!shown.contains("tree:") && shown.contains("fn old"), "{shown}");
    // A mistake is no loss.
    assert_eq!(yard.call("repo.drop", json!({"back": true})).await["ok"], json!(true));
    assert!(yard.shown("repo.diff", json!({})).await.contains("+pub fn brand_new"));
}

#[tokio::test]
async fn what_missed_is_mended_by_its_old_alone_and_the_rest_stands() {
    let mut yard = yard();
    let edits = json!([
        edit("creature/a.txt", "two\n", "TWO\n"),
        edit("creature/a.txt", "nine\nten\neleven\n", "a long text that is sent once\n"),
    ]);
    let result = yard.call("repo.edit", json!({"edits": edits, "summary": "s"})).await;
    let (error, hint) = (result["error"].as_str().unwrap(), result["hint"].as_str().unwrap());
    assert!(error.starts_with("edit 2 of creature/a.txt: `old` is not there"), "{result}");
    assert!(hint.contains("all else is in the draft") && hint.contains("9: nine\n10: ten"), "{result}");
    assert!(of_draft(&yard, "creature/a.txt").contains("TWO\n") && yard.tools.left.rebirth.is_none());
    let alone = held(json!([{"path": "creature/a.txt", "old": "nine\nten\n"}]));
    let mended = yard.call("repo.edit", alone.clone()).await;
    assert_eq!(mended["ok"], json!(true), "{mended}");
    assert!(of_draft(&yard, "creature/a.txt").ends_with("eight\na long text that is sent once\n"));
    let twice = yard.call("repo.edit", alone).await;
    assert!(twice["error"].as_str().unwrap().contains("needs `new`"), "{twice}");
    let patch = "--- a/creature/a.txt\n+++ b/creature/a.txt\n@@\n-three\n+THREE\n@@\n-nowhere\n+x\n@@\n-four\n+FOUR\n";
    let result = yard.call("repo.apply_patch", json!({"patch": patch, "summary": "s"})).await;
    let refused = "hunk 2 of creature/a.txt (line 6 of the patch): none of its old lines";
    assert!(result["error"].as_str().unwrap().starts_with(refused), "{result}");
    assert!(
        of_draft(&yard, "creature/a.txt").contains("three\nfour\n"),
        "a patch is taken whole or not at all"
    );
}

/// Every state a kill can leave behind an edit of two files, from before its note to after its end.
#[tokio::test]
async fn an_edit_killed_at_any_step_is_whole_or_never_begun() {
    let first = held(json!([edit("creature/a.txt", "one", "ONE")]));
    let second = held(json!([edit("creature/a.txt", "two", "TWO"), edit("creature/new.txt", "", "new\n")]));
    // What the second edit writes, in its order, taken from one that went well.
    let mut whole = yard();
    whole.call("repo.edit", first.clone()).await;
    let draft = whole.root().join(".self/workspace/draft");
    let before = fs::read(draft.join("draft.json")).unwrap();
    whole.call("repo.edit", second.clone()).await;
    let after = fs::read(draft.join("draft.json")).unwrap();
    let state: Value = serde_json::from_slice(&after).unwrap();
    let a = of_draft(&whole, "creature/a.txt");
    let note =
        json!({"texts": {"creature/a.txt": a, "creature/new.txt": "new\n"}, "state": state}).to_string();
    for step in 0..6 {
        let mut yard = yard();
        yard.call("repo.edit", first.clone()).await;
        let draft = yard.root().join(".self/workspace/draft");
        fs::write(draft.join("draft.json"), &before).unwrap();
        match step {
            0 => yard.put(".self/workspace/draft/edit.json", &note[..note.len() / 2]),
            step => {
                yard.put(".self/workspace/draft/edit.json", &note);
                if step > 1 {
                    yard.put(".self/workspace/draft/creature/a.txt", &a);
                }
                if step > 2 {
                    yard.put(".self/workspace/draft/creature/new.txt", "new\n");
                }
                if step > 3 {
                    fs::write(draft.join("draft.json"), &after).unwrap();
                }
                if step > 4 {
                    fs::remove_file(draft.join("edit.json")).unwrap();
                }
            }
        }
        let found = Draft::open(&yard.store.house).unwrap().unwrap();
        assert!(!draft.join("edit.json").exists(), "step {step}");
        let (text, new) = (of_draft(&yard, "creature/a.txt"), draft.join("creature/new.txt").exists());
        let files =
            if step == 0 { vec!["creature/a.txt"] } else { vec!["creature/a.txt", "creature/new.txt"] };
        assert_eq!(found.state.files, files, "step {step}");
        assert_eq!((text.contains("TWO"), new), (step > 0, step > 0), "step {step}");
        assert_eq!(yard.text("creature/a.txt"), TEN);
    }
}

#[tokio::test]
async fn a_draft_killed_while_it_begins_is_none_and_the_next_edit_begins_it_anew() {
    let mut yard = yard();
    yard.put(".self/workspace/draft.new/creature/a.txt", "half");
    assert!(Draft::open(&yard.store.house).unwrap().is_none());
    assert_eq!(
        yard.call("repo.edit", held(json!([edit("creature/a.txt", "one", "ONE")]))).await["ok"],
        json!(true)
    );
    assert!(of_draft(&yard, "creature/a.txt").starts_with("ONE\ntwo\n"));
    // A state that cannot be read is said, and is no end: the files are kept.
    yard.put(".self/workspace/draft/draft.json", "{");
    let refused = yard.call("repo.edit", held(json!([edit("creature/a.txt", "ONE", "1")]))).await;
    assert!(refused["hint"].as_str().unwrap().contains("repo.drop"), "{refused}");
    assert_eq!(yard.call("repo.drop", json!({})).await["ok"], json!(true));
    assert!(yard.text(".self/workspace/draft.aside/creature/a.txt").starts_with("ONE\n"));
}

/// Killed before the old one is gone, between that and the move, and after it.
#[tokio::test]
async fn a_draft_killed_while_it_goes_is_there_whole_or_aside_whole() {
    for step in 0..3 {
        let mut yard = yard();
        yard.call("repo.edit", held(json!([edit("creature/a.txt", "one", "ONE")]))).await;
        yard.call("repo.drop", json!({})).await;
        yard.call("repo.edit", held(json!([edit("creature/a.txt", "two", "TWO")]))).await;
        let (draft, aside) = (yard.store.house.draft(), yard.store.house.draft_aside());
        match step {
            0 => fs::remove_file(aside.join("draft.json")).unwrap(),
            step => {
                fs::remove_dir_all(&aside).unwrap();
                if step > 1 {
                    fs::rename(&draft, &aside).unwrap();
                }
            }
        }
        let there = Draft::open(&yard.store.house).unwrap();
        assert_eq!(there.is_some(), step < 2, "step {step}");
        if there.is_some() {
            let back = yard.call("repo.drop", json!({"back": true})).await;
            assert!(
                back["error"].as_str().unwrap().contains("a draft already"),
                "half of one is none: {back}"
            );
        }
        yard.call("repo.drop", json!({})).await;
        assert_eq!(yard.call("repo.drop", json!({"back": true})).await["ok"], json!(true), "step {step}");
        assert!(of_draft(&yard, "creature/a.txt").contains("\nTWO\n"), "step {step}");
    }
}

/// The guardian puts the tree that lives back, as after every death; what was proven is neither lost nor taken for born.
#[tokio::test]
async fn a_draft_killed_between_its_proof_and_its_birth_is_a_draft_still() {
    for looked_at in [false, true] {
        let mut yard = yard();
        yard.call("repo.edit", held(json!([edit("creature/a.txt", "one", "ONE")]))).await;
        let mut draft = Draft::open(&yard.store.house).unwrap().unwrap();
        draft.came_to("proof", "2126-01-01T00:00:00Z", None).unwrap();
        yard.put("creature/a.txt", &TEN.replace("one", "ONE"));
        if looked_at {
            assert!(Draft::open_unless_live(&yard.store.house).unwrap().is_none(), "all of it lives");
        }
        yard.put("creature/a.txt", TEN);
        if looked_at {
            assert_eq!(yard.call("repo.drop", json!({"back": true})).await["ok"], json!(true));
        }
        let draft = Draft::open_unless_live(&yard.store.house).unwrap().unwrap();
        assert!(draft.line().ends_with("1 file, proof passes"), "{}", draft.line());
        assert!(of_draft(&yard, "creature/a.txt").starts_with("ONE\n"));
    }
}

#[tokio::test]
async fn two_at_once_are_refused() {
    let mut yard = yard();
    let alone = draft::hold(&yard.store.house).unwrap();
    for (tool, args) in [
        ("repo.edit", held(json!([edit("creature/a.txt", "one", "ONE")]))),
        ("repo.check", json!({})),
        ("repo.test", json!({})),
        ("repo.commit", json!({"summary": "s"})),
        ("repo.drop", json!({})),
    ] {
        let refused = yard.call(tool, args).await;
        assert!(refused["error"].as_str().unwrap().contains("under way"), "{tool}: {refused}");
    }
    drop(alone);
    assert_eq!(
        yard.call("repo.edit", held(json!([edit("creature/a.txt", "one", "ONE")]))).await["ok"],
        json!(true)
    );
}

fn commit(yard: &Yard, message: &str) {
    let repo = Repository::open(yard.root()).or_else(|_| Repository::init(yard.root())).unwrap();
    let mut index = repo.index().unwrap();
    index.add_all(["creature"], git2::IndexAddOption::DEFAULT, None).unwrap();
    index.write().unwrap();
    let tree = repo.find_tree(index.write_tree().unwrap()).unwrap();
    let me = Signature::now("me", "me@localhost").unwrap();
    let parent = repo.head().ok().and_then(|head| head.peel_to_commit().ok());
    let parents: Vec<&git2::Commit> = parent.iter().collect();
    repo.commit(Some("HEAD"), &me, &me, message, &tree, &parents).unwrap();
}

#[tokio::test]
async fn a_draft_against_a_tree_that_changed_is_rebased_or_refused_never_silently_wrong() {
    let mut yard = yard();
    yard.put("creature/Cargo.toml", "no manifest: every proof ends at its first step\n");
    commit(&yard, "begin");
    let begin = held(json!([edit("creature/a.txt", "two", "TWO"), edit("creature/new.txt", "", "new\n")]));
    assert_eq!(yard.call("repo.edit", begin).await["ok"], json!(true));
    // The owner commits meanwhile: another file, and other lines of the same.
    yard.put("creature/deep/b.txt", "B of the owner\n");
    yard.put("creature/a.txt", &TEN.replace("nine", "NINE"));
    commit(&yard, "the owner's");
    let proven = yard.call("repo.commit", json!({"summary": "s"})).await;
    assert!(proven["error"].as_str().unwrap().contains("cargo build failed"), "{proven}");
    let merged = TEN.replace("two", "TWO").replace("nine", "NINE");
    assert_eq!(of_draft(&yard, "creature/a.txt"), merged, "both changes stand");
    assert_eq!(of_draft(&yard, "creature/deep/b.txt"), "B of the owner\n");
    assert_eq!(
        yard.text("creature/a.txt"),
        TEN.replace("nine", "NINE"),
        "put back to what the owner committed"
    );
    // The same line now: refused with the file, and neither is touched.
    yard.put("creature/a.txt", &TEN.replace("two", "2").replace("nine", "NINE"));
    let refused = yard.call("repo.commit", json!({"summary": "s"})).await;
    let error = refused["error"].as_str().unwrap();
    assert!(error.contains("do not fit together") && error.contains("creature/a.txt"), "{refused}");
    assert!(refused["hint"].as_str().unwrap().contains("repo.drop"), "{refused}");
    assert_eq!(of_draft(&yard, "creature/a.txt"), merged);
    assert!(yard.text("creature/a.txt").contains("\n2\n"));
}

#[tokio::test]
async fn what_was_born_of_a_draft_needs_it_no_more() {
    let mut yard = yard();
    yard.call("repo.edit", held(json!([edit("creature/a.txt", "one", "ONE")]))).await;
    assert!(Draft::open_unless_live(&yard.store.house).unwrap().is_some(), "it does not live yet");
    yard.put("creature/a.txt", &TEN.replace("one", "ONE"));
    assert!(Draft::open_unless_live(&yard.store.house).unwrap().is_none());
    assert!(!yard.store.house.draft().exists());
    // It fell: what died can be taken up again.
    yard.put("creature/a.txt", TEN);
    assert_eq!(yard.call("repo.drop", json!({"back": true})).await["ok"], json!(true));
    assert!(of_draft(&yard, "creature/a.txt").starts_with("ONE\n"));
}

/// Found: a file that a command left among what lives, beside the draft, was told by no status of the draft.
#[tokio::test]
async fn what_a_command_left_among_what_lives_is_told_beside_the_draft() {
    let mut yard = yard();
    commit(&yard, "first");
    let edits = held(json!([edit("creature/a.txt", "five", "FIVE")]));
    assert_eq!(yard.call("repo.edit", edits).await["ok"], json!(true));
    let status = yard.call("repo.status", json!({})).await;
    assert_eq!(status.get("beside_the_draft"), None, "{status}");
    yard.put("creature/stray.txt", "");
    let status = yard.call("repo.status", json!({})).await;
    assert_eq!(status["beside_the_draft"]["paths"], json!(["creature/stray.txt"]), "{status}");
    assert_eq!(status["of_the_draft_against_what_lives"][0], "changed creature/a.txt", "{status}");
}
