//! What it changed in itself and what a rollback would: shown before anything happens, and nothing happens by being shown.

use serde_json::{Value, json};
use trials::{House, SOUND, becomes, said};

fn out(house: &House, args: &[&str]) -> String {
    let output = house.command(args).env_remove("RUST_LOG").output().unwrap();
    assert!(output.status.success(), "{args:?}: {}", said(&output));
    said(&output)
}

fn told_as_json(house: &House, args: &[&str]) -> Value {
    serde_json::from_slice(&house.ask(args).stdout).unwrap()
}

/// Everything that a look must leave as it is: commits, refs, index, files, orders.
fn all_of(house: &House) -> String {
    let kept =
        [".self/guardian/order.json", ".self/guardian/state.json"].map(|path| house.read(path)).join("\n");
    format!(
        "{}\n{}\n{kept}",
        house.git(&["for-each-ref"]),
        house.git(&["status", "--porcelain", "--ignored"])
    )
}

/// A house that was reborn once by itself and blessed again, and its guardian has left.
fn reborn() -> (House, String, String) {
    let house = House::new(&becomes("think second; live"));
    let first = house.git(&["rev-parse", "HEAD"]);
    let guardian = house.start();
    house.until("a second blessing", || house.told("blessed").len() == 2);
    guardian.stop();
    let second = house.git(&["rev-parse", "HEAD"]);
    assert_ne!(first, second);
    (house, first, second)
}

#[test]
fn a_self_edit_is_shown_whole_with_what_came_of_it() {
    let (house, first, second) = reborn();
    let short = |commit: &str| commit[..7].to_owned();
    let told = out(&house, &["diff"]);
    for part in [
        format!("its newest self-edit: {} since {}", short(&second), short(&first)),
        "summary    self: another life".into(),
        "life 2; its tests passed; blessed at ".into(),
        "stands on the ladder as rung 1".into(),
        "creature/creature.sh +1 -1".into(),
        "+think second; live".into(),
        "-think first; blessed; ".into(),
    ] {
        assert!(told.contains(&part), "{part:?} is not in {told}");
    }
    assert!(!told.contains("diary"), "of itself, not of its papers: {told}");
    assert!(out(&house, &["diff", "2"]).contains("life 2 against life 1"));
    assert!(out(&house, &["diff", "1"]).contains("life 1, the first on record"));
    assert!(out(&house, &["diff", &short(&second)]).contains("+think second; live"));
    let told = told_as_json(&house, &["diff", "2", "--json"]);
    assert_eq!(
        (told["commit"].as_str(), told["before"].as_str()),
        (Some(second.as_str()), Some(first.as_str()))
    );
    assert_eq!((&told["files"][0]["added"], &told["files"][0]["removed"]), (&1.into(), &1.into()));
    assert!(told["patch"].as_str().unwrap().contains("\n+think second; live\n"), "{told}");
    for wrong in ["99", "nowhere"] {
        let output = house.ask(&["diff", wrong]);
        assert!(
            output.status.code() == Some(1) && said(&output).contains("no commit is called"),
            "{}",
            said(&output)
        );
    }
}

#[test]
fn what_fell_says_that_it_fell() {
    let house = House::new(&becomes("exit 3"));
    let first = house.git(&["rev-parse", "HEAD"]);
    let guardian = house.start();
    house.until("a fall", || !house.told("fall").is_empty());
    guardian.stop();
    let told = out(&house, &["diff"]);
    assert!(
        told.contains("fell at ") && told.contains("counts as fallen") && told.contains(" deaths"),
        "{told}"
    );
    let history = out(&house, &["history", "--since", "1h"]);
    assert!(history.contains("blessed") && history.contains("put creature back"), "{history}");
    let fell = told_as_json(&house, &["diff", "--json"])["commit"].as_str().unwrap().to_owned();
    let told = out(&house, &["rollback", "--dry-run", &fell]);
    assert!(told.contains("it fell before") && told.contains("undone     1 commits"), "{told}");
    assert!(!first.is_empty());
}

#[test]
fn a_dry_run_says_what_would_change_and_changes_nothing() {
    let (house, first, second) = reborn();
    let before = all_of(&house);
    house.write("creature/more.sh", "mine\n");
    let told = out(&house, &["rollback", "--dry-run"]);
    for part in [
        format!("would put  creature/ back to {} first", &first[..7]),
        "changes    1 files, +1 -1 lines".into(),
        "undone     1 commits that changed creature/".into(),
        format!("{} self: another life", &second[..7]),
        "creature/more.sh".into(),
        "nothing was changed; to do it: cargo run -p guardian -- rollback".into(),
    ] {
        assert!(told.contains(&part), "{part:?} is not in {told}");
    }
    std::fs::remove_file(house.path("creature/more.sh")).unwrap();
    let rungs = out(&house, &["rollback", "--list"]);
    assert!(
        rungs.contains(&format!("rung 1     {}", &second[..7])) && rungs.contains("creature/ is this now"),
        "{rungs}"
    );
    assert!(
        rungs.contains(&format!("rung 0     {}", &first[..7]))
            && rungs.contains("a plain rollback goes here"),
        "{rungs}"
    );
    assert_eq!(told_as_json(&house, &["rollback", "--list", "--json"])["rungs"][1]["rung"], 0);
    let told = told_as_json(&house, &["rollback", "--json", "--dry-run", "0"]);
    assert_eq!(
        (told["to"].as_str(), &told["files"], &told["nothing_to_do"]),
        (Some(first.as_str()), &1.into(), &false.into())
    );
    assert!(out(&house, &["rollback", "--dry-run", "1"]).contains("nothing would be done"));
    assert_eq!(all_of(&house), before, "a look is a look");
    for (wrong, code) in [
        (&["rollback", "--dry-run", "7"][..], 1),
        (&["rollback", "--dry-run", "nowhere"], 1),
        (&["rollback", "--json"], 2),
        (&["rollback", "--list", "--dry-run"], 2),
        (&["rollback", "a", "b"], 2),
    ] {
        let output = house.ask(wrong);
        assert_eq!(output.status.code(), Some(code), "{wrong:?}: {}", said(&output));
    }
    // What was shown is what is done.
    let guardian = house.start();
    house.until("it lives", || house.status()["life"] == 3 && house.status()["creature_pid"].is_number());
    let output = house.ask(&["rollback", "0"]);
    assert!(output.status.success(), "{}", said(&output));
    house.until("the first again", || !house.creature_differs_from(&first));
    guardian.stop();
}

#[test]
fn a_house_that_never_changed_says_so() {
    let house = House::new(SOUND);
    assert!(out(&house, &["diff"]).contains("changed nothing in itself so far"));
    assert!(told_as_json(&house, &["diff", "--json"])["commit"].is_null());
    assert!(out(&house, &["rollback", "--list"]).contains("no rung to go back to"));
    let output = house.ask(&["rollback", "--dry-run"]);
    assert!(
        output.status.code() == Some(1) && said(&output).contains("nothing to go back to"),
        "{}",
        said(&output)
    );
}

/// Found: `diff` lost the fall and the deaths of a commit of the owner's, of which the guardian has no line but those.
#[test]
fn a_commit_of_the_owners_that_never_built_says_that_it_fell() {
    let house = House::new(SOUND);
    house.write("creature/creature.sh", "does not build");
    house.git(&["commit", "-qam", "the owner's own"]);
    let commit = house.git(&["rev-parse", "HEAD"]);
    let fall = json!({"at": "2026-01-02T03:04:05.000Z", "what": "fall", "cause": "build", "from_commit": commit,
        "to_commit": "0".repeat(40), "told": "put creature back"});
    let death =
        json!({"at": "2026-01-02T03:04:04.000Z", "life": 1, "commit": commit, "ended": "build_failed"});
    house.write(".self/history.jsonl", &format!("{fall}\n"));
    house.write(".self/deaths.jsonl", &format!("{death}\n"));
    let told = out(&house, &["diff", &commit]);
    assert!(told.contains("fell at ") && told.contains("1 deaths"), "{told}");
}
