//! Goals as data, and against a simple model of what a checkpoint goes through.

use agenda::goals::{self, GoalChange, GoalStatus, Status};
use agenda::{Agenda, Change, Rules, When};
use jiff::{SignedDuration, Timestamp};
use proptest::prelude::*;
use serde_json::Value;

const START: Timestamp = Timestamp::constant(1_780_000_000, 0);

fn at(seconds: i64) -> Timestamp {
    START + SignedDuration::from_secs(seconds)
}

fn tell(agenda: &mut Agenda, now: Timestamp, owner: bool, change: GoalChange) -> Result<Value, String> {
    let when = When { now, thread: "main", owner, rules: &Rules::default() };
    let before = agenda.clone();
    let told = agenda.apply(&Change::Goal(change), when).map_err(|refused| refused.error);
    assert!(told.is_ok() || *agenda == before, "a refusal leaves all as it was");
    told
}

fn add(title: &str, steps: &[&str], cost_usd: f64) -> GoalChange {
    let checkpoints = steps.iter().map(|step| (*step).to_owned()).collect();
    GoalChange::Add { title: title.to_owned(), checkpoints, cost_usd }
}

fn mark(checkpoint: Option<usize>, status: Status, reason: &str) -> GoalChange {
    GoalChange::Checkpoint { id: "goal-1".to_owned(), checkpoint, status, reason: reason.to_owned() }
}

fn close(outcome: GoalStatus) -> GoalChange {
    GoalChange::Close { id: "goal-1".to_owned(), outcome, reason: "no use".to_owned() }
}

#[test]
fn a_goal_goes_from_checkpoint_to_checkpoint_until_it_is_done() {
    let mut agenda = Agenda::default();
    let made = tell(&mut agenda, at(0), false, add(" Sell\n tea ", &["find leaves", "pack"], 0.0)).unwrap();
    assert_eq!((made["id"].as_str(), made["status"].as_str()), (Some("goal-1"), Some("open")));
    assert_eq!(agenda.goals.list[0].about, "Sell tea");
    let first = tell(&mut agenda, at(1), false, mark(None, Status::Done, "")).unwrap();
    assert_eq!((first["next"]["number"].as_u64(), first["next"]["text"].as_str()), (Some(2), Some("pack")));
    let last = tell(&mut agenda, at(2), false, mark(Some(2), Status::Done, "")).unwrap();
    assert_eq!(last["goal"], "done");
    assert!(
        tell(&mut agenda, at(3), false, mark(Some(1), Status::Pending, "")).unwrap_err().contains("ended")
    );
    assert_eq!(agenda.goals.lines(), ["goal-1 (done) Sell tea"]);
    assert_eq!((agenda.goals.purge(at(2)), agenda.goals.purge(at(3))), (0, 1));
}

#[test]
fn a_goal_without_checkpoints_is_its_own() {
    let mut agenda = Agenda::default();
    tell(&mut agenda, at(0), false, add("rest", &[], 0.0)).unwrap();
    let again = tell(&mut agenda, at(1), false, add("REST", &[], 0.0)).unwrap_err();
    assert_eq!(again, "goal-1 is about that already");
    assert_eq!(tell(&mut agenda, at(2), false, mark(None, Status::Done, "")).unwrap()["goal"], "done");
    assert_eq!(tell(&mut agenda, at(3), false, add("rest", &[], 0.0)).unwrap()["id"], "goal-2");
}

#[test]
fn the_same_failure_three_times_parks_a_checkpoint_and_the_next_goes_on() {
    let mut agenda = Agenda::default();
    tell(&mut agenda, at(0), false, add("post", &["log in", "write"], 0.0)).unwrap();
    for (reason, status) in [
        ("timeout after 30 s", "failed"),
        ("Timeout after 31 s (id 9f3)", "failed"),
        ("no such host", "failed"),
        ("No such HOST!", "failed"),
        ("no such host: 7", "blocked"),
    ] {
        let marked = tell(&mut agenda, at(0), false, mark(Some(1), Status::Failed, reason)).unwrap();
        let parked = marked["status"] == "blocked";
        assert_eq!(parked, status == "blocked", "{reason}: {marked}");
    }
    let goal = &agenda.goals.list[0];
    assert_eq!((goal.checkpoints[0].tries.attempts, goal.next().unwrap().0), (5, 1));
    assert!(
        goal.line().contains("1 blocked: log in (tried 5 times: no such host: 7); 2 pending: write"),
        "{}",
        goal.line()
    );
    assert_eq!(tell(&mut agenda, at(1), false, mark(None, Status::Done, "")).unwrap()["next"], Value::Null);
    assert!(
        tell(&mut agenda, at(2), false, mark(None, Status::Done, "")).is_err(),
        "nothing is next by itself"
    );
    let back = tell(&mut agenda, at(3), false, mark(Some(1), Status::Pending, "")).unwrap();
    assert_eq!((back["status"].as_str(), back["attempts"].as_u64()), (Some("pending"), Some(5)));
    let failed = tell(&mut agenda, at(4), false, mark(Some(1), Status::Failed, "no such host")).unwrap();
    assert_eq!(failed["status"], "failed", "it begins to count anew");
}

#[test]
fn what_fails_another_way_each_time_is_parked_in_the_end() {
    let mut agenda = Agenda::default();
    tell(&mut agenda, at(0), false, add("wander", &[], 0.0)).unwrap();
    for reason in ["a", "b", "c", "d", "e", "f", "g", "h"] {
        assert_eq!(
            tell(&mut agenda, at(0), false, mark(None, Status::Failed, reason)).unwrap()["status"],
            "failed"
        );
    }
    assert_eq!(
        tell(&mut agenda, at(0), false, mark(None, Status::Failed, "i")).unwrap()["status"],
        "blocked"
    );
}

#[test]
fn a_costly_goal_of_its_own_waits_for_the_owners_yes() {
    let mut agenda = Agenda::default();
    let approve = || GoalChange::Approve { id: "goal-1".to_owned() };
    assert_eq!(
        tell(&mut agenda, at(0), false, add("a rocket", &["buy"], 50.01)).unwrap()["status"],
        "awaiting"
    );
    for change in [mark(None, Status::Done, ""), approve()] {
        let refused = tell(&mut agenda, at(1), false, change).unwrap_err();
        assert_eq!(refused, "goal-1 waits for your owner's yes");
    }
    assert_eq!(tell(&mut agenda, at(2), true, approve()).unwrap()["status"], "open");
    tell(&mut agenda, at(3), false, mark(None, Status::Active, "")).unwrap();
    assert_eq!(tell(&mut agenda, at(4), false, add("a kite", &[], 50.0)).unwrap()["status"], "open");
    assert_eq!(tell(&mut agenda, at(5), true, add("a moon", &[], 9e6)).unwrap()["status"], "awaiting");
}

#[test]
fn what_makes_no_sense_is_refused() {
    let mut agenda = Agenda::default();
    for (change, why) in [
        (add("  ", &[], 0.0), "the title is empty"),
        (add("x", &["ok", " "], 0.0), "a checkpoint is empty"),
        (add("x", &[], -1.0), "-1 is no amount"),
        (add("x", &[], f64::NAN), "NaN is no amount"),
        (add("x", &["s"; 33], 0.0), "a goal has at most 32 checkpoints"),
        (mark(None, Status::Done, ""), "there is no goal-1"),
    ] {
        assert_eq!(tell(&mut agenda, at(0), false, change).unwrap_err(), why);
    }
    tell(&mut agenda, at(0), false, add("x", &["one"], 0.0)).unwrap();
    for (change, why) in [
        (mark(Some(0), Status::Done, ""), "goal-1 has no such checkpoint"),
        (mark(Some(2), Status::Done, ""), "goal-1 has no such checkpoint"),
        (mark(None, Status::Failed, " "), "the reason is empty"),
        (mark(None, Status::Blocked, ""), "the reason is empty"),
        (close(GoalStatus::Open), "that is no end"),
    ] {
        assert_eq!(tell(&mut agenda, at(0), false, change).unwrap_err(), why);
    }
    tell(&mut agenda, at(0), false, close(GoalStatus::Dropped)).unwrap();
    assert_eq!(agenda.goals.lines(), ["goal-1 (dropped) x (no use)"]);
}

#[test]
fn there_are_never_more_than_a_thousand() {
    let mut agenda = Agenda::default();
    for number in 0..1_000 {
        tell(&mut agenda, at(number), false, add(&number.to_string(), &[], 0.0)).unwrap();
    }
    assert_eq!(
        tell(&mut agenda, at(0), false, add("more", &[], 0.0)).unwrap_err(),
        "there are 1000 open ones"
    );
    tell(&mut agenda, at(2_000), false, close(GoalStatus::Done)).unwrap();
    assert_eq!(tell(&mut agenda, at(0), false, add("more", &[], 0.0)).unwrap()["id"], "goal-1001");
    assert_eq!((agenda.goals.list.len(), agenda.goals.list[0].id.as_str()), (1_000, "goal-2"));
}

#[test]
fn what_a_newer_self_wrote_is_read_with_care() {
    let text = r#"{"next":9,"goals":{"list":[{"id":"goal-4","title":"t","status":"hibernating","mood":1,
        "checkpoints":[{"text":"a","status":"quantum","attempts":2}]}],"colour":"red"},"wishes":[1]}"#;
    let agenda: Agenda = serde_json::from_str(text).unwrap();
    let goal = &agenda.goals.list[0];
    assert_eq!((goal.status, goal.checkpoints[0].status), (GoalStatus::Awaiting, Status::Blocked));
    assert_eq!((goal.checkpoints[0].tries.attempts, &agenda.newer["wishes"][0]), (2, &Value::from(1)));
}

const ALL: [Status; 5] = [Status::Pending, Status::Active, Status::Done, Status::Failed, Status::Blocked];
const NAMES: [&str; 5] = ["pending", "active", "done", "failed", "blocked"];

/// One checkpoint as the simplest thing that could count it.
#[derive(Default)]
struct Model {
    status: &'static str,
    attempts: u64,
    reasons: Vec<u8>,
}

impl Model {
    fn mark(&mut self, status: Status, reason: u8) {
        if self.status == "blocked" && matches!(status, Status::Pending | Status::Active) {
            self.reasons.clear();
        }
        self.status = NAMES[status as usize];
        match status {
            Status::Done => (self.attempts, self.reasons) = (self.attempts + 1, Vec::new()),
            Status::Failed => {
                self.attempts += 1;
                self.reasons.push(reason);
                let same = self.reasons.iter().rev().take_while(|one| **one == reason).count();
                if same >= 3 || self.reasons.len() >= 9 {
                    self.status = "blocked";
                }
            }
            Status::Blocked => self.reasons.clear(),
            Status::Pending | Status::Active => {}
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn checkpoints_go_as_the_model_says(
        steps in prop::collection::vec((0..3_usize, 0..5_usize, 0..3_u8), 0..60),
    ) {
        let mut agenda = Agenda::default();
        tell(&mut agenda, at(0), false, add("all", &["a", "b", "c", "never"], 0.0)).unwrap();
        let mut models = [const { Model { status: "pending", attempts: 0, reasons: Vec::new() } }; 3];
        for (now, (which, status, reason)) in steps.into_iter().enumerate() {
            let (status, words) = (ALL[status], ["cold", "hot", "wet"][usize::from(reason)]);
            let now = at(i64::try_from(now).unwrap());
            let said = tell(&mut agenda, now, false, mark(Some(which + 1), status, words)).unwrap();
            models[which].mark(status, reason);
            prop_assert_eq!(said["status"].as_str(), Some(models[which].status));
            prop_assert_eq!(said["attempts"].as_u64(), Some(models[which].attempts));
            let next = models.iter().position(|one| !matches!(one.status, "done" | "blocked")).unwrap_or(3);
            prop_assert_eq!(said["next"]["number"].as_u64(), u64::try_from(next + 1).ok());
        }
    }
}

#[test]
fn a_request_in_phases_has_steps() {
    let steps = |text: &str| goals::phases(text).unwrap_or_default();
    assert_eq!(steps("First read the log, then write what broke."), ["read the log", "write what broke"]);
    assert_eq!(
        steps("first: look around; then draw a map and then post it"),
        ["look around", "draw a map", "post it"]
    );
    assert_eq!(
        steps("Build me a landing page, then announce it"),
        ["Build me a landing page", "announce it"]
    );
    assert_eq!(
        steps("write a poem about tea then read it aloud"),
        ["write a poem about tea", "read it aloud"]
    );
    for not in [
        "",
        "first",
        "make sure you tell me then and there",
        "build me a landing page",
        "write me a poem, then what?",
        "first things first, then",
        "firstly look at it, then write",
        "what did you do first, then next?",
        "first look at it, then tell me: was it good?",
        "read it, then write it",
        "he said \"first look, then write\"",
        "first a, then b",
    ] {
        assert_eq!(goals::phases(not), None, "{not}");
    }
}
