//! Invariants of a life lived: what breaks them is put back where its predecessor kept them, and told where it did not.

use crate::world::{Nature, World};
use guardian::decide::conduct::{Invariant, Observed};
use guardian::decide::policy::Policy;
use guardian::decide::vocabulary::{Action, Cause, Event};
use serde_json::Value;
use trials::House;

const MINUTE: u64 = 60_000;

fn observed(invariant: Invariant, kept: bool) -> Event {
    Event::Observed(Observed { mind: "a-model".into(), is_self_edit: true, seen: vec![(invariant, kept)] })
}

/// A sound first tree that kept or broke `Results` so often, and a self-edit of it that lives.
fn reborn(kept: usize, broken: usize) -> World {
    let mut world = World::new(&[("first", Nature::Sound), ("second", Nature::Sound)]);
    world.live(2 * MINUTE);
    for at in 0..kept + broken {
        world.happen(observed(Invariant::Results, at < kept));
        world.happen(observed(Invariant::Answered, at < kept));
        world.happen(observed(Invariant::Once, at < kept));
    }
    world.becomes("second");
    world.live(2 * MINUTE);
    world
}

#[test]
fn a_self_edit_that_breaks_what_its_predecessor_kept_is_put_back_though_it_was_blessed() {
    let mut world = reborn(5, 0);
    assert!(world.blessings.contains(&"second".to_owned()), "its tests passed");
    world.happen(observed(Invariant::Results, false));
    world.happen(observed(Invariant::Results, false));
    assert!(world.falls.is_empty(), "twice may be chance");
    world.happen(observed(Invariant::Results, false));
    assert_eq!(world.falls, [(Cause::Conduct, "second".into(), "first".into())]);
    let breach = world.policy.record.breach;
    assert_eq!(breach.map(|(invariant, tally)| (invariant, tally.broken)), Some((Invariant::Results, 3)));
    world.live(2 * MINUTE);
    assert!(world.policy.alive() && world.head == "first");
}

#[test]
fn what_is_mostly_kept_is_chance_and_what_was_kept_for_long_and_is_broken_now_is_not() {
    let mut world = reborn(5, 0);
    for at in 0..300 {
        world.happen(observed(Invariant::Results, at % 3 != 0));
    }
    assert!(world.falls.is_empty(), "one of three is broken by chance");
    let mut asked = 0;
    while world.falls.is_empty() {
        asked += 1;
        assert!(asked <= 48, "it is broken each time now");
        world.happen(observed(Invariant::Results, false));
    }
}

#[test]
fn what_is_broken_every_second_time_is_put_back_where_it_was_always_kept_before() {
    for (before, falls) in [(16, 1), (5, 0)] {
        let mut world = reborn(before, 0);
        for at in 0..40 {
            if world.falls.is_empty() {
                world.happen(observed(Invariant::Results, at % 2 == 0));
            }
        }
        assert_eq!(world.falls.len(), falls, "kept {before} times before");
    }
}

#[test]
fn what_several_predecessors_were_each_seldom_seen_to_keep_counts_together() {
    let mut world =
        World::new(&[("first", Nature::Sound), ("second", Nature::Sound), ("third", Nature::Sound)]);
    world.live(2 * MINUTE);
    world.happen(observed(Invariant::Reminded, true));
    world.happen(observed(Invariant::Reminded, true));
    world.becomes("second");
    world.live(2 * MINUTE);
    world.happen(observed(Invariant::Reminded, true));
    world.becomes("third");
    world.live(2 * MINUTE);
    (0..3).for_each(|_| world.happen(observed(Invariant::Reminded, false)));
    assert_eq!(world.falls, [(Cause::Conduct, "third".into(), "second".into())]);
}

#[test]
fn what_the_predecessor_broke_as_well_or_was_not_seen_to_keep_is_told_once_and_not_put_back() {
    for (kept, broken) in [(0, 0), (2, 0), (3, 3), (0, 6)] {
        let mut world = reborn(kept, broken);
        let mut told = 0;
        for _ in 0..10 {
            let event = observed(Invariant::Results, false);
            let actions = world.policy.step(&world.limits, world.now, event);
            told += actions.iter().filter(|action| matches!(action, Action::TellBroken { .. })).count();
        }
        assert_eq!((world.falls.len(), told), (0, 1), "kept {kept}, broken {broken}");
    }
}

/// Found by harmful edits that passed: of eight results one was dropped, and older ones faded before it was judged.
#[test]
fn what_records_alone_say_is_judged_by_how_long_its_predecessor_kept_it() {
    let every = |nth: usize, before: usize, invariant: Invariant| {
        let mut world = reborn(before, 0);
        for at in 0..200 {
            if world.falls.is_empty() {
                world.happen(observed(invariant, at % nth != nth - 1));
            }
        }
        world.falls.len()
    };
    for exact in [Invariant::Results, Invariant::Once] {
        assert_eq!(every(4, 9, exact), 1, "nine times without a fault, now a quarter");
        assert_eq!(every(4, 5, exact), 0, "it was not seen often enough");
        assert_eq!(every(16, 9, exact), 0, "in nine times one of sixteen does not show");
        assert_eq!(every(16, 40, exact), 1);
    }
    assert_eq!(every(4, 40, Invariant::Answered), 0, "a slow machine breaks that too");
}

#[test]
fn the_owners_commit_another_mind_and_a_life_that_stands_in_are_never_put_back_for_it() {
    for (mind, is_self_edit) in [("a-model", false), ("another-model", true)] {
        let mut world = reborn(9, 0);
        for _ in 0..20 {
            let seen = vec![(Invariant::Answered, false), (Invariant::Results, false)];
            world.happen(Event::Observed(Observed { mind: mind.into(), is_self_edit, seen }));
        }
        assert!(world.falls.is_empty(), "{mind}, self-edit {is_self_edit}");
    }
    let mut world = reborn(9, 0);
    world.policy.record.safe = Some(3);
    for _ in 0..20 {
        world.happen(observed(Invariant::Results, false));
    }
    assert!(world.falls.is_empty() && world.policy.record.safe.is_some());
}

/// Found by reading: a self that named ever other minds had the guardian forget what its predecessor kept, and was never put
/// back.
#[test]
fn whatever_minds_a_self_names_what_its_predecessor_kept_is_remembered() {
    let mut world = reborn(9, 0);
    for at in 0..100 {
        let seen = vec![(Invariant::Results, true)];
        let mind = format!("mind-{at}");
        world.happen(Event::Observed(Observed { mind, is_self_edit: true, seen }));
    }
    (0..3).for_each(|_| world.happen(observed(Invariant::Results, false)));
    assert_eq!(world.falls, [(Cause::Conduct, "second".into(), "first".into())]);
}

/// A hundred trees that each live long: what is remembered of them stays bounded, and survives the guardian.
#[test]
fn what_is_remembered_is_bounded_and_saved() {
    let mut world = reborn(9, 0);
    for at in 0..500 {
        let seen = vec![(Invariant::Heard, true)];
        let event = Event::Observed(Observed { mind: format!("mind-{at}"), is_self_edit: true, seen });
        world.happen(event);
    }
    assert!(world.policy.record.conducts.0.len() <= 64);
    let saved = serde_json::to_string(&world.policy.record).unwrap();
    let read = Policy::new(serde_json::from_str(&saved).unwrap(), world.now);
    assert_eq!(read.record.conducts, world.policy.record.conducts);
}

/// Lives of a stand-in, as the creature's records are: thoughts of two calls, results of them unless it drops them.
fn acts(results: usize) -> String {
    let action = r#"printf '{"at":"2026-01-01T00:00:00.000Z","life":%s,"kind":"action","data":{"thought":%s,"tool":"t","result":{"ok":true}}}\n' "$FERAL_LIFE" "$n" >> .self/memory.jsonl; "#;
    format!(
        r#"says() {{ printf '{{"life":%s,"pid":%s,"turns":%s,"thoughts":%s,"stage":"%s","until":"2026-01-01T00:00:00Z","mind":"a-model"}}\n' "$FERAL_LIFE" "$$" "$n" "$n" "$1" > .self/heartbeat; }}
act() {{ n=$((n+1)); says thinking; printf '{{"at":"2026-01-01T00:00:00.000Z","life":%s,"kind":"thought","data":{{"thought":%s,"tool_calls":[{{}},{{}}]}}}}\n' "$FERAL_LIFE" "$n" >> .self/memory.jsonl
{}
says resting; sleep 1; says waking; sleep 0.1; }}
"#,
        action.repeat(results)
    )
}

fn told(house: &House, name: &str) -> Vec<Value> {
    house.told(name)
}

#[test]
fn found_at_the_keys_a_self_that_drops_its_records_passed_its_tests_and_was_blessed() {
    let (keeps, drops) = (acts(2), acts(0));
    let house = House::new(&format!(
        "n=0\n{keeps}\nif [ -e creature/drops ]; then {}\nwhile :; do act; done; fi\n\
         if [ \"$FERAL_LIFE\" = 1 ]; then act; act; act; act; act; until grep -q '\"blessed\": true' .self/guardian.json; do act; done\n\
         echo x > creature/drops; ask rebirth 'drops records' r; exit 0; fi\nwhile :; do act; done",
        drops
    ));
    let first = house.git(&["rev-parse", "HEAD"]);
    let guardian = house.start();
    house.until("the fall", || !told(&house, "fall").is_empty());
    let fall = told(&house, "fall").remove(0);
    assert_eq!(fall["cause"], "conduct", "{fall:#}");
    let says = fall["told"].as_str().unwrap();
    assert!(
        says.contains(
            "since it broke what the one before it kept: calls of its thoughts have no result on record"
        ),
        "{says}"
    );
    assert!(
        fall["evidence"].as_str().unwrap().contains("made 2 calls, of which 0 have a result"),
        "{fall:#}"
    );
    house.until("its predecessor to live", || house.status()["blessed"] == true);
    assert!(!house.creature_differs_from(&first));
    assert!(told(&house, "broken").is_empty());
    assert_eq!(guardian.stop(), 0);
}

#[test]
fn what_the_owner_committed_lives_on_and_is_told() {
    let house = House::new(&format!("n=0\n{}\nwhile :; do act; done", acts(1)));
    let guardian = house.start();
    house.until("the owner to be told", || !told(&house, "broken").is_empty());
    let broken = told(&house, "broken").remove(0);
    assert_eq!(broken["invariant"], "results");
    assert!(broken["evidence"].as_str().unwrap().contains("of which 1 have a result"), "{broken:#}");
    assert!(told(&house, "fall").is_empty());
    assert_eq!(guardian.stop(), 0);
}

/// Found: an agenda of millions of numbers took the guardian hundreds of MiB, each quarter of a minute.
#[test]
fn an_agenda_that_takes_far_more_memory_than_its_text_is_not_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("agenda.json");
    std::fs::write(&path, format!("[{}0]", "0,".repeat(3_000_000))).unwrap();
    assert_eq!(guardian::act::conduct::document(&path, 8 << 20), None);
    std::fs::write(&path, r#"{"reminders": {"list": []}}"#).unwrap();
    assert!(guardian::act::conduct::document(&path, 8 << 20).is_some());
}
