//! What a life leaves in the state that all share condemns none of those before and after it.

use guardian::decide::policy::Policy;
use guardian::decide::vocabulary::{Action, Blame, Death, Event, Pending, Phase, Record, Standing, Subject};
use guardian::limits::Limits;
use nix::sys::stat::Mode;
use serde_json::json;
use std::fs;
use trials::House;

/// Is stillborn while something lies in the workspace; lives, and once it is trusted and told to, leaves that and dies.
const POISONER: &str = "[ ! -e .self/workspace/poison ] || exit 9; think alive; blessed; \
     until [ -e .self/go ]; do beat; sleep 0.05; done; rm .self/go; touch .self/workspace/poison; exit 3";

#[test]
fn a_trusted_tree_that_a_dead_life_poisoned_gets_one_more_life_and_falls_not() {
    let house = House::new(POISONER);
    let guardian = house.start();
    let head = house.git(&["rev-parse", "HEAD"]);
    house.until_blessed(&head);
    let [agenda, talk, pipe] = ["agenda.json", "conversations/talk-main.jsonl", "conversations/work.jsonl"]
        .map(|name| house.path(".self/mind").join(name));
    fs::create_dir_all(talk.parent().unwrap()).unwrap();
    fs::write(&agenda, "{\"requests\":[\"the owner's\"]}").unwrap();
    fs::write(&talk, "{\"entry\":\"head\"}\n").unwrap();
    fs::write(house.path(".self/mind/cursors.json"), "[\"no cursors\"]").unwrap();
    nix::unistd::mkfifo(&pipe, Mode::from_bits_truncate(0o600)).unwrap();
    fs::write(house.path(".self/inbox.jsonl"), "a word\n").unwrap();
    house.write(".self/go", "");
    house.until("the next life to think", || house.thoughts().len() == 2);
    let told = house.told("state_set_aside");
    assert_eq!(told.len(), 1);
    let sentence = told[0]["told"].as_str().unwrap();
    for part in [".self/mind is kept as ", ".self/workspace is kept as ", "agenda.json", "one more life"] {
        assert!(sentence.contains(part), "{part}: {sentence}");
    }
    assert!(house.told("fall").is_empty(), "it fell for what another left");
    assert_eq!(
        fs::read_to_string(&agenda).unwrap(),
        "{\"requests\":[\"the owner's\"]}",
        "the owner's requests"
    );
    assert_eq!(fs::read_to_string(&talk).unwrap(), "{\"entry\":\"head\"}\n");
    assert!(fs::symlink_metadata(&pipe).is_err(), "a pipe was put back");
    assert!(!house.path(".self/mind/cursors.json").exists(), "what cannot be read was put back");
    assert_eq!(fs::read_to_string(house.path(".self/inbox.jsonl")).unwrap(), "a word\n");
    let kept: Vec<_> = fs::read_dir(house.path(".self/guardian/kept")).unwrap().flatten().collect();
    let holds = |name: &str| kept.iter().any(|entry| fs::symlink_metadata(entry.path().join(name)).is_ok());
    assert!(holds("poison") && holds("cursors.json"));
    let pipe = kept
        .iter()
        .any(|entry| entry.file_name().to_string_lossy().ends_with("-mind-conversations-work.jsonl"));
    assert!(pipe, "the pipe was moved aside before: {kept:?}");
    house.until_blessed(&head);
    assert_eq!(guardian.stop(), 0);
}

#[test]
fn a_life_that_came_to_its_first_turn_after_the_last_look_is_no_stillbirth() {
    let house = House::new(
        "[ \"$FERAL_LIFE\" != 2 ] || { beat; until grep -q '\"life\": 2,' .self/guardian.json && grep -q '\"phase\": \"probation\"' \
         .self/guardian.json; do sleep 0.01; done; think late; exit 1; }\nthink alive; blessed; [ \"$FERAL_LIFE\" != 1 ] || exit 3; live",
    );
    house.write("owner.toml", &house.read("owner.toml").replace("look_s = 0.03", "look_s = 3"));
    let guardian = house.start();
    house.until("the third life", || house.thoughts().len() == 3);
    assert_eq!(house.deaths().len(), 2);
    assert_eq!(house.told("state_set_aside").len(), 0, "{:?}", house.told("state_set_aside"));
    assert_eq!(guardian.stop(), 0);
}

#[test]
fn a_trusted_tree_that_is_stillborn_by_itself_falls_all_the_same() {
    let house = House::new("think alive; live");
    let guardian = house.start();
    let first = house.git(&["rev-parse", "HEAD"]);
    house.until_blessed(&first);
    assert_eq!(guardian.stop(), 0);
    house.write_life("[ ! -e PURPOSE.bad ] || exit 9; think alive; blessed; until [ -e PURPOSE.bad ]; do beat; sleep 0.05; done; exit 3");
    let second = house.commit("second");
    let guardian = house.start();
    house.until_blessed(&second);
    house.write("PURPOSE.bad", "");
    house.until("a fall", || !house.told("fall").is_empty());
    assert_eq!(house.told("state_set_aside").len(), 1, "once a tree");
    assert_eq!(house.told("fall")[0]["from_commit"], json!(second));
    house.until_blessed(&house.git(&["rev-parse", "HEAD"]));
    assert_eq!(guardian.stop(), 0);
}

#[test]
fn what_is_of_the_wrong_shape_below_the_workspace_is_moved_aside_before_a_life() {
    let house = House::new("live");
    let own = house::House::new(&house.root);
    let pipe = |name: &str| {
        let path = house.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        nix::unistd::mkfifo(&path, Mode::from_bits_truncate(0o600)).unwrap();
    };
    ["draft/edit.json", "draft.aside", "tmp"]
        .iter()
        .for_each(|name| pipe(&format!(".self/workspace/{name}")));
    pipe(".self/mind/conversations/work.jsonl");
    std::os::unix::fs::symlink("/dev/zero", house.path(".self/workspace/draft/draft.json")).unwrap();
    house.write(".self/workspace/results", "no folder");
    house.write(".self/workspace/draft/creature/src/main.rs", "fn main() {}");
    let told = house::repair::clear(&own);
    assert_eq!(told.len(), 6, "{told:#?}");
    assert!(
        told.iter().any(|line| line.contains("draft/edit.json was in the way; it is kept as ")),
        "{told:#?}"
    );
    assert_eq!(house.read(".self/workspace/draft/creature/src/main.rs"), "fn main() {}");
    assert!(house::repair::clear(&own).is_empty(), "all is in order now");
}

fn subject(standing: Standing) -> Subject {
    let rungs = vec!["a".into(), "b".into()];
    Subject { tree: "b".into(), standing, rungs, kept: true, built: true, unexamined: false }
}

/// A life of this standing begins and dies without a beat; what is done then.
fn stillborn(
    policy: &mut Policy,
    limits: &Limits,
    now: u64,
    standing: Standing,
    blame: Blame,
) -> Vec<Action> {
    let due = policy.deadline(limits).unwrap_or(now).max(now);
    policy.step(limits, due, Event::Tick);
    policy.step(limits, due, Event::Surveyed(subject(standing)));
    assert!(matches!(policy.phase, Phase::Booting { .. }), "{:?}", policy.phase);
    policy.step(limits, due, Event::Exited { blame, rebirth: false })
}

#[test]
fn only_a_trusted_tree_that_died_of_its_code_before_a_turn_is_given_another_life() {
    for (standing, blame, given) in [
        (Standing::Blessed, Blame::Code, true),
        (Standing::Bottom, Blame::Code, true),
        (Standing::Unproven, Blame::Code, false),
        (Standing::Blessed, Blame::Disk, false),
        (Standing::Blessed, Blame::Owner, false),
    ] {
        let (limits, mut policy) = (Limits::default(), Policy::new(Record::default(), 0));
        let actions = stillborn(&mut policy, &limits, 0, standing, blame);
        assert_eq!(actions[..1], [Action::Bury { death: Death::Stillborn, blame }]);
        assert_eq!(policy.record.pending == Some(Pending::SetAside), given, "{standing:?} {blame:?}");
        assert!(!given || policy.record.deaths.is_empty(), "a verdict's evidence before its time");
    }
    let (limits, mut policy) = (Limits::default(), Policy::new(Record::default(), 0));
    stillborn(&mut policy, &limits, 0, Standing::Blessed, Blame::Code);
    policy.step(&limits, 1, Event::StateSetAside);
    stillborn(&mut policy, &limits, 2, Standing::Blessed, Blame::Code);
    assert_eq!((policy.record.pending, policy.record.deaths.len()), (None, 1), "once a tree");
}

#[test]
fn a_guardian_killed_before_it_is_done_does_it() {
    let (limits, mut policy) = (Limits::default(), Policy::new(Record::default(), 0));
    stillborn(&mut policy, &limits, 0, Standing::Blessed, Blame::Code);
    let saved = serde_json::to_string(&policy.record).unwrap();
    let mut next = Policy::new(serde_json::from_str(&saved).unwrap(), 5);
    assert_eq!(next.step(&limits, 5, Event::Tick), [Action::SetAside]);
    next.step(&limits, 6, Event::StateSetAside);
    assert!(matches!(next.step(&limits, 7, Event::Tick)[..], [Action::Survey { .. }]));
    // A state of an older guardian knows nothing of it.
    let mut older: serde_json::Value = serde_json::from_str(&saved).unwrap();
    older.as_object_mut().unwrap().remove("set_aside").unwrap();
    older["pending"] = json!(null);
    let record: Record = serde_json::from_value(older).unwrap();
    assert!(record.set_aside.is_empty());
}
