//! What a life was born of, as it is remembered.

use crate::house::TempHouse;
use creature::clock::Clock;
use creature::config::Told;
use creature::life::birth::birth;
use creature::paths::House;
use git2::{IndexAddOption, Repository, Signature};
use serde_json::json;

/// Commits the creature's source as it is; the commit.
fn committed(house: &TempHouse, source: &str) -> String {
    house.write("creature/src/a.rs", source);
    let repo = Repository::init(house.path("")).unwrap();
    let mut index = repo.index().unwrap();
    index.add_all(["creature"], IndexAddOption::DEFAULT, None).unwrap();
    index.write().unwrap();
    let tree = repo.find_tree(index.write_tree().unwrap()).unwrap();
    let who = Signature::now("a", "a@example.org").unwrap();
    let before = repo.head().ok().and_then(|head| head.peel_to_commit().ok());
    let parents: Vec<_> = before.iter().collect();
    repo.commit(Some("HEAD"), &who, &who, "self: longer", &tree, &parents).unwrap().to_string()
}

/// Found: the record said neither which commit was born nor how large its change was.
#[tokio::test]
async fn what_was_born_names_its_commit_and_the_figures_of_its_change() {
    let house = TempHouse::new();
    committed(&house, "one\ntwo\n");
    let commit = committed(&house, "one\nthree\nfour\n");
    let standing = json!({"guardian_pid": 1, "life": 2, "commit": commit, "blessed": false, "born": {"summary": "longer"}});
    house.write(".self/guardian.json", standing.to_string());
    let told = Told {
        house: House::new(house.path("")),
        life: 2,
        commit: commit.clone(),
        safe: false,
        rehearsal: false,
        broker: None,
        lifeline: creature::lifeline::Lifeline::default(),
        clock: Clock::default(),
    };
    drop(birth(told).await.unwrap());
    let born = house.record("self_change", |data| data["stage"] == "born").data;
    assert_eq!(born["commit"], json!(commit), "{born}");
    assert_eq!(born["figures"], json!({"files": 1, "insertions": 2, "deletions": 1}), "{born}");
    assert_eq!((&born["files"], &born["summary"]), (&json!(["creature/src/a.rs"]), &json!("longer")));
}
