//! The files between guardian and creature: golden examples read by the guardian's own readers, and written by it alike.

use guardian::act::heartbeat::Heartbeat;
use guardian::act::requests;
use house::records;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use trials::golden::{golden, house, records_of};

fn golden_value(name: &str) -> Value {
    serde_json::from_slice(&fs::read(golden(name)).unwrap()).unwrap()
}

#[test]
fn both_sides_hold_the_same_bytes() {
    let theirs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../creature/tests/golden");
    // A creature that rewrote itself may have moved its tests; then there is nothing to compare.
    if !theirs.exists() {
        return;
    }
    let names = |folder: &Path| -> BTreeSet<String> {
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    };
    let ours = names(&golden(""));
    assert_eq!(
        ours,
        names(&theirs),
        "guardian/tests/golden and creature/tests/golden differ: copy what is missing"
    );
    for name in ours {
        let same = fs::read(golden(&name)).unwrap() == fs::read(theirs.join(&name)).unwrap();
        assert!(
            same,
            "{name} differs between guardian/tests/golden and creature/tests/golden: change both or neither"
        );
    }
}

#[test]
fn only_a_readable_thought_of_this_life_counts() {
    let text = fs::read_to_string(golden("memory.jsonl")).unwrap();
    let thoughts =
        |life| text.lines().filter(|line| guardian::act::heartbeat::is_thought_of(line, life)).count();
    assert_eq!((thoughts(7), thoughts(6)), (1, 0), "the garbled one does not count");
    let text = fs::read_to_string(golden("memory_newer.jsonl")).unwrap();
    let of_twelve: Vec<bool> =
        text.lines().map(|line| guardian::act::heartbeat::is_thought_of(line, 12)).collect();
    assert_eq!(of_twelve, [true, false, false, false, false], "records of a newer creature are carried");
}

#[test]
fn the_heartbeat_is_read_leniently() {
    for (name, turns, thoughts, stage) in
        [("heartbeat.json", 40, 38, "thinking"), ("heartbeat_newer.json", 41, 39, "dreaming")]
    {
        let (folder, house) = house(&[]);
        fs::create_dir_all(folder.path().join(".self")).unwrap();
        let mut heart = Heartbeat::new(house.heartbeat());
        fs::copy(golden(name), house.heartbeat()).unwrap();
        let claim = heart.look(7).unwrap().clone();
        assert_eq!(
            (claim.life, claim.turns, claim.thoughts, claim.stage.as_str()),
            (7, turns, thoughts, stage)
        );
        assert!(!claim.mind.is_empty());
        assert_eq!(heart.look(7), None, "one beat is one beat");
        heart.reset();
        fs::remove_file(house.heartbeat()).unwrap();
        fs::copy(golden(name), house.heartbeat()).unwrap();
        assert_eq!(heart.look(8), None, "a beat of another life");
    }
}

#[test]
fn requests_are_read_and_those_of_tomorrow_refused_by_name() {
    let read = |name| {
        let (_folder, house) = house(&[(name, ".self/mind/request.json")]);
        requests::read(&house).unwrap().unwrap()
    };
    let commit = read("request_commit.json");
    assert_eq!((commit.id.as_str(), commit.life, commit.kind.as_str()), ("7-1767323045678-0", 7, "commit"));
    assert_eq!((commit.summary().as_str(), commit.is_rebirth_of(7)), ("diary of today", false));
    let rebirth = read("request_rebirth.json");
    assert!(rebirth.is_rebirth_of(7) && !rebirth.is_rebirth_of(8));
    let newer = read("request_newer.json");
    assert_eq!((newer.kind.as_str(), newer.summary().as_str()), ("vacation", "two lines"));
    let golden = golden_value("guardian.json");
    let answers = golden["answers"].as_array().unwrap();
    assert_eq!(answers[0], commit.done(Some("2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d5e".into())));
    assert_eq!(keys(&answers[1]), keys(&commit.done(None)));
    assert_eq!(answers[2], newer.refused("no request is called `vacation`", "commit, reset or rebirth"));
}

/// The shape of a document: its keys, and those of objects in it and of the first object of each list in it.
fn keys(value: &Value) -> BTreeSet<String> {
    let Some(object) = value.as_object() else { return BTreeSet::new() };
    let mut found = BTreeSet::new();
    for (key, value) in object {
        found.insert(key.clone());
        let inner = value.as_array().and_then(|list| list.first()).unwrap_or(value);
        found.extend(keys(inner).into_iter().map(|inner| format!("{key}.{inner}")));
    }
    found
}

#[test]
fn a_real_guardian_writes_what_the_golden_files_hold() {
    let house = trials::House::new(
        "think alive\ncase $FERAL_LIFE in\n\
        1) exit 3;;\n\
        2) ask commit papers 0; blessed; until grep -q \"$FERAL_LIFE-0\" .self/guardian.json; do beat; sleep 0.1; done;\n\
           echo '# new' >> creature/creature.sh; ask rebirth 'rest longer' 1; exit 0;;\n\
        3|4|5) exit 7;;\n\
        esac; live",
    );
    let guardian = house.start();
    house.until("a fall, and a life after it", || {
        !house.told("fall").is_empty() && house.told("life").len() >= 6
    });
    let mut status = Value::Null;
    house.until("it to be blessed", || {
        status = house.status();
        status["blessed"] == true
    });
    assert!(house.ask(&["resume"]).status.success());
    let status = house.status();
    guardian.stop();
    let mut expected = keys(&golden_value("guardian.json"));
    // Only a life that came of a rebirth is told of it.
    expected.remove("born.summary");
    // Only a hand that is named and not there has a line.
    expected.remove("broker.hands.mail");
    assert_eq!(keys(&status), expected, "guardian.json and its golden file have different keys");
    let (wanted, _) = records_of(&golden("deaths.jsonl"));
    assert_eq!(keys(&house.deaths()[0]), keys(&wanted[0]), "deaths.jsonl");
    let (wanted, _) = records_of(&golden("history.jsonl"));
    for line in wanted.iter().filter(|line| !["eclipse", "rescued"].contains(&records::text(line, "what"))) {
        let what = records::text(line, "what");
        let told = house.told(what);
        let told = told.first().unwrap_or_else(|| panic!("nothing was told of a {what}"));
        assert_eq!(keys(told), keys(line), "{what} in history.jsonl");
    }
}
