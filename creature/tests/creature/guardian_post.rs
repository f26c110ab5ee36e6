//! Tests of asking the guardian, with a guardian that is a file, and of git read without git.

use crate::yard::Yard;
use creature::guardian_post::{Kind, summary_line, until_proven, write_request};
use creature::paths::House;
use git2::{IndexAddOption, Repository, Signature};
use serde_json::{Value, json};
use std::path::Path;
use std::time::Duration;

fn commit_all(root: &Path) {
    let repo = Repository::init(root).unwrap();
    let mut index = repo.index().unwrap();
    index.add_all(["creature", "self", "PURPOSE.md"], IndexAddOption::DEFAULT, None).unwrap();
    let tree = repo.find_tree(index.write_tree().unwrap()).unwrap();
    index.write().unwrap();
    let who = Signature::now("test", "test@localhost").unwrap();
    repo.commit(Some("HEAD"), &who, &who, "first", &tree, &[]).unwrap();
}

/// Answers one request as the guardian does, and returns it.
pub fn answer(root: &Path, reply: Value) -> std::thread::JoinHandle<Value> {
    let root = root.to_owned();
    std::fs::create_dir_all(root.join(".self")).unwrap();
    std::fs::write(root.join(".self/guardian.json"), r#"{"answers":[]}"#).unwrap();
    std::thread::spawn(move || {
        loop {
            if let Ok(text) = std::fs::read_to_string(root.join(".self/mind/request.json")) {
                let request: Value = serde_json::from_str(&text).unwrap();
                std::fs::remove_file(root.join(".self/mind/request.json")).unwrap();
                let mut reply = reply;
                reply["id"] = request["id"].clone();
                let said = json!({"phase": "settled", "answers": [{"id": "old", "ok": false}, reply]});
                std::fs::write(root.join(".self/guardian.json"), said.to_string()).unwrap();
                return request;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    })
}

/// What proves a change changes the tree that lives, and so what the tests beside a newborn are of.
#[tokio::test]
async fn a_newborn_proves_nothing_until_its_own_tests_are_through() {
    let yard = Yard::new();
    let says = |life: u64, unproven: bool| {
        let said = json!({"life": life, "blessed": false, "unproven": unproven, "answers": []});
        yard.put(".self/guardian.json", &said.to_string());
    };
    until_proven(&yard.store.house, 7).await;
    says(6, true);
    until_proven(&yard.store.house, 7).await;
    says(7, true);
    let mut waits = Box::pin(until_proven(&yard.store.house, 7));
    assert!(tokio::time::timeout(Duration::from_millis(300), &mut waits).await.is_err(), "they still run");
    says(7, false);
    waits.await;
}

#[tokio::test]
async fn requests_are_asked_and_answers_come_back() {
    let mut yard = Yard::new();
    yard.put("creature/src/main.rs", "//! A.\n");
    commit_all(yard.root());
    yard.tools.patience = Duration::from_secs(10);
    let alone = yard.call("repo.commit", json!({"summary": "papers"})).await;
    assert!(alone["error"].as_str().unwrap().contains("no guardian is here"), "{alone}");

    let guardian = answer(yard.root(), json!({"ok": true, "commit": "abc"}));
    let done = yard.call("repo.commit", json!({"summary": "papers\nof mine"})).await;
    assert_eq!((&done["ok"], &done["commit"]), (&json!(true), &json!("abc")), "{done}");
    let asked = guardian.join().unwrap();
    assert_eq!(
        (&asked["kind"], &asked["life"], &asked["summary"]),
        (&json!("commit"), &json!(7), &json!("papers of mine"))
    );

    let guardian = answer(yard.root(), json!({"ok": false, "error": "merge under way", "hint": "finish it"}));
    let done = yard.call("repo.reset_hard", json!({})).await;
    assert!(done["error"].as_str().unwrap().contains("merge under way"), "{done}");
    assert_eq!((&done["hint"], &guardian.join().unwrap()["kind"]), (&json!("finish it"), &json!("reset")));

    yard.tools.patience = Duration::from_millis(150);
    let silent = yard.call("repo.reset_hard", json!({"reason": "lost"})).await;
    assert!(silent["error"].as_str().unwrap().contains("did not answer"), "{silent}");
    assert!(!yard.root().join(".self/mind/request.json").exists(), "an old wish must not be granted later");
}

#[tokio::test]
async fn status_and_diff_see_what_git_sees() {
    let mut yard = Yard::new();
    yard.put("creature/src/main.rs", "//! A.\nfn a() {}\n");
    yard.put("self/diary.md", "day one\n");
    let bare = yard.call("repo.status", json!({})).await;
    assert!(bare["error"].as_str().unwrap().contains("git says"), "{bare}");
    commit_all(yard.root());
    yard.put("creature/src/main.rs", "//! A.\nfn b() {}\n");
    yard.put("creature/src/new.rs", "//! New.\n");
    std::fs::remove_file(yard.root().join("self/diary.md")).unwrap();
    yard.put("README.md", "the owner's\n");
    yard.put("owner.toml", "password = 1\n");
    let status = yard.call("repo.status", json!({})).await;
    let changed = status["changed"].to_string();
    for line in
        ["changed creature/src/main.rs", "new creature/src/new.rs", "deleted self/diary.md", "new README.md"]
    {
        assert!(changed.contains(line), "{line}: {changed}");
    }
    let diff = yard.call("repo.diff", json!({})).await["diff"].as_str().unwrap().to_owned();
    assert!(
        diff.contains("-fn a() {}\n+fn b() {}")
            && diff.contains("+//! New.")
            && !diff.contains("the owner's"),
        "{diff}"
    );
    let diff = yard.call("repo.diff", json!({"path": "README.md"})).await["diff"].to_string();
    assert!(diff.contains("the owner's"), "{diff}");
    let all = yard.call("repo.diff", json!({"path": "."})).await.to_string();
    assert!(!all.contains("password"), "{all}");
    assert_eq!(yard.call("repo.diff", json!({"path": "owner.toml"})).await["ok"], json!(false));
}

/// The guardian reads 256 KiB of it.
#[test]
fn a_request_of_any_summary_is_one_that_is_read() {
    let yard = Yard::new();
    let house = House::new(yard.root());
    std::fs::create_dir_all(yard.root().join(".self/mind")).unwrap();
    write_request(&house, 7, Kind::Commit, &"\0".repeat(100_000)).unwrap();
    assert!(std::fs::metadata(house.request()).unwrap().len() < 256 << 10);
}

/// Mind 11: commit subjects were cut in mid-word at 200 characters, and the rest was lost.
#[tokio::test]
async fn what_a_change_is_for_reaches_the_guardian_whole() {
    let mut yard = Yard::new();
    yard.put("creature/lib.rs", "");
    commit_all(yard.root());
    yard.put(".self/guardian.json", "{}");
    let request = yard.root().join(".self/mind/request.json");
    let said = "because the sparrows come at eight ".repeat(20);
    let read = async {
        loop {
            if let Ok(text) = std::fs::read_to_string(&request) {
                break serde_json::from_str::<Value>(&text).unwrap()["summary"].as_str().unwrap().to_owned();
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    let asked = tokio::select! {
        result = yard.call("repo.commit", json!({"summary": said})) => panic!("{result}"),
        asked = read => asked,
    };
    assert_eq!(asked, said.trim());
    let said = "because the sparrows come at eight ".repeat(500);
    let cut = summary_line(&said);
    assert!(cut.chars().count() <= 4_000 && said.starts_with(cut.strip_suffix(" …").unwrap()), "{cut}");
    assert!(said[cut.len() - " …".len()..].starts_with(' '), "it ends at a word: {cut}");
}
