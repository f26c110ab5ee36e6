//! A house as the guardian, broker and creature of an earlier commit left it lives on under those of today.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::disallowed_methods
)]

use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use trials::House;
use trials::programs::{creature, place};

const LEDGER: &str = ".self/ledger.jsonl";
const MEMORY: &str = ".self/memory.jsonl";

/// What lies in this folder was made by running commit b86bc22 without a key: its guardian, broker and creature over a
/// repository of a few files, its owner's words, three asks, a kill, a commit that fell, and a stop. Tokens are struck out.
fn kept() -> PathBuf {
    trials::clone::origin().join("trials/lives_on/house_of_b86bc22")
}

fn laid() -> House {
    let house = House::of_repository(&kept().join("repository.fast-export"));
    for (from, to) in [("state", ".self"), ("self", "self"), ("owner.toml", "owner.toml")] {
        trials::clone::run("cp", &["-rT", kept().join(from).to_str().unwrap(), to], &house.root);
    }
    // Within the house: the walls show it nothing else of what is not the system's.
    std::fs::create_dir_all(house.path("target/creature")).unwrap();
    place(creature(), &house.path("target/creature/the-real-one"));
    house.with_broker()
}

/// Names of all that was moved aside in the house's state.
fn aside(house: &House) -> BTreeSet<String> {
    let found = std::process::Command::new("find")
        .args([
            ".self",
            "-name",
            "*aside*",
            "-o",
            "-name",
            "*damaged*",
            "-o",
            "-path",
            ".self/guardian/kept/*",
        ])
        .current_dir(&house.root)
        .output()
        .unwrap();
    String::from_utf8(found.stdout).unwrap().lines().map(str::to_owned).collect()
}

fn records(house: &House, kind: &str) -> Vec<Value> {
    let all = trials::lines(&house.path(MEMORY));
    all.into_iter().filter(|record| record["kind"] == kind).collect()
}

fn said(house: &House, args: &[&str]) -> String {
    let output = house.ask(args);
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

fn text(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap()
}

#[test]
fn a_house_of_commit_b86bc22_lives_on() {
    let house = laid();
    let before = |name: &str| text(&kept().join("state").join(name));
    let state: Value = serde_json::from_str(&before("guardian.json")).unwrap();
    let life = state["life"].as_u64().unwrap();

    let guardian = house.start();
    house.until("the next life to be blessed", || {
        let status = house.status();
        status["life"] == life + 1 && status["blessed"] == true
    });
    assert_eq!(house.read(".self/last_good.txt"), before("last_good.txt"), "the ladder is as it was");
    house.until("its first thought", || {
        records(&house, "thought").iter().any(|record| record["life"] == life + 1)
    });
    let reminders = said(&house, &["say", "reminders"]);
    assert!(reminders.contains("feed the herons"), "the answer to that word: {reminders}");
    house.until("what it was asked to remind of", || {
        records(&house, "message").iter().any(|record| {
            record["life"] == life + 1
                && record["data"]["from"] == "creature"
                && record["data"]["text"].as_str().is_some_and(|text| text.contains("feed the herons"))
        })
    });

    // What waited for the owner still does, with its bytes, and what is answered is a line more of the same chain.
    let waiting = said(&house, &["asks"]);
    assert!(waiting.contains("3: POST shop /orders") && !waiting.contains("1: "), "{waiting}");
    assert!(said(&house, &["asks", "3"]).contains("three of them"));
    let denied = said(&house, &["deny", "3"]);
    assert!(denied.contains("3: denied"), "{denied}");
    house.until("a line more of the ledger", || house.read(LEDGER).len() > before("ledger.jsonl").len());
    assert_eq!(guardian.stop(), 0);

    assert!(house.read(MEMORY).starts_with(&before("memory.jsonl")), "memory goes on where it ended");
    assert!(house.read(LEDGER).starts_with(&before("ledger.jsonl")), "the ledger goes on where it ended");
    assert!(house.read(".self/history.jsonl").starts_with(&before("history.jsonl")));
    let history = said(&house, &["history", "--since", "2026-11-01T00:00:00Z"]);
    assert!(!history.contains("BROKEN") && history.contains("3 asked"), "{history}");
    assert_eq!(aside(&house), BTreeSet::new(), "something of the old house could not be read");
    assert!(house.told("state_rebuilt").is_empty(), "the guardian's state could not be read");
    assert_eq!(
        house.deaths().len(),
        trials::lines(&kept().join("state/deaths.jsonl")).len(),
        "nothing died of it"
    );
    // A field that was unknown then is empty now.
    let agenda = |text: &str| -> Value {
        let agenda: Value = serde_json::from_str(text).unwrap();
        without_empty(json!([agenda["goals"], agenda["tasks"], agenda["reminders"], agenda["directives"]]))
    };
    assert_eq!(agenda(&house.read(".self/mind/agenda.json")), agenda(&before("mind/agenda.json")));
}

fn without_empty(value: Value) -> Value {
    match value {
        Value::Object(fields) => {
            let empty = [Value::Null, json!(""), json!(false)];
            let full = fields.into_iter().filter(|(_, value)| !empty.contains(value));
            full.map(|(name, value)| (name, without_empty(value))).collect::<serde_json::Map<_, _>>().into()
        }
        Value::Array(list) => list.into_iter().map(without_empty).collect(),
        plain @ (Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_)) => plain,
    }
}
